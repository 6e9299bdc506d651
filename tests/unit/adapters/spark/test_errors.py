"""What Java says, folded. The exceptions are stand-ins with the three methods that are asked of the real ones."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkException

from firnline.adapters.outcomes import JavaError
from firnline.adapters.spark import errors
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError, Missing, Refused, Unsettled

Links = tuple[tuple[str, str | None], ...]


def throwable(name: str, message: str | None, cause: object = None) -> SimpleNamespace:
    """A Java exception with its cause."""
    of = SimpleNamespace(getSimpleName=lambda: name)
    return SimpleNamespace(getClass=lambda: of, getMessage=lambda: message, getCause=lambda: cause)


def raised(*links: tuple[str, str | None]) -> PySparkException:
    """A converted exception of pyspark whose origin is this chain, outermost first."""
    thrown: object = None
    for name, message in reversed(links):
        thrown = throwable(name, message, thrown)
    error = PySparkException("converted")
    error._origin = thrown
    return error


SYNTAX = """
[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'. SQLSTATE: 42601 (line 1, pos 0)

== SQL ==
SELEC 1
^^^
"""
NO_TABLE = """[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b` cannot be found. Verify it.
To tolerate the error on drop use the SQL command DROP VIEW IF EXISTS. SQLSTATE: 42P01; line 1 pos 14;
'Project [*]
+- 'UnresolvedRelation [a, b], [], false
"""
STAGE = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 \
in stage 1.0 (TID 1) (host executor driver): java.lang.ArithmeticException: / by zero
\tat x.Y
Driver stacktrace:"""
JDBC = ("UncheckedSQLException", "Unknown failure")
BUSY = ("SQLiteException", "[SQLITE_BUSY] The database file is locked")
READONLY = ("SQLiteException", "[SQLITE_READONLY] attempt to write a readonly database")
UNKNOWN = ("CommitStateUnknownException", "Cannot determine")
STALE = ("CommitFailedException", "Cannot commit: stale")
NO_COLUMN = ("AnalysisException", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `x` cannot be resolved.")
NO_SOURCE = ("SparkClassNotFoundException", "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: nope.")
HEAP = (("SparkException", "Job aborted"), ("OutOfMemoryError", "Java heap space"))
ROOT = (("SparkRuntimeException", "outer"), ("IllegalStateException", None), ("IOException", "the root"))

TABLE: dict[str, tuple[Links, type[FirnlineError], str]] = {
    "syntax": ((("ParseException", SYNTAX),), BadInput, "Syntax error at or near 'SELEC'. (line 1, column 1)."),
    "no table": (
        (("ExtendedAnalysisException", NO_TABLE),),
        BadInput,
        "The table or view `a`.`b` cannot be found. Verify it.",
    ),
    "no column": ((NO_COLUMN,), BadInput, "A column `x` cannot be resolved."),
    "exists": ((("AlreadyExistsException", "Table already exists: a.b"),), BadInput, "Table already exists: a.b."),
    "stale": ((STALE,), Blocked, "Cannot commit: stale."),
    "unknown wins over stale": ((UNKNOWN, STALE), Unsettled, "Cannot determine."),
    "busy": ((JDBC, BUSY), Blocked, "The database file is locked."),
    "read-only": ((JDBC, READONLY), Refused, "attempt to write a readonly database."),
    "memory": (HEAP, Failed, "Java heap space."),
    "disk": ((("IOException", "No space left on device"),), Failed, "No space left on device."),
    "no source": ((NO_SOURCE,), Missing, "Failed to find the data source: nope."),
    "no file": ((("NotFoundException", "File does not exist: /x"),), Failed, "File does not exist: /x."),
    "stage": ((("SparkException", STAGE),), Failed, "/ by zero."),
    "root cause": (ROOT, Failed, "the root."),
    "silent": ((("SparkException", None),), Failed, "SparkException."),
}


@pytest.mark.parametrize(("links", "kind", "line"), TABLE.values(), ids=TABLE)
def test_java_errors_are_folded(links: Links, kind: type[FirnlineError], line: str) -> None:
    """A chain of exceptions becomes one error of the right branch, whose message is one line of what Java said."""
    error = errors.fold("testing", raised(*links))
    assert type(error) is kind
    assert error.what == f"Spark failed while testing: {line}"


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Error while sending or receiving"),
        Py4JError("An error occurred while calling o42.sql"),
        ConnectionRefusedError("refused"),
        ConnectionResetError("reset"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_jvm_that_is_gone_is_said_to_be_gone(error: Exception) -> None:
    """A broken line to the JVM is no error of the statement."""
    assert errors.is_gone(error)
    assert "session was lost while testing" in errors.fold("testing", error).what


def test_an_answer_of_java_is_no_lost_line() -> None:
    """py4j's complaint about a method that is not there comes over a line that works."""
    error = Py4JError(
        "An error occurred while calling o1.nope. Trace:\npy4j.Py4JException: Method nope([]) does not exist"
    )
    assert not errors.is_gone(error)
    assert isinstance(errors.fold("testing", error), Missing)


def test_an_error_without_java_is_told_by_its_own_words() -> None:
    """What pyspark raises by itself has no Java behind it, and is folded like the rest."""
    assert "no such thing" in errors.fold("testing", AnalysisException("no such thing")).what


def test_a_function_that_failed_on_an_executor_is_its_last_line() -> None:
    """Of a Python traceback from a worker only the error itself is shown."""
    error = PySparkException("Traceback (most recent call last):\n  File x\nValueError: bad row\n")
    assert errors.fold("testing", error).what == "Spark failed while testing: ValueError: bad row."


def test_a_ring_of_causes_ends() -> None:
    """A chain without an end is followed so far and no further."""
    ring = throwable("A", "round and round")
    ring.getCause = lambda: ring
    error = PySparkException("x")
    error._origin = ring
    assert len(errors.chain(error)) == errors._CHAIN_MAX


def test_long_messages_are_cut() -> None:
    """A message of a screen and more is shown up to a bound."""
    assert len(errors.line(JavaError("X", "word " * 1000))) <= errors._LINE_MAX + 2


def test_folding_keeps_the_original() -> None:
    """Whoever debugs finds the exception of Spark chained to ours."""
    original = raised(("ParseException", "bad"))
    with pytest.raises(BadInput) as folded, errors.folded("testing"):
        raise original
    assert folded.value.__cause__ is original


def test_other_errors_pass() -> None:
    """An error that is not Spark's is not folded."""
    with pytest.raises(ZeroDivisionError), errors.folded("testing"):
        raise ZeroDivisionError
