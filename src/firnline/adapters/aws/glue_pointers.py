"""The listing half of a Glue Data Catalog. Nothing is written: GetDatabases, GetDatabase, GetTables and GetTable are
all the rights it needs.

A listing costs one request for each hundred databases, and for each database one for each hundred entries, at least
one. What is a link to another account's database or table is never followed: who follows it must say so by naming that
catalog (`glue.id`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firnline.adapters.aws import glue_names, glue_namespaces, troubles
from firnline.adapters.aws.glue_reading import Entry, GlueReading
from firnline.adapters.aws.sessions import Sessions
from firnline.config.endpoints import GlueEndpoint
from firnline.core.errors import FirnlineError, Partial
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer

TABLE_TYPE = "table_type"
METADATA_LOCATION = "metadata_location"
_ICEBERG = "iceberg"
_VIEW = "VIRTUAL_VIEW"
_SHOWN = 10
# Errors that are about one database and say nothing of the others.
_OF_ONE_DATABASE = troubles.DENIED | {"FederationSourceException", "FederationSourceRetryableException"}


class GluePointers:
    """`facts.ports.Pointers` over one Glue Data Catalog, the account's own or the one `glue.id` names."""

    def __init__(self, sessions: Sessions, endpoint: GlueEndpoint, catalog: str) -> None:
        self._glue = GlueReading(sessions, endpoint)
        self._catalog = catalog

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry in order of name, or those of one namespace; one database is held in memory at a time.

        Of the whole catalog, a database that may not be listed stops no other: at the end Partial names those. Lake
        Formation leaves out what a caller has no grant on, and nobody can tell.
        """
        if namespace is None:
            yield from self._all()
            return
        name = glue_names.database(namespace)
        found = None if name is None else self._glue.database(name)
        if found is not None and not glue_namespaces.linked(found):
            yield from self._entries(found["Name"])

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None: one request."""
        names = glue_names.table(identifier)
        found = None if names is None else self._glue.table(*names)
        return None if found is None else _pointer(identifier.namespace[0], found)

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every database with its properties; a link says by `glue_namespaces.TARGET` what it stands for."""
        found = {(entry["Name"],): glue_namespaces.properties(entry) for entry in self._glue.databases()}
        return dict(sorted(found.items()))

    def _all(self) -> Iterator[Pointer]:
        names = sorted(entry["Name"] for entry in self._glue.databases() if not glue_namespaces.linked(entry))
        closed: dict[str, FirnlineError] = {}
        for name in names:
            try:
                entries = self._entries(name)
            except FirnlineError as error:
                if error.__cause__ is None or troubles.code(error.__cause__) not in _OF_ONE_DATABASE:
                    raise
                closed[name] = error
                continue
            yield from entries
        if closed:
            raise self._partial(closed, len(names))

    def _entries(self, database: str) -> tuple[Pointer, ...]:
        # By name: an entry that changed between two pages may come twice.
        found = {entry["Name"]: _pointer(database, entry) for entry in self._glue.tables(database)}
        return tuple(found[name] for name in sorted(found))

    def _partial(self, closed: Mapping[str, FirnlineError], of: int) -> Partial:
        shown = ", ".join(list(closed)[:_SHOWN]) + (", …" if len(closed) > _SHOWN else "")
        first = next(iter(closed.values()))
        return Partial(
            f"{len(closed)} of the {of} databases of the catalog {self._catalog!r} could not be listed: {shown}.",
            why=first.what if first.why is None else f"{first.what} {first.why}",
            next_step=first.next_step,
        )


def _pointer(database: str, entry: Entry) -> Pointer:
    location = entry.get("Parameters", {}).get(METADATA_LOCATION) or None
    return Pointer(Identifier((database,), entry["Name"]), location, _kind(database, entry))


def _kind(database: str, entry: Entry) -> str:
    """Hive tables, Delta tables, Iceberg tables that were never committed, and links, are all "other"."""
    parameters = entry.get("Parameters", {})
    if "TargetTable" in entry or entry.get("DatabaseName", database) != database:
        return "other"
    if entry.get("TableType") == _VIEW:
        return "view"
    iceberg = parameters.get(TABLE_TYPE, "").casefold() == _ICEBERG
    return "table" if iceberg and parameters.get(METADATA_LOCATION) else "other"
