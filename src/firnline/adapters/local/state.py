"""`state.db`: leases and ledger of an environment in one SQLite file. The only module that opens it.

One connection per `State`, shared by the threads of the process behind a lock; SQLite keeps other processes apart.
Every commit is synced to disk before it is acknowledged: the ledger promises that what it recorded is there.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from firnline.adapters.local.migrations import APPLICATION_ID, MIGRATIONS
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError

SCHEMA_VERSION = len(MIGRATIONS)
BUSY_SECONDS = 30.0  # a busy lock is waited for: writers hold it for milliseconds, a slow disk for seconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(instant: datetime) -> int:
    """Microseconds since the epoch: what a datetime holds, without loss."""
    return (instant - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The inverse of `to_micros`."""
    return _EPOCH + timedelta(microseconds=micros)


class State:
    """An open state database. Use `open_state` or `look_at_state`."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self.name = name

    def rows(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """Run one statement, committed on its own, and return all it gives."""
        with self._lock, _translated(self.name):
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Several statements as one: the write lock is taken first, so nothing read inside can be out of date."""
        with self._lock, _translated(self.name), _transaction(self._connection):
            yield

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        with self._lock:
            self._connection.close()


def open_state(path: Path) -> State:
    """Open for work; made and brought up to date when need be. Its folder is created."""
    with _translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(f"file:{_quoted(path)}?mode=rwc")
        try:
            _prepare(connection, str(path))
        except BaseException:
            connection.close()
            raise
    return State(connection, str(path))


def look_at_state(path: Path) -> State:
    """Open for looking: nothing is created, changed or locked. A missing file reads as an empty state.

    Without a write-ahead log beside it nobody has the file open, and `immutable` keeps SQLite from making one. A writer
    that comes during the look can then spoil an answer, never the file.
    """
    with _translated(str(path)):
        if not path.exists() or path.stat().st_size == 0:
            return memory_state()
        quiet = not path.with_name(path.name + "-wal").exists()
        connection = _connect(f"file:{_quoted(path)}?mode=ro" + ("&immutable=1" if quiet else ""))
        try:
            version = _recognise(connection, str(path))
        except BaseException:
            connection.close()
            raise
    if version == 0:
        connection.close()
        return memory_state()
    if version < SCHEMA_VERSION:
        connection.close()
        raise Blocked(
            f"{path} was written by an older Firnline (state schema {version}, this one has {SCHEMA_VERSION}).",
            next_step="Run any command that writes, such as `firnline apply`, to bring it up to date.",
        )
    return State(connection, str(path))


def memory_state() -> State:
    """An empty state that lives as long as the process: for looking where there is none, and for tests."""
    connection = _connect("file::memory:")
    _prepare(connection, ":memory:")
    return State(connection, ":memory:")


def _quoted(path: Path) -> str:
    return path.absolute().as_uri().removeprefix("file:")


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    connection.row_factory = sqlite3.Row
    return connection


def _prepare(connection: sqlite3.Connection, name: str) -> None:
    # Recognised before anything is written: somebody else's database must come out of this unchanged.
    version = _recognise(connection, name)
    _use_wal(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA recursive_triggers = ON")  # or REPLACE would pass by the append-only triggers
    connection.execute("PRAGMA synchronous = FULL")
    if version < SCHEMA_VERSION:
        _migrate(connection, name)


def _recognise(connection: sqlite3.Connection, name: str) -> int:
    # One statement: between several, another process may make its tables, and they would look like somebody else's.
    version, application, tables = connection.execute(
        "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_user_version, pragma_application_id"
    ).fetchone()
    if tables and application != APPLICATION_ID:
        raise BadInput(
            f"{name} is a SQLite database, and not Firnline's state.",
            next_step="Point the environment's `state` at a file of its own.",
        )
    if version > SCHEMA_VERSION:
        raise BadInput(
            f"{name} was written by a newer Firnline (state schema {version}; this one knows up to {SCHEMA_VERSION}).",
            why="An older version could misread leases that a newer one holds.",
            next_step="Upgrade Firnline here too.",
        )
    return int(version)


def _use_wal(connection: sqlite3.Connection) -> None:
    # Switching a fresh file to WAL needs it for itself, and SQLite does not wait for that by itself.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _migrate(connection: sqlite3.Connection, name: str) -> None:
    with _transaction(connection):
        done = _recognise(connection, name)  # again, under the lock: another process may have just done it
        for number, statements in enumerate(MIGRATIONS[done:], done + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        # After a full disk SQLite may have rolled back by itself; after a failed COMMIT the transaction is still open.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except FirnlineError:
        raise
    except sqlite3.Error as error:
        raise _in_words(error, name) from error
    except OSError as error:
        raise BadInput(
            f"{name} cannot be opened: {error.strerror or error}.", next_step="Check the folder and its permissions."
        ) from error


def _in_words(error: sqlite3.Error, name: str) -> FirnlineError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return Blocked(
            f"{name} stayed locked for {BUSY_SECONDS:.0f} seconds.",
            why="Another process is in the middle of a write, or hangs.",
            next_step="Find it with `lsof` or `fuser` on that file, and try again.",
        )
    if "readonly" in text:
        return BadInput(f"{name} cannot be written.", next_step="Check its permissions, or set `access: read`.")
    if "unable to open" in text:
        return BadInput(f"{name} cannot be opened.", next_step="Check the folder and its permissions.")
    if "full" in text:
        return Failed(f"{name} cannot grow: {text}.", next_step="Make room on the disk, then run the command again.")
    if "not a database" in text or "malformed" in text or "file is encrypted" in text:
        return BadInput(
            f"{name} is damaged or not a SQLite database: {text}.",
            next_step="Restore it from a backup. Moving it away starts an empty one, and forgets leases and ledger.",
        )
    return Failed(f"{name}: {text}.")
