"""Servers that speak like Glue's REST endpoint and like S3 Tables', as strictly as the real ones were measured to be.

A proxy stands in front of the reference catalog: it verifies signatures over exact paths and queries, has the prefixes
of the real services, and refuses what they refuse. It also fails on command, before or after the catalog did its part.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from firnline.config.aws import Keys

KEYS = Keys("AKIDEXAMPLE", "strict-secret-strict-secret")
REGION = "eu-west-1"
ACCOUNT = "123456789012"
ARN = f"arn:aws:s3tables:{REGION}:{ACCOUNT}:bucket/lake"
PREFIXES = {"plain": "", "glue": f"catalogs/{ACCOUNT}", "s3tables": quote(ARN, safe="")}
WAREHOUSES = {"plain": None, "glue": ACCOUNT, "s3tables": ARN}
CAPS = {"plain": None, "glue": 20_000_000, "s3tables": 50_000_000}
UNKNOWN = b'{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException","message":null},"Version":"1.0"}'
XML = b"<UnknownOperationException/>"


@dataclass(frozen=True)
class Mishap:
    """What happens to the next request that changes something, before or after the catalog carries it out."""

    status: int | None = None  # None: the connection is dropped
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False
    cut: bool = False  # half of the body, under the length of the whole
    declared: int | None = None  # a length that is not the body's


@dataclass
class Strict:
    """A running proxy."""

    uri: str
    dialect: str
    upstream: str
    token: str
    mishaps: deque[Mishap] = field(default_factory=deque)
    seen: list[str] = field(default_factory=list)  # METHOD and target, as they came over the wire
    hidden: set[str] = field(default_factory=set)  # names of tables nobody may load


class Refusal(Exception):
    def __init__(self, status: int, kind: str, message: str = "", raw: bytes | None = None) -> None:
        super().__init__(message)
        self.status = status
        error = {"error": {"message": message, "type": kind, "code": status}}
        self.body = json.dumps(error).encode() if raw is None else raw


@contextmanager
def strict(dialect: str, upstream: str, token: str) -> Iterator[Strict]:
    """A proxy of this dialect in front of a catalog that wants this token."""

    class Bound(Handler):
        rules: Strict

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    server.daemon_threads = True
    server.block_on_close = False
    Bound.rules = Strict(f"http://127.0.0.1:{server.server_port}/iceberg", dialect, upstream, token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Bound.rules
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would wait for each other's acknowledgement
    rules: Strict

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.rules.seen.append(f"{self.command} {self.path}")
        mishap = self.rules.mishaps.popleft() if self.command != "GET" and self.rules.mishaps else None
        if mishap and not mishap.after:
            return self._fail(mishap)
        try:
            status, answer = self._answered(body)
        except Refusal as refusal:
            status, answer = refusal.status, refusal.body
        if mishap:
            return self._fail(mishap, answer)
        self._send(status, answer, {})
        return None

    def _answered(self, body: bytes) -> tuple[int, bytes]:
        rules = self.rules
        if rules.dialect != "plain":
            self._check_signature(body)
        parts = urlsplit(self.path)
        if parts.path == "/iceberg/v1/config":
            return self._config(parts.query)
        prefix = f"/iceberg/v1/{PREFIXES[rules.dialect]}".rstrip("/") + "/"
        if not parts.path.startswith(prefix):
            raise Refusal(404, "UnknownOperationException", raw=XML)
        path, query = parts.path.removeprefix(prefix), parse_qs(parts.query, keep_blank_values=True)
        data = json.loads(body) if body else None
        if rules.dialect != "plain":
            data = self._ruled(path, query, data)
        if any(path.endswith(f"/tables/{quote(name)}") for name in rules.hidden):
            raise Refusal(403, "ForbiddenException", "not yours")
        target = f"/v1/{path}" + (f"?{parts.query}" if parts.query else "")
        return self._forwarded(self.command, target, data)

    def _config(self, query: str) -> tuple[int, bytes]:
        rules = self.rules
        if rules.dialect == "plain":
            return self._forwarded("GET", f"/v1/config?{query}", None)
        if parse_qs(query).get("warehouse") != [WAREHOUSES[rules.dialect]]:
            raise Refusal(404, "NoSuchWarehouseException", "no such warehouse")
        overrides = {"prefix": PREFIXES[rules.dialect], "rest-table-scan-enabled": "true"}
        return 200, json.dumps({"defaults": {}, "overrides": overrides}).encode()

    def _ruled(self, path: str, query: Mapping[str, list[str]], data: Any) -> Any:
        """The rows of the table; the request as the catalog behind gets it."""
        rules, steps = self.rules, path.split("/")
        glue = rules.dialect == "glue"
        if path.startswith("transactions/") or steps[-1] in {"plan", "metrics"}:
            if steps[-1] == "metrics" and not glue:
                raise Refusal(400, "BadRequestException", "metrics")
            raise Refusal(200 if glue else 404, "", raw=UNKNOWN if glue else XML)
        if "views" in steps:
            raise Refusal(406, "NotSupported") if glue else Refusal(404, "", raw=XML)
        if path == "tables/rename" and glue:
            raise Refusal(406, "UnsupportedOperationException", "rename")
        self._check_names(steps, query, data)
        if steps[-1] == "properties" and not glue:
            raise Refusal(404, "", raw=XML)
        if (
            self.command == "POST"
            and path == "namespaces"
            and not glue
            and set(data.get("properties") or ()) - {"owner"}
        ):
            raise Refusal(400, "BadRequestException", "only the property owner")
        if self.command == "DELETE" and steps[-2] == "tables":
            purge = query.get("purgeRequested") == ["true"]
            if purge is glue:
                raise Refusal(400, "BadRequestException", f"purgeRequested={str(purge).lower()}")
        if self.command == "POST" and steps[-1] == "tables":
            return self._creation(data, glue=glue)
        if self.command == "POST" and len(steps) == 4:
            self._check_commit(path, data)
        return data

    def _check_names(self, steps: list[str], query: Mapping[str, list[str]], data: Any) -> None:
        if "parent" in query or (len(steps) > 1 and "%1F" in steps[1]):
            raise Refusal(400, "BadRequestException", "multi-level namespaces")
        names = [unquote(step) for step in steps[1::2]]
        if self.command == "POST" and isinstance(data, dict):
            names += [data["name"]] if steps[-1] == "tables" else list(data.get("namespace") or ())
            names += [data["destination"]["name"]] if steps == ["tables", "rename"] else []
            if len(data.get("namespace") or ()) > 1:
                raise Refusal(400, "BadRequestException", "multi-level namespaces")
        allowed = "[^A-Z]+" if self.rules.dialect == "glue" else "[0-9a-z_]+"
        if any(not re.fullmatch(allowed, name) for name in names):
            raise Refusal(400, "BadRequestException", f"invalid name in {names}")

    def _creation(self, data: dict[str, Any], *, glue: bool) -> dict[str, Any]:
        if data.get("stage-create") or (not glue and "stage-create" not in data):
            raise Refusal(400, "BadRequestException", "stage-create")
        if glue and not data.get("location"):
            raise Refusal(400, "BadRequestException", "Location information cannot be null")
        if glue and not data["location"].startswith("s3://"):
            raise Refusal(400, "BadRequestException", "location must be s3://")
        if glue:
            return data
        if "location" in data or (data.get("properties") or {}).get("format-version") == "1":
            raise Refusal(400, "BadRequestException", "location and format are ours to choose")
        return {**data, "location": f"s3://lake/assigned/{uuid.uuid4()}"}

    def _check_commit(self, path: str, data: dict[str, Any]) -> None:
        if any(item["type"] == "assert-create" for item in data["requirements"]):
            raise Refusal(400, "BadRequestException", "create transactions are not supported")
        status, answer = self._forwarded("GET", f"/v1/{path}", None)
        if status != 200:
            return
        metadata = json.loads(answer)["metadata"]
        cap = CAPS[self.rules.dialect]
        if cap is not None and len(json.dumps(metadata)) > cap:
            raise Refusal(400, "BadRequestException", "metadata too large")
        for update in data["updates"]:
            if update["action"] == "set-location" and (
                self.rules.dialect == "s3tables" or not update["location"].startswith("s3://")
            ):
                raise Refusal(400, "BadRequestException", "location")
        schemas = [update["schema"]["fields"] for update in data["updates"] if update["action"] == "add-schema"]
        if schemas and self.rules.dialect == "s3tables":
            old = {each["id"]: each["required"] for each in metadata["schemas"][-1]["fields"]}
            new = {each["id"]: each["required"] for each in schemas[-1]}
            if new.keys() - old.keys() and any(old[each] != new[each] for each in old.keys() & new.keys()):
                raise Refusal(400, "BadRequestException", "The specified metadata is not valid")

    def _check_signature(self, body: bytes) -> None:
        """The signature computed anew over what came over the wire."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        sent = self.headers.get("Authorization", "")
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)", sent)
        if not found:
            raise Refusal(403, "", raw=b'{"message":"Missing Authentication Token"}')
        day, service, region = found[1].split("/")[1:4], self.rules.dialect, REGION
        if day[1:] != [region, service] or found[1].split("/")[0] != KEYS.access:
            raise Refusal(403, "", raw=b'{"message":"Credential should be scoped to a valid region and service"}')
        headers = {name: self.headers[name] for name in found[2].split(";") if name != "host"}
        request = AWSRequest(self.command, f"http://{self.headers['Host']}{self.path}", headers, body)
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        signer = SigV4Auth(Credentials(KEYS.access, KEYS.secret), service, region)
        if signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request) != found[3]:
            raise Refusal(403, "", raw=b'{"message":"The request signature we calculated does not match"}')

    def _forwarded(self, method: str, target: str, data: Any) -> tuple[int, bytes]:
        parts = urlsplit(self.rules.upstream)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.rules.token}", "Content-Type": "application/json"}
        try:
            body = None if data is None else json.dumps(data)
            connection.request(method, parts.path.rstrip("/") + target, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def _fail(self, mishap: Mishap, answer: bytes = b"{}") -> None:
        self.close_connection = True
        if mishap.cut:
            self._send(200, answer[: len(answer) // 2], {"Content-Length": str(len(answer))})
        elif mishap.declared is not None:
            self._send(200, answer, {"Content-Length": str(mishap.declared)})
        elif mishap.status is not None:
            self._send(mishap.status, mishap.body, mishap.headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        given = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        for name, text in given.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)
