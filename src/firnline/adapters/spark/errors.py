"""Every error of Spark, of Iceberg's Java side and of the line between, as one FirnlineError with one message.

What Java says is a chain of exceptions under a stack of a hundred lines. One line of it is useful: that of the
exception whose kind is known here, or else the root cause. The original stays chained to the error for whoever debugs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from firnline.adapters.outcomes import JavaError
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError, Missing, Refused, Unsettled

# Everything a call into Spark may raise. ConnectionError: the socket to a JVM that is gone, as py4j lets it through.
ERRORS = (PySparkException, Py4JError, ConnectionError)

_CHAIN_MAX = 20
_LINE_MAX = 600
_CONDITION = re.compile(r"^\[([A-Z][A-Z0-9_.]+)\]\s*")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}\s*;?")
_STAGE = re.compile(r"most recent failure: Lost task .*?\): (?:[\w.$]+(?:Exception|Error): )?([^\n]*)", re.DOTALL)
# What follows is the statement again, a logical plan, a stack, or a hint for another system.
_TAIL = re.compile(
    r"\n\s*(?:== SQL|at |Driver stacktrace|JVM stacktrace|'?[A-Z]\w+ \[|\+-|If you did not qualify|To tolerate)"
)
_POSITION = re.compile(r";?\s*\(?line (\d+),? pos (\d+)\)?;?")
_WITHOUT_TRACE = re.compile(r"^An error occurred while calling [\w:.$]+$")


@contextmanager
def folded(doing: str) -> Iterator[None]:
    """Around calls into Spark: whatever they raise leaves as one FirnlineError. `doing` reads after "while"."""
    try:
        yield
    except ERRORS as error:
        raise fold(doing, error) from error


def fold(doing: str, error: BaseException) -> FirnlineError:
    """The one error for this one."""
    if is_gone(error):
        return Failed(
            f"The Spark session was lost while {doing}.",
            why="Its Java process ended, or no longer answers: killed by the system for want of memory, for example.",
            next_step="Run the command again; its last words are in the newest file of `logs` in Firnline's cache.",
        )
    links = chain(error)
    for known in _KNOWN:
        for link in links:
            if known.fits(link):
                what = f"Spark failed while {doing}: {line(link)}"
                return known.kind(what, why=known.why, next_step=known.next_step)
    return Failed(f"Spark failed while {doing}: {line(_telling(links))}")


def is_gone(error: BaseException) -> bool:
    """Whether the line to the JVM broke: whatever was called may have happened or not."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    # py4j's answer when the socket dies in a call: an error of Java's without anything Java said.
    return (
        isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError) and bool(_WITHOUT_TRACE.match(str(error)))
    )


def chain(error: BaseException) -> tuple[JavaError, ...]:
    """The Java exceptions from the one thrown to its root cause; what is known in Python when Java cannot be asked."""
    thrown = _thrown(error)
    if thrown is None:
        return (JavaError(type(error).__name__, _said(error)),)
    links: list[JavaError] = []
    try:
        while thrown is not None and len(links) < _CHAIN_MAX:
            links.append(JavaError(thrown.getClass().getSimpleName(), thrown.getMessage() or ""))
            thrown = thrown.getCause()
    except ERRORS:
        # The JVM went away while it was asked: the links so far are still true.
        links = links or [JavaError(type(error).__name__, "Spark went away before it said what failed")]
    return tuple(links)


def line(link: JavaError) -> str:
    """What an exception says, in one line: no stack, no plan, no error codes."""
    text = link.message
    if stage := _STAGE.search(text):
        text = stage[1]
    text = _TAIL.split("\n" + text.strip(), maxsplit=1)[0]
    text = _STATE.sub("", _CONDITION.sub("", text.strip()))
    text = _POSITION.sub(lambda at: f" (line {at[1]}, column {int(at[2]) + 1})", text, count=1)
    text = " ".join(text.split()).rstrip(".;,: ")
    if len(text) > _LINE_MAX:
        text = text[:_LINE_MAX] + "…"
    return f"{text}." if text else f"{link.name}."


def _thrown(error: BaseException) -> Any:
    """The Java Throwable behind a Python exception, if there is one."""
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    # Spark's own exceptions come converted; the original hangs on a private attribute and has no other way out.
    return getattr(error, "_origin", None)


