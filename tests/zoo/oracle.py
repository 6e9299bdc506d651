"""The facts of a table, slowly: Spark's `entries` metadata table, and plain loops that say each definition once.

Nothing of ours reads a manifest here. What comes out are values by path into `TableFacts`.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from firnline.facts.values import DeleteKind
from tests.sparklake import SparkLake

DELETED = 2
DATA, POSITION, EQUALITY = 0, 1, 2
DELETE_PATH_ID = 2147483546
TARGET_BYTES = 512 * 2**20  # of a table that does not say

Place: TypeAlias = tuple[int, tuple[str, ...]]  # spec id and partition, its values as text
Facts: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of `entries`."""

    status: int
    snapshot: int
    sequence: int
    content: int
    path: str
    format: str
    place: Place
    partitioned: bool
    rows: int
    bytes: int
    sort_order: int
    about: str | None  # the one data file a position delete is about
    offset: int | None
    blob: int | None

    @property
    def kind(self) -> DeleteKind:
        """The kind of delete, for delete files."""
        if self.content == EQUALITY:
            return DeleteKind.EQUALITY if self.partitioned else DeleteKind.GLOBAL_EQUALITY
        if self.format == "PUFFIN":
            return DeleteKind.VECTOR
        return DeleteKind.POSITION_FILE if self.about else DeleteKind.POSITION_FILES

    @property
    def stored(self) -> int:
        """Bytes: a vector's are those of its blob."""
        return self.bytes if self.blob is None else self.blob


def entries(lake: SparkLake, name: str) -> list[Entry]:
    """Every entry of the manifests of the current snapshot, tombstones too."""
    specs = _unpartitioned_specs(lake, name)
    rows = lake.sql(f"SELECT status, snapshot_id, sequence_number, data_file.* FROM {name}.entries").collect()
    return [_entry(row.asDict(), specs) for row in rows]


def _unpartitioned_specs(lake: SparkLake, name: str) -> frozenset[int]:
    jvm: Any = lake.session._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(lake.session._jsparkSession, name)
    return frozenset(int(each) for each in table.specs() if not table.specs()[each].isPartitioned())


def _entry(row: Mapping[str, Any], unpartitioned: frozenset[int]) -> Entry:
    lower, upper = ((row[f"{side}_bounds"] or {}).get(DELETE_PATH_ID) for side in ("lower", "upper"))
    by_bounds = bytes(lower).decode() if lower is not None and lower == upper else None
    spec = row["spec_id"]
    return Entry(
        status=row["status"],
        snapshot=row["snapshot_id"],
        sequence=row["sequence_number"],
        content=row["content"],
        path=row["file_path"],
        format=row["file_format"],
        place=(spec, () if spec in unpartitioned else tuple(repr(value) for value in row.get("partition") or ())),
        partitioned=spec not in unpartitioned,
        rows=row["record_count"],
        bytes=row["file_size_in_bytes"],
        sort_order=row["sort_order_id"] or 0,
        about=(row["referenced_data_file"] or by_bounds) if row["content"] == POSITION else None,
        offset=row["content_offset"],
        blob=row["content_size_in_bytes"],
    )


def facts(found: Iterable[Entry], target: int) -> Facts:
    """Everything entries tell of a table."""
    live = [entry for entry in found if entry.status != DELETED]
    data = [entry for entry in live if entry.content == DATA]
    deletes = [entry for entry in live if entry.content != DATA]
    return {
        **_sizes(data, target),
        **_partitions(data, target),
        **_forms(data),
        **_deletes("deletes.{kind}", deletes),
        **_dangling(data, deletes),
    }


def _sizes(data: list[Entry], target: int) -> Facts:
    small, large = ([entry for entry in data if is_it(entry, target)] for is_it in (_small, _large))
    return {
        "data.files": len(data),
        "data.bytes": sum(entry.bytes for entry in data),
        "data.rows": sum(entry.rows for entry in data),
        "data.small_files": len(small),
        "data.small_bytes": sum(entry.bytes for entry in small),
        "data.large_files": len(large),
        "data.large_bytes": sum(entry.bytes for entry in large),
        "sizes.least": min((entry.bytes for entry in data), default=0),
        "sizes.most": max((entry.bytes for entry in data), default=0),
    }


def _small(entry: Entry, target: int) -> bool:
    return entry.bytes < 0.75 * target


