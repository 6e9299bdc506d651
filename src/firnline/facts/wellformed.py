"""Metadata JSON held to the kinds of values it must have, before anything is made of it.

Json itself is happy with a word where a number belongs. What is wrong then would come out anywhere, much later, as an
error of Python's; here it is a TypeError that names the place. Keys nobody knows are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

_LONG = 2**63
_MILLIS_MAX = 253_402_300_799_999  # the end of year 9999: later times are damage, and no calendar here has them

_Holds: TypeAlias = Callable[[Any], bool]


def _whole(value: Any) -> bool:
    return type(value) is int and -_LONG <= value < _LONG


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _LONG


def _moment(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MILLIS_MAX


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _wholes(value: Any) -> bool:
    return isinstance(value, list) and all(map(_whole, value))


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


_WORDS: Mapping[_Holds, str] = {
    _whole: "a whole number",
    _count: "a count",
    _moment: "a time",
    _text: "text",
    _truth: "true or false",
    _texts: "a mapping of texts",
    _list: "a list",
    _wholes: "a list of whole numbers",
    _mapping: "a mapping",
}

# Keys with a `!` must be there; the others may be missing or null.
_TABLE: Mapping[str, _Holds] = {
    "format-version!": _whole, "table-uuid": _text, "location!": _text, "last-updated-ms!": _moment,
    "last-column-id!": _whole, "schemas": _list, "schema": _mapping, "current-schema-id": _whole,
    "partition-specs": _list, "partition-spec": _list, "default-spec-id": _whole, "last-partition-id": _whole,
    "sort-orders": _list, "default-sort-order-id": _whole, "properties": _texts, "current-snapshot-id": _whole,
    "snapshots": _list, "refs": _mapping, "snapshot-log": _list, "metadata-log": _list, "last-sequence-number": _whole,
    "next-row-id": _whole, "statistics": _list, "partition-statistics": _list, "encryption-keys": _list,
}  # fmt: skip
_SNAPSHOT: Mapping[str, _Holds] = {
    "snapshot-id!": _whole, "parent-snapshot-id": _whole, "sequence-number": _whole, "timestamp-ms!": _moment,
    "manifest-list": _text, "manifests": _list, "summary": _texts, "schema-id": _whole,
}  # fmt: skip
_REF: Mapping[str, _Holds] = {
    "type!": _text, "snapshot-id!": _whole, "max-ref-age-ms": _whole, "max-snapshot-age-ms": _whole,
    "min-snapshots-to-keep": _whole,
}  # fmt: skip
_FIELD: Mapping[str, _Holds] = {"id!": _whole, "name!": _text, "required!": _truth, "doc": _text}
_PART: Mapping[str, _Holds] = {
    "name!": _text, "transform!": _text, "source-id": _whole, "source-ids": _wholes, "field-id": _whole,
}  # fmt: skip
_KEY: Mapping[str, _Holds] = {
    "transform!": _text, "source-id": _whole, "source-ids": _wholes, "direction!": _text, "null-order!": _text,
}  # fmt: skip
_STATISTICS: Mapping[str, _Holds] = {"snapshot-id": _whole, "statistics-path": _text, "file-size-in-bytes": _count}


def check(raw: Any) -> None:
    """Raise TypeError with the place and what is wrong there. Nulls count as missing in keys that may be missing."""
    _check(raw, _TABLE, "the file")
    for schema in raw.get("schemas") or [raw.get("schema") or {"fields": []}]:
        _struct(schema, "schemas")
        _check(schema, {"schema-id": _whole, "identifier-field-ids": _wholes}, "schemas")
    for spec in raw.get("partition-specs") or [{"spec-id": 0, "fields": raw.get("partition-spec") or []}]:
        _check(spec, {"spec-id!": _whole, "fields!": _list}, "partition-specs")
        _each(spec["fields"], _PART, "partition-specs.fields")
    for order in raw.get("sort-orders") or ():
        _check(order, {"order-id!": _whole, "fields!": _list}, "sort-orders")
        _each(order["fields"], _KEY, "sort-orders.fields")
    _each(raw.get("snapshots"), _SNAPSHOT, "snapshots")
    _each([*(raw.get("refs") or {}).values()], _REF, "refs")
    _each(raw.get("snapshot-log"), {"timestamp-ms!": _moment, "snapshot-id!": _whole}, "snapshot-log")
    _each(raw.get("metadata-log"), {"timestamp-ms!": _moment, "metadata-file!": _text}, "metadata-log")
    _each(raw.get("statistics"), _STATISTICS, "statistics")
    _each(raw.get("partition-statistics"), _STATISTICS, "partition-statistics")


def _each(items: Any, kinds: Mapping[str, _Holds], place: str) -> None:
    for item in items or ():
        _check(item, kinds, place)


def _check(data: Any, kinds: Mapping[str, _Holds], place: str) -> None:
    if not isinstance(data, dict):
        raise TypeError(f"{place}: {_shown(data)} is no mapping")
    for name, holds in kinds.items():
        key = name.rstrip("!")
        value = data.get(key)
        if value is None:
            if key != name:
                raise TypeError(f"{place} has no {key}")
        elif not holds(value):
            raise TypeError(f"{place}: {key} is {_shown(value)}, and not {_WORDS[holds]}")


def _struct(data: Any, place: str) -> None:
    _check(data, {"fields!": _list}, place)
    for field in data["fields"]:
        _check(field, _FIELD, f"{place}.fields")
        _type(field.get("type"), f"{place}.{field['name']}")


def _type(data: Any, place: str) -> None:
    if isinstance(data, str):
        return
    _check(data, {"type!": _text}, place)
    match data["type"]:
        case "struct":
            _struct(data, place)
        case "list":
            _check(data, {"element-id!": _whole, "element-required!": _truth}, place)
            _type(data.get("element"), place)
        case "map":
            _check(data, {"key-id!": _whole, "value-id!": _whole, "value-required!": _truth}, place)
            _type(data.get("key"), place)
            _type(data.get("value"), place)
        case _:
            return  # a type of a later format, kept as its name


def _shown(value: Any) -> str:
    return repr(value)[:40]
