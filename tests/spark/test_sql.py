"""`Lakehouse.sql` on Spark: what a statement is, what it may do, and what comes back."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from firnline.adapters.spark import queries, statements
from firnline.core.errors import BadInput, Failed, FirnlineError, Refused
from firnline.core.ids import Identifier
from firnline.lakehouse import spark
from firnline.lakehouse.opening import Lakehouse
from tests.sparklake import SparkLake

pytestmark = pytest.mark.spark
ORDERS = Identifier(("sql",), "orders")


@pytest.fixture(scope="module")
def shop(shared_lake: SparkLake) -> SparkLake:
    """A table of three snapshots: two rows, a column renamed and another added, a third row; and one in two parts."""
    shared_lake.sql("CREATE NAMESPACE sql")
    shared_lake.sql("CREATE TABLE sql.orders (id BIGINT, name STRING)")
    shared_lake.sql("INSERT INTO sql.orders VALUES (1, 'a'), (2, NULL)")
    shared_lake.sql("ALTER TABLE sql.orders CREATE TAG early")
    shared_lake.sql("ALTER TABLE sql.orders RENAME COLUMN name TO label")
    shared_lake.sql("INSERT INTO sql.orders VALUES (3, 'c')")
    shared_lake.sql("ALTER TABLE sql.orders ADD COLUMN note STRING")
    shared_lake.sql("CREATE NAMESPACE sql.deep")
    shared_lake.sql("CREATE TABLE sql.deep.`odd name` AS SELECT 7 AS x")
    return shared_lake


@pytest.fixture
def lakehouse(shop: SparkLake) -> Lakehouse:
    """The library on that project."""
    return Lakehouse(shop.settings)


@pytest.fixture
def looking(shop: SparkLake) -> Lakehouse:
    """The library on that project with access: read."""
    environment = replace(shop.settings.environment, access="read")
    return Lakehouse(replace(shop.settings, environment=environment))


def first_snapshot(lakehouse: Lakehouse) -> int:
    """The id of the oldest snapshot."""
    return lakehouse.tables.load(ORDERS).snapshots[0].id


VALUES: list[tuple[str, object]] = [
    ("CAST(NULL AS INT)", None),
    ("CAST(1.50 AS DECIMAL(9, 2))", Decimal("1.50")),
    (f"CAST('{'9' * 38}' AS DECIMAL(38, 0))", Decimal("9" * 38)),
    ("X'780079'", b"x\x00y"),
    ("DATE'2026-11-19'", date(2026, 11, 19)),
    ("DATE'+10000-01-01'", "+10000-01-01"),
    ("DATE'0001-01-01'", date(1, 1, 1)),
    ("TIMESTAMP'2026-01-02 03:04:05.123456+02:00'", datetime(2026, 1, 2, 1, 4, 5, 123456, tzinfo=UTC)),
    ("TIMESTAMP'1500-01-01 00:00:00'", datetime(1500, 1, 1, tzinfo=UTC)),
    ("TIMESTAMP'+10000-01-01 00:00:00'", "+10000-01-01 00:00:00"),
    ("TIMESTAMP_NTZ'2026-01-02 03:04:05.5'", datetime(2026, 1, 2, 3, 4, 5, 500000)),
    ("INTERVAL '3' MONTH", "INTERVAL '3' MONTH"),
    ("array(DATE'2026-01-01', NULL)", [date(2026, 1, 1), None]),
    ("named_struct('a', DATE'2026-01-01', 'b c', array(1))", {"a": date(2026, 1, 1), "b c": [1]}),
    ("named_struct('a', 1, 'a', 2)", [1, 2]),
    ("map(DATE'2026-01-01', 1)", {date(2026, 1, 1): 1}),
    ("map(named_struct('a', 1), DATE'2026-01-01')", [{"key": {"a": 1}, "value": date(2026, 1, 1)}]),
    ("map(array(1), X'00')", [{"key": [1], "value": b"\x00"}]),
    ("array(map('k', TIMESTAMP_NTZ'2026-01-01 00:00:00'))", [{"k": datetime(2026, 1, 1)}]),
    ("parse_json('{\"a\": [1, null]}')", '{"a":[1,null]}'),
    ("named_struct('v', parse_json('1'))", {"v": "1"}),
    ("CAST(NULL AS STRUCT<v: VARIANT, d: DATE>)", None),
    ("'text'", "text"),
    ("true", True),
]


def test_values_arrive_whole(shop: SparkLake) -> None:
    """Values are Python's own, at any depth; what Python cannot hold is text."""
    found = next(queries.answer(shop.session, f"SELECT {', '.join(expression for expression, _ in VALUES)}").rows)
    wrong = {
        expression: value
        for (expression, expected), value in zip(VALUES, found, strict=True)
        if value != expected or type(value) is not type(expected)
    }
    assert wrong == {}


