"""A server of a test's own on loopback: what it answers is a function, and what it was asked is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived."""

    method: str
    target: str  # path and query, byte for byte
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send. `cut`: the connection ends after so many bytes of the body, whatever length was promised."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and what it was asked."""

    endpoint: str
    asked: list[Asked]


@contextmanager
def answering(answer: Callable[[Asked], Answer]) -> Iterator[Server]:
    """A server while the block lasts. `answer` is called by any number of threads."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def respond(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            if self.headers.get("Expect") == "100-continue":
                self.send_response_only(100)
                self.end_headers()
            headers = {name.lower(): text for name, text in self.headers.items()}
            request = Asked(self.command, self.path, headers, self.rfile.read(length))
            asked.append(request)
            found = answer(request)
            self.send_response(found.status)
            for name, text in found.headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else found.body[: found.cut])
            self.close_connection = found.cut is not None

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = respond  # noqa: N815  # the names http.server asks for

        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def handle_expect_100(self) -> bool:
            return True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
