"""How far files overlap in a column, and the words their bounds are compared by."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.figures import UNKNOWN, Figure, exactly
from firnline.core.types import Decimal, Primitive, Type
from firnline.facts import columns, single_values
from firnline.facts.hashing import texts_of

_LONGS = st.integers(-(2**63), 2**63 - 1)
_KINDS: list[tuple[Type, st.SearchStrategy[Any]]] = [
    (Primitive("int"), st.integers(-(2**31), 2**31 - 1)),
    (Primitive("long"), _LONGS),
    (Primitive("timestamptz"), _LONGS),
    (Primitive("float"), st.floats(width=32, allow_nan=False)),
    (Primitive("double"), st.floats(allow_nan=False)),
    (Decimal(18, 2), st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: decimal.Decimal(n).scaleb(-2))),
    (Primitive("string"), st.text(max_size=8)),
]


def words(of: Type, values: list[Any]) -> list[int]:
    """The words of these values' bounds."""
    texts = texts_of([single_values.encode(value, of) for value in values])
    return columns._words(texts, np.arange(len(values)), of).tolist()


@pytest.mark.parametrize(("of", "values"), _KINDS, ids=lambda one: getattr(one, "name", None))
@given(data=st.data())
def test_words_are_in_order(of: Type, values: st.SearchStrategy[Any], data: st.DataObject) -> None:
    """Of two values the smaller never has the larger word; where a word holds the whole value, equal ones are equal."""
    one, other = data.draw(values), data.draw(values)
    first, second = words(of, [one, other])
    keys = [single_values.order_key(each, of) for each in (one, other)]
    if keys[0] != keys[1]:
        assert (first <= second) is (keys[0] < keys[1]) or (first == second and not columns._exact(of))
    else:
        assert first == second


_SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=30)


@given(_SPANS)
def test_overlaps_are_what_they_are(spans: list[tuple[int, int]]) -> None:
    """Counting by two sorted lists finds what comparing every pair finds."""
    lower = np.array([low for low, _ in spans], np.uint64)
    upper = lower + np.array([more for _, more in spans], np.uint64)
    files = list(zip(lower.tolist(), upper.tolist(), strict=True))
    pairs = sum(low <= last and first <= high for low, high in files for first, last in files)
    assert columns._overlaps(lower, upper) == pairs


@pytest.mark.parametrize(
    ("partitions", "lowers", "uppers", "depth"),
    [
        ([0, 0, 0], [0, 10, 20], [9, 19, 29], 100),  # side by side
        ([0, 0, 0], [0, 0, 0], [29, 29, 29], 300),  # one over the other
        ([0, 1, 2], [0, 0, 0], [29, 29, 29], 100),  # but in partitions of their own
        ([0, 0, 1, 1], [0, 5, 0, 6], [5, 9, 5, 9], 150),  # two touch, two do not
    ],
)
def test_depth_is_the_mean_overlap(partitions: list[int], lowers: list[int], uppers: list[int], depth: int) -> None:
    """In hundredths, itself counted: 100 is perfectly clustered. Of text, whose words are cut, it is a bound."""
    span = (np.array(partitions), np.array(lowers, np.uint64), np.array(uppers, np.uint64))
    assert columns._depth([span], Primitive("long")) == exactly(depth)
    assert columns._depth([span], Primitive("string")) == Figure(100, depth)


def test_depth_of_nothing_is_unknown() -> None:
    """No file with bounds, no depth."""
    nothing = (np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    assert columns._depth([], Primitive("long")) == UNKNOWN
    assert columns._depth([nothing], Primitive("long")) == UNKNOWN
    assert columns._depth([nothing], Decimal(38, 2)) == UNKNOWN
