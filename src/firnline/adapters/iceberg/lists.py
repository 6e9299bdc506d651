"""The lines of a manifest list. Without numpy: a list is short, and looking must start quickly."""

from __future__ import annotations

from functools import lru_cache

from firnline.adapters.iceberg import fields, opening
from firnline.adapters.iceberg.avro import scalar, schemas
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.adapters.iceberg.avro.datums import reader
from firnline.adapters.iceberg.avro.plans import Plan, identity, plan
from firnline.adapters.iceberg.avro.scalar import ABSENT, Lanes, Values
from firnline.adapters.iceberg.avro.schemas import Array, Record, Type
from firnline.facts.lines import ManifestLine, Summary

_CONTENTS = ("data", "deletes")


@lru_cache(maxsize=64)
def _planned(schema: bytes) -> Plan:
    found = plan(schemas.parse(schema), fields.LINE)
    if not found.has(fields.PATH):
        raise Damaged("its lines have no path of a manifest")
    return found


def read(data: bytes) -> tuple[ManifestLine, ...]:
    """The lines in these bytes; Damaged when they are no manifest list."""
    opened = opening.opened(data)
    planned = _planned(opened.header.schema)
    blocks = [opened.inflated(block) for block in opened.blocks]
    of = scalar.lanes(blocks, [block.count for block in opened.blocks])
    rows = _Rows(planned, of, scalar.decode(planned, of))
    return tuple(rows.line(row) for row in range(of.rows))


class _Rows:
    def __init__(self, planned: Plan, of: Lanes, found: Values) -> None:
        self._data = of.data
        self._found = found
        summaries = planned.types.get(fields.PARTITIONS)
        self._summaries = None if summaries is None else reader(summaries)
        self._places = {} if summaries is None else _places(summaries)

    def line(self, row: int) -> ManifestLine:
        path = self._text(fields.PATH, row)
        if path is None:
            raise Damaged("a line has no path of a manifest")
        content = self._number(fields.CONTENT, row) or 0
        if content not in {0, 1}:
            raise Damaged(f"a manifest has content {content}, which is neither data nor deletes")
        return ManifestLine(
            path=_decoded(path),
            length=self._count(fields.LENGTH, row),
            spec_id=self._number(fields.SPEC, row) or 0,
            content=_CONTENTS[content],
            sequence=self._number(fields.SEQUENCE, row) or 0,
            sequence_min=self._number(fields.SEQUENCE_MIN, row) or 0,
            snapshot=self._number(fields.SNAPSHOT, row),
            added_files=self._count(fields.ADDED_FILES, row),
            existing_files=self._count(fields.EXISTING_FILES, row),
            deleted_files=self._count(fields.DELETED_FILES, row),
            added_rows=self._count(fields.ADDED_ROWS, row),
            existing_rows=self._count(fields.EXISTING_ROWS, row),
            deleted_rows=self._count(fields.DELETED_ROWS, row),
            first_row_id=self._count(fields.FIRST_ROW_ID, row),
            partitions=self._partitions(row),
            encrypted=self._text(fields.KEY_METADATA, row) is not None,
        )

    def _number(self, key: int, row: int) -> int | None:
        column = self._found.numbers.get(key)
        return None if column is None or column[row] == ABSENT else column[row]

    def _count(self, key: int, row: int) -> int | None:
        """A number that cannot be negative; some writers say -1 for what they do not know."""
        number = self._number(key, row)
        return None if number is None or number < 0 else number

    def _text(self, key: int, row: int) -> bytes | None:
        lengths = self._found.lengths.get(key)
        if lengths is None or lengths[row] < 0:
            return None
        start = self._found.starts[key][row]
        return self._data[start : start + lengths[row]]

    def _partitions(self, row: int) -> tuple[Summary, ...] | None:
        raw = self._text(fields.PARTITIONS, row)
        if raw is None or self._summaries is None:
            return None
        values = self._summaries(raw)
        assert isinstance(values, list)
        return tuple(self._summary(value) for value in values)

    def _summary(self, value: tuple[object, ...]) -> Summary:
        null, nan, lower, upper = (
            value[self._places[key]] if key in self._places else None
            for key in (fields.HAS_NULL, fields.HAS_NAN, fields.LOWER, fields.UPPER)
        )
        return Summary(
            null is not False,  # a writer that does not say may have nulls
            nan if isinstance(nan, bool) else None,
            lower if isinstance(lower, bytes) else None,
            upper if isinstance(upper, bytes) else None,
        )


def _places(of: Type) -> dict[int, int]:
    """At which places of a summary its fields stand."""
    if not (isinstance(of, Array) and isinstance(schemas.unwrapped(of.items), Record)):
        raise Damaged("its partition summaries are no list of records")
    record = schemas.unwrapped(of.items)
    assert isinstance(record, Record)
    known = ((identity(field, fields.SUMMARY_NAMES), place) for place, field in enumerate(record.fields))
    return {key: place for key, place in known if key is not None}


def _decoded(path: bytes) -> str:
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damaged("the path of a manifest is no text") from error
