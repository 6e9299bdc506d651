"""What is worth keeping between two looks, in one SQLite file that may be thrown away at any time: the `Cache` port.

A cache that is damaged, locked, of another version, or in a place that may not be written is no cache, and no error.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import closing
from urllib.parse import quote

FORM = 1  # of the file; one of another form is made anew
BYTES_MAX = 1 << 30  # past it the file is begun again: what is needed comes back with the next look
BUSY_SECONDS = 0.5  # another look is writing: going without costs less than waiting
_CHUNK = 500  # values bound in one statement
_LAYOUT = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


class LocalCache:
    """Values by key in a file under a folder, which is made when there is something to keep. Threads may share it."""

    def __init__(self, path: str, *, bytes_max: int = BYTES_MAX) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of these keys that are there."""
        found: dict[str, bytes] = {}
        with self._lock:
            if not keys or (self._connection is None and not os.path.exists(self._path)):
                return found
            try:
                connection = self._open()
                for start in range(0, len(keys), _CHUNK):
                    chunk = keys[start : start + _CHUNK]
                    marks = ", ".join("?" * len(chunk))
                    found.update(
                        connection.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", tuple(chunk))
                    )
            except (sqlite3.Error, OSError):
                return found
        return found

    def put(self, values: Mapping[str, bytes]) -> None:
        """Keep these, or do not."""
        if not values:
            return
        with self._lock:
            try:
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
                self._make_room()
                with self._open() as connection:
                    connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", list(values.items()))
            except (sqlite3.DatabaseError, OSError):
                self._forget_damaged()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, check_same_thread=False)
            try:
                _prepare(connection)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
            weakref.finalize(self, connection.close)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _make_room(self) -> None:
        if os.path.exists(self._path) and os.path.getsize(self._path) > self._bytes_max:
            self._close()
            os.unlink(self._path)

    def _forget_damaged(self) -> None:
        """Take the file away if it is no database any more; leave it if it is only locked, or may not be written."""
        self._close()
        try:
            with closing(sqlite3.connect(f"file:{quote(self._path)}?mode=ro", uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in {"SQLITE_NOTADB", "SQLITE_CORRUPT"}:
                os.unlink(self._path)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = OFF")  # a cache torn by a power cut is found out and made again
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if form != FORM:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute(f"PRAGMA user_version = {FORM}")
    connection.execute(_LAYOUT)
    connection.commit()
