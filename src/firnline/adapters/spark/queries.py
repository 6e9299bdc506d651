"""Answers from Spark, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CalendarIntervalType,
    DataType,
    DateType,
    DayTimeIntervalType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
    YearMonthIntervalType,
)

from firnline.adapters import answers
from firnline.adapters.answers import Answer, to_date, to_moment
from firnline.adapters.spark import errors
from firnline.adapters.spark.statements import quoted
from firnline.core.types import Path

# Up to this many rows are collected at once, for which Spark reads as few files as it can. More are iterated, one
# partition at a time, so that an answer of any size passes through.
COLLECTED_ROWS_MAX = 100_000
_DOING = "running the statement"
_END = object()
_NESTED = (ArrayType, MapType, StructType)
_TEXT = (
    DateType,
    TimestampType,
    TimestampNTZType,
    CalendarIntervalType,
    DayTimeIntervalType,
    YearMonthIntervalType,
)
_Convert: TypeAlias = Callable[[Any], object]


def answer(session: SparkSession, statement: str, limit: int | None = None) -> Answer:
    """Run a statement. A command has run when this returns; a query runs while its rows are read."""
    with errors.folded(_DOING):
        frame = session.sql(statement)
        schema = frame.schema
    columns = tuple(answers.Column(field.name, field.dataType.simpleString()) for field in schema.fields)
    return Answer(columns, _rows(frame, schema, limit))


def count_nulls(
    session: SparkSession, table: Sequence[str], snapshot: int, columns: Mapping[int, Path]
) -> Mapping[int, int]:
    """Nulls per field id in one snapshot, in one pass. An empty path counts every row.

    Paths are of the snapshot's own schema: with VERSION AS OF, Spark reads a table as it was called then.
    """
    counts = [f.count_if(f.col(quoted(path)).isNull()) if path else f.count("*") for path in columns.values()]
    with errors.folded(f"counting nulls in {'.'.join(table[1:])}"):
        frame = session.read.option("versionAsOf", snapshot).table(quoted(table))
        found = frame.agg(*counts).collect()[0]
    return dict(zip(columns, found, strict=True))


def _rows(frame: DataFrame, schema: StructType, limit: int | None) -> Iterator[tuple[object, ...]]:
    if not schema.fields:
        return
    types = [field.dataType for field in schema.fields]
    converters = [_converter(of) for of in types]
    names = [f"c{position}" for position in range(len(types))]  # the user's may repeat: then none can be addressed
    with _readable_errors():
        plain = frame.toDF(*names).select(*map(_readable, names, types))
        chosen = plain if limit is None else plain.limit(limit)
        held = limit is not None and limit <= COLLECTED_ROWS_MAX
        rows = iter(chosen.collect()) if held else chosen.toLocalIterator()
    while True:
        with _readable_errors():
            row = next(rows, _END)
        if not isinstance(row, Row):
            return
        yield tuple(convert(value) for convert, value in zip(converters, row, strict=True))


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Errors of Spark folded; rows come through a socket, and one that ends early means the JVM went away."""
    try:
        with errors.folded(_DOING):
            yield
    except (EOFError, OSError) as error:
        raise errors.fold(_DOING, ConnectionError(str(error))) from error


def _readable(name: str, of: DataType) -> Column:
    """The column as Python can be given it: times as text, since pyspark would hand them over in the zone of this
    machine, without saying so, and fail where Python has no such year.
    """
    column, readable = _opened(f.col(name), of), _as_text(_opened_type(of))
    return column.cast(readable).alias(name) if readable != _opened_type(of) else column.alias(name)


def _opened(column: Column, of: DataType) -> Column:
    """Variants as JSON, and maps whose keys no dict can have as lists of their entries."""
    if _opened_type(of) == of:
        return column
    match of:
        case VariantType():
            return f.to_json(column)
        case ArrayType():
            return f.transform(column, lambda item: _opened(item, of.elementType))
        case MapType():
            entries = f.map_entries(column)
            pairs = f.transform(
                entries,
                lambda entry: f.struct(
                    _opened(entry.getField("key"), of.keyType).alias("key"),
                    _opened(entry.getField("value"), of.valueType).alias("value"),
                ),
            )
            return pairs if isinstance(of.keyType, _NESTED) else f.map_from_entries(pairs)
        case StructType():
            parts = (_opened(column.getField(part.name), part.dataType).alias(part.name) for part in of.fields)
            return f.when(column.isNotNull(), f.struct(*parts))
        case _:
            return column


def _opened_type(of: DataType) -> DataType:
    match of:
        case VariantType():
            return StringType()
        case ArrayType():
            return ArrayType(_opened_type(of.elementType), of.containsNull)
        case MapType():
            key, value = _opened_type(of.keyType), _opened_type(of.valueType)
            if isinstance(key, _NESTED):
                return ArrayType(StructType([StructField("key", key), StructField("value", value)]))
            return MapType(key, value, of.valueContainsNull)
        case StructType():
            return StructType(
                [StructField(part.name, _opened_type(part.dataType), part.nullable) for part in of.fields]
            )
        case _:
            return of


def _as_text(of: DataType) -> DataType:
    """The type with every leaf that travels as text being text; what a cast does by position, at any depth."""
    match of:
        case ArrayType():
            return ArrayType(_as_text(of.elementType), of.containsNull)
        case MapType():
            return MapType(_as_text(of.keyType), _as_text(of.valueType), of.valueContainsNull)
        case StructType():
            return StructType([StructField(part.name, _as_text(part.dataType), part.nullable) for part in of.fields])
        case _:
            return StringType() if isinstance(of, _TEXT) else of


def _converter(of: DataType) -> _Convert:
    """From what arrives to what an Answer holds."""
    match of:
        case DateType():
            return _unless_null(to_date)
        case TimestampType() | TimestampNTZType():
            return _unless_null(partial(to_moment, zoned=isinstance(of, TimestampType)))
        case BinaryType():
            return _unless_null(bytes)
        case ArrayType():
            item = _converter(of.elementType)
            return _unless_null(lambda values: [item(value) for value in values])
        case MapType():
            return _unless_null(partial(_mapping, _converter(of.keyType), _converter(of.valueType)))
        case StructType():
            names, parts = of.fieldNames(), [_converter(part.dataType) for part in of.fields]
            return _unless_null(partial(_record, names, parts))
        case _:
            return lambda value: value


def _mapping(key: _Convert, value: _Convert, given: Any) -> object:
    if isinstance(given, dict):
        return {key(one): value(other) for one, other in given.items()}
    return [{"key": key(entry[0]), "value": value(entry[1])} for entry in given]


def _record(names: Sequence[str], parts: Sequence[_Convert], given: Row) -> object:
    values = [convert(value) for convert, value in zip(parts, given, strict=True)]
    # Spark lets the fields of a struct share a name; a dict would lose one of them.
    return dict(zip(names, values, strict=True)) if len(set(names)) == len(names) else values


def _unless_null(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)
