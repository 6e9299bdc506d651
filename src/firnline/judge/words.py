"""Pieces of the sentences rules say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.core import figures
from firnline.core.figures import Figure
from firnline.core.sizes import show_bytes, show_count

NAMES_MAX = 5


def count(number: int | Figure, noun: str, plural: str | None = None) -> str:
    """`1 data file`, `3,412 data files`, `at least 7 data files`, `an unknown number of data files`."""
    figure = number if isinstance(number, Figure) else figures.exactly(number)
    many = plural or f"{noun}s"
    if figure.unknown:
        return f"an unknown number of {many}"
    return f"{figures.show(figure, show_count)} {noun if figure.value == 1 else many}"


def of(part: Figure, whole: Figure, noun: str) -> str:
    """`900 of 1,020 data files`, `at least 3 of an unknown number of data files`."""
    return f"{'an unknown number' if part.unknown else figures.show(part, show_count)} of {count(whole, noun)}"


def size(number: int | Figure) -> str:
    """`3.2 GiB`, `at least 1.0 MiB`."""
    return figures.show(number if isinstance(number, Figure) else figures.exactly(number), show_bytes)


def age(millis: float) -> str:
    """`3.5d`."""
    return amounts.show(millis, Unit.DURATION)


def share(number: float) -> str:
    """`12 %`."""
    return amounts.show(number, Unit.SHARE)


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; of many, the first and how many more."""
    shown = list(names[:NAMES_MAX])
    if len(names) > NAMES_MAX:
        shown.append(f"{len(names) - NAMES_MAX:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]
