"""Entries of manifests made by hand, and manifests that consist of them, for tests that need no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firnline.core.errors import Failed, Missing
from firnline.facts.entries import ABSENT, Entries, Longs, Texts
from firnline.facts.lines import Content, Format, ManifestLine, Metric, Status, Wanted
from firnline.facts.ports import NOTHING_MORE

ZEROS = bytes(64)


@dataclass(frozen=True)
class File:
    """One entry, with the metrics its writer kept."""

    path: str = "f.parquet"
    partition: tuple[object, ...] = ()
    status: Status = Status.ADDED
    content: Content = Content.DATA
    format: Format = Format.PARQUET
    sequence: int = 1
    records: int | None = 1
    size: int | None = 100
    file_sequence: int | None = None  # that of the rows, unless said
    snapshot: int | None = 1
    sort_order: int | None = None
    referenced: str | None = None
    content_offset: int | None = None
    content_size: int | None = None
    equality_ids: tuple[int, ...] = ()
    values: Mapping[int, int] = field(default_factory=dict)
    nulls: Mapping[int, int] = field(default_factory=dict)
    nans: Mapping[int, int] = field(default_factory=dict)
    lower: Mapping[int, bytes] = field(default_factory=dict)
    upper: Mapping[int, bytes] = field(default_factory=dict)


def texts(strings: Sequence[bytes | None]) -> Texts:
    """Byte strings in one buffer, with something between them that belongs to nobody."""
    buffer, start, length = bytearray(b"\xff"), [], []
    for each in strings:
        start.append(len(buffer))
        length.append(-1 if each is None else len(each))
        buffer += (each or b"") + b"\xff"
    return Texts(np.frombuffer(bytes(buffer) + ZEROS, np.uint8), np.array(start, int), np.array(length, int))


def entries(
    files: Sequence[File], *, ids: tuple[int, ...] = (), manifest: int | Sequence[int] = 0, spec_id: int | None = 0
) -> Entries:
    """A batch of these files; `ids` are the partition fields their manifests have."""
    # By what they look like: 1, 1.0 and True are equal, and different partitions.
    codes = {repr(each.partition): str(at).encode() for at, each in enumerate(files)}
    decoded = {codes[repr(each.partition)]: each.partition for each in files}
    count = len(files)
    return Entries(
        manifest=np.full(count, manifest) if isinstance(manifest, int) else np.array(manifest, np.int64),
        status=_longs(each.status for each in files),
        content=_longs(each.content for each in files),
        format=_longs(each.format for each in files),
        snapshot=_longs(each.snapshot for each in files),
        sequence=_longs(each.sequence for each in files),
        file_sequence=_longs(each.sequence if each.file_sequence is None else each.file_sequence for each in files),
        records=_longs(each.records for each in files),
        size=_longs(each.size for each in files),
        sort_order=_longs(each.sort_order for each in files),
        first_row_id=np.full(count, ABSENT),
        content_offset=_longs(each.content_offset for each in files),
        content_size=_longs(each.content_size for each in files),
        path=texts([each.path.encode("utf-8", "surrogateescape") for each in files]),
        referenced=texts([None if each.referenced is None else each.referenced.encode() for each in files]),
        equality_ids=texts([bytes(each.equality_ids) if each.equality_ids else None for each in files]),
        partition=texts([codes[repr(each.partition)] for each in files]),
        partition_ids=ids,
        decode_partition=decoded.__getitem__,
        decode_ids=tuple,
        counts=_counts(files),
        bounds=_bounds(files),
        spec_id=spec_id,
    )


def _longs(numbers: Iterator[int | None] | Sequence[int | None]) -> Longs:
    return np.array([ABSENT if each is None else int(each) for each in numbers], np.int64)


def _counts(files: Sequence[File]) -> dict[tuple[Metric, int], Longs]:
    kinds = ((Metric.VALUES, "values"), (Metric.NULLS, "nulls"), (Metric.NANS, "nans"))
    ids = {key for each in files for _, name in kinds for key in getattr(each, name)}
    return {
        (metric, key): _longs([getattr(each, name).get(key) for each in files]) for metric, name in kinds for key in ids
    }


def _bounds(files: Sequence[File]) -> dict[tuple[Metric, int], Texts]:
    kinds = ((Metric.LOWER, "lower"), (Metric.UPPER, "upper"))
    ids = {key for each in files for _, name in kinds for key in getattr(each, name)}
    return {
        (metric, key): texts([getattr(each, name).get(key) for each in files]) for metric, name in kinds for key in ids
    }


@dataclass
class HandMade:
    """Manifests whose lists and entries are given, with the partition fields of each spec; notes what was opened.

    A manifest without entries is missing; `cut` ones end in damage behind their entries.
    """

    lists: Mapping[str, tuple[ManifestLine, ...]]
    files: Mapping[str, Sequence[File]]
    ids: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    batch: int = 1000
    cut: frozenset[str] = frozenset()
    opened: list[str] = field(default_factory=list)
    asked: list[Wanted] = field(default_factory=list)

    def list(self, location: str) -> tuple[ManifestLine, ...]:
        """The lines of a list."""
        if location not in self.lists:
            raise Missing(f"There is no file {location}.")
        return self.lists[location]

    def entries(self, lines: Sequence[ManifestLine], wanted: Wanted = NOTHING_MORE) -> Iterator[Entries]:
        """The entries of these manifests, some at a time, with the metrics that are wanted."""
        self.opened += [line.path for line in lines]
        self.asked.append(wanted)
        for spec_id in dict.fromkeys(line.spec_id for line in lines):
            own = [(at, line.path) for at, line in enumerate(lines) if line.spec_id == spec_id]
            rows: list[tuple[int, File]] = []
            for at, path in own:
                if path not in self.files:
                    raise Missing(f"There is no file {path}.")
                rows += [(at, file) for file in self.files[path]]
                while len(rows) >= self.batch or (rows and path in self.cut):
                    yield _narrowed(self._batch(rows[: self.batch], spec_id or 0), wanted)
                    del rows[: self.batch]
                if path in self.cut:
                    raise Failed(f"{path} was cut off.")
            if rows:
                yield _narrowed(self._batch(rows, spec_id or 0), wanted)

    def _batch(self, rows: Sequence[tuple[int, File]], spec_id: int) -> Entries:
        files, numbers = [file for _, file in rows], [at for at, _ in rows]
        return entries(files, ids=self.ids.get(spec_id, ()), manifest=numbers, spec_id=spec_id)


@dataclass
class Drawer:
    """The port `Cache` over a dictionary."""

    kept: dict[str, bytes] = field(default_factory=dict)

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of these keys that are there."""
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put(self, values: Mapping[str, bytes]) -> None:
        """Keep these."""
        self.kept |= values


def _narrowed(made: Entries, wanted: Wanted) -> Entries:
    for metrics in (made.counts, made.bounds):
        assert isinstance(metrics, dict)
        for key in metrics.keys() - wanted.metrics:
            del metrics[key]
    return made
