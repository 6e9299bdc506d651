"""`firnline local`, typed as a user does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.cli import app, commands, local

Typed = Callable[..., tuple[int, str, str]]
VERBS = {"up": local.up, "status": local.status, "logs": local.logs, "down": local.down, "compose": local.compose}
PROJECT = """\
version: 1
name: shop
default: glue
environments:
  glue:
    catalogs: {lake: {type: glue, services: local}}
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Typed]:
    """Runs one command in a project: its exit code, stdout and stderr. All is stopped at the end."""
    monkeypatch.setitem(commands.GROUPS, "local", (local.HELP, VERBS))
    (tmp_path / "lakehouse.yaml").write_text(PROJECT, encoding="utf-8")

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["local", *words, "-C", str(tmp_path)])
        said = capsys.readouterr()
        return code, said.out, said.err

    yield run
    run("down")


def services(said: str) -> dict[str, Any]:
    """What JSON says of each service."""
    return {each["name"]: each for each in json.loads(said)}


def test_from_nothing_to_down(typed: Typed) -> None:
    """Without names `up` starts what the environment asks for; status, logs and down tell of it."""
    code, said, _ = typed("up", "-o", "json")
    assert code == 0
    started = services(said)
    assert {name: each["state"] for name, each in started.items()} == {"s3": "running", "glue": "running"}
    code, said, _ = typed("status", "-o", "json")
    found = services(said)
    assert [each["state"] for each in found.values()] == ["running", "stopped", "stopped", "running", "stopped"]
    assert {name: found[name] for name in started} == started
    code, said, _ = typed("logs", "s3")
    assert (code, "SeaweedFS" in said) == (0, True)
    assert typed("down", "glue")[:2] == (0, "stopped  glue\n")
    assert typed("down")[:2] == (0, "stopped  s3\n")
    assert typed("down") == (0, "", "Nothing ran.\n")


def test_no_secret_is_shown(typed: Typed, tmp_path: Path) -> None:
    """Neither status nor log has a secret; the file that status names has."""
    typed("up", "glue")
    said = "".join(typed(*words)[1] for words in (("status", "glue"), ("status", "-o", "json"), ("logs", "glue")))
    secret = json.loads((tmp_path / ".lake" / "services" / "keys.json").read_text())["secret"]
    assert secret not in said
    shown = services(typed("status", "-o", "json")[1])["glue"]
    assert shown["properties"]["s3.secret-access-key"] == "***"
    assert secret in Path(shown["file"]).read_text()


def test_what_differs_from_aws_is_said(typed: Typed) -> None:
    """The status of one service lists how it differs from what it stands for, running or not."""
    code, said, _ = typed("status", "glue")
    assert code == 0
    assert "their signature is not checked" in said


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("up", "hives"), 2, "error: There is no local service 'hives'.\n       Did you mean 'hive'?\n"),
        (("down", "x"), 2, "error: There is no local service 'x'.\n       Valid: dynamodb, glue, hive, rest, s3.\n"),
        (("status", "x"), 2, "error: There is no local service 'x'.\n       Valid: dynamodb, glue, hive, rest, s3.\n"),
        (
            ("logs", "hive"),
            1,
            """error: The local service hive has said nothing: it was never started here.
       `firnline local up hive` starts it.
""",
        ),
    ],
)
def test_bad_input_gets_one_message(typed: Typed, words: tuple[str, ...], code: int, message: str) -> None:
    """A wrong name is answered with the right ones; what was never started has no log."""
    assert typed(*words) == (code, "", message)


def test_looking_makes_no_folder(typed: Typed, tmp_path: Path) -> None:
    """status and down in a project without services write nothing."""
    typed("status")
    typed("down")
    assert [path.name for path in tmp_path.iterdir()] == ["lakehouse.yaml"]


def test_compose_prints_a_file(typed: Typed) -> None:
    """compose prints YAML to stdout, with --cluster that of a Spark cluster too."""
    code, said, _ = typed("compose", "--cluster")
    assert code == 0
    assert "spark-worker-2:" in said
    assert "spark" not in typed("compose")[1].split("configs:")[0]
