"""A project's catalog with a committer on it, and requests to send, for the tests of commits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from firnline.adapters.iceberg.commits import PyIcebergCommits
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.catalog import SqliteCatalog
from firnline.adapters.local.pointers import SqlitePointers
from firnline.adapters.local.store import LocalStore
from firnline.core.ids import Identifier
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind

CATALOG = "lake"
ORDERS = Identifier(("shop",), "orders")
ID = {"id": 1, "name": "id", "required": True, "type": "long"}
NAME = {"id": 2, "name": "name", "required": False, "type": "string"}
AT = {"id": 3, "name": "at", "required": False, "type": "timestamptz"}
SCHEMA = {"type": "struct", "schema-id": 0, "fields": [ID, NAME, AT]}
UNPARTITIONED = {"spec-id": 0, "fields": []}
BY_DAY = {
    "spec-id": 1,
    "fields": [{"source-id": 3, "field-id": 1000, "transform": "day", "name": "at_day"}],
}
BY_ID = {
    "order-id": 1,
    "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}],
}
UNSORTED = {"order-id": 0, "fields": []}


@dataclass
class Shelf:
    """One catalog file with its warehouse, and what works on it without a JVM."""

    folder: Path
    database: Path = field(init=False)
    warehouse: str = field(init=False)

    def __post_init__(self) -> None:
        self.database = self.folder / ".lake" / "catalog.db"
        self.warehouse = f"file://{self.folder}/warehouse"
        self.database.parent.mkdir(parents=True, exist_ok=True)

    @property
    def swaps(self) -> SqliteCatalog:
        """Pointer swaps."""
        return SqliteCatalog(str(self.database), CATALOG, busy_seconds=5)

    @property
    def pointers(self) -> SqlitePointers:
        """The listing half."""
        return SqlitePointers(str(self.database), CATALOG, busy_seconds=5)

    @property
    def light(self) -> PyIcebergCommits:
        """The committer without a JVM."""
        return PyIcebergCommits(self.pointers, self.swaps, LocalBlobs(), LocalStore())

    def location(self, identifier: Identifier = ORDERS) -> str:
        """The metadata file the catalog points to."""
        pointer = self.pointers.find(identifier)
        assert pointer is not None
        assert pointer.metadata_location is not None
        return pointer.metadata_location

    def metadata(self, identifier: Identifier = ORDERS) -> dict[str, Any]:
        """The table's metadata as it is in the file."""
        found: dict[str, Any] = json.loads(LocalBlobs().read(self.location(identifier)))
        return found

    def sql_catalog(self) -> Any:
        """PyIceberg's own catalog on the same file."""
        from pyiceberg.catalog.sql import SqlCatalog

        return SqlCatalog(CATALOG, uri=f"sqlite:///{self.database}", warehouse=self.warehouse)


def creating(
    location: str,
    *,
    version: int = 2,
    schema: Mapping[str, Any] = SCHEMA,
    spec: Mapping[str, Any] = UNPARTITIONED,
    order: Mapping[str, Any] = UNSORTED,
    properties: Mapping[str, str] | None = None,
    uuid: str | None = None,
) -> CommitRequest:
    """The request for a new table, as `tables.request.create` writes it."""
    updates = (
        {"action": "assign-uuid", "uuid": uuid or str(uuid4())},
        {"action": "upgrade-format-version", "format-version": version},
        {"action": "add-schema", "schema": dict(schema), "last-column-id": 3},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": dict(spec)},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": dict(order)},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": location},
        {"action": "set-properties", "updates": dict(properties or {})},
    )
    return CommitRequest(({"type": "assert-create"},), updates)


def properties(**updates: str) -> CommitRequest:
    """A request that sets properties, whatever the table is."""
    return CommitRequest((), ({"action": "set-properties", "updates": updates},))


def changing(*updates: Mapping[str, Any], **expect: str | None) -> CommitRequest:
    """A request of these updates without requirements."""
    return CommitRequest((), tuple(dict(update) for update in updates), expect)


def requiring(*requirements: Mapping[str, Any]) -> CommitRequest:
    """A harmless change under these requirements."""
    update = {"action": "set-properties", "updates": {"required": "yes"}}
    return CommitRequest(tuple(dict(item) for item in requirements), (update,))


def with_fields(*fields: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """An `add-schema` update; its schema id is deliberately one that is taken."""
    last = max(item["id"] for item in fields)
    schema = {"type": "struct", "schema-id": 0, "fields": [dict(item) for item in fields], **more}
    return {"action": "add-schema", "schema": schema, "last-column-id": last}


def assert_done(outcome: Outcome) -> Outcome:
    """The outcome, which must be done."""
    assert outcome.kind is OutcomeKind.DONE, outcome
    return outcome


def assert_refused(outcome: Outcome, *words: str) -> None:
    """The outcome must be not done, not to be sent again, and say why."""
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, False), outcome
    for word in words:
        assert word in outcome.detail, outcome


def normal(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with what must differ between two tables replaced, and every way of saying nothing left out."""
    data = json.loads(json.dumps(metadata))
    data["table-uuid"], data["location"] = "uuid", "location"
    data["last-updated-ms"] = 0
    data["metadata-log"] = len(data.get("metadata-log") or ())
    for entry in (*(data.get("snapshots") or ()), *(data.get("snapshot-log") or ())):
        entry["timestamp-ms"] = 0
    if data.get("current-snapshot-id") == -1:
        data["current-snapshot-id"] = None
    pruned: dict[str, Any] = _pruned(data)
    return pruned


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _pruned(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, [], {})}
    return [_pruned(item) for item in value] if isinstance(value, list) else value


Between = Callable[[], object]
