"""Figures: intervals that stay honest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core import figures
from firnline.core.figures import NONE, UNKNOWN, Figure, at_least, at_most, exactly

counts = st.integers(0, 10**12)
ranges = st.builds(lambda low, more: Figure(low, None if more is None else low + more), counts, st.none() | counts)


@st.composite
def inside(draw: st.DrawFn) -> tuple[Figure, int]:
    """A figure, and a number it may stand for."""
    figure = draw(ranges)
    return figure, draw(st.integers(figure.low, figure.low + 10**12 if figure.high is None else figure.high))


def holds(figure: Figure, number: int) -> bool:
    """Whether the figure allows for the number."""
    return figure.low <= number and (figure.high is None or number <= figure.high)


@given(inside(), inside())
def test_a_sum_holds_the_sum(one: tuple[Figure, int], other: tuple[Figure, int]) -> None:
    """Whatever two figures stand for, their sum stands for the sum."""
    assert holds(one[0] + other[0], one[1] + other[1])


@given(inside(), inside())
def test_a_difference_holds_the_difference(one: tuple[Figure, int], other: tuple[Figure, int]) -> None:
    """Of a whole and a part of it, the difference is held."""
    if other[1] <= one[1]:
        assert holds(one[0].minus(other[0]), one[1] - other[1])


@given(ranges, ranges, ranges)
def test_sums_are_sums(one: Figure, two: Figure, three: Figure) -> None:
    """Adding is associative and commutative, and nothing is its zero."""
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + NONE == one
    assert figures.total([one, two, three]) == one + two + three
    assert figures.total([]) == NONE


@given(counts, counts)
def test_what_is_exact_stays_exact(one: int, other: int) -> None:
    """Exact figures add up exactly; with an unknown one nothing is known from above."""
    assert (exactly(one) + exactly(other)).value == one + other
    assert exactly(one) + UNKNOWN == at_least(one)


@pytest.mark.parametrize(
    ("figure", "text", "plain"),
    [
        (exactly(12), "12", 12),
        (exactly(0), "0", 0),
        (at_least(12), "at least 12", {"at_least": 12}),
        (at_most(12), "at most 12", {"at_least": 0, "at_most": 12}),
        (Figure(3, 12), "3 to 12", {"at_least": 3, "at_most": 12}),
        (UNKNOWN, "unknown", None),
    ],
)
def test_a_figure_says_how_sure_it_is(figure: Figure, text: str, plain: object) -> None:
    """For people and in JSON: a number, bounds, or unknown."""
    assert figures.show(figure) == text
    assert figures.plain(figure) == plain


@pytest.mark.parametrize(("low", "high"), [(-1, 3), (4, 3)])
def test_no_range_is_no_figure(low: int, high: int) -> None:
    """Bounds the wrong way round, or below nothing, are a mistake."""
    with pytest.raises(ValueError, match="no range"):
        Figure(low, high)
