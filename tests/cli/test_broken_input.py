"""Bad input of every kind gets one message that people have read and found right, and the exit code of the table."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from firnline.cli import app
from tests.cli.broken import CASES, Broken, make, said

EXPECTED = Path(__file__).with_name("broken_input.txt")
_VARYING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"orders-[0-9a-f]{8}"), "orders-XXXXXXXX"),
    (re.compile(r"\d{8}T\d{9}-[0-9a-f]{8}"), "RUN"),
    (re.compile(r'"0\.\d[^"]*"'), '"VERSION"'),
)


def sections() -> dict[str, str]:
    """The reviewed messages by case."""
    parts = re.split(r"^## (.*)\n", EXPECTED.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}


def outcome(case: Broken, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command of the case ends with and says on stderr."""
    make(case, folder)
    capsys.readouterr()
    code = app.run(case.command)
    told = said(capsys.readouterr().err, folder)
    for pattern, word in _VARYING:
        told = pattern.sub(word, told)
    return f"exit {code}\n{told}".strip("\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with no setting of the environment around it."""
    for variable in [name for name in os.environ if name.startswith("FIRNLINE_") and name != "FIRNLINE_CACHE"]:
        monkeypatch.delenv(variable)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_gets_its_message(
    case: Broken, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with a code that is no success and says exactly the reviewed message; never a traceback."""
    for name, value in case.environ.items():
        monkeypatch.setenv(name, value)
    found = outcome(case, project, capsys)
    assert "Traceback" not in found
    assert "defect of Firnline" not in found
    assert found == sections().get(case.name), f"\n## {case.name}\n{found}"


def test_every_message_belongs_to_a_case() -> None:
    """The reviewed messages and the cases are the same, and there are many more than forty."""
    names = [case.name for case in CASES]
    assert sorted(sections()) == sorted(names)
    assert len(set(names)) == len(names) > 80
