"""The listing half of the embedded catalog: one SQLite file in the layout JdbcCatalog and SqlCatalog share.

Standard library only, no JVM, and nothing is written: looking at a lakehouse must not change it, not even by the two
files SQLite keeps beside a database in WAL mode. See `_uri` for how.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TypeVar
from urllib.parse import quote

from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer

BUSY_SECONDS = 30.0
_TRIES = 3
_MAGIC = b"SQLite format 3\x00"
_WAL = 2
NAMESPACE_EXISTS = "exists"  # both catalogs write `exists=true` so that a namespace without properties has a row
_COLUMNS = {"catalog_name", "table_namespace", "table_name", "metadata_location"}
_NAMESPACE_COLUMNS = {"catalog_name", "namespace", "property_key", "property_value"}

Found = TypeVar("Found")
_NOTHING: tuple[Pointer, ...] = ()


class SqlitePointers:
    """`facts.ports.Pointers` over the embedded catalog. A file that is not there is a lakehouse nobody applied yet:
    empty.

    A namespace is stored as its parts joined by dots, by both engines: a part with a dot in it cannot be told from two
    parts, so it cannot exist here. Table names may have dots.
    """

    def __init__(self, path: str, catalog: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self.catalog = catalog
        self._busy_seconds = busy_seconds

    def exists(self) -> bool:
        """Whether there is a catalog file at all: what `doctor` wants to know beyond an empty listing."""
        return os.path.exists(self.path)

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry in order of name, or those directly in one namespace. One query, read whole before the first
        entry is given, so that no lock is held while the caller works.
        """
        if namespace is not None and not _storable(namespace):
            return iter(())
        where, values = ("", ()) if namespace is None else (" AND table_namespace = ?", (".".join(namespace),))
        found = self._look(lambda connection: _entries(connection, self.catalog, where, values), _NOTHING)
        return iter(sorted(found, key=lambda pointer: pointer.identifier))

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None."""
        if not _storable(identifier.namespace):
            return None
        where = " AND table_namespace = ? AND table_name = ?"
        values = (".".join(identifier.namespace), identifier.name)
        found = self._look(lambda connection: _entries(connection, self.catalog, where, values), _NOTHING)
        return found[0] if found else None

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every namespace with its properties: those declared, those that merely hold tables, and the parents of both,
        which exist for either engine too.
        """
        return self._look(lambda connection: _namespaces(connection, self.catalog), {})

    def _look(self, ask: Callable[[sqlite3.Connection], Found], empty: Found) -> Found:
        try:
            for _ in range(_TRIES):
                if not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
                    return empty
                uri, before = _uri(self.path)
                answer = self._ask(uri, ask, empty)
                if before is None or before == _state(self.path):
                    return answer
        except sqlite3.Error as error:
            raise trouble(self.path, error) from error
        except OSError as error:
            raise Failed(
                f"The catalog {self.path} could not be read: {error.strerror or error}.",
                next_step="Check that this user may read the file and its folder.",
            ) from error
        raise Blocked(
            f"The catalog {self.path} was rewritten each time while it was read.",
            next_step="Run the command again when the other writers are done.",
        )

    def _ask(self, uri: str, ask: Callable[[sqlite3.Connection], Found], empty: Found) -> Found:
        with closing(sqlite3.connect(uri, uri=True, timeout=self._busy_seconds, isolation_level=None)) as connection:
            # One read transaction around all questions: they are about one moment.
            connection.execute("BEGIN")
            if not _check_layout(connection, self.path):
                return empty
            _check_owner(connection, self.path, self.catalog)
            return ask(connection)


def _uri(path: str) -> tuple[str, tuple[int, ...] | None]:
    """The URI to open, and the state of the file the answer is only good for.

    `mode=ro` on a database in WAL mode makes the `-wal` and `-shm` files when they are missing and, being read-only,
    leaves them there; in a folder it may not write it fails. When there is no log, the database file alone is the whole
    truth and `immutable=1` reads it without creating anything. The price: SQLite then takes no lock, so a writer that
    comes and checkpoints in those milliseconds could tear the answer. Comparing the file before and after shows it:
    read again.
    """
    base = f"file:{quote(os.path.abspath(path))}?mode=ro"
    state = _state(path)
    with open(path, "rb") as file:
        header = file.read(100)
    if not header.startswith(_MAGIC):
        raise sqlite3.DatabaseError("file is not a database")
    in_wal = len(header) == 100 and header[18] == _WAL
    return (base + "&immutable=1", state) if in_wal and state[-1] == 0 else (base, None)


def _state(path: str) -> tuple[int, ...]:
    status = os.stat(path)
    try:
        log = os.stat(path + "-wal").st_size
    except FileNotFoundError:
        log = 0
    with open(path, "rb") as file:
        header = file.read(100)
    (changes,) = struct.unpack(">I", header[24:28]) if len(header) == 100 else (0,)
    return status.st_ino, status.st_mtime_ns, status.st_size, changes, log


