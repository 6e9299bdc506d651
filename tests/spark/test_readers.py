"""Three readers over tables made by Spark: what all of them can read, they must see alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firnline.adapters.duckdb.reader import DuckdbReader
from firnline.adapters.iceberg.reader import PyIcebergReader
from firnline.adapters.local.files import LocalFiles
from firnline.adapters.spark.commits import SparkCommits
from firnline.adapters.spark.reader import SparkReader
from firnline.core.errors import Missing
from firnline.core.ids import Identifier
from firnline.proof.values import ReaderName, Verdict, Verification
from tests import proving
from tests.sparklake import CATALOG, SparkLake

pytestmark = pytest.mark.spark

DUCKDB, PYICEBERG, SPARK = ReaderName.DUCKDB, ReaderName.PYICEBERG, ReaderName.SPARK
EVERY_TYPE = """
    id bigint NOT NULL, b boolean, i int, f float, d double, dec decimal(9,2), wide decimal(38,10), day date,
    at timestamp, local timestamp_ntz, s string, bin binary,
    st struct<a: int, b: string, c: struct<x: double>>, li array<int>, ls array<struct<k: string, v: decimal(5,1)>>,
    m map<string, int>, ms map<string, struct<at: timestamp>>, deep array<array<map<int, array<double>>>>
"""
ROWS = """
    SELECT id, id % 3 = 0, IF(id % 5 = 0, NULL, CAST(id AS int)), IF(id % 4 = 0, float('NaN'), CAST(id AS float)),
    CASE id % 7 WHEN 0 THEN double('NaN') WHEN 1 THEN double('-0.0') WHEN 2 THEN NULL ELSE id / 3.0 END,
    CAST(id / 100 AS decimal(9,2)), CAST(-id * 1000000007 / 3 AS decimal(38,10)),
    date_add(DATE'1969-12-01', CAST(id AS int)),
    TIMESTAMP'1969-12-31 23:59:59.123456' + make_interval(0, 0, 0, CAST(id AS int)),
    TIMESTAMP_NTZ'2020-03-29 02:30:00.5' + make_interval(0, 0, 0, 0, CAST(id AS int)),
    CASE id % 6 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE concat('é-', id) END,
    IF(id % 6 = 2, NULL, CAST(concat('x', id) AS binary)),
    IF(id % 8 = 0, NULL, named_struct('a', CAST(id AS int), 'b', IF(id % 2 = 0, 'z', NULL),
       'c', IF(id % 3 = 0, NULL, named_struct('x', double(id))))),
    CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN array() ELSE array(CAST(id AS int), NULL) END,
    CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN array() ELSE
       array(named_struct('k', concat('k', id), 'v', CAST(id % 100 / 10 AS decimal(5,1))), NULL) END,
    CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN map() ELSE map('a', CAST(id AS int), 'b', NULL) END,
    CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN map() ELSE
       map('a', named_struct('at', TIMESTAMP'2020-01-01 00:00:00'), 'b', NULL) END,
    array(array(map(1, array(double('NaN'), NULL, id))), NULL, array())
    FROM range({0}, {1})