def _large(entry: Entry, target: int) -> bool:
    return entry.bytes > 1.8 * target


def _partitions(data: list[Entry], target: int) -> Facts:
    """Removable files are those that would be fewer if each partition's small ones were merged."""
    by_place = grouped(data)
    rows = [sum(entry.rows for entry in inside) for inside in by_place.values()]
    removable = 0
    for inside in by_place.values():
        small = [entry.bytes for entry in inside if _small(entry, target)]
        removable += max(0, len(small) - -(-sum(small) // target))
    return {
        "data.removable": removable,
        "partition_count": len(by_place),
        "partition_rows_most": max(rows, default=0),
        "partition_rows_median": int(statistics.median(rows)) if rows else 0,
    }


def grouped(some: Iterable[Entry]) -> dict[Place, list[Entry]]:
    """Entries by spec and partition."""
    found: dict[Place, list[Entry]] = defaultdict(list)
    for entry in some:
        found[entry.place].append(entry)
    return found


def _forms(data: list[Entry]) -> Facts:
    found: Facts = {f"formats.{form.lower()}": number for form, number in Counter(one.format for one in data).items()}
    found |= {f"sort_orders.{order}": number for order, number in Counter(one.sort_order for one in data).items()}
    for spec in {entry.place[0] for entry in data}:
        mine = [entry for entry in data if entry.place[0] == spec]
        found[f"specs.{spec}.files"] = len(mine)
        found[f"specs.{spec}.bytes"] = sum(entry.bytes for entry in mine)
        found[f"specs.{spec}.rows"] = sum(entry.rows for entry in mine)
        found[f"specs.{spec}.partitions"] = len(grouped(mine))
    return found


def _deletes(path: str, deletes: list[Entry]) -> Facts:
    """Each kind; a vector is a file of its own."""
    found: Facts = {}
    for kind in DeleteKind:
        mine = [entry for entry in deletes if entry.kind is kind]
        at = path.format(kind=kind)
        found[f"{at}.files"] = len({(entry.path, entry.offset) for entry in mine})
        found[f"{at}.containers"] = len({entry.path for entry in mine})
        found[f"{at}.bytes"] = sum(entry.stored for entry in mine)
        found[f"{at}.rows"] = sum(entry.rows for entry in mine)
        found[f"{at}.oldest_sequence"] = min((entry.sequence for entry in mine), default=None)
    return found


def applies(delete: Entry, data: Entry) -> bool:
    """The scope rules of the specification: sequence numbers, partition, and the file a position delete is about."""
    if delete.content == EQUALITY:
        return data.sequence < delete.sequence and (not delete.partitioned or delete.place == data.place)
    if data.sequence > delete.sequence:
        return False
    return delete.about == data.path if delete.about else delete.place == data.place


def _dangling(data: list[Entry], deletes: list[Entry]) -> Facts:
    dangling = [entry for entry in deletes if not any(applies(entry, each) for each in data)]
    return {
        "dangling.files": len(dangling),
        "dangling.rows": sum(entry.rows for entry in dangling),
        "dangling.bytes": sum(entry.stored for entry in dangling),
    }


def touched_most(found: Iterable[Entry]) -> int:
    """How many data files some delete may apply to, by the scope rules alone: never fewer than it does."""
    live = [entry for entry in found if entry.status != DELETED]
    deletes = [entry for entry in live if entry.content != DATA]
    return sum(any(applies(delete, entry) for delete in deletes) for entry in live if entry.content == DATA)


PartitionRow: TypeAlias = tuple[int, ...]


def partition_rows(found: Iterable[Entry], target: int) -> Counter[PartitionRow]:
    """Of each partition with data: spec, files, bytes, rows, small files, delete files, their bytes and rows."""
    live = [entry for entry in found if entry.status != DELETED]
    deletes = grouped(entry for entry in live if entry.content != DATA)
    return Counter(
        (
            place[0],
            len(inside),
            sum(entry.bytes for entry in inside),
            sum(entry.rows for entry in inside),
            sum(_small(entry, target) for entry in inside),
            len(deletes[place]),
            sum(entry.stored for entry in deletes[place]),
            sum(entry.rows for entry in deletes[place]),
        )
        for place, inside in grouped(entry for entry in live if entry.content == DATA).items()
    )
