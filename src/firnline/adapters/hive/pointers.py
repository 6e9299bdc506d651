"""Looks into a Hive Metastore: what is there, and where the metadata of each Iceberg table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firnline.adapters.hive import databases, names
from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.troubles import address, denied, explained
from firnline.adapters.hive.wire import Fault
from firnline.core.errors import FirnlineError, Partial
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer

TABLE_TYPE = "table_type"
METADATA_LOCATION = "metadata_location"
# Entries carry their columns and up to 32 KB of schema each: a message of a hundred stays at a few megabytes.
BATCH = 100
_SHOWN = 10


class HivePointers:
    """`facts.ports.Pointers` over a Hive Metastore. Names in capitals are not there: see `names`."""

    def __init__(self, client: HiveClient) -> None:
        self._client = client

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry in order of name, or those directly in one namespace: a database at a time, a hundred entries a
        request. Of the whole catalog, a database that may not be listed stops no other: at the end Partial names those.
        """
        if namespace is None:
            yield from self._all()
        elif (name := names.database(namespace)) is not None:
            yield from self._entries(name)

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None."""
        named = names.table(identifier)
        if named is None:
            return None
        with explained(self._client, str(identifier)):
            entry = self._client.table(*named)
        return None if entry is None else pointer(entry)

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every database with its properties; one that is dropped while this goes on is left out."""
        found: dict[tuple[str, ...], Mapping[str, str]] = {}
        with explained(self._client, "its databases"):
            for name in self._client.databases():
                if (database := self._client.database(name)) is not None:
                    found[(name,)] = databases.properties(database)
        return found

    def _all(self) -> Iterator[Pointer]:
        with explained(self._client, "its databases"):
            listed = self._client.databases()
        closed: dict[str, FirnlineError] = {}
        for name in listed:
            try:
                yield from self._entries(name)
            except FirnlineError as error:
                if not (isinstance(error.__cause__, Fault) and denied(error.__cause__)):
                    raise
                closed[name] = error
        if closed:
            raise self._partial(closed, len(listed))

    def _entries(self, database: str) -> Iterator[Pointer]:
        with explained(self._client, f"the tables of {database}"):
            listed = self._client.table_names(database)
        for start in range(0, len(listed), BATCH):
            with explained(self._client, f"tables of {database}"):
                entries = self._client.tables(database, listed[start : start + BATCH])
            yield from sorted(map(pointer, entries), key=lambda found: found.identifier)

    def _partial(self, closed: Mapping[str, FirnlineError], of: int) -> Partial:
        shown = ", ".join(list(closed)[:_SHOWN]) + (", …" if len(closed) > _SHOWN else "")
        first = next(iter(closed.values()))
        return Partial(
            f"{len(closed)} of the {of} databases of the metastore {address(self._client.endpoint)} could not be "
            f"listed: {shown}.",
            why=first.what if first.why is None else f"{first.what} {first.why}",
            next_step=first.next_step,
        )


def pointer(entry: Any) -> Pointer:
    """What an entry of the metastore is. A table that calls itself Iceberg's and names no metadata is none."""
    identifier = Identifier((entry.dbName,), entry.tableName)
    parameters = entry.parameters or {}
    location = parameters.get(METADATA_LOCATION) or None
    if (entry.tableType or "").upper() == "VIRTUAL_VIEW":
        return Pointer(identifier, location, "view")
    if location is not None and parameters.get(TABLE_TYPE, "").upper() == "ICEBERG":
        return Pointer(identifier, location)
    return Pointer(identifier, None, "other")
