"""Namespaces as databases of a metastore, with the property names of Iceberg's HiveCatalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hive_metastore.ttypes import Database, PrincipalType

from firnline.core.errors import BadInput

COMMENT = "comment"
LOCATION = "location"
OWNER = "hive.metastore.database.owner"
OWNER_TYPE = "hive.metastore.database.owner-type"


def properties(database: Any) -> dict[str, str]:
    """What a database says about itself."""
    found = dict(database.parameters or {})
    if database.description:
        found[COMMENT] = database.description
    if database.locationUri:
        # Hadoop writes file:///x as file:/x.
        found[LOCATION] = re.sub(r"^file:/(?!/)", "file:///", database.locationUri)
    if database.ownerName:
        found[OWNER] = database.ownerName
        if database.ownerType is not None:
            found[OWNER_TYPE] = PrincipalType._VALUES_TO_NAMES.get(database.ownerType, str(database.ownerType))
    return found


def made(name: str, given: Mapping[str, str], *, warehouse: str | None, user: str) -> Any:
    """A new database. Without a location of its own it lies in the warehouse, as Hive lays it out; without a warehouse
    the metastore decides.
    """
    database = Database(
        name=name,
        description=given.get(COMMENT),
        locationUri=given.get(LOCATION) or (f"{warehouse}/{name}.db" if warehouse else None),
        parameters=_others(given),
    )
    _own(database, {OWNER: user, **given})
    return database


def changed(database: Any, wanted: Mapping[str, str]) -> Any:
    """The database with these properties, and no others."""
    return _own(
        Database(
            name=database.name,
            description=wanted.get(COMMENT, ""),
            locationUri=wanted.get(LOCATION),
            parameters=_others(wanted),
            catalogName=database.catalogName,
            createTime=database.createTime,
            managedLocationUri=database.managedLocationUri,
            type=database.type,
            connector_name=database.connector_name,
            remote_dbname=database.remote_dbname,
        ),
        wanted,
    )


def _others(given: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in given.items() if key not in {COMMENT, LOCATION, OWNER, OWNER_TYPE}}


def _own(database: Any, given: Mapping[str, str]) -> Any:
    kind = given.get(OWNER_TYPE, "USER").upper()
    if kind not in PrincipalType._NAMES_TO_VALUES:
        raise BadInput(
            f"{OWNER_TYPE}: {kind!r} is none of {', '.join(sorted(PrincipalType._NAMES_TO_VALUES))}.",
        )
    if OWNER in given:
        database.ownerName, database.ownerType = given[OWNER], PrincipalType._NAMES_TO_VALUES[kind]
    return database