def test_what_is_not_a_number_arrives(shop: SparkLake) -> None:
    """NaN and the infinities are floats."""
    nan, most = next(queries.answer(shop.session, "SELECT double('NaN'), double('Infinity')").rows)
    assert isinstance(nan, float)
    assert math.isnan(nan)
    assert most == math.inf


def test_columns_may_share_a_name(lakehouse: Lakehouse) -> None:
    """Columns of one name stay apart, with their types in Spark's words."""
    answer = lakehouse.sql("SELECT 1 AS x, 'a' AS x")
    assert [(column.name, column.type) for column in answer.columns] == [("x", "int"), ("x", "string")]
    assert list(answer.rows) == [(1, "a")]


def test_the_limit_is_kept(lakehouse: Lakehouse) -> None:
    """At most so many rows come, in the statement's own order; without one an answer of many partitions is whole."""
    statement = "SELECT id FROM range(0, 1000, 1, 7) ORDER BY id DESC"
    assert list(lakehouse.sql(statement, limit=2).rows) == [(999,), (998,)]
    assert [row[0] for row in lakehouse.sql(statement).rows] == list(range(999, -1, -1))


def test_a_command_runs_at_once(lakehouse: Lakehouse, shop: SparkLake) -> None:
    """What returns no rows is done when the call returns, read or not."""
    answer = lakehouse.sql("CREATE TABLE sql.made (id BIGINT)")
    assert answer.columns == ()
    assert shop.isolated().catalog.tableExists("lake.sql.made")
    assert list(answer.rows) == []


@pytest.mark.parametrize(
    ("statement", "kind", "words"),
    [
        ("SELEC 1", BadInput, "Syntax error"),
        ("SELECT * FROM sql.nope", BadInput, "cannot be found"),
        ("SELECT nope FROM sql.orders", BadInput, "nope"),
        ("SELECT * FROM nope.sql.orders", BadInput, "cannot be found"),
        ("CREATE TABLE sql.orders (id INT)", BadInput, "already exists"),
        ("SELECT 1; SELECT 2", BadInput, "Syntax error"),
        ("SELECT count(*) FROM sql.orders GROUP BY nope(id)", BadInput, "nope"),
        ("SELECT assert_true(false, 'told so')", Failed, "told so"),
        ("SELECT CAST('x' AS INT)", Failed, "'x'"),
        ("SELECT 1 / 0", Failed, "zero"),
        ("CREATE TABLE sql.other (id INT) USING nonsense", Failed, "nonsense"),
        ("CALL lake.system.rollback_to_snapshot('sql.orders', 1)", FirnlineError, "1"),
        ("  ", BadInput, "empty"),
    ],
)
def test_errors_are_one_line(lakehouse: Lakehouse, statement: str, kind: type[FirnlineError], words: str) -> None:
    """Whatever Java raises leaves as one error that says what, in one line."""
    with pytest.raises(kind) as failed:
        list(lakehouse.sql(statement).rows)
    assert words in failed.value.what
    assert "\n" not in failed.value.what
    assert not any(noise in failed.value.what for noise in ("SQLSTATE", "\tat ", "java.lang", "org.apache"))


@pytest.mark.parametrize("limit", [None, 5])
def test_every_at_leads_to_the_same_snapshot(lakehouse: Lakehouse, limit: int | None) -> None:
    """An id and a tag read the table as it was, under the names of then, and say which snapshot it was."""
    first = first_snapshot(lakehouse)
    for at in (str(first), "early"):
        answer = lakehouse.sql("SELECT * FROM sql.orders ORDER BY id", at=at, limit=limit)
        assert [column.name for column in answer.columns] == ["id", "name"]
        assert list(answer.rows) == [(1, "a"), (2, None)]
        assert answer.snapshots == {"sql.orders": first}


