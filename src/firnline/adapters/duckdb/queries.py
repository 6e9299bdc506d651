"""Answers from DuckDB, row by row, out of Iceberg tables and nothing else on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from firnline.adapters.answers import Answer, Column, to_date, to_moment
from firnline.adapters.duckdb import errors
from firnline.adapters.duckdb.connection import quote_name, quote_text, readable
from firnline.core.errors import BadInput, Failed

if TYPE_CHECKING:
    import duckdb
    from duckdb.sqltypes import DuckDBPyType

_DOING = "running the statement"
_ROWS_AT_ONCE = 1024
_MOMENTS = frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"})
_ZONED = "timestamp with time zone"
# What Python's types hold only in part, or not at all, and what DuckDB would hand over by a library we do not have.
_TEXT = _MOMENTS | {_ZONED, "date", "time", "time with time zone", "time_ns", "interval", "uuid", "bit", "union"}
_NESTED = frozenset({"struct", "map", "list", "array"})
_Convert: TypeAlias = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Scan:
    """A table of a statement: the name it has there, in up to three parts, and what it stands for."""

    name: tuple[str, ...]
    metadata_location: str
    snapshot: int | None
    folders: tuple[str, ...]  # where its files may lie


def open_tables(connection: duckdb.DuckDBPyConnection, scans: Iterable[Scan]) -> None:
    """Make the tables visible under their names, then shut everything else: no other file can be read or written from
    here on, nothing can be attached or loaded, and no setting can be changed back.
    """
    scans = tuple(scans)
    for scan in scans:
        _make_view(connection, scan)
    folders = sorted({readable(folder) for scan in scans for folder in scan.folders})
    with errors.folded("shutting the file system"):
        # Python's own variables would be tables, too.
        connection.execute("SET python_enable_replacements = false")
        connection.execute(f"SET allowed_directories = [{', '.join(map(quote_text, folders))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


def answer(connection: duckdb.DuckDBPyConnection, statement: str, limit: int | None = None) -> Answer:
    """Run a statement that was checked to be one that reads. It runs while its rows are read; the connection is closed
    with them.
    """
    with errors.folded(_DOING):
        relation = connection.sql(statement)
        types = relation.types
        columns = tuple(Column(name, str(of)) for name, of in zip(relation.columns, types, strict=True))
        # By position: the user's names may repeat.
        readable = relation.project(", ".join(f"#{at}{_cast(of)}" for at, of in enumerate(types, start=1)))
        chosen = readable if limit is None else readable.limit(limit)
    return Answer(columns, _rows(connection, chosen, [_converter(of) for of in types]))


def _make_view(connection: duckdb.DuckDBPyConnection, scan: Scan) -> None:
    above = scan.name[:-1]
    pinned = "" if scan.snapshot is None else f", snapshot_from_id = {scan.snapshot}"
    try:
        with errors.folded(f"opening {'.'.join(scan.name)}"):
            if len(above) > 1:
                connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {quote_name(above[0])}")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_dotted(above)}")
            source = f"iceberg_scan({quote_text(readable(scan.metadata_location))}{pinned})"
            connection.execute(f"CREATE VIEW {_dotted(scan.name)} AS FROM {source}")
    except BadInput as error:
        raise Failed(
            error.what,
            why="Either the table has something DuckDB does not read, or two names differ in case only.",
            next_step="Use --engine spark.",
        ) from error
    except Failed as error:
        raise Failed(error.what, why="DuckDB cannot read this table.", next_step="Use --engine spark.") from error


def _dotted(parts: Sequence[str]) -> str:
    return ".".join(map(quote_name, parts))


def _rows(
    connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, converters: Sequence[_Convert]
) -> Iterator[tuple[object, ...]]:
    try:
        while True:
            with errors.folded(_DOING):
                rows = relation.fetchmany(_ROWS_AT_ONCE)
            if not rows:
                return
            for row in rows:
                yield tuple(convert(value) for convert, value in zip(converters, row, strict=True))
    finally:
        connection.close()


def _cast(of: DuckDBPyType) -> str:
    """`::TYPE` where values travel otherwise than they are."""
    readable = _readable(of)
    return "" if readable == str(of) else f"::{readable}"


def _readable(of: DuckDBPyType) -> str:
    """The type as it travels: times and the like as text, at any depth."""
    if of.id in _TEXT:
        return "VARCHAR"
    if of.id == "variant":
        return "JSON"
    if of.id in _NESTED:
        inside = _inside(of)
        match of.id:
            case "list":
                return f"{_readable(inside[0][1])}[]"
            case "array":
                return f"{_readable(inside[0][1])}[{inside[1][1]}]"
            case "map":
                return f"MAP({_readable(inside[0][1])}, {_readable(inside[1][1])})"
            case "struct" if all(name for name, _ in inside):
                return f"STRUCT({', '.join(f'{quote_name(name)} {_readable(part)}' for name, part in inside)})"
    return str(of)


def _inside(of: DuckDBPyType) -> Sequence[tuple[str, Any]]:
    """The parts of a nested type; of an array the second is its length."""
    return of.children


def _converter(of: DuckDBPyType) -> _Convert:
    """From what arrives to what an Answer holds."""
    if of.id == "date":
        return _unless_null(to_date)
    if of.id in _MOMENTS or of.id == _ZONED:
        return _unless_null(partial(to_moment, zoned=of.id == _ZONED))
    if of.id not in _NESTED:
        return lambda value: value
    inside = _inside(of)
    match of.id:
        case "map":
            key, value = inside[0][1], inside[1][1]
            return _unless_null(partial(_mapping, _converter(key), _converter(value), nested=key.id in _NESTED))
        case "struct" if all(name for name, _ in inside):
            parts = {name: _converter(part) for name, part in inside}
            return _unless_null(partial(_record, parts))
        case "struct":
            return _unless_null(list)
        case _:
            item = _converter(inside[0][1])
            return _unless_null(lambda values: [item(value) for value in values])


def _mapping(key: _Convert, value: _Convert, given: Any, *, nested: bool) -> object:
    """A dict, or a list of entries where no dict can have such keys."""
    if not nested:
        return {key(one): value(other) for one, other in given.items()}
    # DuckDB gives keys and values as two lists when Python cannot hash the keys, and a dict when it can.
    pairs = zip(given["key"], given["value"], strict=True) if set(given) == {"key", "value"} else given.items()
    return [{"key": key(one), "value": value(other)} for one, other in pairs]


def _record(parts: Mapping[str, _Convert], given: Mapping[str, Any]) -> object:
    return {name: convert(given[name]) for name, convert in parts.items()}


def _unless_null(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)
