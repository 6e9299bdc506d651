"""A new table by createTable, for catalogs that take no commit on a table that is not there.

Such a catalog numbers columns, specs and orders itself, and gives the table a uuid of its own. So a request is sent
only when the catalog's numbers will be the declared ones, and what comes out is held against what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firnline.adapters.requests import Unfit
from firnline.adapters.rest import evolution
from firnline.core.layout import order_from_json, spec_from_json
from firnline.core.types import Json, struct_from_json

_FORMAT_OF_NEW = 2  # the one Iceberg itself assumes for a new table that does not say


@dataclass(slots=True)
class Creation:
    """What the updates of a creating request come to."""

    schema: Json = None
    spec: Json = None
    order: Json = None
    location: str | None = None
    format_version: int = _FORMAT_OF_NEW
    properties: dict[str, str] = field(default_factory=dict)

    def body(self, name: str) -> dict[str, Any]:
        """The request. `stage-create` is said: there are servers that want it said, and want it false."""
        given = {
            "name": name,
            "location": self.location,
            "schema": self.schema,
            "partition-spec": self.spec,
            "write-order": self.order,
            "stage-create": False,
            "properties": {**self.properties, "format-version": str(self.format_version)},
        }
        return {key: value for key, value in given.items() if value is not None}


def of(updates: tuple[Json, ...]) -> Creation:
    """The table these updates make. Unfit for what createTable cannot say, or would not do as it is said."""
    found = Creation()
    for update in updates:
        match update.get("action"):
            case "add-schema":
                found.schema = update["schema"]
            case "add-spec":
                found.spec = update["spec"]
            case "add-sort-order":
                found.order = update["sort-order"]
            case "set-location":
                found.location = update["location"] or None
            case "upgrade-format-version":
                found.format_version = int(update["format-version"])
            case "set-properties":
                found.properties |= update["updates"]
            case "assign-uuid" | "set-current-schema" | "set-default-spec" | "set-default-sort-order":
                pass  # it does so by itself, but for the uuid
            case action:
                raise Unfit(f"a new table cannot be made with {action!r} here: make it first, and change it then")
    if found.schema is None:
        raise Unfit("the request for a new table has no schema")
    _check_numbers(found)
    return found


def _check_numbers(asked: Creation) -> None:
    struct = struct_from_json(asked.schema)
    if evolution.numbered(struct) != struct:
        raise Unfit("this catalog numbers the columns of a new table itself, and would not number them as declared")
    parts = spec_from_json(asked.spec or {"spec-id": 0, "fields": []}).fields
    given = [part.field_id for part in parts]
    if any(number not in {None, 1000 + position} for position, number in enumerate(given)):
        raise Unfit("this catalog numbers partition fields itself, and would not number them as declared")


def differences(asked: Creation, metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """What a new table has otherwise than asked for."""
    schema = evolution.current(metadata)
    found = [
        ("columns", struct_from_json(schema) != struct_from_json(asked.schema)),
        ("identifier fields", _identifiers(schema) != _identifiers(asked.schema)),
        ("partitions", _parts(metadata) != _wanted_parts(asked)),
        ("order", _sorted_by(metadata) != _wanted_order(asked)),
        ("format version", metadata.get("format-version") != asked.format_version),
        ("location", asked.location is not None and _location(metadata) != asked.location.rstrip("/")),
        ("properties", not asked.properties.items() <= (metadata.get("properties") or {}).items()),
    ]
    return tuple(what for what, differs in found if differs)


def _identifiers(schema: Json) -> list[int]:
    return sorted(schema.get("identifier-field-ids") or ())


def _location(metadata: Mapping[str, Json]) -> str:
    return str(metadata.get("location", "")).rstrip("/")


def _parts(metadata: Mapping[str, Json]) -> Any:
    wanted = metadata.get("default-spec-id", 0)
    specs = metadata.get("partition-specs") or ()
    return _shape(next((each for each in specs if each.get("spec-id") == wanted), {"fields": []}))


def _wanted_parts(asked: Creation) -> Any:
    return _shape(asked.spec or {"fields": []})


def _shape(spec: Json) -> Any:
    fields = spec_from_json({"spec-id": 0, **spec}).fields
    return [(part.name, part.transform, part.source_ids) for part in fields]


def _sorted_by(metadata: Mapping[str, Json]) -> Any:
    wanted = metadata.get("default-sort-order-id", 0)
    orders = metadata.get("sort-orders") or ()
    return _keys(next((each for each in orders if each.get("order-id") == wanted), {"fields": []}))


def _wanted_order(asked: Creation) -> Any:
    return _keys(asked.order or {"fields": []})


def _keys(order: Json) -> Any:
    return order_from_json({"order-id": 0, **order}).fields
