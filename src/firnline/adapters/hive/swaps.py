"""The writing half of a Hive Metastore: moves a table's pointer from one metadata file to the next, or does not.

A commit is made as Iceberg's HiveCatalog makes it, so that its writers and ours exclude each other: under the
metastore's lock on the table the entry is read again, compared, and altered. The alteration also carries the condition
that the entry still points to where it did, which newer metastores hold in the change itself, lock or no lock.

A table with `engine.hive.lock-enabled=false` is committed to without a lock by all its writers. We do the same, if the
metastore holds that condition, and refuse if it does not: nothing would keep two commits apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from firnline.adapters import outcomes
from firnline.adapters.hive import answers, databases, entries, locks, looks, names
from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.conditions import ALTER, are_held, expecting
from firnline.adapters.hive.locks import NotHeld
from firnline.adapters.hive.looks import Change
from firnline.adapters.hive.pointers import METADATA_LOCATION
from firnline.adapters.hive.wire import Broken, Connection, Fault, Unreachable
from firnline.config.endpoints import HiveEndpoint
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.facts import meta
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Blobs
from firnline.loop.values import Outcome, OutcomeKind

_TROUBLE = (Unreachable, Broken, Fault, FirnlineError)
_TOLD = (databases.COMMENT, databases.LOCATION)


class HiveSwaps:
    """Pointer swaps and namespaces in one metastore. Each verb sends one call that changes something, once.

    `blobs` reads the metadata files back that a swap is between: what the entry shows of the table is taken from there.
    `wait` is for how many seconds the lock of a table is waited for.
    """

    def __init__(
        self, client: HiveClient, endpoint: HiveEndpoint, blobs: Blobs, *, wait: float = locks.WAIT_SECONDS
    ) -> None:
        self._client = client
        self._warehouse = endpoint.warehouse
        self._blobs = blobs
        self._wait = wait
        self._turns = locks.Turns()
        self._conditional: bool | None = None  # whether this metastore holds conditions, once that was asked

    def insert(self, identifier: Identifier, location: str) -> Outcome:
        """A new table. Refused when the name is taken, by anything, or the database does not exist. No lock: of two
        entries of one name the metastore lets in one.
        """
        if wrong := names.unfit(identifier):
            return outcomes.refused(wrong)
        database, name = identifier.namespace[0], identifier.name
        absent = f"there is no namespace {database}"
        try:
            parsed = self._meta(location)
            if entries.encrypted(parsed.properties):
                return _encrypted(identifier)
            if self._client.table(database, name) is not None:
                return outcomes.refused(f"{identifier} exists already")
            entry = entries.made(database, name, location, parsed, self._client.user)
            change = Change(identifier, "create_table", (entry,), None, location, location, absent, parsed.uuid)
            with self._client.session() as line:
                return self._send(line, change)
        except _TROUBLE as error:
            return answers.not_sent(error)

    def swap(self, identifier: Identifier, old: str, new: str) -> Outcome:
        """Point the table from `old` to `new`; a lost race when it points elsewhere by now."""
        try:
            before, after = self._meta(old), self._meta(new)
        except FirnlineError as error:
            return answers.not_sent(error)

        def change(entry: Any) -> Change | Outcome:
            if entries.encrypted(entry.parameters) or entries.encrypted(after.properties):
                return _encrypted(identifier)
            given = (entry.dbName, entry.tableName, entries.moved(entry, new, after, before), expecting(old))
            return Change(identifier, ALTER, given, old, new, new, f"there is no table {identifier}")

        return self._alone(identifier, old, change, locking=entries.locks(before.properties))

    def remove(self, identifier: Identifier, old: str) -> Outcome:
        """Take the table out while it still points to `old`; a lost race when it does not. Its files stay.

        The metastore has no condition for this: against writers that take no lock, a commit that lands in the
        milliseconds between the look and the call goes with the table.
        """

        def change(entry: Any) -> Change:
            given = (entry.dbName, entry.tableName, False)
            return Change(identifier, "drop_table", given, old, None, old, f"there is no table {identifier}")

        return self._alone(identifier, old, change, locking=None)

    def rename(self, identifier: Identifier, old: str, to: Identifier) -> Outcome:
        """Give the table another name while it still points to `old`; a lost race when it does not. Refused when the
        new name is taken, by anything, or its database does not exist.

        Of two entries of one name the metastore lets in one, so the new name needs no lock.
        """
        if wrong := names.unfit(to):
            return outcomes.refused(wrong)
        try:
            before = self._meta(old)
            if self._client.database(to.namespace[0]) is None:
                return outcomes.refused(f"there is no namespace {to.namespace[0]}")
            if self._client.table(to.namespace[0], to.name) is not None:
                return outcomes.refused(f"{to} exists already")
        except _TROUBLE as error:
            return answers.not_sent(error)

        def change(entry: Any) -> Change | Outcome:
            if not entries.stays(entry):
                return outcomes.refused(
                    f"{identifier} is no external table to the metastore, which would move its folder along with the "
                    "name, and Iceberg's metadata would still name the old one"
                )
            given = (entry.dbName, entry.tableName, entries.renamed(entry, to.namespace[0], to.name), expecting(old))
            return Change(identifier, ALTER, given, None, old, old, f"there is no table {identifier}", before.uuid, to)

        return self._alone(identifier, old, change, locking=entries.locks(before.properties))

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """A new database; refused when it exists."""
        if wrong := names.unfit_namespace(namespace):
            return outcomes.refused(wrong)
        name = namespace[0]
        subject = f"the namespace {name}"

        def made() -> bool | None:
            return False if self._client.database(name) is None else None  # nothing in it says whose it is

        try:
            database = databases.made(name, properties, warehouse=self._warehouse, user=self._client.user)
            if self._client.database(name) is not None:
                return outcomes.refused(f"{subject} exists already")
            with self._client.session() as line:
                return self._tell(line, "create_database", (database,), subject, made)
        except _TROUBLE as error:
            return answers.not_sent(error)

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove properties.

        The metastore has no condition for this: what somebody else changes in the milliseconds between the look and the
        call is undone by it.
        """
        name = names.database(namespace)
        absent = f"there is no namespace {'.'.join(namespace)}"
        try:
            database = None if name is None else self._client.database(name)
            if name is None or database is None:  # altering one that does not exist succeeds, and does nothing
                return outcomes.refused(absent)
            now = databases.properties(database)
            wanted = {key: value for key, value in now.items() if key not in removals} | dict(updates)
            told = {key: wanted.get(key, "") for key in _TOLD if wanted.get(key, "") != now.get(key, "")}
            databases.changed(database, wanted)  # what cannot be written is found before anything is
            with self._client.session() as line:
                first = self._describe(line, database, now, told) if told else outcomes.done(None)
                if first.kind is not OutcomeKind.DONE:
                    return first
                last = self._alter(line, database, now | told, wanted)
        except _TROUBLE as error:
            return answers.not_sent(error)
        if told and last.kind is OutcomeKind.NOT_DONE:
            return outcomes.unknown(f"the {' and the '.join(told)} of {name} changed, and no more: {last.detail}")
        return last

    def _describe(self, line: Connection, database: Any, now: dict[str, str], told: dict[str, str]) -> Outcome:
        """Change comment and location before anything else, and see whether it worked: HMS 2.3 leaves both as they are
        and says that it is done, later versions so when the new text is empty. Not done when nothing has changed, and
        unknown when only a part has.
        """
        outcome = self._alter(line, database, now, now | told)
        if outcome.kind is not OutcomeKind.DONE:
            return outcome
        try:
            after = self._client.database(database.name)
        except (Unreachable, Broken, Fault) as error:
            return outcomes.unknown(
                f"{answers.explanation(error)}; and so whether the namespace {database.name} changed is not known"
            )
        seen = {} if after is None else databases.properties(after)
        left = [key for key, text in told.items() if seen.get(key, "") != text]
        if not left:
            return outcome
        detail = f"this metastore does not change the {' and the '.join(left)} of a namespace"
        same = after is not None and all(seen.get(key, "") == now.get(key, "") for key in told)
        return outcomes.refused(detail) if same else outcomes.unknown(f"{detail}, and something else has changed")

    def _alter(self, line: Connection, database: Any, now: Mapping[str, str], wanted: Mapping[str, str]) -> Outcome:
        """One change of a database from `now` to `wanted`."""

        def made() -> bool | None:
            found = self._client.database(database.name)
            seen = None if found is None else databases.properties(found)
            return True if seen == _without_empty(wanted) else False if seen == _without_empty(now) else None

        given = (database.name, databases.changed(database, wanted))
        return self._tell(line, "alter_database", given, f"the namespace {database.name}", made)

    def _tell(
        self, line: Connection, method: str, given: tuple[Any, ...], subject: str, made: Callable[[], bool | None]
    ) -> Outcome:
        """One call about a namespace. `made` looks whether the change was made; None: that does not show. After a lost
        answer no look proves anything: the call may still be under way.
        """
        try:
            line.call(method, *given)
        except (Broken, Fault) as error:
            if never := answers.never_begun(error):
                return never
            text = answers.explanation(error)
            if isinstance(error, Broken):
                return outcomes.unknown(f"the answer about {subject} was lost: {text}")
            try:
                found = made()
            except (Unreachable, Broken, Fault):
                return outcomes.unknown(f"{text}; and the metastore could not be asked what became of it")
            if found is False:
                return answers.not_made(error, subject, f"{subject} is not there")
            if found is None:
                return outcomes.unknown(f"{text}; whether the change to {subject} was made is not known")
        return outcomes.done(None)

    def _alone(
        self,
        identifier: Identifier,
        old: str,
        change: Callable[[Any], Change | Outcome],
        *,
        locking: bool | None,
    ) -> Outcome:
        """One call about a table that points to `old`, with nobody else in between. `locking` is what the table says of
        locks; None: what its entry says, for a call that has no condition to rely on instead.
        """
        named = names.table(identifier)
        if named is None:
            return outcomes.refused(f"there is no table {identifier}")
        try:
            with self._client.session() as line:
                # A first look without the lock: whoever has lost already need not queue for it.
                entry = self._at(line, named, old)
                if isinstance(entry, Outcome):
                    return entry
                if locking is False and not self._holds_conditions(named[0]):
                    return outcomes.refused(
                        f"{identifier} says {entries.LOCK_ENABLED}=false, and this metastore does not compare the "
                        "pointer itself (HIVE-26882, in 2.3.10, 4.0.0 and later): without either, one commit could "
                        "undo another. Remove the property, or update the metastore"
                    )
                lockable = entries.locks(entry.parameters) if locking is None else locking
                with self._lock(line, named) if lockable else nullcontext() as lock:
                    entry = self._at(line, named, old)
                    planned = entry if isinstance(entry, Outcome) else change(entry)
                    if isinstance(planned, Outcome):
                        return planned
                    if lock is not None:
                        locks.confirm(line, lock)
                    return self._send(line, planned)
        except NotHeld as error:
            return outcomes.lost(error.detail) if error.again else outcomes.refused(error.detail)
        except _TROUBLE as error:
            return answers.not_sent(error)

    @contextmanager
    def _lock(self, line: Connection, named: tuple[str, str]) -> Iterator[int]:
        with self._turns.of(named, self._wait), locks.held(self._client, line, named, self._wait) as lock:
            yield lock

    def _at(self, line: Connection, named: tuple[str, str], old: str) -> Any:
        """The entry that points to `old`, or the outcome that follows when there is none."""
        subject = Identifier(named[:1], named[1])
        entry = self._client.table(*named, on=line)
        if entry is None:
            return outcomes.refused(f"there is no table {subject}")
        if (entry.parameters or {}).get(METADATA_LOCATION) != old:
            return outcomes.lost(f"{subject} was changed by another writer")
        return entry

    def _holds_conditions(self, database: str) -> bool:
        if self._conditional is None:
            self._conditional = are_held(self._client, database)
        return self._conditional

    def _send(self, line: Connection, change: Change) -> Outcome:
        try:
            line.call(change.method, *change.given)
        except (Broken, Fault) as error:
            return answers.never_begun(error) or self._looked(error, change)
        return outcomes.done(change.done)

    def _looked(self, error: Broken | Fault, change: Change) -> Outcome:
        """What a fresh look at the entry proves after an error."""
        try:
            entry = self._client.table(change.shown.namespace[0], change.shown.name)
        except (Unreachable, Broken, Fault):
            text = answers.explanation(error)
            return outcomes.unknown(f"{text}; and the metastore could not be asked what became of it")
        return looks.judged(error, change, entry, self._blobs)

    def _meta(self, location: str) -> TableMeta:
        return meta.parse(self._blobs.read(location), location)


def _encrypted(identifier: Identifier) -> Outcome:
    return outcomes.refused(
        f"{identifier} is encrypted: its entry in the metastore holds a hash of the metadata that only Iceberg's own "
        "writers can make, and without the right one they do not open the table"
    )


def _without_empty(properties: Mapping[str, str]) -> dict[str, str]:
    """As a database is read back: an empty comment or location is none."""
    return {key: text for key, text in properties.items() if text or key not in _TOLD}
