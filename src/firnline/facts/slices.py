"""A slice of a table: the live files of chosen partitions or paths, each with the deletes that apply to it. No JVM.

This is what upkeep and folding plan from, so it is never partial: a manifest that cannot be read fails it. Deletes are
attached as Iceberg's own planner attaches them, bounds of equality deletes included. About half a kilobyte per file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firnline.core.errors import Failed, Missing, Refused
from firnline.core.ids import SnapshotId
from firnline.core.layout import PartitionSpec
from firnline.facts import deletions, places
from firnline.facts.attaching import ColumnRange, Index, Ranges, SliceDelete
from firnline.facts.entries import ABSENT, Entries, Longs
from firnline.facts.hashing import hash128, hash_of
from firnline.facts.lines import DELETE_PATH_ID, Format, ManifestLine, Metric, Status, Wanted
from firnline.facts.meta import TableMeta
from firnline.facts.partitions import PartitionKeys, distinct, key_of
from firnline.facts.ports import Manifests
from firnline.facts.reading import head_of, lines_of
from firnline.facts.values import PartitionKey

FILES_MAX = 500_000  # some 250 MiB; what plans for more asks partition by partition
_RANGES = (Metric.LOWER, Metric.UPPER, Metric.NULLS, Metric.VALUES)


@dataclass(frozen=True, slots=True)
class SliceFile:
    """A live data file and its deletes. None where its writer left something out."""

    path: str
    format: str
    size: int | None
    records: int | None
    spec_id: int
    partition: PartitionKey
    sequence: int
    file_sequence: int | None
    snapshot: int | None
    sort_order: int | None
    first_row_id: int | None
    deletes: tuple[SliceDelete, ...] = ()


@dataclass(frozen=True, slots=True)
class FileSlice:
    """Live files at a snapshot, in order of manifest."""

    snapshot: SnapshotId | None
    files: tuple[SliceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files: those in one of these partitions, and of these paths. None: any."""

    partitions: frozenset[PartitionKey] | None = None
    paths: frozenset[str] | None = None
    files_max: int = FILES_MAX
    _hashes: Longs = field(default_factory=lambda: np.zeros(0, np.int64), compare=False, repr=False)

    @staticmethod
    def of(
        partitions: Collection[PartitionKey] | None = None,
        paths: Collection[str] | None = None,
        files_max: int = FILES_MAX,
    ) -> Choice:
        """From any collections."""
        hashes = np.array([hash_of(places.encoded(path))[0] for path in paths or ()], np.uint64).view(np.int64)
        chosen = None if partitions is None else frozenset((spec, distinct(values)) for spec, values in partitions)
        return Choice(chosen, None if paths is None else frozenset(paths), files_max, hashes)

    def rows(self, entries: Entries, lines: Sequence[ManifestLine], specs: Mapping[int, PartitionSpec]) -> Longs:
        """The live rows of a batch that are chosen; those of other paths are left out by their hashes."""
        chosen = entries.status != Status.DELETED
        if self.partitions is not None:
            chosen &= self._in_partitions(entries, lines, specs)
        if self.paths is not None:
            chosen &= np.isin(hash128(entries.path)[0].view(np.int64), self._hashes)
        rows: Longs = np.flatnonzero(chosen)
        return rows

    def _in_partitions(
        self, entries: Entries, lines: Sequence[ManifestLine], specs: Mapping[int, PartitionSpec]
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        keys = PartitionKeys.of(entries)
        chosen = np.zeros(len(entries), bool)
        for number in np.unique(entries.manifest).tolist():
            spec_id = lines[number].spec_id
            wanted = [key_of(spec_id, each, specs) in (self.partitions or ()) for each in keys.values]
            chosen |= (entries.manifest == number) & np.array(wanted, bool)[keys.of_row]
        return chosen


def take(
    meta: TableMeta, manifests: Manifests, choice: Choice | None = None, *, snapshot: SnapshotId | None = None
) -> FileSlice:
    """The chosen files of the current snapshot, or of another one."""
    at = meta.snapshot if snapshot is None else meta.find_snapshot(snapshot)
    if at is None and snapshot is not None:
        raise Missing(f"{meta.table_location} has no snapshot {snapshot}: it has been expired, or never was.")
    lines, damage = head_of(manifests, meta) if snapshot is None else lines_of(manifests, at)
    if damage:
        raise Failed(damage[0].reason)
    specs = {spec.spec_id or 0: spec for spec in meta.specs}
    chosen = choice or Choice.of()
    index, wanted = _deletes(meta, manifests, [line for line in lines if line.content == "deletes"], specs)
    data = [line for line in lines if line.content == "data"]
    files: list[SliceFile] = []
    of: list[int] = []
    for entries in manifests.entries(data, wanted):
        for number, file in _files(entries, data, specs, chosen, index):
            if chosen.paths is not None and file.path not in chosen.paths:
                continue
            files.append(file)
            of.append(number)
            if len(files) > chosen.files_max:
                raise Refused(
                    f"More than {chosen.files_max:,} files would have to be held in memory.",
                    next_step="Choose partitions, and take them one after the other.",
                )
    order = sorted(range(len(files)), key=of.__getitem__)  # batches come as their writers' schemas have it
    return FileSlice(None if at is None else at.id, tuple(files[each] for each in order))


def _deletes(
    meta: TableMeta, manifests: Manifests, lines: Sequence[ManifestLine], specs: Mapping[int, PartitionSpec]
) -> tuple[Index, Wanted]:
    """The deletes, ready to be attached, and what has to be read of data files for it."""
    found = list(_read_deletes(manifests, lines, specs, deletions.WANTED, ()))
    ids = tuple(sorted({one for each in found for one in each.equality_ids}))
    if not ids:
        return Index.of(meta, found), Wanted()
    ranges = frozenset((metric, one) for metric in _RANGES for one in ids)
    again = Wanted(deletions.WANTED.metrics | ranges)
    return Index.of(meta, list(_read_deletes(manifests, lines, specs, again, ids))), Wanted(ranges)


def _read_deletes(
    manifests: Manifests,
    lines: Sequence[ManifestLine],
    specs: Mapping[int, PartitionSpec],
    wanted: Wanted,
    ids: Sequence[int],
) -> Iterator[SliceDelete]:
    for entries in manifests.entries(lines, wanted):
        partitions, kinds = PartitionKeys.of(entries), deletions.kinds(entries)
        for row in np.flatnonzero(entries.status != Status.DELETED).tolist():
            raw = entries.equality_ids.at(row)
            line, partition = lines[int(entries.manifest[row])], partitions.values[int(partitions.of_row[row])]
            key = key_of(line.spec_id, partition, specs)
            yield SliceDelete(
                path=_text(entries.path.at(row)),
                kind=deletions.KINDS[int(kinds[row])],
                format=_format(entries, row),
                size=_number(entries.size, row),
                records=_number(entries.records, row),
                spec_id=key[0],
                partition=key,
                sequence=int(entries.sequence[row]),
                referenced=_referenced(entries, row, int(kinds[row])),
                content_offset=_number(entries.content_offset, row),
                content_size=_number(entries.content_size, row),
                equality_ids=() if raw is None else entries.decode_ids(raw),
                ranges=_ranges(entries, row, ids),
            )


def _referenced(entries: Entries, row: int, kind: int) -> str | None:
    if kind not in {deletions.POSITION_FILE, deletions.VECTOR}:
        return None
    said = entries.referenced.at(row)
    lower = entries.bounds.get((Metric.LOWER, DELETE_PATH_ID))
    path = said if said is not None or lower is None else lower.at(row)
    return None if path is None else _text(path)


def _files(
    entries: Entries,
    lines: Sequence[ManifestLine],
    specs: Mapping[int, PartitionSpec],
    choice: Choice,
    index: Index,
) -> Iterator[tuple[int, SliceFile]]:
    rows = choice.rows(entries, lines, specs)
    if not len(rows):
        return
    partitions = PartitionKeys.of(entries)
    for row in rows.tolist():
        number = int(entries.manifest[row])
        partition = key_of(lines[number].spec_id, partitions.values[int(partitions.of_row[row])], specs)
        path, sequence = _text(entries.path.at(row)), int(entries.sequence[row])
        file = SliceFile(
            path=path,
            format=_format(entries, row),
            size=_number(entries.size, row),
            records=_number(entries.records, row),
            spec_id=partition[0],
            partition=partition,
            sequence=sequence,
            file_sequence=_number(entries.file_sequence, row),
            snapshot=_number(entries.snapshot, row),
            sort_order=_number(entries.sort_order, row),
            first_row_id=_number(entries.first_row_id, row),
            deletes=index.attached(path, partition, sequence, _ranges(entries, row, index.ids)),
        )
        yield number, file


def _ranges(entries: Entries, row: int, ids: Sequence[int]) -> Ranges:
    def bound(metric: Metric, column: int) -> bytes | None:
        texts = entries.bounds.get((metric, column))
        return None if texts is None else texts.at(row)

    def count(metric: Metric, column: int) -> int | None:
        counts = entries.counts.get((metric, column))
        return None if counts is None else _number(counts, row)

    return {
        one: ColumnRange(
            bound(Metric.LOWER, one), bound(Metric.UPPER, one), count(Metric.NULLS, one), count(Metric.VALUES, one)
        )
        for one in ids
    }


def _number(column: Longs, row: int) -> int | None:
    value = int(column[row])
    return None if value == ABSENT else value


def _format(entries: Entries, row: int) -> str:
    return Format(int(entries.format[row])).name.lower()


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
