"""Changes as one Iceberg REST commit request: what must still hold, and what is to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firnline.config.values import Declaration
from firnline.core.layout import order_to_json, spec_to_json
from firnline.core.types import Json, to_json
from firnline.facts import refs
from firnline.facts.meta import Schema, TableMeta
from firnline.loop.commits import CommitRequest
from firnline.tables import attributes, layouts
from firnline.tables.target import Target
from firnline.tables.values import Change, ChangeKind

_SCHEMA = frozenset(
    {
        ChangeKind.ADD_COLUMN, ChangeKind.DROP_COLUMN, ChangeKind.RENAME_COLUMN, ChangeKind.WIDEN_COLUMN,
        ChangeKind.REQUIRE_COLUMN, ChangeKind.RELAX_COLUMN, ChangeKind.DOCUMENT_COLUMN, ChangeKind.DEFAULT_COLUMN,
        ChangeKind.MOVE_COLUMNS, ChangeKind.IDENTIFY,
    }
)  # fmt: skip


def build(declaration: Declaration, meta: TableMeta, target: Target, changes: tuple[Change, ...]) -> CommitRequest:
    """The request for these changes of an existing table."""
    kinds = {change.kind for change in changes}
    requirements: list[Json] = [{"type": "assert-table-uuid", "uuid": meta.uuid}]
    updates: list[Json] = []
    expect: dict[str, str | None] = {}
    if ChangeKind.UPGRADE_FORMAT in kinds:
        updates.append({"action": "upgrade-format-version", "format-version": target.format_version})
    if kinds & _SCHEMA:
        _schema(meta, target, requirements, updates)
    if ChangeKind.REQUIRE_COLUMN in kinds:
        # The proof was made on this snapshot; with another one it proves nothing.
        requirements.append({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": meta.current_snapshot_id})
    if ChangeKind.PARTITION in kinds:
        _spec(meta, target, requirements, updates)
    if ChangeKind.SORT in kinds:
        _order(meta, target, requirements, updates)
    if ChangeKind.MOVE_LOCATION in kinds:
        updates.append({"action": "set-location", "location": str(declaration.location).rstrip("/")})
    _properties(changes, updates, expect)
    _refs(declaration, meta, changes, requirements, updates)
    return CommitRequest(tuple(requirements), tuple(updates), expect)


def _schema(meta: TableMeta, target: Target, requirements: list[Json], updates: list[Json]) -> None:
    requirements.append({"type": "assert-current-schema-id", "current-schema-id": meta.current_schema_id})
    requirements.append({"type": "assert-last-assigned-field-id", "last-assigned-field-id": meta.last_column_id})
    for old in meta.schemas:
        if (old.struct, sorted(old.identifier_ids)) == (target.schema.struct, sorted(target.schema.identifier_ids)):
            updates.append({"action": "set-current-schema", "schema-id": old.id})
            return
    new_id = max(schema.id for schema in meta.schemas) + 1
    last = max(target.last_column_id, meta.last_column_id)
    updates.append({"action": "add-schema", "schema": schema_json(target.schema, new_id), "last-column-id": last})
    updates.append({"action": "set-current-schema", "schema-id": -1})


def schema_json(schema: Schema, schema_id: int) -> Json:
    """A schema as a request has it."""
    data = {**to_json(schema.struct), "schema-id": schema_id}
    return {**data, "identifier-field-ids": list(schema.identifier_ids)} if schema.identifier_ids else data


def _spec(meta: TableMeta, target: Target, requirements: list[Json], updates: list[Json]) -> None:
    requirements.append({"type": "assert-default-spec-id", "default-spec-id": meta.default_spec_id})
    requirements.append(
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": meta.last_partition_id}
    )
    same = layouts.same_spec(target.spec, meta.specs)
    if same is not None:
        updates.append({"action": "set-default-spec", "spec-id": same.spec_id})
        return
    new_id = max(spec.spec_id or 0 for spec in meta.specs) + 1
    updates.append({"action": "add-spec", "spec": {**spec_to_json(target.spec), "spec-id": new_id}})
    updates.append({"action": "set-default-spec", "spec-id": -1})


def _order(meta: TableMeta, target: Target, requirements: list[Json], updates: list[Json]) -> None:
    requirements.append({"type": "assert-default-sort-order-id", "default-sort-order-id": meta.default_order_id})
    same = layouts.same_order(target.order, meta.orders)
    if same is not None:
        updates.append({"action": "set-default-sort-order", "sort-order-id": same.order_id})
        return
    # Order 0 is *unsorted* by the specification; every other order counts from 1.
    new_id = max(order.order_id or 0 for order in meta.orders) + 1 if target.order.fields else 0
    updates.append({"action": "add-sort-order", "sort-order": {**order_to_json(target.order), "order-id": new_id}})
    updates.append({"action": "set-default-sort-order", "sort-order-id": -1 if new_id else 0})


def _properties(changes: tuple[Change, ...], updates: list[Json], expect: dict[str, str | None]) -> None:
    touched = [c for c in changes if c.kind in {ChangeKind.SET_PROPERTY, ChangeKind.REMOVE_PROPERTY}]
    expect.update({change.subject: change.before for change in touched})
    set_ = {change.subject: change.after for change in touched if change.after is not None}
    removed = [change.subject for change in touched if change.after is None]
    if set_:
        updates.append({"action": "set-properties", "updates": set_})
    if removed:
        updates.append({"action": "remove-properties", "removals": removed})


def _refs(
    declaration: Declaration,
    meta: TableMeta,
    changes: tuple[Change, ...],
    requirements: list[Json],
    updates: list[Json],
) -> None:
    touched = {
        c.subject.split(" ", 1)[1]: c.kind for c in changes if c.kind in {ChangeKind.SET_REF, ChangeKind.REMOVE_REF}
    }
    asserted = {item["ref"] for item in requirements if item["type"] == "assert-ref-snapshot-id"}
    for ref in declaration.refs:
        if ref.name not in touched:
            continue
        current = meta.refs.get(ref.name)
        if ref.name not in asserted:
            requirements.append(refs.requirement(ref.name, current))
        if touched[ref.name] is ChangeKind.REMOVE_REF:
            updates.append({"action": "remove-snapshot-ref", "ref-name": ref.name})
        else:
            updates.append(refs.update(attributes.target_ref(ref, current, meta)))


def create(target: Target, uuid: str, location: str | None, properties: Mapping[str, str]) -> CommitRequest:
    """The request that makes a new table. Without a location the catalog chooses one."""
    updates: list[dict[str, Any]] = [
        {"action": "assign-uuid", "uuid": uuid},
        {"action": "upgrade-format-version", "format-version": target.format_version},
        {
            "action": "add-schema",
            "schema": schema_json(target.schema, 0),
            "last-column-id": target.last_column_id,
        },
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": spec_to_json(target.spec)},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": order_to_json(target.order)},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        *([{"action": "set-location", "location": location.rstrip("/")}] if location else []),
        {"action": "set-properties", "updates": dict(properties)},
    ]
    return CommitRequest(({"type": "assert-create"},), tuple(updates))
