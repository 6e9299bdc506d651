"""The built wheel does what it promises with the source tree absent: the base install, and each extra."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wheel.conftest import Installed

Install = Callable[[str], Installed]

HEAVY = ("pyspark", "pyarrow", "pandas", "duckdb", "boto3", "thrift", "moto")


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every file of the wheel is the package's or its metadata; types are declared."""
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("firnline/", "firnline-")) for name in names)
    assert "firnline/py.typed" in names
    assert {"LoopbackCatalog.java", "LoopbackMetastore.java"} <= {name.rsplit("/", 1)[-1] for name in names}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_base_install_is_light(installed: Install) -> None:
    """Without an extra neither Spark nor Arrow nor a database comes along."""
    base = installed("")
    assert [name for name in HEAVY if base.has(name)] == []


def test_the_base_install_declares_and_applies(installed: Install) -> None:
    """`init`, `plan`, `apply` and `tables show` work with the base install alone: no JVM, no Arrow."""
    base = installed("")
    source = base.run("python", "-c", "import firnline; print(firnline.__file__)").stdout.strip()
    assert source.startswith(str(base.python.parents[1]))
    base.run("firnline", "init", "shop")
    base.run("firnline", "plan", "-C", "shop")
    base.run("firnline", "apply", "-C", "shop", "--yes")
    base.run("firnline", "plan", "-C", "shop", "--expect-empty")
    listed = json.loads(base.run("firnline", "tables", "list", "-C", "shop", "--output", "json").stdout)
    assert listed
    base.run("firnline", "tables", "show", listed[0]["table"], "-C", "shop")
    base.run("firnline", "ledger", "-C", "shop")
    assert "shop.orders" in base.run("firnline", "status", "-C", "shop").stdout
    base.run("firnline", "explain", "shop.orders", "-C", "shop")


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("sql", "SELECT 1"), "firnline[spark]"),
        (("sql", "SELECT 1", "--engine", "duckdb"), "firnline[proof]"),
    ],
)
def test_a_missing_part_is_one_sentence_that_names_it(installed: Install, command: tuple[str, ...], part: str) -> None:
    """What needs an extra says which one, in one message without a traceback, and ends with 1."""
    base = installed("")
    base.run("firnline", "init", "parts", expect=None)
    done = base.run("firnline", *command, "-C", "parts", expect=1)
    assert part in done.stderr
    assert "Traceback" not in done.stderr


ELSEWHERE = """
version: 1
name: elsewhere
environments:
  glue: {{access: read, catalogs: {{lake: {{type: glue, region: eu-west-1}}}}}}
  hive: {{access: read, catalogs: {{lake: {{type: hive, uri: "thrift://127.0.0.1:{port}"}}}}}}
"""


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("status", "--env", "glue"), "firnline[aws]"),
        (("status", "--env", "hive"), "firnline[hive]"),
        (("local", "up", "s3", "--env", "glue"), "firnline[local]"),
    ],
)
def test_a_catalog_elsewhere_names_its_part(installed: Install, command: tuple[str, ...], part: str) -> None:
    """What a catalog or a local service needs is one sentence too."""
    base = installed("")
    (base.folder / "elsewhere").mkdir(exist_ok=True)
    (base.folder / "elsewhere" / "lakehouse.yaml").write_text(ELSEWHERE.format(port=1))
    done = base.run("firnline", *command, "-C", "elsewhere", expect=1)
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_the_proof_extra_reads_without_spark(installed: Install) -> None:
    """With `proof`, DuckDB answers statements and two readers verify, and there still is no Spark."""
    proof = installed("proof")
    assert not proof.has("pyspark")
    proof.run("firnline", "init", "shop")
    proof.run("firnline", "apply", "-C", "shop", "--yes")
    (table,) = json.loads(proof.run("firnline", "tables", "list", "-C", "shop", "--output", "json").stdout)[:1]
    done = proof.run(
        "firnline",
        "sql",
        f"SELECT count(*) AS n FROM {table['table']}",
        "--engine",
        "duckdb",
        "-C",
        "shop",
        "-o",
        "json",
    )
    assert json.loads(done.stdout)


@pytest.mark.spark
def test_the_spark_extra_runs_statements(installed: Install) -> None:
    """With `spark`, a statement runs on Spark; DuckDB is not needed for it."""
    spark = installed("spark")
    assert not spark.has("duckdb")
    spark.run("firnline", "init", "shop")
    spark.run("firnline", "apply", "-C", "shop", "--yes")
    done = spark.run("firnline", "sql", "SELECT 40 + 2 AS answer", "-C", "shop", "-o", "json")
    assert "42" in done.stdout


def test_the_all_extra_brings_every_part(installed: Install) -> None:
    """`all` is the sum of the others."""
    everything = installed("all")
    assert all(everything.has(name) for name in HEAVY)
