"""The target partition spec and sort order, by field id."""

from __future__ import annotations

from dataclasses import replace

from firnline.config.values import DeclaredPartition, DeclaredSort
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder, default_name
from firnline.core.types import Path, Struct, walk

FIRST_PARTITION_ID = 1000


def ids_by_path(struct: Struct) -> dict[Path, int]:
    """The id of every field under `struct`."""
    return {path: field.id for path, field in walk(struct) if field.id is not None}


def order(declared: tuple[DeclaredSort, ...], struct: Struct) -> SortOrder:
    """The declared order over this schema."""
    ids = ids_by_path(struct)
    return SortOrder(
        tuple(SortField(key.transform, (ids[key.column],), key.direction, key.null_order) for key in declared)
    )


def spec(
    declared: tuple[DeclaredPartition, ...],
    struct: Struct,
    current: PartitionSpec,
    history: tuple[PartitionSpec, ...],
    *,
    format_version: int,
    last_partition_id: int,
) -> PartitionSpec:
    """The declared spec over this schema.

    A field of the same source and transform keeps the id it ever had, so that old partitions still match. Format 1 may
    not lose or reorder fields: what is no longer declared stays as `void`.
    """
    ids = ids_by_path(struct)
    known = {_key(field): field for old in (*history, current) for field in old.fields if field.transform != "void"}
    wanted = tuple(_declared_field(part, ids, known) for part in declared)
    if format_version == 1:
        return PartitionSpec(_format_1(wanted, current, last_partition_id))
    last = last_partition_id
    fields: list[PartitionField] = []
    for field in wanted:
        if field.field_id is not None:
            fields.append(field)
            continue
        last += 1
        fields.append(replace(field, field_id=last))
    return PartitionSpec(tuple(fields))


def _key(field: PartitionField) -> tuple[tuple[int, ...], str]:
    return field.source_ids, field.transform


def _declared_field(
    part: DeclaredPartition, ids: dict[Path, int], known: dict[tuple[tuple[int, ...], str], PartitionField]
) -> PartitionField:
    source = (ids[part.column],)
    old = known.get((source, part.transform))
    name = part.name or (old.name if old else default_name(part.transform, part.column[-1]))
    return PartitionField(name, part.transform, source, old.field_id if old else None)


def _format_1(wanted: tuple[PartitionField, ...], current: PartitionSpec, last: int) -> tuple[PartitionField, ...]:
    by_key = {_key(field): field for field in wanted}
    kept: list[PartitionField] = []
    for old in current.fields:
        match = by_key.pop(_key(old), None)
        if match is not None:
            kept.append(replace(match, field_id=old.field_id))
        else:
            taken = any(field.name == old.name for field in wanted)
            name = f"{old.name}_{old.field_id}" if taken and old.transform != "void" else old.name
            kept.append(replace(old, transform="void", name=name))
    for field in by_key.values():
        last += 1
        kept.append(replace(field, field_id=last))
    return tuple(kept)


def effective(spec: PartitionSpec) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """What a spec does, void fields left out: two specs with the same effect are the same to a reader."""
    return tuple((field.name, field.transform, field.source_ids) for field in spec.fields if field.transform != "void")


def same_spec(target: PartitionSpec, specs: tuple[PartitionSpec, ...]) -> PartitionSpec | None:
    """An existing spec with exactly these fields and ids, to be used again instead of adding a twin."""
    wanted = [(field.name, field.transform, field.source_ids, field.field_id) for field in target.fields]
    for spec_ in specs:
        if [(field.name, field.transform, field.source_ids, field.field_id) for field in spec_.fields] == wanted:
            return spec_
    return None


def same_order(target: SortOrder, orders: tuple[SortOrder, ...]) -> SortOrder | None:
    """An existing order with exactly these fields."""
    return next((old for old in orders if old.fields == target.fields), None)


def show_spec(spec_: PartitionSpec, names: dict[int, str]) -> str:
    """`day(ts), bucket(16, id)`, or `unpartitioned`."""
    parts = [
        _show(field.transform, _name(field.source_ids, names)) for field in spec_.fields if field.transform != "void"
    ]
    return ", ".join(parts) or "unpartitioned"


def show_order(order_: SortOrder, names: dict[int, str]) -> str:
    """`ts desc nulls-last`, or `unsorted`."""
    parts = [
        f"{_show(key.transform, _name(key.source_ids, names))} {key.direction} {key.null_order}"
        for key in order_.fields
    ]
    return ", ".join(parts) or "unsorted"


def _name(source_ids: tuple[int, ...], names: dict[int, str]) -> str:
    return names.get(source_ids[0], f"#{source_ids[0]}")


def _show(transform: str, column: str) -> str:
    if transform == "identity":
        return column
    word, _, parameter = transform.partition("[")
    return f"{word}({parameter.rstrip(']')}, {column})" if parameter else f"{word}({column})"
