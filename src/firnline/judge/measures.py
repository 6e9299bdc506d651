"""Numbers held against thresholds, and what several of them come to when some cannot be told. Pure."""

from __future__ import annotations

from firnline.config.amounts import Unit
from firnline.config.policies import AMOUNTS
from firnline.core.figures import Figure
from firnline.judge import ranges
from firnline.judge.ranges import Range
from firnline.judge.values import Measure, Subject

ANY = 1  # what must not be there at all fires from one on, and no policy changes that


def against(subject: Subject, key: str, name: str, value: Range | Figure, *, above: bool = True) -> Measure:
    """A number against the policy's threshold."""
    return Measure(name, _range(value), AMOUNTS[key].unit, subject.policy.number(key), above, key)


def none_allowed(name: str, value: Range | Figure) -> Measure:
    """A number of things of which one is too many."""
    return Measure(name, _range(value), Unit.COUNT, ANY)


def beside(name: str, value: Range | Figure, unit: Unit = Unit.COUNT) -> Measure:
    """A number that is shown and held against nothing."""
    return Measure(name, _range(value), unit)


def _range(value: Range | Figure) -> Range:
    return ranges.of(value) if isinstance(value, Figure) else value


def every(*truths: bool | None) -> bool | None:
    """Whether all hold: one that does not decides, whatever cannot be told."""
    return False if False in truths else None if None in truths else True


def some(*truths: bool | None) -> bool | None:
    """Whether any holds: one that does decides, whatever cannot be told."""
    return True if True in truths else None if None in truths else False