"""
ON_READ = "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'"


@pytest.fixture(scope="module")
def readers(shared_lake: SparkLake) -> tuple[Any, ...]:
    """The three, Spark on sessions of the shared project."""
    return SparkReader(shared_lake.isolated), PyIcebergReader(LocalFiles()), DuckdbReader()


@pytest.fixture(scope="module")
def sql(shared_lake: SparkLake) -> Callable[..., None]:
    """Runs statements in the shared project."""
    shared_lake.sql("CREATE NAMESPACE IF NOT EXISTS readers")

    def run(*statements: str) -> None:
        for statement in statements:
            shared_lake.sql(statement)

    return run


def location(lake: SparkLake, table: str) -> str:
    newest = f"SELECT file FROM readers.{table}.metadata_log_entries ORDER BY timestamp DESC, file DESC LIMIT 1"
    return str(lake.sql(newest).collect()[0][0])


def snapshots(place: str) -> list[int]:
    return [one["snapshot-id"] for one in json.loads(Path(place.removeprefix("file:")).read_bytes())["snapshots"]]


def assert_all_agree(verified: Verification, rows: int) -> None:
    assert [(one.reader, one.verdict, one.reason) for one in verified.readers] == [
        (name, Verdict.AGREES, None) for name in ReaderName
    ]
    assert {one.tally.rows for one in verified.readers if one.tally} == {rows}
    assert verified.verdict is Verdict.AGREES
    assert not verified.unproven


@pytest.fixture(scope="module")
def evolved(shared_lake: SparkLake, sql: Callable[..., None]) -> str:
    """A table with every type, written, evolved in schema and layout, written again and deleted from."""
    sql(
        f"CREATE TABLE readers.evolved ({EVERY_TYPE}) USING iceberg PARTITIONED BY (bucket(2, id), b) "
        f"TBLPROPERTIES ('format-version'='2', {ON_READ})",
        "INSERT INTO readers.evolved " + ROWS.format(0, 40),
        "ALTER TABLE readers.evolved RENAME COLUMN i TO `i.two`",
        "ALTER TABLE readers.evolved ALTER COLUMN `i.two` TYPE bigint",
        "ALTER TABLE readers.evolved ALTER COLUMN f TYPE double",
        "ALTER TABLE readers.evolved ALTER COLUMN dec TYPE decimal(12,2)",
        "ALTER TABLE readers.evolved DROP PARTITION FIELD b",
        "ALTER TABLE readers.evolved DROP COLUMN day",
        "ALTER TABLE readers.evolved ADD COLUMN `née` string FIRST",
        "ALTER TABLE readers.evolved ADD COLUMN st.later int",
        "ALTER TABLE readers.evolved RENAME COLUMN st.b TO bee",
        "ALTER TABLE readers.evolved ALTER COLUMN s AFTER bin",
        "ALTER TABLE readers.evolved ADD PARTITION FIELD truncate(2, s)",
        "UPDATE readers.evolved SET `née` = 'x' WHERE id IN (4, 18)",
        "DELETE FROM readers.evolved WHERE id IN (3, 17, 33)",
    )
    return location(shared_lake, "evolved")


def test_an_evolved_table_is_seen_alike(readers: tuple[Any, ...], evolved: str) -> None:
    """Every type, nested; renamed, widened, dropped, added, moved columns; two specs; position deletes: all agree."""
    assert_all_agree(proving.prove(readers, evolved), 37)


def test_older_snapshots_are_seen_alike(readers: tuple[Any, ...], evolved: str) -> None:
    """Time travel reads a snapshot with the schema it was written with, in every reader."""
    first, second, _ = snapshots(evolved)
    before = proving.prove(readers, evolved, first)
    assert_all_agree(before, 40)
    assert "day" in before.columns.values()
    assert_all_agree(proving.prove(readers, evolved, second), 40)


def test_what_pyiceberg_reads_wrongly_it_is_not_asked_for(readers: tuple[Any, ...], evolved: str) -> None:
    """Null lists of structs and null maps to structs are left out for PyIceberg, by name and with the reason."""
    reports = proving.by_reader(proving.prove(readers, evolved))
    assert set(reports[PYICEBERG].left_out) == {"ls", "ms"}
    assert not reports[SPARK].left_out
    assert not reports[DUCKDB].left_out


def test_pyiceberg_does_read_them_wrongly(
    evolved: str, readers: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked all the same, PyIceberg is the odd one in just these columns. The day this fails, `cannot` can go."""
    monkeypatch.setattr(PyIcebergReader, "cannot", lambda *_: None)
    verified = proving.prove(readers, evolved)
    assert {(one.kind, one.column) for one in verified.differences} == {("nulls", "ls"), ("nulls", "ms")}
    assert [one.reader for one in verified.readers if one.verdict is Verdict.DISAGREES] == [PYICEBERG]


