"""A small table's metadata, for what is made of it."""

from __future__ import annotations

import json
from typing import Any

from firnline.facts.meta import TableMeta, parse

FIELDS = [
    {"id": 1, "name": "id", "required": True, "type": "long", "doc": "the key"},
    {"id": 2, "name": "at", "required": False, "type": "timestamptz"},
]
SNAPSHOT = {
    "snapshot-id": 7, "sequence-number": 1, "timestamp-ms": 1_700_000_000_000, "manifest-list": "file:///l.avro",
    "summary": {
        "operation": "append", "total-data-files": "3", "total-records": "10", "total-files-size": "1000",
    },
}  # fmt: skip
RAW: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "6f0e5d3c-0000-4000-8000-000000000001",
    "location": "s3://lake/shop/orders",
    "last-updated-ms": 1_700_000_000_000,
    "last-column-id": 2,
    "last-sequence-number": 1,
    "schemas": [{"type": "struct", "schema-id": 3, "identifier-field-ids": [1], "fields": FIELDS}],
    "current-schema-id": 3,
    "partition-specs": [
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "transform": "day", "name": "at_day"}]}
    ],
    "default-spec-id": 1,
    "last-partition-id": 1000,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "default-sort-order-id": 0,
    "properties": {"owner": "ann", "gc.enabled": "true"},
    "current-snapshot-id": 7,
    "snapshots": [SNAPSHOT],
    "snapshot-log": [{"timestamp-ms": 1_700_000_000_000, "snapshot-id": 7}],
    "metadata-log": [],
    "refs": {"main": {"type": "branch", "snapshot-id": 7}},
}
METADATA = json.dumps(RAW).encode()


def table(**changes: Any) -> TableMeta:
    """The metadata with these changes; a keyword's underscores are the metadata's dashes."""
    raw = {**RAW, **{key.replace("_", "-"): value for key, value in changes.items()}}
    return parse(json.dumps(raw).encode(), "file:///m.json")
