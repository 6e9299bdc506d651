"""A small table in good order, and ways to spoil it: what the rules' examples and the tests are made of. Pure.

`shop.orders`: format 2, partitioned by day, sorted by customer, 30 days of 4 files of 400 MiB, a commit every 6 hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from firnline.core.figures import Figure, exactly
from firnline.core.ids import Identifier, SnapshotId, TableUuid
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.core.types import Field, Primitive, Struct
from firnline.facts import values
from firnline.facts.meta import Ref, Schema, Snapshot, TableMeta
from firnline.judge import policy
from firnline.judge.values import Subject

NOW = 1_795_003_200_000  # 2026-11-18 12:00 UTC
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
MIB, GIB = 2**20, 2**30
IDENTIFIER = Identifier(("shop",), "orders")
LOCATION = "s3://lake/shop/orders"
METADATA = f"{LOCATION}/metadata/00012-5a1e.metadata.json"
ORDER_ID, CUSTOMER, EMAIL, ORDERED_AT = 1, 2, 3, 4
FILE_SIZE = 400 * MIB

SCHEMA = Schema(
    0,
    Struct(
        (
            Field("order_id", Primitive("long"), required=True, id=ORDER_ID),
            Field("customer", Primitive("string"), id=CUSTOMER),
            Field("email", Primitive("string"), id=EMAIL),
            Field("ordered_at", Primitive("timestamptz"), required=True, id=ORDERED_AT),
        )
    ),
)
DAYS = PartitionSpec((PartitionField("ordered_at_day", "day", (ORDERED_AT,), 1000),), 0)
BY_CUSTOMER = SortOrder((SortField("identity", (CUSTOMER,)),), 1)


def snapshots(
    count: int, gap_ms: int = 6 * HOUR, *, last_millis: int = NOW - HOUR, summary: Mapping[str, str] | None = None
) -> tuple[Snapshot, ...]:
    """A line of snapshots, the oldest first, each the child of the one before."""
    told = {"operation": "append", "added-data-files": "1", "added-files-size": str(FILE_SIZE), **(summary or {})}
    return tuple(
        Snapshot(
            id=SnapshotId(number),
            parent=SnapshotId(number - 1) if number > 1 else None,
            sequence=number,
            millis=last_millis - (count - number) * gap_ms,
            manifest_list=f"{LOCATION}/metadata/snap-{number}.avro",
            summary=told,
        )
        for number in range(1, count + 1)
    )


def meta(kept: tuple[Snapshot, ...] | None = None, **changes: Any) -> TableMeta:
    """Its metadata, with main at the newest of these snapshots."""
    line = snapshots(12) if kept is None else kept
    head = line[-1].id if line else None
    table = TableMeta(
        location=METADATA,
        uuid=TableUuid("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
        format_version=2,
        table_location=LOCATION,
        last_updated_ms=line[-1].millis if line else NOW,
        last_column_id=ORDERED_AT,
        schemas=(SCHEMA,),
        current_schema_id=0,
        specs=(DAYS,),
        default_spec_id=0,
        last_partition_id=1000,
        orders=(BY_CUSTOMER,),
        default_order_id=1,
        properties={},
        current_snapshot_id=head,
        snapshots=line,
        refs={} if head is None else {"main": Ref("main", "branch", head)},
        last_sequence_number=len(line),
    )
    return replace(table, **changes)


def data(
    files: int = 120, size: int = FILE_SIZE, *, small: int = 0, removable: int = 0, **changes: Any
) -> values.DataFacts:
    """Data files of one size, some small ones of 8 MiB among them."""
    healthy = values.DataFacts(
        files=exactly(files),
        bytes=exactly((files - small) * size + small * 8 * MIB),
        rows=exactly(files * 1_000_000),
        small_files=exactly(small),
        small_bytes=exactly(small * 8 * MIB),
        removable=exactly(removable),
    )
    return replace(healthy, **changes)


def deletes(number: int, rows: int = 0, *, age_ms: int = HOUR, size: int = MIB, **changes: Any) -> values.DeleteFacts:
    """Deletes of one kind."""
    found = values.DeleteFacts(
        files=exactly(number),
        bytes=exactly(number * size),
        rows=exactly(rows),
        containers=exactly(number),
        oldest_sequence=1,
        oldest_millis=exactly(NOW - age_ms),
    )
    return replace(found, **changes)


def partition(name: str = "ordered_at_day=2026-11-18", **changes: Any) -> values.PartitionFacts:
    """One day of it."""
    rhythm = values.Rhythm(4, NOW - HOUR, 6 * HOUR)
    healthy = values.PartitionFacts(
        key=(0, (20775,)), name=name, files=4, bytes=4 * FILE_SIZE, rows=4_000_000, small_files=0, small_bytes=0,
        removable=0, large_files=0, large_bytes=0, delete_files=0, delete_bytes=0, delete_rows=0,
        touched=exactly(0), rhythm=rhythm,
    )  # fmt: skip
    return replace(healthy, **changes)


def facts(**changes: Any) -> values.TableFacts:
    """Its facts."""
    healthy = values.TableFacts(
        identifier=IDENTIFIER,
        uuid=TableUuid("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
        location=LOCATION,
        metadata_location=METADATA,
        format_version=2,
        snapshot=SnapshotId(12),
        sequence=12,
        thresholds=values.Thresholds(512 * MIB, 384 * MIB, 921 * MIB),
        data=data(),
        specs=(values.SpecFacts(0, True, 30, exactly(120), exactly(120 * FILE_SIZE), exactly(120_000_000)),),
        partition_count=30,
        partition_rows_median=4_000_000,
        partition_rows_most=4_000_000,
        partitions=(partition(),),
        manifests=values.ManifestFacts(
            data=3, bytes=exactly(60_000), entries=exactly(120), small=3, target_bytes=8 * MIB, fanout=exactly(1)
        ),
        snapshots=values.SnapshotFacts(
            count=12,
            by_operation={"append": 12},
            changed_millis=NOW - HOUR,
            rhythm=values.Rhythm(12, NOW - HOUR, 6 * HOUR),
        ),
        metadata=values.MetadataFacts(
            json_bytes=20_000, gzip=False, versions=12, schemas=1, specs=1, orders=1, statistics=0,
            statistics_snapshot=None, partition_statistics=0, statistics_bytes=exactly(0),
        ),
    )  # fmt: skip
    return replace(healthy, **changes)


def subject(
    properties: dict[str, str] | None = None,
    *,
    on: values.TableFacts | None = None,
    of: TableMeta | None = None,
    **changes: Any,
) -> Subject:
    """It, as a subject: no readers declared, nobody looked at its history or its storage."""
    table = of or meta()
    table = table if properties is None else replace(table, properties=properties)
    resolved = policy.resolve(None, IDENTIFIER, None, table.properties)
    return replace(Subject(on or facts(), table, NOW, resolved, file="tables/shop/orders.yaml"), **changes)


def history(live: int = 47 * GIB, kept: int = 0, loose: int = 0, **changes: Any) -> values.HistoryFacts:
    """What its history holds."""
    found = values.HistoryFacts(
        live_files=exactly(120), live_bytes=exactly(live), history_files=exactly(kept // FILE_SIZE),
        history_bytes=exactly(kept), loose_files=exactly(loose // FILE_SIZE), loose_bytes=exactly(loose),
        manifests=12, manifest_bytes=exactly(240_000), snapshots_read=12,
    )  # fmt: skip
    return replace(found, **changes)


def storage(unreferenced: int = 0, **changes: Any) -> values.StorageFacts:
    """What lies under its location."""
    stored = 48 * GIB
    found = values.StorageFacts(
        listed_files=200 + unreferenced // FILE_SIZE,
        listed_bytes=stored + unreferenced,
        referenced_files=200,
        referenced_bytes=stored,
        unreferenced_files=unreferenced // FILE_SIZE,
        unreferenced_bytes=unreferenced,
    )
    return replace(found, **changes)


def column(
    field_id: int, name: str, *, files: int = 120, bounds: int = 120, depth: Figure | None = None
) -> values.ColumnFacts:
    """What its manifests tell of a column."""
    return values.ColumnFacts(field_id, name, files, files, bounds, exactly(120) if depth is None else depth)
