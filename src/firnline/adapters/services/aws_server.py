"""A server that speaks Glue, DynamoDB, STS and, where asked to, S3 and IAM: moto, with Glue made strict.

    python -m firnline.adapters.services.aws_server --port 4566 --services glue,sts --journal FILE

Run by `firnline local up` for Glue and for DynamoDB, each with a journal: their state survives the process. Without
one, everything is in memory and gone with it, which is what tests want. It listens on loopback only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"  # read when moto is imported: no web page may speak to us

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

from firnline.adapters.services import strict_glue
from firnline.adapters.services.addresses import HOST
from firnline.adapters.services.journal import Journal
from firnline.adapters.services.recording import record, tell

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d{8}/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request")
_SERIAL = frozenset({"glue", "dynamodb"})
Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Door:
    """What stands before moto: who may ask for what, one request at a time, and what changed something is kept."""

    def __init__(self, app: Wsgi, services: frozenset[str], access_key: str | None, journal: Journal | None) -> None:
        self._app = app
        self._services = services
        self._access_key = access_key
        self._journal = journal
        self._lock = threading.Lock()
        if journal is not None:
            for entry in journal.entries:
                tell(app, entry)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """WSGI."""
        said = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        access, region, service = said.groups() if said else ("", "", "")
        if self._access_key is not None and access != self._access_key:
            message = "The access key is not the one this server was started with."
            return _refuse(environ, start_response, "403 Forbidden", "UnrecognizedClientException", message)
        if service and service not in self._services:
            message = f"This server has {', '.join(sorted(self._services))} and not {service}."
            return _refuse(environ, start_response, "501 Not Implemented", "NotImplemented", message)
        if service not in _SERIAL:
            return self._app(environ, start_response)
        # moto checks and then writes, on as many threads as there are requests: only one after the other is it right.
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        with self._lock:
            reply, status, headers = run_wsgi_app(self._app, environ, buffered=True)
            answer = b"".join(reply)
            if self._journal is not None and status.startswith("200"):
                self._keep(environ["HTTP_X_AMZ_TARGET"], region, body, answer)
        start_response(status, list(headers))
        return [answer]

    def _keep(self, target: str, region: str, body: bytes, answer: bytes) -> None:
        assert self._journal is not None
        try:
            told = record(self._app, target, region, json.loads(body), json.loads(answer or b"{}"))
            self._journal.append(told)
        except Exception as error:  # noqa: BLE001 - whatever it is, the write is not kept
            # It is done in memory and not on disk. Neither yes nor no would be true: the reply is not sent. The log may
            # lie on the same full disk.
            with contextlib.suppress(OSError):
                print(f"The journal cannot be written, so this server ends: {error}", file=sys.stderr, flush=True)  # noqa: T201
            os._exit(1)


class _Quiet(MotoRequestHandler):
    """Says nothing about requests that went well: a log that grows with every request fills the disk."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Only what went wrong on our side."""
        if str(code).startswith("5"):
            super().log_request(code, size)


def serve(port: int, services: frozenset[str], access_key: str | None, journal: Path | None, *, strict: bool) -> None:
    """Until told to end. The port is open only once the journal has been told again: nobody sees half of it."""
    os.environ["MOTO_PORT"] = str(port)
    app: Wsgi = DomainDispatcherApplication(create_backend_app)
    if journal is not None:
        os.environ["MOTO_ACCOUNT_ID"] = DEFAULT_ACCOUNT_ID  # entries are told again without whose they were
    if strict:
        strict_glue.make_strict()
        app = Door(app, services, access_key, Journal(journal) if journal is not None else None)
    server = make_server(HOST, port, app, threaded=True, request_handler=_Quiet)
    server.serve_forever()


def _refuse(environ: dict[str, Any], start_response: Any, status: str, code: str, message: str) -> Iterable[bytes]:
    if "HTTP_X_AMZ_TARGET" in environ:
        kind, text = "application/x-amz-json-1.1", json.dumps({"__type": code, "message": message})
    else:
        inside = f"<Code>{code}</Code><Message>{message}</Message>"
        kind, text = "text/xml", f"<ErrorResponse><Error>{inside}</Error></ErrorResponse>"
    body = text.encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


def main() -> None:
    """Entry point of the process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--services", default="glue,dynamodb,sts,iam,s3", help="what it answers to, by signing name")
    parser.add_argument("--journal", type=Path, help="where state is kept; without it, nowhere")
    parser.add_argument("--stock", action="store_true", help="moto as it is, to see what strictness is good for")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    access_key = os.environ.get("FIRNLINE_LOCAL_ACCESS_KEY") or None
    serve(given.port, frozenset(given.services.split(",")), access_key, given.journal, strict=not given.stock)


if __name__ == "__main__":
    main()
