"""DuckDB and PyIceberg as readers, over tables PyIceberg wrote: no JVM. With Spark: tests/spark/test_readers.py."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg import types as of
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform

from firnline.adapters.duckdb import connection
from firnline.adapters.duckdb.reader import DuckdbReader
from firnline.adapters.iceberg.reader import PyIcebergReader
from firnline.adapters.local.files import LocalFiles
from firnline.core.errors import Missing
from firnline.core.types import Field, ListOf, MapOf, Opaque, Primitive, Struct
from firnline.proof.values import ReaderName, Verdict, Verification
from tests import proving

Part = of.NestedField
POINT = of.StructType(Part(21, "x", of.IntegerType()), Part(22, "née", of.StringType()))
SCHEMA = Schema(
    Part(1, "id", of.LongType(), required=True),
    Part(2, "b", of.BooleanType()),
    Part(3, "i", of.IntegerType()),
    Part(4, "f", of.FloatType()),
    Part(5, "d", of.DoubleType()),
    Part(6, "amount", of.DecimalType(9, 2)),
    Part(7, "wide", of.DecimalType(38, 10)),
    Part(8, "day", of.DateType()),
    Part(9, "clock", of.TimeType()),
    Part(10, "at", of.TimestamptzType()),
    Part(11, "local", of.TimestampType()),
    Part(12, "s", of.StringType()),
    Part(13, "u", of.UUIDType()),
    Part(14, "fix", of.FixedType(3)),
    Part(15, "bin", of.BinaryType()),
    Part(16, "point", POINT),
    Part(17, "list", of.ListType(23, of.DecimalType(5, 1), element_required=False)),
    Part(18, "map", of.MapType(24, of.StringType(), 25, of.TimestamptzType(), value_required=False)),
)
AT = dt.datetime(1969, 12, 31, 23, 59, 59, 123456, tzinfo=dt.UTC)
FULL: dict[str, Any] = {
    "id": 1,
    "b": True,
    "i": -(2**31),
    "f": math.nan,
    "d": -0.0,
    "amount": Decimal("-9999999.99"),
    "wide": Decimal("9999999999999999999999999999.9999999999"),
    "day": dt.date(1969, 12, 31),
    "clock": dt.time(23, 59, 59, 999999),
    "at": AT,
    "local": AT.replace(tzinfo=None),
    "s": "é'\"\\%",
    "u": UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes,
    "fix": b"\0ab",
    "bin": b"",
    "point": {"x": None, "née": ""},
    "list": [Decimal("1.5"), None],
    "map": {"a": AT, "b": None},
}
NULLS = {**dict.fromkeys(FULL), "id": 2}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A partitioned table with every type of format 2: a full row, a row of nulls, in two snapshots."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/w%20 [x]")
    catalog.create_namespace("shop")
    made = catalog.create_table("shop.orders", SCHEMA)
    with made.update_spec() as change:
        change.add_field("id", BucketTransform(2))
    for row in (FULL, NULLS):
        made.append(pa.Table.from_pylist([row], schema=made.schema().as_arrow()))
    catalog.close()
    return made


def prove(table: Table, snapshot: int | None = None) -> Verification:
    return proving.prove((PyIcebergReader(LocalFiles()), DuckdbReader()), table.metadata_location, snapshot)


def test_every_type_is_seen_alike(table: Table) -> None:
    """All types of format 2, nested ones too, with values at their edges and with nulls: both readers agree."""
    verified = prove(table)
    assert [(one.verdict, one.reason) for one in verified.readers] == [(Verdict.AGREES, None)] * 2
    assert verified.unproven == ()
    assert {one.tally.columns[5].nulls for one in verified.readers if one.tally} == {1}
    assert {one.tally.columns[4].nans for one in verified.readers if one.tally} == {1}


def test_a_reader_is_asked_by_field_id(table: Table) -> None:
    """Renamed, moved, added and dropped columns: each snapshot is read with its own schema, and alike."""
    with table.update_schema() as change:
        change.move_first("s")
        change.rename_column("s", "text with.a dot")
        change.delete_column("b")
        change.add_column(("point", "later"), of.IntegerType())
        change.update_column("i", of.LongType())
    table.append(pa.Table.from_pylist([{"id": 3, "text with.a dot": "x"}], schema=table.schema().as_arrow()))
    now = prove(table)
    assert (now.verdict, now.columns[12]) == (Verdict.AGREES, "text with.a dot")
    first = prove(table, table.metadata.snapshots[0].snapshot_id)
    assert (first.verdict, first.columns[12]) == (Verdict.AGREES, "s")
    assert {one.tally.rows for one in first.readers if one.tally} == {1}


def test_a_damaged_file_is_a_failed_reading(table: Table) -> None:
    """A data file without its end is a finding of every reader, with the file's name in what they say."""
    (task, *_) = table.scan().plan_files()
    path = Path(task.file.file_path.removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:-50])
    verified = prove(table)
    assert {one.verdict for one in verified.readers} == {Verdict.FAILED}
    reasons = proving.by_reader(verified)
    assert path.name in (reasons[ReaderName.DUCKDB].reason or "")


