"""`firnline doctor`: what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firnline.cli import app
from firnline.core.errors import EXIT_DONE, EXIT_FAILED

YAML = "version: 1\nname: shop\nenvironments: {local: {access: read, catalogs: {lake: {type: sqlite}}}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, with an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIRNLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_without_a_problem_it_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """A machine that is fit, in a folder without a project, is no failure."""
    assert app.run(["doctor"]) == EXIT_DONE
    assert "not checked" in capsys.readouterr().out


def test_a_problem_ends_with_1_and_its_fix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A problem is shown with the fix below it, counted, and is the exit code."""
    (folder / "lakehouse.yaml").write_text(YAML)
    assert app.run(["doctor"]) == EXIT_FAILED
    lines = capsys.readouterr().out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("problem"))
    assert lines[place + 1].strip() == "fix: Set the catalog's `uri`."
    assert "1 problem" in lines[-1]


def test_json_is_what_the_library_returns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each check with name, state, text and fix."""
    (folder / "lakehouse.yaml").write_text(YAML)
    assert app.run(["doctor", "-o", "json"]) == EXIT_FAILED
    checks = json.loads(capsys.readouterr().out)
    assert {frozenset(check) for check in checks} == {frozenset({"name", "state", "text", "fix"})}
    assert [check["name"] for check in checks if check["state"] == "problem"] == ["catalog lake"]


def test_access_read_leaves_no_trace(folder: Path) -> None:
    """Nothing is made in the project, nor in the cache."""
    (folder / "lakehouse.yaml").write_text(YAML)
    app.run(["doctor"])
    assert [path.name for path in folder.iterdir()] == ["lakehouse.yaml"]
