"""Moves as JSON and back. Decoding raises KeyError, TypeError or ValueError on what it cannot read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from firnline.core.ids import Identifier, SnapshotId
from firnline.core.types import Json
from firnline.facts.meta import Ref
from firnline.history.values import Action, Concern, Consequence, Entry, Move, Span, Standing
from firnline.loop import bodies

_COUNTS = ("added", "deleted", "rows", "deletes", "files")


def encode(body: Move) -> Json:
    """`history.rollback` and `history.ref`."""
    data = {
        "table": str(body.identifier),
        "uuid": body.uuid,
        "action": body.action.value,
        "before": _ref(body.before),
        "after": _ref(body.after),
        "origin": _entry(body.origin),
        "target": _entry(body.target),
        "leaving": _span(body.leaving),
        "returning": _span(body.returning),
        "consequences": [{"concern": one.concern.value, "text": one.text} for one in body.consequences],
        "accepted": body.accepted,
    }
    return {key: value for key, value in data.items() if value is not None}


def decode(data: Json) -> Move:
    """The inverse of `encode`."""
    return Move(
        identifier=Identifier.parse(bodies.text(data["table"])),
        uuid=bodies.text(data["uuid"]),
        action=Action(bodies.text(data["action"])),
        before=_to_ref(data.get("before")),
        after=_to_ref(data.get("after")),
        origin=_to_entry(data.get("origin")),
        target=_to_entry(data.get("target")),
        leaving=_to_span(data["leaving"]),
        returning=_to_span(data["returning"]),
        consequences=tuple(_consequence(bodies.mapping(item)) for item in bodies.items(data["consequences"])),
        accepted=bodies.optional_text(data.get("accepted")),
    )


def _ref(ref: Ref | None) -> Json:
    if ref is None:
        return None
    return {
        "name": ref.name,
        "kind": ref.kind,
        "snapshot": ref.snapshot,
        "max-ref-age-ms": ref.ref_age_max_ms,
        "max-snapshot-age-ms": ref.snapshot_age_max_ms,
        "min-snapshots-to-keep": ref.snapshots_min,
    }


def _to_ref(value: Any) -> Ref | None:
    if value is None:
        return None
    data = bodies.mapping(value)
    kind = bodies.text(data["kind"])
    if kind not in {"branch", "tag"}:
        raise ValueError(f"{kind!r} is neither branch nor tag")
    keys = ("max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep")
    retention = (bodies.optional_number(data.get(key)) for key in keys)
    return Ref(bodies.text(data["name"]), kind, SnapshotId(bodies.number(data["snapshot"])), *retention)


def _entry(entry: Entry | None) -> Json:
    if entry is None:
        return None
    return {
        "id": entry.id,
        "at": entry.at.isoformat(),
        "operation": entry.operation,
        **{name: getattr(entry, name) for name in _COUNTS},
        "writer": entry.writer,
        "run": entry.run,
        "refs": list(entry.refs),
        "standing": entry.standing.value,
    }


def _to_entry(value: Any) -> Entry | None:
    if value is None:
        return None
    data = bodies.mapping(value)
    at = datetime.fromisoformat(bodies.text(data["at"]))
    if at.tzinfo is None:
        raise ValueError(f"{data['at']!r} has no time zone")
    return Entry(
        id=SnapshotId(bodies.number(data["id"])),
        at=at,
        operation=bodies.text(data["operation"]),
        **{name: bodies.optional_number(data.get(name)) for name in _COUNTS},
        writer=bodies.text(data["writer"]),
        run=bodies.optional_text(data.get("run")),
        refs=tuple(bodies.text(name) for name in bodies.items(data["refs"])),
        standing=Standing(bodies.text(data["standing"])),
    )


def _span(span: Span) -> Json:
    return {"count": span.count, "entries": [_entry(entry) for entry in span.entries]}


def _to_span(value: Any) -> Span:
    data = bodies.mapping(value)
    found = [_to_entry(bodies.mapping(item)) for item in bodies.items(data["entries"])]
    return Span(bodies.number(data["count"]), tuple(entry for entry in found if entry is not None))


def _consequence(data: dict[str, Any]) -> Consequence:
    return Consequence(Concern(bodies.text(data["concern"])), bodies.text(data["text"]))
