"""DuckDB over small Iceberg tables that PyIceberg made: values, names, and what it may not touch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firnline.adapters.answers import Answer
from firnline.adapters.duckdb import queries, statements
from firnline.adapters.duckdb.connection import connect
from firnline.adapters.duckdb.queries import Scan
from firnline.core.errors import BadInput, Failed, FirnlineError, Refused
from tests.committing import Shelf

Ask = Callable[..., Answer]


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A table with two snapshots, the second under a renamed column."""
    catalog = Shelf(tmp_path_factory.mktemp("shelf")).sql_catalog()
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.orders", pa.schema([("id", pa.int64()), ("name", pa.string())]))
    table.append(pa.table({"id": [1, 2], "name": ["a", None]}))
    with table.update_schema() as update:
        update.rename_column("name", "label")
    table.append(pa.table({"id": [3], "label": ["c"]}))
    return catalog.load_table("shop.orders")


def scan(table: Any, *name: str, snapshot: int | None = None) -> Scan:
    """The table under a name."""
    return Scan(name or ("shop", "orders"), table.metadata_location, snapshot, (table.location(),))


@pytest.fixture
def ask(orders: Any) -> Iterator[Ask]:
    """Runs a statement over `shop.orders`, the file system shut."""
    opened = []

    def run(statement: str, *scans: Scan, limit: int | None = None) -> Answer:
        connection = connect()
        opened.append(connection)
        statements.mentions(connection, statement)
        queries.open_tables(connection, scans or (scan(orders),))
        return queries.answer(connection, statement, limit)

    yield run
    for connection in opened:
        connection.close()


def rows(answer: Answer) -> list[tuple[object, ...]]:
    """All rows."""
    return list(answer.rows)


