"""A server that stands before a local AWS server, notes every call by service and operation, and answers some of them
as AWS does when something is wrong.
"""

from __future__ import annotations

import http.client
import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_SERVICE = re.compile(r"Credential=[^/]+/\d{8}/[a-z0-9-]+/([a-z0-9-]+)/aws4_request")
# S3 names an operation by its method and one parameter of the query.
_S3 = {
    ("GET", "location"): "GetBucketLocation",
    ("GET", "publicAccessBlock"): "GetPublicAccessBlock",
    ("GET", "policy"): "GetBucketPolicy",
    ("GET", "versioning"): "GetBucketVersioning",
    ("GET", "encryption"): "GetBucketEncryption",
    ("GET", "notification"): "GetBucketNotificationConfiguration",
    ("GET", "lifecycle"): "GetBucketLifecycleConfiguration",
    ("GET", "list-type"): "ListObjectsV2",
    ("GET", "versions"): "ListObjectVersions",
    ("GET", "tagging"): "GetObjectTagging",
    ("GET", ""): "GetObject",
    ("PUT", "uploadId"): "UploadPart",
}
_UNKNOWN = "an operation no test knows"
_HOP = {"connection", "transfer-encoding", "content-length", "date", "server"}


@dataclass(frozen=True)
class Fault:
    """An answer with an error, in the words of AWS."""

    code: str
    message: str = ""
    status: int = 403


@dataclass
class Front:
    """The server, with an account of its own. `answers` says what it answers itself: a Fault, or a good answer, as the
    body of a JSON service or as bytes.
    """

    upstream: str
    account: str = field(default_factory=lambda: f"{secrets.randbelow(10**12):012}")
    address: str = ""
    answers: dict[tuple[str, str], Fault | dict[str, Any] | bytes] = field(default_factory=dict)
    ahead: timedelta = timedelta()  # of its clock
    seen: list[tuple[str, str]] = field(default_factory=list)
    bodies: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def deny(self, service: str, operation: str, message: str = "Access Denied") -> None:
        """Refuse one operation for want of a right."""
        json_one = service in {"glue", "dynamodb", "kms", "lakeformation"}
        code, status = ("AccessDeniedException", 400) if json_one else ("AccessDenied", 403)
        self.answers[service, operation] = Fault(code, message, status)


@contextmanager
def front(upstream: str) -> Iterator[Front]:
    """Such a server before `upstream`, on a free port, stopped at the end."""
    made = Front(upstream)

    class Handler(_Handler):
        before = made

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    before: Front
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The clock of this server."""
        assert timestamp is None
        return format_datetime(datetime.now(UTC) + self.before.ahead, usegmt=True)

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        call = self._call(body)
        self.before.seen.append(call)
        if self.headers.get("X-Amz-Target"):
            self.before.bodies.setdefault(call, []).append(json.loads(body or b"{}"))
        answer = self.before.answers.get(call)
        if isinstance(answer, Fault):
            self._reply(answer.status, *_error(call[0], answer))
        elif isinstance(answer, bytes):
            self._reply(200, answer, {"Content-Type": "application/xml"})
        elif answer is not None:
            self._reply(200, json.dumps(answer).encode(), {"Content-Type": "application/x-amz-json-1.1"})
        else:
            self._forward(body)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _handle  # noqa: N815 -- the names http.server looks for

    def _call(self, body: bytes) -> tuple[str, str]:
        found = _SERVICE.search(self.headers.get("Authorization", ""))
        service, parts = found[1] if found else "", urlsplit(self.path)
        if target := self.headers.get("X-Amz-Target"):
            return service, target.rpartition(".")[2]
        if service == "s3":
            query = parse_qs(parts.query, keep_blank_values=True)
            marks = [name for _, name in _S3 if name and name in query] or [""]
            return service, _S3.get((self.command, marks[0]), _UNKNOWN)
        if service == "s3tables" and self.command == "GET" and parts.path.startswith("/buckets/"):
            return service, "GetTableBucket"
        return service, parse_qs(body.decode()).get("Action", [parts.path.strip("/")])[0]

    def _forward(self, body: bytes) -> None:
        connection = http.client.HTTPConnection(urlsplit(self.before.upstream).netloc, timeout=30)
        try:
            headers = {**dict(self.headers.items()), "x-moto-account-id": self.before.account}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
            self._reply(answer.status, content, kept)
        finally:
            connection.close()

    def _reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _error(service: str, fault: Fault) -> tuple[bytes, dict[str, str]]:
    if service == "s3":
        text = f"<Error><Code>{fault.code}</Code><Message>{fault.message}</Message></Error>"
        return text.encode(), {"Content-Type": "application/xml"}
    if service == "sts":
        inner = f"<Error><Type>Sender</Type><Code>{fault.code}</Code><Message>{fault.message}</Message></Error>"
        return f"<ErrorResponse>{inner}</ErrorResponse>".encode(), {"Content-Type": "text/xml"}
    body = json.dumps({"__type": fault.code, "message": fault.message})
    return body.encode(), {"Content-Type": "application/x-amz-json-1.1", "x-amzn-ErrorType": fault.code}
