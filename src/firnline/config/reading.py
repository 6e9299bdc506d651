"""Nodes held against shapes: values on one side, every complaint on the other. Nothing stops at the first mistake."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from firnline.config import amounts, shapes
from firnline.config.yaml import Listing, Mapping, Node, Scalar, kind
from firnline.core.errors import BadFiles, BadInput, Complaint
from firnline.core.instants import parse_duration
from firnline.core.suggest import did_you_mean, nearest

# Past this a file is the wrong file, or was made by a broken generator: more lines help nobody.
COMPLAINTS_MAX = 50


@dataclass(slots=True)
class Complaints:
    """Everything wrong with one file, gathered while reading it."""

    file: str
    found: list[Complaint] = field(default_factory=list)

    def add(self, node: Node, key: str, problem: str, hint: str | None = None) -> None:
        """Complain of a node."""
        origin = node.origin if isinstance(node, Scalar) else None
        self.at(None if origin else node.line, key, problem, hint, origin)

    def at(self, line: int | None, key: str, problem: str, hint: str | None = None, file: str | None = None) -> None:
        """Complain of a line."""
        self.found.append(Complaint(file or self.file, line, key or None, problem, hint))

    def raise_any(self) -> None:
        """Raise what was found, in the order of lines."""
        if self.found:
            raise BadFiles(shorten(tuple(sorted(self.found, key=lambda item: item.line or 0))))


def shorten(complaints: tuple[Complaint, ...]) -> tuple[Complaint, ...]:
    """The first of them, and how many more there are per file left out."""
    kept, left = complaints[:COMPLAINTS_MAX], complaints[COMPLAINTS_MAX:]
    if not left:
        return kept
    last = Complaint(left[0].file, None, None, f"{len(left)} more complaints are not shown.", "Fix these first.")
    return (*kept, last)


class Item(NamedTuple):
    """A value and the node it was read from."""

    value: Any
    node: Node


@dataclass(frozen=True, slots=True)
class Read:
    """A record that was read: what was there and was right. `path` names it in complaints."""

    node: Mapping
    path: str
    items: dict[str, Item]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default where it is absent, null or was wrong."""
        item = self.items.get(key)
        return default if item is None or item.value is None else item.value

    def node_of(self, key: str) -> Node:
        """The node of a key, or of the record itself: where to point."""
        entry = self.node.entries.get(key)
        return self.node if entry is None else entry.node

    def line_of(self, key: str) -> int:
        """The line of a key as written, or of the record."""
        entry = self.node.entries.get(key)
        return self.node.line if entry is None else entry.line

    def at(self, key: str) -> str:
        """The dotted key, from the top of the file."""
        return under(self.path, key)


def under(path: str, key: str) -> str:
    """One key further down."""
    return f"{path}.{key}" if path else key


class _Wrong:
    """The value of what was complained of; it is then left out."""


_WRONG = _Wrong()


def record(node: Node, shape: shapes.Record, path: str, complaints: Complaints) -> Read | None:
    """Read a record, or None when it is none (and that was complained of)."""
    value = _read(node, shape, path, complaints)
    return value if isinstance(value, Read) else None


def _read(node: Node, shape: shapes.Shape, path: str, complaints: Complaints) -> Any:
    match shape:
        case shapes.Record():
            return _record(node, shape, path, complaints)
        case shapes.Later():
            return _read(node, shape.shape(), path, complaints)
        case shapes.Each():
            return _each(node, shape, path, complaints)
        case shapes.Named():
            return _named(node, shape, path, complaints)
        case shapes.Either():
            picked = shape.choose(node)
            if picked is None:
                return _wrong(node, path, complaints, f"{shape.what} is expected here, not {kind(node)}.")
            return _read(node, shape.options[picked], path, complaints)
        case _:
            return _scalar(node, shape, path, complaints)


def _wrong(node: Node, path: str, complaints: Complaints, problem: str, hint: str | None = None) -> _Wrong:
    complaints.add(node, path, problem, hint)
    return _WRONG


def _record(node: Node, shape: shapes.Record, path: str, complaints: Complaints) -> Any:
    if not isinstance(node, Mapping):
        first = next(iter(shape.keys))
        return _wrong(
            node, path, complaints, f"a mapping is expected, not {kind(node)}.", f"Write keys such as {first}:."
        )
    items: dict[str, Item] = {}
    for key, entry in node.entries.items():
        known = shape.keys.get(key)
        inside = known.shape if known is not None else shape.others
        if inside is None:
            complaints.at(entry.line, under(path, key), "unknown key.", _nearest_key(key, shape))
            continue
        if known is not None and known.nullable and _is_null(entry.node):
            items[key] = Item(None, entry.node)
            continue
        value = _read(entry.node, inside, under(path, key), complaints)
        if value is not _WRONG:
            items[key] = Item(value, entry.node)
    for key, known in shape.keys.items():
        if known.required and not any(name in node.entries for name in (key, *known.also)):
            complaints.at(node.line, path, f"the key {key!r} is missing.", known.doc)
    return Read(node, path, items)


