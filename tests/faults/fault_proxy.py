"""A server before a server that speaks HTTP: it passes everything on, and does to chosen requests what a fault says.

Several of them share one `Trouble`, so that a fault may strike whichever service is asked.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

STALL_SECONDS_MAX = 60.0  # no client of a test waits that long
_HOP = frozenset({"connection", "transfer-encoding", "content-length", "date", "server"})
_LOOKS = ("Get", "Describe", "List", "Query", "BatchGet", "Search")  # how JSON services call what changes nothing


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived."""

    service: str
    method: str
    target: str
    operation: str  # as a JSON service calls it; elsewhere the method
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        if self.operation != self.method:
            return not self.operation.startswith(_LOOKS)
        return self.method not in {"GET", "HEAD"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. `length`: what is declared instead of the length of the body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """What happens to a request. `carried`: never | before the answer | once the client has given up."""

    name: str
    carried: str = "never"
    status: int | None = None  # the server's words for it are this proxy's; None: see the others
    code: str = ""  # as AWS says it
    header: tuple[str, str] | None = None
    stalls: bool = False  # nothing comes back until the client gives up
    spoils: Callable[[Answer], Answer] | None = None  # the true answer goes back, changed; the connection ends after it

    def said(self, service: str) -> Answer:
        """The error as this service words it."""
        assert self.status is not None
        message = "as the test says"
        given = dict([self.header] if self.header else [])
        if service == "s3":
            text = f"<Error><Code>{self.code}</Code><Message>{message}</Message></Error>"
            return Answer(self.status, text.encode(), {"Content-Type": "application/xml", **given})
        if service == "rest":
            error = {"error": {"message": message, "type": self.code, "code": self.status}}
            return Answer(self.status, json.dumps(error).encode(), {"Content-Type": "application/json", **given})
        said = json.dumps({"__type": self.code, "message": message})
        return Answer(self.status, said.encode(), {"Content-Type": "application/x-amz-json-1.1", **given})


def _cut(answer: Answer) -> Answer:
    return Answer(answer.status, answer.body[: len(answer.body) // 2], answer.headers, max(1, len(answer.body)))


def _longer(answer: Answer) -> Answer:
    return Answer(answer.status, answer.body, answer.headers, len(answer.body) + 7)


def _shorter(answer: Answer) -> Answer:
    return Answer(answer.status, answer.body, answer.headers, max(0, len(answer.body) - 7))


BEFORE = "before the answer"
KINDS = (
    Kind("409", status=409, code="ConcurrentModificationException"),
    Kind("throttled, 400", status=400, code="ThrottlingException"),
    Kind("throttled, 429", status=429, code="TooManyRequestsException"),
    Kind("500 before", status=500, code="InternalServerError"),
    Kind("500 after", BEFORE, status=500, code="InternalServerError"),
    Kind("503 before", status=503, code="ServiceUnavailable"),
    Kind("503 before, come back", status=503, code="ServiceUnavailable", header=("Retry-After", "0")),
    Kind("503 after", BEFORE, status=503, code="ServiceUnavailable"),
    Kind("dropped before"),
    Kind("dropped after", BEFORE),
    Kind("stalled before", stalls=True),
    Kind("stalled after", BEFORE, stalls=True),
    Kind("late", "once the client has given up", stalls=True),
    Kind("cut body", BEFORE, spoils=_cut),
    Kind("length too long", BEFORE, spoils=_longer),
    Kind("length too short", BEFORE, spoils=_shorter),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """This kind, for requests that match, from the `first` of them, so many times (None: to the end). `spreads`: from
    then on for everything the service is asked.
    """

    kind: Kind
    matches: Callable[[Asked], bool]
    first: int = 1
    times: int | None = 1
    spreads: bool = False


class Trouble:
    """The fault at hand, what it struck, and what was asked since it was set. For any number of threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._fault: Fault | None = None
        self._looking = False
        self._met = 0
        self._late = 0
        self.seen: list[Asked] = []
        self.struck: list[Asked] = []

    def begin(self, fault: Fault | None = None) -> None:
        """From now on this fault, or none."""
        with self._changed:
            self._fault, self._looking, self._met, self.seen, self.struck = fault, True, 0, [], []

    def end(self) -> None:
        """No fault any more, and nothing more is noted: what was seen and struck stays to be read."""
        with self._changed:
            self._fault, self._looking = None, False

    def turn(self, asked: Asked) -> Kind | None:
        """What happens to this request."""
        with self._changed:
            fault = self._fault
            if self._looking:
                self.seen.append(asked)
            if fault is None or not self._meets(fault, asked):
                return None
            self.struck.append(asked)
            self._late += fault.kind.carried not in {"never", BEFORE}
            return fault.kind

    def _meets(self, fault: Fault, asked: Asked) -> bool:
        if fault.spreads and self.struck and self.struck[0].service == asked.service:
            return True
        if not fault.matches(asked):
            return False
        self._met += 1
        over = self._met - fault.first
        return over >= 0 and (fault.times is None or over < fault.times)

    def landed(self) -> None:
        """Wait until every late request was carried out."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._late == 0, STALL_SECONDS_MAX)

    def land(self) -> None:
        """A late request was carried out."""
        with self._changed:
            self._late -= 1
            self._changed.notify_all()


@contextmanager
def before(upstream: str, service: str, trouble: Trouble, headers: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a proxy before this server, which gets these headers beside those of each request."""

    class Handler(_Handler):
        place = _Place(urlsplit(upstream).netloc, service, trouble, headers or {})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{urlsplit(upstream).path}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True, slots=True)
class _Place:
    upstream: str
    service: str
    trouble: Trouble
    headers: Mapping[str, str]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would wait for each other's acknowledgement
    place: _Place

    def log_message(self, *_: Any) -> None:
        """Nothing: what was seen is in the trouble."""

    def handle_expect_100(self) -> bool:
        """Said at once: left in the buffer, it would be waited for."""
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        operation = self.headers.get("X-Amz-Target", self.command).rpartition(".")[2]
        asked = Asked(self.place.service, self.command, self.path, operation, dict(self.headers.items()), body)
        kind = self.place.trouble.turn(asked)
        with contextlib.suppress(ConnectionError):  # the client gave up
            if kind is None:
                self._send(self._carried_out(asked))
            else:
                self._strike(kind, asked)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _serve  # noqa: N815 - the names http.server looks for

    def _strike(self, kind: Kind, asked: Asked) -> None:
        self.close_connection = True
        answer = self._carried_out(asked) if kind.carried == BEFORE else None
        if kind.stalls:
            self.connection.settimeout(STALL_SECONDS_MAX)
            with contextlib.suppress(OSError):
                self.rfile.read(1)  # ends when the other side hangs up
            if answer is None and kind.carried != "never":
                self._carried_out(asked)
                self.place.trouble.land()
        elif kind.spoils is not None and answer is not None:
            self._send(kind.spoils(answer))
        elif kind.status is not None:
            self._send(kind.said(self.place.service))

    def _carried_out(self, asked: Asked) -> Answer:
        headers = {name: text for name, text in asked.headers.items() if name.lower() not in {"expect", "connection"}}
        connection = http.client.HTTPConnection(self.place.upstream, timeout=60)
        try:
            connection.request(asked.method, asked.target, asked.body, {**headers, **self.place.headers})
            found = connection.getresponse()
            content = found.read()
            kept = {name: text for name, text in found.getheaders() if name.lower() not in _HOP}
            length = found.getheader("Content-Length")
            of_none = int(length) if asked.method == "HEAD" and length else None
            return Answer(found.status, content, kept, of_none)
        finally:
            connection.close()

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(answer.body) if answer.length is None else answer.length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
