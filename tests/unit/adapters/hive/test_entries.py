"""Iceberg tables as entries of a metastore."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firnline.adapters.hive import entries
from firnline.facts.meta import TableMeta
from tests.unit.adapters.hive.metadata import RAW, table

HANDLER = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"


def made(**changes: Any) -> Any:
    return entries.made("shop", "orders", "s3://lake/m0.json", table(**changes), "ann")


def moved(entry: Any, after: TableMeta, before: TableMeta | None = None) -> Any:
    return entries.moved(entry, "s3://lake/m1.json", after, before or table())


def test_a_new_entry() -> None:
    """A new entry is one that Iceberg's HiveCatalog would have written: an external table that points to its metadata,
    with its properties, columns and sizes for those who look.
    """
    entry = made()
    schema = entry.parameters.pop("current-schema")
    assert json.loads(schema) == RAW["schemas"][0]
    assert entry.parameters == {
        "EXTERNAL": "TRUE", "table_type": "ICEBERG", "metadata_location": "s3://lake/m0.json",
        "DO_NOT_UPDATE_STATS": "true", "owner": "ann", "external.table.purge": "true",
        "uuid": "6f0e5d3c-0000-4000-8000-000000000001", "snapshot-count": "1", "current-snapshot-id": "7",
        "current-snapshot-timestamp-ms": "1700000000000", "numFiles": "3", "numRows": "10", "totalSize": "1000",
        "current-snapshot-summary": '{"total-data-files":"3","total-records":"10","total-files-size":"1000"}',
        "default-partition-spec":
            '{"spec-id":1,"fields":[{"name":"at_day","transform":"day","source-id":2,"field-id":1000}]}',
    }  # fmt: skip
    assert (entry.dbName, entry.tableName, entry.tableType, entry.owner) == ("shop", "orders", "EXTERNAL_TABLE", "ann")
    assert entry.sd.location == "s3://lake/shop/orders"
    assert [(column.name, column.type, column.comment) for column in entry.sd.cols] == [
        ("id", "bigint", "the key"), ("at", "timestamp", None),
    ]  # fmt: skip
    assert entry.sd.inputFormat == "org.apache.hadoop.mapred.FileInputFormat"


def test_what_is_kept() -> None:
    """What others wrote into an entry stays in it; the pointer moves and remembers where it was."""
    entry = made()
    entry.parameters["theirs"], entry.owner, entry.retention = "kept", "eve", 5
    entry.sd.serdeInfo.parameters["path"] = "kept"
    after = moved(entry, table(location="s3://lake/elsewhere"))
    assert (after.parameters["theirs"], after.owner, after.retention) == ("kept", "eve", 5)
    assert after.sd.serdeInfo.parameters == {"path": "kept"}
    assert after.sd.location == "s3://lake/elsewhere"
    assert after.parameters["metadata_location"] == "s3://lake/m1.json"
    assert after.parameters["previous_metadata_location"] == "s3://lake/m0.json"
    assert entry.parameters["metadata_location"] == "s3://lake/m0.json"  # the one that was read is not touched


def test_properties_follow() -> None:
    """Properties that were removed from the table are removed from the entry, under the name they have there."""
    after = moved(made(), table(properties={"note": "new"}))
    assert {key: after.parameters.get(key) for key in ("owner", "external.table.purge", "note")} == {
        "owner": None, "external.table.purge": None, "note": "new",
    }  # fmt: skip


@pytest.mark.parametrize("key", ["metadata_location", "table_type", "EXTERNAL", "previous_metadata_location"])
def test_properties_do_not_rule_the_entry(key: str) -> None:
    """A property of the table that is called like a part of the entry's own does not get there."""
    given = table(properties={key: "hostile"})
    assert made(properties={key: "hostile"}).parameters.get(key) == made().parameters.get(key)
    after = moved(made(), table(), given)
    assert after.parameters["EXTERNAL"] == "TRUE"
    assert "hostile" not in after.parameters.values()


def test_nothing_old_is_shown() -> None:
    """What an entry shows of a table is of this metadata: where that has no snapshot, no old one is shown."""
    entry = made()
    entry.parameters["COLUMN_STATS_ACCURATE"] = "{}"
    empty = table(current_snapshot_id=None, snapshots=[], snapshot_log=[], refs={})
    after = moved(entry, empty).parameters
    assert {key for key in after if key.startswith("current-snapshot") or key in {"numRows", "numFiles"}} == set()
    assert after["snapshot-count"] == "0"
    assert "COLUMN_STATS_ACCURATE" not in after


def test_large_things_are_left_out() -> None:
    """A schema larger than a metastore's database can hold is left out, and the old one with it."""
    wide = [{"id": 1, "name": "x" * 40_000, "required": False, "type": "int"}]
    after = moved(made(), table(schemas=[{"type": "struct", "schema-id": 3, "fields": wide}]))
    assert "current-schema" not in after.parameters


@pytest.mark.parametrize(
    ("before", "after", "handler"),
    [
        ({}, {}, None),
        ({}, {"engine.hive.enabled": "true"}, HANDLER),
        ({"engine.hive.enabled": "true"}, {"engine.hive.enabled": "true"}, HANDLER),
        ({"engine.hive.enabled": "true"}, {"engine.hive.enabled": "false"}, None),
        ({"engine.hive.enabled": "true"}, {}, HANDLER),
    ],
)
def test_tables_that_hive_queries(before: dict[str, str], after: dict[str, str], handler: str | None) -> None:
    """Whether Hive can query a table is what the table says; where it says nothing, as it was."""
    found = moved(made(properties=before), table(properties=after), table(properties=before))
    assert found.parameters.get("storage_handler") == handler
    assert ("mr.hive" in found.sd.inputFormat) == (handler is not None)
    assert ("mr.hive" in found.sd.serdeInfo.serializationLib) == (handler is not None)


@pytest.mark.parametrize(
    ("properties", "locks"),
    [
        ({}, True),
        ({"engine.hive.lock-enabled": "true"}, True),
        ({"engine.hive.lock-enabled": "TRUE"}, True),
        ({"engine.hive.lock-enabled": "false"}, False),
        ({"engine.hive.lock-enabled": "no"}, False),
    ],
)
def test_locks(properties: dict[str, str], locks: bool) -> None:
    """A table has locks unless it says otherwise, read as Iceberg reads it."""
    assert entries.locks(properties) is locks
