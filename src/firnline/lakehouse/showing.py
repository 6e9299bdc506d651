"""One table, for looking at: what `tables show` prints and the library returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from firnline.core import instants, keys, sizes
from firnline.core.ids import Identifier
from firnline.core.types import show, show_path, walk
from firnline.facts import summaries
from firnline.facts.meta import Snapshot, TableMeta
from firnline.tables import layouts

SNAPSHOTS_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class SnapshotLine:
    """A snapshot at a glance; None where its writer said nothing."""

    id: int
    at: datetime
    operation: str
    rows: int | None  # in the table after it
    files: int | None
    writer: str
    run: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as it is now."""

    table: str
    headline: tuple[tuple[str, str], ...]
    columns: tuple[tuple[int, str, str, str, str], ...]
    properties: Mapping[str, str]
    refs: Mapping[str, str]
    snapshots: tuple[SnapshotLine, ...]


def shown(identifier: Identifier, meta: TableMeta) -> Shown:
    """Everything worth a screen."""
    names = {field.id: show_path(path) for path, field in walk(meta.schema.struct) if field.id is not None}
    newest = sorted(meta.snapshots, key=lambda snapshot: (snapshot.millis, snapshot.sequence), reverse=True)
    lines = tuple(line(snapshot) for snapshot in newest[:SNAPSHOTS_SHOWN_MAX])
    return Shown(
        table=str(identifier),
        headline=_headline(identifier, meta, names),
        columns=tuple(
            (field.id or 0, show_path(path), show(field.type), "yes" if field.required else "", field.doc or "")
            for path, field in walk(meta.schema.struct)
        ),
        properties=dict(sorted(meta.properties.items())),
        refs={name: f"{ref.kind} at {ref.snapshot}" for name, ref in sorted(meta.refs.items())},
        snapshots=lines,
    )


def _headline(identifier: Identifier, meta: TableMeta, names: dict[int, str]) -> tuple[tuple[str, str], ...]:
    now = meta.snapshot
    identity = ", ".join(names.get(field_id, f"#{field_id}") for field_id in meta.schema.identifier_ids)
    refs = ", ".join(f"{ref.kind} {name}" for name, ref in sorted(meta.refs.items()) if name != "main")
    return (
        ("table", str(identifier)),
        ("uuid", str(meta.uuid)),
        ("format", str(meta.format_version)),
        ("location", meta.table_location),
        ("partition", layouts.show_spec(meta.spec, names)),
        ("sort", layouts.show_order(meta.order, names)),
        ("identifier", identity or "none"),
        ("size", _size(now)),
        ("refs", refs or "main only"),
        (
            "last write",
            f"{instants.show(instants.from_millis(now.millis))} by {summaries.writer(now)}" if now else "never",
        ),
    )


def _size(now: Snapshot | None) -> str:
    if now is None:
        return "empty"
    rows, files, size = (summaries.count(now, key) for key in ("total-records", "total-data-files", "total-files-size"))
    return ", ".join(
        (
            "unknown rows" if rows is None else f"{rows:,} row{'s' if rows != 1 else ''}",
            "unknown files" if files is None else f"{files:,} file{'s' if files != 1 else ''}",
            "unknown bytes" if size is None else sizes.show_bytes(size),
        )
    )


def line(snapshot: Snapshot) -> SnapshotLine:
    """A snapshot in one line."""
    return SnapshotLine(
        snapshot.id,
        instants.from_millis(snapshot.millis),
        snapshot.operation,
        summaries.count(snapshot, "total-records"),
        summaries.count(snapshot, "total-data-files"),
        summaries.writer(snapshot),
        snapshot.summary.get(keys.RUN),
    )
