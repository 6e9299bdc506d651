"""What a server says when it says no, in whichever of five dialects it says it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from firnline.adapters.rest.wire import Reply
from firnline.core.types import Json

MESSAGE_MAX = 400  # characters: more is a stack trace, or a page for people
_SUCCESS = range(200, 300)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,80}")
_XML_TAG = re.compile(rb"<(?:Code>\s*)?([A-Za-z]{3,60}(?:Exception|Error|Denied|Failure))\b")
# Each of them is AWS's word for "turned away at the door". `SlowDownException` is none: the specification gives it to
# requests that may have been carried out in part.
THROTTLED = frozenset(
    {
        "ThrottlingException", "Throttling", "ThrottledException", "TooManyRequestsException", "TooManyRequests",
        "RequestLimitExceeded", "RequestThrottled", "RequestThrottledException",
    }
)  # fmt: skip
_THROTTLED_TEXT = re.compile(r"rate exceeded|throttl|too many requests", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that is an error. `type` is the name of an exception or empty; `page`: it is a page for a browser."""

    status: int
    type: str
    message: str
    retry_after: str | None = None
    page: bool = False
    moved: str | None = None  # where a redirect points

    @property
    def throttled(self) -> bool:
        """Turned away for asking too often, and nothing else: AWS says so with status 400."""
        if self.type in THROTTLED or self.status == 429:
            return True
        return self.status == 400 and not self.type and bool(_THROTTLED_TEXT.search(self.message))

    @property
    def not_iceberg(self) -> bool:
        """There is something of this name, and it is no Iceberg table."""
        return self.status in {400, 404} and "NoSuchIceberg" in self.type

    def __str__(self) -> str:
        said = ": ".join(part for part in (self.type, self.message) if part)
        return f"{said} (HTTP {self.status})" if said else f"HTTP {self.status}"


def decoded(reply: Reply) -> Json:
    """The JSON of a reply; None when it is none."""
    try:
        return json.loads(reply.body)
    except ValueError:
        return None


def of(reply: Reply) -> Fault | None:
    """The fault a reply is; None when it is a success.

    Glue answers operations it does not have with status 200 and an exception for a body.
    """
    data = decoded(reply)
    excuse = _excuse(data)
    if reply.status in _SUCCESS and excuse is None:
        return None
    kind, message = excuse or _told(data) or _untold(reply)
    kind = reply.headers.get("x-amzn-errortype", "").split(":")[0] or kind
    return Fault(
        reply.status,
        _simple(kind),
        " ".join(message.split())[:MESSAGE_MAX],
        reply.headers.get("retry-after"),
        page=data is None and is_page(reply),
        moved=reply.headers.get("location") if 300 <= reply.status < 400 else None,
    )


def is_page(reply: Reply) -> bool:
    """Whether this is HTML: the login page of a proxy, or a server of something else."""
    start = reply.body[:512].lstrip().lower()
    return "text/html" in reply.headers.get("content-type", "") or start.startswith((b"<!doctype html", b"<html"))


def _excuse(data: Json) -> tuple[str, str] | None:
    """AWS's `__type`, at the top or one level down."""
    if not isinstance(data, dict):
        return None
    inside = data.get("Output")
    for each in (data, inside if isinstance(inside, dict) else {}):
        if isinstance(each.get("__type"), str):
            return each["__type"], _text(each.get("message") or each.get("Message"))
    return None


def _told(data: Json) -> tuple[str, str] | None:
    """Iceberg's and OAuth's ways."""
    if not isinstance(data, dict):
        return None
    error = data.get("error")
    if isinstance(error, dict):
        return _text(error.get("type")), _text(error.get("message"))
    if isinstance(error, str):
        return error, _text(data.get("error_description"))
    message = data.get("message") or data.get("Message")
    return ("", _text(message)) if message else None


def _untold(reply: Reply) -> tuple[str, str]:
    if is_page(reply):
        return "", ""
    found = _XML_TAG.search(reply.body[:2000])
    if found:
        return found[1].decode("ascii"), ""
    return "", reply.body[:MESSAGE_MAX].decode("utf-8", "replace")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _simple(kind: str) -> str:
    """`com.amazon.coral.service#UnknownOperationException` by its last name."""
    name = re.split(r"[#.$]", kind)[-1]
    return name if _NAME.fullmatch(name) or "_" in name else ""
