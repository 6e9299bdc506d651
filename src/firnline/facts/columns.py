"""What manifests tell of chosen columns: in how many files there are counts and bounds, and how far files overlap.

Reads every data manifest with the metrics of these columns, and holds 40 bytes per file. Asked for one table at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firnline.core.errors import Failed
from firnline.core.figures import UNKNOWN, Figure, exactly
from firnline.core.types import Decimal, Field, Fixed, Path, Primitive, Type, show_path, walk
from firnline.facts.entries import ABSENT, Entries, Longs, Texts, Truths
from firnline.facts.lines import Metric, Status, Wanted
from firnline.facts.meta import TableMeta
from firnline.facts.partitions import Numbering, PartitionKeys
from firnline.facts.ports import Manifests
from firnline.facts.reading import head_of
from firnline.facts.values import ColumnFacts

Words = NDArray[np.uint64]

_WHOLE = frozenset({"int", "date", "long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_TOP = np.uint64(1 << 63)


@dataclass(slots=True)
class _Tally:
    """One column, as its files are met."""

    path: Path
    field: Field
    files: int = 0
    with_counts: int = 0
    with_bounds: int = 0


def columns(
    meta: TableMeta, manifests: Manifests, ids: Sequence[int], *, depth_of: int | None = None
) -> tuple[ColumnFacts, ...]:
    """These columns, in the order asked for; unknown ids are left out. `depth_of` one of them, overlap is measured."""
    known = {field.id: (path, field) for path, field in walk(meta.schema.struct)}
    tallies = {
        one: _Tally(*known[one]) for one in dict.fromkeys((*ids, *([depth_of] if depth_of else []))) if one in known
    }
    lines, damage = head_of(manifests, meta)
    if damage:
        raise Failed(damage[0].reason)
    data = [line for line in lines if line.content == "data"]
    metrics = (Metric.NULLS, Metric.VALUES, Metric.LOWER, Metric.UPPER)
    wanted = Wanted(frozenset((metric, one) for metric in metrics for one in tallies))
    numbering = Numbering({spec.spec_id or 0: spec for spec in meta.specs})
    spans: list[tuple[Longs, Words, Words]] = []
    for entries in manifests.entries(data, wanted) if tallies else ():
        live = entries.status != Status.DELETED
        for one, tally in tallies.items():
            _count(tally, entries, one, live)
        if depth_of in tallies:
            spans.append(
                _spans(
                    entries, depth_of, tallies[depth_of].field.type, live, numbering, [line.spec_id for line in data]
                )
            )
    return tuple(
        _facts(tally, _depth(spans, tally.field.type) if one == depth_of else UNKNOWN) for one, tally in tallies.items()
    )


def _facts(tally: _Tally, depth: Figure) -> ColumnFacts:
    assert tally.field.id is not None
    name = show_path(tally.path)
    return ColumnFacts(tally.field.id, name, tally.files, tally.with_counts, tally.with_bounds, depth)


def _count(tally: _Tally, entries: Entries, one: int, live: Truths) -> None:
    counted = (entries.counts[Metric.NULLS, one] != ABSENT) & (entries.counts[Metric.VALUES, one] != ABSENT)
    tally.files += int(live.sum())
    tally.with_counts += int((live & counted).sum())
    tally.with_bounds += int((live & _bounded(entries, one)).sum())


def _bounded(entries: Entries, one: int) -> Truths:
    lower, upper = entries.bounds[Metric.LOWER, one], entries.bounds[Metric.UPPER, one]
    found: Truths = (lower.length >= 0) & (upper.length >= 0)
    return found


def _spans(
    entries: Entries, one: int, of: Type, live: Truths, numbering: Numbering, specs: Sequence[int | None]
) -> tuple[Longs, Words, Words]:
    """Partition, lower and upper of every live file that has bounds, as words in order."""
    rows = np.flatnonzero(live & _bounded(entries, one))
    keys = PartitionKeys.of(entries)
    partition = np.zeros(len(rows), np.int64)
    for number in np.unique(entries.manifest[rows]).tolist():
        own = entries.manifest[rows] == number
        partition[own] = numbering.of(specs[number], keys.values)[keys.of_row[rows[own]]]
    lower, upper = (_words(entries.bounds[metric, one], rows, of) for metric in (Metric.LOWER, Metric.UPPER))
    return partition, lower, upper


def _words(texts: Texts, rows: Longs, of: Type) -> Words:
    """Bounds as 64-bit words in the order of the type; text and long decimals by their first eight bytes."""
    start, length = texts.start[rows], texts.length[rows]
    offset = np.arange(8)
    inside = offset < length[:, None]
    data = np.where(inside, texts.buffer[np.where(inside, start[:, None] + offset, 0)], 0).astype(np.uint64)
    if isinstance(of, Primitive) and of.name in {*_WHOLE, "float", "double"}:
        little = (data << (np.uint64(8) * offset.astype(np.uint64))).sum(axis=1, dtype=np.uint64)
        return _whole(little, length) if of.name in _WHOLE else _floating(little, length)
    if isinstance(of, Decimal):
        return _decimal(data, length)
    shift = np.uint64(8) * (7 - offset).astype(np.uint64)
    found: Words = (data << shift).sum(axis=1, dtype=np.uint64)
    return found


def _whole(little: Words, length: Longs) -> Words:
    short = little.astype(np.uint32).view(np.int32).astype(np.int64)
    number = np.where(length == 4, short, little.view(np.int64))
    found: Words = number.view(np.uint64) ^ _TOP
    return found


def _floating(little: Words, length: Longs) -> Words:
    with np.errstate(invalid="ignore"):  # half of a double may look like a signalling NaN; it is not taken
        single = little.astype(np.uint32).view(np.float32).astype(np.float64)
    bits = np.where(length == 4, single, little.view(np.float64)).view(np.uint64)
    found: Words = np.where(bits & _TOP, ~bits, bits | _TOP)
    return found


def _decimal(data: Words, length: Longs) -> Words:
    """Big-endian two's complement of up to eight bytes; longer ones are cut, which `_exact` says."""
    size = np.minimum(length, 8)
    shift = np.uint64(8) * np.maximum(0, size[:, None] - 1 - np.arange(8)).astype(np.uint64)
    used = np.arange(8) < size[:, None]
    number = np.where(used, data << shift, 0).sum(axis=1, dtype=np.uint64)
    spare = (np.uint64(8) * (8 - size).astype(np.uint64)).astype(np.uint64)
    signed = (number << spare).view(np.int64) >> spare.view(np.int64)
    found: Words = signed.view(np.uint64) ^ _TOP
    return found


