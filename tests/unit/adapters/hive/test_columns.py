"""Iceberg types in Hive's words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hive_metastore.ttypes import FieldSchema

from firnline.adapters.hive.columns import columns, hive_type
from firnline.core.errors import Failed
from firnline.core.types import Field, Opaque, Primitive, Struct, from_json
from firnline.facts.meta import Schema, TableMeta, parse
from tests.unit.adapters.hive.metadata import METADATA

POINT = {
    "type": "struct",
    "fields": [
        {"id": 7, "name": "x", "type": "double", "required": True},
        {"id": 8, "name": "at.y", "type": "timestamptz", "required": False},
    ],
}
LIST = {"type": "list", "element-id": 9, "element": POINT, "element-required": True}
MAP = {"type": "map", "key-id": 1, "key": "string", "value-id": 2, "value": LIST, "value-required": False}


@pytest.mark.parametrize(
    ("iceberg", "hive"),
    [
        ("boolean", "boolean"), ("int", "int"), ("long", "bigint"), ("float", "float"), ("double", "double"),
        ("date", "date"), ("time", "string"), ("timestamp", "timestamp"), ("timestamptz", "timestamp"),
        ("string", "string"), ("uuid", "string"), ("binary", "binary"), ("fixed[7]", "binary"),
        ("decimal(9, 2)", "decimal(9,2)"), (POINT, "struct<x:double,at.y:timestamp>"),
        (MAP, "map<string,array<struct<x:double,at.y:timestamp>>>"),
    ],
)  # fmt: skip
def test_types(iceberg: Any, hive: str) -> None:
    """Every type of formats 1 and 2 has a word in Hive, as deep as it may be nested."""
    assert hive_type(from_json(iceberg)) == hive


@pytest.mark.parametrize("name", ["variant", "unknown", "timestamp_ns", "geometry(OGC:CRS84)", "of the future"])
def test_types_hive_has_not(name: str) -> None:
    """A type that Hive has no word for is named, rather than called something else."""
    with pytest.raises(Failed, match=r"Hive has no type for"):
        hive_type(from_json({"type": "list", "element-id": 1, "element": name, "element-required": True}))


@pytest.mark.parametrize("name", ["a:b", "a b", "a,b", "<a>", ""])
def test_names_inside_structs(name: str) -> None:
    """A name that would make the type unreadable is refused: the metastore takes it, and then no change any more."""
    with pytest.raises(Failed, match="inside a struct"):
        hive_type(Struct((Field(name, Primitive("int")),)))


def meta(*fields: Field) -> TableMeta:
    found = parse(METADATA, "file:///m.json")
    return replace(found, schemas=(Schema(found.current_schema_id, Struct(fields)),))


def shown(found: TableMeta, *before: tuple[str, str, str | None]) -> list[tuple[str, str, str | None]]:
    made = columns(found, [FieldSchema(*column) for column in before])
    return [(column.name, column.type, column.comment) for column in made]


def test_comments() -> None:
    """A comment is the schema's, else the one somebody gave in Hive, and never longer than the metastore can keep."""
    found = meta(Field("a", Primitive("int"), doc="ours"), Field("b", Primitive("int")), Field("c", Primitive("int")))
    assert shown(found, ("a", "int", "theirs"), ("b", "int", "theirs")) == [
        ("a", "int", "ours"), ("b", "int", "theirs"), ("c", "int", None),
    ]  # fmt: skip
    (cut,) = shown(meta(Field("a", Primitive("int"), doc="ü" * 300)))
    assert cut[2] == "ü" * 127


def test_timestamps_keep_their_spelling() -> None:
    """What another client called a timestamp with a zone stays so; a column that changes its type does not."""
    zoned = "timestamp with local time zone"
    struct = Struct((Field("t", Primitive("timestamptz")),))
    found = meta(Field("a", Primitive("timestamptz")), Field("b", struct), Field("c", Primitive("date")))
    before = (("a", zoned, None), ("b", f"struct<t:{zoned}>", None), ("c", zoned, None))
    assert [column[1] for column in shown(found, *before)] == [zoned, f"struct<t:{zoned}>", "date"]


def test_unknown_columns_stop_a_commit() -> None:
    """One column without a word in Hive is enough."""
    with pytest.raises(Failed):
        columns(meta(Field("a", Opaque("geometry"))))
