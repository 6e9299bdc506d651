"""Iceberg's type algebra, as values.

One algebra serves what a user declares (ids are None) and what a table has (ids are set). A type this version does not
know is kept as its text, so that a table with it can still be listed, planned and shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

Json: TypeAlias = Any

PRIMITIVES = (
    "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
    "timestamp_ns", "timestamptz_ns", "string", "uuid", "binary", "unknown", "variant",
)  # fmt: skip
V3_ONLY = frozenset({"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"})
DECIMAL_PRECISION_MAX = 38


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters."""

    name: str


@dataclass(frozen=True, slots=True)
class Decimal:
    """Fixed-point with `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """Exactly `length` bytes."""

    length: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type kept as its text: geometry and geography with their parameters, or one of a later format."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a field of a struct. Defaults are Iceberg's JSON single values; None means there is none."""

    name: str
    type: Type
    required: bool = False
    doc: str | None = None
    id: int | None = None
    initial_default: Json = None
    write_default: Json = None


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields, in order."""

    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The field of this name, exactly as written."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; the element has an id of its own."""

    element: Type
    element_required: bool = False
    element_id: int | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map; key and value have ids of their own."""

    key: Type
    value: Type
    value_required: bool = False
    key_id: int | None = None
    value_id: int | None = None


Type: TypeAlias = Primitive | Decimal | Fixed | Opaque | Struct | ListOf | MapOf

_DECIMAL = re.compile(r"^decimal\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$")
_FIXED = re.compile(r"^fixed[\[(]\s*(\d{1,9})\s*[\])]$")
_GEO = re.compile(r"^(geometry|geography)\s*(?:\((.*)\))?$", re.IGNORECASE)
_GEO_DEFAULTS = {"geometry": ("OGC:CRS84",), "geography": ("OGC:CRS84", "spherical")}


def parse_atom(text: str) -> Type | None:
    """A non-nested type from its text, or None when this version does not know it."""
    lowered = text.strip().lower()
    if lowered in PRIMITIVES:
        return Primitive(lowered)
    if found := _DECIMAL.match(lowered):
        precision, scale = int(found[1]), int(found[2])
        return Decimal(precision, scale) if scale <= precision and 0 < precision <= DECIMAL_PRECISION_MAX else None
    if found := _FIXED.match(lowered):
        return Fixed(int(found[1])) if int(found[1]) > 0 else None
    return _parse_geo(text)


def _parse_geo(text: str) -> Opaque | None:
    """Geometry and geography in one spelling: releases of Iceberg differ in whether they write the defaults out."""
    found = _GEO.match(text.strip())
    if found is None:
        return None
    name, defaults = found[1].lower(), _GEO_DEFAULTS[found[1].lower()]
    given = [part.strip() for part in (found[2] or "").split(",") if part.strip()]
    return Opaque(f"{name}({', '.join((*given, *defaults[len(given) :]))})")


def from_json(data: Json) -> Type:
    """A type from table metadata. Never fails on a type it does not know."""
    if isinstance(data, str):
        return parse_atom(data) or Opaque(data)
    match data.get("type"):
        case "struct":
            return struct_from_json(data)
        case "list":
            return ListOf(from_json(data["element"]), data["element-required"], data["element-id"])
        case "map":
            key, value = from_json(data["key"]), from_json(data["value"])
            return MapOf(key, value, data["value-required"], data["key-id"], data["value-id"])
        case other:
            return Opaque(str(other))


def struct_from_json(data: Json) -> Struct:
    """A struct, or the top of a schema."""
    return Struct(tuple(_field_from_json(item) for item in data["fields"]))


def _field_from_json(data: Json) -> Field:
    return Field(
        name=data["name"],
        type=from_json(data["type"]),
        required=data["required"],
        doc=data.get("doc"),
        id=data["id"],
        initial_default=data.get("initial-default"),
        write_default=data.get("write-default"),
    )


def to_json(of: Type) -> Json:
    """The type as table metadata has it. Every id must be set."""
    match of:
        case Struct():
            return {"type": "struct", "fields": [field_to_json(field) for field in of.fields]}
        case ListOf():
            return {
                "type": "list",
                "element-id": of.element_id,
                "element": to_json(of.element),
                "element-required": of.element_required,
            }
        case MapOf():
            return {
                "type": "map",
                "key-id": of.key_id,
                "key": to_json(of.key),
                "value-id": of.value_id,
                "value": to_json(of.value),
                "value-required": of.value_required,
            }
        case _:
            return show(of)


def field_to_json(field: Field) -> Json:
    """A field as table metadata has it."""
    data: dict[str, Json] = {
        "id": field.id,
        "name": field.name,
        "required": field.required,
        "type": to_json(field.type),
    }
    if field.doc is not None:
        data["doc"] = field.doc
    if field.initial_default is not None:
        data["initial-default"] = field.initial_default
    if field.write_default is not None:
        data["write-default"] = field.write_default
    return data


def show(of: Type) -> str:
    """The type as people read it: `decimal(9,2)`, `list<string>`, `struct<a: int, b: string>`."""
    match of:
        case Primitive():
            return of.name
        case Decimal():
            return f"decimal({of.precision},{of.scale})"
        case Fixed():
            return f"fixed[{of.length}]"
        case Opaque():
            return of.text
        case Struct():
            inner = ", ".join(f"{field.name}: {show(field.type)}" for field in of.fields)
            return f"struct<{inner}>"
        case ListOf():
            return f"list<{show(of.element)}>"
        case MapOf():
            return f"map<{show(of.key)}, {show(of.value)}>"


# A path is the field names from the top, with `element`, `key` and `value` for the insides of lists and maps.
Path: TypeAlias = tuple[str, ...]


def walk(struct: Struct, prefix: Path = ()) -> Iterator[tuple[Path, Field]]:
    """Every field under `struct`, parents first. Insides of lists and maps appear as fields of those names."""
    for field in struct.fields:
        yield from _walk_field(field, prefix)


def _walk_field(field: Field, prefix: Path) -> Iterator[tuple[Path, Field]]:
    path = (*prefix, field.name)
    yield path, field
    for child in children(field.type):
        yield from _walk_field(child, path)


def children(of: Type) -> tuple[Field, ...]:
    """The direct inside of a type, as fields."""
    match of:
        case Struct():
            return of.fields
        case ListOf():
            return (Field("element", of.element, of.element_required, id=of.element_id),)
        case MapOf():
            return (
                Field("key", of.key, True, id=of.key_id),
                Field("value", of.value, of.value_required, id=of.value_id),
            )
        case _:
            return ()


def with_children(of: Type, inside: tuple[Field, ...]) -> Type:
    """The same type around other insides; the inverse of `children`."""
    match of:
        case Struct():
            return Struct(inside)
        case ListOf():
            (element,) = inside
            return ListOf(element.type, element.required, element.id)
        case MapOf():
            key, value = inside
            return MapOf(key.type, value.type, value.required, key.id, value.id)
        case _:
            return of


def map_fields(of: Type, change: Callable[[Field], Field]) -> Type:
    """The type with every field under it changed, insides first."""
    inside = tuple(change(replace(child, type=map_fields(child.type, change))) for child in children(of))
    return with_children(of, inside)


def without_ids(of: Type) -> Type:
    """The shape alone: what two declarations have in common."""
    return map_fields(of, lambda field: replace(field, id=None))


def show_path(path: Path) -> str:
    """A path as people write it; a part with a dot in it stands in backticks."""
    return ".".join(f"`{part}`" if "." in part or not part else part for part in path)


def needs_v3(of: Type) -> str | None:
    """The first type inside that formats before 3 do not have."""
    match of:
        case Primitive() if of.name in V3_ONLY:
            return of.name
        case Opaque():
            return of.text.split("(")[0]
        case _:
            return next((found for child in children(of) if (found := needs_v3(child.type))), None)
