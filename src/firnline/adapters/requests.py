"""Commit requests made definite against the metadata they are about to change, alike for every committer.

The two libraries read the same request differently: the JVM ignores the ids of new schemas, specs and orders and reuses
an equal one it finds; PyIceberg keeps whatever id was sent, even one that is taken, and takes `-1` for the highest id
there is. And one of them fails on the removal of a property that is not there. After this module both mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firnline.core.layout import order_from_json, spec_from_json
from firnline.core.types import Json, struct_from_json
from firnline.loop.commits import CommitRequest

LAST_ADDED = -1
ROUND_TRIP = "round trip"  # `facts["refused"]` of a light committer that would harm metadata: send it to the heavy one


class Unfit(Exception):
    """A request that cannot be carried out on this metadata, in one sentence."""


def creates(request: CommitRequest) -> bool:
    """Whether the request makes a table."""
    return any(item.get("type") == "assert-create" for item in request.requirements)


def target_version(request: CommitRequest) -> int | None:
    """The format version the request asks for, if it does."""
    versions = [item["format-version"] for item in request.updates if item.get("action") == "upgrade-format-version"]
    return int(versions[-1]) if versions else None


def unmet(expect: Mapping[str, str | None], properties: Mapping[str, str]) -> str | None:
    """The sentence about the first property that is not as expected; None when all are."""
    for key, wanted in sorted(expect.items()):
        found = properties.get(key)
        if found != wanted:
            return f"the property {key} was expected {_shown(wanted)} and is {_shown(found)}"
    return None


def _shown(value: str | None) -> str:
    return "to be absent" if value is None else f"as {value!r}"


def definite(updates: tuple[Json, ...], base: Json | None) -> tuple[Json, ...]:
    """The same updates with every id decided. `base` is the metadata JSON they are for, None for a new table.

    Unfit for updates nobody can read: a saved plan may hold anything.
    """
    try:
        return _definite(updates, base or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unfit(f"the updates cannot be read: {type(error).__name__}: {error}") from error


def _definite(updates: tuple[Json, ...], base: Json) -> tuple[Json, ...]:
    properties = set(base.get("properties") or {})
    schemas = _Ids("schema", _schemas(base), _same_schema, first=0)
    specs = _Ids("partition spec", _specs(base), _same_spec, first=0)
    orders = _Ids("sort order", base.get("sort-orders") or (), _same_order, first=1)
    decided: list[Json] = []
    for update in updates:
        match update.get("action"):
            case "add-schema":
                decided += schemas.add(update, "schema", "schema-id")
            case "set-current-schema":
                decided.append({**update, "schema-id": schemas.resolve(update.get("schema-id", LAST_ADDED))})
            case "add-spec":
                decided += specs.add(update, "spec", "spec-id")
            case "set-default-spec":
                decided.append({**update, "spec-id": specs.resolve(update.get("spec-id", LAST_ADDED))})
            case "add-sort-order":
                decided += orders.add(update, "sort-order", "order-id", fixed=None if _sorted(update) else 0)
            case "set-default-sort-order":
                decided.append({**update, "sort-order-id": orders.resolve(update.get("sort-order-id", LAST_ADDED))})
            case "set-properties":
                properties |= set(update["updates"])
                decided.append(update)
            case "remove-properties":
                present = [key for key in dict.fromkeys(update["removals"]) if key in properties]
                properties -= set(present)
                decided += [{**update, "removals": present}] if present else []
            case _:
                decided.append(update)
    return tuple(decided)


class _Ids:
    """The ids of one family: which are taken, and which was added last."""

    def __init__(self, what: str, existing: Any, same: Callable[[Json, Json], bool], first: int) -> None:
        self._what = what
        self._existing = list(existing)
        self._same = same
        self._first = first
        self._last: int | None = None

    def add(self, update: Json, key: str, id_key: str, fixed: int | None = None) -> list[Json]:
        value = update[key]
        for old in self._existing:
            if self._same(old, value):
                self._last = old.get(id_key, 0)
                return []
        taken = [old.get(id_key, 0) for old in self._existing]
        self._last = fixed if fixed is not None else max([self._first, *(taken_id + 1 for taken_id in taken)])
        decided = {**value, id_key: self._last}
        self._existing.append(decided)
        return [{**update, key: decided}]

    def resolve(self, wanted: int) -> int:
        if wanted != LAST_ADDED:
            return wanted
        if self._last is None:
            raise Unfit(f"the request makes the last added {self._what} the current one and adds none")
        return self._last


def _schemas(base: Json) -> Any:
    return base.get("schemas") or ([base["schema"]] if "schema" in base else ())


def _specs(base: Json) -> Any:
    if base.get("partition-specs"):
        return base["partition-specs"]
    return [{"spec-id": 0, "fields": base["partition-spec"]}] if "partition-spec" in base else ()


def _same_schema(old: Json, new: Json) -> bool:
    identifiers = [sorted(item.get("identifier-field-ids") or ()) for item in (old, new)]
    return identifiers[0] == identifiers[1] and struct_from_json(old) == struct_from_json(new)


def _same_spec(old: Json, new: Json) -> bool:
    """Field ids aside, as the JVM compares them: two specs with the same parts are one."""
    shapes = [
        [(part.name, part.transform, part.source_ids) for part in spec_from_json({"spec-id": 0, **item}).fields]
        for item in (old, new)
    ]
    return shapes[0] == shapes[1]


def _same_order(old: Json, new: Json) -> bool:
    shapes = [order_from_json({"order-id": 0, **item}).fields for item in (old, new)]
    return shapes[0] == shapes[1]


def _sorted(update: Json) -> bool:
    return bool(update["sort-order"].get("fields"))
