"""Errors of DuckDB, each as one FirnlineError with one message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from firnline.core.errors import BadInput, Failed, FirnlineError, Refused

_PREFIX = re.compile(r"^[\w ]+ (?:Error|Exception): ")
_LINE = re.compile(r"\n+LINE (\d+):.*", re.DOTALL)
_LENGTH_MAX = 600
# By the names of its Python classes: most is something the user can correct in the statement.
_CORRECTED = frozenset({"ParserException", "CatalogException", "BinderException", "SyntaxException"})
_WITHOUT_DISK = "file system operations are disabled by configuration"
_TOO_MANY_PARTS = "NameListToString NOT IMPLEMENTED"  # what the parser says of a name of four parts


@contextmanager
def folded(doing: str) -> Iterator[None]:
    """Around calls into DuckDB: whatever they raise leaves as one FirnlineError. `doing` reads after "while"."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise fold(doing, error) from error


def fold(doing: str, error: Exception) -> FirnlineError:
    """The one error for this one."""
    what, text = f"DuckDB failed while {doing}: {line(error)}", str(error)
    if _TOO_MANY_PARTS in text:
        return BadInput(
            f"DuckDB failed while {doing}: a name has more than three parts.",
            next_step='Write a namespace of several parts in one pair of quotes: "a.b".orders.',
        )
    if _WITHOUT_DISK in text:
        return Refused(
            what,
            why="Only the folders of the tables a statement names are open to it.",
            next_step="A table whose files lie elsewhere is read with --engine spark.",
        )
    if type(error).__name__ in _CORRECTED:
        return BadInput(what, next_step="Correct the statement.")
    if type(error).__name__ == "OutOfMemoryException":
        return Failed(what, next_step="Ask for less at once, or use --engine spark.")
    return Failed(what)


def line(error: Exception) -> str:
    """What DuckDB says, in one line: its class and the statement again left out."""
    text = str(error)
    place = _LINE.search(text)
    text = " ".join(_PREFIX.sub("", _LINE.sub("", text)).split()).rstrip(".")
    if len(text) > _LENGTH_MAX:
        text = text[:_LENGTH_MAX] + "…"
    return f"{text} (line {place[1]})." if place else f"{text}."
