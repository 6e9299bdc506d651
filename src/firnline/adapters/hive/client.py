"""The metastore as a client sees it: a few connections, whoever asks.

Asking is repeated once when the line broke, for a server that was restarted in between. What changes something is sent
once: see `session`.
"""

from __future__ import annotations

import getpass
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hive_metastore.ttypes import (
    ClientCapabilities,
    ClientCapability,
    GetTableRequest,
    GetTablesRequest,
)

from firnline.adapters.hive.wire import UNKNOWN_METHOD, Broken, Connection, Fault
from firnline.config.endpoints import HiveEndpoint

IDLE_MAX = 4  # connections kept for later: a metastore has a thread for each, and not many
_ABSENT = frozenset({"NoSuchObjectException", "UnknownDBException"})
# Without it HMS 3 and 4 refuse to show insert-only tables of Hive, and every other of the same batch with them. No data
# of theirs is read here.
_CAPABLE = ClientCapabilities([ClientCapability.INSERT_ONLY_TABLES])


class HiveClient:
    """A metastore, asked over a small pool of connections. For any number of threads; `close` it after use."""

    def __init__(self, endpoint: HiveEndpoint, *, user: str | None = None) -> None:
        self.endpoint = endpoint
        self.user = user or current_user()
        self._idle: list[Connection] = []
        self._guard = threading.Lock()
        self._finish = weakref.finalize(self, _close_all, self._idle)

    def read(self, method: str, *given: Any) -> Any:
        """The answer to a question that changes nothing."""
        connection = self._take()
        try:
            answer = self._ask(connection, method, *given)
        except Broken as error:
            if error.slow or error.heard is not None:  # a server that is too slow, or never spoke: not a broken line
                raise
            connection = self._opened()
            answer = self._ask(connection, method, *given)
        return answer

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """One connection for a train of calls, nothing of it repeated."""
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        self._finish()

    # What HMS 2.3, 3 and 4 all answer: 4.0.1 took `get_table` and `get_table_objects_by_name` away.

    def databases(self) -> list[str]:
        """The names of all databases, in order."""
        return sorted(self.read("get_all_databases"))

    def database(self, name: str) -> Any | None:
        """One database, or None. A name the metastore would read as another one names nothing."""
        found = _there(lambda: self.read("get_database", name))
        return found if found is not None and found.name == name else None

    def table_names(self, database: str) -> list[str]:
        """The names of everything in a database, in order; none when there is no such database."""
        return sorted(_there(lambda: self.read("get_all_tables", database)) or ())

    def tables(self, database: str, names: Sequence[str]) -> list[Any]:
        """The entries of these names, as far as they are still there; in any order."""
        request = GetTablesRequest(database, list(names), _CAPABLE)
        found = _there(lambda: self.read("get_table_objects_by_name_req", request))
        return [] if found is None else list(found.tables or ())

    def table(self, database: str, name: str, on: Connection | None = None) -> Any | None:
        """One entry, or None; asked on this connection, or on any."""
        ask = self.read if on is None else on.call
        found = _there(lambda: ask("get_table_req", GetTableRequest(database, name, _CAPABLE)).table)
        # Names are cut at their edges and put into lower case by the server before it looks.
        same = found is not None and (found.dbName, found.tableName) == (database, name)
        return found if same else None

    def _ask(self, connection: Connection, method: str, *given: Any) -> Any:
        try:
            return connection.call(method, *given)
        finally:
            self._give_back(connection)

    def _take(self) -> Connection:
        while True:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._opened()
            if connection.alive:
                return connection
            connection.close()

    def _opened(self) -> Connection:
        connection = Connection(self.endpoint)
        try:
            # As Iceberg's Java client introduces itself: without it the metastore would act, and judge rights, as the
            # user it runs under itself.
            connection.call("set_ugi", self.user, [self.user])
        except BaseException as error:
            if isinstance(error, Fault) and error.name == UNKNOWN_METHOD:
                return connection  # a stand-in for a metastore that does not care
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._guard:
            if self._finish.alive and connection.alive and len(self._idle) < IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()


def _there(ask: Callable[[], Any]) -> Any | None:
    """The answer; None when the server says that there is no such thing."""
    try:
        return ask()
    except Fault as error:
        if error.name in _ABSENT:
            return None
        raise


def current_user() -> str:
    """Who we are to Hadoop: HADOOP_USER_NAME, else the user of this process."""
    if named := os.environ.get("HADOOP_USER_NAME"):
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user id has no name
        return "firnline"


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()