def _exact(of: Type) -> bool:
    match of:
        case Primitive(name):
            return name in _WHOLE or name in {"float", "double", "boolean"}
        case Decimal(precision):
            return precision <= 18
        case Fixed(length):
            return length <= 8
        case _:
            return False


def _depth(spans: Sequence[tuple[Longs, Words, Words]], of: Type) -> Figure:
    """Over all files, how many files of the same partition each overlaps, itself too: in hundredths."""
    if not spans or (isinstance(of, Decimal) and of.precision > 18):
        return UNKNOWN
    partition, lower, upper = (np.concatenate(columns) for columns in zip(*spans, strict=True))
    if not len(partition):
        return UNKNOWN
    order = np.argsort(partition, kind="stable")
    cuts = np.flatnonzero(np.diff(partition[order])) + 1
    overlaps = sum(_overlaps(lower[own], upper[own]) for own in np.split(order, cuts))
    hundredths = round(100 * overlaps / len(partition))
    return exactly(hundredths) if _exact(of) else Figure(100, max(100, hundredths))


def _overlaps(lower: Words, upper: Words) -> int:
    if len(lower) == 1:
        return 1
    before = np.searchsorted(np.sort(upper), lower, side="left")  # end before it begins
    after = len(lower) - np.searchsorted(np.sort(lower), upper, side="right")  # begin after it ends
    return int((len(lower) - before - after).sum())