def test_at_reaches_every_table_of_a_query(lakehouse: Lakehouse) -> None:
    """A table in a subquery and one in WITH are read as of then, too; a name WITH makes is left alone."""
    statement = """
        WITH then AS (SELECT * FROM lake.sql.orders)
        SELECT (SELECT count(*) - count(o.name) FROM sql.orders o), count(*) FROM then
    """
    answer = lakehouse.sql(statement, at="early")
    assert list(answer.rows) == [(1, 2)]


def test_at_reaches_metadata_tables(lakehouse: Lakehouse) -> None:
    """`TABLE.files` of a snapshot is pinned like the table itself."""
    now = list(lakehouse.sql("SELECT count(*) FROM sql.orders.files").rows)
    then = list(lakehouse.sql("SELECT count(*) FROM sql.orders.files", at="early").rows)
    assert now[0] > then[0]


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        ("SELECT * FROM sql.nope", "early", "There is no table sql.nope"),
        ("SELECT * FROM sql.orders", "late", "sql.orders: 'late' is neither a snapshot, a ref nor a time"),
        ("SELECT * FROM sql.orders VERSION AS OF 'early'", "early", "said twice"),
        ("INSERT INTO sql.orders SELECT * FROM sql.orders", "early", "--at goes with a query"),
        ("SHOW TABLES IN sql", "early", "--at goes with a query"),
        ("SELECT * FROM orders", "early", "a table needs a namespace"),
    ],
)
def test_at_says_what_is_wrong(lakehouse: Lakehouse, statement: str, at: str, words: str) -> None:
    """What cannot be pinned is refused before it runs, with what would do."""
    with pytest.raises(BadInput) as wrong:
        lakehouse.sql(statement, at=at)
    assert words in wrong.value.what


READING = [
    "SELECT 1",
    "SELECT * FROM sql.orders TABLESAMPLE (10 PERCENT) WHERE id IN (SELECT max(id) FROM sql.orders)",
    "WITH t AS (SELECT 1 AS x) SELECT * FROM t JOIN t AS u USING (x)",
    "VALUES (1), (2)",
    "TABLE sql.orders",
    "FROM sql.orders |> WHERE id > 1 |> SELECT id",
    "SELECT * FROM sql.orders VERSION AS OF 1",
    "SELECT id, count(*) OVER (PARTITION BY id) FROM sql.orders GROUP BY ALL HAVING id > 1 LIMIT 1 OFFSET 1",
    "SELECT * FROM sql.orders LATERAL VIEW explode(array(1)) AS x",
    "SELECT * FROM (SELECT 1 AS a, 2 AS b) PIVOT (sum(a) FOR b IN (1, 2))",
    "SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4",
    "SELECT * FROM range(3)",
    "SHOW TABLES IN sql",
    "SHOW NAMESPACES",
    "SHOW TBLPROPERTIES sql.orders",
    "SHOW CREATE TABLE sql.orders",
    "DESCRIBE TABLE EXTENDED sql.orders",
    "DESCRIBE NAMESPACE sql",
    "EXPLAIN SELECT * FROM sql.orders",
]
WRITING = [
    "INSERT INTO sql.orders VALUES (1, 'a', 'b')",
    "INSERT OVERWRITE sql.orders VALUES (1, 'a', 'b')",
    "DELETE FROM sql.orders",
    "UPDATE sql.orders SET id = 1",
    "MERGE INTO sql.orders t USING sql.orders s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "CREATE TABLE sql.t (id INT)",
    "CREATE TABLE sql.t AS SELECT 1",
    "DROP TABLE sql.orders",
    "ALTER TABLE sql.orders ADD COLUMN x INT",
    "ALTER TABLE sql.orders CREATE BRANCH b",
    "CREATE NAMESPACE n",
    "CALL lake.system.expire_snapshots('sql.orders')",
    "SELECT TRANSFORM(id) USING 'cat' AS (x) FROM sql.orders",
    "FROM sql.orders INSERT INTO sql.orders SELECT *",
    "INSERT OVERWRITE DIRECTORY '/tmp/out' USING csv SELECT 1",
    "ADD JAR 'x.jar'",
    "SET spark.sql.shuffle.partitions = 1",
    "USE sql",
    "CACHE TABLE sql.orders",
    "CREATE TEMPORARY VIEW v AS SELECT 1",
    "TRUNCATE TABLE sql.orders",
]


