"""The requirements of a commit, held against metadata just loaded.

The server checks them again, and its word counts. But servers word a broken requirement in their own ways, and a lost
race is answered with the same status: checked here first, what can never hold again is told from what may be sent
again. And what the specification does not know is not sent: some servers die of it, with a status that proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firnline.core.types import Json
from firnline.loop.commits import CommitRequest

_FIELDS = {
    "assert-table-uuid": ("uuid", "table-uuid"),
    "assert-last-assigned-field-id": ("last-assigned-field-id", "last-column-id"),
    "assert-current-schema-id": ("current-schema-id", "current-schema-id"),
    "assert-last-assigned-partition-id": ("last-assigned-partition-id", "last-partition-id"),
    "assert-default-spec-id": ("default-spec-id", "default-spec-id"),
    "assert-default-sort-order-id": ("default-sort-order-id", "default-sort-order-id"),
}
_Shape = Mapping[str, type]  # what an item must have
_REQUIREMENTS: Mapping[str, _Shape] = {
    "assert-create": {},
    "assert-table-uuid": {"uuid": str},
    "assert-ref-snapshot-id": {"ref": str},
    "assert-last-assigned-field-id": {"last-assigned-field-id": int},
    "assert-current-schema-id": {"current-schema-id": int},
    "assert-last-assigned-partition-id": {"last-assigned-partition-id": int},
    "assert-default-spec-id": {"default-spec-id": int},
    "assert-default-sort-order-id": {"default-sort-order-id": int},
}
_UPDATES: Mapping[str, _Shape] = {
    "add-encryption-key": {"encryption-key": dict},
    "add-schema": {"schema": dict},
    "add-snapshot": {"snapshot": dict},
    "add-sort-order": {"sort-order": dict},
    "add-spec": {"spec": dict},
    "assign-uuid": {"uuid": str},
    "enable-row-lineage": {},
    "remove-encryption-key": {"key-id": str},
    "remove-partition-specs": {"spec-ids": list},
    "remove-partition-statistics": {"snapshot-id": int},
    "remove-properties": {"removals": list},
    "remove-schemas": {"schema-ids": list},
    "remove-snapshot-ref": {"ref-name": str},
    "remove-snapshots": {"snapshot-ids": list},
    "remove-statistics": {"snapshot-id": int},
    "set-current-schema": {"schema-id": int},
    "set-default-sort-order": {"sort-order-id": int},
    "set-default-spec": {"spec-id": int},
    "set-location": {"location": str},
    "set-partition-statistics": {"partition-statistics": dict},
    "set-properties": {"updates": dict},
    "set-snapshot-ref": {"ref-name": str, "type": str, "snapshot-id": int},
    "set-statistics": {"statistics": dict},
    "upgrade-format-version": {"format-version": int},
}


def unheard(request: CommitRequest) -> str | None:
    """The first thing in the request that the specification does not know; None when it knows all."""
    for item in request.requirements:
        if wrong := _misshapen(item, "type", "requirement", _REQUIREMENTS):
            return wrong
    for update in request.updates:
        if wrong := _misshapen(update, "action", "update", _UPDATES):
            return wrong
    return None


def _misshapen(item: Json, key: str, what: str, known: Mapping[str, _Shape]) -> str | None:
    kind = item.get(key)
    if kind not in known:
        return f"the specification knows no {what} {kind!r}"
    for name, wanted in known[kind].items():
        if not isinstance(item.get(name), wanted):
            return f"the {what} {kind!r} has no {name}, or one the specification does not know"
    return None


def broken(requirements: tuple[Json, ...], metadata: Json) -> str | None:
    """The sentence about the first requirement that does not hold on a table of this metadata."""
    for item in requirements:
        if wrong := _broken(item, metadata):
            return f"Requirement failed: {wrong}"
    return None


def _broken(item: Json, metadata: Json) -> str | None:
    kind = item["type"]
    if kind == "assert-create":
        return "the table exists already"
    if kind == "assert-ref-snapshot-id":
        return _moved(str(item.get("ref")), item.get("snapshot-id"), _ref(metadata, str(item.get("ref"))))
    asked, there = _FIELDS[kind]
    wanted, found = item.get(asked), _field(metadata, there)
    if isinstance(wanted, str) and isinstance(found, str):
        wanted, found = wanted.lower(), found.lower()
    return None if wanted == found else f"{there} was expected as {wanted} and is {found}"


def _moved(ref: str, wanted: int | None, found: int | None) -> str | None:
    if wanted == found:
        return None
    if wanted is None:
        return f"the ref {ref} was expected to be absent and is at {found}"
    return f"the ref {ref} was expected at {wanted} and is {'absent' if found is None else f'at {found}'}"


def _ref(metadata: Json, ref: str) -> int | None:
    refs = metadata.get("refs") or {}
    if ref in refs:
        return int(refs[ref]["snapshot-id"])
    current = metadata.get("current-snapshot-id")
    # Metadata written before there were refs: its current snapshot is main's.
    return int(current) if ref == "main" and not refs and current not in {None, -1} else None


def _field(metadata: Json, name: str) -> Any:
    """Ids that metadata of format 1 may leave out are those of its only schema, spec and order."""
    if metadata.get(name) is not None:
        return metadata[name]
    if name == "current-schema-id":
        return metadata.get("schema", {}).get("schema-id", 0)
    return {"default-spec-id": 0, "default-sort-order-id": 0, "last-partition-id": 999}.get(name)
