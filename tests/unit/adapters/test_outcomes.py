"""Which of the three outcomes an error means: the whole table."""

from __future__ import annotations

import pytest

from firnline.adapters import outcomes
from firnline.adapters.outcomes import JavaError, Phase
from firnline.loop.values import OutcomeKind

DONE, NEVER, AGAIN, UNKNOWN = "done", "never", "again", "unknown"
BEFORE = (Phase.PREPARING, Phase.SWAPPING)


def said(outcome: object) -> str:
    kind, retryable = outcome.kind, outcome.retryable  # type: ignore[attr-defined]
    if kind is OutcomeKind.NOT_DONE:
        return AGAIN if retryable else NEVER
    assert not retryable
    return str(kind.value)


@pytest.mark.parametrize(
    ("code", "before"),
    [
        ("SQLITE_BUSY", AGAIN),
        ("SQLITE_BUSY_SNAPSHOT", AGAIN),
        ("SQLITE_BUSY_RECOVERY", AGAIN),
        ("SQLITE_LOCKED", AGAIN),
        ("SQLITE_LOCKED_SHAREDCACHE", AGAIN),
        ("SQLITE_CONSTRAINT_PRIMARYKEY", NEVER),
        ("SQLITE_CONSTRAINT", NEVER),
        ("SQLITE_FULL", NEVER),
        ("SQLITE_IOERR_WRITE", NEVER),
        ("SQLITE_READONLY", NEVER),
        ("SQLITE_CANTOPEN", NEVER),
        ("SQLITE_NOTADB", NEVER),
        ("SQLITE_CORRUPT", NEVER),
        ("ProgrammingError", NEVER),
    ],
)
def test_sqlite(code: str, before: str) -> None:
    """Before COMMIT every error proves not done, a lock worth another try; on COMMIT none of them proves anything."""
    for phase in BEFORE:
        assert said(outcomes.of_sqlite(phase, code, "text")) == before
    assert said(outcomes.of_sqlite(Phase.COMMITTING, code, "text")) == UNKNOWN


CHAINS = [
    # the chain of Java exceptions; what it means before the commit call; and from the commit call on
    ([("CommitFailedException", "Cannot commit: stale")], AGAIN, AGAIN),
    ([("CommitFailedException", "Requirement failed: uuid")], NEVER, NEVER),
    ([("CommitFailedException", "Requirement failed"), ("SQLException", "[SQLITE_BUSY]")], NEVER, NEVER),
    ([("CommitStateUnknownException", "timeout")], UNKNOWN, UNKNOWN),
    ([("RuntimeException", "x"), ("CommitStateUnknownException", "y")], UNKNOWN, UNKNOWN),
    ([("CommitFailedException", "x"), ("CommitStateUnknownException", "y")], UNKNOWN, UNKNOWN),
    ([("CommitStateUnknownException", "x"), ("ValidationException", "y")], UNKNOWN, UNKNOWN),
    ([("AlreadyExistsException", "Table already exists")], NEVER, NEVER),
    ([("NoSuchTableException", "gone")], NEVER, NEVER),
    ([("NoSuchNamespaceException", "gone")], NEVER, NEVER),
    ([("ValidationException", "no")], NEVER, NEVER),
    ([("ForbiddenException", "403")], NEVER, NEVER),
    ([("NotAuthorizedException", "401")], NEVER, NEVER),
    ([("BadRequestException", "400")], NEVER, NEVER),
    ([("UnprocessableEntityException", "422")], NEVER, NEVER),
    ([("RuntimeException", "x"), ("ValidationException", "y")], NEVER, UNKNOWN),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_BUSY] The database file is locked")], NEVER, AGAIN),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_BUSY_SNAPSHOT] stale")], NEVER, AGAIN),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_LOCKED] table")], NEVER, AGAIN),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_READONLY] no")], NEVER, NEVER),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_CANTOPEN] no")], NEVER, NEVER),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_FULL] disk")], NEVER, UNKNOWN),
    ([("UncheckedSQLException", "x"), ("SQLiteException", "[SQLITE_IOERR] disk")], NEVER, UNKNOWN),
    ([("ServiceFailureException", "500")], NEVER, UNKNOWN),
    ([("NullPointerException", "")], NEVER, UNKNOWN),
    ([("OutOfMemoryError", "heap")], NEVER, UNKNOWN),
    ([("SomethingNobodyKnows", "x")], NEVER, UNKNOWN),
    ([], UNKNOWN, UNKNOWN),
]


@pytest.mark.parametrize(
    ("chain", "before", "after"), CHAINS, ids=[" ".join(n for n, _ in c) or "none" for c, _, _ in CHAINS]
)
def test_java(chain: list[tuple[str, str]], before: str, after: str) -> None:
    """A chain of Java exceptions is unknown unless it proves that nothing was written, or nothing was sent yet."""
    errors = [JavaError(*error) for error in chain]
    for phase in BEFORE:
        assert said(outcomes.of_java(phase, errors)) == before
    assert said(outcomes.of_java(Phase.COMMITTING, iter(errors))) == after


@pytest.mark.parametrize(
    ("phase", "expected"), [(Phase.PREPARING, NEVER), (Phase.SWAPPING, NEVER), (Phase.COMMITTING, UNKNOWN)]
)
def test_gateway(phase: Phase, expected: str) -> None:
    """A line to the JVM that breaks leaves a commit unknown from the moment it was sent."""
    outcome = outcomes.of_gateway(phase, "connection reset")
    assert said(outcome) == expected
    assert "connection reset" in outcome.detail


def test_makers() -> None:
    """The four words for an outcome."""
    assert said(outcomes.done("file:///x", changed=False)) == DONE
    assert outcomes.done("file:///x", changed=False).facts == {"metadata-location": "file:///x", "changed": False}
    assert [said(make("why")) for make in (outcomes.refused, outcomes.lost, outcomes.unknown)] == [
        NEVER,
        AGAIN,
        UNKNOWN,
    ]


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        ([], ""),
        ([("A", "one"), ("B", "two")], "A: one; B: two"),
        ([("A", "outer: inner text"), ("B", "inner text")], "A: outer: inner text"),
        ([("A", ""), ("B", "")], "A; B"),
        ([("A", "two\n  lines")], "A: two lines"),
    ],
)
def test_describe(chain: list[tuple[str, str]], text: str) -> None:
    """A chain is one line, and says nothing twice."""
    assert outcomes.describe(JavaError(*error) for error in chain) == text
