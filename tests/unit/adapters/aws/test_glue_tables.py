"""What Glue shows of an Iceberg table: the words Iceberg's own GlueCatalog uses, and nothing lost of what was there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firnline.adapters.aws import glue_tables
from firnline.core.types import from_json
from firnline.facts import meta
from firnline.facts.meta import TableMeta

LIST = {"type": "list", "element-id": 8, "element": "long", "element-required": False}
STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 5, "name": "a", "type": "uuid", "required": True},
        {"id": 6, "name": "b", "type": LIST, "required": False},
    ],
}  # fmt: skip
MAP = {"type": "map", "key-id": 9, "key": "string", "value-id": 10, "value": STRUCT, "value-required": False}


@pytest.mark.parametrize(
    ("type_json", "expected"),
    [
        ("boolean", "boolean"), ("int", "int"), ("long", "bigint"), ("float", "float"), ("double", "double"),
        ("date", "date"), ("time", "string"), ("string", "string"), ("uuid", "string"), ("timestamp", "timestamp"),
        ("timestamptz", "timestamp"), ("fixed[4]", "binary"), ("binary", "binary"), ("decimal(9, 2)", "decimal(9,2)"),
        ("timestamp_ns", "timestamp_nano"), ("timestamptz_ns", "timestamp_nano"), ("variant", "variant"),
        ("unknown", "unknown"), ("geometry(srid:4326)", "geometry"), ("new(1)", "new"), (LIST, "array<bigint>"),
        (STRUCT, "struct<a:string,b:array<bigint>>"), (MAP, "map<string,struct<a:string,b:array<bigint>>>"),
    ],
    ids=str,
)  # fmt: skip
def test_types(type_json: Any, expected: str) -> None:
    """Types are written in Hive's words, as IcebergToGlueConverter of Iceberg 1.12 does."""
    assert glue_tables.shown(from_json(type_json)) == expected


def column(number: int, name: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "name": name, "type": "long", "required": False, **more}


def metadata(*schemas: list[dict[str, Any]], current: int = 0, **properties: str) -> dict[str, Any]:
    return {
        "format-version": 2, "table-uuid": "6f0e5d3c-0000-4000-8000-000000000001", "location": "s3://lake/t/",
        "last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 9, "current-schema-id": current,
        "schemas": [{"type": "struct", "schema-id": i, "fields": each} for i, each in enumerate(schemas)],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}], "properties": properties,
    }  # fmt: skip


def table(*schemas: list[dict[str, Any]], current: int = 0, **properties: str) -> TableMeta:
    data = json.dumps(metadata(*schemas, current=current, **properties))
    return meta.parse(data.encode(), "s3://lake/t/metadata/1.metadata.json")


def columns(of: TableMeta, **comments: str) -> list[dict[str, Any]]:
    return list(glue_tables.columns(of, comments))


