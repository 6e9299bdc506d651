"""Every command in the docs is run, in the order of its page, in a folder of its own, and prints what is shown."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from firnline.cli import app
from tests.docs.transcripts import Command, FileText, matches, parts

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RUNNABLE = [page for page in PAGES if any(parts(page.read_text(encoding="utf-8")))]
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
# Run by CI itself, or by a person who installs: not inside a test of it.
_ELSEWHERE = re.compile(r"^(make|git|pip|cd \S*firnline$)")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder to work in; the working folder is put back afterwards."""
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        yield tmp_path
    finally:
        os.chdir(before)


def _run(line: str) -> tuple[int, str]:
    """The exit code and stdout of one command line of a page."""
    words = shlex.split(line)
    if words[0] == "cd":
        os.chdir(words[1])
        return 0, ""
    assert words[0] == "firnline", f"pages run firnline and cd, not {words[0]!r}"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = app.run(words[1:])
    return code, said.getvalue()


@pytest.mark.spark
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("folder")
def test_a_page_does_what_it_says(page: Path) -> None:
    """Each command of a page ends with the code, and prints the text, that the page shows."""
    for part in parts(page.read_text(encoding="utf-8")):
        match part:
            case FileText():
                target = Path.cwd() / part.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(part.text, encoding="utf-8")
            case Command() if not _ELSEWHERE.match(part.line):
                code, printed = _run(part.line)
                assert code == part.exit, f"{part.line}\nended with {code}\n{printed}"
                assert part.output is None or matches(part.output, printed), f"$ {part.line}\n{printed}"
            case Command():
                pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that is there."""
    broken = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert broken == []


def test_the_readme_names_the_two_commands() -> None:
    """README shows `make demo` and `make test`, and the Makefile has both."""
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    for command in ("demo", "test"):
        assert f"make {command}" in readme
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)


def test_every_dependency_has_its_reason() -> None:
    """Each library pyproject.toml names is named in decision 11, in backticks."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    named = {
        re.split(r"[\[<>=!~ ]", each)[0] for group in [*groups, project["dependency-groups"]["dev"]] for each in group
    }
    page = (ROOT / "docs" / "decisions" / "0011-dependencies.md").read_text(encoding="utf-8")
    assert [name for name in sorted(named - {"firnline"}) if f"`{name}`" not in page] == []


def test_decisions_have_their_four_parts() -> None:
    """A decision is one page with context, choice, what was refused, and the price."""
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert all(f"**{part}." in text for part in ("Context", "Choice", "Refused", "Price")), page.name
