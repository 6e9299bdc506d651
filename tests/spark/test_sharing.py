"""One SQLite catalog, two engines, at once: what is acknowledged is there, once, and nothing else."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from tests.sparklake import CATALOG, SparkLake

pytestmark = pytest.mark.spark
THREADS, PROCESSES = 4, 4
SPARK_APPENDS, PYICEBERG_APPENDS = 3, 6
# Races are what this is about: each writer tries again until it is through.
RETRIES = "'commit.retry.num-retries'='100', 'commit.retry.min-wait-ms'='10', 'commit.retry.max-wait-ms'='500'"
NO_RETRIES = "'commit.retry.num-retries'='0'"
# Who does not wait for a lock has failed in milliseconds.
HELD_SECONDS = 1.0

# Says that it is ready, waits for a line, appends, and says which rows were acknowledged.
APPENDER = """
import json, sys
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
name, database, warehouse, table, first, count = sys.argv[1:]
catalog = SqlCatalog(name, uri=f"sqlite:///{database}?timeout=30", warehouse=warehouse)
loaded, schema = catalog.load_table(table), pa.schema([("id", pa.int64()), ("writer", pa.string())])
print("ready", flush=True)
sys.stdin.readline()
acknowledged = []
for id in range(int(first), int(first) + int(count)):
    loaded.append(pa.table({"id": [id], "writer": ["pyiceberg"]}, schema=schema))
    acknowledged.append(id)
print(json.dumps(acknowledged), flush=True)
"""


@contextmanager
def appender(lake: SparkLake, table: str, first: int, count: int) -> Iterator[subprocess.Popen[str]]:
    """A PyIceberg process that is ready to append these ids."""
    place = (CATALOG, str(lake.database), lake.place.warehouse, table, str(first), str(count))
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", APPENDER, *place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str]) -> str:
    """The next line of a process; its error when there is none."""
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout.readline().strip() or pytest.fail(process.stderr.read())


def start(process: subprocess.Popen[str]) -> None:
    """Let it append."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def make_table(lake: SparkLake, properties: str) -> None:
    """An empty table `shop.events`."""
    lake.sql("CREATE NAMESPACE shop")
    lake.sql(f"CREATE TABLE shop.events (id BIGINT, writer STRING) TBLPROPERTIES ({properties})")


def test_two_engines_append_at_once(lake: SparkLake) -> None:
    """4 Spark threads and 4 PyIceberg processes: every acknowledged row is there once, and no other."""
    make_table(lake, RETRIES)
    sessions = [lake.isolated() for _ in range(THREADS)]
    gate = Barrier(THREADS + 1)

    def append(writer: int) -> list[int]:
        gate.wait()
        ids = [1000 * writer + number for number in range(SPARK_APPENDS)]
        for each in ids:
            sessions[writer].sql(f"INSERT INTO shop.events VALUES ({each}, 'spark')")
        return ids

    with ThreadPoolExecutor(THREADS + PROCESSES) as pool:
        running = [pool.submit(append, writer) for writer in range(THREADS)]
        acknowledged = _with_processes(lake, pool, gate)
        for future in running:
            acknowledged += future.result()
    rows = sorted(row.id for row in lake.isolated().table("lake.shop.events").collect())
    assert rows == sorted(acknowledged)
    assert len(rows) == THREADS * SPARK_APPENDS + PROCESSES * PYICEBERG_APPENDS


def _with_processes(lake: SparkLake, pool: ThreadPoolExecutor, gate: Barrier) -> list[int]:
    """Start everybody at once and return what the processes had acknowledged."""
    contexts = [appender(lake, "shop.events", 100_000 * (1 + n), PYICEBERG_APPENDS) for n in range(PROCESSES)]
    processes = [context.__enter__() for context in contexts]
    try:
        assert [heard(process) for process in processes] == ["ready"] * PROCESSES
        gate.wait()
        for process in processes:
            start(process)
        return [each for line in pool.map(heard, processes) for each in json.loads(line)]
    finally:
        gate.abort()
        for context in contexts:
            context.__exit__(None, None, None)


@contextmanager
def locked(lake: SparkLake) -> Iterator[Any]:
    """Another writer in the middle of its transaction; call what comes out to let it commit."""
    with closing(sqlite3.connect(lake.database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield lambda: connection.execute("COMMIT")


def metadata_files(lake: SparkLake) -> int:
    """How many metadata files the warehouse has: one more means that somebody is about to swap the pointer."""
    return len(list(Path(lake.place.warehouse.removeprefix("file://")).glob("shop/events/metadata/*.metadata.json")))


def assert_waits(lake: SparkLake, before: int, work: Future[Any]) -> None:
    """The writer has written its metadata, wants to swap the pointer, and neither fails nor gets through."""
    while metadata_files(lake) == before and not work.done():
        Event().wait(0.01)
    with pytest.raises(TimeoutError):
        work.result(HELD_SECONDS)


def test_spark_waits_for_a_busy_lock(lake: SparkLake) -> None:
    """A Spark commit that finds the catalog locked waits until it is free, and is in then."""
    make_table(lake, NO_RETRIES)
    before = metadata_files(lake)
    with locked(lake) as release, ThreadPoolExecutor(1) as pool:
        work = pool.submit(lake.isolated().sql, "INSERT INTO shop.events VALUES (1, 'spark')")
        assert_waits(lake, before, work)
        release()
        work.result()
    assert lake.isolated().table("lake.shop.events").count() == 1


def test_pyiceberg_waits_for_a_busy_lock(lake: SparkLake) -> None:
    """A PyIceberg commit that finds the catalog locked waits until it is free, and is in then."""
    make_table(lake, NO_RETRIES)
    before = metadata_files(lake)
    with appender(lake, "shop.events", 7, 1) as process, ThreadPoolExecutor(1) as pool:
        assert heard(process) == "ready"
        with locked(lake) as release:
            start(process)
            work = pool.submit(heard, process)
            assert_waits(lake, before, work)
            release()
            assert json.loads(work.result()) == [7]
    assert [row.id for row in lake.isolated().table("lake.shop.events").collect()] == [7]