def test_a_missing_file_is_a_failed_reading(table: Table) -> None:
    """A data file that is gone is never taken for one without rows."""
    (task, *_) = table.scan().plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    assert {one.verdict for one in prove(table).readers} == {Verdict.FAILED}


def test_a_table_elsewhere_cannot_be_read() -> None:
    """A location that is no local file is refused with the reason; nothing is fetched."""
    from firnline.core.ids import SnapshotId
    from firnline.proof.values import CannotRead, ReadRequest

    schema = Struct((Field("id", Primitive("long"), id=1),))
    request = ReadRequest("s3://bucket/a.metadata.json", SnapshotId(1), schema, schema, frozenset({1}))
    answer = DuckdbReader().read(request)
    assert isinstance(answer, CannotRead)
    assert "s3:" in answer.reason


def test_without_the_extension_duckdb_is_not_installed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB without its Iceberg extension is a reader that is missing, and nothing is downloaded."""

    def without(*_: Any) -> Any:
        raise Missing("DuckDB's iceberg extension is not installed.")

    monkeypatch.setattr(connection, "extension_path", without)
    report = proving.by_reader(prove(table))[ReaderName.DUCKDB]
    assert (report.verdict, report.reason) == (Verdict.MISSING, "DuckDB's iceberg extension is not installed.")


def test_a_quote_in_the_path_cannot_be_read(table: Table, tmp_path: Path) -> None:
    """DuckDB takes a double quote in a path apart: it says that it cannot read, instead of failing on it."""
    place = proving.edited(
        table.metadata_location.replace("file://", "file:"), tmp_path / 'a"b.metadata.json', lambda _: None
    )
    assert proving.by_reader(proving.prove([DuckdbReader()], place))[ReaderName.DUCKDB].verdict is Verdict.CANNOT_READ


def field(of_type: Any, *, required: bool = False) -> Field:
    return Field("c", of_type, required=required, id=1)


LONG = Primitive("long")
INNER = Struct((Field("x", LONG, id=2),))


@pytest.mark.parametrize(
    ("column", "able"),
    [
        (field(LONG), {"pyiceberg", "duckdb"}),
        (field(INNER), {"pyiceberg", "duckdb"}),
        (field(ListOf(LONG)), {"pyiceberg", "duckdb"}),
        (field(ListOf(INNER)), {"duckdb"}),
        (field(ListOf(INNER), required=True), {"pyiceberg", "duckdb"}),
        (field(MapOf(LONG, INNER)), {"duckdb"}),
        (field(Struct((Field("x", ListOf(INNER), id=2),))), {"duckdb"}),
        (field(ListOf(ListOf(INNER))), {"duckdb"}),
        (field(Primitive("variant")), set()),
        (field(ListOf(Opaque("geometry"))), set()),
    ],
)
def test_what_a_reader_cannot_read_it_says_beforehand(column: Field, able: set[str]) -> None:
    """A column a reader is known to read wrongly, or not at all, is known before anything is read."""
    readers = (PyIcebergReader(LocalFiles()), DuckdbReader())
    assert {str(one.name) for one in readers if one.cannot(column) is None} == able
