"""What the metastore's answers prove about a commit: the decision table, in texts as real ones say them."""

from __future__ import annotations

import pytest

from firnline.adapters.hive import answers
from firnline.adapters.hive.wire import UNKNOWN_METHOD, Broken, Fault, Unreachable
from firnline.core.errors import Blocked, Failed, FirnlineError
from firnline.loop.values import Outcome, OutcomeKind

MOVED = "The table has been modified. The parameter value for key 'metadata_location' is"
POSITIONS = "The following columns have types incompatible with the existing columns in their respective positions :\nn"
PARSED = (
    "java.lang.IllegalArgumentException: Error: type expected at the position 0 of 'timestamp with local time zone'"
)
SCHEME = 'Got exception: org.apache.hadoop.fs.UnsupportedFileSystemException No FileSystem for scheme "gs"'
DENIED = "java.security.AccessControlException: Permission denied: user=ann, access=WRITE, inode=/warehouse"
LOST, REFUSED, OPEN = "lost", "refused", None

BEGUN: dict[str, tuple[Broken | Fault, str | None, str]] = {
    "not sent": (Broken("broken pipe", sent=False), LOST, "before anything was changed"),
    "no such call": (Fault(UNKNOWN_METHOD, "Invalid method name: 'x'"), REFUSED, "nothing was done"),
    "no answer": (Broken("closed", sent=True), OPEN, ""),
    "no answer in time": (Broken("no answer within 60 s", sent=True, slow=True), OPEN, ""),
    "another commit": (Fault("MetaException", f"{MOVED} 'a'"), OPEN, ""),
    "taken": (Fault("AlreadyExistsException", "Table orders already exists"), OPEN, ""),
    "gone": (Fault("NoSuchObjectException", "shop.orders table not found"), OPEN, ""),
    "a bad name": (Fault("InvalidObjectException", "a b is not a valid object name"), OPEN, ""),
    "columns moved": (Fault("InvalidOperationException", POSITIONS), OPEN, ""),
    "a type it cannot read": (Fault("MetaException", PARSED), OPEN, ""),
    "a storage it cannot reach": (Fault("MetaException", SCHEME), OPEN, ""),
    "no rights": (Fault("MetaException", DENIED), OPEN, ""),
}

NOT_MADE: dict[str, tuple[Fault, str, str]] = {
    "another commit": (Fault("MetaException", f"{MOVED} 'a'. The expected was value was 'b'"), LOST, "another writer"),
    "another commit, seen late": (Fault("MetaException", f"{MOVED} different"), LOST, "another writer"),
    "another commit, by a proxy": (Fault("InvalidOperationException", f"{MOVED} 'a'"), LOST, "another writer"),
    "taken": (Fault("AlreadyExistsException", "Table orders already exists"), REFUSED, "exists already"),
    "gone": (Fault("NoSuchObjectException", "shop.orders table not found"), REFUSED, "it is not there"),
    "no database": (Fault("InvalidObjectException", "nope"), REFUSED, "it is not there"),
    "a bad name": (Fault("InvalidObjectException", "a b is not a valid object name"), REFUSED, "not a valid object"),
    "columns moved": (Fault("InvalidOperationException", POSITIONS), REFUSED, "col.type.changes=false"),
    "a type it cannot read": (Fault("MetaException", PARSED), REFUSED, "col.type.changes=false"),
    "a storage it cannot reach": (Fault("MetaException", SCHEME), REFUSED, "Give it a FileSystem"),
    "no rights": (Fault("MetaException", DENIED), REFUSED, "Permission denied: user=ann"),
    "a fault inside": (Fault("TApplicationException", "Internal error"), REFUSED, "Internal error"),
    "any other complaint": (Fault("MetaException", "Add request failed"), REFUSED, "Add request failed"),
}  # fmt: skip


def kind(outcome: Outcome | None) -> str | None:
    """The outcome in a word."""
    if outcome is None:
        return OPEN
    assert outcome.kind is OutcomeKind.NOT_DONE
    return LOST if outcome.retryable else REFUSED


@pytest.mark.parametrize("row", BEGUN)
def test_never_begun(row: str) -> None:
    """No answer proves by its words that nothing was changed: a listener may say them after the change."""
    error, expected, words = BEGUN[row]
    outcome = answers.never_begun(error)
    assert kind(outcome) == expected
    assert words in (outcome.detail if outcome else "")


@pytest.mark.parametrize("row", NOT_MADE)
def test_not_made(row: str) -> None:
    """Once nothing is known to have changed, the answer says whether another try is worth it, and what helps."""
    error, expected, words = NOT_MADE[row]
    outcome = answers.not_made(error, "shop.orders", "it is not there")
    assert kind(outcome) == expected
    assert words in outcome.detail


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Unreachable("Connection refused"), REFUSED),
        (Broken("closed", sent=True), LOST),
        (Fault("NoSuchObjectException", "x"), REFUSED),
        (Failed("There is no file.\nRestore it."), REFUSED),
        (Blocked("throttled"), LOST),
    ],
)
def test_not_sent(error: Unreachable | Broken | Fault | FirnlineError, expected: str) -> None:
    """What fails before the call that changes something is not done, in one line."""
    outcome = answers.not_sent(error)
    assert kind(outcome) == expected
    assert "\n" not in outcome.detail
