"""Which manifests and files a filter leaves: by the ranges in the manifest list, by partition, by the metrics of files.

Inclusive: what holds a row that passes is always left. What cannot be told is left too: metrics that are missing or
damaged, transforms of later versions, a column whose type has changed its meaning since the file was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from firnline.core.layout import PartitionSpec
from firnline.core.types import Decimal, Fixed, Primitive, Type
from firnline.facts import ranges
from firnline.facts.entries import ABSENT, Entries, Longs, Texts, Truths
from firnline.facts.lines import ManifestLine, Metric, Summary, Wanted
from firnline.facts.meta import Schema
from firnline.facts.partitions import PartitionKeys
from firnline.facts.predicates import And, Column, Given, Or, Predicate, Term, columns
from firnline.facts.projections import ANYTHING, project
from firnline.facts.ranges import Keys, Ranges
from firnline.facts.single_values import FLOATS, Key, decode, order_key, source_types

RangesOf: TypeAlias = Callable[[Column], Ranges | None]

_UNTOLD = Summary(contains_null=True, contains_nan=None, lower=None, upper=None)
_SIGN = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_DTYPES = {
    "int": {4: "<i4"},
    "date": {4: "<i4"},
    "long": {4: "<i4", 8: "<i8"},  # bounds written before a column was widened stay short
    "time": {8: "<i8"},
    "timestamp": {8: "<i8"},
    "timestamptz": {8: "<i8"},
    "timestamp_ns": {8: "<i8"},
    "timestamptz_ns": {8: "<i8"},
    "float": {4: "<f4"},
    "double": {4: "<f4", 8: "<f8"},
}


@dataclass(frozen=True, slots=True)
class Sieve:
    """A filter, ready for a table: also as a filter on the partitions of each of its specs."""

    predicate: Predicate
    specs: Mapping[int, PartitionSpec]
    by_partition: Mapping[int, Predicate]

    @staticmethod
    def of(predicate: Predicate, specs: Iterable[PartitionSpec], schemas: Iterable[Schema]) -> Sieve:
        """The filter for a table with these specs and schemas."""
        by_id = {spec.spec_id or 0: spec for spec in specs}
        moved = _moved(predicate, schemas)
        return Sieve(predicate, by_id, {key: project(predicate, spec, moved) for key, spec in by_id.items()})

    @property
    def wanted(self) -> Wanted:
        """The metrics that are looked at."""
        return Wanted(frozenset((metric, key) for key, each in self.columns.items() for metric in _metrics(each.type)))

    @property
    def columns(self) -> dict[int, Column]:
        """The columns the filter names, by id."""
        return columns(self.predicate)

    def manifests(self, lines: Sequence[ManifestLine]) -> Truths:
        """Which manifests may hold a file that is left."""
        left = np.ones(len(lines), bool)
        of_spec = [self._spec(line.spec_id) for line in lines]
        for spec_id in {each for each in of_spec if each is not None and each in self.by_partition}:
            own = [at for at, line in enumerate(lines) if of_spec[at] == spec_id and line.partitions is not None]
            found = [lines[at].partitions or () for at in own]
            left[own] = _left(self.by_partition[spec_id], _by_summary(self.specs[spec_id], found), len(own))
        return left

    def partitions(self, entries: Entries) -> Truths:
        """Which entries may hold a row that is left, by their partition."""
        spec_id = self._spec(entries.spec_id)
        filtering = ANYTHING if spec_id is None else self.by_partition.get(spec_id, ANYTHING)
        if filtering == ANYTHING:
            return np.ones(len(entries), bool)
        keys = PartitionKeys.of(entries)
        return _left(filtering, _by_values(keys), len(keys.values))[keys.of_row]

    def _spec(self, told: int | None) -> int | None:
        """A table with one spec needs no telling; of several, one that is not told is not known."""
        return next(iter(self.specs)) if told is None and len(self.specs) == 1 else told

    def files(self, entries: Entries, rows: Longs) -> Truths:
        """Which of these entries may hold a row that is left, by their metrics."""
        records = entries.records[rows]
        found = _left(self.predicate, _once(lambda column: _by_metrics(entries, rows, column)), len(rows))
        left: Truths = np.where(records == 0, False, found | (records < 0))  # some old writers did not count
        return left


def _moved(predicate: Predicate, schemas: Iterable[Schema]) -> frozenset[int]:
    """Columns that were dates and are timestamps: a number in their old partitions counts days, not microseconds."""
    were = [source_types([schema]) for schema in schemas]
    return frozenset(
        key
        for key, column in columns(predicate).items()
        if column.type != Primitive("date") and any(types.get(key) == Primitive("date") for types in were)
    )


def _metrics(of: Type) -> tuple[Metric, ...]:
    nans = (Metric.NANS,) if _is_float(of) else ()
    return (Metric.VALUES, Metric.NULLS, *nans, Metric.LOWER, Metric.UPPER)


def _is_float(of: Type) -> bool:
    return isinstance(of, Primitive) and of.name in FLOATS


def _once(ranges_of: RangesOf) -> RangesOf:
    met: dict[int, Ranges | None] = {}

    def remembered(column: Column) -> Ranges | None:
        if column.id not in met:
            met[column.id] = ranges_of(column)
        return met[column.id]

    return remembered


def _left(predicate: Predicate, ranges_of: RangesOf, count: int) -> Truths:
    left: Truths
    match predicate:
        case And(parts):
            left = np.logical_and.reduce([_left(part, ranges_of, count) for part in parts])
            return left
        case Or(parts):
            left = np.logical_or.reduce([_left(part, ranges_of, count) for part in parts])
            return left
        case Given(holds):
            return np.full(count, holds)
        case Term(column):
            known = ranges_of(column)
            return np.ones(count, bool) if known is None else ranges.may_pass(predicate, known)


# ------------------------------------------------------------------------------------------------- by partition


def _by_values(keys: PartitionKeys) -> RangesOf:
    ids = keys.values[0][0] if keys.values else ()

    def ranges_of(column: Column) -> Ranges | None:
        if column.id not in ids:
            return None
        at = ids.index(column.id)
        return ranges.of_values([values[at] for _, values in keys.values], column.type)

    return _once(ranges_of)


def _by_summary(spec: PartitionSpec, summaries: Sequence[tuple[Summary, ...]]) -> RangesOf:
    ids = [field.field_id for field in spec.fields]

    def ranges_of(column: Column) -> Ranges | None:
        at = ids.index(column.id)
        return _of_summaries([own[at] if at < len(own) else None for own in summaries], column.type)

    return _once(ranges_of)


def _of_summaries(summaries: Sequence[Summary | None], of: Type) -> Ranges:
    told = [each or _UNTOLD for each in summaries]
    null = np.array([each.contains_null for each in told], bool)
    nan = np.array([each.contains_nan is True for each in told], bool)
    no_nan = np.array([each.contains_nan is False for each in told], bool)
    unbounded = np.array([each.lower is None for each in told], bool)
    unbounded &= np.array([each is not None for each in summaries], bool)
    floats = _is_float(of)
    return Ranges(
        # Without bounds for values that are neither null nor NaN, bounds were not kept: then nothing is known.
        incomparable=unbounded & (null | nan),
        only_null=unbounded & null & (no_nan if floats else ~nan),
        only_nan=unbounded & nan & ~null,
        maybe_null=null,
        maybe_nan=~no_nan if floats else nan,
        lower=_decoded((each.lower for each in told), of),
        upper=_decoded((each.upper for each in told), of),
    )


# ---------------------------------------------------------------------------------------------------- by metrics


def _by_metrics(entries: Entries, rows: Longs, column: Column) -> Ranges:
    values, nulls, nans = (
        _counts(entries, rows, metric, column.id) for metric in (Metric.VALUES, Metric.NULLS, Metric.NANS)
    )
    only_null = (values != ABSENT) & (nulls != ABSENT) & (values == nulls)
    only_nan = (values != ABSENT) & (nans != ABSENT) & (values == nans)
    return Ranges(
        incomparable=only_null | only_nan,
        only_null=only_null,
        only_nan=only_nan,
        maybe_null=nulls != 0,
        maybe_nan=nans != 0,
        lower=_bound(entries.bounds.get((Metric.LOWER, column.id)), rows, column.type),
        upper=_bound(entries.bounds.get((Metric.UPPER, column.id)), rows, column.type),
    )


def _counts(entries: Entries, rows: Longs, metric: Metric, column_id: int) -> Longs:
    found = entries.counts.get((metric, column_id))
    return np.full(len(rows), ABSENT) if found is None else found[rows]


def _bound(texts: Texts | None, rows: Longs, of: Type) -> Keys:
    if texts is None:
        return ranges.keys_of([None] * len(rows), of)
    if isinstance(of, Primitive) and of.name in _DTYPES:
        return _fixed(texts, rows, _DTYPES[of.name])
    buffer, start, length = texts.buffer, texts.start[rows].tolist(), texts.length[rows].tolist()
    cut = (None if size < 0 else buffer[at : at + size].tobytes() for at, size in zip(start, length, strict=True))
    return _decoded(cut, of)


def _fixed(texts: Texts, rows: Longs, dtypes: Mapping[int, str]) -> Keys:
    """Bounds of a fixed width, read all at once; those of another width are not known."""
    start, length = texts.start[rows], texts.length[rows]
    values, known = np.zeros(len(rows), np.int64), np.zeros(len(rows), bool)
    for width, dtype in dtypes.items():
        own = np.flatnonzero(length == width)
        if not len(own):
            continue
        cut = texts.buffer[start[own, None] + np.arange(width)]
        numbers = np.ascontiguousarray(cut).view(dtype).reshape(-1)
        known[own] = ~np.isnan(numbers) if numbers.dtype.kind == "f" else True
        values[own] = _total_order(numbers.astype(np.float64)) if numbers.dtype.kind == "f" else numbers
    return Keys(values, known)


def _total_order(numbers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Longs:
    bits = numbers.view(np.int64)
    return np.where(bits < 0, bits ^ _SIGN, bits)


def _decoded(bounds: Iterable[bytes | None], of: Type) -> Keys:
    met: dict[bytes, Key | None] = {}
    keys = []
    for bound in bounds:
        if bound is not None and bound not in met:
            met[bound] = _key(bound, of)
        keys.append(None if bound is None else met[bound])
    return ranges.keys_of(keys, of)


def _key(bound: bytes, of: Type) -> Key | None:
    match of:
        case Primitive("string" | "binary") | Fixed():
            return bound  # in order as it is; of strings too, and wherever a writer cut them
        case Decimal():
            return int.from_bytes(bound, "big", signed=True) if bound else None
        case _:
            value = decode(bound, of)
            return None if value is None else order_key(value, of)
