"""Names and ids as types of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NewType

from firnline.core.errors import BadInput

TableUuid = NewType("TableUuid", str)
SnapshotId = NewType("SnapshotId", int)
RunId = NewType("RunId", str)
StepId = NewType("StepId", str)

# Parts become file names, SQL identifiers and URL segments: what cannot survive all three is refused by name.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f/\\`]")
_PART_LENGTH_MAX = 255


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """A table: its namespace's parts and its name. Dots inside a part are written in backticks."""

    namespace: tuple[str, ...]
    name: str

    @staticmethod
    def parse(text: str) -> Identifier:
        """`shop.orders`, `a.b.orders`, "`odd.name`.orders"."""
        parts = split_name(text)
        if len(parts) < 2:
            raise BadInput(
                f"{text!r} is not a table name: a table needs a namespace.",
                next_step=f"Write it as NAMESPACE.TABLE, for example 'shop.{text.strip() or 'orders'}'.",
            )
        return Identifier(parts[:-1], parts[-1])

    def __str__(self) -> str:
        return join_name((*self.namespace, self.name))


def split_name(text: str) -> tuple[str, ...]:
    """Split a dotted name; a part with dots in it stands in backticks."""
    parts: list[str] = []
    rest = text.strip()
    while True:
        if rest.startswith("`"):
            end = rest.find("`", 1)
            if end < 0:
                raise BadInput(f"{text!r} has a backtick that is never closed.")
            part, rest = rest[1:end], rest[end + 1 :]
            if rest and not rest.startswith("."):
                raise BadInput(f"{text!r} has text after a closing backtick; a dot belongs there.")
        else:
            dot = rest.find(".")
            part, rest = (rest, "") if dot < 0 else (rest[:dot], rest[dot:])
        check_part(part, text)
        parts.append(part)
        if not rest:
            return tuple(parts)
        rest = rest[1:]


def check_part(part: str, whole: str) -> None:
    """Refuse a part of a name that could not be a file name, an SQL identifier or a URL segment."""
    if not part or part.strip() != part:
        raise BadInput(f"{whole!r} has an empty part, or one with a space at its edge.")
    if part in {".", ".."} or _FORBIDDEN.search(part):
        raise BadInput(
            f"{whole!r} has a character that names may not hold (a slash, a backtick or a control character)."
        )
    if len(part) > _PART_LENGTH_MAX:
        raise BadInput(f"A part of the name {whole[:40]!r}… is longer than {_PART_LENGTH_MAX} characters.")


def join_name(parts: tuple[str, ...]) -> str:
    """The inverse of `split_name`."""
    return ".".join(f"`{part}`" if "." in part else part for part in parts)


def new_run_id(now: datetime, entropy: Callable[[int], bytes]) -> RunId:
    """A run id that sorts by time: `20261118T225501-3fa9c2d1`."""
    return RunId(f"{now.astimezone(UTC):%Y%m%dT%H%M%S%f}"[:18] + f"-{entropy(4).hex()}")
