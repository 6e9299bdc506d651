"""Iceberg tables as entries of a metastore, written as Iceberg's own HiveCatalog writes them.

What an entry has beyond that (owner, retention, serializer, parameters of other tools) is kept.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Mapping
from typing import Any

from hive_metastore.ttypes import SerDeInfo, StorageDescriptor, Table

from firnline.adapters.hive.columns import columns
from firnline.adapters.hive.pointers import METADATA_LOCATION, TABLE_TYPE
from firnline.core.layout import order_to_json, spec_to_json
from firnline.core.types import Json, to_json
from firnline.facts.meta import TableMeta

PREVIOUS = "previous_metadata_location"
LOCK_ENABLED = "engine.hive.lock-enabled"
# Without it the metastore lists the table's folder on every change to count files and bytes.
NO_STATISTICS = "DO_NOT_UPDATE_STATS"
_ENGINE_ENABLED = "engine.hive.enabled"
_OWNER = "hive.metastore.table.owner"
_HANDLER = "storage_handler"
_ENCRYPTED = ("encryption.key-id", "metadata_hash")
_MIRROR_LENGTH_MAX = 32_672  # characters: what every database under a metastore can hold
_RETENTION = 2**31 - 1
_RENAMED = {"gc.enabled": "external.table.purge"}
_RESERVED = frozenset(
    {"EXTERNAL", TABLE_TYPE, METADATA_LOCATION, PREVIOUS, _HANDLER, NO_STATISTICS, _OWNER, "metadata_hash"}
)
# Taken from the metadata anew each time: an old one would be a lie. Hive computes queries from its statistics.
_MIRRORED = frozenset(
    {
        "uuid", "current-schema", "current-snapshot-id", "current-snapshot-timestamp-ms", "current-snapshot-summary",
        "snapshot-count", "default-partition-spec", "default-sort-order", "numFiles", "numRows", "totalSize",
        "COLUMN_STATS_ACCURATE",
    }
)  # fmt: skip
_COUNTS = {"numFiles": "total-data-files", "numRows": "total-records", "totalSize": "total-files-size"}
_PLAIN = (
    "org.apache.hadoop.mapred.FileInputFormat",
    "org.apache.hadoop.mapred.FileOutputFormat",
    "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
)
_FOR_HIVE = (
    "org.apache.iceberg.mr.hive.HiveIcebergInputFormat",
    "org.apache.iceberg.mr.hive.HiveIcebergOutputFormat",
    "org.apache.iceberg.mr.hive.HiveIcebergSerDe",
)


def made(database: str, name: str, location: str, meta: TableMeta, user: str) -> Any:
    """A new entry that points to `location`."""
    now = int(time.time())
    entry = Table(
        tableName=name, dbName=database, owner=meta.properties.get(_OWNER) or user, createTime=now, lastAccessTime=now,
        retention=_RETENTION, partitionKeys=[], tableType="EXTERNAL_TABLE",
        sd=StorageDescriptor(serdeInfo=SerDeInfo(parameters={})),
    )  # fmt: skip
    return _pointed(entry, {"EXTERNAL": "TRUE"}, location, meta, hive=_for_hive(meta) or False)


def moved(entry: Any, new: str, meta: TableMeta, before: TableMeta) -> Any:
    """The entry pointing to `new` from now on. `before` is the metadata it points to: what that set as properties and
    the new one does not is taken away.
    """
    gone = {_RENAMED.get(key, key) for key in before.properties} - _RESERVED
    kept = {key: value for key, value in entry.parameters.items() if key not in gone}
    kept[PREVIOUS] = entry.parameters[METADATA_LOCATION]
    return _pointed(copy.deepcopy(entry), kept, new, meta, hive=_for_hive(meta))


def renamed(entry: Any, database: str, name: str) -> Any:
    """The entry under another name from now on, everything else as it is."""
    other = copy.deepcopy(entry)
    other.dbName, other.tableName = database, name
    return other


def stays(entry: Any) -> bool:
    """Whether the metastore leaves the table's folder where it is when the name changes: that of an external table, if
    it was not made one by the metastore itself, in a folder that follows the name.
    """
    given = {key: (value or "").upper() for key, value in (entry.parameters or {}).items()}
    return given.get("EXTERNAL") == "TRUE" and given.get("TRANSLATED_TO_EXTERNAL") != "TRUE"


def locks(properties: Mapping[str, str]) -> bool:
    """Whether writers of a table take the metastore's lock. Set to anything but true they do not, as in Iceberg."""
    return properties.get(LOCK_ENABLED, "true").lower() == "true"


def encrypted(properties: Mapping[str, str]) -> bool:
    """Whether the entry of such a table holds the hash of its metadata, without which Iceberg does not open it."""
    return any(key in properties for key in _ENCRYPTED)


def _pointed(entry: Any, kept: Mapping[str, str], location: str, meta: TableMeta, *, hive: bool | None) -> Any:
    """`hive`: whether Hive itself can query the table through this entry; None: as it was."""
    entry.parameters = {
        **{key: value for key, value in kept.items() if key not in _MIRRORED},
        **_given(meta),
        **_mirrored(meta),
        TABLE_TYPE: "ICEBERG",
        METADATA_LOCATION: location,
        NO_STATISTICS: "true",
    }
    entry.sd.cols = columns(meta, entry.sd.cols or ())
    entry.sd.location = meta.table_location
    if hive is not None:
        formats = _FOR_HIVE if hive else _PLAIN
        entry.sd.inputFormat, entry.sd.outputFormat, entry.sd.serdeInfo.serializationLib = formats
        entry.parameters.pop(_HANDLER, None)
        if hive:
            entry.parameters[_HANDLER] = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
    return entry


def _for_hive(meta: TableMeta) -> bool | None:
    said = meta.properties.get(_ENGINE_ENABLED)
    return None if said is None else said.lower() == "true"


def _given(meta: TableMeta) -> dict[str, str]:
    return {
        _RENAMED.get(key, key): value
        for key, value in meta.properties.items()
        if key not in _RESERVED and value is not None
    }


def _mirrored(meta: TableMeta) -> dict[str, str]:
    found = {"snapshot-count": str(len(meta.snapshots)), "current-schema": _text(_schema(meta))}
    if meta.uuid is not None:
        found["uuid"] = meta.uuid
    if meta.spec.fields:
        found["default-partition-spec"] = _text(spec_to_json(meta.spec))
    if meta.order.fields:
        found["default-sort-order"] = _text(order_to_json(meta.order))
    if meta.snapshot is not None:
        summary = {key: value for key, value in meta.snapshot.summary.items() if key != "operation"}
        found["current-snapshot-id"] = str(meta.snapshot.id)
        found["current-snapshot-timestamp-ms"] = str(meta.snapshot.millis)
        found["current-snapshot-summary"] = _text(summary)
        found.update({key: summary[count] for key, count in _COUNTS.items() if count in summary})
    return {key: value for key, value in found.items() if len(value) <= _MIRROR_LENGTH_MAX}


def _schema(meta: TableMeta) -> Json:
    ids = {"identifier-field-ids": list(meta.schema.identifier_ids)} if meta.schema.identifier_ids else {}
    data = to_json(meta.schema.struct)
    return {"type": data["type"], "schema-id": meta.schema.id, **ids, "fields": data["fields"]}


def _text(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)
