"""How rows are laid out, as people write it: `day(ts)`, `bucket(16, id)`, `ts desc nulls last`."""

from __future__ import annotations

import re

from firnline.config import paths
from firnline.config.reading import Complaints, Item, Read
from firnline.config.values import DeclaredPartition, DeclaredSort
from firnline.core.errors import BadInput
from firnline.core.layout import parse_transform
from firnline.core.suggest import did_you_mean
from firnline.core.types import Path

_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_NUMBERED = re.compile(r"(\w+)\s*[\[(]\s*(\d+)\s*[\])]")
_ORDER = re.compile(r"(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?\s*$", re.IGNORECASE)
_WORDS = ("identity", "year", "month", "day", "hour", "bucket", "truncate", "void")
_ALSO = {"years": "year", "months": "month", "days": "day", "hours": "hour", "date": "day", "date_hour": "hour"}
_MOST = 2**31 - 1


def partitions(items: tuple[Item, ...], complaints: Complaints) -> list[tuple[DeclaredPartition, Item]]:
    """The declared partition fields that could be read."""
    found = []
    for position, item in enumerate(items):
        at = f"partition[{position}]"
        try:
            if isinstance(item.value, Read):
                found.append((_partition_record(item.value), item))
            else:
                found.append((DeclaredPartition(*_call(item.value)), item))
        except BadInput as error:
            complaints.add(item.node, at, error.what, error.next_step)
    return found


def sorts(items: tuple[Item, ...], complaints: Complaints) -> list[tuple[DeclaredSort, Item]]:
    """The declared sort keys that could be read."""
    found = []
    for position, item in enumerate(items):
        try:
            found.append((_sort_record(item.value) if isinstance(item.value, Read) else _sort(item.value), item))
        except BadInput as error:
            complaints.add(item.node, f"sort[{position}]", error.what, error.next_step)
    return found


def show_partition(part: DeclaredPartition) -> str:
    """The text form; its own name, if it has one, needs the mapping form."""
    return _show(part.transform, part.column)


def show_sort(key: DeclaredSort) -> str:
    """The text form, with only what is not implied."""
    usual = "nulls-first" if key.direction == "asc" else "nulls-last"
    direction = " desc" if key.direction == "desc" else ""
    nulls = "" if key.null_order == usual else f" {key.null_order.replace('-', ' ')}"
    return f"{_show(key.transform, key.column)}{direction}{nulls}"


def _show(transform: str, column: Path) -> str:
    if transform == "identity":
        return paths.show(column)
    numbered = _NUMBERED.fullmatch(transform)
    return f"{numbered[1]}({numbered[2]}, {paths.show(column)})" if numbered else f"{transform}({paths.show(column)})"


def _partition_record(read: Read) -> DeclaredPartition:
    return DeclaredPartition(
        _transform(read.get("transform", "")), paths.parse(read.get("column", "")), read.get("name")
    )


def _sort_record(read: Read) -> DeclaredSort:
    direction = read.get("direction", "asc")
    nulls = read.get("nulls") or ("first" if direction == "asc" else "last")
    transform = _transform(read.get("transform", "identity"))
    return DeclaredSort(transform, paths.parse(read.get("column", "")), direction, f"nulls-{nulls}")


def _sort(text: str) -> DeclaredSort:
    found = _ORDER.search(text)
    direction = (found[1] if found and found[1] else "asc").lower()
    nulls = (found[2] if found and found[2] else ("first" if direction == "asc" else "last")).lower()
    transform, column = _call(text[: found.start()] if found else text)
    if any(" " in part for part in column) and "`" not in text:
        raise BadInput(
            f"{text!r} is not a sort key.",
            next_step="Write COLUMN, then asc or desc, then nulls first or last. Names with spaces go in backticks.",
        )
    return DeclaredSort(transform, column, direction, f"nulls-{nulls}")


def _call(text: str) -> tuple[str, Path]:
    """`bucket(16, id)` → (`bucket[16]`, (`id`,)); a bare column is its identity."""
    found = _CALL.fullmatch(text.strip())
    if found is None:
        if "(" in text and "`" not in text:
            raise BadInput(f"{text!r} has a bracket that is never closed.", next_step="Write TRANSFORM(COLUMN).")
        return "identity", paths.parse(text)
    word, inside = found[1].lower(), found[2].strip()
    if word in {"bucket", "truncate"}:
        return _numbered_call(text, word, inside)
    if word not in _WORDS:
        raise _unknown(word, text)
    return word, paths.parse(inside)


def _numbered_call(text: str, word: str, inside: str) -> tuple[str, Path]:
    number, comma, column = inside.partition(",")
    if not comma or not number.strip().isdigit():
        swapped = re.fullmatch(r"(.+),\s*(\d+)", inside)
        hint = f"Write {word}({swapped[2]}, {swapped[1].strip()})." if swapped else f"Write {word}(16, COLUMN)."
        raise BadInput(f"{text!r} is not a partition: {word} takes a number, then a column.", next_step=hint)
    return _transform(f"{word}[{number.strip()}]"), paths.parse(column)


def _transform(text: str) -> str:
    """The transform in Iceberg's own writing."""
    folded = text.strip().lower()
    numbered = _NUMBERED.fullmatch(folded)
    word = numbered[1] if numbered else folded
    if word not in _WORDS:
        raise _unknown(word, text)
    if word in {"bucket", "truncate"}:
        if numbered is None or not 0 < int(numbered[2][:12]) <= _MOST:
            problem = "needs a number" if numbered is None else f"takes a number from 1 to {_MOST:,}"
            raise BadInput(f"{text!r}: {word} {problem}.", next_step=f"Write {word}(16).")
        return f"{word}[{int(numbered[2])}]"
    if numbered is not None or parse_transform(folded) is None:
        raise BadInput(f"{text!r}: {word} takes no number.", next_step=f"Write {word}.")
    return folded


def _unknown(word: str, text: str) -> BadInput:
    hint = f"Iceberg calls it {_ALSO[word]}." if word in _ALSO else did_you_mean(word, _WORDS)
    return BadInput(f"{text!r}: there is no transform {word!r}.", next_step=hint)
