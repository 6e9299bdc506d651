"""The cost of queries on real tables, held against the plan of another implementation."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, IdentityTransform, MonthTransform, TruncateTransform
from pyiceberg.types import DateType, DecimalType, DoubleType, LongType, NestedField, StringType, TimestamptzType

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.figures import at_most, exactly
from firnline.facts.meta import TableMeta, parse
from firnline.facts.predicates import parse as parse_filter
from firnline.facts.scan import ScanCost, scan_cost

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "day", DateType(), required=False),
    NestedField(3, "name", StringType(), required=False),
    NestedField(4, "x", DoubleType(), required=False),
    NestedField(5, "price", DecimalType(9, 2), required=False),
    NestedField(6, "at", TimestamptzType(), required=False),
)
SPECS = {
    "flat": PartitionSpec(),
    "by day and id": PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "day"), PartitionField(1, 1001, BucketTransform(4), "bucket")
    ),
    "by time and name": PartitionSpec(
        PartitionField(6, 1000, MonthTransform(), "month"), PartitionField(3, 1001, TruncateTransform(2), "start")
    ),
}
FIRST = date(2026, 11, 16)


def rows(batch: int) -> pa.Table:
    """A few rows that differ from batch to batch; some values are null, some NaN."""
    numbers = range(batch * 10, batch * 10 + 10)
    made = [
        {
            "id": None if number % 7 == 0 else number,
            "day": FIRST + timedelta(days=number % 3),
            "name": None if batch == 2 else f"n{number % 5}-{'long' * 10}{number}",
            "x": float("nan") if number % 4 == 0 else number / 2,
            "price": None,
            "at": datetime(2026, 11, 16, tzinfo=UTC) + timedelta(days=6 * number),
        }
        for number in numbers
    ]
    return pa.Table.from_pylist(made, schema=SCHEMA.as_arrow())


@pytest.fixture(scope="module", params=SPECS)
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table of three commits."""
    catalog = InMemoryCatalog("lake", warehouse=f"file://{tmp_path_factory.mktemp('lake')}")
    catalog.create_namespace("shop")
    made = catalog.create_table("shop.orders", SCHEMA, partition_spec=SPECS[request.param])
    for batch in range(3):
        made.append(rows(batch))
    return made


def cost(table: Table, where: str | None) -> ScanCost:
    """What a query costs by our own decoder and rules."""
    location = table.metadata_location.removeprefix("file://")
    meta: TableMeta = parse(Path(location).read_bytes(), table.metadata_location)
    return scan_cost(meta, IcebergManifests(LocalBlobs()), None if where is None else parse_filter(where, meta.schema))


FILTERS = [
    "id = 12",
    "id > 21",
    "id <= 3",
    "id in (1, 28)",
    "id is null",
    "id is not null and id < 10",
    "day = '2026-11-17'",
    "day > '2026-11-18'",
    "not (day = '2026-11-17' or id < 20)",
    "name = 'n1-long'",
    "name like 'n1%'",
    "name is not null",
    "x is nan",
    "x is not nan",
    "x >= 14.5",
    "price is not null",
    "price > 1.25",
    "at < '2026-11-30T12:00:00+00:00'",
    "at >= '2027-01-01T00:00:00+00:00' and at < '2027-02-01T00:00:00+00:00'",
]
# PyIceberg leaves these files in; Iceberg's own planner sees that all rows have the one value.
SHARPER = ["id not in (1, 28)", "name not like 'n%'", "day != '2026-11-17'"]


@pytest.mark.parametrize("where", FILTERS)
def test_the_files_are_those_another_planner_takes(table: Table, where: str) -> None:
    """Real manifests, read by our decoder: as many files and bytes are left as PyIceberg plans to read."""
    planned = list(table.scan(row_filter=where).plan_files())
    found = cost(table, where)
    assert found.files.count == exactly(len(planned))
    assert found.files.bytes == exactly(sum(task.file.file_size_in_bytes for task in planned))
    assert found.rows == at_most(sum(task.file.record_count for task in planned))


@pytest.mark.parametrize("where", SHARPER)
def test_no_file_is_taken_that_another_planner_leaves(table: Table, where: str) -> None:
    """Where our rules spare more than PyIceberg's, what they keep is some of what it keeps."""
    assert cost(table, where).files.count.low <= len(list(table.scan(row_filter=where).plan_files()))


def test_everything_is_counted_once(table: Table) -> None:
    """Files left, spared and in manifests that stay closed are together all files of the table."""
    whole = cost(table, None)
    assert whole.files.count == exactly(len(list(table.scan().plan_files())))
    assert whole.manifests.count == exactly(3)
    for where in (*FILTERS, *SHARPER):
        found = cost(table, where)
        parts = (found.files, found.skipped_by_partition, found.skipped_by_metrics, found.unlisted)
        assert sum(part.count.low for part in parts) == whole.files.count.low
        assert found.manifests.count + found.manifests_skipped.count == exactly(3)
