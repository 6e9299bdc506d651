"""Which deletes apply to a data file: the rules of the specification, and those Iceberg's planner adds to them. Pure.

A deletion vector stands for every position delete of its file. An equality delete is left out when the bounds or null
counts of its columns show that it can match no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from firnline.core.types import Field, Struct, children
from firnline.facts import single_values
from firnline.facts.meta import TableMeta
from firnline.facts.values import DeleteKind, PartitionKey


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """What metrics say of one column of one file; None where they say nothing."""

    lower: bytes | None = None
    upper: bytes | None = None
    nulls: int | None = None
    values: int | None = None


Ranges: TypeAlias = Mapping[int, ColumnRange]
_UNTOLD = ColumnRange()


@dataclass(frozen=True, slots=True)
class SliceDelete:
    """A live delete file, or one deletion vector of a Puffin file."""

    path: str
    kind: DeleteKind
    format: str
    size: int | None  # None where its writer left it out
    records: int | None
    spec_id: int
    partition: PartitionKey
    sequence: int
    referenced: str | None = None
    content_offset: int | None = None
    content_size: int | None = None
    equality_ids: tuple[int, ...] = ()
    ranges: Ranges = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """Deletes by what they apply to."""

    fields: Mapping[int, Field]
    ids: tuple[int, ...]
    vectors: Mapping[str, SliceDelete]
    by_path: Mapping[str, Sequence[SliceDelete]]
    by_partition: Mapping[PartitionKey, Sequence[SliceDelete]]
    equality: Mapping[PartitionKey, Sequence[SliceDelete]]
    anywhere: Sequence[SliceDelete]

    @staticmethod
    def of(meta: TableMeta, deletes: Sequence[SliceDelete]) -> Index:
        """The deletes of a table."""
        scopeless = {spec.spec_id or 0 for spec in meta.specs if all(each.transform == "void" for each in spec.fields)}
        vectors: dict[str, SliceDelete] = {}
        by_path: dict[str, list[SliceDelete]] = {}
        by_partition: dict[PartitionKey, list[SliceDelete]] = {}
        equality: dict[PartitionKey, list[SliceDelete]] = {}
        anywhere: list[SliceDelete] = []
        for each in deletes:
            match each.kind:
                case DeleteKind.VECTOR:
                    vectors[each.referenced or ""] = each
                case DeleteKind.POSITION_FILE:
                    by_path.setdefault(each.referenced or "", []).append(each)
                case DeleteKind.POSITION_FILES:
                    by_partition.setdefault(each.partition, []).append(each)
                case _ if each.spec_id in scopeless:
                    anywhere.append(each)
                case _:
                    equality.setdefault(each.partition, []).append(each)
        ids = tuple(sorted({one for each in deletes for one in each.equality_ids}))
        return Index(_fields(meta), ids, vectors, by_path, by_partition, equality, anywhere)

    def attached(self, path: str, partition: PartitionKey, sequence: int, ranges: Ranges) -> tuple[SliceDelete, ...]:
        """The deletes of one data file."""
        equality = (*self.anywhere, *self.equality.get(partition, ()))
        found = [each for each in equality if sequence < each.sequence and self._may_match(each, ranges)]
        vector = self.vectors.get(path)
        if vector is not None and sequence <= vector.sequence:
            return (*found, vector)
        positions = (*self.by_partition.get(partition, ()), *self.by_path.get(path, ()))
        return (*found, *(each for each in positions if sequence <= each.sequence))

    def _may_match(self, delete: SliceDelete, ranges: Ranges) -> bool:
        return all(
            _may_match(self.fields[one], ranges.get(one, _UNTOLD), delete.ranges.get(one, _UNTOLD))
            for one in delete.equality_ids
            if one in self.fields
        )


def _fields(meta: TableMeta) -> dict[int, Field]:
    found: dict[int, Field] = {}

    def add(struct: Struct) -> None:
        for each in struct.fields:
            if each.id is not None:
                found[each.id] = each
            if isinstance(each.type, Struct):
                add(each.type)

    for schema in (*meta.schemas, meta.schema):
        add(schema.struct)
    return found


def _may_match(column: Field, data: ColumnRange, delete: ColumnRange) -> bool:
    """Whether some value of the column may be in both files."""
    if children(column.type):
        return True
    if not column.required and _may_hold_null(data) and _may_hold_null(delete):
        return True
    if _only_null(column, data) and _no_null(column, delete):
        return False
    if _only_null(column, delete) and _no_null(column, data):
        return False
    return _overlap(column, data, delete)


def _may_hold_null(of: ColumnRange) -> bool:
    return of.nulls is None or of.nulls > 0


def _only_null(column: Field, of: ColumnRange) -> bool:
    return not column.required and of.nulls is not None and of.values is not None and of.nulls == of.values


def _no_null(column: Field, of: ColumnRange) -> bool:
    return column.required or (of.nulls is not None and of.nulls <= 0)


def _overlap(column: Field, data: ColumnRange, delete: ColumnRange) -> bool:
    lower, upper = _key(data.lower, column), _key(data.upper, column)
    delete_lower, delete_upper = _key(delete.lower, column), _key(delete.upper, column)
    if lower is None or upper is None or delete_lower is None or delete_upper is None:
        return True
    return bool(lower <= delete_upper and delete_lower <= upper)  # type: ignore[operator]  # keys of one type


def _key(bound: bytes | None, column: Field) -> single_values.Key | None:
    value = None if bound is None else single_values.decode(bound, column.type)
    return None if value is None else single_values.order_key(value, column.type)
