"""From decoded columns to entries: what is left out gets its default, what inherits is resolved, values are checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.adapters.iceberg import fields, opening
from firnline.adapters.iceberg.avro.columns import Columns
from firnline.adapters.iceberg.avro.container import Header
from firnline.adapters.iceberg.avro.datums import reader
from firnline.adapters.iceberg.avro.plans import Key, Plan
from firnline.adapters.iceberg.avro.schemas import Record, Type
from firnline.facts.entries import ABSENT, Entries, Longs, Texts, Truths
from firnline.facts.lines import Content, Format, ManifestLine, Metric, Status, Wanted

_FORMATS = {b"parquet": Format.PARQUET, b"orc": Format.ORC, b"avro": Format.AVRO, b"puffin": Format.PUFFIN}
_FIRST_PARTITION_ID = 1000  # where early writers left ids out, Iceberg counts from here
_BOUNDS = (Metric.LOWER, Metric.UPPER)
_SAID = ("partition-spec-id", "content", "format-version")
_SPEC_ID = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Source:
    """A manifest, as far as its entries need it: its place among the lines, and what its own header says."""

    manifest: int
    schema: bytes
    spec_id: int | None
    deletes: bool
    first_format: bool

    @staticmethod
    def of(manifest: int, line: ManifestLine, header: Header) -> Source:
        """Of a line with the header of its manifest. A snapshot of format 1 that lists its manifests in place knows
        nothing but their paths: the rest is in the manifest.
        """
        said = {key: header.metadata.get(key, b"").decode("utf-8", "replace") for key in _SAID}
        spec_id = line.spec_id
        if spec_id is None and _SPEC_ID.fullmatch(said["partition-spec-id"]):
            spec_id = int(said["partition-spec-id"])
        deletes = line.content == "deletes" or said["content"] == "deletes"
        return Source(manifest, header.schema, spec_id, deletes, said["format-version"] == "1")

    @property
    def group(self) -> tuple[bytes, int | None, bool]:
        """What manifests of one batch have in common."""
        return self.schema, self.spec_id, self.deletes


class Assembly:
    """Makes entries. Batches of one manifest come in their order: row ids go on where the last batch ended."""

    def __init__(self, lines: Sequence[ManifestLine]) -> None:
        self._lines = lines
        self._next_row_id: dict[int, int] = {}

    def entries(self, plan: Plan, found: Columns, sources: Sequence[tuple[Source, int]], wanted: Wanted) -> Entries:
        """The entries of these pieces, each of a source and so many rows."""
        piece = np.repeat(np.arange(len(sources)), [rows for _, rows in sources])
        own = [self._lines[source.manifest] for source, _ in sources]
        status = found.number(fields.STATUS)
        content = _or(found.number(fields.FILE_CONTENT), Content.DATA)
        path = _text(found, fields.FILE_PATH)
        self._check(piece, sources, (
            ((status < 0) | (status > Status.DELETED), "an entry has an unknown status"),
            ((content < 0) | (content > Content.EQUALITY_DELETES), "an entry has an unknown content"),
            (path.length < 0, "an entry has no path"),
        ))  # fmt: skip
        sequence, file_sequence = self._sequences(found, status, piece, sources)
        snapshot = found.number(fields.ENTRY_SNAPSHOT)
        records = _count(found.number(fields.RECORDS))
        ids, decode_partition = _partitions(plan.types.get(fields.PARTITION))
        return Entries(
            manifest=np.array([source.manifest for source, _ in sources], np.int64)[piece],
            status=status,
            content=content,
            format=_formats(_text(found, fields.FILE_FORMAT)),
            snapshot=np.where(snapshot == ABSENT, _of_lines(own, "snapshot")[piece], snapshot),
            sequence=sequence,
            file_sequence=file_sequence,
            records=records,
            size=_count(found.number(fields.SIZE)),
            sort_order=found.number(fields.SORT_ORDER),
            first_row_id=self._row_ids(found, status, content, records, sources),
            content_offset=found.number(fields.BLOB_OFFSET),
            content_size=_count(found.number(fields.BLOB_SIZE)),
            path=path,
            referenced=_text(found, fields.REFERENCED),
            equality_ids=_text(found, fields.EQUALITY_IDS),
            partition=_never_null(_text(found, fields.PARTITION)),
            partition_ids=ids,
            decode_partition=decode_partition,
            decode_ids=_ids(plan.types.get(fields.EQUALITY_IDS)),
            counts={key: _count(found.number(_key(key))) for key in wanted.metrics if key[0] not in _BOUNDS},
            bounds={key: _text(found, _key(key)) for key in wanted.metrics if key[0] in _BOUNDS},
            spec_id=sources[0][0].spec_id,
        )

    def _check(self, piece: Longs, sources: Sequence[tuple[Source, int]], checks: Sequence[tuple[Truths, str]]) -> None:
        for wrong, reason in checks:
            where = np.flatnonzero(wrong)
            if len(where):
                raise self._damaged(sources[piece[where[0]]][0], reason)

    def _damaged(self, source: Source, reason: str) -> Exception:
        return opening.unreadable(self._lines[source.manifest].path, reason)

    def _sequences(
        self, found: Columns, status: Longs, piece: Longs, sources: Sequence[tuple[Source, int]]
    ) -> tuple[Longs, Longs]:
        """Sequence numbers: an added entry inherits the manifest's. Format 1 has none, and its manifests in a later
        table are of sequence 0: then that goes for every entry.
        """
        given = np.array([0 if source.first_format else self._lines[source.manifest].sequence for source, _ in sources])
        inherited = np.where((status == Status.ADDED) | (given[piece] == 0), given[piece], ABSENT)
        sequence = _resolved(found, fields.DATA_SEQUENCE, inherited)
        self._check(piece, sources, (
            ((sequence == ABSENT) & (status == Status.EXISTING), "an existing entry has no sequence number"),
        ))  # fmt: skip
        # Old writers left the file's own number out when they carried entries over: it stays unknown.
        return sequence, _resolved(found, fields.FILE_SEQUENCE, inherited)

    def _row_ids(
        self, found: Columns, status: Longs, content: Longs, records: Longs, sources: Sequence[tuple[Source, int]]
    ) -> Longs:
        """First row ids: live data files without one take the manifest's next, each as many as it has records. A
        manifest without a first row id has not been assigned any, whatever its entries say.
        """
        ids = found.number(fields.FILE_FIRST_ROW_ID)
        takes = (ids == ABSENT) & (status != Status.DELETED) & (content == Content.DATA)
        taken = np.where(takes, np.maximum(records, 0), 0)
        before = np.cumsum(taken) - taken
        row = 0
        for source, rows in sources:
            base = self._lines[source.manifest].first_row_id
            part = slice(row, row + rows)
            row += rows
            if base is None:
                ids[part] = ABSENT
                continue
            following = self._next_row_id.get(source.manifest, base)
            own = before[part] - before[part.start]
            ids[part] = np.where(takes[part], own + following, ids[part])
            self._next_row_id[source.manifest] = following + int(own[-1] + taken[row - 1])
        return ids


def _key(metric: tuple[Metric, int]) -> Key:
    return metric[0].value, metric[1]


def _or(column: Longs, default: int) -> Longs:
    return np.where(column == ABSENT, default, column)


def _count(column: Longs) -> Longs:
    """A number that cannot be negative; some writers say -1 for what they do not know."""
    return np.where(column < 0, ABSENT, column)


def _of_lines(lines: Sequence[ManifestLine], name: str) -> Longs:
    values = (getattr(line, name) for line in lines)
    return np.array([ABSENT if value is None else value for value in values], np.int64)


def _resolved(found: Columns, key: int, inherited: Longs) -> Longs:
    if key not in found.numbers:
        return np.zeros(found.rows, np.int64)  # a manifest without the column is of format 1
    return np.where(found.numbers[key] == ABSENT, inherited, found.numbers[key])


def _text(found: Columns, key: Key) -> Texts:
    return Texts(found.octets, *found.text(key))


def _never_null(texts: Texts) -> Texts:
    return Texts(texts.buffer, texts.start, np.maximum(texts.length, 0))


def _formats(names: Texts) -> Longs:
    """File formats by their names, in whatever case. All known ones fit into one word of eight bytes."""
    words: np.ndarray[tuple[int], np.dtype[np.uint64]] = np.ndarray(
        (len(names.buffer) - 7,), "<u8", names.buffer.data, 0, (1,)
    )
    found = np.full(len(names.start), int(Format.OTHER), np.int64)
    lowered = words[names.start] | 0x2020_2020_2020_2020
    for name, of in _FORMATS.items():
        mask = (1 << 8 * len(name)) - 1
        found[(names.length == len(name)) & ((lowered & mask) == int.from_bytes(name, "little"))] = of
    return found


def _partitions(of: Type | None) -> tuple[tuple[int, ...], Callable[[bytes], tuple[object, ...]]]:
    """The ids of the partition fields, and what turns an encoded partition into their values."""
    if of is None:
        return (), lambda _: ()
    assert isinstance(of, Record)
    ids = tuple(_FIRST_PARTITION_ID + place if field.id is None else field.id for place, field in enumerate(of.fields))

    read = reader(of)

    def decode(data: bytes) -> tuple[object, ...]:
        if not data:  # a partition that was left out; one of no fields is encoded in no bytes either
            return (None,) * len(ids)
        values = read(data)
        assert isinstance(values, tuple)
        return values

    return ids, decode


def _ids(of: Type | None) -> Callable[[bytes], tuple[int, ...]]:
    read = None if of is None else reader(of)

    def decode(data: bytes) -> tuple[int, ...]:
        if read is None or not data:
            return ()
        values = read(data)
        assert isinstance(values, list)
        return tuple(value for value in values if isinstance(value, int))

    return decode
