"""Declarations and tables as values, without YAML and without a catalog, for the tests of the pure rooms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from firnline.config import typetext
from firnline.config.values import (
    Acceptance,
    Declaration,
    DeclaredPartition,
    DeclaredRef,
    DeclaredSort,
    Source,
)
from firnline.core.ids import Identifier, SnapshotId, TableUuid
from firnline.core.layout import PartitionSpec
from firnline.core.types import Field, Path, Struct, children, with_children
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.tables import attributes, target

ORDERS = Identifier(("shop",), "orders")
UUID = TableUuid("11111111-2222-4333-8444-555555555555")
METADATA = "file:///w/shop/orders/metadata/00003-a.metadata.json"
REASON = "agreed with the analysts in March"


def column(text: str) -> Field:
    """`note: string`, `id: long required`."""
    name, _, of = text.partition(": ")
    type_, required = typetext.parse(of)
    return Field(name, type_, required)


def struct(*columns: str) -> Struct:
    """Columns in order."""
    return Struct(tuple(column(text) for text in columns))


def declare(*columns: str, **more: Any) -> Declaration:
    """The table file of shop.orders."""
    return Declaration(ORDERS, Source("tables/orders.yaml"), struct(*columns), **more)


def partition(text: str, name: str | None = None) -> DeclaredPartition:
    """`day at`, `bucket[16] id`."""
    transform, _, path = text.partition(" ")
    return DeclaredPartition(transform, tuple(path.split(".")), name)


def sort(text: str, direction: str = "asc") -> DeclaredSort:
    """`identity id`."""
    transform, _, path = text.partition(" ")
    return DeclaredSort(
        transform, tuple(path.split(".")), direction, "nulls-first" if direction == "asc" else "nulls-last"
    )


def accept(change: str, path: str | None = None) -> tuple[Acceptance, ...]:
    """One recorded decision."""
    return (Acceptance(change, tuple(path.split(".")) if path else None, REASON),)


def edit(declaration: Declaration, path: str, change: Callable[[Field], Field | None]) -> Declaration:
    """The declaration with the field at `path` changed, or without it."""
    fields = _edited(declaration.schema.fields, tuple(path.split(".")), change)
    return replace(declaration, schema=Struct(fields))


def _edited(fields: tuple[Field, ...], path: Path, change: Callable[[Field], Field | None]) -> tuple[Field, ...]:
    found: list[Field] = []
    for field in fields:
        if field.name != path[0]:
            found.append(field)
        elif len(path) == 1:
            found += [new for new in [change(field)] if new is not None]
        else:
            inside = _edited(children(field.type), path[1:], change)
            found.append(replace(field, type=with_children(field.type, inside)))
    assert tuple(found) != fields, f"nothing at {path} was edited"
    return tuple(found)


def add(declaration: Declaration, text: str, at: int | None = None) -> Declaration:
    """One more column, at the end unless said."""
    fields = list(declaration.schema.fields)
    fields.insert(len(fields) if at is None else at, column(text))
    return replace(declaration, schema=Struct(tuple(fields)))


def add_in(declaration: Declaration, path: str, text: str) -> Declaration:
    """One more field at the end of the struct at `path`."""
    return edit(declaration, path, lambda field: replace(field, type=Struct((*children(field.type), column(text)))))


def without(declaration: Declaration, path: str) -> Declaration:
    """One field fewer."""
    return edit(declaration, path, lambda _: None)


def retype(declaration: Declaration, path: str, text: str) -> Declaration:
    """Another type at `path`."""
    return edit(declaration, path, lambda field: replace(field, type=typetext.parse(text)[0]))


def rename(declaration: Declaration, path: str, name: str) -> Declaration:
    """Another name at `path`, declared as a rename."""
    *parents, old = path.split(".")
    renamed = edit(declaration, path, lambda field: replace(field, name=name))
    return replace(renamed, was={**declaration.was, (*parents, name): old})


def alter(declaration: Declaration, path: str, **more: Any) -> Declaration:
    """Other attributes at `path`: required, doc, defaults."""
    return edit(declaration, path, lambda field: replace(field, **more))


def branch(name: str, **more: Any) -> DeclaredRef:
    """A declared branch."""
    return DeclaredRef(name, "branch", **more)


def tag(name: str, **more: Any) -> DeclaredRef:
    """A declared tag."""
    return DeclaredRef(name, "tag", **more)


def snapshot(
    snapshot_id: int,
    parent: int | None = None,
    *,
    schema: int | None = 0,
    millis: int | None = None,
    summary: Mapping[str, str] | None = None,
) -> Snapshot:
    """A snapshot whose sequence number is its id and whose time is its id in seconds, unless said."""
    return Snapshot(
        id=SnapshotId(snapshot_id),
        parent=None if parent is None else SnapshotId(parent),
        sequence=snapshot_id,
        millis=snapshot_id * 1000 if millis is None else millis,
        manifest_list=f"file:///w/shop/orders/metadata/snap-{snapshot_id}.avro",
        summary={"operation": "append", **(summary or {})},
        schema_id=schema,
    )


def ref(name: str, snapshot_id: int, kind: str = "branch", **more: Any) -> Ref:
    """A ref of a table."""
    return Ref(name, kind, SnapshotId(snapshot_id), **more)


def table(
    declaration: Declaration,
    *,
    snapshots: tuple[Snapshot, ...] = (snapshot(1), snapshot(2, 1)),
    refs: tuple[Ref, ...] = (),
    main: int | None = -1,
    older: tuple[PartitionSpec, ...] = (),
    properties: Mapping[str, str] | None = None,
    **more: Any,
) -> TableMeta:
    """The table as the declaration would have made it, with snapshots; main is at the last unless said."""
    goal = target.new_table(declaration)
    current = (snapshots[-1].id if snapshots else None) if main == -1 else main
    all_refs = (*refs, *(() if current is None or any(r.name == "main" for r in refs) else (ref("main", current),)))
    declared = {key: value for key, value in attributes.wanted_properties(declaration).items() if value is not None}
    specs = (*older, replace(goal.spec, spec_id=len(older)))
    ids = [field.field_id for spec in specs for field in spec.fields if field.field_id is not None]
    meta = TableMeta(
        location=METADATA,
        uuid=UUID,
        format_version=goal.format_version,
        table_location="file:///w/shop/orders",
        last_updated_ms=9000,
        last_column_id=goal.last_column_id,
        schemas=(goal.schema,),
        current_schema_id=0,
        specs=specs,
        default_spec_id=len(older),
        last_partition_id=max(ids, default=999),
        orders=(goal.order,),
        default_order_id=goal.order.order_id or 0,
        properties={**declared, **(properties or {})},
        current_snapshot_id=None if current is None else SnapshotId(current),
        snapshots=snapshots,
        refs={one.name: one for one in all_refs},
        last_sequence_number=max((one.sequence for one in snapshots), default=0),
    )
    return replace(meta, **more)
