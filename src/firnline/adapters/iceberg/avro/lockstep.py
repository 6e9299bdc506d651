"""Decodes many blocks at once on numpy: one lane per block, all lanes stepped together, record by record.

A call of numpy costs about half a microsecond whether it is for one lane or four hundred, so the time per record falls
with the number of lanes. Three things keep the calls few. Walking only finds where values are: a wanted column is the
positions of its values, and these are decoded at the end, for all rows together. Lists of numbers nobody wants are
passed over by counting the bytes that end a number, 64 at a time. And neighbouring lists of that kind, which are the
metrics of a file, are passed over in one leap when their counts are those of the record before, as nearly always.

Nothing is diagnosed here. Whatever is unusual makes it give up, and the plain decoder says what is wrong or reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from firnline.adapters.iceberg.avro.buffer import Buffer, GaveUp, Longs, select
from firnline.adapters.iceberg.avro.plans import (
    NOTHING,
    Bytes,
    Choice,
    Items,
    Key,
    Lists,
    Number,
    Pairs,
    Plan,
    Span,
    Step,
    Steps,
    Text,
    Varints,
)
from firnline.adapters.iceberg.avro.scalar import ABSENT, Lanes

Rows: TypeAlias = slice | Longs  # of the rows in the order they are walked; all lanes together are neighbours
_Body = Callable[[Longs, Rows, Longs], Longs]

# A wide table has some thousand columns. Longer lists that must be walked item by item are the plain decoder's.
_ITEMS_MAX = 4096
_RUNS_MAX = 256
_FEW = 4  # so few numbers are sooner passed over one by one
_MISSES_MAX = 8  # after that no guess is made any more: it costs half of what it saves
_LEAP_WORDS = 4  # of 64 bytes: what the metrics of a dozen columns take


@dataclass(frozen=True, slots=True)
class Found:
    """Columns of all rows, and the lanes that were left to the plain decoder, with the first row of each."""

    numbers: dict[Key, Longs]
    starts: dict[Key, Longs]
    lengths: dict[Key, Longs]
    left: Lanes
    left_rows: list[int]


@dataclass(slots=True)
class _Guess:
    """How many items neighbouring lists had in the record before, alike in all lanes; empty when they were not."""

    counts: tuple[int, ...] = ()
    misses: int = 0


def decode(plan: Plan, of: Lanes, lanes_least: int) -> Found:
    """The records of all lanes as long as at least so many lanes have one more; GaveUp when anything is odd."""
    walk = _Walk(plan, of, lanes_least)
    try:
        walk.through()
        return walk.result()
    except IndexError as error:  # a position beyond everything
        raise GaveUp from error


class _Walk:
    def __init__(self, plan: Plan, of: Lanes, lanes_least: int) -> None:
        self._plan = plan
        self._of = of
        self._buffer = Buffer(of.data)
        counts = np.array(of.count, np.int64)
        # The longest lanes first: those that have an n-th record are always the first so many.
        self._order = np.argsort(-counts, kind="stable")
        self._counts = counts[self._order]
        self._at = np.array(of.start, np.int64)[self._order]
        self._ends = np.array(of.end, np.int64)[self._order]
        # How many lanes take each step, as long as there are enough of them.
        self._active = _active(self._counts, lanes_least)
        rows = int(self._active.sum())
        self._marks = {key: np.full(rows, -1, np.int64) for key in (*plan.numbers, *plan.texts)}
        self._behind = {key: np.zeros(rows, np.int64) for key in plan.types}
        self._guesses: dict[int, _Guess] = {}
        self._counted: list[int] = []

    def through(self) -> None:
        """Through all records; afterwards each lane must be at its end."""
        first, step = 0, self._plan.step
        for lanes in self._active.tolist():
            self._at[:lanes] = self._step(step, self._at[:lanes], slice(first, first + lanes))
            first += lanes
        done = self._counts <= len(self._active)
        if not np.array_equal(self._at[done], self._ends[done]) or (self._at > self._ends).any():
            raise GaveUp

    def _step(self, step: Step, at: Longs, rows: Rows) -> Longs:
        return _TAKES[type(step)](self, step, at, rows)

    def _number(self, step: Number, at: Longs, rows: Rows) -> Longs:
        if step.column is not None:
            self._marks[step.column][rows] = at
        return self._buffer.past(at)

    def _text(self, step: Text, at: Longs, rows: Rows) -> Longs:
        if step.column is not None:
            self._marks[step.column][rows] = at
        return self._buffer.past_text(at)

    def _bytes(self, step: Bytes, at: Longs, _: Rows) -> Longs:
        return at + step.size

    def _steps(self, step: Steps, at: Longs, rows: Rows) -> Longs:
        for each in step.steps:
            at = _TAKES[type(each)](self, each, at, rows)
        return at

    def _choice(self, step: Choice, at: Longs, rows: Rows) -> Longs:
        chosen = self._buffer.octets(at)
        raw = chosen.tobytes()
        at = at + 1
        if len(raw) == raw.count(raw[:1]):  # all alike, as nearly always
            if raw[0] & 0x81 or raw[0] >> 1 >= len(step.branches):
                raise GaveUp
            return self._step(step.branches[raw[0] >> 1], at, rows)
        if raw.translate(None, bytes(range(0, min(128, 2 * len(step.branches)), 2))):
            raise GaveUp
        for index, branch in enumerate(step.branches):
            who = (chosen == 2 * index).nonzero()[0]
            if len(who) and branch != NOTHING:
                at[who] = self._step(branch, at[who], _some(rows, who))
        return at

    def _span(self, step: Span, at: Longs, rows: Rows) -> Longs:
        self._marks[step.column][rows] = at
        at = self._step(step.step, at, rows)
        self._behind[step.column][rows] = at
        return at

    def _numbers(self, step: Varints, at: Longs, rows: Rows) -> Longs:
        def body(at: Longs, _: Rows, counts: Longs) -> Longs:
            most, fewest = int(counts.max()), int(counts.min())
            self._counted.append(most if fewest == most else -1)
            if most * step.each > _FEW or fewest < most:
                return self._buffer.past_many(at, counts * step.each)
            for _number in range(most * step.each):
                at = self._buffer.past(at)
            return at

        return self._runs(at, rows, body, self._buffer.size)

    def _items(self, step: Items, at: Longs, rows: Rows) -> Longs:
        if not step.least:
            return self._runs(at, rows, lambda at, _, __: at, 1 << 62)
        return self._runs(at, rows, _each(lambda at, rows: self._step(step.item, at, rows)), _ITEMS_MAX)

    def _pairs(self, step: Pairs, at: Longs, rows: Rows) -> Longs:
        buffer = self._buffer
        past_value = buffer.past_text if step.texts else buffer.past

        def keeping(at: Longs, rows: Rows) -> Longs:
            keys, at = buffer.small(at)
            for key, column in step.columns.items():
                who = (keys == key).nonzero()[0]
                if len(who):
                    self._marks[column][_some(rows, who)] = at[who]
            return past_value(at)

        one = keeping if step.columns else lambda at, _: past_value(buffer.past(at))
        return self._runs(at, rows, _each(one), _ITEMS_MAX)

    def _runs(self, at: Longs, rows: Rows, body: _Body, count_max: int) -> Longs:
        """Over runs of items until each lane has come to a run of none."""
        whole: Longs | None = None
        who: Longs | None = None
        for _ in range(_RUNS_MAX):
            counts, at = self._run_counts(at)
            if not counts.any():
                break
            if int(counts.max()) > count_max:
                raise GaveUp
            if not counts.all():
                more = counts.nonzero()[0]
                if whole is None or who is None:
                    whole, who = at, more
                else:
                    whole[who] = at
                    who = who[more]
                at, rows, counts = at[more], _some(rows, more), counts[more]
            at = body(at, rows, counts)
        else:
            raise GaveUp
        if whole is None or who is None:
            return at
        whole[who] = at
        return whole

    def _run_counts(self, at: Longs) -> tuple[Longs, Longs]:
        """Counts of runs; behind a negative one stands the size in bytes, which nobody needs."""
        counts, after = self._buffer.small(at)
        sized = (counts < 0).nonzero()[0]
        if len(sized):
            counts = np.abs(counts)
            after[sized] = self._buffer.past(after[sized])
        return counts, after

    def _lists(self, step: Lists, at: Longs, rows: Rows) -> Longs:
        """In one leap, when each list has as many items as it had in the record before; else list by list."""
        guess = self._guesses.setdefault(id(step), _Guess())
        if guess.counts and guess.misses < _MISSES_MAX:
            after = self._leap(step, at, guess.counts)
            if after is not None:
                return after
            guess.misses += 1
        self._counted = []
        for each in step.steps:
            at = self._choice(each, at, rows)
        # A list in several runs, or not there at all, makes the number of runs differ: there is nothing to guess then.
        alike = len(self._counted) == len(step.steps) and all(0 < count < 64 for count in self._counted)
        guess.counts = tuple(self._counted) if alike else ()
        return at

    def _leap(self, step: Lists, at: Longs, counts: tuple[int, ...]) -> Longs | None:
        """Behind these lists if they have these counts in every lane, and lie within some hundred bytes; else None.

        A list is the number of its branch, its count, its items and a 0. It begins where the one before ended, and ends
        with the so-manieth number, if branch, count and 0 are found there, each in one byte.
        """
        heads = [2 * branch | count << 9 for (branch, _), count in zip(step.lists, counts, strict=True)]
        numbers = [count * each + 3 for (_, each), count in zip(step.lists, counts, strict=True)]
        ranks = np.cumsum(numbers)[:, None]
        bits = self._buffer.ends(at, _LEAP_WORDS)
        there = np.cumsum(np.bitwise_count(bits).reshape(-1, _LEAP_WORDS), axis=1, dtype=np.int64)
        if int(there[:, -1].min()) < int(ranks[-1, 0]):
            return None
        word = (there[:, 0] < ranks).astype(np.int64)
        for place in range(1, _LEAP_WORDS - 1):
            word += there[:, place] < ranks
        flat = word + np.arange(0, len(bits), _LEAP_WORDS)
        left = ranks - (there.ravel() - np.bitwise_count(bits))[flat]
        ends = at + (word << 6) + select(bits[flat].ravel(), left.ravel()).reshape(word.shape)
        begins = np.concatenate((at[None, :], ends[:-1] + 1))
        if (self._buffer.twos(begins) != np.array(heads, np.uint16)[:, None]).any():
            return None
        if (self._buffer.twos(ends - 1) > 0x7F).any():
            return None
        found: Longs = ends[-1] + 1
        return found

    def result(self) -> Found:
        """The columns, in the order of the file."""
        taken = np.minimum(self._counts, len(self._active))
        back = np.argsort(self._order)
        places = _Places(back, self._active, taken[back], self._counts[back])
        found = Found({}, {}, {}, *self._left(taken))
        for key in self._plan.numbers:
            values, _ = self._buffer.longs(self._marks[key][places.walked], ABSENT)
            found.numbers[key] = places.placed(values, ABSENT)
        for key in self._plan.texts:
            at = self._marks[key][places.walked]
            if key in self._behind:
                length = np.where(at < 0, -1, self._behind[key][places.walked] - at)
            else:
                length, at = self._buffer.longs(at, -1)
            found.starts[key] = places.placed(np.maximum(at, 0), 0)
            found.lengths[key] = places.placed(length, -1)
        return found

    def _left(self, taken: Longs) -> tuple[Lanes, list[int]]:
        """The lanes with records left, and where the next row of each belongs."""
        over = np.sort(self._order[self._counts > taken])
        back = np.argsort(self._order)
        more = (self._counts - taken)[back]
        first = np.cumsum(self._counts[back]) - more
        left = Lanes(self._of.data, self._at[back][over].tolist(), self._ends[back][over].tolist(), more[over].tolist())
        return left, first[over].tolist()


# Not bound to a walk: a cycle would keep its buffer until the collector comes by, which is late.
_TAKES: dict[type, Callable[..., Longs]] = {
    Number: _Walk._number,
    Text: _Walk._text,
    Bytes: _Walk._bytes,
    Steps: _Walk._steps,
    Choice: _Walk._choice,
    Span: _Walk._span,
    Varints: _Walk._numbers,
    Pairs: _Walk._pairs,
    Items: _Walk._items,
    Lists: _Walk._lists,
}


class _Places:
    """Which row walked is which of the file: all first records were walked before all second ones."""

    def __init__(self, back: Longs, active: Longs, taken: Longs, counts: Longs) -> None:
        before = np.cumsum(active) - active  # the rows walked before the n-th of each lane
        lane = np.repeat(back, taken)
        first = np.cumsum(taken) - taken
        self.walked: Longs = before[np.arange(len(lane)) - np.repeat(first, taken)] + lane
        self._rows = int(counts.sum())
        self._target = np.arange(len(lane)) + np.repeat(np.cumsum(counts) - counts - first, taken)

    def placed(self, column: Longs, missing: int) -> Longs:
        """With room for the rows that were left to the plain decoder."""
        if len(column) == self._rows:
            return column
        whole = np.full(self._rows, missing, np.int64)
        whole[self._target] = column
        return whole


def _active(counts: Longs, lanes_least: int) -> Longs:
    """How many lanes have an n-th record, for n from 1 on, as long as they are enough. `counts` falls."""
    enough = counts[max(lanes_least, 1) - 1] if len(counts) >= max(lanes_least, 1) else 0
    return np.searchsorted(-counts, -np.arange(enough), "left").astype(np.int64)


def _some(rows: Rows, who: Longs) -> Longs:
    return who + rows.start if isinstance(rows, slice) else rows[who]


def _each(one: Callable[[Longs, Rows], Longs]) -> _Body:
    """A run of items, one after the other, in the lanes that still have one."""

    def body(at: Longs, rows: Rows, counts: Longs) -> Longs:
        most, fewest = int(counts.max()), int(counts.min())
        for _ in range(fewest):
            at = one(at, rows)
        for done in range(fewest, most):
            who = (counts > done).nonzero()[0]
            at[who] = one(at[who], _some(rows, who))
        return at

    return body
