"""Eight writers of two engines and Firnline, at once, on one table of every catalog: what was acknowledged is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest

from firnline.core.ids import Identifier
from firnline.lakehouse.opening import Lakehouse
from tests.concurrency_catalogs import CATALOGS, RETRIES, STOCK, lakehouse, to_pyiceberg
from tests.concurrency_writers import (
    Appender,
    FirnlineWriter,
    PyIcebergWriter,
    SparkWriter,
    Writer,
    appender,
    race,
)

pytestmark = pytest.mark.spark
STOCK_ROUNDS_MAX = 10


@dataclass(frozen=True, slots=True)
class Size:
    """So many Spark sessions, so many PyIceberg processes, so many rows each, and properties set by Firnline."""

    spark: int
    pyiceberg: int
    rows: int
    properties: int


FEW = Size(2, 2, 2, 5)
EIGHT = Size(4, 4, 4, 15)
SIZES = [pytest.param(FEW, id="four"), pytest.param(EIGHT, id="eight", marks=pytest.mark.slow)]
Appenders = Callable[[int], list[Appender]]


@pytest.fixture(scope="module")
def appenders() -> Iterator[Appenders]:
    """PyIceberg processes, kept for all catalogs: one takes seconds to import what it needs."""
    with ExitStack() as stack:
        running: list[Appender] = []

        def take(count: int) -> list[Appender]:
            running.extend(stack.enter_context(appender()) for _ in range(count - len(running)))
            return running[:count]

        yield take


@contextmanager
def namespace(lake: Lakehouse) -> Iterator[Identifier]:
    """A new table in a new namespace of every catalog of the lakehouse; both are gone after the block."""
    table = Identifier((f"races_{uuid4().hex[:12]}",), "events")
    session = lake.spark.isolated()
    listed = ", ".join(f"'{key}'='{value}'" for key, value in RETRIES.items())
    catalogs = lake.settings.environment.catalogs
    for name in catalogs:
        session.sql(f"CREATE NAMESPACE {name}.{table.namespace[0]}")
        session.sql(f"CREATE TABLE {name}.{table} (id BIGINT, writer STRING) USING iceberg TBLPROPERTIES ({listed})")
    yield table
    for name in catalogs:
        session.sql(f"DROP TABLE {name}.{table}")
        session.sql(f"DROP NAMESPACE {name}.{table.namespace[0]}")


def writers(lake: Lakehouse, table: Identifier, size: Size, processes: list[Appender]) -> list[Writer]:
    """Spark and PyIceberg on this table, each row of each with an id of its own."""
    catalog = lake.settings.catalog
    ids = [[1000 * writer + row for row in range(size.rows)] for writer in range(size.spark + size.pyiceberg)]
    sessions = [SparkWriter(lake.spark.isolated(), f"{catalog.name}.{table}", ids.pop()) for _ in range(size.spark)]
    job = {"catalog": catalog.name, "properties": to_pyiceberg(catalog, lake.root), "table": str(table)}
    return [*sessions, *(PyIcebergWriter(process, {**job, "ids": ids.pop()}) for process in processes)]


def read(lake: Lakehouse, table: Identifier) -> list[int]:
    """The ids in the table, as DuckDB reads it: none of the writers."""
    return sorted(int(str(row[0])) for row in lake.sql(f"SELECT id FROM {table}", engine="duckdb").rows)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("catalog", CATALOGS)
def test_what_is_acknowledged_is_there(catalog: str, size: Size, appenders: Appenders, tmp_path: Path) -> None:
    """Whoever writes at once, each acknowledged row is in the table once, and no other; each property Firnline was told
    is set is set, and each race it lost is one that somebody else won.
    """
    lake = lakehouse(tmp_path, catalog)
    with namespace(lake) as table:
        ours = FirnlineWriter(lake, table, size.properties)
        report = race([ours, *writers(lake, table, size, appenders(size.pyiceberg))])
        rows, now = read(lake, table), lake.tables.load(table).properties
    assert rows == report.acknowledged
    assert (report.refused, report.unknown) == ([], [])
    assert len(rows) == (size.spark + size.pyiceberg) * size.rows
    assert len(ours.keys) == size.properties
    assert [key for key in ours.keys if now.get(key) != "kept"] == []
    assert len(ours.lost_races) <= len(rows), ours.lost_races


def test_a_catalog_that_loses_rows_is_found_out(appenders: Appenders, tmp_path: Path) -> None:
    """Stock moto takes every commit, the stale ones too: here acknowledged rows are missing, as a test of the test."""
    lake = lakehouse(tmp_path, STOCK)
    lost: set[int] = set()
    for _ in range(STOCK_ROUNDS_MAX):
        with namespace(lake) as table:
            report = race(writers(lake, table, FEW, appenders(FEW.pyiceberg)))
            lost = set(report.acknowledged) - set(read(lake, table))
        if lost:
            break
    assert lost


def test_catalogs_stand_side_by_side_in_one_session(tmp_path: Path) -> None:
    """One session writes tables of all four catalogs, each from the one before, and joins them."""
    lake = lakehouse(tmp_path, *CATALOGS)
    with namespace(lake) as table:
        session = lake.spark.isolated()
        session.sql(f"INSERT INTO {CATALOGS[0]}.{table} SELECT id, '{CATALOGS[0]}' FROM range(3)")
        for before, name in pairwise(CATALOGS):
            session.sql(f"INSERT INTO {name}.{table} SELECT id, concat(writer, ' {name}') FROM {before}.{table}")
        joins = " ".join(f"JOIN {name}.{table} AS {name} USING (id)" for name in CATALOGS[1:])
        last = CATALOGS[-1]
        joined = session.sql(f"SELECT id, {last}.writer FROM {CATALOGS[0]}.{table} AS first {joins} ORDER BY id")
        assert [tuple(row) for row in joined.collect()] == [(number, " ".join(CATALOGS)) for number in range(3)]