def test_deletion_vectors_are_seen_alike(
    readers: tuple[Any, ...], shared_lake: SparkLake, sql: Callable[..., None]
) -> None:
    """Format 3: rows behind deletion vectors are gone for all readers, rows that moved with their lineage are there."""
    sql(
        f"CREATE TABLE readers.v3 (id bigint, s string) USING iceberg TBLPROPERTIES ('format-version'='3', {ON_READ})",
        "INSERT INTO readers.v3 SELECT id, concat('s', id) FROM range(0, 20)",
        "DELETE FROM readers.v3 WHERE id IN (3, 5)",
        "UPDATE readers.v3 SET s = 'other' WHERE id = 7",
    )
    assert_all_agree(proving.prove(readers, location(shared_lake, "v3")), 18)


@pytest.mark.parametrize(
    ("of", "default"),
    [("int", 7), ("string", "é"), ("decimal(9,2)", "1.50"), ("timestamptz", "2020-01-01T00:00:00+00:00")],
)
def test_defaults_are_seen_alike(readers: tuple[Any, ...], simple: str, tmp_path: Path, of: str, default: Any) -> None:
    """A column with an initial default has it in rows from before the column, in every reader."""
    change = proving.with_column("later", of, **{"initial-default": default, "write-default": default})
    place = proving.edited(simple, tmp_path / "1.metadata.json", change)
    verified = proving.prove(readers, place)
    assert_all_agree(verified, 2)
    assert {one.tally.columns[900].nulls for one in verified.readers if one.tally} == {0}


@pytest.fixture(scope="module")
def simple(shared_lake: SparkLake, sql: Callable[..., None]) -> str:
    """A table of format 3 with two rows."""
    sql(
        "CREATE TABLE readers.simple (id bigint, s string) USING iceberg TBLPROPERTIES ('format-version'='3')",
        "INSERT INTO readers.simple VALUES (1, 'a'), (2, NULL)",
    )
    return location(shared_lake, "simple")


@pytest.mark.parametrize(
    ("of", "unable"),
    [
        ("unknown", {DUCKDB}),
        ("time", {SPARK}),
        ("timestamp_ns", {SPARK}),
        ("timestamptz_ns", {SPARK, DUCKDB}),
        ("variant", {PYICEBERG}),
    ],
)
def test_a_type_a_reader_does_not_know_is_no_finding(
    readers: tuple[Any, ...], simple: str, tmp_path: Path, of: str, unable: set[ReaderName]
) -> None:
    """A reader that does not know a type says that it cannot read; nothing fails and nobody disagrees."""
    place = proving.edited(simple, tmp_path / "1.metadata.json", proving.with_column("odd", of))
    verified = proving.prove(readers, place)
    reports = proving.by_reader(verified)
    assert {name for name, one in reports.items() if one.verdict is Verdict.CANNOT_READ} == unable
    assert all(of in (reports[name].reason or "") for name in unable)
    assert verified.verdict is (Verdict.AGREES if len(unable) == 1 else Verdict.UNPROVEN)


def test_a_column_nobody_can_compare_is_named(readers: tuple[Any, ...], simple: str, tmp_path: Path) -> None:
    """A column without a canonical form is left out by every reader; the rest is compared and it stays unproven."""
    place = proving.edited(simple, tmp_path / "1.metadata.json", proving.with_column("shape", "geometry"))
    verified = proving.prove(readers, place)
    assert verified.verdict is Verdict.AGREES
    assert verified.unproven == ("shape",)


def test_a_table_without_a_snapshot_is_seen_alike(
    readers: tuple[Any, ...], shared_lake: SparkLake, sql: Callable[..., None]
) -> None:
    """A table that was never written to has no rows, in every reader."""
    sql("CREATE TABLE readers.empty (id bigint, st struct<a: int>) USING iceberg")
    assert_all_agree(proving.prove(readers, location(shared_lake, "empty")), 0)


