"""The requirements of a commit request, held against a table: the catalog's questions, asked beforehand. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from firnline.core.types import Json
from firnline.facts.meta import TableMeta
from firnline.loop.commits import CommitRequest


def drift(request: CommitRequest, meta: TableMeta) -> Iterator[str]:
    """A sentence per requirement that no longer holds, and per expected property that changed."""
    for item in request.requirements:
        sentence = broken(item, meta)
        if sentence is not None:
            yield sentence
    for key, value in request.expect.items():
        if meta.properties.get(key) != value:
            yield f"the property {key} is {meta.properties.get(key)!r} now and was {value!r} when planned"


def broken(requirement: Json, meta: TableMeta) -> str | None:
    """Why this requirement no longer holds, or None."""
    kind = requirement["type"]
    now: object
    match kind:
        case "assert-table-uuid":
            wanted, now, what = requirement["uuid"], meta.uuid, "table uuid (it was replaced by another table)"
        case "assert-current-schema-id":
            wanted, now, what = requirement["current-schema-id"], meta.current_schema_id, "current schema"
        case "assert-last-assigned-field-id":
            wanted, now, what = requirement["last-assigned-field-id"], meta.last_column_id, "last column id"
        case "assert-default-spec-id":
            wanted, now, what = requirement["default-spec-id"], meta.default_spec_id, "default partition spec"
        case "assert-last-assigned-partition-id":
            wanted, now, what = requirement["last-assigned-partition-id"], meta.last_partition_id, "last partition id"
        case "assert-default-sort-order-id":
            wanted, now, what = requirement["default-sort-order-id"], meta.default_order_id, "default sort order"
        case "assert-ref-snapshot-id":
            ref = meta.refs.get(requirement["ref"])
            wanted, now, what = requirement["snapshot-id"], ref.snapshot if ref else None, f"{requirement['ref']}"
        case _:
            return f"the requirement {kind!r} is not known to this version"
    return None if wanted == now else f"{what} was {wanted} and is {now}"
