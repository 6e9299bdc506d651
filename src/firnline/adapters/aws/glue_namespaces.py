"""Namespaces as Glue databases: `location` and `comment` are fields of their own, as in Iceberg's GlueCatalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firnline.adapters.aws.glue_reading import Entry

TARGET = "glue.target-database"  # of a link: the database it stands for, as `catalog/name`
_LOCATION = "location"
_FIELDS = {_LOCATION: "LocationUri", "comment": "Description"}


def linked(entry: Entry) -> bool:
    """Whether the database is a link to another one, which belongs to somebody else."""
    return "TargetDatabase" in entry


def properties(entry: Entry) -> dict[str, str]:
    """A database's properties as Iceberg names them."""
    found = dict(entry.get("Parameters", {}))
    found |= {key: entry[name] for key, name in _FIELDS.items() if entry.get(name)}
    if _LOCATION in found:
        found[_LOCATION] = found[_LOCATION].rstrip("/")
    if target := entry.get("TargetDatabase"):
        found[TARGET] = "/".join(str(target[key]) for key in ("CatalogId", "DatabaseName") if key in target)
    return found


def made(name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The `DatabaseInput` of a new database."""
    return _with({"Name": name}, given)


def changed(
    entry: Entry, keeps: frozenset[str], updates: Mapping[str, str], removals: tuple[str, ...]
) -> dict[str, Any]:
    """The `DatabaseInput` that changes these properties and nothing else: UpdateDatabase replaces all it is given,
    and forgets what it is not. `keeps` are the fields that can be given back.
    """
    kept = {key: value for key, value in entry.items() if key in keeps}
    return _with(kept, {**dict.fromkeys(removals), **updates})


def _with(given: Mapping[str, Any], wanted: Mapping[str, str | None]) -> dict[str, Any]:
    """These fields with these properties set, or taken out where there is no value. An empty location is none."""
    fields = dict(given)
    parameters = dict(given.get("Parameters", {}))
    for key, value in wanted.items():
        place, name = (fields, _FIELDS[key]) if key in _FIELDS else (parameters, key)
        if value is None or (place is fields and not value):
            place.pop(name, None)
        else:
            place[name] = value
    return {**fields, "Parameters": parameters}
