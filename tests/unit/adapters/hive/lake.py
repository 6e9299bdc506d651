"""A database of a test's own in the metastore of the tests, what works on it, and what stands between."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hive_metastore.ttypes import (
    FieldSchema,
    LockComponent,
    LockLevel,
    LockRequest,
    LockType,
    SerDeInfo,
    ShowLocksRequest,
    StorageDescriptor,
    Table,
    UnlockRequest,
)

from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.pointers import HivePointers
from firnline.adapters.hive.swaps import HiveSwaps
from firnline.adapters.hive.wire import Connection
from firnline.adapters.iceberg.commits import PyIcebergCommits
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.store import LocalStore
from firnline.config.endpoints import HiveEndpoint, endpoint
from firnline.config.values import CatalogSettings
from firnline.core.ids import Identifier
from tests.committing import assert_done, creating

AGENT = "firnline-of-the-test"


def address(uri: str) -> HiveEndpoint:
    """The endpoint of a metastore, as the settings of a catalog name it."""
    found = endpoint(CatalogSettings("lake", "hive", {"uri": uri}))
    assert isinstance(found, HiveEndpoint)
    return found


@dataclass
class Lake:
    """An empty database with a warehouse on this machine."""

    endpoint: HiveEndpoint
    folder: Path
    wait: float = 30.0
    namespace: tuple[str, ...] = field(default_factory=lambda: (f"t_{uuid4().hex[:12]}",))

    def __post_init__(self) -> None:
        self.client = HiveClient(self.endpoint)
        self.pointers = HivePointers(self.client)
        self.swaps = HiveSwaps(self.client, self.endpoint, LocalBlobs(), wait=self.wait)
        self.commits = PyIcebergCommits(self.pointers, self.swaps, LocalBlobs(), LocalStore())

    @property
    def warehouse(self) -> str:
        """New tables go under it."""
        return f"file://{self.folder}/warehouse"

    @property
    def database(self) -> str:
        """The database by its name."""
        return self.namespace[0]

    def through(self, port: int) -> Lake:
        """The same database, reached through a port of this machine, by a client without patience."""
        return Lake(replace(self.endpoint, port=port, timeout_millis=2_000), self.folder, self.wait, self.namespace)

    def table(self, name: str = "orders") -> Identifier:
        """A table's name in this database."""
        return Identifier(self.namespace, name)

    def made(self, name: str = "orders", **more: Any) -> tuple[Identifier, str]:
        """A new table, and where its metadata is."""
        identifier = self.table(name)
        assert_done(self.commits.commit(identifier, creating(f"{self.warehouse}/{uuid4().hex}", **more)))
        return identifier, self.location(identifier)

    def location(self, identifier: Identifier) -> str:
        """Where the table's metadata is by now."""
        found = self.pointers.find(identifier)
        assert found is not None
        assert found.metadata_location is not None
        return found.metadata_location

    def copied(self, location: str) -> str:
        """Another metadata file with the same content: somewhere to swap to."""
        new = location.replace(".metadata.json", f"-{uuid4().hex}.metadata.json")
        LocalStore().put(new, LocalBlobs().read(location))
        return new

    def entry(self, name: str = "orders") -> Any:
        """What the metastore has under this name."""
        return self.client.table(self.database, name)

    def put(self, name: str, **parameters: str | None) -> None:
        """Any entry, past all that we do: `tableType` is told apart from the parameters."""
        kind = parameters.pop("tableType", "EXTERNAL_TABLE")
        serializer = SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={})
        storage = StorageDescriptor(
            [FieldSchema("id", "bigint", None)], f"{self.warehouse}/{name}",
            "org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.mapred.TextOutputFormat",
            serdeInfo=serializer,
        )  # fmt: skip
        view = {"viewOriginalText": "SELECT 1", "viewExpandedText": "SELECT 1"} if kind == "VIRTUAL_VIEW" else {}
        entry = Table(
            tableName=name, dbName=self.database, owner="ann", sd=storage, partitionKeys=[], tableType=kind,
            parameters={"EXTERNAL": "TRUE", "DO_NOT_UPDATE_STATS": "true", **parameters}, **view,
        )  # fmt: skip
        with self.client.session() as line:
            line.call("create_table", entry)

    def lock(self, name: str = "orders", agent: str = AGENT) -> int:
        """Take, or queue for, the lock of a table as another writer would."""
        component = LockComponent(
            type=LockType.EXCLUSIVE, level=LockLevel.TABLE, dbname=self.database, tablename=name
        )  # fmt: skip
        request = LockRequest([component], user="eve", hostname="elsewhere", agentInfo=agent)
        return int(self.client.read("lock", request).lockid)

    def unlock(self, lock: int) -> None:
        """Give it back."""
        self.client.read("unlock", UnlockRequest(lock))

    def locked_by(self) -> list[str]:
        """The agents that hold a lock in this database, or queue for one."""
        found = self.client.read("show_locks", ShowLocksRequest(dbname=self.database)).locks or ()
        return [lock.agentInfo for lock in found]


@contextmanager
def opened(uri: str, folder: Path, **settings: Any) -> Iterator[Lake]:
    """An empty database, left behind: nobody else uses its name."""
    lake = Lake(address(uri), folder, **settings)
    try:
        assert_done(lake.commits.create_namespace(lake.namespace, {"location": lake.warehouse}))
        yield lake
    finally:
        lake.client.close()


def intercept(monkeypatch: pytest.MonkeyPatch, method: str, instead: Callable[..., Any]) -> None:
    """What the server does with one method, seen from here. `instead` gets the real call, and what is given to it."""
    call = Connection.call

    def intercepted(self: Connection, called: str, *given: Any) -> Any:
        if called != method:
            return call(self, called, *given)
        return instead(lambda: call(self, called, *given), *given)

    monkeypatch.setattr(Connection, "call", intercepted)


@contextmanager
def faulty(behind: HiveEndpoint, method: str, fault: str) -> Iterator[int]:
    """A port in front of the metastore that fails once, at the first call of this method.

    `before`: it closes the connection and passes nothing on. `after`: it passes the call on, and drops the answer.
    `stall`: it passes nothing on and stays silent. `bye`: it answers, and closes the connection then.
    """
    trap = _Trap(behind, f"{len(method):>08x}", method.encode(), fault)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=trap.serve, args=(server,))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            trap.end()


class _Trap:
    def __init__(self, behind: HiveEndpoint, length: str, method: bytes, fault: str) -> None:
        self._behind = (behind.host, behind.port)
        self._mark = bytes.fromhex(length) + method
        self._fault: str | None = fault
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def serve(self, server: socket.socket) -> None:
        """Take connections until the server is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                thread = threading.Thread(target=self._talk, args=(client,))
                self._open.append(client)
                self._threads.append(thread)
                thread.start()

    def end(self) -> None:
        """Close what is open."""
        for line in self._open:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _talk(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), closing(socket.create_connection(self._behind)) as server:
            self._open.append(server)
            fault = None
            while True:
                ready, _, _ = select.select((client, server), (), ())
                if client in ready:
                    asked = client.recv(1 << 20)
                    if asked[4:].startswith(self._mark):
                        fault, self._fault = self._fault, None
                    if fault == "stall":
                        client.recv(1)
                    if not asked or fault in {"before", "stall"}:
                        return
                    server.sendall(asked)
                else:
                    answer = server.recv(1 << 20)
                    if not answer or fault == "after":
                        return
                    client.sendall(answer)
                    if fault == "bye":
                        return
