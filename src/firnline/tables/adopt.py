"""A table back to a declaration, so that a plan right after is empty."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from firnline.config.values import Declaration, DeclaredPartition, DeclaredRef, DeclaredSort, Source
from firnline.core.errors import Refused
from firnline.core.ids import Identifier
from firnline.core.keys import RESERVED_PREFIX
from firnline.core.layout import default_name
from firnline.core.types import Path, Struct, walk, without_ids
from firnline.facts.meta import Ref, TableMeta

_FIELDS = frozenset({"owner", "comment"})


def declaration(identifier: Identifier, meta: TableMeta) -> Declaration:
    """The file that describes this table as it is."""
    struct = meta.schema.struct
    paths: dict[int, Path] = {field.id: path for path, field in walk(struct) if field.id is not None}
    shape = without_ids(struct)
    assert isinstance(shape, Struct)
    properties = {
        key: value
        for key, value in sorted(meta.properties.items())
        if key not in _FIELDS and not key.startswith(RESERVED_PREFIX)
    }
    return Declaration(
        identifier=identifier,
        source=Source(f"{identifier}"),
        schema=shape,
        identifier_fields=tuple(paths[field_id] for field_id in meta.schema.identifier_ids),
        partition=_partition(identifier, meta, paths),
        order=_order(identifier, meta, paths),
        properties=properties,
        format_version=meta.format_version,
        refs=tuple(_ref(ref) for name, ref in sorted(meta.refs.items()) if _worth_declaring(ref)),
        owner=meta.properties.get("owner") or None,
        description=meta.properties.get("comment") or None,
    )


def _path_of(identifier: Identifier, sources: tuple[int, ...], paths: dict[int, Path], what: str) -> Path:
    if len(sources) == 1 and sources[0] in paths:
        return paths[sources[0]]
    raise Refused(
        f"{identifier} has a {what} over a column that the current schema does not have.",
        why="A declaration names columns, and this one has no name any more.",
        next_step="Change the table's layout first, with the engine that made it.",
    )


def _partition(identifier: Identifier, meta: TableMeta, paths: dict[int, Path]) -> tuple[DeclaredPartition, ...]:
    parts = []
    for field in meta.spec.fields:
        if field.transform == "void":
            continue
        path = _path_of(identifier, field.source_ids, paths, "partition")
        name = None if field.name == default_name(field.transform, path[-1]) else field.name
        parts.append(DeclaredPartition(field.transform, path, name))
    return tuple(parts)


def _order(identifier: Identifier, meta: TableMeta, paths: dict[int, Path]) -> tuple[DeclaredSort, ...]:
    return tuple(
        DeclaredSort(
            key.transform, _path_of(identifier, key.source_ids, paths, "sort key"), key.direction, key.null_order
        )
        for key in meta.order.fields
    )


def _worth_declaring(ref: Ref) -> bool:
    retention = (ref.ref_age_max_ms, ref.snapshot_age_max_ms, ref.snapshots_min)
    return ref.name != "main" or any(value is not None for value in retention)


def _ref(ref: Ref) -> DeclaredRef:
    declared = DeclaredRef(
        ref.name,
        ref.kind,
        ref_age_max=_age(ref.ref_age_max_ms),
        snapshot_age_max=_age(ref.snapshot_age_max_ms),
        snapshots_min=ref.snapshots_min,
    )
    return replace(declared, snapshot=ref.snapshot) if ref.kind == "tag" else declared


def _age(millis: int | None) -> timedelta | None:
    return None if millis is None else timedelta(milliseconds=millis)
