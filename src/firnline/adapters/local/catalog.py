"""The writing half of the embedded catalog: moves a table's pointer from one metadata file to the next, or does not.

The layout is the one Iceberg's JdbcCatalog and PyIceberg's SqlCatalog share (their schema V1; V0 is written as it is
found). Every verb is one transaction begun with the write lock in hand, so that what it read is still true when it
writes, and so that each failure lies plainly before COMMIT (not done) or on it (unknown). Nothing here knows what a
metadata file holds.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from urllib.parse import quote

from firnline.adapters import outcomes
from firnline.adapters.local.pointers import BUSY_SECONDS, NAMESPACE_EXISTS, columns_of, trouble
from firnline.adapters.outcomes import Phase
from firnline.core.ids import Identifier
from firnline.loop.values import Outcome, OutcomeKind

_LAYOUT = (
    """CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name))""",
    """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))""",
)
_KEY = " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"

Work = Callable[[sqlite3.Connection], Outcome]


class SqliteCatalog:
    """Pointer swaps and namespaces in one SQLite file. The file is made by the first write, not before."""

    def __init__(self, path: str, catalog: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self.catalog = catalog
        self._busy_seconds = busy_seconds

    def insert(self, identifier: Identifier, location: str) -> Outcome:
        """A new table. Refused when the name is taken, by a view too, or the namespace does not exist."""
        return self._write(lambda connection: self._insert(connection, identifier, location))

    def swap(self, identifier: Identifier, old: str, new: str) -> Outcome:
        """Point the table from `old` to `new`; a lost race when it points elsewhere by now."""

        def work(connection: sqlite3.Connection) -> Outcome:
            statement = "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?" + _KEY
            values = (new, old, *self._key(identifier), old)
            changed = connection.execute(statement + " AND metadata_location = ?", values).rowcount
            return outcomes.done(new) if changed else outcomes.lost(f"{identifier} was changed by another writer")

        return self._write(work)

    def remove(self, identifier: Identifier, old: str) -> Outcome:
        """Take the table out while it still points to `old`; a lost race when it does not."""

        def work(connection: sqlite3.Connection) -> Outcome:
            statement = "DELETE FROM iceberg_tables" + _KEY + " AND metadata_location = ?"
            removed = connection.execute(statement, (*self._key(identifier), old)).rowcount
            self._keep_namespace(connection, ".".join(identifier.namespace))
            return outcomes.done(old) if removed else outcomes.lost(f"{identifier} was changed by another writer")

        return self._write(work)

    def rename(self, identifier: Identifier, old: str, to: Identifier) -> Outcome:
        """Give the table another name while it still points to `old`; a lost race when it does not. Refused when the
        new name is taken, by a view too, or its namespace does not exist.
        """

        def work(connection: sqlite3.Connection) -> Outcome:
            if not self._has_namespace(connection, to.namespace):
                return outcomes.refused(f"there is no namespace {'.'.join(to.namespace)}")
            statement = "UPDATE iceberg_tables SET catalog_name = ?, table_namespace = ?, table_name = ?" + _KEY
            values = (*self._key(to), *self._key(identifier), old)
            renamed = connection.execute(statement + " AND metadata_location = ?", values).rowcount
            self._keep_namespace(connection, ".".join(identifier.namespace))
            return outcomes.done(old) if renamed else outcomes.lost(f"{identifier} was changed by another writer")

        return _dotless(to.namespace) or self._write(work)

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """A new namespace; refused when it exists, if only as the parent of another."""

        def work(connection: sqlite3.Connection) -> Outcome:
            if self._has_namespace(connection, namespace):
                return outcomes.refused(f"the namespace {'.'.join(namespace)} exists already")
            self._set(connection, ".".join(namespace), {**properties, NAMESPACE_EXISTS: "true"})
            return outcomes.done(None)

        return _dotless(namespace) or self._write(work)

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove properties in one transaction. Removing the last one keeps the namespace."""

        def work(connection: sqlite3.Connection) -> Outcome:
            if not self._has_namespace(connection, namespace):
                return outcomes.refused(f"there is no namespace {'.'.join(namespace)}")
            name = ".".join(namespace)
            statement = (
                "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND property_key = ?"
            )
            connection.executemany(statement, [(self.catalog, name, key) for key in removals])
            self._set(connection, name, {**updates, NAMESPACE_EXISTS: "true"})
            return outcomes.done(None)

        return _dotless(namespace) or self._write(work)

    def try_lock(self) -> None:
        """Take the write lock of the file that is there and give it back; Blocked, or another error, when that fails.
        Nothing is written, and the file's journal mode stays as it is.
        """
        uri = f"file:{quote(os.path.abspath(self.path))}?mode=rw"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=self._busy_seconds, isolation_level=None)
            ) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise trouble(self.path, error) from error

    def _insert(self, connection: sqlite3.Connection, identifier: Identifier, location: str) -> Outcome:
        if dotted := _dotless(identifier.namespace):
            return dotted
        if not self._has_namespace(connection, identifier.namespace):
            return outcomes.refused(f"there is no namespace {'.'.join(identifier.namespace)}")
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        values = [*self._key(identifier), location]
        if "iceberg_type" in columns_of(connection, "iceberg_tables"):
            columns, values = columns + ", iceberg_type", [*values, "TABLE"]
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO iceberg_tables ({columns}) VALUES ({marks})", values)
        return outcomes.done(location)

    def _key(self, identifier: Identifier) -> tuple[str, str, str]:
        return self.catalog, ".".join(identifier.namespace), identifier.name

    def _set(self, connection: sqlite3.Connection, namespace: str, properties: Mapping[str, str]) -> None:
        connection.executemany(
            "INSERT OR REPLACE INTO iceberg_namespace_properties"
            " (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?)",
            [(self.catalog, namespace, key, value) for key, value in properties.items()],
        )

    def _keep_namespace(self, connection: sqlite3.Connection, namespace: str) -> None:
        """A namespace that existed only through its last table would vanish with it."""
        connection.execute(
            "INSERT OR IGNORE INTO iceberg_namespace_properties"
            " (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, 'true')",
            (self.catalog, namespace, NAMESPACE_EXISTS),
        )

    def _has_namespace(self, connection: sqlite3.Connection, namespace: tuple[str, ...]) -> bool:
        name = ".".join(namespace)
        for table, column in (("iceberg_tables", "table_namespace"), ("iceberg_namespace_properties", "namespace")):
            # A comparison of prefixes, not LIKE: `_` and `%` are letters here.
            statement = (
                f"SELECT 1 FROM {table} WHERE catalog_name = ? AND ({column} = ? OR substr({column}, 1, ?) = ?) LIMIT 1"
            )
            if connection.execute(statement, (self.catalog, name, len(name) + 1, name + ".")).fetchone():
                return True
        return False

    def _write(self, work: Work) -> Outcome:
        phase = Phase.SWAPPING
        try:
            with closing(self._open()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _LAYOUT:
                    connection.execute(statement)
                outcome = work(connection)
                if outcome.kind is OutcomeKind.DONE:
                    phase = Phase.COMMITTING
                    connection.execute("COMMIT")
                return outcome  # closing without COMMIT rolls back
        except sqlite3.Error as error:
            return outcomes.of_sqlite(phase, getattr(error, "sqlite_errorname", type(error).__name__), str(error))
        except OSError as error:
            return outcomes.refused(f"the catalog's folder could not be made: {error.strerror or error}")

    def _open(self) -> sqlite3.Connection:
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=self._busy_seconds, isolation_level=None)
        try:
            _use_wal(connection, time.monotonic() + self._busy_seconds)
            connection.execute("PRAGMA synchronous = FULL")  # an acknowledged commit survives a power cut
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _use_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Readers go on while somebody writes. The switch happens once in the life of a file, and SQLite does not wait for
    a busy lock in it: several first writers at once would fail without this loop.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _dotless(namespace: tuple[str, ...]) -> Outcome | None:
    """A refusal for a namespace this catalog cannot hold: it joins parts with dots, in both engines."""
    if namespace and all(part and "." not in part for part in namespace):
        return None
    return outcomes.refused(
        f"the namespace {'.'.join(namespace)!r} has a part with a dot in it (or none at all), and an embedded catalog"
        " joins the parts of a namespace with dots"
    )
