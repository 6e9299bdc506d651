"""`FIRNLINE_…` variables: any setting of lakehouse.yaml, overridden for one command.

`FIRNLINE_ACCESS=read`, `FIRNLINE_ENGINE__MASTER=local[4]`, `FIRNLINE_CATALOGS__LAKE__URI=/data/c.db`: two underscores
lead one level down, one stands for any of `. - _`. A variable for a mapping holds one and is laid over what the file
says: `FIRNLINE_ENGINE__CONF={spark.driver.memory: 4g}`. A variable that names no setting is refused: a misspelt
`FIRNLINE_ACCESS` would write where nothing was to be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Map
from typing import NamedTuple

from firnline.config import project, shapes, yaml
from firnline.config.reading import Complaints
from firnline.config.yaml import Entry, Listing, Mapping, Node, Scalar
from firnline.core.errors import BadFiles
from firnline.core.suggest import did_you_mean

PREFIX = "FIRNLINE_"
CHOICE = "FIRNLINE_ENV"
# Read elsewhere, and no settings of a lakehouse: the user's cache, tracebacks for us, the test runs of this project.
_NOT_SETTINGS = frozenset({CHOICE, "FIRNLINE_CACHE", "FIRNLINE_DEBUG"})
_OF_TESTS = "FIRNLINE_TEST_"
_FOLDED = re.compile(r"[^a-z0-9]+")
_TOP = ("name", "namespaces", "policy")


class _Name(NamedTuple):
    """A variable, its value, and the levels its name leads down."""

    variable: str
    value: str
    levels: tuple[str, ...]


def lay_over(root: Mapping, environment: str, environ: Map[str, str], complaints: Complaints) -> Mapping:
    """The file with every variable laid over the chosen environment, or over the top where that has the key."""
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in _NOT_SETTINGS or variable.startswith(_OF_TESTS):
            continue
        levels = tuple(fold(level) for level in variable.removeprefix(PREFIX).split("__"))
        name = _Name(variable, environ[variable], levels)
        if levels[0] in _TOP:
            root = _under(root, project.LAKEHOUSE, name, 0, complaints)
        else:
            environments = root.entries["environments"]
            chosen = environments.node.entries[environment]  # type: ignore[union-attr]  # the file was read before
            laid = _under(chosen.node, project.ENVIRONMENT, name, 0, complaints)
            inner = _with(environments.node, environment, Entry(chosen.line, laid))
            root = _with(root, "environments", Entry(environments.line, inner))
    return root


def fold(text: str) -> str:
    """What a key and the piece of a variable that means it have in common."""
    return _FOLDED.sub("_", text.casefold())


def _with(node: Node, key: str, entry: Entry) -> Mapping:
    assert isinstance(node, Mapping)
    return Mapping({**node.entries, key: entry}, node.line, node.depth)


def _under(node: Node | None, shape: shapes.Shape, name: _Name, depth: int, complaints: Complaints) -> Mapping:
    """The mapping with the variable's value put where its remaining levels lead."""
    mapping = node if isinstance(node, Mapping) else Mapping({}, 0)
    key, inside = _step(mapping, shape, name, depth)
    if key is None or inside is None:
        _complain(mapping, shape, name, complaints)
        return mapping
    before = mapping.entries.get(key)
    if depth + 1 < len(name.levels):
        value: Node | None = _under(before.node if before else None, inside, name, depth + 1, complaints)
    else:
        value = _value(before.node if before else None, inside, name)
    return mapping if value is None else _with(mapping, key, Entry(before.line if before else 0, value))


def _step(mapping: Mapping, shape: shapes.Shape, name: _Name, depth: int) -> tuple[str | None, shapes.Shape | None]:
    """The key this level means, and what may stand under it."""
    level = name.levels[depth]
    known = dict(shape.keys) if isinstance(shape, shapes.Record) else {}
    found = next((key for key in (*mapping.entries, *known) if fold(key) == level), None)
    if isinstance(shape, shapes.Record):
        if found is None:
            return None, None
        return found, known[found].shape if found in known else shape.others
    if isinstance(shape, shapes.Named):
        # A new catalog or namespace can be named in a variable; a property's dots and dashes cannot be guessed.
        plain = isinstance(shape.value, shapes.Record) and level.replace("_", "").isalnum()
        return (found or (level if plain else None)), shape.value
    return None, None


def _complain(mapping: Mapping, shape: shapes.Shape, name: _Name, complaints: Complaints) -> None:
    known = {*mapping.entries, *(shape.keys if isinstance(shape, shapes.Record) else ())}
    if shape is project.ENVIRONMENT:
        known |= {*_TOP, "env"}
    hint = did_you_mean(name.levels[-1], {fold(key) for key in known}) if known else None
    if isinstance(shape, shapes.Named) and not isinstance(shape.value, shapes.Record):
        parent = "__".join(name.variable.split("__")[:-1])
        hint = f"Write the key out: {parent}={{KEY: VALUE}}."
    complaints.at(None, "", "this variable names no setting of lakehouse.yaml.", hint, name.variable)


def _value(before: Node | None, shape: shapes.Shape, name: _Name) -> Node | None:
    if not isinstance(shape, shapes.Record | shapes.Named):
        return Scalar(yaml.resolve(name.value), name.value, 0, name.variable)
    try:
        parsed = marked(yaml.parse(name.value.encode(), name.variable), name.variable)
    except BadFiles as error:
        first = error.complaints[0]
        raise BadFiles((first,)) from None
    if isinstance(parsed, Mapping) and isinstance(before, Mapping):
        return Mapping({**before.entries, **parsed.entries}, before.line, max(before.depth, parsed.depth))
    return parsed


def marked(node: Node, origin: str) -> Node:
    """The node with every leaf saying where it came from."""
    match node:
        case Scalar():
            return node._replace(origin=origin)
        case Listing():
            return Listing(tuple(marked(item, origin) for item in node.items), node.line, node.depth)
        case Mapping():
            entries = {key: Entry(entry.line, marked(entry.node, origin)) for key, entry in node.entries.items()}
            return Mapping(entries, node.line, node.depth)