def _check_layout(connection: sqlite3.Connection, path: str) -> bool:
    """Whether there is a catalog in this database; an error when there is something else."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "iceberg_tables" not in tables:
        others = sorted(name for name in tables if not name.startswith("sqlite_"))
        if others:
            raise BadInput(
                f"{path} is an SQLite database of something else: "
                f"it has {', '.join(others[:3])} and no iceberg_tables.",
                next_step="Point the catalog's `uri` in lakehouse.yaml to a file of its own.",
            )
        return False
    wanted = [("iceberg_tables", _COLUMNS)]
    if "iceberg_namespace_properties" in tables:
        wanted.append(("iceberg_namespace_properties", _NAMESPACE_COLUMNS))
    for table, columns in wanted:
        missing = columns - columns_of(connection, table)
        if missing:
            raise BadInput(
                f"{path} has a table {table} without {', '.join(sorted(missing))}: "
                "a catalog layout Firnline does not know.",
                next_step="Check that the file was made by Iceberg's JDBC catalog or by PyIceberg.",
            )
    return True


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table. Layout V0 of the catalog has no `iceberg_type`, V1 has."""
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _check_owner(connection: sqlite3.Connection, path: str, catalog: str) -> None:
    """A file whose rows all belong to catalogs of other names is another project's, not an empty one of ours."""
    counts = Counter(
        dict(connection.execute("SELECT catalog_name, COUNT(*) FROM iceberg_tables GROUP BY 1").fetchall())
    )
    if "iceberg_namespace_properties" in _tables(connection):
        statement = "SELECT catalog_name, COUNT(*) FROM iceberg_namespace_properties GROUP BY 1"
        counts.update(dict(connection.execute(statement).fetchall()))
    if counts and catalog not in counts:
        names = ", ".join(repr(name) for name in sorted(counts))
        raise BadInput(
            f"{path} holds the catalog {names} and none named {catalog!r}.",
            why="In one SQLite file tables belong to a catalog by its name: under another they would all seem gone.",
            next_step=f"Name the catalog {min(counts)!r} in lakehouse.yaml, or give this project a file of its own.",
        )


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _entries(connection: sqlite3.Connection, catalog: str, where: str, values: tuple[str, ...]) -> tuple[Pointer, ...]:
    kind = "iceberg_type" if "iceberg_type" in columns_of(connection, "iceberg_tables") else "NULL"
    statement = (
        f"SELECT table_namespace, table_name, metadata_location, {kind} FROM iceberg_tables WHERE catalog_name = ?"
    )
    return tuple(_pointer(*row) for row in connection.execute(statement + where, (catalog, *values)))


def _pointer(namespace: str, name: str, location: str | None, kind: str | None) -> Pointer:
    known = {None: "table", "TABLE": "table", "VIEW": "view"}.get(kind and kind.upper(), "other")
    return Pointer(Identifier(tuple(namespace.split(".")), name), location, known if location else "other")


def _namespaces(connection: sqlite3.Connection, catalog: str) -> dict[tuple[str, ...], dict[str, str]]:
    found: dict[tuple[str, ...], dict[str, str]] = {}
    if "iceberg_namespace_properties" in _tables(connection):
        statement = (
            "SELECT namespace, property_key, property_value FROM iceberg_namespace_properties WHERE catalog_name = ?"
        )
        for namespace, key, value in connection.execute(statement, (catalog,)):
            properties = found.setdefault(tuple(namespace.split(".")), {})
            if key != NAMESPACE_EXISTS:
                properties[key] = value
    statement = "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = ?"
    for (namespace,) in connection.execute(statement, (catalog,)):
        found.setdefault(tuple(namespace.split(".")), {})
    for namespace in tuple(found):
        for length in range(1, len(namespace)):
            found.setdefault(namespace[:length], {})
    return dict(sorted(found.items()))


def _storable(namespace: tuple[str, ...]) -> bool:
    return bool(namespace) and not any("." in part or not part for part in namespace)


def trouble(path: str, error: sqlite3.Error) -> FirnlineError:
    """What an SQLite error means to the person in front of it."""
    code = str(getattr(error, "sqlite_errorname", "") or error)
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or "locked" in str(error):
        return Blocked(
            f"The catalog {path} is locked by another process.",
            why="It was waited for as long as a healthy writer ever needs.",
            next_step="Find out who holds it (for example with `fuser` or `lsof`), then run the command again.",
        )
    if code.startswith("SQLITE_NOTADB") or "not a database" in str(error):
        return BadInput(
            f"{path} is not an SQLite database.",
            next_step="Point the catalog's `uri` in lakehouse.yaml to the catalog file, or move this file away.",
        )
    if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return Blocked(
            f"The catalog {path} cannot be opened for reading as it is ({code}).",
            why="Either this user may not read it, or a writer died and left a log that only someone who may write the "
            "folder can bring in.",
            next_step="Check the permissions of the file and its folder, or run any command once as its owner.",
        )
    if code.startswith("SQLITE_CORRUPT"):
        return Failed(
            f"The catalog {path} is damaged: {error}.",
            next_step="Restore the file from a backup; the tables' own files are not touched by this.",
        )
    return Failed(f"The catalog {path} could not be read: {error} ({code}).")
