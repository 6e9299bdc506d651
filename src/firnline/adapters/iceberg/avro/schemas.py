"""Avro writer schemas as values, with the field ids Iceberg puts into them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from firnline.adapters.iceberg.avro.container import Damaged
from firnline.core.types import Json

_ATOMS = frozenset({"null", "boolean", "int", "long", "float", "double", "string", "bytes"})
# Manifests nest five deep, and have some dozens of types. A schema can grow exponentially by naming its own types.
DEPTH_MAX = 32
TYPES_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Atom:
    """A type without an inside. An enum is written as an int and read as one."""

    kind: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """So many bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Array:
    """Items one after the other. A map of Avro is an array of (key, value) records."""

    items: Type


@dataclass(frozen=True, slots=True)
class Union:
    """One of these, led by its number."""

    branches: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record. Hand-made files may have no ids."""

    id: int | None
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Record:
    """Fields one after the other."""

    fields: tuple[Field, ...]


Type: TypeAlias = Atom | Fixed | Array | Union | Record


def parse(text: bytes) -> Type:
    """A schema from its JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"its schema is not readable: {error}") from error
    return _Parser().type(data, 0)


def unwrapped(of: Type) -> Type:
    """The type inside an optional; any other as it is."""
    if isinstance(of, Union):
        inside = [branch for branch in of.branches if branch != Atom("null")]
        if len(inside) == 1:
            return inside[0]
    return of


def shown(of: Type) -> str:
    """The type as a message names it."""
    return of.kind if isinstance(of, Atom) else type(of).__name__.lower()


class _Parser:
    def __init__(self) -> None:
        self._named: dict[str, tuple[Type, int]] = {}
        self._types = 0

    def type(self, data: Json, depth: int, space: str = "") -> Type:
        self._count(1)
        if depth > DEPTH_MAX:
            raise Damaged(f"its schema is nested more than {DEPTH_MAX} deep")
        if isinstance(data, str):
            return self._by_name(data, space)
        if isinstance(data, list):
            return Union(tuple(self.type(branch, depth + 1, space) for branch in data))
        if not isinstance(data, dict):
            raise Damaged("its schema is not readable: a type is neither a name nor an object")
        return self._nested(data, depth, space)

    def _nested(self, data: Json, depth: int, space: str) -> Type:
        match data.get("type"):
            case "record" | "error":
                before, inner = self._types, _full_name(data, space).rpartition(".")[0]
                fields = tuple(self._field(field, depth + 1, inner) for field in _list(data.get("fields")))
                return self._name(data, Record(fields), self._types - before, space)
            case "array":
                return Array(self.type(data.get("items"), depth + 1, space))
            case "map":
                key, value = Field(None, "key", Atom("string")), self.type(data.get("values"), depth + 1, space)
                return Array(Record((key, Field(None, "value", value))))
            case "fixed":
                size = data.get("size")
                if not isinstance(size, int) or size < 0:
                    raise Damaged("its schema is not readable: a fixed type without a size")
                return self._name(data, Fixed(size), 1, space)
            case "enum":
                return self._name(data, Atom("int"), 1, space)
            case other:
                return self.type(other, depth + 1, space)

    def _field(self, data: Json, depth: int, space: str) -> Field:
        if not isinstance(data, dict):
            raise Damaged("its schema is not readable: a field is no object")
        field_id = data.get("field-id")
        of = self.type(data.get("type"), depth, space)
        return Field(field_id if isinstance(field_id, int) else None, str(data.get("name")), of)

    def _by_name(self, name: str, space: str) -> Type:
        if name in _ATOMS:
            return Atom(name)
        # Only what is complete can be named: a type cannot contain itself, nor be of endless depth.
        found = self._named.get(f"{space}.{name}" if space else name) or self._named.get(name)
        if found is None:
            raise Damaged(f"its schema names a type {name!r} that it does not define before")
        self._count(found[1])
        return found[0]

    def _name(self, data: Json, of: Type, size: int, space: str) -> Type:
        self._named[_full_name(data, space)] = of, size
        return of

    def _count(self, more: int) -> None:
        self._types += more
        if self._types > TYPES_MAX:
            raise Damaged(f"its schema has more than {TYPES_MAX:,} types")


def _full_name(data: Json, space: str) -> str:
    name, space = str(data.get("name")), str(data.get("namespace") or space)
    return name if "." in name or not space else f"{space}.{name}"


def _list(data: Json) -> list[Json]:
    if not isinstance(data, list):
        raise Damaged("its schema is not readable: a record without fields")
    return data