def _nearest_key(key: str, shape: shapes.Record) -> str:
    if shape.too_many is None:
        return did_you_mean(key, shape.keys)
    near = nearest(key, shape.keys)
    return shape.too_many if near is None else f"Did you mean {near!r}?"


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


def _each(node: Node, shape: shapes.Each, path: str, complaints: Complaints) -> Any:
    if not isinstance(node, Listing):
        return _wrong(
            node, path, complaints, f"a list is expected, not {kind(node)}.", "Write [a, b], or lines with -."
        )
    if len(node.items) < shape.length_min:
        return _wrong(node, path, complaints, "the list is empty.")
    items = []
    for position, inner in enumerate(node.items):
        value = _read(inner, shape.item, f"{path}[{position}]", complaints)
        if value is not _WRONG:
            items.append(Item(value, inner))
    return tuple(items)


def _named(node: Node, shape: shapes.Named, path: str, complaints: Complaints) -> Any:
    if not isinstance(node, Mapping):
        hint = f"Write {shape.name}: VALUE below it."
        return _wrong(node, path, complaints, f"a mapping is expected, not {kind(node)}.", hint)
    if len(node.entries) < shape.length_min:
        return _wrong(node, path, complaints, "it is empty.", f"Write at least one {shape.name}.")
    items: dict[str, Item] = {}
    for key, entry in node.entries.items():
        if shape.nullable and _is_null(entry.node):
            items[key] = Item(None, entry.node)
            continue
        value = _read(entry.node, shape.value, under(path, key), complaints)
        if value is not _WRONG:
            items[key] = Item(value, entry.node)
    return items


def _scalar(node: Node, shape: shapes.Shape, path: str, complaints: Complaints) -> Any:
    if not isinstance(node, Scalar):
        return _wrong(node, path, complaints, f"{_wanted(shape)} is expected, not {kind(node)}.")
    value = node.value
    match shape:
        case shapes.Written():
            if value is not None or shape.nullable:
                return None if value is None else node.text
        case shapes.Leaf():
            return node
        case shapes.Truth():
            if isinstance(value, bool):
                return value
        case shapes.Number():
            if isinstance(value, int) and not isinstance(value, bool) and shape.least <= value <= shape.most:
                return value
        case shapes.Duration():
            return _duration(node, path, complaints)
        case shapes.Amount():
            return _amount(node, shape, path, complaints)
        case shapes.Text():
            return _text(node, shape, path, complaints)
        case _:
            raise AssertionError(shape)
    return _wrong(node, path, complaints, f"{_wanted(shape)} is expected, not {kind(node)}.")


def _text(node: Scalar, shape: shapes.Text, path: str, complaints: Complaints) -> Any:
    value = node.value
    if shape.choices:
        if isinstance(value, str) and value in shape.choices:
            return value
        near = did_you_mean(node.text, shape.choices)
        return _wrong(node, path, complaints, f"{node.text[:60]!r} is not {_wanted(shape)}.", near)
    if not isinstance(value, str):
        hint = None if value is None else f"Quote it: {node.text[:40]!r}."
        return _wrong(node, path, complaints, f"{_wanted(shape)} is expected, not {kind(node)}.", hint)
    if len(value.strip()) < shape.length_min:
        wanted = f"at least {shape.length_min} characters" if shape.length_min > 1 else "something"
        return _wrong(node, path, complaints, f"{_wanted(shape)} of {wanted} is expected, not {value[:40]!r}.")
    return value


def _duration(node: Scalar, path: str, complaints: Complaints) -> timedelta | _Wrong:
    try:
        return parse_duration(node.text)
    except BadInput as error:
        return _wrong(node, path, complaints, error.what, error.next_step)


def _amount(node: Scalar, shape: shapes.Amount, path: str, complaints: Complaints) -> Any:
    try:
        amounts.parse(node.value, shape.unit)
    except BadInput as error:
        return _wrong(node, path, complaints, error.what, error.next_step)
    return node.value


def _wanted(shape: shapes.Shape) -> str:
    match shape:
        case shapes.Number():
            top = f" to {shape.most:,}" if shape.most < 2**63 - 1 else " or more"
            return f"a whole number, {shape.least:,}{top},"
        case shapes.Truth():
            return "true or false"
        case shapes.Duration():
            return "a duration such as 7d"
        case shapes.Amount():
            return amounts.WRITTEN[shape.unit]
        case shapes.Text():
            return f"one of {', '.join(shape.choices)}" if 0 < len(shape.choices) <= 4 else shape.what
        case _:
            return "a single value"
