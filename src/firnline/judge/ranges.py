"""Measured numbers that may be uncertain: `Figure` for counts, here for shares, times and ages too. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.core.figures import Figure
from firnline.core.types import Json


@dataclass(frozen=True, slots=True)
class Range:
    """A number known to lie between `low` and `high`; without `high`, nothing bounds it from above."""

    low: float
    high: float | None

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    @property
    def unknown(self) -> bool:
        """Whether nothing at all is known of it."""
        return not self.low and self.high is None


UNKNOWN = Range(0, None)


def exactly(number: float) -> Range:
    """A number that is known."""
    return Range(number, number)


def of(figure: Figure) -> Range:
    """The same range."""
    return Range(figure.low, figure.high)


def scaled(figure: Figure, factor: float) -> Range:
    """The figure, each bound times a factor."""
    return Range(figure.low * factor, None if figure.high is None else figure.high * factor)


def ratio(part: Figure, whole: Figure) -> Range:
    """One number in units of another. In units of nothing, a number is itself."""
    low = 0.0 if whole.high is None else part.low / max(1, whole.high)
    return Range(low, None if part.high is None else max(low, part.high / max(1, whole.low)))


def share(part: Figure, whole: Figure) -> Range:
    """A part of a whole: never more than all of it."""
    found = ratio(part, whole)
    return Range(min(1.0, found.low), 1.0 if found.high is None else min(1.0, found.high))


def ages(moment: Figure, now_millis: int) -> Range:
    """How long ago something was, from when it was. A moment nobody knows has no age to tell."""
    low = 0 if moment.high is None else max(0, now_millis - moment.high)
    return Range(low, max(low, now_millis - moment.low) if moment.low else None)


def show(measured: Range, unit: Unit) -> str:
    """`12`, `at least 12`, `at most 12`, `12 to 40`, `unknown`."""
    low = amounts.show(measured.low, unit)
    if measured.unknown:
        return "unknown"
    if measured.high is None:
        return f"at least {low}"
    high = amounts.show(measured.high, unit)
    if measured.exact or low == high:
        return low
    return f"{low} to {high}" if measured.low else f"at most {high}"


def plain(measured: Range) -> Json:
    """As JSON has it: a number when it is exact, null when unknown, otherwise its bounds."""
    if measured.exact or measured.unknown:
        return measured.high
    bounds = {"at_least": measured.low, "at_most": measured.high}
    return {key: bound for key, bound in bounds.items() if bound is not None}
