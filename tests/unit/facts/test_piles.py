"""Piles of files: each once with all its marks, in order, however they came."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.facts import piles
from firnline.facts.piles import Pile, Rows, words_of

ROW = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4), st.integers(-1, 9))
MARKS = st.lists(st.integers(0, 2**130 - 1) | st.sampled_from([0, 1, 2**64, 2**129]), min_size=5, max_size=5)


def rows_of(rows: list[tuple[int, int, int, int]]) -> Rows:
    high, low, kind, size = (np.array([row[column] for row in rows], np.int64) for column in range(4))
    return Rows(high.astype(np.uint64), low.astype(np.uint64), kind.astype(np.int32), size)


@given(st.lists(st.lists(ROW, max_size=20), max_size=8), MARKS, st.integers(0, 30))
def test_folding(parts: list[list[tuple[int, int, int, int]]], marks: list[int], room: int) -> None:
    """A pile has each file once, with its marks joined and its largest size, whenever it was folded on the way."""
    pile = Pile(words_of(marks, 130))
    expected: dict[tuple[int, int], tuple[int, int]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piles, "LOOSE_MAX", room)
        for part in parts:
            pile.add(rows_of(part))
            assert pile.count <= max(room, len(pile.folded))
            for high, low, kind, size in part:
                joined, largest = expected.get((high, low), (0, -1))
                expected[high, low] = (joined | marks[kind], max(size, largest))
    folded = pile.fold()
    joined = [sum(int(word) << 64 * at for at, word in enumerate(row)) for row in pile.marks[folded.kind]]
    found = zip(folded.high.tolist(), folded.low.tolist(), joined, folded.size.tolist(), strict=True)
    assert list(found) == [(*file, *values) for file, values in sorted(expected.items())]
    assert len(pile) == len(expected)


@pytest.mark.parametrize("bits", [0, 1, 64, 65, 128, 200])
def test_words(bits: int) -> None:
    """A set of bits is so many words as it takes, the lowest first."""
    words = words_of([0, 2**bits - 1], bits)
    assert words.shape == (2, max(1, -(-bits // 64)))
    assert sum(int(word) << 64 * at for at, word in enumerate(words[1])) == 2**bits - 1
    assert words_of([], bits).shape == (0, words.shape[1])
