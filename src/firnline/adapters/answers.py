"""The answer to a statement, whichever engine gave it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

# A year of four digits and no more than microseconds: what Python's own types hold without loss.
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6}0{0,3})?(?:\+00(?::00)?|Z)?")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer. Names may repeat; the type is in the engine's own words."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns, and rows that are computed while they are read: read them once, and close the iterator to stop early.

    Values are Python's own: Decimal, bytes, date, datetime (with UTC when the column has a zone), list, dict. What
    Python cannot hold, such as the year 10000, is text.
    """

    columns: tuple[Column, ...]
    rows: Iterator[tuple[object, ...]]
    snapshots: Mapping[str, int] = field(default_factory=dict)  # with `at`: which snapshot of which table was read


def to_date(text: str) -> date | str:
    """A date as engines write it; the text itself where Python has no such date."""
    return date.fromisoformat(text) if _DATE.fullmatch(text) and not text.startswith("0000") else text


def to_moment(text: str, *, zoned: bool) -> datetime | str:
    """A point in time as engines write it in UTC; the text itself where Python has no such time."""
    if not _MOMENT.fullmatch(text) or text.startswith("0000"):
        return text
    return datetime.fromisoformat(text).replace(tzinfo=UTC if zoned else None)
