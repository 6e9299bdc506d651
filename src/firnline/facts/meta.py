"""TableMeta: table metadata JSON, parsed by us. Formats 1, 2 and 3; types of later formats stay text."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from firnline.core.errors import Failed
from firnline.core.ids import SnapshotId, TableUuid
from firnline.core.layout import PartitionSpec, SortOrder, order_from_json, spec_from_json
from firnline.core.types import Struct, struct_from_json
from firnline.facts import wellformed

FORMAT_MAX = 3
GZIP_MAGIC = b"\x1f\x8b"
T = TypeVar("T")
_DAMAGE = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OSError, zlib.error, RecursionError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of the table, with its identifier fields."""

    id: int
    struct: Struct
    identifier_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot as metadata has it."""

    id: SnapshotId
    parent: SnapshotId | None
    sequence: int
    millis: int
    manifest_list: str | None
    summary: Mapping[str, str]
    schema_id: int | None = None
    manifests: tuple[str, ...] = ()  # format 1 may list them in place

    @property
    def operation(self) -> str:
        """append, overwrite, delete, replace; `unknown` where an old writer left it out."""
        return self.summary.get("operation", "unknown")


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch or tag."""

    name: str
    kind: str
    snapshot: SnapshotId
    ref_age_max_ms: int | None = None
    snapshot_age_max_ms: int | None = None
    snapshots_min: int | None = None


@dataclass(frozen=True, slots=True)
class TableMeta:
    """One metadata file."""

    location: str  # of this metadata file
    uuid: TableUuid | None
    format_version: int
    table_location: str
    last_updated_ms: int
    last_column_id: int
    schemas: tuple[Schema, ...]
    current_schema_id: int
    specs: tuple[PartitionSpec, ...]
    default_spec_id: int
    last_partition_id: int
    orders: tuple[SortOrder, ...]
    default_order_id: int
    properties: Mapping[str, str]
    current_snapshot_id: SnapshotId | None
    snapshots: tuple[Snapshot, ...]
    refs: Mapping[str, Ref]
    snapshot_log: tuple[tuple[int, SnapshotId], ...] = ()
    metadata_log: tuple[tuple[int, str], ...] = ()
    last_sequence_number: int = 0
    next_row_id: int | None = None
    statistics: tuple[Any, ...] = ()
    partition_statistics: tuple[Any, ...] = ()
    encryption_keys: tuple[Any, ...] = field(default=())

    @property
    def schema(self) -> Schema:
        """The current schema."""
        return _by("schema", self.schemas, "id", self.current_schema_id, self.location)

    @property
    def spec(self) -> PartitionSpec:
        """The default partition spec."""
        return _by("partition spec", self.specs, "spec_id", self.default_spec_id, self.location)

    @property
    def order(self) -> SortOrder:
        """The default sort order."""
        return _by("sort order", self.orders, "order_id", self.default_order_id, self.location)

    @property
    def snapshot(self) -> Snapshot | None:
        """The current snapshot, or None for a table that never had one."""
        return None if self.current_snapshot_id is None else self.find_snapshot(self.current_snapshot_id)

    def find_snapshot(self, snapshot_id: int) -> Snapshot | None:
        """The snapshot of this id, if it was not expired."""
        return next((snapshot for snapshot in self.snapshots if snapshot.id == snapshot_id), None)


def _by(what: str, values: tuple[T, ...], attribute: str, wanted: int, location: str) -> T:
    for value in values:
        if getattr(value, attribute) == wanted:
            return value
    raise Failed(f"{location} names {what} {wanted} as current and does not have it: the file is damaged.")


def parse(data: bytes, location: str) -> TableMeta:
    """Parse a metadata file; gzip is recognised by its first bytes."""
    try:
        raw = json.loads(gzip.decompress(data) if data[:2] == GZIP_MAGIC else data)
        version = raw["format-version"]
        if version > FORMAT_MAX:
            raise Failed(f"{location} has format version {version}; this version of Firnline reads up to {FORMAT_MAX}.")
        wellformed.check(raw)
        return _parse(raw, location)
    except _DAMAGE as error:
        raise Failed(
            f"{location} is not readable as Iceberg table metadata: {type(error).__name__}: {error}.",
            next_step="Compare it with the previous metadata file, or restore it from a backup.",
        ) from error


