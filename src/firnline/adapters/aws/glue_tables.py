"""Iceberg tables as Glue entries: the pointer, and what consoles show of a table.

Location, columns and comments are for people: engines read the metadata file. They are written as Iceberg's own
GlueCatalog writes them, so that its commits and ours leave the same entry; but what it forgets on every commit (owner,
retention, serializer and the like) is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firnline.adapters.aws import glue_names
from firnline.adapters.aws.glue_pointers import METADATA_LOCATION, TABLE_TYPE
from firnline.adapters.aws.glue_reading import Entry
from firnline.config.properties import FOLDERS
from firnline.core.types import Decimal, Field, Fixed, ListOf, MapOf, Opaque, Primitive, Struct, Type
from firnline.facts.meta import TableMeta

PREVIOUS = "previous_metadata_location"
COMMENT_BYTES_MAX = 255
DESCRIPTION_BYTES_MAX = 2048
TYPE_LENGTH_MAX = 131_072
_NAMES = {
    "int": "int", "long": "bigint", "time": "string", "uuid": "string", "timestamptz": "timestamp",
    "timestamp_ns": "timestamp_nano", "timestamptz_ns": "timestamp_nano",
}  # fmt: skip


def made(name: str, location: str, meta: TableMeta) -> dict[str, Any]:
    """The `TableInput` of a new table."""
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {TABLE_TYPE: "ICEBERG", METADATA_LOCATION: location},
        **_described(meta),
        "StorageDescriptor": _storage({}, meta),
    }


def moved(entry: Entry, keeps: frozenset[str], new: str, meta: TableMeta) -> dict[str, Any]:
    """The `TableInput` that moves the pointer: UpdateTable replaces all it is given, and forgets what it is not.
    `keeps` are the fields of an entry that can be given back.
    """
    old = entry["Parameters"][METADATA_LOCATION]
    return {
        **{key: value for key, value in entry.items() if key in keeps},
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {**entry["Parameters"], TABLE_TYPE: "ICEBERG", METADATA_LOCATION: new, PREVIOUS: old},
        **_described(meta),
        "StorageDescriptor": _storage(entry.get("StorageDescriptor", {}), meta),
    }


def _described(meta: TableMeta) -> dict[str, str]:
    comment = meta.properties.get("comment")
    return {} if comment is None else {"Description": _cut(comment, DESCRIPTION_BYTES_MAX)}


def _storage(entry: Entry, meta: TableMeta) -> dict[str, Any]:
    elsewhere = sorted({meta.properties[key] for key in FOLDERS if meta.properties.get(key)})
    kept = {key: value for key, value in entry.items() if key != "AdditionalLocations"}
    comments = {each["Name"]: each["Comment"] for each in entry.get("Columns", ()) if each.get("Comment")}
    return {
        **kept,
        "Location": meta.table_location,
        **({"AdditionalLocations": elsewhere} if elsewhere else {}),
        "Columns": list(columns(meta, comments)),
    }


def columns(meta: TableMeta, comments: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The columns of the current schema, then those only older ones have. What has no comment in the schema keeps the
    one somebody gave it in Glue. A column that Glue could not hold is left out rather than failing the commit.
    """
    seen: set[str] = set()
    older = (schema for schema in meta.schemas if schema.id != meta.current_schema_id)
    for schema in (meta.schema, *older):
        for field in schema.struct.fields:
            type_text = shown(field.type)
            if field.name in seen or not glue_names.holds(field.name) or len(type_text) > TYPE_LENGTH_MAX:
                continue
            seen.add(field.name)
            yield _column(field, type_text, comments.get(field.name), current=schema.id == meta.current_schema_id)


def _column(field: Field, type_text: str, kept: str | None, *, current: bool) -> dict[str, Any]:
    # Glue refuses a comment of two lines.
    comment = _cut(" ".join(field.doc.split()), COMMENT_BYTES_MAX) if field.doc else kept
    return {
        "Name": field.name,
        "Type": type_text,
        **({"Comment": comment} if comment else {}),
        "Parameters": {
            "iceberg.field.id": str(field.id),
            "iceberg.field.optional": str(not field.required).lower(),
            "iceberg.field.current": str(current).lower(),
        },
    }


def shown(of: Type) -> str:
    """The type in Hive's words, as Iceberg's IcebergToGlueConverter writes it."""
    match of:
        case Primitive():
            return _NAMES.get(of.name, of.name)
        case Decimal():
            return f"decimal({of.precision},{of.scale})"
        case Fixed():
            return "binary"
        case Opaque():
            return of.text.partition("(")[0]
        case Struct():
            return f"struct<{','.join(f'{field.name}:{shown(field.type)}' for field in of.fields)}>"
        case ListOf():
            return f"array<{shown(of.element)}>"
        case MapOf():
            return f"map<{shown(of.key)},{shown(of.value)}>"


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
