"""`firnline spark-conf`: the same settings in four tongues, and no secret in any."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.spark import coordinates
from firnline.cli import app, spark_conf
from firnline.core.errors import EXIT_DONE

YAML = """
version: 1
name: shop
environments:
  local:
    catalogs:
      lake: {type: sqlite, s3.access-key-id: AKIA, s3.secret-access-key: "${env:THE_KEY}", s3.region: "${env:REGION}"}
    engine: {conf: {spark.note: 'a "quoted" $word', spark.their.password: "${env:THE_KEY}"}}
"""
SECRET = "hunter2-and-more"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with secrets from the environment, and an empty jar cache."""
    (tmp_path / "lakehouse.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("THE_KEY", SECRET)
    monkeypatch.setenv("REGION", "ap-south-1")
    monkeypatch.setenv("FIRNLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], form: str) -> str:
    """What the command prints in a format."""
    assert app.run(["spark-conf", "--format", form]) == EXIT_DONE
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The settings."""
    found: dict[str, str] = json.loads(printed(capsys, "json"))
    return found


@pytest.mark.parametrize("form", list(spark_conf.Format))
def test_no_secret_is_printed(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A secret that came from the environment stays a reference to it, in every format."""
    text = printed(capsys, form)
    assert SECRET not in text
    assert "THE_KEY" in text
    assert "ap-south-1" in text


def test_a_masked_secret_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that no reference can stand for is masked, and stderr says which setting lacks its value."""
    monkeypatch.setenv("FIRNLINE_ENGINE__CONF", "{spark.ssl.keyPassword: hunter3}")
    assert app.run(["spark-conf"]) == EXIT_DONE
    out, err = capsys.readouterr()
    assert "hunter3" not in out + err
    assert "masked: spark.ssl.keyPassword" in err


def test_jars_that_are_not_here_are_coordinates(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the files Spark is told what to fetch."""
    assert as_json(capsys)["spark.jars.packages"] == f"{coordinates.ICEBERG['1.12.0']},{coordinates.SQLITE}"


def test_properties_are_for_spark_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """One setting a line, the key, a space, the value."""
    lines = dict(line.split(" ", 1) for line in printed(capsys, "properties").splitlines())
    assert lines == as_json(capsys)


def test_submit_is_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    """The options survive a shell, which fills in what refers to a variable."""
    words = shlex.split(printed(capsys, "submit").replace("\\\n", " "))
    pairs = dict(word.split("=", 1) for word in words if word != "--conf")
    expected = {key: value.replace("${env:", "${") for key, value in as_json(capsys).items()}
    assert pairs == expected
    assert words.count("--conf") == len(pairs)


def test_python_is_a_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The program makes a session of these very settings, secrets filled in from the environment."""

    class Builder:
        def __init__(self) -> None:
            self.seen: dict[str, Any] = {}

        def config(self, key: str, value: str) -> Builder:
            self.seen[key] = value
            return self

        def getOrCreate(self) -> dict[str, Any]:  # noqa: N802 -- pyspark's name
            return self.seen

    import pyspark.sql

    program = printed(capsys, "python")
    monkeypatch.setattr(pyspark.sql.SparkSession, "builder", Builder())
    made: dict[str, Any] = {}
    exec(program, made)  # noqa: S102 -- running it is the test
    assert made["spark"]["spark.note"] == 'a "quoted" $word'
    assert made["spark"]["spark.sql.catalog.lake.s3.secret-access-key"] == SECRET
    assert set(made["spark"]) == set(as_json(capsys))


def test_nothing_is_written(project: Path) -> None:
    """Printing settings makes no folder and no file in the project."""
    assert app.run(["spark-conf"]) == EXIT_DONE
    assert [path.name for path in project.iterdir()] == ["lakehouse.yaml"]


def run_for(capsys: pytest.CaptureFixture[str], place: str, *more: str) -> tuple[str, str]:
    """What the command prints for a place that runs Spark, and what it says beside it."""
    assert app.run(["spark-conf", "--for", place, *more]) == EXIT_DONE
    return capsys.readouterr()


@pytest.mark.parametrize("place", ["emr-serverless", "glue"])
def test_a_role_needs_no_keys(capsys: pytest.CaptureFixture[str], place: str) -> None:
    """Where a job has a role, our keys stay behind, even as references, and that is said."""
    out, err = run_for(capsys, place)
    assert "access-key" not in out
    assert "Left out" in err
    assert "spark.sql.catalog.lake.s3.secret-access-key" in err


@pytest.mark.parametrize("place", ["spark-submit", "emr-serverless", "glue"])
def test_elsewhere_is_no_laptop(capsys: pytest.CaptureFixture[str], place: str) -> None:
    """The master, the loopback address and the small heap of a laptop are not carried elsewhere."""
    out, _ = run_for(capsys, place, "--format", "json")
    assert not {"spark.master", "spark.driver.host", "spark.driver.memory", "spark.ui.enabled"} & set(json.loads(out))


def test_emr_uses_its_own_iceberg(capsys: pytest.CaptureFixture[str]) -> None:
    """EMR Serverless is told where its Iceberg is, in one line of options; none of our jars."""
    out, _ = run_for(capsys, "emr-serverless")
    assert out.count("\n") == 1
    options = shlex.split(out)
    assert set(options[::2]) == {"--conf"}
    assert "spark.jars=/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar" in options
    assert "packages" not in out


def test_glue_takes_one_argument(capsys: pytest.CaptureFixture[str]) -> None:
    """A Glue job takes `--conf` once: all settings stand in it, and Iceberg is asked for."""
    out, _ = run_for(capsys, "glue")
    arguments = json.loads(out)
    assert arguments["--datalake-formats"] == "iceberg"
    settings = dict(each.split("=", 1) for each in arguments["--conf"].split(" --conf "))
    assert settings["spark.sql.catalog.lake.type"] == "jdbc"
    assert not [key for key in settings if key.startswith("spark.jars")]
