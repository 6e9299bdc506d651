"""Deletes and what they touch. Needed only for tables that have some: one row of numbers per delete, and one per data
file in a partition with deletes, 40 and 32 bytes. What a manifest gives is kept like a fold.

Which file a delete applies to is decided as the specification says: by path, by partition, or anywhere, and by sequence
number. Equality deletes are not held against the bounds of files here, so what they touch is bounded from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.facts.entries import ABSENT, Entries, Longs, Texts, Truths
from firnline.facts.folding import by_manifest, told
from firnline.facts.hashing import hash128
from firnline.facts.lines import DELETE_PATH_ID, Content, Format, Metric, Status, Wanted
from firnline.facts.packing import Packed, pack, unpack
from firnline.facts.partitions import PartitionId, PartitionKeys, from_json, to_json
from firnline.facts.values import DeleteKind

# Bounds of the path column tell which file a position delete file is about, where its writer did not say it outright.
WANTED = Wanted(frozenset({(Metric.LOWER, DELETE_PATH_ID), (Metric.UPPER, DELETE_PATH_ID)}))

KINDS = (DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES, DeleteKind.EQUALITY, DeleteKind.VECTOR)
POSITION_FILE, POSITION_FILES, EQUALITY, VECTOR = range(4)


class Delete:
    """The columns of `Deletes.rows`, and how many there are. Of a million paths two share a hash once in 10^7.

    Sizes and counts that nobody told are -1, in `Targets.rows` too.
    """

    PARTITION = 0
    KIND = 1
    SEQUENCE = 2
    BYTES = 3
    RECORDS = 4
    TARGET = 5  # hash of the one data file it is about
    CONTAINER = 6  # hash of the file it lies in
    WIDTH = 7


class Target:
    """The columns of `Targets.rows`, and how many there are."""

    PARTITION = 0
    PATH = 1
    SEQUENCE = 2
    BYTES = 3
    WIDTH = 4


@dataclass(frozen=True, slots=True)
class Deletes:
    """The live deletes of one manifest."""

    partitions: tuple[PartitionId, ...]
    rows: Longs
    tombstones: int
    entries: int


@dataclass(frozen=True, slots=True)
class Targets:
    """The live data files of one manifest, as deletes find them."""

    partitions: tuple[PartitionId, ...]
    rows: Longs


def deletes(entries: Entries) -> Iterator[tuple[int, Deletes]]:
    """The deletes of a batch by manifest."""
    keys, target, kind = PartitionKeys.of(entries), _target(entries), kinds(entries)
    blob = (kind == VECTOR) & (entries.content_size != ABSENT)
    size = np.where(blob, entries.content_size, entries.size)
    columns = np.stack(
        (
            keys.of_row, kind, entries.sequence, _or_untold(size), _or_untold(entries.records), target,
            hash128(entries.path)[0].view(np.int64),
        ),
        axis=1,
    )  # fmt: skip
    for number, rows in by_manifest(entries):
        own = columns[_live(entries, rows)]
        yield number, Deletes(*_met(keys, own), len(rows) - len(own), len(rows))


def targets(entries: Entries) -> Iterator[tuple[int, Targets]]:
    """The data files of a batch by manifest."""
    keys = PartitionKeys.of(entries)
    path = hash128(entries.path)[0].view(np.int64)
    columns = np.stack((keys.of_row, path, entries.sequence, _or_untold(entries.size)), axis=1)
    for number, rows in by_manifest(entries):
        yield number, Targets(*_met(keys, columns[_live(entries, rows)]))


def _or_untold(numbers: Longs) -> Longs:
    found: Longs = np.where(told(numbers), numbers, -1)
    return found


def _live(entries: Entries, rows: Longs) -> Longs:
    found: Longs = rows[entries.status[rows] != Status.DELETED]
    return found


def _met(keys: PartitionKeys, rows: Longs) -> tuple[tuple[PartitionId, ...], Longs]:
    """The partitions of these rows, and the rows with the places of those: a batch has partitions of many manifests."""
    met, rows[:, 0] = np.unique(rows[:, 0], return_inverse=True)
    return tuple(keys.values[each] for each in met.tolist()), rows


def kinds(entries: Entries) -> Longs:
    """Of each delete its place in KINDS."""
    known = (entries.referenced.length >= 0) | _one_path(entries)
    position = np.where(known, POSITION_FILE, POSITION_FILES)
    position = np.where(entries.format == Format.PUFFIN, VECTOR, position)
    return np.where(entries.content == Content.EQUALITY_DELETES, EQUALITY, position).astype(np.int64)


def _target(entries: Entries) -> Longs:
    said = entries.referenced
    found = hash128(said)[0].view(np.int64)
    lower = entries.bounds.get((Metric.LOWER, DELETE_PATH_ID))
    if lower is None:
        return found
    return np.where(said.length >= 0, found, hash128(lower)[0].view(np.int64))


def _one_path(entries: Entries) -> Truths:
    """Whether the bounds of the path column are one path: writers keep them whole when they are."""
    lower = entries.bounds.get((Metric.LOWER, DELETE_PATH_ID))
    upper = entries.bounds.get((Metric.UPPER, DELETE_PATH_ID))
    if lower is None or upper is None:
        return np.zeros(len(entries), bool)
    there = (lower.length > 0) & (upper.length > 0)
    return there & _equal(lower, upper)


def _equal(one: Texts, other: Texts) -> Truths:
    (high, low), (other_high, other_low) = hash128(one), hash128(other)
    same: Truths = (high == other_high) & (low == other_low) & (one.length == other.length)
    return same


def joined(parts: Sequence[Deletes]) -> Deletes:
    """One of several parts of a manifest."""
    partitions, rows = _concatenated([(part.partitions, part.rows) for part in parts])
    return Deletes(partitions, rows, sum(part.tombstones for part in parts), sum(part.entries for part in parts))


def joined_targets(parts: Sequence[Targets]) -> Targets:
    """One of several parts of a manifest."""
    return Targets(*_concatenated([(part.partitions, part.rows) for part in parts]))


def _concatenated(parts: Sequence[tuple[tuple[PartitionId, ...], Longs]]) -> tuple[tuple[PartitionId, ...], Longs]:
    partitions: tuple[PartitionId, ...] = ()
    moved: list[Longs] = []
    for own, rows in parts:
        shifted = rows.copy()
        shifted[:, 0] += len(partitions)  # the partition is the first column of both
        moved.append(shifted)
        partitions += own
    return partitions, np.concatenate(moved)


def to_bytes(of: Deletes) -> bytes:
    """Deletes for the cache."""
    values = {"partitions": to_json(of.partitions), "numbers": [of.tombstones, of.entries]}
    return pack(Packed(values, {"rows": of.rows}))


def from_bytes(data: bytes) -> Deletes | None:
    """The inverse; None for what is not that."""
    packed = unpack(data)
    if packed is None or packed.columns["rows"].shape[1:] != (Delete.WIDTH,):
        return None
    return Deletes(from_json(packed.values["partitions"]), packed.columns["rows"], *packed.values["numbers"])


def targets_to_bytes(of: Targets) -> bytes:
    """Data files for the cache."""
    return pack(Packed({"partitions": to_json(of.partitions)}, {"rows": of.rows}))


def targets_from_bytes(data: bytes) -> Targets | None:
    """The inverse; None for what is not that."""
    packed = unpack(data)
    if packed is None or packed.columns["rows"].shape[1:] != (Target.WIDTH,):
        return None
    return Targets(from_json(packed.values["partitions"]), packed.columns["rows"])


@dataclass(frozen=True, slots=True)
class Touch:
    """What deletes touch among the data files of `partitions`.

    `surely` are files a position delete or vector applies to; `maybe` those that equality deletes may, by their scope.
    By partition: how many of each. `dangling` says of each delete whether it applies to nothing. Unless `sized`, some
    of the files have no size, and the bytes are those of the others.
    """

    surely: int
    surely_bytes: int
    maybe: int
    maybe_bytes: int
    by_partition: Mapping[int, tuple[int, int]]
    dangling: Truths
    sized: bool


def touch(deletes: Longs, targets: Longs, unscoped: Truths) -> Touch:
    """Hold deletes against data files. Partitions are numbers both share; `unscoped` deletes apply in every one."""
    named = by_path(deletes)
    pathed, pathed_hit = _named(deletes[named], targets)
    sequences = targets[:, Target.SEQUENCE]
    wide = deletes[:, Delete.KIND] == POSITION_FILES
    parted = sequences <= _latest(deletes[wide], targets[:, Target.PARTITION])
    equality = (deletes[:, Delete.KIND] == EQUALITY) & ~unscoped
    maybe = sequences < _latest(deletes[equality], targets[:, Target.PARTITION])
    anywhere = deletes[(deletes[:, Delete.KIND] == EQUALITY) & unscoped]
    if len(anywhere):
        maybe |= sequences < anywhere[:, Delete.SEQUENCE].max()
    surely = pathed | parted
    maybe |= surely
    dangling = _dangling(deletes, targets, wide, unscoped)
    dangling[named] = ~pathed_hit
    size = np.maximum(targets[:, Target.BYTES], 0)
    return Touch(
        int(surely.sum()), int(size[surely].sum()), int(maybe.sum()), int(size[maybe].sum()),
        _per_partition(targets[:, Target.PARTITION], surely, maybe), dangling,
        not (targets[maybe, Target.BYTES] < 0).any(),
    )  # fmt: skip


def by_path(deletes: Longs) -> Truths:
    """Which of these are about one file, which they find by its path."""
    found: Truths = np.isin(deletes[:, Delete.KIND], (POSITION_FILE, VECTOR))
    return found


def _dangling(deletes: Longs, targets: Longs, wide: Truths, unscoped: Truths) -> Truths:
    """Which deletes of whole partitions, or of the whole table, are older than every data file they could apply to."""
    sequence = deletes[:, Delete.SEQUENCE]
    first = int(targets[:, Target.SEQUENCE].min()) if len(targets) else np.iinfo(np.int64).max
    anywhere = unscoped & (deletes[:, Delete.KIND] == EQUALITY)
    earliest = np.where(anywhere, first, _earliest(targets, deletes[:, Delete.PARTITION]))
    found: Truths = np.where(wide, earliest > sequence, earliest >= sequence)
    return found


def _named(deletes: Longs, targets: Longs) -> tuple[Truths, Truths]:
    """Which data files are named by a delete not older than they are, and which deletes name such a file."""
    order = np.argsort(targets[:, Target.PATH], kind="stable")
    paths = targets[order, Target.PATH]
    place = np.searchsorted(paths, deletes[:, Delete.TARGET])
    there = np.zeros(len(deletes), bool)
    inside = place < len(paths)
    there[inside] = paths[place[inside]] == deletes[inside, Delete.TARGET]
    there[there] = targets[order[place[there]], Target.SEQUENCE] <= deletes[there, Delete.SEQUENCE]
    touched = np.zeros(len(targets), bool)
    touched[order[place[there]]] = True
    return touched, there


def _latest(deletes: Longs, partitions: Longs) -> Longs:
    """For each partition asked for, the highest sequence number of a delete in it; below any where there is none."""
    latest = np.full(_width(deletes[:, Delete.PARTITION], partitions), np.iinfo(np.int64).min, np.int64)
    np.maximum.at(latest, deletes[:, Delete.PARTITION], deletes[:, Delete.SEQUENCE])
    return latest[partitions]


def _earliest(targets: Longs, partitions: Longs) -> Longs:
    earliest = np.full(_width(targets[:, Target.PARTITION], partitions), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(earliest, targets[:, Target.PARTITION], targets[:, Target.SEQUENCE])
    return earliest[partitions]


def _width(*numbers: Longs) -> int:
    return 1 + max((int(each.max()) for each in numbers if len(each)), default=-1)


def _per_partition(partitions: Longs, surely: Truths, maybe: Truths) -> dict[int, tuple[int, int]]:
    met, inverse = np.unique(partitions[maybe], return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), minlength=len(met))
    certain = np.bincount(inverse.reshape(-1), weights=surely[maybe], minlength=len(met)).astype(np.int64)
    return {int(met[at]): (int(certain[at]), int(counts[at])) for at in range(len(met))}
