"""The house rules, as functions from text to complaints. `test_house.py` holds the repository to them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

FILE_LINES_MAX = 499
FUNCTION_LINES_MAX = 69
BANNED = frozenset({"util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"})
FURNITURE = frozenset({"__init__", "values", "ports", "plan", "vet", "run"})
PURE_FURNITURE = frozenset({"values", "ports", "plan", "vet"})
IMPURE_MODULES = frozenset({"random", "secrets", "socket", "subprocess", "tempfile", "threading", "time", "urllib"})
IMPURE_NAMES = frozenset({"environ", "getenv", "now", "utcnow", "today", "uuid1", "uuid4", "urandom"})
CAPABILITY_SEAMS = frozenset({"values", "ports"})

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Written in pieces, so that this file does not break the rule it holds.
_REGISTRIES = re.compile(
    "|".join(
        (
            r"https?://[^\s\"']*/" + r"simple\b",
            r"https?://[^\s\"']*/" + r"maven2?\b",
            "pypi" + r"\.org",
            r"pythonhosted" + r"\.org",
            r"repo1?\." + r"maven\b",
            r"maven" + r"\.org",
            r"mvnrepository" + r"\.com",
            r"registry\." + r"npmjs",
            r"--(extra-)?" + r"index-url[= ]\s*\S*://",
        )
    )
)


def file_length(text: str) -> Iterator[str]:
    """A file is under 500 lines."""
    lines = text.count("\n") + 1
    if lines > FILE_LINES_MAX:
        yield f"has {lines} lines, at most {FILE_LINES_MAX} are allowed"


def function_length(text: str) -> Iterator[str]:
    """A function is under 70 lines, its docstring included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{node.lineno}: {node.name} has {lines} lines, at most {FUNCTION_LINES_MAX} are allowed"


def banned_path(path: PurePosixPath) -> Iterator[str]:
    """No file or folder is a grab bag."""
    for part in path.parts:
        if words := BANNED.intersection(part.split(".")[0].lower().split("_")):
            yield f"is named {', '.join(sorted(words))}: name the noun it is about"


def banned_classes(text: str) -> Iterator[str]:
    """No class is a grab bag."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            words = {word.lower() for word in _WORD.findall(node.name)}
            if words & BANNED:
                yield f"{node.lineno}: class {node.name}: name the noun it is about"


def test_docstrings(text: str) -> Iterator[str]:
    """Every test function states its rule."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        if not ast.get_docstring(node):
            yield f"{node.lineno}: {node.name} does not say in a docstring which rule it checks"


test_docstrings.__test__ = False  # type: ignore[attr-defined]  # a rule, not a test, in spite of its name


def unfinished(text: str) -> Iterator[str]:
    """Nothing stands empty: no NotImplementedError."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield f"{node.lineno}: raises NotImplementedError: build it or leave it out"


def furniture(stem: str, docstring: str | None) -> Iterator[str]:
    """A capability's file has a fixed name, or is a noun its package's docstring introduces in backticks."""
    if stem not in FURNITURE and f"`{stem}`" not in (docstring or ""):
        fixed = ", ".join(sorted(FURNITURE - {"__init__"}))
        yield f"is none of {fixed}, and the docstring of its package does not introduce `{stem}`"


def impurity(text: str) -> Iterator[str]:
    """Pure code takes time, ids and settings as arguments: no clock, randomness, environment, network or process."""
    for node in ast.walk(ast.parse(text)):
        for module in {name.split(".")[0] for name in _imported(node)} & IMPURE_MODULES:
            yield f"{getattr(node, 'lineno', 0)}: imports {module}"
        if isinstance(node, ast.Attribute) and node.attr in IMPURE_NAMES:
            yield f"{node.lineno}: uses {node.attr}"


def is_pure_place(module: str, capabilities: Iterable[str]) -> bool:
    """Whether the module must be pure: the core, judging, and the pure furniture of a capability and of the loop."""
    parts = module.split(".")
    if parts[:2] in (["firnline", "core"], ["firnline", "judge"]):
        return True
    rooms = {*capabilities, "loop", "facts", "config", "proof"}
    return len(parts) > 2 and parts[1] in rooms and parts[-1] in PURE_FURNITURE


def adapter_imports(text: str, capabilities: Iterable[str]) -> Iterator[str]:
    """An adapter knows a capability's values and ports, and none of its logic."""
    rooms = frozenset(capabilities)
    for node in ast.walk(ast.parse(text)):
        for module in _imported(node):
            parts = module.split(".")
            if parts[0] == "firnline" and len(parts) > 2 and parts[1] in rooms and parts[2] not in CAPABILITY_SEAMS:
                yield f"{getattr(node, 'lineno', 0)}: imports {module}: only values and ports of a capability are open"


def dead_modules(sources: Mapping[str, str], entry_points: Iterable[str]) -> Iterator[str]:
    """Every module is imported by another one, or named by it as a string, or is an entry point."""
    alive = set(entry_points)
    for module, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            named = {*_imported(node), *_named(node)}
            alive |= {name for name in named if name != module}
    for module in sorted(sources):
        if module not in alive and not module.endswith(("__init__", "__main__")):
            yield f"{module} is imported by nothing"


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("firnline."):
        yield node.value.split(":")[0]


def registry_addresses(text: str) -> Iterator[str]:
    """No file names a package registry: whoever builds chooses theirs."""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _REGISTRIES.search(line):
            yield f"{number}: names a registry: {found[0]}"


def enum_words(text: str) -> Iterator[tuple[str, str]]:
    """(enum, word) of every public enum member: a StrEnum's values, the others' names."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
        if not bases & {"Enum", "StrEnum", "IntEnum"}:
            continue
        for item in node.body:
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                value = item.value.value if isinstance(item.value, ast.Constant) else None
                word = value if isinstance(value, str) else item.targets[0].id
                yield node.name, word.lower().replace("_", " ").replace("-", " ")


def glossary_words(text: str) -> frozenset[str]:
    """The words a glossary explains: bold at the start of a line, several separated by commas."""
    words: set[str] = set()
    for line in text.splitlines():
        while found := re.match(r"(?:, )?\*\*(.+?)\*\*", line):
            words.add(found[1].lower().replace("-", " "))
            line = line[found.end() :]  # noqa: PLW2901 -- the line is consumed word by word
    return frozenset(words)


def unreasoned(text: str) -> Iterator[str]:
    """Every exception the linter, the type checker and the test runner are given stands with its reason."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        opened = re.match(r'\s*(?:ignore|"[^"]+") = \[(.*)$', line)
        if opened:
            inside = "]" not in opened[1]
            continue
        if line.strip() == "]":
            inside = False
        elif inside and re.match(r'\s*"[A-Z]+\d*",', line) and "#" not in line:
            yield f"{number}: {line.strip()} has no reason beside it"
