"""Entries folded: what a manifest holds, by partition, so small that a million files fit into a few megabytes.

A fold depends on its manifest and on the size thresholds alone, so it is kept (`facts.ports.Cache`) and made once.
Cost: a few numpy passes over each batch, plus some microseconds of Python for each partition of each manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.core.types import Json
from firnline.facts.entries import Entries, Longs, Truths
from firnline.facts.lines import Status
from firnline.facts.packing import Packed, pack, unpack
from firnline.facts.partitions import PartitionId, PartitionKeys, from_json, to_json
from firnline.facts.values import Thresholds

NUMBER_MAX = 1 << 48  # bytes or rows of one file: more is damage, and the sum of it might overflow
COMMITS_KEPT_MAX = 16  # per partition: enough for a median gap
COMMITS_UNORDERED_MAX = 4096  # format 1 numbers no commits, so which are the newest only the metadata tells

# Edges of the size bins: a quarter of a doubling apart, from one byte to four exbibytes.
EDGES: Longs = np.unique(np.array([0, *(int(np.ceil(2 ** (step / 4))) for step in range(248))], np.int64))


class Group:
    """The columns of `Fold.groups`, and how many there are."""

    PARTITION = 0
    FILES = 1
    BYTES = 2
    ROWS = 3
    SMALL_FILES = 4
    SMALL_BYTES = 5
    LARGE_FILES = 6
    LARGE_BYTES = 7
    SEQUENCE_MIN = 8
    SEQUENCE_MAX = 9
    WIDTH = 10


@dataclass(frozen=True, slots=True)
class Fold:
    """The live data files of one manifest, by partition.

    `groups` has a row for each partition met (a partition may be met more than once), `commits` a row for each commit
    that added files to one: partition, sequence number, snapshot. `sizes`, `formats` and `orders` count files: bin,
    files, bytes; format, files; sort order, files. Of `unsized` files nobody told the size, of `uncounted` ones the
    rows: they add nothing to sums, and are neither small nor large.
    """

    partitions: tuple[PartitionId, ...]
    groups: Longs
    commits: Longs
    sizes: Longs
    formats: Longs
    orders: Longs
    least: int
    most: int
    unsized: int
    uncounted: int
    tombstones: int
    entries: int


def fold(entries: Entries, thresholds: Thresholds) -> Iterator[tuple[int, Fold]]:
    """The folds of a batch by manifest. A manifest spread over several batches has several; `merged` joins them."""
    keys = PartitionKeys.of(entries)
    for number, rows in by_manifest(entries):
        yield number, _fold(entries, rows, keys, thresholds)


def by_manifest(entries: Entries) -> Iterator[tuple[int, Longs]]:
    """The rows of each manifest of a batch."""
    order = np.argsort(entries.manifest, kind="stable")
    numbers, starts = np.unique(entries.manifest[order], return_index=True)
    yield from zip(numbers.tolist(), np.split(order, starts[1:]), strict=False)


def told(numbers: Longs) -> Truths:
    """Which of these sizes or counts say something. Writers leave them out, and damage makes them absurd."""
    found: Truths = (numbers >= 0) & (numbers <= NUMBER_MAX)
    return found


def _fold(entries: Entries, rows: Longs, keys: PartitionKeys, thresholds: Thresholds) -> Fold:
    live = rows[entries.status[rows] != Status.DELETED]
    met, partition = np.unique(keys.of_row[live], return_inverse=True)
    sized, counted = told(entries.size[live]), told(entries.records[live])
    size, known = np.where(sized, entries.size[live], 0), entries.size[live][sized]
    records = np.where(counted, entries.records[live], 0)
    small, large = sized & (size < thresholds.small_below), size > thresholds.large_above
    return Fold(
        partitions=tuple(keys.values[each] for each in met.tolist()),
        groups=_groups(partition, size, records, entries.sequence[live], small, large),
        commits=_commits(partition, np.maximum(entries.file_sequence[live], 0), entries.snapshot[live]),
        sizes=_counted(np.searchsorted(EDGES, known, side="right") - 1, known),
        formats=_counted(entries.format[live]),
        orders=_counted(np.maximum(entries.sort_order[live], 0)),  # none is order 0: unsorted
        least=int(known.min()) if len(known) else 0,
        most=int(known.max()) if len(known) else 0,
        unsized=len(live) - len(known),
        uncounted=int((~counted).sum()),
        tombstones=len(rows) - len(live),
        entries=len(rows),
    )


def _groups(partition: Longs, size: Longs, records: Longs, sequence: Longs, small: Truths, large: Truths) -> Longs:
    order = np.argsort(partition, kind="stable")
    numbers, starts = np.unique(partition[order], return_index=True)
    if not len(numbers):
        return np.zeros((0, Group.WIDTH), np.int64)
    ones = np.ones(len(size), np.int64)
    summed = (
        ones, size, records, small.astype(np.int64), np.where(small, size, 0), large.astype(np.int64),
        np.where(large, size, 0),
    )  # fmt: skip
    columns = [numbers, *(np.add.reduceat(each[order], starts) for each in summed)]
    columns += [np.minimum.reduceat(sequence[order], starts), np.maximum.reduceat(sequence[order], starts)]
    return np.stack(columns, axis=1).astype(np.int64)


def _commits(partition: Longs, sequence: Longs, snapshot: Longs) -> Longs:
    """The newest commits of each partition, by sequence number."""
    if not len(partition):
        return np.zeros((0, 3), np.int64)
    order = np.lexsort((snapshot, -sequence, partition))
    triples = np.stack((partition, sequence, snapshot), axis=1)[order]
    new = np.ones(len(triples), bool)
    new[1:] = (triples[1:] != triples[:-1]).any(axis=1)
    triples = triples[new]
    kept = COMMITS_KEPT_MAX if sequence.any() else COMMITS_UNORDERED_MAX
    return triples[_position(triples[:, 0]) < kept]


def _position(grouped: Longs) -> Longs:
    """Of each row its number within its group; groups lie together."""
    starts = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
    lengths = np.diff(np.append(starts, len(grouped)))
    return np.arange(len(grouped)) - np.repeat(starts, lengths)


def _counted(of: Longs, summed: Longs | None = None) -> Longs:
    values, inverse, counts = np.unique(of, return_inverse=True, return_counts=True)
    columns = [values, counts]
    if summed is not None:
        sums = np.zeros(len(values), np.int64)
        np.add.at(sums, inverse.reshape(-1), summed)
        columns.append(sums)
    return np.stack(columns, axis=1).astype(np.int64)


def merged(parts: Sequence[Fold]) -> Fold:
    """One fold of several parts of a manifest."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.partitions) for part in parts)]).tolist()
    full = [part for part in parts if len(part.sizes)]
    return Fold(
        partitions=tuple(each for part in parts for each in part.partitions),
        groups=np.concatenate([_shifted(part.groups, by) for part, by in zip(parts, offsets, strict=False)]),
        commits=np.concatenate([_shifted(part.commits, by) for part, by in zip(parts, offsets, strict=False)]),
        sizes=np.concatenate([part.sizes for part in parts]),
        formats=np.concatenate([part.formats for part in parts]),
        orders=np.concatenate([part.orders for part in parts]),
        least=min((part.least for part in full), default=0),
        most=max((part.most for part in full), default=0),
        unsized=sum(part.unsized for part in parts),
        uncounted=sum(part.uncounted for part in parts),
        tombstones=sum(part.tombstones for part in parts),
        entries=sum(part.entries for part in parts),
    )


def _shifted(columns: Longs, by: int) -> Longs:
    moved = columns.copy()
    moved[:, 0] += by
    return moved


def to_bytes(of: Fold) -> bytes:
    """The fold for the cache."""
    values: dict[str, Json] = {
        "partitions": to_json(of.partitions),
        "numbers": [of.least, of.most, of.unsized, of.uncounted, of.tombstones, of.entries],
    }
    return pack(Packed(values, {name: getattr(of, name) for name in _COLUMNS}))


_COLUMNS: Mapping[str, int] = {"groups": Group.WIDTH, "commits": 3, "sizes": 3, "formats": 2, "orders": 2}


def from_bytes(data: bytes) -> Fold | None:
    """The fold of these bytes; None for what is not one."""
    packed = unpack(data)
    if packed is None or any(packed.columns[name].shape[1:] != (width,) for name, width in _COLUMNS.items()):
        return None
    partitions = from_json(packed.values["partitions"])
    least, most, unsized, uncounted, tombstones, entries = packed.values["numbers"]
    groups, commits, sizes, formats, orders = (packed.columns[name] for name in _COLUMNS)
    return Fold(
        partitions, groups, commits, sizes, formats, orders, least, most, unsized, uncounted, tombstones, entries
    )
