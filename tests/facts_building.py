"""Manifests by hand: entries as a decoder gives them, and the port `Manifests` over plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from firnline.core.errors import Missing
from firnline.core.ids import SnapshotId, TableUuid
from firnline.core.layout import PartitionSpec, SortOrder
from firnline.core.types import Struct
from firnline.facts.entries import ABSENT, Entries, Longs, Texts
from firnline.facts.hashing import texts_of
from firnline.facts.lines import Content, Format, ManifestLine, Status, Wanted
from firnline.facts.meta import Ref, Schema, Snapshot, TableMeta
from firnline.facts.ports import NOTHING_MORE

WHERE = "file:///w/t/metadata/00009-a.metadata.json"
TABLE = "file:///w/t"


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of a manifest."""

    path: str
    size: int = 100
    status: Status = Status.ADDED
    content: Content = Content.DATA
    format: Format = Format.PARQUET
    content_offset: int = ABSENT
    content_size: int = ABSENT


def entries_of(lines: Sequence[tuple[int, Line]]) -> Entries:
    """A batch of these entries, each with the number of its manifest."""
    rows = [line for _, line in lines]

    def longs(values: Iterable[int]) -> Longs:
        return np.fromiter(values, np.int64, len(rows))

    absent, none = longs(ABSENT for _ in rows), texts_of([b"" for _ in rows])
    null = Texts(none.buffer, none.start, none.length - 1)
    return Entries(
        manifest=longs(number for number, _ in lines),
        status=longs(line.status for line in rows),
        content=longs(line.content for line in rows),
        format=longs(line.format for line in rows),
        snapshot=absent,
        sequence=absent,
        file_sequence=absent,
        records=longs(1 for _ in rows),
        size=longs(line.size for line in rows),
        sort_order=absent,
        first_row_id=absent,
        content_offset=longs(line.content_offset for line in rows),
        content_size=longs(line.content_size for line in rows),
        path=texts_of([line.path.encode() for line in rows]),
        referenced=null,
        equality_ids=null,
        partition=none,
        partition_ids=(),
        decode_partition=lambda _: (),
        decode_ids=lambda _: (),
        spec_id=0,
    )


@dataclass(slots=True)
class Shelves:
    """`facts.ports.Manifests` over lists and manifests by their location. What is not there is missing."""

    lists: Mapping[str, Sequence[str | ManifestLine]]
    manifests: Mapping[str, Sequence[Line]]
    batch: int = 3
    reads: list[str] = field(default_factory=list)

    def list(self, location: str) -> tuple[ManifestLine, ...]:
        """The lines of a manifest list."""
        self.reads.append(location)
        found = _present(self.lists, location)
        return tuple(ManifestLine(line, length=1) if isinstance(line, str) else line for line in found)

    def entries(self, lines: Sequence[ManifestLine], wanted: Wanted = NOTHING_MORE) -> Iterator[Entries]:
        """The entries in batches that know no border between manifests."""
        assert wanted == NOTHING_MORE
        rows: list[tuple[int, Line]] = []
        for number, line in enumerate(lines):
            self.reads.append(line.path)
            for entry in _present(self.manifests, line.path):
                rows.append((number, entry))
                if len(rows) == self.batch:
                    yield entries_of(rows)
                    rows = []
        if rows:
            yield entries_of(rows)


def _present(what: Mapping[str, Sequence[Line]] | Mapping[str, Sequence[str | ManifestLine]], location: str):  # noqa: ANN202
    if location not in what:
        raise Missing(f"There is no file {location}.")
    return what[location]


def snapshot_of(
    number: int, parent: int | None = None, *, manifests: Sequence[str] | None = None, sequence: int | None = None
) -> Snapshot:
    """A snapshot whose manifest list is called by its number; or one that lists its manifests in place."""
    return Snapshot(
        SnapshotId(number),
        None if parent is None else SnapshotId(parent),
        number if sequence is None else sequence,
        1000 * number,
        f"{TABLE}/metadata/snap-{number}.avro" if manifests is None else None,
        {"operation": "append"},
        manifests=tuple(manifests or ()),
    )


def table_of(
    snapshots: Sequence[Snapshot],
    *,
    current: int | None = None,
    branches: Mapping[str, int] | None = None,
    tags: Mapping[str, int] | None = None,
    location: str = TABLE,
    **more: object,
) -> TableMeta:
    """The metadata of a table with these snapshots and refs; main is at the current one."""
    heads = {name: ("branch", head) for name, head in (branches or {}).items()}
    heads |= {name: ("tag", head) for name, head in (tags or {}).items()}
    if current is not None:
        heads.setdefault("main", ("branch", current))
    fields: dict[str, object] = {
        "location": WHERE,
        "uuid": TableUuid("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
        "format_version": 2,
        "table_location": location,
        "last_updated_ms": 0,
        "last_column_id": 0,
        "schemas": (Schema(0, Struct(())),),
        "current_schema_id": 0,
        "specs": (PartitionSpec((), 0),),
        "default_spec_id": 0,
        "last_partition_id": 999,
        "orders": (SortOrder((), 0),),
        "default_order_id": 0,
        "properties": {},
        "current_snapshot_id": None if current is None else SnapshotId(current),
        "snapshots": tuple(snapshots),
        "refs": {name: Ref(name, kind, SnapshotId(head)) for name, (kind, head) in heads.items()},
    }
    return TableMeta(**{**fields, **more})  # type: ignore[arg-type]
