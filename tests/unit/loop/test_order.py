"""The order of steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.errors import BadInput
from firnline.loop.order import in_order
from tests.unit.loop.stage import step


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, list[int]]]:
    """Steps in any order, each requiring only lower numbers: no circles."""
    count = draw(st.integers(0, 12))
    numbered = [(n, draw(st.lists(st.integers(0, n - 1), unique=True, max_size=4)) if n else []) for n in range(count)]
    return draw(st.permutations(numbered))


@given(graphs())
def test_each_after_what_it_requires(graph: list[tuple[int, list[int]]]) -> None:
    """Every step is there once, behind all it requires; those that require nothing keep their order."""
    steps = [step(number, requires=needed) for number, needed in graph]
    ordered = in_order(steps)
    assert sorted(each.id for each in ordered) == sorted(each.id for each in steps)
    for at, each in enumerate(ordered):
        assert set(each.requires) <= {before.id for before in ordered[:at]}
    if not any(needed for _, needed in graph):
        assert list(ordered) == steps


def test_a_long_chain() -> None:
    """Thousands of steps in a row, given backwards, are no problem."""
    steps = [step(number, requires=[number - 1] if number else []) for number in reversed(range(5_000))]
    assert [each.id for each in in_order(steps)] == [str(number) for number in range(5_000)]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([step(1), step(1)], "two steps of the id '1'"),
        ([step(1, requires=[2])], "Step '1' requires '2', and the plan has no such step"),
        ([step(1, requires=[1])], "in a circle: 1 → 1."),
        ([step(1, requires=[2]), step(2, requires=[3]), step(3, requires=[1])], "in a circle: 1 → 2 → 3 → 1."),
        ([step(0, requires=[1]), step(1, requires=[2]), step(2, requires=[1])], "in a circle: 1 → 2 → 1."),
    ],
)
def test_refused(steps: list[object], words: str) -> None:
    """Plans that cannot be ordered are refused, with the steps at fault."""
    with pytest.raises(BadInput) as raised:
        in_order(steps)  # type: ignore[arg-type]
    assert words in raised.value.what
