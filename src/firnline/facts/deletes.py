"""The deletes of a table put together: by kind, by partition, what they touch and what dangles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from firnline.core.figures import NONE, UNKNOWN, Figure, at_most, exactly
from firnline.core.layout import PartitionSpec
from firnline.facts import deletions
from firnline.facts.deletions import Delete, Deletes, Target, Targets
from firnline.facts.entries import Longs, Truths
from firnline.facts.gathering import Harvest, gather
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import TableMeta
from firnline.facts.partitions import Numbering
from firnline.facts.ports import Cache, Manifests
from firnline.facts.values import Damage, DeleteFacts, DeleteKind, PartitionKey

_DELETES = Harvest(
    "deletes", deletions.deletes, deletions.joined, deletions.to_bytes, deletions.from_bytes, deletions.WANTED
)
_TARGETS = Harvest(
    "targets", deletions.targets, deletions.joined_targets, deletions.targets_to_bytes, deletions.targets_from_bytes
)


_NO_DELETES = DeleteFacts()
_UNKNOWN_DELETES = DeleteFacts(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)


@dataclass(frozen=True, slots=True)
class PartitionDeletes:
    """The deletes of one partition."""

    files: int = 0
    bytes: int = 0
    rows: int = 0
    touched: Figure = NONE


@dataclass(frozen=True, slots=True)
class DeleteLook:
    """What is known of a table's deletes."""

    by_kind: Mapping[DeleteKind, DeleteFacts] = field(default_factory=dict)
    dangling: DeleteFacts = _NO_DELETES
    touched: Figure = NONE
    touched_bytes: Figure = NONE
    partitions: Mapping[PartitionKey, PartitionDeletes] = field(default_factory=dict)
    tombstones: int = 0
    entries: int = 0
    damage: tuple[Damage, ...] = ()

    def in_partition(self, key: PartitionKey) -> PartitionDeletes:
        """Those of one partition."""
        return self.partitions.get(key, PartitionDeletes())


# Any kind may be among deletes that nobody could read.
_UNKNOWN_KINDS = dict.fromkeys(DeleteKind, _UNKNOWN_DELETES)
NOTHING_KNOWN = DeleteLook(by_kind=_UNKNOWN_KINDS, dangling=_UNKNOWN_DELETES, touched=UNKNOWN, touched_bytes=UNKNOWN)


def look_at_deletes(manifests: Manifests, cache: Cache, meta: TableMeta, lines: Sequence[ManifestLine]) -> DeleteLook:
    """Delete manifests are read; data manifests again only when there are deletes, for what these can touch."""
    own = [line for line in lines if line.content == "deletes"]
    gathered = gather(manifests, cache, own, _DELETES)
    numbering = Numbering({spec.spec_id or 0: spec for spec in meta.specs})
    rows = _numbered(numbering, own, gathered.values)
    counted = DeleteLook(
        tombstones=sum(each.tombstones for each in gathered.values.values()),
        entries=sum(each.entries for each in gathered.values.values()),
        damage=gathered.damage,
    )
    if not len(rows):
        known = NOTHING_KNOWN if gathered.damage else counted
        return replace(known, tombstones=counted.tombstones, entries=counted.entries, damage=counted.damage)
    unscoped = _unscoped(rows, numbering)
    data = [line for line in lines if line.content == "data"]
    found = gather(manifests, cache, data, _TARGETS)
    targets = _numbered(numbering, data, found.values)
    if not (unscoped & (rows[:, Delete.KIND] == deletions.EQUALITY)).any():
        # Deletes of one file find it by its path alone, as Iceberg's planner does.
        named = np.isin(targets[:, Target.PATH], rows[deletions.by_path(rows), Delete.TARGET])
        targets = targets[named | np.isin(targets[:, Target.PARTITION], rows[:, Delete.PARTITION])]
    touch = deletions.touch(rows, targets, unscoped)
    ages = _Ages.of(meta)
    keys = tuple(numbering.numbers)
    complete = not (gathered.damage or found.damage)
    return replace(
        counted,
        damage=(*gathered.damage, *found.damage),
        by_kind=_by_kind(rows, unscoped, ages, complete=not gathered.damage),
        dangling=_dangling(rows[touch.dangling], ages, deletes=bool(gathered.damage), data=bool(found.damage)),
        touched=_between(touch.surely, touch.maybe, complete=complete),
        touched_bytes=_between(touch.surely_bytes, touch.maybe_bytes, complete=complete and touch.sized),
        partitions=_by_partition(rows, keys, touch.by_partition),
    )


def _between(low: int, high: int, *, complete: bool) -> Figure:
    return Figure(low, high if complete else None)


