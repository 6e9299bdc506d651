"""DynamoDB for tests: tables on the local server, and a proxy before it that loses requests and replies."""

from __future__ import annotations

import http.client
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.state_table import StateTable
from firnline.config.aws import AwsSettings
from tests import servers


def new_sessions(endpoint: str, tries: int = 5) -> Sessions:
    """Clients of their own, for this endpoint."""
    server = servers.aws()
    return Sessions(AwsSettings(region=server.region, keys=server.keys, endpoints={"dynamodb": endpoint}, tries=tries))


@cache
def sessions() -> Sessions:
    """The clients of this process: making one takes longer than most tests."""
    return new_sessions(servers.aws().endpoint)


def new_table() -> StateTable:
    """An empty table, ready for work."""
    table = StateTable(sessions(), f"state-{uuid.uuid4().hex}")
    table.ensure()
    return table


class Fate(Enum):
    """What becomes of a request at the proxy."""

    PASSED = "passed"
    NEVER_SENT = "cut before the server saw it"
    REPLY_LOST = "carried out, and cut before the reply"


@dataclass(frozen=True)
class Canned:
    """A reply instead of the server's."""

    status: int
    body: dict[str, Any]


@dataclass
class Proxy:
    """What the proxy does to the requests to come, one by one, then `after` to all others; and what it saw."""

    endpoint: str = ""
    script: list[Fate | Canned] = field(default_factory=list)
    after: Fate | Canned = Fate.PASSED
    seen: list[str] = field(default_factory=list)  # the operations, in order
    asked: list[dict[str, Any]] = field(default_factory=list)  # what they asked
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *script: Fate | Canned, after: Fate | Canned = Fate.PASSED) -> None:
        """A new script; what was seen is forgotten."""
        with self.lock:
            self.script, self.after, self.seen, self.asked = list(script), after, [], []

    def turn(self, operation: str, asked: dict[str, Any]) -> Fate | Canned:
        """What becomes of this request."""
        with self.lock:
            self.seen.append(operation)
            self.asked.append(asked)
            return self.script.pop(0) if self.script else self.after


def error(code: str, message: str = "said the server", **more: Any) -> Canned:
    """An error as DynamoDB answers it."""
    return Canned(400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message, **more})


def cancelled(*codes: str) -> Canned:
    """A transaction that was not carried out, for these reasons of its actions."""
    reasons = [{"Code": code, "Message": code} for code in codes]
    return error("TransactionCanceledException", f"cancelled [{', '.join(codes)}]", CancellationReasons=reasons)


@contextmanager
def proxied() -> Iterator[Proxy]:
    """A proxy before the server."""
    proxy, target = Proxy(), urlsplit(servers.aws().endpoint).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or every reply, sent in two pieces, waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fate = proxy.turn(self.headers["X-Amz-Target"].rpartition(".")[2], json.loads(body))
            if isinstance(fate, Canned):
                self._reply(fate.status, json.dumps(fate.body).encode())
            elif fate is not Fate.NEVER_SENT:
                status, reply = self._carried_out(body)
                if fate is Fate.PASSED:
                    self._reply(status, reply)
            self.close_connection = not isinstance(fate, Canned) and fate is not Fate.PASSED

        def _carried_out(self, body: bytes) -> tuple[int, bytes]:
            connection = http.client.HTTPConnection(target, timeout=60)
            try:
                headers = {name: text for name, text in self.headers.items() if name.casefold() != "host"}
                connection.request("POST", self.path, body, headers)
                response = connection.getresponse()
                return response.status, response.read()
            finally:
                connection.close()

        def _reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name is the base class's
            """Nothing: what it saw is in the proxy."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        proxy.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()