def test_odd_names_are_seen_alike(readers: tuple[Any, ...], shared_lake: SparkLake, sql: Callable[..., None]) -> None:
    """Dots, quotes, percent signs, spaces and accents in names of tables, columns and partitions are only names."""
    sql(
        """CREATE TABLE readers.`odd näme.x y[1]` (`wei rd` int, `quo"te` string, `per%cent` int,
        `dö.t` struct<`a.b`: int>, part string) USING iceberg PARTITIONED BY (part)
        TBLPROPERTIES ('format-version'='1')""",
        """INSERT INTO readers.`odd näme.x y[1]`
        VALUES (1, 'a', 2, named_struct('a.b', 1), 'a/b%2F c?d#e=ü'), (3, NULL, 4, NULL, NULL)""",
    )
    assert_all_agree(proving.prove(readers, location(shared_lake, "`odd näme.x y[1]`")), 2)


def test_equality_deletes_are_read_or_refused(
    readers: tuple[Any, ...], shared_lake: SparkLake, sql: Callable[..., None], tmp_path: Path
) -> None:
    """PyIceberg has no equality deletes and says so; the other two leave the deleted rows out alike."""
    sql(
        "CREATE TABLE readers.equal (id bigint, s string) USING iceberg",
        "INSERT INTO readers.equal SELECT id, 'x' FROM range(0, 10)",
    )
    add_equality_delete(shared_lake, "equal", [2, 4], tmp_path / "deletes.parquet")
    reports = proving.by_reader(proving.prove(readers, location(shared_lake, "equal")))
    assert reports[PYICEBERG].verdict is Verdict.CANNOT_READ
    assert "equality deletes" in (reports[PYICEBERG].reason or "")
    for name in (SPARK, DUCKDB):
        assert reports[name].verdict is Verdict.AGREES
        assert reports[name].tally is not None
        assert reports[name].tally.rows == 8


def add_equality_delete(lake: SparkLake, table: str, ids: list[int], path: Path) -> None:
    """Commit one equality delete on the column with field id 1, as Flink would."""
    column = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table([pa.array(ids, pa.int64())], schema=pa.schema([column])), path)
    jvm: Any = lake.session._jvm
    java = SparkCommits(lake.session, CATALOG)
    loaded = java._catalog().loadTable(java._identifier(Identifier(("readers",), table)))
    gateway: Any = lake.session.sparkContext._gateway
    by = gateway.new_array(jvm.int, 1)
    by[0] = 1
    delete = (
        jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(loaded.spec())
        .ofEqualityDeletes(by)
        .withPath(f"file:{path}")
        .withFileSizeInBytes(path.stat().st_size)
        .withRecordCount(len(ids))
        .withFormat("parquet")
        .build()
    )
    loaded.newRowDelta().addDeletes(delete).commit()


def test_the_catalog_is_not_asked(readers: tuple[Any, ...], shared_lake: SparkLake, sql: Callable[..., None]) -> None:
    """A metadata file is read as it is, whatever the catalog points to by now: also when the table is gone from it."""
    sql(
        "CREATE TABLE readers.gone (id bigint) USING iceberg",
        "INSERT INTO readers.gone VALUES (1)",
    )
    place = location(shared_lake, "gone")
    sql("INSERT INTO readers.gone VALUES (2)", "DROP TABLE readers.gone")
    assert_all_agree(proving.prove(readers, place), 1)


def test_a_spark_that_is_not_there_is_not_installed(simple: str) -> None:
    """Without Java or jars the answer is that Spark is missing, never an error."""

    def session() -> Any:
        raise Missing("No Java that Spark can run on was found.")

    report = proving.by_reader(proving.prove([SparkReader(session)], simple))[SPARK]
    assert (report.verdict, report.reason) == (Verdict.MISSING, "No Java that Spark can run on was found.")


def test_a_reader_left_without_columns_cannot_read(readers: tuple[Any, ...], simple: str, tmp_path: Path) -> None:
    """When all columns are ones it cannot read, a reader says so and does not count rows of nothing."""

    def only_variant(data: Any) -> None:
        for schema in data["schemas"]:
            schema["fields"] = [{"id": 900, "name": "v", "required": False, "type": "variant"}]

    place = proving.edited(simple, tmp_path / "1.metadata.json", only_variant)
    verified = proving.prove(readers, place)
    assert {one.verdict for one in verified.readers} == {Verdict.CANNOT_READ}
    assert verified.verdict is Verdict.UNPROVEN
