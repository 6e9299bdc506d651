"""The writing half of a Glue Data Catalog: moves a table's pointer from one metadata file to the next, or does not.

UpdateTable carries the version of the entry that was read, so that of two commits on the same state one is refused.
Glue has no such condition for DeleteTable and UpdateDatabase: see `remove` and `update_namespace` for what that leaves
open. Nor does it guard against a writer that sends no version (a crawler, a console, an old client): what that
overwrites is lost, by whomever it was committed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firnline.adapters import outcomes
from firnline.adapters.aws import glue_answers, glue_names, glue_namespaces, glue_tables
from firnline.adapters.aws.glue_answers import Sent
from firnline.adapters.aws.glue_pointers import METADATA_LOCATION
from firnline.adapters.aws.glue_reading import Entry, GlueReading
from firnline.adapters.aws.sessions import Sessions
from firnline.config.endpoints import GlueEndpoint
from firnline.core.errors import Blocked, FirnlineError
from firnline.core.ids import Identifier
from firnline.facts import meta
from firnline.facts.ports import Blobs
from firnline.loop.values import Outcome

Call = Callable[[Any], object]
NO_RENAMES = (
    "Glue has no request that renames a table: a second entry would be made and the first removed, which is two tables "
    "for a moment, and for longer after a crash in between"
)


class GlueSwaps:
    """Pointer swaps and namespaces in one Glue Data Catalog. Each verb sends one request that changes something, once.

    `blobs` reads the metadata file back that a swap points to: columns and location are shown from there.
    """

    def __init__(self, sessions: Sessions, endpoint: GlueEndpoint, blobs: Blobs) -> None:
        self._sessions = sessions
        self._glue = GlueReading(sessions, endpoint)
        self._skip_archive = endpoint.skip_archive
        self._blobs = blobs

    def insert(self, identifier: Identifier, location: str) -> Outcome:
        """A new table. Refused when the name is taken, by anything, or the database does not exist."""
        if wrong := glue_names.unfit(identifier):
            return outcomes.refused(wrong)
        database, name = identifier.namespace[0], identifier.name
        try:
            given = glue_tables.made(name, location, meta.parse(self._blobs.read(location), location))
        except FirnlineError as error:
            return _not_sent(error)
        sent = Sent("CreateTable", str(identifier), f"there is no namespace {database}")
        asked = {"DatabaseName": database, "TableInput": given, **self._glue.catalog}
        return self._send(sent, lambda glue: glue.create_table(**asked), outcomes.done(location))

    def swap(self, identifier: Identifier, old: str, new: str) -> Outcome:
        """Point the table from `old` to `new`; a lost race when it points elsewhere by now, or anything else of the
        entry was changed while this was under way.
        """
        try:
            parsed = meta.parse(self._blobs.read(new), new)
            entry = self._at(identifier, old)
            if isinstance(entry, Outcome):
                return entry
            given = glue_tables.moved(entry, self._keeps("Table"), new, parsed)
        except FirnlineError as error:
            return _not_sent(error)
        if not entry.get("VersionId"):
            return outcomes.refused(
                f"the catalog gives no version of {identifier}, and without one a commit could undo another's"
            )
        sent = Sent("UpdateTable", str(identifier), f"there is no table {identifier}")
        asked = {
            "DatabaseName": identifier.namespace[0], "TableInput": given, "VersionId": entry["VersionId"],
            "SkipArchive": self._skip_archive, **self._glue.catalog,
        }  # fmt: skip
        return self._send(sent, lambda glue: glue.update_table(**asked), outcomes.done(new))

    def remove(self, identifier: Identifier, old: str) -> Outcome:
        """Take the table out while it still points to `old`; a lost race when it does not.

        DeleteTable takes no condition: a commit that lands in the milliseconds between the look and the request goes
        with the table.
        """
        try:
            entry = self._at(identifier, old)
        except FirnlineError as error:
            return _not_sent(error)
        if isinstance(entry, Outcome):
            return entry
        sent = Sent("DeleteTable", str(identifier), f"there is no table {identifier}")
        asked = {"DatabaseName": identifier.namespace[0], "Name": identifier.name, **self._glue.catalog}
        return self._send(sent, lambda glue: glue.delete_table(**asked), outcomes.done(old))

    def rename(self, identifier: Identifier, old: str, to: Identifier) -> Outcome:
        """Refused: see `NO_RENAMES`."""
        del identifier, old, to
        return outcomes.refused(NO_RENAMES)

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """A new database; refused when it exists."""
        if wrong := glue_names.unfit_namespace(namespace):
            return outcomes.refused(wrong)
        asked = {"DatabaseInput": glue_namespaces.made(namespace[0], properties), **self._glue.catalog}
        sent = Sent("CreateDatabase", f"the namespace {namespace[0]}", "the catalog does not exist")
        return self._send(sent, lambda glue: glue.create_database(**asked), outcomes.done(None))

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove properties in one request; everything else of the database stays.

        UpdateDatabase takes no condition: what somebody else changes in the milliseconds between the look and the
        request is undone by it.
        """
        absent = f"there is no namespace {'.'.join(namespace)}"
        try:
            name = glue_names.database(namespace)
            entry = None if name is None else self._glue.database(name)
            if entry is None:
                return outcomes.refused(absent)
            if glue_namespaces.linked(entry):
                return outcomes.refused(f"the namespace {name} is a link to a database of somebody else")
            given = glue_namespaces.changed(entry, self._keeps("Database"), updates, removals)
        except FirnlineError as error:
            return _not_sent(error)
        asked = {"Name": name, "DatabaseInput": given, **self._glue.catalog}
        sent = Sent("UpdateDatabase", f"the namespace {name}", absent)
        return self._send(sent, lambda glue: glue.update_database(**asked), outcomes.done(None))

    def _at(self, identifier: Identifier, old: str) -> Entry | Outcome:
        """The entry that points to `old`, or what it means that there is none."""
        names = glue_names.table(identifier)
        entry = None if names is None else self._glue.table(*names)
        if entry is None:
            return outcomes.refused(f"there is no table {identifier}")
        if entry.get("DatabaseName", identifier.namespace[0]) != identifier.namespace[0]:
            return outcomes.refused(f"{identifier} is a link to a table of somebody else")
        if entry.get("Parameters", {}).get(METADATA_LOCATION) != old:
            return outcomes.lost(f"{identifier} was changed by another writer")
        return entry

    def _keeps(self, kind: str) -> frozenset[str]:
        """The fields that Glue gives of a table or a database and takes back as they are, by its own description of
        the API: what a later version of it adds is kept without a change here.
        """
        with self._sessions.asking("", ""):
            model = self._sessions.client("glue").meta.service_model
        given, taken = model.shape_for(kind).members, model.shape_for(f"{kind}Input").members
        return frozenset(key for key in taken if key in given and given[key].name == taken[key].name)

    def _send(self, sent: Sent, call: Call, done: Outcome) -> Outcome:
        """One request, sent once: see `glue_answers` for why."""
        try:
            glue = self._sessions.client("glue", tries=1)
        except FirnlineError as error:
            return _not_sent(error)
        try:
            call(glue)
        except Exception as error:  # noqa: BLE001 - whatever it is, the request may have been carried out by then
            return glue_answers.outcome(error, sent)
        return done


def _not_sent(error: FirnlineError) -> Outcome:
    """Failed before the one request that changes something: not done. Worth another try when the server only asked to
    come back later.
    """
    text = " ".join(str(error).split("\n"))
    return outcomes.lost(text) if isinstance(error, Blocked) else outcomes.refused(text)