def test_columns_of_every_schema() -> None:
    """The current schema's columns come first; of older schemas those whose names are free, marked as not current."""
    old = [column(1, "id"), column(2, "gone", required=True), column(3, "label")]
    new = [column(1, "id", required=True), column(3, "name")]
    found = [
        (each["Name"], *(each["Parameters"][f"iceberg.field.{key}"] for key in ("id", "optional", "current")))
        for each in columns(table(old, new, current=1))
    ]
    assert found == [
        ("id", "1", "false", "true"), ("name", "3", "true", "true"), ("gone", "2", "false", "false"),
        ("label", "3", "true", "false"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("doc", "kept", "expected"),
    [
        ("the key", None, "the key"),
        ("the key", "by hand", "the key"),
        (None, "by hand", "by hand"),
        ("", "by hand", "by hand"),
        (None, None, None),
        ("two\nlines\t and more", None, "two lines and more"),
        ("x" * 300, None, "x" * 255),
        ("ä" * 200, None, "ä" * 127),
    ],
)
def test_comments(doc: str | None, kept: str | None, expected: str | None) -> None:
    """A comment is the schema's, or else the one somebody gave the column in Glue; on one line and in 255 bytes."""
    more = {} if doc is None else {"doc": doc}
    found = columns(table([column(1, "id", **more)]), **({} if kept is None else {"id": kept}))
    assert found[0].get("Comment") == expected


def test_columns_glue_cannot_hold() -> None:
    """A column that Glue would refuse is not shown, rather than the commit failing for it."""
    wide = {"type": "struct", "fields": [column(100 + i, f"field_{i:05d}") for i in range(9000)]}
    fields = [column(1, "id"), column(2, "n" * 256), column(3, "two\nlines"), column(4, "wide", type=wide)]
    assert [each["Name"] for each in columns(table(fields))] == ["id"]


def test_columns_as_pyiceberg_shows_them() -> None:
    """PyIceberg's own Glue catalog shows the same columns of the same metadata."""
    from pyiceberg.catalog.glue import _to_columns
    from pyiceberg.table.metadata import TableMetadataUtil

    old = [column(1, "id"), column(2, "gone", required=True), column(3, "label", type="fixed[4]")]
    kinds = ("date", "time", "timestamptz", "timestamp", "uuid", "binary", "boolean", "float", "decimal(9, 2)")
    new = [column(1, "id", doc="the key"), *(column(20 + i, f"c{i}", type=kind) for i, kind in enumerate(kinds)),
           column(40, "m", type=MAP), column(41, "s", type=STRUCT)]  # fmt: skip
    theirs = TableMetadataUtil.parse_raw(json.dumps(metadata(old, new, current=1)))
    assert columns(table(old, new, current=1)) == _to_columns(theirs)


def test_a_new_entry() -> None:
    """A new table says what it is, where its metadata and its files are, and what it is about."""
    elsewhere = {"write.data.path": "s3://fast/t", "write.metadata.path": "s3://fast/m"}
    given = glue_tables.made("t", "s3://lake/t/1", table([column(1, "id")], comment="sales", **elsewhere))
    assert (given["Name"], given["TableType"], given["Description"]) == ("t", "EXTERNAL_TABLE", "sales")
    assert given["Parameters"] == {"table_type": "ICEBERG", "metadata_location": "s3://lake/t/1"}
    storage = given["StorageDescriptor"]
    assert (storage["Location"], storage["AdditionalLocations"]) == ("s3://lake/t", ["s3://fast/m", "s3://fast/t"])


def test_a_moved_entry() -> None:
    """Moving the pointer keeps every field that can be given back, and changes what it must."""
    entry = {
        "Name": "t", "DatabaseName": "shop", "VersionId": "7", "CreatedBy": "ann", "Owner": "ann", "Retention": 30,
        "Description": "by hand", "TableType": "EXTERNAL_TABLE", "PartitionKeys": [{"Name": "day"}],
        "Parameters": {"table_type": "iceberg", "metadata_location": "old", "note": "kept",
                       "previous_metadata_location": "older"},
        "StorageDescriptor": {"Location": "s3://was", "AdditionalLocations": ["s3://was/too"], "Compressed": True,
                              "Columns": [{"Name": "id", "Type": "int", "Comment": "by hand"}]},
    }  # fmt: skip
    keeps = frozenset({"Name", "Owner", "Retention", "Description", "PartitionKeys", "Parameters"})
    given = glue_tables.moved(entry, keeps, "new", table([column(1, "id")]))
    storage = given.pop("StorageDescriptor")
    assert given == {
        "Name": "t", "Owner": "ann", "Retention": 30, "Description": "by hand", "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": "day"}],
        "Parameters": {"table_type": "ICEBERG", "metadata_location": "new", "previous_metadata_location": "old",
                       "note": "kept"},
    }  # fmt: skip
    shown = storage.pop("Columns")
    assert storage == {"Location": "s3://lake/t", "Compressed": True}
    assert (shown[0]["Type"], shown[0]["Comment"]) == ("bigint", "by hand")
