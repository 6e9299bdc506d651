"""What holds of the row hash for any table: any Iceberg type, nested to any depth, cut and ordered in any way."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.adapters.parquet import rowhash
from firnline.core import types
from firnline.core.types import Field, ListOf, MapOf, Struct
from firnline.proof.values import ReadRequest, Tally

_LONG = st.integers(-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Kind:
    """An Iceberg type, the Arrow type it comes in, its values, and what two equal values have in common."""

    of: types.Type
    arrow: pa.DataType
    values: st.SearchStrategy[Any]
    canonical: Callable[[Any], object]

    @property
    def nullable(self) -> st.SearchStrategy[Any]:
        return st.none() | self.values

    def same(self, value: Any) -> object:
        return None if value is None else self.canonical(value)


def plain(text: str, arrow: pa.DataType, values: st.SearchStrategy[Any]) -> Kind:
    of = types.parse_atom(text)
    assert of is not None
    return Kind(of, arrow, values, lambda value: value)


def bits(layout: str) -> Callable[[float], object]:
    return lambda value: "NaN" if math.isnan(value) else struct.pack(layout, value)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    largest = 10**precision - 1
    return st.integers(-largest, largest).map(lambda unscaled: Decimal(f"{unscaled}E-{scale}"))


ATOMS = (
    plain("boolean", pa.bool_(), st.booleans()),
    plain("int", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    plain("long", pa.int64(), _LONG),
    plain("date", pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    plain("time", pa.time64("us"), st.integers(0, 86_399_999_999)),
    plain("timestamp", pa.timestamp("us"), _LONG),
    plain("timestamptz", pa.timestamp("us", tz="UTC"), _LONG),
    plain("timestamp_ns", pa.timestamp("ns"), _LONG),
    plain("string", pa.string(), st.text(max_size=40)),
    plain("binary", pa.binary(), st.binary(max_size=40)),
    plain("fixed[5]", pa.binary(5), st.binary(min_size=5, max_size=5)),
    plain("uuid", pa.binary(16), st.binary(min_size=16, max_size=16)),
    plain("decimal(9,2)", pa.decimal128(9, 2), decimals(9, 2)),
    plain("decimal(38,10)", pa.decimal128(38, 10), decimals(38, 10)),
    Kind(types.Primitive("float"), pa.float32(), st.floats(width=32), bits("<f")),
    Kind(types.Primitive("double"), pa.float64(), st.floats(), bits("<d")),
)
KEYS = tuple(kind for kind in ATOMS if kind.of not in {types.Primitive("float"), types.Primitive("double")})


def list_of(element: Kind) -> Kind:
    return Kind(
        ListOf(element.of),
        pa.list_(element.arrow),
        st.lists(element.nullable, max_size=4),
        lambda value: tuple(element.same(one) for one in value),
    )


def map_of(key: Kind, value: Kind) -> Kind:
    entries = st.lists(st.tuples(key.values, value.nullable), max_size=4, unique_by=lambda entry: entry[0])
    return Kind(
        MapOf(key.of, value.of),
        pa.map_(key.arrow, value.arrow),
        entries,
        lambda given: frozenset((one, value.same(other)) for one, other in given),
    )


def struct_of(parts: list[Kind]) -> Kind:
    names = [f"f{at}" for at in range(len(parts))]
    return Kind(
        Struct(
            tuple(Field(name, part.of, id=50 + at) for at, (name, part) in enumerate(zip(names, parts, strict=True)))
        ),
        pa.struct([(name, part.arrow) for name, part in zip(names, parts, strict=True)]),
        st.fixed_dictionaries({name: part.nullable for name, part in zip(names, parts, strict=True)}),
        lambda given: tuple(part.same(given[name]) for name, part in zip(names, parts, strict=True)),
    )


KINDS: st.SearchStrategy[Kind] = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: (
        inner.map(list_of)
        | st.builds(map_of, st.sampled_from(KEYS), inner)
        | st.lists(inner, min_size=1).map(struct_of)
    ),
    max_leaves=4,
)


@dataclass(frozen=True)
class Drawn:
    """A table of one to three columns, as Python values by row."""

    kinds: list[Kind]
    rows: list[tuple[Any, ...]]

    @property
    def asked(self) -> ReadRequest:
        fields = Struct(tuple(Field(f"c{at}", kind.of, id=at) for at, kind in enumerate(self.kinds, start=1)))
        return ReadRequest("memory", None, fields, fields, frozenset(range(1, len(self.kinds) + 1)))

    def batch(self, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
        arrays = [pa.array([row[at] for row in rows], kind.arrow) for at, kind in enumerate(self.kinds)]
        return pa.RecordBatch.from_arrays(arrays, names=[f"c{at}" for at in range(len(arrays))])

    def tally(self, *batches: pa.RecordBatch) -> Tally:
        return rowhash.tally(batches, self.asked)


@st.composite
def tables(draw: st.DrawFn, least: int = 0) -> Drawn:
    kinds = draw(st.lists(KINDS, min_size=1, max_size=3))
    return Drawn(kinds, draw(st.lists(st.tuples(*(kind.nullable for kind in kinds)), min_size=least, max_size=12)))


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table: Drawn, random: Any) -> None:
    """Rows in any order have the same tally."""
    shuffled = list(table.rows)
    random.shuffle(shuffled)
    assert table.tally(table.batch(shuffled)) == table.tally(table.batch(table.rows))


@settings(max_examples=60, deadline=None)
@given(tables(), st.lists(st.integers(0, 12), max_size=3))
def test_how_rows_are_cut_does_not_matter(table: Drawn, cuts: list[int]) -> None:
    """Batches that are slices of one buffer, batches of their own, and tallies added up: all are the whole."""
    whole = table.batch(table.rows)
    edges = [0, *sorted(min(cut, len(table.rows)) for cut in cuts), len(table.rows)]
    pairs = list(itertools.pairwise(edges))
    expected = table.tally(whole)
    assert table.tally(*(whole.slice(one, other - one) for one, other in pairs)) == expected
    parts = [table.tally(table.batch(table.rows[one:other])) for one, other in pairs]
    assert sum(parts, Tally.zero(tuple(range(1, len(table.kinds) + 1)))) == expected


@settings(max_examples=120, deadline=None)
@given(tables(least=1), st.data())
def test_any_changed_value_changes_the_sums(table: Drawn, data: st.DataObject) -> None:
    """One other value, anywhere, is seen in its column and in the rows; the same value again is not."""
    row = data.draw(st.integers(0, len(table.rows) - 1))
    at = data.draw(st.integers(0, len(table.kinds) - 1))
    kind = table.kinds[at]
    value = data.draw(kind.nullable)
    changed = [list(one) for one in table.rows]
    before, changed[row][at] = changed[row][at], value
    one, other = table.tally(table.batch(table.rows)), table.tally(table.batch([tuple(each) for each in changed]))
    same = kind.same(before) == kind.same(value)
    assert (one.columns[at + 1].sum == other.columns[at + 1].sum) is same
    assert (one.whole == other.whole) is same


@settings(max_examples=60, deadline=None)
@given(tables(least=1), st.integers(0, 11))
def test_a_row_more_is_seen(table: Drawn, which: int) -> None:
    """A row that is there once more, even one that is there already, changes every sum."""
    again = [*table.rows, table.rows[which % len(table.rows)]]
    one, other = table.tally(table.batch(table.rows)), table.tally(table.batch(again))
    assert other.rows == one.rows + 1
    assert other.whole != one.whole
    assert all(other.columns[key].sum != seen.sum for key, seen in one.columns.items())


@settings(max_examples=40, deadline=None)
@given(tables())
def test_nulls_are_those_at_the_top(table: Drawn) -> None:
    """The null count of a column is the number of rows in which it is null."""
    seen = table.tally(table.batch(table.rows))
    for at in range(len(table.kinds)):
        assert seen.columns[at + 1].nulls == sum(row[at] is None for row in table.rows)