def test_a_table_is_read_under_its_name(ask: Ask) -> None:
    """A table of the catalog is NAMESPACE.TABLE, as on Spark."""
    answer = ask("SELECT label, id FROM shop.orders ORDER BY id")
    assert [column.name for column in answer.columns] == ["label", "id"]
    assert rows(answer) == [("a", 1), (None, 2), ("c", 3)]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        (("lake", "shop", "orders"), "SELECT count(*) FROM lake.shop.orders"),
        (("a.b", "orders"), 'SELECT count(*) FROM "a.b".orders'),
        (("we ird", 'o"r'), 'SELECT count(*) FROM "we ird"."o""r"'),
        (("main", "t"), "SELECT count(*) FROM main.t"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_of_any_kind(ask: Ask, orders: Any, name: tuple[str, ...], statement: str) -> None:
    """A catalog before the name, a namespace of several parts and quoted characters all lead to the table."""
    assert rows(ask(statement, scan(orders, *name))) == [(3,)]


def test_a_snapshot_is_read_with_its_own_schema(ask: Ask, orders: Any) -> None:
    """An older snapshot has its rows, under the names its columns had then."""
    first = orders.metadata.snapshots[0].snapshot_id
    answer = ask("SELECT * FROM shop.orders ORDER BY id", scan(orders, "shop", "orders", snapshot=first))
    assert [column.name for column in answer.columns] == ["id", "name"]
    assert rows(answer) == [(1, "a"), (2, None)]


def test_the_limit_is_kept(ask: Ask) -> None:
    """At most so many rows come, in the statement's own order."""
    assert rows(ask("SELECT id FROM shop.orders ORDER BY id DESC", limit=2)) == [(3,), (2,)]
    assert rows(ask("SELECT id FROM shop.orders", limit=0)) == []


@pytest.mark.parametrize("end", ["", ";", " -- so", "; -- so", " /* so */ ;"])
def test_how_a_statement_ends_does_not_matter(end: str) -> None:
    """Semicolons and comments at the end change nothing."""
    assert rows(queries.answer(connect(()), f"SELECT 1 AS x{end}")) == [(1,)]


def test_names_of_columns_may_repeat(ask: Ask) -> None:
    """Columns of one name stay apart."""
    answer = ask('SELECT 1 AS x, 2 AS x, 3 AS "X"')
    assert [column.name for column in answer.columns] == ["x", "x", "X"]
    assert rows(answer) == [(1, 2, 3)]


NS = "2026-01-02 03:04:05.123456789"
VALUES: list[tuple[str, object]] = [
    ("NULL", None),
    ("1.50::DECIMAL(9,2)", Decimal("1.50")),
    ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
    ("'x\\x00y'::BLOB", b"x\x00y"),
    ("DATE '2026-11-19'", date(2026, 11, 19)),
    ("DATE '10000-01-01'", "10000-01-01"),
    ("DATE '-0044-03-15'", "0045-03-15 (BC)"),
    ("'infinity'::DATE", "infinity"),
    ("TIMESTAMP '2026-01-02 03:04:05.123456'", datetime(2026, 1, 2, 3, 4, 5, 123456)),
    ("TIMESTAMPTZ '2026-01-02 03:04:05+02:00'", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
    ("TIMESTAMPTZ '10000-01-01 00:00:00+00'", "10000-01-01 00:00:00+00"),
    (f"TIMESTAMP_NS '{NS}'", NS),
    ("TIMESTAMP_NS '2026-01-02 03:04:05.123456000'", datetime(2026, 1, 2, 3, 4, 5, 123456)),
    ("TIME '10:11:12'", "10:11:12"),
    ("INTERVAL 3 MONTH", "3 months"),
    ("'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
    ("[DATE '2026-01-01', NULL]", [date(2026, 1, 1), None]),
    ("[1, 2]::INT[2]", [1, 2]),
    ("{'a': DATE '2026-01-01'}", {"a": date(2026, 1, 1)}),
    ("{'b \"c': [TIMESTAMP '2026-01-01']}", {'b "c': [datetime(2026, 1, 1)]}),
    ("row(1, 'x')", [1, "x"]),
    ("MAP {DATE '2026-01-01': 1}", {date(2026, 1, 1): 1}),
    ("MAP {{'a': 1}: DATE '2026-01-01'}", [{"key": {"a": 1}, "value": date(2026, 1, 1)}]),
    ("MAP {[1]: 2}", [{"key": [1], "value": 2}]),
    ("MAP {[1, 2]::INT[2]: 3}", [{"key": [1, 2], "value": 3}]),
    ("{'k': MAP {'key': 1, 'value': 2}}", {"k": {"key": 1, "value": 2}}),
    ("{'a': 1}::VARIANT", '{"a":1}'),
    ("NULL::STRUCT(a DATE)", None),
    ("'a'::ENUM('a', 'b')", "a"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[expression for expression, _ in VALUES])
def test_values_arrive_whole(expression: str, expected: object) -> None:
    """Values are Python's own, at any depth; what Python cannot hold is text."""
    assert rows(queries.answer(connect(()), f"SELECT {expression}")) == [(expected,)]


OTHERS = [
    "INSERT INTO shop.orders VALUES (4, 'd')",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW shop.orders",
    "COPY (SELECT 1) TO 'out.csv'",
    "ATTACH 'other.db'",
    "SET enable_external_access = true",
    "INSTALL httpfs",
    "LOAD 'x'",
    "CALL pragma_version()",
    "EXPORT DATABASE 'x'",
    "PRAGMA database_list",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM parquet_scan('x.parquet')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM iceberg_scan('/etc')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('shop.orders')",
    "SELECT (SELECT max(content) FROM read_text('/etc/passwd'))",
    "WITH t AS (FROM read_blob('/etc/passwd')) SELECT * FROM t",
]


@pytest.mark.parametrize("statement", OTHERS)
def test_only_tables_are_read(statement: str) -> None:
    """A statement that writes, or reads anything but tables, is refused before it runs."""
    with connect(()) as connection, pytest.raises(Refused) as refused:
        statements.mentions(connection, statement)
    assert refused.value.next_step


FILES = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('file:///etc/passwd')",
    "SELECT * FROM read_text('{table}/../../../../../../../../etc/passwd')",
    "SELECT * FROM read_text('{table}2/secret.txt')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "COPY (SELECT 1) TO '{outside}/out.csv'",
    "ATTACH '{outside}/out.db'",
    "EXPORT DATABASE '{outside}/out'",
    "INSTALL httpfs",
    "LOAD '{outside}/evil.duckdb_extension'",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "RESET lock_configuration",
]


def test_the_file_system_is_shut(orders: Any, tmp_path: Path) -> None:
    """Even past the check of statements no file outside a table's folder is opened, and no setting changed back."""
    import duckdb

    table = orders.location().removeprefix("file://")
    Path(f"{table}2").mkdir()
    Path(f"{table}2", "secret.txt").write_text("secret")
    opened = []
    with connect() as connection:
        queries.open_tables(connection, (scan(orders),))
        for statement in FILES:
            with contextlib.suppress(duckdb.PermissionException, duckdb.InvalidInputException):
                connection.execute(statement.format(table=table, outside=tmp_path)).fetchall()
                opened.append(statement)
    assert opened == []
    assert list(tmp_path.iterdir()) == []


def test_variables_of_python_are_no_tables(ask: Ask) -> None:
    """DuckDB would read a table out of any caller's local variable."""
    treasure = pa.table({"a": [1]})
    with pytest.raises(BadInput, match="treasure"):
        ask("SELECT * FROM treasure")
    assert treasure.num_rows == 1


MENTIONS: list[tuple[str, set[tuple[str, ...]]]] = [
    ("SELECT 1", set()),
    ("FROM a.b", {("a", "b")}),
    ("SELECT * FROM a.b x JOIN c.d y USING (id)", {("a", "b"), ("c", "d")}),
    ("SELECT * FROM lake.a.b", {("lake", "a", "b")}),
    ("SELECT (SELECT max(x) FROM a.b) FROM c.d WHERE EXISTS (FROM e.f)", {("a", "b"), ("c", "d"), ("e", "f")}),
    ("WITH t AS (SELECT * FROM a.b) SELECT * FROM t, T", {("a", "b")}),
    ("WITH b AS (SELECT 1) SELECT * FROM a.b", {("a", "b")}),
    ("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r, a.b) FROM r", {("a", "b")}),
    ("SELECT * FROM a.b UNION ALL SELECT * FROM c.d", {("a", "b"), ("c", "d")}),
    ("DESCRIBE a.b", {("a", "b")}),
    ("SUMMARIZE SELECT * FROM a.b", {("a", "b")}),
    ("PIVOT a.b ON x IN (1, 2) USING sum(y)", {("a", "b")}),
    ("SELECT * FROM range(3), unnest([1])", set()),
    ("VALUES (1), ((SELECT max(x) FROM a.b))", {("a", "b")}),
    ('SELECT * FROM "a.b"."C d"', {("a.b", "C d")}),
    ("TABLE a.b", {("a", "b")}),
    ("SELECT 'FROM c.d' AS t -- FROM e.f\nFROM a.b", {("a", "b")}),
]


@pytest.mark.parametrize(("statement", "expected"), MENTIONS, ids=[statement for statement, _ in MENTIONS])
def test_the_tables_a_statement_names(statement: str, expected: set[tuple[str, ...]]) -> None:
    """Every table is found, wherever it stands; names that WITH makes are none."""
    with connect(()) as connection:
        assert set(statements.mentions(connection, statement)) == expected


WRONG = [
    ("", "empty"),
    ("-- nothing", "empty"),
    ("SELEC 1", "syntax error"),
    ("SELECT 1; SELECT 2", "2 statements"),
    ("SELECT * FROM a.b.c.d", "more than three parts"),
    ("PIVOT a.b ON x USING sum(y)", "PIVOT needs to be told its values"),
    ("SHOW TABLES", "nothing to show"),
    ("SELECT * FROM a.b AT (VERSION => 1)", "takes no AT"),
]


@pytest.mark.parametrize(("statement", "words"), WRONG)
def test_what_is_no_statement_says_so(statement: str, words: str) -> None:
    """Bad input gets one message with a way out, and no traceback of DuckDB's."""
    with connect(()) as connection, pytest.raises(BadInput) as wrong:
        statements.mentions(connection, statement)
    assert words in wrong.value.what
    assert wrong.value.next_step


@pytest.mark.parametrize(
    ("statement", "kind", "words"),
    [
        ("SELECT nope FROM shop.orders", BadInput, '"nope" not found'),
        ("SELECT nope(1)", BadInput, "nope does not exist"),
        ("SELECT CAST('x' AS INT)", Failed, "Could not convert string 'x'"),
    ],
)
def test_errors_are_folded(ask: Ask, statement: str, kind: type[FirnlineError], words: str) -> None:
    """What DuckDB raises leaves as one error in one line, while reading rows too."""
    with pytest.raises(kind) as failed:
        rows(ask(statement))
    assert words in failed.value.what
    assert "\n" not in failed.value.what


def test_a_table_that_cannot_be_read_says_so(ask: Ask, orders: Any, tmp_path: Path) -> None:
    """A table DuckDB cannot open is named, with the engine that can."""
    broken = tmp_path / "v1.metadata.json"
    broken.write_text("{}")
    with pytest.raises(Failed, match=r"opening shop\.broken") as failed:
        ask("SELECT 1", Scan(("shop", "broken"), str(broken), None, (str(tmp_path),)), scan(orders))
    assert failed.value.next_step == "Use --engine spark."


def test_files_outside_the_tables_folder_are_refused(ask: Ask, orders: Any, tmp_path: Path) -> None:
    """A table whose data lies where its metadata does not say is refused, and told what can read it."""
    elsewhere = Scan(("shop", "orders"), orders.metadata_location, None, (str(tmp_path),))
    with pytest.raises(Refused) as refused:
        rows(ask("SELECT * FROM shop.orders", elsewhere))
    assert "--engine spark" in str(refused.value.next_step)


def test_what_is_large_spills_though_the_file_system_is_shut(orders: Any) -> None:
    """What does not fit into memory goes to DuckDB's own temporary folder."""
    connection = connect(memory_limit="64MiB")
    queries.open_tables(connection, (scan(orders),))
    statement = "SELECT count(*) FROM (SELECT hash(range) AS h, count(*) FROM range(2000000) GROUP BY h)"
    assert rows(queries.answer(connection, statement)) == [(2_000_000,)]


def test_stopping_early_closes(ask: Ask) -> None:
    """An answer of any size can be left after its first row."""
    answer = ask("SELECT * FROM range(1000000000000)")
    assert next(answer.rows) == (0,)
    answer.rows.close()  # type: ignore[attr-defined]
    assert next(answer.rows, None) is None