def _said(error: BaseException) -> str:
    described = getattr(error, "_desc", None)
    text = described if isinstance(described, str) else str(error)
    if "Traceback (most recent call last)" in text:
        # A Python function on an executor failed: its last line is the error, the rest is where.
        return text.strip().rsplit("\n", 1)[-1]
    # py4j's own complaints carry a Java stack after "Trace:".
    return text.split(" Trace:\n")[-1].split("\n\tat ")[0]


def _telling(links: tuple[JavaError, ...]) -> JavaError:
    return next((link for link in reversed(links) if link.message.strip()), links[0])


@dataclass(frozen=True, slots=True)
class _Known:
    """An error people can do something about, recognised by the class of an exception or by words in its message."""

    kind: type[FirnlineError]
    next_step: str
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    why: str | None = None

    def fits(self, link: JavaError) -> bool:
        """Whether this exception is of the kind."""
        return link.name in self.names or any(word in link.message for word in self.words)


_LIST = "`firnline tables list` shows what there is."
# In order: the first that fits any exception of the chain decides. What may have been written comes before all else.
_KNOWN = (
    _Known(
        Unsettled,
        "`firnline history TABLE` shows whether it is in; run the command again only if it is not.",
        names=("CommitStateUnknownException",),
        why="The commit may have happened or not. Nothing was cleaned up.",
    ),
    _Known(
        Blocked,
        "Run the command again when the other writer is done.",
        words=("[SQLITE_BUSY", "[SQLITE_LOCKED"),
        why="Another process held the catalog's write lock for longer than a healthy writer ever needs.",
    ),
    _Known(
        Blocked,
        "Run the command again.",
        names=("CommitFailedException",),
        why="Another writer changed the table first; nothing of this commit is in.",
    ),
    _Known(
        Refused,
        "Choose an environment that may write with --env, or check who may write the catalog's file.",
        words=("[SQLITE_READONLY", "attempt to write a readonly database"),
        why="The catalog is open for reading only.",
    ),
    _Known(
        Failed,
        "Give Spark more: `engine: {conf: {spark.driver.memory: 4g}}` in lakehouse.yaml.",
        names=("OutOfMemoryError", "SparkOutOfMemoryError"),
        words=("java.lang.OutOfMemoryError", "Java heap space"),
        why="Spark ran out of memory.",
    ),
    _Known(
        Failed,
        "Free some space, or point spark.local.dir in `engine: {conf: …}` to a larger disk.",
        words=("No space left on device",),
        why="The disk is full.",
    ),
    _Known(
        Missing,
        "`firnline doctor` checks the jars; one of your own is named in `engine: {conf: {spark.jars: …}}`.",
        names=("ClassNotFoundException", "NoClassDefFoundError", "NoSuchMethodError", "SparkClassNotFoundException"),
        words=("[DATA_SOURCE_NOT_FOUND]", "Py4JException: Constructor ", "Py4JException: Method "),
        why="Spark does not have this class or method, or has another version of it.",
    ),
    _Known(BadInput, "Correct the statement at that place.", names=("ParseException",)),
    _Known(
        BadInput,
        _LIST,
        names=("NoSuchTableException", "NoSuchNamespaceException", "NoSuchViewException"),
        words=("[TABLE_OR_VIEW_NOT_FOUND]", "[SCHEMA_NOT_FOUND]", "[CATALOG_NOT_FOUND]"),
    ),
    _Known(
        BadInput,
        "Correct the name; `firnline tables show TABLE` lists the columns of a table.",
        words=("[UNRESOLVED_COLUMN", "[FIELD_NOT_FOUND]"),
    ),
    _Known(
        BadInput,
        "Choose another name, or drop what is there.",
        names=("TableAlreadyExistsException", "NamespaceAlreadyExistsException", "AlreadyExistsException"),
    ),
    _Known(BadInput, "Correct the statement.", names=("AnalysisException", "ExtendedAnalysisException")),
    _Known(
        Failed,
        "`firnline verify TABLE` says which files are affected; restore them, or roll the table back.",
        names=("FileNotFoundException", "NotFoundException"),
        why="The table's metadata points to a file that is not there.",
    ),
    _Known(
        Failed,
        "`firnline verify TABLE` says which files are affected; restore them, or roll the table back.",
        names=("ChecksumException",),
        words=("is not a Parquet file", "can not read class org.apache.parquet"),
        why="A file of the table is damaged.",
    ),
)
