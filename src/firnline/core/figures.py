"""Numbers that say how sure they are: exact, bounded, or unknown. An interval and nothing else, so sums stay honest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from firnline.core.types import Json


@dataclass(frozen=True, slots=True)
class Figure:
    """A number known to lie between `low` and `high`; without `high`, nothing bounds it from above."""

    low: int
    high: int | None

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise ValueError(f"{self.low} to {self.high} is no range of a count")

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    @property
    def unknown(self) -> bool:
        """Whether nothing at all is known of it."""
        return self.low == 0 and self.high is None

    @property
    def value(self) -> int | None:
        """The number, when it is known."""
        return self.low if self.exact else None

    def __add__(self, other: Figure) -> Figure:
        high = None if self.high is None or other.high is None else self.high + other.high
        return Figure(self.low + other.low, high)

    def minus(self, other: Figure) -> Figure:
        """The difference of a whole and a part of it: never below nothing."""
        low = 0 if other.high is None else max(0, self.low - other.high)
        return Figure(low, None if self.high is None else max(low, self.high - other.low))

    def widened(self) -> Figure:
        """The same when more may be there that could not be read."""
        return Figure(self.low, None)


UNKNOWN = Figure(0, None)
NONE = Figure(0, 0)


def exactly(number: int) -> Figure:
    """A number that is known."""
    return Figure(number, number)


def at_least(number: int) -> Figure:
    """A number known from below."""
    return Figure(number, None)


def at_most(number: int) -> Figure:
    """A number known from above."""
    return Figure(0, number)


def total(figures: Iterable[Figure]) -> Figure:
    """The sum; nothing adds up to exactly 0."""
    whole = NONE
    for figure in figures:
        whole += figure
    return whole


def show(figure: Figure, how: Callable[[int], str] = str) -> str:
    """`12`, `at least 12`, `at most 12`, `12 to 40`, `unknown`."""
    if figure.unknown:
        return "unknown"
    if figure.exact:
        return how(figure.low)
    if figure.high is None:
        return f"at least {how(figure.low)}"
    return f"at most {how(figure.high)}" if not figure.low else f"{how(figure.low)} to {how(figure.high)}"


def plain(figure: Figure) -> Json:
    """As JSON has it: a number when it is exact, null when unknown, otherwise its bounds."""
    if figure.exact or figure.unknown:
        return figure.value
    bounds = {"at_least": figure.low, "at_most": figure.high}
    return {key: bound for key, bound in bounds.items() if bound is not None}
