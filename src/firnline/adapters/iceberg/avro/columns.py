"""Columns of numpy from blocks: which decoder does what.

Stepping all lanes together costs 170 µs a record for a dozen of them and 330 µs for four hundred, decoding a record
alone 16 µs, with ten metric columns. So lanes go together as long as enough of them have another record, and what is
left of the longest goes one by one: both a file of few, very long blocks and a handful of tiny files are the plain
decoder's. With a hundred metric columns they would break even at 18 lanes instead of 11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firnline.adapters.iceberg.avro import lockstep, scalar
from firnline.adapters.iceberg.avro.buffer import GaveUp, Longs, Octets
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.adapters.iceberg.avro.plans import Key, Plan
from firnline.adapters.iceberg.avro.scalar import ABSENT, Lanes

LANES_LEAST = 12


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of all rows, in the order of the lanes: numbers, ABSENT for null; texts, -1 as the length of null."""

    octets: Octets
    rows: int
    numbers: dict[Key, Longs]
    starts: dict[Key, Longs]
    lengths: dict[Key, Longs]

    def number(self, key: Key) -> Longs:
        """A column of numbers; all null when the writer does not have it."""
        found = self.numbers.get(key)
        return np.full(self.rows, ABSENT, np.int64) if found is None else found

    def text(self, key: Key) -> tuple[Longs, Longs]:
        """Where the texts of a column begin and how long they are; all null when the writer does not have it."""
        if key in self.starts:
            return self.starts[key], self.lengths[key]
        return np.zeros(self.rows, np.int64), np.full(self.rows, -1, np.int64)


def decode(plan: Plan, of: Lanes, *, lanes_least: int = LANES_LEAST) -> Columns:
    """Every record; Damaged with the lane when one is not what the schema says."""
    octets: Octets = np.frombuffer(of.data, np.uint8)
    if len(of.count) < lanes_least:
        return _plain(plan, of, octets)
    for lane, count in enumerate(of.count):
        scalar.check_count(plan, count, of.end[lane] - of.start[lane], lane)
    try:
        found = lockstep.decode(plan, of, lanes_least)
        columns = Columns(octets, of.rows, found.numbers, found.starts, found.lengths)
        _fill_in(columns, found.left, found.left_rows, scalar.decode(plan, found.left))
    except (GaveUp, Damaged):
        return _plain(plan, of, octets)
    return columns


def _plain(plan: Plan, of: Lanes, octets: Octets) -> Columns:
    found = scalar.decode(plan, of)
    return Columns(
        octets,
        of.rows,
        {key: np.array(column, np.int64) for key, column in found.numbers.items()},
        {key: np.array(column, np.int64) for key, column in found.starts.items()},
        {key: np.array(column, np.int64) for key, column in found.lengths.items()},
    )


def _fill_in(columns: Columns, left: Lanes, rows: list[int], found: scalar.Values) -> None:
    pairs = (
        (columns.numbers, found.numbers),
        (columns.starts, found.starts),
        (columns.lengths, found.lengths),
    )
    for into, values in pairs:
        for key, column in values.items():
            first = 0
            for row, count in zip(rows, left.count, strict=True):
                into[key][row : row + count] = column[first : first + count]
                first += count
