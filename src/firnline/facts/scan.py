"""What a query would open: manifests, data files and deletes, from metadata alone, by the rules of Iceberg's planner.

Manifests are streamed. Where there are deletes, 56 bytes are held for each that the filter leaves and 32 for each data
file left in a partition with deletes (in any, when some deletes apply to the whole table); nothing else grows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from firnline.core.errors import Failed
from firnline.core.figures import NONE, UNKNOWN, Figure, at_most, exactly, total
from firnline.core.ids import SnapshotId
from firnline.facts import deletions
from firnline.facts.deletions import Delete, Target
from firnline.facts.entries import Entries, Longs, Truths
from firnline.facts.gets import Reader
from firnline.facts.hashing import hash128
from firnline.facts.lines import ManifestLine, Status, Wanted
from firnline.facts.meta import Schema, Snapshot, TableMeta
from firnline.facts.partitions import Numbering, PartitionKeys
from firnline.facts.ports import Manifests
from firnline.facts.predicates import Column, Predicate, reasons
from firnline.facts.pruning import Sieve
from firnline.facts.reading import head_of, lines_of

_ASSUMED = (
    "The metadata file, the manifest list, each manifest opened and each delete file are 1 request each.",
    "Nothing is cached, and no request is repeated.",
)
_BY_SCOPE = "Equality deletes count where their partition has a data file; bounds of their columns may spare some."


@dataclass(frozen=True, slots=True)
class Portion:
    """Some files, and their bytes as stored."""

    count: Figure = NONE
    bytes: Figure = NONE


@dataclass(frozen=True, slots=True)
class ScanCost:
    """What a query opens, and what its filter spares it.

    Bytes are those of whole files: a reader that wants few columns takes fewer. `rows` are at most so many, because a
    file is kept for one row that may pass, and deletes take rows away. `unlisted` are the data files in manifests that
    are not opened. `requests` are counted as `assumptions` say.
    """

    snapshot: SnapshotId | None
    manifests: Portion = Portion()
    manifests_skipped: Portion = Portion()
    files: Portion = Portion()
    rows: Figure = NONE
    unlisted: Portion = Portion()
    skipped_by_partition: Portion = Portion()
    skipped_by_metrics: Portion = Portion()
    deletes: Portion = Portion()
    requests: Figure = NONE
    assumptions: tuple[str, ...] = ()


def scan_cost(
    meta: TableMeta,
    manifests: Manifests,
    where: Predicate | None,
    *,
    snapshot: Snapshot | None = None,
    columns: Collection[Column] | None = None,
) -> ScanCost:
    """What a query with this filter opens at a snapshot, the current one unless another is given.

    `columns` are those it reads, None for all; they count for requests only.
    """
    at = snapshot or meta.snapshot
    lines, damage = head_of(manifests, meta) if snapshot is None else lines_of(manifests, at)
    if damage:
        raise Failed(damage[0].reason)
    sieve = None if where is None else Sieve.of(where, meta.specs, meta.schemas)
    reader = Reader.of(meta, schema_at(meta, at), where, columns)
    opened = _opened(lines, sieve)
    chosen = [line for line, is_opened in zip(lines, opened, strict=True) if is_opened]
    skipped = [line for line, is_opened in zip(lines, opened, strict=True) if not is_opened]
    scan = _Scan(manifests, sieve, reader, Numbering({spec.spec_id or 0: spec for spec in meta.specs}))
    scan.meet_deletes([line for line in chosen if line.content == "deletes"])
    scan.meet_data([line for line in chosen if line.content == "data"])
    deletes = scan.attached()
    listed = at is not None and at.manifest_list is not None
    notes = (*_ASSUMED, *reader.assumptions, *(() if deletes.count.exact else (_BY_SCOPE,)))
    return ScanCost(
        snapshot=None if at is None else at.id,
        manifests=_of_manifests(chosen),
        manifests_skipped=_of_manifests(skipped),
        files=scan.left.portion,
        rows=scan.rows,
        unlisted=_unlisted([line for line in skipped if line.content == "data"]),
        skipped_by_partition=scan.by_partition.portion,
        skipped_by_metrics=scan.by_metrics.portion,
        deletes=deletes,
        requests=exactly(1 + listed + len(chosen)) + scan.requests + deletes.count,
        assumptions=(*notes, *dict.fromkeys(f"{reason}." for reason in (reasons(where) if where else ()))),
    )


def schema_at(meta: TableMeta, at: Snapshot | None) -> Schema:
    """The schema a query at this snapshot has: at the current one that of the table, at others their own, if kept."""
    known = {schema.id: schema for schema in meta.schemas}
    schema_id = None if at is None or at.id == meta.current_snapshot_id else at.schema_id
    return meta.schema if schema_id is None else known.get(schema_id, meta.schema)


def _opened(lines: Sequence[ManifestLine], sieve: Sieve | None) -> list[bool]:
    passing = [True] * len(lines) if sieve is None else sieve.manifests(lines).tolist()
    # Nobody opens a manifest that says it has tombstones only.
    return [
        passes and not (line.added_files == 0 and line.existing_files == 0)
        for line, passes in zip(lines, passing, strict=True)
    ]


def _of_manifests(lines: Sequence[ManifestLine]) -> Portion:
    lengths = (UNKNOWN if line.length is None else exactly(line.length) for line in lines)
    return Portion(exactly(len(lines)), total(lengths))


def _unlisted(lines: Sequence[ManifestLine]) -> Portion:
    count = total(UNKNOWN if line.files is None else exactly(line.files) for line in lines)
    return Portion(count, NONE if count == NONE else UNKNOWN)


@dataclass(slots=True)
class _Count:
    """Files met so far."""

    files: int = 0
    bytes: Figure = NONE

    def take(self, entries: Entries, rows: Truths) -> None:
        self.files += int(rows.sum())
        self.bytes += _stored(entries.size[rows])

    @property
    def portion(self) -> Portion:
        return Portion(exactly(self.files), self.bytes)


@dataclass(frozen=True, slots=True)
class _Met:
    """Which entries of a batch are live, which of those have a partition that may hold a row, and which are left."""

    live: Truths
    in_partition: Truths
    left: Truths


@dataclass(slots=True)
class _Scan:
    """One walk through the manifests that are opened, those of deletes first."""

    source: Manifests
    sieve: Sieve | None
    reader: Reader
    numbering: Numbering
    left: _Count = field(default_factory=_Count)
    by_partition: _Count = field(default_factory=_Count)
    by_metrics: _Count = field(default_factory=_Count)
    rows: Figure = NONE
    requests: Figure = NONE
    deletes: Longs = field(default_factory=lambda: np.zeros((0, Delete.WIDTH), np.int64))
    targets: Longs = field(default_factory=lambda: np.zeros((0, Target.WIDTH), np.int64))

    def meet_deletes(self, lines: Sequence[ManifestLine]) -> None:
        found = [self.deletes]
        for entries in self.source.entries(lines, self._wanted(deletions.WANTED)):
            left = self._met(entries).left
            # What is not left goes as if it had been deleted.
            rest = replace(entries, status=np.where(left, entries.status, Status.DELETED))
            for _, part in deletions.deletes(rest):
                rows = part.rows.copy()
                numbers = self.numbering.of(entries.spec_id, part.partitions)
                rows[:, Delete.PARTITION] = numbers[rows[:, Delete.PARTITION]]
                found.append(rows)
        self.deletes = np.concatenate(found)

    def meet_data(self, lines: Sequence[ManifestLine]) -> None:
        targets = [self.targets]
        for entries in self.source.entries(lines, self._wanted(Wanted())):
            met = self._met(entries)
            rows = np.flatnonzero(met.left)
            self.left.take(entries, met.left)
            self.by_partition.take(entries, met.live & ~met.in_partition)
            self.by_metrics.take(entries, met.in_partition & ~met.left)
            self.rows += _rows(entries.records[rows])
            size = entries.size[rows]
            asked = self.reader.requests(np.maximum(size, 0), entries.format[rows])
            self.requests += asked.widened() if (size < 0).any() else asked
            if len(self.deletes):
                targets.append(self._targets(entries, rows))
        self.targets = np.concatenate(targets)

    def attached(self) -> Portion:
        """The deletes that apply to a data file that is left, by partition, path and sequence number."""
        kind, unscoped = self.deletes[:, Delete.KIND], self._unscoped()
        position = np.isin(kind, (deletions.POSITION_FILE, deletions.POSITION_FILES))
        applies = np.zeros(len(self.deletes), bool)
        applies[~position] = _applies(self.deletes[~position], self.targets, unscoped[~position])
        # A vector stands for every position delete of its file.
        covered = np.isin(
            self.targets[:, Target.PATH], self.deletes[applies & (kind == deletions.VECTOR), Delete.TARGET]
        )
        applies[position] = _applies(self.deletes[position], self.targets[~covered], unscoped[position])
        surely = applies & (kind != deletions.EQUALITY)
        size = self.deletes[:, Delete.BYTES]
        return Portion(
            Figure(int(surely.sum()), int(applies.sum())),
            Figure(_stored(size[surely]).low, _stored(size[applies]).high),
        )

    def _wanted(self, beside: Wanted) -> Wanted:
        return beside if self.sieve is None else Wanted(beside.metrics | self.sieve.wanted.metrics)

    def _met(self, entries: Entries) -> _Met:
        live: Truths = entries.status != Status.DELETED
        if self.sieve is None:
            return _Met(live, live, live)
        in_partition = live & self.sieve.partitions(entries)
        rows = np.flatnonzero(in_partition)
        left = np.zeros(len(entries), bool)
        left[rows] = self.sieve.files(entries, rows)
        return _Met(live, in_partition, left)

    def _targets(self, entries: Entries, rows: Longs) -> Longs:
        """What deletes have to know of these data files, of those they may apply to."""
        keys = PartitionKeys.of(entries)
        partition = self.numbering.of(entries.spec_id, keys.values)[keys.of_row]
        path = hash128(entries.path, rows)[0].view(np.int64)
        if not (self._unscoped() & (self.deletes[:, Delete.KIND] == deletions.EQUALITY)).any():
            # Deletes of one file find it by its path alone, as Iceberg's planner does.
            named = np.isin(path, self.deletes[deletions.by_path(self.deletes), Delete.TARGET])
            near = named | np.isin(partition[rows], self.deletes[:, Delete.PARTITION])
            rows, path = rows[near], path[near]
        return np.stack((partition[rows], path, entries.sequence[rows], entries.size[rows]), axis=1)

    def _unscoped(self) -> Truths:
        """Which deletes lie under a spec without partitions: equality deletes there apply to the whole table."""
        specs = [self.numbering.specs.get(spec_id) for spec_id, _ in self.numbering.numbers]
        none = np.array([spec is not None and all(each.transform == "void" for each in spec.fields) for spec in specs])
        found: Truths = none.astype(bool)[self.deletes[:, Delete.PARTITION]]
        return found


def _applies(deletes: Longs, targets: Longs, unscoped: Truths) -> Truths:
    return ~deletions.touch(deletes, targets, unscoped).dangling


def _stored(size: Longs) -> Figure:
    """The bytes of files; what no writer told is not in it."""
    known = int(np.maximum(size, 0).sum())
    return Figure(known, None if (size < 0).any() else known)


def _rows(records: Longs) -> Figure:
    # Some old writers did not count.
    return UNKNOWN if (records < 0).any() else at_most(int(records.sum()))
