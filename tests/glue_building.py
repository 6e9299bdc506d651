"""A Glue account nobody else uses on the local AWS server, what works on it, and a proxy that misbehaves before it."""

from __future__ import annotations

import http.client
import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from firnline.adapters.aws.glue_pointers import GluePointers
from firnline.adapters.aws.glue_swaps import GlueSwaps
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.iceberg.commits import PyIcebergCommits
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.store import LocalStore
from firnline.config.aws import AwsSettings, Keys
from firnline.config.endpoints import GlueEndpoint
from firnline.core.ids import Identifier
from tests.committing import CATALOG, ORDERS, assert_done, creating

ACCOUNT_HEADER = "x-moto-account-id"  # the local server's way to have many accounts


@dataclass
class Account:
    """An empty Glue catalog with a warehouse on this machine. `sent` counts the requests by operation."""

    server: str
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    skip_archive: bool = True
    catalog_id: str | None = None

    def __post_init__(self) -> None:
        self.number = _number()
        keys = Keys("testing", "testing")
        aws = AwsSettings(region="us-east-1", keys=keys, endpoints={"glue": self.server}, **self.settings)
        self.sessions = Sessions(aws)
        self.endpoint = GlueEndpoint(aws, None, self.catalog_id, self.skip_archive)
        for client in (self.glue, self.once):
            client.meta.events.register("before-sign.glue", self._sign, unique_id="sign")
            client.meta.events.register("before-send.glue", self._count, unique_id="count")

    def emptied(self, folder: Path) -> Account:
        """The same clients, which take a while to make, with another empty account."""
        self.number, self.folder = _number(), folder
        self.sent.clear()
        return self

    @property
    def warehouse(self) -> str:
        """Where its tables lie."""
        return f"file://{self.folder}/warehouse"

    def _sign(self, request: Any, **_: object) -> None:
        request.headers[ACCOUNT_HEADER] = self.number

    def _count(self, request: Any, **_: object) -> None:
        target = request.headers["X-Amz-Target"]
        name = target.decode() if isinstance(target, bytes) else target
        self.sent[name.rpartition(".")[2]] += 1

    @property
    def glue(self) -> Any:
        """The client that looks."""
        return self.sessions.client("glue")

    @property
    def once(self) -> Any:
        """The client that commits."""
        return self.sessions.client("glue", tries=1)

    @property
    def pointers(self) -> GluePointers:
        """The listing half."""
        return GluePointers(self.sessions, self.endpoint, CATALOG)

    @property
    def swaps(self) -> GlueSwaps:
        """The writing half."""
        return GlueSwaps(self.sessions, self.endpoint, LocalBlobs())

    @property
    def commits(self) -> PyIcebergCommits:
        """The committer without a JVM."""
        return PyIcebergCommits(self.pointers, self.swaps, LocalBlobs(), LocalStore())

    def create(self, identifier: Identifier = ORDERS, **more: Any) -> str:
        """A table, with its namespace if that is not there yet; its metadata location."""
        if identifier.namespace not in self.pointers.namespaces():
            assert_done(self.swaps.create_namespace(identifier.namespace, {}))
        outcome = assert_done(self.commits.commit(identifier, creating(f"{self.warehouse}/{identifier.name}", **more)))
        return str(outcome.facts["metadata-location"])

    def copy(self, location: str, name: str) -> str:
        """Another metadata file of the same content beside this one; its location."""
        folder, _, old = location.removeprefix("file://").rpartition("/")
        data = Path(folder, old).read_bytes()
        Path(folder, f"{name}.metadata.json").write_bytes(data)
        return f"file://{folder}/{name}.metadata.json"

    def entry(self, identifier: Identifier = ORDERS) -> dict[str, Any]:
        """What Glue has of a table."""
        found = self.glue.get_table(DatabaseName=identifier.namespace[0], Name=identifier.name)
        return dict(found["Table"])

    def database(self, name: str, **given: Any) -> str:
        """A database as somebody else makes it; its name."""
        self.glue.create_database(DatabaseInput={"Name": name, **given})
        return name

    def put(self, database: str, name: str, **given: Any) -> None:
        """An entry as somebody else makes it."""
        self.glue.create_table(DatabaseName=database, TableInput={"Name": name, **given})

    def close(self) -> None:
        """Close the connections."""
        self.sessions.close()


def _number() -> str:
    return f"{secrets.randbelow(10**12):012d}"


def iceberg(location: str, word: str = "ICEBERG") -> dict[str, Any]:
    """The fields of an entry that points to this metadata file."""
    return {"TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": word, "metadata_location": location}}


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to the next request of an operation. `after`: the server gets it and carries it out all the same."""

    operation: str
    status: int | None  # None: there is no answer; the connection is cut
    code: str = ""
    after: bool = False
    body: Mapping[str, Any] | None = None  # None: what Glue says of an error
    stalls: bool = False  # nothing comes back until whoever asked has given up

    def answer(self) -> bytes:
        """The body that is sent instead of the server's."""
        return json.dumps(self.body or {"__type": self.code, "message": "as the test says"}).encode()


class Crooked(ThreadingHTTPServer):
    """A server before the real one that does what the next fault says, and passes everything else on."""

    daemon_threads = True

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind = urlsplit(behind)
        self.faults: list[Fault] = []
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self, operation: str) -> Fault | None:
        """The fault of this request, taken off the list."""
        with self.lock:
            self.seen[operation] += 1
            found = next((fault for fault in self.faults if fault.operation == operation), None)
            if found is not None:
                self.faults.remove(found)
            return found


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # a connection for each request: none is left open
    server: Crooked

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        fault = self.server.next_fault(operation)
        passed = self._pass_on(body) if fault is None or fault.after else (200, b"{}")
        if fault is not None and fault.stalls:
            self.connection.settimeout(60)
            self.rfile.read(1)  # ends when the other side hangs up
        elif fault is None:
            self._answer(*passed)
        elif fault.status is not None:
            self._answer(fault.status, fault.answer())

    def _pass_on(self, body: bytes) -> tuple[int, bytes]:
        behind = http.client.HTTPConnection(str(self.server.behind.hostname), self.server.behind.port)
        try:
            behind.request("POST", self.path, body, dict(self.headers.items()))
            answer = behind.getresponse()
            return answer.status, answer.read()
        finally:
            behind.close()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's signature
        """Say nothing."""


@contextmanager
def crooked(behind: str) -> Iterator[Crooked]:
    """A misbehaving server before this one, for as long as the block lasts."""
    with Crooked(behind) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What so many threads return that do this at the same time."""
    found: list[Any] = [None] * count

    def run(index: int) -> None:
        found[index] = work(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
