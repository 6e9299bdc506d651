"""What other engines say of a table: the metadata tables of Spark, and PyIceberg's `inspect` of the same names.

`CANNOT` names what an engine cannot answer or answers wrongly, each with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

from tests.zoo.oracle import Facts
from tests.zoo.pen import Pen

Rows: TypeAlias = list[dict[str, Any]]
Tables: TypeAlias = dict[str, Rows]

SMALL_MANIFEST = 8 * 2**20 // 4  # below a quarter of Iceberg's default target

_FILE = ("spec_id", "file_format", "record_count", "file_size_in_bytes", "sort_order_id")
_COUNTS = tuple(f"{how}_{what}_files_count" for what in ("data", "delete") for how in ("added", "existing", "deleted"))
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "data_files": _FILE,
    "delete_files": _FILE,
    "manifests": ("content", "length", *_COUNTS),
    "snapshots": ("snapshot_id", "parent_id", "operation"),
    "refs": ("name", "type", "snapshot_id"),
    "partitions": ("record_count", "file_count"),
}
OF_FILES = ("data_files", "delete_files", "partitions")


def _all(*tables: str, reason: str) -> Mapping[str, str]:
    return dict.fromkeys(tables or COLUMNS, reason)


SPARK_CANNOT: Mapping[str, Mapping[str, str]] = {
    "lost_tag": _all(reason="Java refuses to load metadata with a ref to a snapshot that is not there"),
    "truncated_manifest": _all("data_files", "partitions", reason="Spark fails on the damaged manifest"),
    "missing_manifest": _all("data_files", "partitions", reason="Spark fails on the missing manifest"),
    "truncated_delete_manifest": _all("delete_files", "partitions", reason="Spark fails on the damaged manifest"),
    "truncated_manifest_list": _all(*OF_FILES, "manifests", reason="Spark fails on the manifest list"),
    "manifest_cut_between_blocks": _all(
        "data_files", "partitions", reason="Spark reads two of three entries and does not notice"
    ),
    "dropped_source": _all(
        "partitions", reason="Spark leaves out partition fields whose source is gone: two partitions look like one"
    ),
}
PYICEBERG_CANNOT: Mapping[str, Mapping[str, str]] = {
    "variant": _all(reason="PyIceberg knows no variant and refuses the metadata"),
    "truncated_manifest": _all(*OF_FILES, reason="PyIceberg fails on the damaged manifest"),
    "missing_manifest": _all(*OF_FILES, reason="PyIceberg fails on the missing manifest"),
    "truncated_delete_manifest": _all(*OF_FILES, reason="PyIceberg fails on the damaged manifest"),
    "truncated_manifest_list": _all(*OF_FILES, "manifests", reason="PyIceberg fails on the manifest list"),
    "manifest_cut_between_blocks": _all(
        "data_files", "partitions", reason="PyIceberg reads two of three entries and does not notice"
    ),
    "manifest_codecs": _all(*OF_FILES, reason="PyIceberg needs another package for snappy"),
    "dropped_source": _all(*OF_FILES, reason="PyIceberg fails on partition fields whose source is gone"),
    "every_partition_type": _all(*OF_FILES, reason="PyIceberg cannot read the partition type decimal"),
    "float_partitions": _all("partitions", reason="PyIceberg adds up the rows of both zeros"),
    "never_written": _all("partitions", reason="PyIceberg wants a snapshot for it"),
}
CANNOT = {"spark": SPARK_CANNOT, "pyiceberg": PYICEBERG_CANNOT}
NOT_ASKED = {("spark", "lost_tag"): "Iceberg loads metadata that does not parse again and again, for ninety seconds"}


def by_spark(pen: Pen, table: str) -> Rows:
    """A metadata table as Spark has it."""
    return [row.asDict() for row in pen.sql(f"SELECT {', '.join(COLUMNS[table])} FROM {{t}}.{table}").collect()]


def by_pyiceberg(pen: Pen, table: str) -> Rows:
    """A metadata table as PyIceberg has it."""
    loaded = pen.shelf.sql_catalog().load_table((*pen.identifier.namespace, pen.identifier.name))
    answer = getattr(loaded.inspect, table)()
    rows: Rows = answer.select([name for name in COLUMNS[table] if name in answer.schema.names]).to_pylist()
    return rows


ENGINES = {"spark": by_spark, "pyiceberg": by_pyiceberg}


def answers(engine: str, pen: Pen, name: str) -> Tables:
    """Every metadata table the engine can answer for this inhabitant."""
    cannot = CANNOT[engine].get(name, {})
    return {table: ENGINES[engine](pen, table) for table in COLUMNS if table not in cannot}


def facts(tables: Tables) -> Facts:
    """What these tables tell, by path."""
    known = {
        "data_files": _data,
        "delete_files": _deletes,
        "manifests": _manifests,
        "partitions": _partitions,
        "refs": _refs,
        "snapshots": _snapshots,
    }
    found: Facts = {}
    for name, rows in tables.items():
        found |= known[name](rows)
    if "snapshots" in tables and "refs" in tables:
        found |= _reach(tables["snapshots"], tables["refs"])
    return found


def _data(rows: Rows) -> Facts:
    found: Facts = {
        "data.files": len(rows),
        "data.rows": sum(row["record_count"] for row in rows),
        "data.bytes": sum(row["file_size_in_bytes"] for row in rows),
        "specs.#": len({row["spec_id"] for row in rows}),
    }
    found |= {f"formats.{name.lower()}": n for name, n in Counter(row["file_format"] for row in rows).items()}
    found |= {f"sort_orders.{order}": n for order, n in Counter(row["sort_order_id"] or 0 for row in rows).items()}
    return found | {f"specs.{spec}.files": n for spec, n in Counter(row["spec_id"] for row in rows).items()}


def _deletes(rows: Rows) -> Facts:
    return {"deletes.*.files": len(rows), "deletes.*.rows": sum(row["record_count"] for row in rows)}


def _manifests(rows: Rows) -> Facts:
    gone = [name for name in _COUNTS if name.startswith("deleted")]
    return {
        "manifests.data": sum(row["content"] == 0 for row in rows),
        "manifests.deletes": sum(row["content"] == 1 for row in rows),
        "manifests.bytes": sum(row["length"] for row in rows),
        "manifests.small": sum(row["length"] < SMALL_MANIFEST for row in rows),
        "manifests.entries": sum(row[name] for row in rows for name in _COUNTS),
        "manifests.tombstones": sum(row[name] for row in rows for name in gone),
    }


def _partitions(rows: Rows) -> Facts:
    full = [row for row in rows if row["file_count"]]
    return {
        "partition_count": len(full),
        "partition_rows_most": max((row["record_count"] for row in full), default=0),
    }


def _refs(rows: Rows) -> Facts:
    found: Facts = {"refs.#": len(rows)}
    for row in rows:
        found |= {f"refs.{row['name']}.kind": row["type"].lower(), f"refs.{row['name']}.snapshot": row["snapshot_id"]}
    return found


def _snapshots(rows: Rows) -> Facts:
    kept = {row["snapshot_id"] for row in rows}
    parents = [row["parent_id"] for row in rows if row["parent_id"] is not None]
    operations = Counter(row["operation"] for row in rows)
    return {
        "snapshots.count": len(rows),
        "snapshots.broken_parents": sum(each not in kept for each in parents),
        **{f"snapshots.by_operation.{name}": number for name, number in operations.items()},
    }


def _reach(snapshots: Rows, refs: Rows) -> Facts:
    """Snapshots that nothing leads to: a branch leads to its ancestors too, a tag to its own only."""
    parents = {row["snapshot_id"]: row["parent_id"] for row in snapshots}
    reached = {row["snapshot_id"] for row in refs}
    for row in refs:
        at = row["snapshot_id"]
        while row["type"].lower() == "branch" and at in parents:
            reached.add(at)
            at = parents[at]
    return {"snapshots.unreachable": len(parents.keys() - reached)}
