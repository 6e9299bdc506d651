"""Making things ahead: the same things, bounded, and no thread left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.iceberg.prefetch import ahead


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "firnline-ahead"]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 4), st.integers(0, 12))
def test_the_same_things(things: list[int], most: int, weight: int) -> None:
    """Whatever the bounds, the same things come in the same order, and the thread ends."""
    assert list(ahead(iter(things), lambda thing: thing, most=most, weight=weight)) == things
    assert threads() == []


def test_bounds() -> None:
    """Never more things wait than may, and never more weight, but for a single thing that is heavier."""
    made: list[int] = []

    def making() -> Iterator[int]:
        for weight in (5, 5, 5, 50, 5, 5):
            made.append(weight)
            yield weight

    got = ahead(making(), lambda weight: weight, most=3, weight=10)
    taken = []
    for weight in got:
        taken.append(weight)
        time.sleep(0.02)
        waiting = made[len(taken) :]
        # One more than waits is in the hands of the thread.
        assert sum(waiting[:-1]) <= 10 or len(waiting) <= 2
        assert len(waiting) <= 4
    assert taken == made


def test_an_error_comes_where_its_thing_would() -> None:
    """What was made before an error arrives first."""

    def making() -> Iterator[int]:
        yield 1
        raise KeyError("lost")

    got = ahead(making(), lambda _: 1, most=5, weight=5)
    assert next(got) == 1
    with pytest.raises(KeyError, match="lost"):
        next(got)
    assert threads() == []


def test_closing_ends_the_thread() -> None:
    """Who has enough closes: the source is not read on, and the thread is gone."""
    made: list[int] = []

    def making() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    got = ahead(making(), lambda _: 1, most=2, weight=100)
    assert next(got) == 0
    got.close()
    assert threads() == []
    assert len(made) <= 5


def test_nothing_starts_before_it_is_asked_for() -> None:
    """Without a first question there is no thread."""
    ahead(iter([1]), lambda _: 1, most=1, weight=1)
    assert threads() == []
