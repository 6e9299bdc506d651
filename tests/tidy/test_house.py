"""The repository keeps its house rules. The rules are in `rules.py`; that they find faults, in `test_rules.py`."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.tidy import rules

ROOT = Path(__file__).parents[2]
HOUSE = ("src", "tests", "tools", "examples", "benchmarks")
CAPABILITIES = ("tables", "history")
ROOMS = {*CAPABILITIES, "adapters", "cli", "config", "core", "facts", "judge", "lakehouse", "loop", "proof"}

TEXT_RULES: list[Callable[[str], Iterator[str]]] = [
    rules.function_length,
    rules.banned_classes,
    rules.unfinished,
]

# The words everybody must be able to look up, beside those the code's enums bring.
WORDS = """
    snapshot, manifest, manifest list, data file, delete file, deletion vector, partition spec, sort order,
    ref, branch, tag, field id, metadata file, format version, equality delete, position delete, identifier
    fields, catalog, namespace, fact, finding, plan, step, objection, outcome, ledger, intent, lease, fence,
    hold, run, report, note, override, acceptance, declaration, drift, commit request, requirement,
    environment, lakehouse, policy, consumer, reader, subject, adapter, port, capability, settle, vet, apply,
    observe, judge, record, adopt, verify, undo, row hash, price, lane, fold, flow, audit, publish
"""


@cache
def files() -> tuple[PurePosixPath, ...]:
    """Every file that is tracked, or would be by `git add`; a source archive without git is walked instead."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for top in HOUSE for path in (ROOT / top).rglob("*.*")]
    return tuple(sorted(PurePosixPath(name) for name in set(names) if (ROOT / name).is_file()))


@cache
def text(path: PurePosixPath) -> str:
    """The text of a file; a file that is no text is empty."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def house(suffix: str = ".py", under: tuple[str, ...] = HOUSE) -> list[PurePosixPath]:
    """The files of the house with this suffix."""
    return [path for path in files() if path.parts[0] in under and path.suffix == suffix]


def module_of(path: PurePosixPath) -> str:
    """`src/firnline/core/ids.py` → `firnline.core.ids`."""
    parts = path.with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def complaints(path: PurePosixPath, found: Iterator[str]) -> list[str]:
    """Complaints in the form an editor jumps to."""
    return [f"{path}:{line}" if line.split(":")[0].isdigit() else f"{path}: {line}" for line in found]


def show(found: list[str]) -> str:
    """One complaint per line."""
    return "\n" + "\n".join(found)


@pytest.mark.parametrize("rule", TEXT_RULES, ids=lambda rule: rule.__name__)
def test_python_files_keep_the_rule(rule: Callable[[str], Iterator[str]]) -> None:
    """Every Python file of the house keeps every rule over text."""
    found = [line for path in house() for line in complaints(path, rule(text(path)))]
    assert not found, show(found)


def test_files_are_short() -> None:
    """Every file that people write is under 500 lines: Python, scripts, YAML and prose."""
    written = [
        path for path in files() if path.suffix in {".py", "", ".md", ".yaml", ".yml"} and path.name != "LICENSE"
    ]
    found = [line for path in written for line in complaints(path, rules.file_length(text(path)))]
    assert not found, show(found)


def test_no_grab_bags() -> None:
    """No file and no folder of the house is named utils, helpers, common, misc or manager."""
    found = [line for path in files() if path.parts[0] in HOUSE for line in complaints(path, rules.banned_path(path))]
    assert not found, show(found)


def test_every_test_states_its_rule() -> None:
    """Every test function has a docstring with the rule it checks."""
    found = [line for path in house(under=("tests",)) for line in complaints(path, rules.test_docstrings(text(path)))]
    assert not found, show(found)


def test_furniture_has_fixed_names() -> None:
    """The files of a capability have fixed names, or are nouns its package introduces."""
    found: list[str] = []
    for path in house(under=("src",)):
        if path.parts[2] in CAPABILITIES:
            package = text(PurePosixPath("src", "firnline", path.parts[2], "__init__.py"))
            found += complaints(path, rules.furniture(path.stem, ast.get_docstring(ast.parse(package))))
    assert not found, show(found)


def test_pure_places_are_pure() -> None:
    """The core, and what plans and vets, reads no clock, no environment, no network, and throws no dice."""
    pure = [path for path in house(under=("src",)) if rules.is_pure_place(module_of(path), CAPABILITIES)]
    assert pure
    found = [line for path in pure for line in complaints(path, rules.impurity(text(path)))]
    assert not found, show(found)


def test_adapters_know_only_seams() -> None:
    """Adapters import a capability's values and ports, and none of its logic."""
    adapters = [path for path in house(under=("src",)) if path.parts[2] == "adapters"]
    found = [line for path in adapters for line in complaints(path, rules.adapter_imports(text(path), CAPABILITIES))]
    assert not found, show(found)


def test_no_dead_file() -> None:
    """Every module of the package is used by another one, or is a console script."""
    scripts = tomllib.loads(text(PurePosixPath("pyproject.toml")))["project"]["scripts"]
    sources = {module_of(path): text(path) for path in house(under=("src",)) if path.stem != "__init__"}
    found = list(rules.dead_modules(sources, [target.split(":")[0] for target in scripts.values()]))
    assert not found, show(found)


def test_rooms_are_known_and_furnished() -> None:
    """Every folder of the package is one of DESIGN's rooms and holds a module: none stands empty."""
    package = ROOT / "src" / "firnline"
    rooms = {path.name for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= ROOMS, f"new rooms: add {rooms - ROOMS} to the layers in pyproject.toml and to ROOMS here"
    furnished = {path.parts[2] for path in house(under=("src",)) if path.stem != "__init__"}
    empty = rooms - furnished
    assert not empty, f"rooms without a module: {empty}"


def test_no_registry_addresses() -> None:
    """No file of the repository names a package registry."""
    found = [line for path in files() for line in complaints(path, rules.registry_addresses(text(path)))]
    assert not found, show(found)


def test_no_machine_in_the_repository() -> None:
    """No file mentions the folder this checkout lies in."""
    found = [str(path) for path in files() if str(ROOT) in text(path)]
    assert not found, show(found)


def test_exceptions_have_reasons() -> None:
    """Every ignored lint rule stands in pyproject.toml with its reason beside it."""
    path = PurePosixPath("pyproject.toml")
    found = complaints(path, rules.unreasoned(text(path)))
    assert not found, show(found)


def test_glossary_is_complete() -> None:
    """Every word of ours is explained in the glossary, and every word of an enum outside faces and adapters."""
    explained = rules.glossary_words(text(PurePosixPath("docs", "glossary.md")))
    missing = [f"{word} (of the house)" for word in " ".join(WORDS.split()).split(", ") if word not in explained]
    inner = [path for path in house(under=("src",)) if path.parts[2] not in {"cli", "adapters"}]
    for path in inner:
        missing += [f"{word} ({path}, {enum})" for enum, word in rules.enum_words(text(path)) if word not in explained]
    assert not missing, show(missing)


def test_locks_name_versions_and_hashes_only() -> None:
    """Every requirement of every lock file is pinned by version and by hash."""
    locks = [path for path in files() if path.parts[0] == "locks" and path.suffix == ".txt"]
    assert {path.stem for path in locks} >= {"dev", "cloud", "uv", "build"}
    for path in locks:
        entries = text(path).replace("\\\n", " ").splitlines()
        unpinned = [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry]
        assert not unpinned, f"{path}: {unpinned[:3]}"