def _parse(raw: Any, location: str) -> TableMeta:
    current = raw.get("current-snapshot-id")
    current = None if current in (None, -1) else SnapshotId(current)
    specs = _specs(raw)
    return TableMeta(
        location=location,
        uuid=TableUuid(raw["table-uuid"]) if raw.get("table-uuid") else None,
        format_version=raw["format-version"],
        table_location=raw["location"].rstrip("/"),
        last_updated_ms=raw["last-updated-ms"],
        last_column_id=raw["last-column-id"],
        schemas=tuple(_schema(item) for item in raw.get("schemas") or [raw["schema"]]),
        current_schema_id=raw.get("current-schema-id", raw.get("schema", {}).get("schema-id", 0)),
        specs=specs,
        default_spec_id=raw.get("default-spec-id", 0),
        last_partition_id=raw.get("last-partition-id", _last_partition_id(specs)),
        orders=tuple(order_from_json(item) for item in raw.get("sort-orders") or [{"order-id": 0, "fields": []}]),
        default_order_id=raw.get("default-sort-order-id", 0),
        properties=raw.get("properties") or {},
        current_snapshot_id=current,
        snapshots=tuple(_snapshot(item) for item in raw.get("snapshots") or ()),
        refs=_refs(raw, current),
        snapshot_log=tuple((item["timestamp-ms"], item["snapshot-id"]) for item in raw.get("snapshot-log") or ()),
        metadata_log=tuple((item["timestamp-ms"], item["metadata-file"]) for item in raw.get("metadata-log") or ()),
        last_sequence_number=raw.get("last-sequence-number", 0),
        next_row_id=raw.get("next-row-id"),
        statistics=tuple(raw.get("statistics") or ()),
        partition_statistics=tuple(raw.get("partition-statistics") or ()),
        encryption_keys=tuple(raw.get("encryption-keys") or ()),
    )


def _schema(data: Any) -> Schema:
    # Format 1 may hold one schema without an id; Iceberg reads it as schema 0.
    return Schema(data.get("schema-id", 0), struct_from_json(data), tuple(data.get("identifier-field-ids") or ()))


def _specs(raw: Any) -> tuple[PartitionSpec, ...]:
    if raw.get("partition-specs"):
        return tuple(spec_from_json(item) for item in raw["partition-specs"])
    return (spec_from_json({"spec-id": 0, "fields": raw.get("partition-spec") or []}),)


def _last_partition_id(specs: tuple[PartitionSpec, ...]) -> int:
    ids = [field.field_id for spec in specs for field in spec.fields if field.field_id is not None]
    return max(ids, default=999)


def _snapshot(data: Any) -> Snapshot:
    return Snapshot(
        id=SnapshotId(data["snapshot-id"]),
        parent=SnapshotId(data["parent-snapshot-id"]) if data.get("parent-snapshot-id") is not None else None,
        sequence=data.get("sequence-number", 0),
        millis=data["timestamp-ms"],
        manifest_list=data.get("manifest-list"),
        summary=data.get("summary") or {},
        schema_id=data.get("schema-id"),
        manifests=tuple(data.get("manifests") or ()),
    )


def _refs(raw: Any, current: SnapshotId | None) -> dict[str, Ref]:
    refs = {
        name: Ref(
            name=name,
            kind=item["type"],
            snapshot=SnapshotId(item["snapshot-id"]),
            ref_age_max_ms=item.get("max-ref-age-ms"),
            snapshot_age_max_ms=item.get("max-snapshot-age-ms"),
            snapshots_min=item.get("min-snapshots-to-keep"),
        )
        for name, item in (raw.get("refs") or {}).items()
    }
    if current is not None and "main" not in refs:
        refs["main"] = Ref("main", "branch", current)  # metadata written before refs existed
    return refs