def _numbered(
    numbering: Numbering, lines: Sequence[ManifestLine], found: Mapping[int, Deletes] | Mapping[int, Targets]
) -> Longs:
    """The rows of all manifests, partitions by the table's numbers."""
    all_rows: list[Longs] = []
    for at, each in found.items():
        rows = each.rows.copy()
        if len(rows):
            rows[:, 0] = numbering.of(lines[at].spec_id, each.partitions)[each.rows[:, 0]]
            all_rows.append(rows)
    return np.concatenate(all_rows) if all_rows else np.zeros((0, Delete.WIDTH), np.int64)


def _unscoped(rows: Longs, numbering: Numbering) -> Truths:
    """Which deletes lie under a spec without partitions: equality deletes there apply to the whole table."""
    specs = numbering.specs
    none = np.array([_unpartitioned(specs.get(spec)) for spec, _ in numbering.numbers], bool)
    found: Truths = none[rows[:, Delete.PARTITION]]
    return found


def _unpartitioned(spec: PartitionSpec | None) -> bool:
    return spec is not None and all(each.transform == "void" for each in spec.fields)


def _by_kind(rows: Longs, unscoped: Truths, ages: _Ages, *, complete: bool) -> dict[DeleteKind, DeleteFacts]:
    found = {} if complete else dict(_UNKNOWN_KINDS)
    for number, kind in enumerate(deletions.KINDS):
        own = rows[:, Delete.KIND] == number
        anywhere = own & unscoped & (number == deletions.EQUALITY)
        if (own & ~anywhere).any():
            found[kind] = _facts(rows[own & ~anywhere], ages, complete=complete)
        if anywhere.any():
            found[DeleteKind.GLOBAL_EQUALITY] = _facts(rows[anywhere], ages, complete=complete)
    return found


def _facts(rows: Longs, ages: _Ages, *, complete: bool) -> DeleteFacts:
    if not len(rows):
        return _NO_DELETES if complete else _UNKNOWN_DELETES
    oldest = int(rows[:, Delete.SEQUENCE].min())
    ones, containers = np.ones(len(rows), np.int64), np.ones(len(np.unique(rows[:, Delete.CONTAINER])), np.int64)
    columns = (ones, rows[:, Delete.BYTES], rows[:, Delete.RECORDS], containers)
    files, size, records, within = (_sum(column, complete=complete) for column in columns)
    return DeleteFacts(files, size, records, within, oldest, ages.at(oldest))


def _sum(column: Longs, *, complete: bool) -> Figure:
    """The sum; what nobody told is not in it."""
    known = int(np.maximum(column, 0).sum())
    return Figure(known, known if complete and not (column < 0).any() else None)


def _dangling(rows: Longs, ages: _Ages, *, deletes: bool, data: bool) -> DeleteFacts:
    """More may dangle in delete manifests that could not be read; fewer, when data manifests could not."""
    found = _facts(rows, ages, complete=not deletes)
    if not data:
        return found
    files, size, records, containers = (
        Figure(0, each.high) for each in (found.files, found.bytes, found.rows, found.containers)
    )
    return DeleteFacts(files, size, records, containers, found.oldest_sequence, UNKNOWN)


def _by_partition(
    rows: Longs, keys: Sequence[PartitionKey], touched: Mapping[int, tuple[int, int]]
) -> dict[PartitionKey, PartitionDeletes]:
    numbers = np.union1d(rows[:, Delete.PARTITION], np.array(list(touched), np.int64))
    at = np.searchsorted(numbers, rows[:, Delete.PARTITION])
    files = np.bincount(at, minlength=len(numbers))
    size, records = np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.int64)
    np.add.at(size, at, np.maximum(rows[:, Delete.BYTES], 0))
    np.add.at(records, at, np.maximum(rows[:, Delete.RECORDS], 0))
    return {
        keys[number]: PartitionDeletes(
            int(files[place]), int(size[place]), int(records[place]), Figure(*touched.get(number, (0, 0)))
        )
        for place, number in enumerate(numbers.tolist())
    }


@dataclass(frozen=True, slots=True)
class _Ages:
    """When the commit of a sequence number was made."""

    millis: Mapping[int, int]

    @staticmethod
    def of(meta: TableMeta) -> _Ages:
        return _Ages({snapshot.sequence: snapshot.millis for snapshot in meta.snapshots})

    def at(self, sequence: int) -> Figure:
        """Exact while its snapshot is kept; otherwise it was before the first one that is kept after it."""
        if sequence in self.millis:
            return exactly(self.millis[sequence])
        later = [one for one in self.millis if one > sequence]
        return at_most(self.millis[min(later)]) if later else UNKNOWN
