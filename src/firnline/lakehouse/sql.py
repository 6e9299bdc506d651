"""One statement on Spark, or a reading one on DuckDB, at the tables as they are or as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from firnline.adapters.answers import Answer
from firnline.config.properties import FOLDERS
from firnline.core.errors import BadInput, Refused
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.facts import at as points
from firnline.facts.meta import TableMeta
from firnline.lakehouse.catalogs import listed

if TYPE_CHECKING:
    from firnline.adapters.duckdb.queries import Scan
    from firnline.lakehouse.opening import Lakehouse

__all__ = ["ENGINES", "Answer", "sql"]

ENGINES = ("spark", "duckdb")
_RUNNING = "Running the statement"


def sql(
    lakehouse: Lakehouse, statement: str, *, engine: str = "spark", at: str | None = None, limit: int | None = None
) -> Answer:
    """Run one statement. With `at`, a snapshot, ref or time, every table of a query is read as it was then."""
    if not statement.strip():
        raise BadInput("The statement is empty.", next_step='Write one: firnline sql "SELECT 1".')
    if limit is not None and limit < 0:
        raise BadInput(f"The limit {limit} is below zero.")
    if engine not in ENGINES:
        raise BadInput(f"There is no engine {engine!r}.", next_step=did_you_mean(engine, ENGINES))
    run = _on_spark if engine == "spark" else _on_duckdb
    return run(lakehouse, statement, at, limit)


def _on_spark(lakehouse: Lakehouse, statement: str, at: str | None, limit: int | None) -> Answer:
    session = lakehouse.spark.isolated()
    from firnline.adapters.spark import queries, statements

    if not lakehouse.may_write and (other := statements.other_than_reading(session, statement)):
        raise Refused(
            f"This statement does more than read ({other}), and the environment "
            f"{lakehouse.settings.environment.name!r} has access: read.",
            next_step="Choose another environment with --env, or change `access` in lakehouse.yaml.",
        )
    snapshots: dict[str, int] = {}
    if at is not None:
        pins = {}
        for mention in statements.mentions(session, statement):
            identifier, meta = _table(lakehouse, mention.parts)
            pins[mention] = snapshots[str(identifier)] = _snapshot(identifier, meta, at)
        statement = statements.pinned(statement, pins)
    with lakehouse.notify(_RUNNING):
        answer = queries.answer(session, statement, limit)
    return replace(answer, snapshots=snapshots)


def _on_duckdb(lakehouse: Lakehouse, statement: str, at: str | None, limit: int | None) -> Answer:
    from firnline.adapters.duckdb import queries, statements
    from firnline.adapters.duckdb.connection import ICEBERG, connect
    from firnline.adapters.schemes import S3

    with connect(()) as parser:
        named = statements.mentions(parser, statement)
    tables = {parts: _table(lakehouse, _namespaced(parts)) for parts in named}
    remote = [meta for _, meta in tables.values() if meta.location.startswith(S3)]
    connection = connect(ICEBERG if named else (), stores=lakehouse.storage.stores(remote))
    try:
        pins = {} if at is None else {parts: _snapshot(*tables[parts], at) for parts in named}
        queries.open_tables(connection, [_scan(parts, meta, pins) for parts, (_, meta) in tables.items()])
        with lakehouse.notify(_RUNNING):
            answer = queries.answer(connection, statement, limit)
    except BaseException:
        connection.close()
        raise
    return replace(answer, snapshots={str(tables[parts][0]): snapshot for parts, snapshot in pins.items()})


def _snapshot(identifier: Identifier, meta: TableMeta, at: str) -> int:
    try:
        return points.resolve(meta, at, datetime.now(UTC)).id
    except BadInput as error:
        raise BadInput(f"{identifier}: {error.what}", why=error.why, next_step=error.next_step) from error


def _table(lakehouse: Lakehouse, parts: Sequence[str]) -> tuple[Identifier, TableMeta]:
    """The table a name means: with the catalog before it or not, and as Spark has them, its metadata tables too."""
    catalogs = lakehouse.settings.environment.catalogs
    if len(parts) > 2 and parts[0] in catalogs:
        lakehouse, parts = lakehouse.in_catalog(parts[0]), parts[1:]
    if len(parts) < 2:
        name = ".".join(parts)
        known = [str(one.identifier) for one in listed(lakehouse)[0] if one.identifier.name == name]
        raise BadInput(
            f"{name!r} is not a table: a table needs a namespace.",
            next_step=f"Did you mean {known[0]!r}?" if known else "Write it as NAMESPACE.TABLE.",
        )
    identifier = Identifier(tuple(parts[:-1]), parts[-1])
    above = Identifier(tuple(parts[:-2]), parts[-2])
    if above.namespace and lakehouse.pointers.find(identifier) is None and lakehouse.pointers.find(above) is not None:
        identifier = above
    return identifier, lakehouse.tables.load(identifier)


def _namespaced(parts: tuple[str, ...]) -> tuple[str, ...]:
    """DuckDB's names have at most three parts: a namespace of several stands in one, `"a.b".orders`."""
    *above, name = parts
    return (*(piece for part in above for piece in part.split(".")), name)


def _scan(parts: tuple[str, ...], meta: TableMeta, pins: Mapping[tuple[str, ...], int]) -> Scan:
    from firnline.adapters.duckdb.queries import Scan

    elsewhere = (meta.properties.get(name) for name in FOLDERS)
    folders = (meta.table_location, meta.location.rpartition("/")[0], *(folder for folder in elsewhere if folder))
    return Scan(parts, meta.location, pins.get(parts), folders)
