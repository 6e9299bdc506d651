"""What every answer to a commit means, as one of the three outcomes.

The specification and Iceberg's own client agree on most of it. Where they leave room, *unknown* is the answer unless
the server's own words prove that it did nothing:

- 500, 502, 504 and anything cut, late or unreadable: unknown.
- 503: "could have been partially processed", says the specification, and "should only be retried when the Retry-After
  header is present". With that header it was not carried out; without, unknown.
- throttling, which AWS sends as 400: turned away before anything happened, so the same request may be sent again.
"""

from __future__ import annotations

from firnline.adapters import outcomes
from firnline.adapters.rest import faults
from firnline.adapters.rest.faults import Fault
from firnline.adapters.rest.wire import NoReply, Reply
from firnline.core.types import Json
from firnline.loop.values import Outcome

_UNSURE = frozenset({408, 499})  # the server, or a proxy before it, stopped waiting: for whom, it does not say
_ELSEWHERE = frozenset({301, 307, 308})  # "send it there": nothing was done here
_UNSURE_TYPES = ("InternalServer", "InternalFailure", "InternalError", "ServiceFailure", "ServiceUnavailable")


def of_commit(reply: Reply) -> tuple[Outcome, Json]:
    """The outcome of a commit and, when it is done, the answer's JSON."""
    fault = faults.of(reply)
    if fault is not None:
        return of_fault(fault), None
    answer = faults.decoded(reply)
    if not isinstance(answer, dict) or not isinstance(answer.get("metadata"), dict):
        what = "a web page" if faults.is_page(reply) else "no table"
        return outcomes.unknown(f"the catalog answered with success, and with {what} for an answer"), None
    return outcomes.done(answer.get("metadata-location")), answer


def of_creation(reply: Reply) -> tuple[Outcome, Json]:
    """The outcome of a createTable. A conflict is about the name here, whatever the server calls it: sent again, the
    request would meet it again.
    """
    outcome, answer = of_commit(reply)
    return _of_name(reply, outcome), answer


def of_rename(reply: Reply) -> Outcome:
    """The outcome of a rename. As with a creation, a conflict is about the name."""
    return _of_name(reply, of_change(reply))


def of_change(reply: Reply) -> Outcome:
    """The outcome of a request whose success has nothing to tell: a drop, or a change of a namespace."""
    fault = faults.of(reply)
    if fault is not None:
        return of_fault(fault)
    if faults.is_page(reply):
        return outcomes.unknown("the catalog answered with success, and with a web page for an answer")
    return outcomes.done(None)


def _of_name(reply: Reply, outcome: Outcome) -> Outcome:
    return outcomes.refused(outcome.detail) if reply.status == 409 and outcome.retryable else outcome


def of_fault(fault: Fault) -> Outcome:
    """The outcome an error answer proves."""
    text = str(fault)
    if "CommitStateUnknown" in text:
        return outcomes.unknown(text)
    if fault.status < 300:
        return _excused(fault, text)
    if fault.throttled:
        return outcomes.lost(f"the catalog was asked too often: {text}")
    if fault.status == 503:
        return outcomes.lost(text) if fault.retry_after else outcomes.unknown(text)
    if fault.status == 409:
        return _conflict(fault, text)
    if fault.status in _ELSEWHERE or fault.status == 501:
        return outcomes.refused(text)
    if 400 <= fault.status < 500 and fault.status not in _UNSURE:
        return outcomes.refused(text)
    return outcomes.unknown(text)


def _excused(fault: Fault, text: str) -> Outcome:
    """An exception in an answer of success."""
    if fault.throttled:
        return outcomes.lost(f"the catalog was asked too often: {text}")
    if fault.type in {"UnknownOperationException", "UnsupportedOperationException"}:
        return outcomes.refused(f"the catalog does not have this operation: {text}")
    return outcomes.unknown(text)


def _conflict(fault: Fault, text: str) -> Outcome:
    if any(fault.type.startswith(kind) for kind in _UNSURE_TYPES):
        return outcomes.unknown(text)
    if "Requirement failed" in fault.message:
        return outcomes.refused(text)
    if "AlreadyExists" in fault.type or "NotEmpty" in fault.type:
        return outcomes.refused(text)
    return outcomes.lost(f"another writer was faster: {text}")


def of_silence(error: NoReply) -> Outcome:
    """The outcome when there was no whole answer."""
    if error.sent:
        return outcomes.unknown(f"the catalog did not answer the commit: {error.reason}")
    return outcomes.refused(f"the catalog could not be reached, and nothing was sent: {error.reason}")
