"""Step bodies as JSON and back. Decoding raises KeyError, TypeError or ValueError on what it cannot read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.loop import bodies
from firnline.tables.values import (
    Change,
    ChangeClass,
    ChangeKind,
    NamespaceChange,
    Price,
    Refusal,
    TableChange,
    TableDrop,
    TableRename,
)


def encode_change(body: TableChange) -> Json:
    """`table.change` and `table.create`."""
    return {
        "table": str(body.identifier),
        "uuid": body.uuid,
        "creates": body.creates,
        "request": bodies.encode_request(body.request),
        "changes": [_encode(change) for change in body.changes],
    }


def decode_change(data: Json) -> TableChange:
    """The inverse of `encode_change`."""
    return TableChange(
        identifier=Identifier.parse(bodies.text(data["table"])),
        uuid=bodies.text(data["uuid"]),
        changes=_changes(data["changes"]),
        request=bodies.decode_request(data["request"]),
        creates=bodies.flag(data["creates"]),
    )


def encode_drop(body: TableDrop) -> Json:
    """`table.drop`."""
    return {
        "table": str(body.identifier),
        "uuid": body.uuid,
        "purge": body.purge,
        "changes": [_encode(change) for change in body.changes],
    }


def decode_drop(data: Json) -> TableDrop:
    """The inverse of `encode_drop`."""
    return TableDrop(
        Identifier.parse(bodies.text(data["table"])),
        bodies.text(data["uuid"]),
        bodies.flag(data["purge"]),
        _changes(data["changes"]),
    )


def encode_rename(body: TableRename) -> Json:
    """`table.rename`."""
    return {
        "table": str(body.identifier),
        "uuid": body.uuid,
        "to": str(body.to),
        "location": body.location,
        "readers": list(body.readers),
    }


def decode_rename(data: Json) -> TableRename:
    """The inverse of `encode_rename`."""
    return TableRename(
        Identifier.parse(bodies.text(data["table"])),
        bodies.text(data["uuid"]),
        Identifier.parse(bodies.text(data["to"])),
        bodies.text(data["location"]),
        tuple(bodies.text(item) for item in bodies.items(data["readers"])),
    )


def encode_namespace(body: NamespaceChange) -> Json:
    """`namespace.change`."""
    return {
        "namespace": list(body.namespace),
        "creates": body.creates,
        "updates": dict(body.updates),
        "removals": list(body.removals),
        "changes": [_encode(change) for change in body.changes],
    }


def decode_namespace(data: Json) -> NamespaceChange:
    """The inverse of `encode_namespace`."""
    return NamespaceChange(
        tuple(bodies.text(part) for part in bodies.items(data["namespace"])),
        bodies.flag(data["creates"]),
        {bodies.text(key): bodies.text(value) for key, value in bodies.mapping(data["updates"]).items()},
        tuple(bodies.text(item) for item in bodies.items(data["removals"])),
        _changes(data["changes"]),
    )


def _encode(change: Change) -> Json:
    said = {key: value for key, value in asdict(change).items() if value not in (None, "", ())}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}


def _changes(data: Any) -> tuple[Change, ...]:
    return tuple(_decode(bodies.mapping(item)) for item in bodies.items(data))


def _decode(data: dict[str, Any]) -> Change:
    price = bodies.mapping(data["price"])
    refusal = data.get("refusal")
    return Change(
        kind=ChangeKind(data["kind"]),
        subject=bodies.text(data["subject"]),
        before=bodies.optional_text(data.get("before")),
        after=bodies.optional_text(data.get("after")),
        classes=tuple(ChangeClass(item) for item in bodies.items(data.get("classes", []))),
        price=Price(*(bodies.optional_number(price.get(key)) for key in ("files", "rows", "bytes"))),
        detail=bodies.text(data.get("detail", "")),
        readers=tuple(bodies.text(item) for item in bodies.items(data.get("readers", []))),
        refusal=None if refusal is None else _refusal(bodies.mapping(refusal)),
        accepted=bodies.optional_text(data.get("accepted")),
    )


def _refusal(data: dict[str, Any]) -> Refusal:
    return Refusal(bodies.text(data["reason"]), bodies.text(data["recipe"]), bodies.flag(data["acceptable"]))
