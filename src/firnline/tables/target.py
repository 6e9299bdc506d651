"""Where a table is to be: the declared schema, spec and order in the table's own ids."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firnline.config.values import Declaration
from firnline.core.layout import PartitionSpec, SortOrder
from firnline.core.types import Struct
from firnline.facts.meta import Schema, TableMeta
from firnline.tables import layouts, schemas

FORMAT_DEFAULT = 2


@dataclass(frozen=True, slots=True)
class Target:
    """The state to reach."""

    schema: Schema
    last_column_id: int
    spec: PartitionSpec
    order: SortOrder
    format_version: int


def of(declaration: Declaration, meta: TableMeta) -> Target:
    """The declared state, in the table's ids."""
    version = max(declaration.format_version or meta.format_version, meta.format_version)
    assigned = schemas.assign(declaration.schema, meta.schema.struct, declaration.was, meta.last_column_id)
    ids = layouts.ids_by_path(assigned.struct)
    schema = Schema(-1, assigned.struct, tuple(sorted(ids[path] for path in declaration.identifier_fields)))
    spec = layouts.spec(
        declaration.partition,
        assigned.struct,
        meta.spec,
        meta.specs,
        format_version=version,
        last_partition_id=max(meta.last_partition_id, layouts.FIRST_PARTITION_ID - 1),
    )
    order = layouts.order(declaration.order, assigned.struct)
    return Target(schema, assigned.last_id, spec, order, version)


def new_table(declaration: Declaration) -> Target:
    """The declared state of a table that is not there yet."""
    empty = Struct(())
    assigned = schemas.assign(declaration.schema, empty, {}, 0)
    ids = layouts.ids_by_path(assigned.struct)
    version = declaration.format_version or FORMAT_DEFAULT
    spec = layouts.spec(
        declaration.partition,
        assigned.struct,
        PartitionSpec(spec_id=0),
        (),
        format_version=version,
        last_partition_id=layouts.FIRST_PARTITION_ID - 1,
    )
    schema = Schema(0, assigned.struct, tuple(sorted(ids[path] for path in declaration.identifier_fields)))
    order = layouts.order(declaration.order, assigned.struct)
    return Target(
        schema,
        assigned.last_id,
        replace(spec, spec_id=0),
        replace(order, order_id=1 if order.fields else 0),
        version,
    )