def test_reading_is_told_from_everything_else(shop: SparkLake) -> None:
    """Queries and looks at the catalog only read; all else is named, a shell command inside a query too."""
    assert {text: statements.other_than_reading(shop.session, text) for text in READING} == dict.fromkeys(READING)
    assert [text for text in WRITING if statements.other_than_reading(shop.session, text) is None] == []


def test_access_read_reads(looking: Lakehouse) -> None:
    """With access: read a query runs, and a statement that does more is refused by its kind."""
    assert list(looking.sql("SELECT count(*) FROM sql.orders").rows) == [(3,)]
    with pytest.raises(Refused, match="access: read"):
        looking.sql("DELETE FROM sql.orders")


MENTIONS: list[tuple[str, list[str]]] = [
    ("SELECT 1", []),
    ("SELECT * FROM a.b", ["a.b"]),
    ("SELECT * FROM a.b x, c.d AS y JOIN lake.e.f.g USING (id)", ["a.b", "c.d", "lake.e.f.g"]),
    ("WITH t AS (SELECT * FROM a.b) SELECT * FROM t, T", ["a.b"]),
    ("SELECT (SELECT 1 FROM a.b) FROM c.d WHERE EXISTS (SELECT * FROM e.f)", ["a.b", "c.d", "e.f"]),
    ("SELECT * FROM `a`.`b c` -- FROM x.y", ["a.b c"]),
    ("SELECT 'FROM x.y' FROM a.b UNION ALL TABLE c.d", ["a.b", "c.d"]),
    ("SELECT '\N{GRINNING FACE}' FROM a.b", ["a.b"]),
    ("SELECT '${x}' FROM a.b", ["a.b"]),
    ("SELECT * FROM a.b, a.b AS again", ["a.b", "a.b"]),
]


def test_every_table_of_a_query_is_found(shop: SparkLake) -> None:
    """Each mention is found in order, with the place right behind it."""
    for statement, expected in MENTIONS:
        found = statements.mentions(shop.session, statement)
        assert [".".join(mention.parts) for mention in found] == expected, statement
        for mention in found:
            assert statement[: mention.end].rstrip("`").endswith(mention.parts[-1]), statement


def test_names_of_any_kind_can_be_pinned(lakehouse: Lakehouse) -> None:
    """A namespace in two parts and a name in backticks are read as of a time."""
    snapshot = lakehouse.tables.load(Identifier(("sql", "deep"), "odd name")).snapshots[0].id
    answer = lakehouse.sql(
        "SELECT '\N{GRINNING FACE}', x FROM sql.deep.`odd name` AS o WHERE o.x > 1", at=str(snapshot)
    )
    assert list(answer.rows) == [("\N{GRINNING FACE}", 7)]


def test_nulls_are_counted_in_the_snapshot(lakehouse: Lakehouse) -> None:
    """Spark counts under the names of the snapshot's own schema; of a column that came later every row is null."""
    meta = lakehouse.tables.load(ORDERS)
    assert spark.count_nulls(lakehouse, ORDERS, meta, (1, 2, 3)) == {1: 0, 2: 1, 3: 3}


def test_a_table_without_a_snapshot_has_no_nulls(lakehouse: Lakehouse, shop: SparkLake) -> None:
    """Where there are no rows there is nothing to count, and no JVM is asked."""
    shop.sql("CREATE TABLE IF NOT EXISTS sql.empty (id BIGINT)")
    identifier = Identifier(("sql",), "empty")
    assert spark.count_nulls(lakehouse, identifier, lakehouse.tables.load(identifier), (1,)) == {1: 0}


def test_spark_and_duckdb_say_the_same(lakehouse: Lakehouse) -> None:
    """One statement has one answer, whichever engine gives it, now and then."""
    for at in (None, "early"):
        one, other = (
            list(lakehouse.sql("SELECT * FROM sql.orders ORDER BY id", engine=engine, at=at).rows)
            for engine in ("spark", "duckdb")
        )
        assert one == other
        assert one


def test_an_unknown_engine_is_refused_with_the_nearest(lakehouse: Lakehouse) -> None:
    """A misspelt engine is told with what there is."""
    with pytest.raises(BadInput) as wrong:
        lakehouse.sql("SELECT 1", engine="duck")
    assert wrong.value.next_step == "Did you mean 'duckdb'?"
