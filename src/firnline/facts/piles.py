"""Piles: which files were met, and under which marks, without their names.

A pile holds each file once, whatever it was met as: 28 bytes, and about three times as much while it is folded. Marks
are bits, and those of all the times a file was met are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firnline.facts.entries import Longs
from firnline.facts.hashing import Words

Kinds: TypeAlias = NDArray[np.int32]

LOOSE_MAX = 1 << 20  # so many rows at least wait to be folded
_BITS = 64


@dataclass(frozen=True, slots=True)
class Rows:
    """Files by hash, the number of the marks each was met under, and its size; negative where nobody told."""

    high: Words
    low: Words
    kind: Kinds
    size: Longs

    def __len__(self) -> int:
        return len(self.high)


_NONE = Rows(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass(slots=True)
class Pile:
    """Rows that come bit by bit, and are folded now and then. `marks` has a row of words for each kind: those that rows
    come with, `given`, and behind them those that folding made.
    """

    given: Words
    marks: Words = field(init=False)
    folded: Rows = _NONE
    loose: list[Rows] = field(default_factory=list)
    count: int = 0  # of the loose rows

    def __post_init__(self) -> None:
        self.marks = self.given

    def __len__(self) -> int:
        return len(self.folded) + self.count

    def add(self, rows: Rows) -> None:
        """Put rows on the pile."""
        self.loose.append(rows)
        self.count += len(rows)
        if self.count > max(LOOSE_MAX, len(self.folded)):
            self.fold()

    def fold(self) -> Rows:
        """A row for each file, in order of hash."""
        parts = [self.folded, *self.loose]
        self.folded, self.loose, self.count = _NONE, [], 0
        high, low = np.concatenate([part.high for part in parts]), np.concatenate([part.low for part in parts])
        kind, size = np.concatenate([part.kind for part in parts]), np.concatenate([part.size for part in parts])
        del parts
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        starts = np.flatnonzero(_changes(high, low))
        high, low = high[starts], low[starts]
        size, kind = np.maximum.reduceat(size[order], starts), kind[order]
        marks = [np.bitwise_or.reduceat(column[kind], starts) for column in self.marks.T]
        first, kind = _distinct(marks)
        self.marks = np.concatenate((self.given, np.stack([column[first] for column in marks], axis=1)))
        self.folded = Rows(high, low, (kind + len(self.given)).astype(np.int32), size)
        return self.folded


def words_of(marks: Sequence[int], bits: int) -> Words:
    """Sets of so many bits, each as a row of words."""
    rows = [[each >> shift & 2**_BITS - 1 for shift in range(0, max(bits, 1), _BITS)] for each in marks]
    return np.array(rows, np.uint64).reshape(len(marks), -(-max(bits, 1) // _BITS))


def _changes(high: Words, low: Words) -> NDArray[np.bool_]:
    """Where a row differs from the one before."""
    changes = np.ones(len(high), np.bool_)
    changes[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return changes


def _distinct(columns: Sequence[Words]) -> tuple[Longs, Longs]:
    """Where each different combination first is, and which of them each row has."""
    _, first, which = np.unique(columns[0], return_index=True, return_inverse=True)
    for column in columns[1:]:
        values, within = np.unique(column, return_inverse=True)
        _, first, which = np.unique(which * len(values) + within, return_index=True, return_inverse=True)
    return first, which
