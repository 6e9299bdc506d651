"""One HTTP request to a server of ours, to see whether it answers. Signed as AWS wants it where keys are given."""

from __future__ import annotations

import hashlib
import hmac
import http.client
from collections.abc import Mapping
from datetime import UTC, datetime

from firnline.adapters.services.addresses import HOST
from firnline.adapters.services.values import REGION
from firnline.config.aws import Keys

_SECONDS_MAX = 5.0


def status(port: int, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> int | None:
    """The status of the reply; None when there is none."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_SECONDS_MAX)
    try:
        connection.request(method, path, body, dict(headers))
        reply = connection.getresponse()
        reply.read()
    except (OSError, http.client.HTTPException):
        return None
    else:
        return reply.status
    finally:
        connection.close()


def signed(
    port: int, method: str, path: str, keys: Keys, service: str, *, target: str | None = None, body: bytes = b""
) -> Mapping[str, str]:
    """Headers of a request signed by Signature Version 4. The path has no query and nothing to escape."""
    now = datetime.now(UTC)
    stamp, digest = f"{now:%Y%m%dT%H%M%SZ}", hashlib.sha256(body).hexdigest()
    headers = {"host": f"{HOST}:{port}", "x-amz-content-sha256": digest, "x-amz-date": stamp}
    if target is not None:
        headers |= {"content-type": "application/x-amz-json-1.1", "x-amz-target": target}
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = f"{method}\n{path}\n\n{lines}\n{names}\n{digest}"
    scope = f"{now:%Y%m%d}/{REGION}/{service}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{keys.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={signature}"
    return headers | {"authorization": said}
