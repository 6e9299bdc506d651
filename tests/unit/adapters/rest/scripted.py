"""A server that answers as a test tells it to, down to the bytes."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from firnline.config.aws import AwsSettings
from firnline.config.endpoints import RestEndpoint

SETTINGS = AwsSettings(region="eu-west-1", connect_millis=2_000, read_millis=400, tries=3)


@dataclass(frozen=True)
class Heard:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Say:
    """An answer. `raw` replaces it by these very bytes, and closes the connection. `silent`: none, until the end."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    silent: bool = False

    def bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body or {}).encode()
        given = {"Content-Length": str(len(body)), "Content-Type": "application/json", **self.headers}
        lines = "".join(f"{name}: {text}\r\n" for name, text in given.items())
        return f"HTTP/1.1 {self.status} X\r\n{lines}\r\n".encode() + body


CONFIG = Say(body={"defaults": {}, "overrides": {}})
Script = Callable[[Heard], Say]


@dataclass
class Scripted:
    """A running server and what it heard."""

    uri: str
    heard: list[Heard] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def scripted(script: Script) -> Iterator[Scripted]:
    """A server that answers by this script."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline().decode().strip():
                method, target, _ = line.split(" ", 2)
                headers = {}
                while header := self.rfile.readline().decode().strip():
                    name, text = header.split(":", 1)
                    headers[name.lower()] = text.strip()
                body = self.rfile.read(int(headers.get("content-length", 0)))
                asked = Heard(method, target, headers, body)
                server.heard.append(asked)
                said = script(asked)
                if said.silent:
                    server.over.wait(30)
                    return
                self.wfile.write(said.bytes())
                if said.raw is not None:
                    return

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as running:
        server = Scripted(f"http://127.0.0.1:{running.server_address[1]}")
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            running.shutdown()
            thread.join()


def endpoint(uri: str, **more: Any) -> RestEndpoint:
    """An endpoint with short timeouts."""
    return RestEndpoint(uri, SETTINGS, **more)
