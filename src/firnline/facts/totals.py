"""The folds of a table's data manifests put together: by partition, by spec, and whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.core.layout import PartitionSpec
from firnline.facts.entries import Longs
from firnline.facts.folding import EDGES, Fold, Group
from firnline.facts.lines import Format, ManifestLine
from firnline.facts.partitions import Numbering
from firnline.facts.values import PartitionKey, SizeBin, Sizes, Thresholds

_SUMMED = (
    Group.FILES, Group.BYTES, Group.ROWS, Group.SMALL_FILES, Group.SMALL_BYTES, Group.LARGE_FILES, Group.LARGE_BYTES,
)  # fmt: skip


_TARGET_MAX = 1 << 62  # a property may say any number


@dataclass(frozen=True, slots=True)
class Totals:
    """Live data files by partition: a row of `sums` per partition, its columns as in `Group`, without the first.

    `commits` has partition, sequence number and snapshot of the newest commits, in order of partition. Files without a
    size or a count of rows are in `unsized` and `uncounted`, and in no sum of those.
    """

    keys: tuple[PartitionKey, ...]
    sums: Longs
    removable: Longs
    commits: Longs
    sizes: Sizes
    formats: Mapping[str, int]
    orders: Mapping[int, int]
    unsized: int
    uncounted: int
    tombstones: int
    entries: int

    def column(self, of: int) -> Longs:
        """One number of every partition."""
        found: Longs = self.sums[:, of - 1]
        return found

    def whole(self, of: int) -> int:
        """The sum over all partitions."""
        return int(self.column(of).sum())


def totals(
    lines: Sequence[ManifestLine], folds: Mapping[int, Fold], specs: Mapping[int, PartitionSpec], sizes: Thresholds
) -> Totals:
    """Cost: a few microseconds for each partition of each manifest, then numpy."""
    numbering = Numbering(specs)
    groups: list[Longs] = [np.zeros((0, Group.WIDTH), np.int64)]
    commits: list[Longs] = [np.zeros((0, 3), np.int64)]
    for at, fold in folds.items():
        numbers = numbering.of(lines[at].spec_id, fold.partitions)
        groups.append(_renumbered(fold.groups, numbers))
        commits.append(_renumbered(fold.commits, numbers))
    sums = _summed(np.concatenate(groups), len(numbering.numbers))
    live = sums[:, Group.FILES - 1] > 0  # a partition whose files were all removed again is none
    kept = np.flatnonzero(live)
    keys = tuple(numbering.numbers)
    small, small_bytes = sums[kept, Group.SMALL_FILES - 1], sums[kept, Group.SMALL_BYTES - 1]
    target = min(max(1, sizes.target), _TARGET_MAX)
    return Totals(
        keys=tuple(keys[at] for at in kept.tolist()),
        sums=sums[kept],
        removable=np.maximum(0, small - np.maximum(1, -(-small_bytes // target))),
        commits=_of_kept(np.concatenate(commits), kept, len(keys)),
        sizes=_sizes([fold for fold in folds.values() if len(fold.sizes)]),
        formats={Format(key).name.lower(): count for key, count in _counts(folds, "formats").items()},
        orders=_counts(folds, "orders"),
        unsized=sum(fold.unsized for fold in folds.values()),
        uncounted=sum(fold.uncounted for fold in folds.values()),
        tombstones=sum(fold.tombstones for fold in folds.values()),
        entries=sum(fold.entries for fold in folds.values()),
    )


def _renumbered(columns: Longs, numbers: Longs) -> Longs:
    moved = columns.copy()
    if len(moved):
        moved[:, 0] = numbers[columns[:, 0]]
    return moved


def _summed(groups: Longs, count: int) -> Longs:
    sums = np.zeros((count, Group.WIDTH - 1), np.int64)
    sums[:, Group.SEQUENCE_MIN - 1] = np.iinfo(np.int64).max
    at = groups[:, Group.PARTITION]
    for column in _SUMMED:
        np.add.at(sums[:, column - 1], at, groups[:, column])
    np.minimum.at(sums[:, Group.SEQUENCE_MIN - 1], at, groups[:, Group.SEQUENCE_MIN])
    np.maximum.at(sums[:, Group.SEQUENCE_MAX - 1], at, groups[:, Group.SEQUENCE_MAX])
    return sums


def _of_kept(commits: Longs, kept: Longs, count: int) -> Longs:
    number = np.full(count, -1, np.int64)
    number[kept] = np.arange(len(kept))
    moved = _renumbered(commits, number)
    moved = moved[moved[:, 0] >= 0]
    ordered: Longs = moved[np.lexsort((-moved[:, 1], moved[:, 0]))]
    return ordered


def _counts(folds: Mapping[int, Fold], name: str) -> dict[int, int]:
    counts: dict[int, int] = {}
    for fold in folds.values():
        for key, count in getattr(fold, name).tolist():
            counts[key] = counts.get(key, 0) + count
    return dict(sorted(counts.items()))


def _sizes(folds: Sequence[Fold]) -> Sizes:
    files: dict[int, int] = {}
    stored: dict[int, int] = {}
    for fold in folds:
        for number, count, size in fold.sizes.tolist():
            files[number] = files.get(number, 0) + count
            stored[number] = stored.get(number, 0) + size
    edges = EDGES.tolist()
    bins = tuple(SizeBin(edges[at], edges[at + 1], files[at], stored[at]) for at in sorted(files))
    return Sizes(bins, min((fold.least for fold in folds), default=0), max((fold.most for fold in folds), default=0))
