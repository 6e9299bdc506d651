"""Numbers against thresholds, certain and not; and what several of them come to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.config.amounts import Unit
from firnline.core.figures import UNKNOWN, Figure, exactly
from firnline.judge import ranges
from firnline.judge.measures import every, some
from firnline.judge.ranges import Range
from firnline.judge.values import Measure

TRUTHS = st.lists(st.sampled_from([True, False, None]), max_size=5)
COUNTS = st.integers(0, 100)
FIGURES = st.builds(lambda low, more: Figure(low, None if more is None else low + more), COUNTS, st.none() | COUNTS)


@pytest.mark.parametrize(
    ("low", "high", "threshold", "above", "past"),
    [
        (10, 10, 10, True, True),
        (9, 9, 10, True, False),
        (9, None, 10, True, None),
        (10, None, 10, True, True),
        (0, 9, 10, True, False),
        (0, 10, 10, True, None),
        (0, None, 10, True, None),
        (0, 0, 0, True, False),
        (1, 1, 0, True, True),
        (0.5, 0.5, 0.9, False, True),
        (0.9, 0.9, 0.9, False, False),
        (0, None, 0.9, False, None),
        (0.9, None, 0.9, False, False),
        (0, 1, 0.9, False, None),
        (5, 5, None, True, None),
    ],
)
def test_a_number_is_past_its_threshold(
    low: float, high: float | None, threshold: float | None, above: bool, past: bool | None
) -> None:
    """At the threshold counts as past it, nothing never does, and a range that holds the threshold cannot tell."""
    assert Measure("n", Range(low, high), Unit.COUNT, threshold, above).past is past


@settings(deadline=None)
@given(FIGURES, COUNTS, COUNTS)
def test_what_is_said_of_a_range_holds_for_every_number_in_it(figure: Figure, threshold: int, inside: int) -> None:
    """A verdict on a range is never contradicted by a number that lies in it."""
    number = figure.low + inside if figure.high is None else min(figure.low + inside, figure.high)
    for above in (True, False):
        told = Measure("n", ranges.of(figure), Unit.COUNT, threshold, above).past
        exact = Measure("n", ranges.exactly(number), Unit.COUNT, threshold, above).past
        assert told is None or told is exact


@settings(deadline=None)
@given(TRUTHS)
def test_what_cannot_be_told_stays_so_until_something_decides(truths: list[bool | None]) -> None:
    """`every` and `some` are what they are over all ways the unknown ones may turn out."""
    ways: list[list[bool]] = [[]]
    for truth in truths:
        ways = [[*way, value] for way in ways for value in ([True, False] if truth is None else [truth])]
    for said, told in ((every(*truths), {all(way) for way in ways}), (some(*truths), {any(way) for way in ways})):
        assert said == (told.pop() if len(told) == 1 else None)


@settings(deadline=None)
@given(FIGURES, FIGURES, COUNTS, COUNTS)
def test_a_share_holds_every_share_it_may_be(part: Figure, whole: Figure, some_part: int, some_whole: int) -> None:
    """The share of two ranges holds the share of any two numbers in them."""
    first, second = (
        figure.low + more if figure.high is None else min(figure.low + more, figure.high)
        for figure, more in ((part, some_part), (whole, some_whole))
    )
    found, exact = ranges.share(part, whole), min(1.0, first / max(1, second))
    assert found.low <= exact
    assert found.high is None or exact <= found.high


@pytest.mark.parametrize(
    ("value", "unit", "text", "data"),
    [
        (ranges.exactly(1234), Unit.COUNT, "1,234", 1234),
        (ranges.of(UNKNOWN), Unit.COUNT, "unknown", None),
        (Range(3, None), Unit.BYTES, "at least 3 B", {"at_least": 3}),
        (Range(0, 0.25), Unit.SHARE, "at most 25 %", {"at_least": 0, "at_most": 0.25}),
        (Range(1, 2), Unit.TIMES, "1.0x to 2.0x", {"at_least": 1, "at_most": 2}),
        (ranges.ages(exactly(0), 5), Unit.DURATION, "at least 5ms", {"at_least": 5}),
        (ranges.ages(exactly(90_000_000), 180_000_000), Unit.DURATION, "1d", 90_000_000),
    ],
)
def test_a_range_is_shown_as_what_is_known(value: Range, unit: Unit, text: str, data: object) -> None:
    """People and programs are told the number, its bounds, or that it is unknown."""
    assert (ranges.show(value, unit), ranges.plain(value)) == (text, data)
