from __future__ import annotations

import json

import pytest

from firnline.adapters.rest import answers, faults
from firnline.adapters.rest.wire import NoReply, Reply
from firnline.loop.values import OutcomeKind

TABLE = {"metadata-location": "s3://b/t/metadata/1.json", "metadata": {"format-version": 2}}


def iceberg(kind: str, message: str = "no") -> bytes:
    return json.dumps({"error": {"type": kind, "message": message, "code": 0}}).encode()


def aws(kind: str, message: str = "no") -> bytes:
    return json.dumps({"__type": f"com.amazon.coral.service#{kind}", "message": message}).encode()


HTML = b"<!DOCTYPE html><html><body>Please sign in</body></html>"
DONE, LOST, REFUSED, UNKNOWN = "done", "lost", "refused", "unknown"
COMMITS: list[tuple[int, bytes, dict[str, str], str]] = [
    (200, json.dumps(TABLE).encode(), {}, DONE),
    (200, b'{"metadata": {}}', {}, DONE),  # where the metadata is, this server does not say; that it is in, it does
    (200, b"{}", {}, UNKNOWN),
    (200, b"", {}, UNKNOWN),
    (200, json.dumps(TABLE).encode()[:-5], {}, UNKNOWN),
    (200, HTML, {"content-type": "text/html"}, UNKNOWN),
    (202, b"", {}, UNKNOWN),
    (204, b"", {}, UNKNOWN),
    (200, b'{"Output": {"__type": "x#UnknownOperationException"}, "Version": "1.0"}', {}, REFUSED),
    (200, aws("ThrottlingException"), {}, LOST),
    (200, aws("InternalServerException"), {}, UNKNOWN),
    (301, b"", {"location": "https://elsewhere"}, REFUSED),
    (302, HTML, {"location": "https://login"}, UNKNOWN),  # what follows a form that was taken looks the same
    (307, b"", {"location": "https://elsewhere"}, REFUSED),
    (400, iceberg("BadRequestException"), {}, REFUSED),
    (400, iceberg("ValidationException"), {}, REFUSED),
    (400, aws("ThrottlingException", "Rate exceeded"), {}, LOST),
    (400, b'{"message": "Rate exceeded"}', {}, LOST),
    (400, b"{}", {"x-amzn-errortype": "ThrottlingException:http://x"}, LOST),
    (400, iceberg("BadRequestException", "a property named throttle is not known"), {}, REFUSED),
    (400, iceberg("CommitStateUnknownException"), {}, UNKNOWN),
    (401, iceberg("NotAuthorizedException"), {}, REFUSED),
    (403, iceberg("ForbiddenException"), {}, REFUSED),
    (403, b"<Error><Code>AccessDenied</Code></Error>", {}, REFUSED),
    (404, iceberg("NoSuchTableException"), {}, REFUSED),
    (406, iceberg("UnsupportedOperationException"), {}, REFUSED),
    (408, b"", {}, UNKNOWN),
    (409, iceberg("CommitFailedException", "branch main has changed"), {}, LOST),
    (409, iceberg("CommitFailedException", "Requirement failed: UUID does not match"), {}, REFUSED),
    (409, iceberg("AlreadyExistsException"), {}, REFUSED),
    (409, aws("ConcurrentModificationException"), {}, LOST),
    (409, iceberg("CommitFailedException", "CommitStateUnknownException: metastore"), {}, UNKNOWN),
    (413, b"", {}, REFUSED),
    (419, iceberg("AuthenticationTimeoutException"), {}, REFUSED),
    (422, iceberg("UnprocessableEntityException"), {}, REFUSED),
    (429, b"", {}, LOST),
    (499, b"", {}, UNKNOWN),
    (500, iceberg("InternalServerError"), {}, UNKNOWN),
    (501, b"", {}, REFUSED),
    (502, HTML, {}, UNKNOWN),
    (503, iceberg("SlowDownException"), {}, UNKNOWN),
    (503, b"", {"retry-after": "3"}, LOST),
    (503, aws("ThrottlingException"), {}, LOST),
    (504, b"", {}, UNKNOWN),
    (520, b"", {}, UNKNOWN),
]  # fmt: skip
KINDS = {
    DONE: (OutcomeKind.DONE, False),
    LOST: (OutcomeKind.NOT_DONE, True),
    REFUSED: (OutcomeKind.NOT_DONE, False),
    UNKNOWN: (OutcomeKind.UNKNOWN, False),
}


@pytest.mark.parametrize(("status", "body", "headers", "expected"), COMMITS)
def test_commits(status: int, body: bytes, headers: dict[str, str], expected: str) -> None:
    """An answer to a commit is not done only where it proves that nothing was done."""
    outcome, answer = answers.of_commit(Reply(status, headers, body))
    assert (outcome.kind, outcome.retryable) == KINDS[expected], outcome
    assert (answer is not None) is (expected == DONE)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (iceberg("CommitFailedException", "somebody was faster"), REFUSED),
        (iceberg("AlreadyExistsException"), REFUSED),
        (iceberg("CommitStateUnknownException"), UNKNOWN),
    ],
)
def test_creations(body: bytes, expected: str) -> None:
    """A conflict of a creation is about the name, and sending it again meets it again."""
    outcome, _ = answers.of_creation(Reply(409, {}, body))
    assert (outcome.kind, outcome.retryable) == KINDS[expected]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (204, b"", DONE),
        (200, b"{}", DONE),
        (200, b"", DONE),
        (200, HTML, UNKNOWN),
        (404, b"", REFUSED),
        (500, b"", UNKNOWN),
    ],
)
def test_other_changes(status: int, body: bytes, expected: str) -> None:
    """A drop or a change of a namespace is done without a body, and never by a page for a browser."""
    outcome = answers.of_change(Reply(status, {}, body))
    assert (outcome.kind, outcome.retryable) == KINDS[expected]


@pytest.mark.parametrize(("sent", "kind"), [(False, OutcomeKind.NOT_DONE), (True, OutcomeKind.UNKNOWN)])
def test_silence(sent: bool, kind: OutcomeKind) -> None:
    """Without an answer nothing is known, unless nothing was sent."""
    outcome = answers.of_silence(NoReply("gone", sent=sent))
    assert (outcome.kind, outcome.retryable) == (kind, False)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404, {}, iceberg("NoSuchTableException", "Table does not exist:\n a.b")),
         "NoSuchTableException: Table does not exist: a.b (HTTP 404)"),
        (Reply(400, {}, b'{"error": "invalid_client", "error_description": "?"}'), "invalid_client: ? (HTTP 400)"),
        (Reply(404, {}, b"<UnknownOperationException/>"), "UnknownOperationException (HTTP 404)"),
        (Reply(403, {}, b'{"Message": "not you"}'), "not you (HTTP 403)"),
        (Reply(502, {"content-type": "text/html"}, HTML), "HTTP 502"),
        (Reply(500, {}, b"x" * 5000), f"{'x' * faults.MESSAGE_MAX} (HTTP 500)"),
        (Reply(500, {}, b"\xff\x00"), "\ufffd\x00 (HTTP 500)"),
    ],
)  # fmt: skip
def test_what_a_fault_says(reply: Reply, said: str) -> None:
    """Whatever shape an error has, what it says is one short line."""
    assert str(faults.of(reply)) == said
