"""Partition specs and sort orders as values: how rows are laid out in files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from firnline.core.types import Decimal, Fixed, Primitive, Type, show

_PARAMETER = re.compile(r"^(bucket|truncate)\[(\d{1,9})\]$")
_PLAIN = frozenset({"identity", "void", "year", "month", "day", "hour"})
_DATES = frozenset({"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_BUCKETED = _DATES | {"int", "long", "time", "string", "uuid", "binary"}
_TRUNCATED = frozenset({"int", "long", "string", "binary"})
_UNORDERED = frozenset({"variant", "unknown"})
TRANSFORMS = ("identity", "year", "month", "day", "hour", "bucket[N]", "truncate[W]", "void")


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One part of a partition: `transform` of the column `source_ids[0]` (several in later formats)."""

    name: str
    transform: str
    source_ids: tuple[int, ...]
    field_id: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """How rows fall into partitions. No fields: unpartitioned."""

    fields: tuple[PartitionField, ...] = ()
    spec_id: int | None = None


@dataclass(frozen=True, slots=True)
class SortField:
    """One key of a sort order."""

    transform: str
    source_ids: tuple[int, ...]
    direction: str = "asc"
    null_order: str = "nulls-first"


@dataclass(frozen=True, slots=True)
class SortOrder:
    """The order rows are written in. No fields: unsorted."""

    fields: tuple[SortField, ...] = ()
    order_id: int | None = None


def parse_transform(text: str) -> tuple[str, int | None] | None:
    """(`bucket`, 16), (`day`, None), or None for a transform this version does not know."""
    lowered = text.strip().lower()
    if lowered in _PLAIN:
        return lowered, None
    found = _PARAMETER.match(lowered)
    return (found[1], int(found[2])) if found and int(found[2]) > 0 else None


def accepts(transform: str, source: Type) -> bool:
    """Whether the transform takes a column of this type. An unknown transform is taken at its word."""
    parsed = parse_transform(transform)
    if parsed is None or parsed[0] == "void":
        return True
    atom = isinstance(source, Primitive | Decimal | Fixed)
    name = source.name if isinstance(source, Primitive) else ""
    match parsed[0]:
        case "identity":
            return atom and name not in _UNORDERED
        case "year" | "month" | "day":
            return name in _DATES
        case "hour":
            return name in _DATES and name != "date"
        case "bucket":
            return name in _BUCKETED or isinstance(source, Decimal | Fixed)
        case _:
            return name in _TRUNCATED or isinstance(source, Decimal)


def why_not(transform: str, source: Type) -> str:
    """The sentence for a transform that does not take this type."""
    takes = {
        "identity": "any primitive type",
        "year": "a date or a timestamp",
        "month": "a date or a timestamp",
        "day": "a date or a timestamp",
        "hour": "a timestamp",
        "bucket": "int, long, decimal, date, time, timestamp, string, uuid, fixed or binary",
        "truncate": "int, long, decimal, string or binary",
    }
    word = transform.split("[", maxsplit=1)[0]
    return f"{transform} does not take {show(source)}; it takes {takes.get(word, 'other types')}."


def default_name(transform: str, column: str) -> str:
    """The name Iceberg's own builders give a partition field."""
    word = transform.split("[", maxsplit=1)[0]
    if word == "identity":
        return column
    return f"{column}_{'trunc' if word == 'truncate' else 'null' if word == 'void' else word}"


def _sources(data: Any) -> tuple[int, ...]:
    return tuple(data["source-ids"]) if "source-ids" in data else (data["source-id"],)


def _sources_json(source_ids: tuple[int, ...]) -> dict[str, Any]:
    return {"source-id": source_ids[0]} if len(source_ids) == 1 else {"source-ids": list(source_ids)}


def spec_from_json(data: Any) -> PartitionSpec:
    """A partition spec from table metadata."""
    fields = tuple(
        # Early v1 tables have no field ids: Iceberg then counts from 1000.
        PartitionField(item["name"], item["transform"], _sources(item), item.get("field-id", 1000 + position))
        for position, item in enumerate(data["fields"])
    )
    return PartitionSpec(fields, data["spec-id"])


def spec_to_json(spec: PartitionSpec) -> Any:
    """The spec as a commit request has it."""
    fields = [
        {
            "name": field.name,
            "transform": field.transform,
            **_sources_json(field.source_ids),
            "field-id": field.field_id,
        }
        for field in spec.fields
    ]
    return {"spec-id": spec.spec_id or 0, "fields": fields}


def order_from_json(data: Any) -> SortOrder:
    """A sort order from table metadata."""
    fields = tuple(
        SortField(item["transform"], _sources(item), item["direction"], item["null-order"]) for item in data["fields"]
    )
    return SortOrder(fields, data["order-id"])


def order_to_json(order: SortOrder) -> Any:
    """The order as a commit request has it."""
    fields = [
        {
            "transform": field.transform,
            **_sources_json(field.source_ids),
            "direction": field.direction,
            "null-order": field.null_order,
        }
        for field in order.fields
    ]
    return {"order-id": order.order_id or 0, "fields": fields}
