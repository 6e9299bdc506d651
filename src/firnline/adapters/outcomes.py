"""Every error of a commit, as one of the three outcomes. No library is imported here: errors come in as names and
texts.

The question is never "what went wrong" but "can the commit have happened?". What happened before the commit call proves
*not done*; what came out of the commit call is *unknown* unless the error itself says that nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from firnline.loop.values import Outcome, OutcomeKind


class Phase(StrEnum):
    """How far the attempt had come."""

    PREPARING = "preparing"  # nothing was sent yet
    SWAPPING = "swapping"  # inside a transaction that was not yet told to commit
    COMMITTING = "committing"  # the commit call itself, or after it


def done(location: str | None, **facts: object) -> Outcome:
    """The commit is in."""
    return Outcome(OutcomeKind.DONE, facts={"metadata-location": location, **facts})


def refused(detail: str, **facts: object) -> Outcome:
    """A requirement does not hold, or the request cannot be carried out: sending it again changes nothing."""
    return Outcome(OutcomeKind.NOT_DONE, detail, facts=facts)


def lost(detail: str) -> Outcome:
    """Somebody else was faster, or held the lock for too long: the same request may be sent again."""
    return Outcome(OutcomeKind.NOT_DONE, detail, retryable=True)


def unknown(detail: str) -> Outcome:
    """The commit may be in or not. Nothing may be deleted."""
    return Outcome(OutcomeKind.UNKNOWN, detail)


def of_sqlite(phase: Phase, code: str, text: str) -> Outcome:
    """`code` is SQLite's own name, such as SQLITE_BUSY_SNAPSHOT.

    Before COMMIT any error proves not done: a connection that goes away rolls its transaction back. On COMMIT even a
    full disk is unknown: the log may be written and only the answer lost.
    """
    if phase is Phase.COMMITTING:
        return unknown(f"SQLite failed on COMMIT: {text} ({code})")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return lost(f"the catalog was locked by another writer for too long ({code})")
    if code.startswith("SQLITE_CONSTRAINT"):
        return refused("an entry of this name was made in the meantime")
    return refused(f"the catalog could not be written: {text} ({code})")


# What sqlite-jdbc writes into the message, for a single statement outside a transaction: each proves that it did
# nothing.
_JDBC_RETRY = ("[SQLITE_BUSY", "[SQLITE_LOCKED")
_JDBC_NEVER = ("[SQLITE_READONLY", "[SQLITE_CANTOPEN", "[SQLITE_PERM", "[SQLITE_AUTH", "[SQLITE_NOTADB")


@dataclass(frozen=True, slots=True)
class JavaError:
    """One Java exception of a chain: the simple name of its class, and its message."""

    name: str
    message: str


_REFUSALS = frozenset(
    {
        "AlreadyExistsException", "BadRequestException", "ForbiddenException", "NamespaceNotEmptyException",
        "NoSuchNamespaceException", "NoSuchTableException", "NotAuthorizedException", "UnprocessableEntityException",
        "ValidationException",
    }
)  # fmt: skip


def of_java(phase: Phase, chain: Iterable[JavaError]) -> Outcome:
    """`chain` runs from the exception that was thrown to its root cause.

    CommitStateUnknownException anywhere in the chain wins over everything: Iceberg wraps it around the very errors that
    would otherwise look harmless. A name this table does not have is unknown once the commit call has begun.
    """
    errors = tuple(chain)
    text = describe(errors)
    names = [error.name for error in errors]
    if "CommitStateUnknownException" in names:
        return unknown(text)
    if not errors:
        return unknown("the Java side failed without an error")
    first = errors[0]
    if first.name == "CommitFailedException":
        return refused(text) if first.message.startswith("Requirement failed") else lost(text)
    if phase is not Phase.COMMITTING or first.name in _REFUSALS:
        return refused(text)
    if any(mark in error.message for error in errors for mark in _JDBC_RETRY):
        return lost(text)
    if any(mark in error.message for error in errors for mark in _JDBC_NEVER):
        return refused(text)
    return unknown(text)


def of_gateway(phase: Phase, text: str) -> Outcome:
    """The line to the JVM broke. Before the commit call nothing was committed; after it began, nobody knows."""
    if phase is Phase.COMMITTING:
        return unknown(f"the Spark session was lost during the commit: {text}")
    return refused(f"the Spark session is gone: {text}")


def describe(errors: Iterable[JavaError]) -> str:
    """The chain in one line, repeated messages once."""
    parts: list[str] = []
    for error in errors:
        message = " ".join(error.message.split())
        if not any(message and message in part for part in parts):
            parts.append(f"{error.name}: {message}" if message else error.name)
    return "; ".join(parts)
