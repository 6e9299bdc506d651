"""The row hash: which values are one and which are two. `test_rowhash_laws.py` has what holds for any values."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from firnline.adapters.parquet import rowhash
from firnline.core import types
from firnline.core.types import Field, ListOf, MapOf, Primitive, Struct
from firnline.proof.values import ColumnTally, ReadRequest, Tally

UUID = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
POINT = Struct((Field("x", Primitive("int"), id=11), Field("y", Primitive("double"), id=12)))
ARROW_POINT = pa.struct([("x", pa.int32()), ("y", pa.float64())])


def request(*columns: types.Type, shared: frozenset[int] | None = None) -> ReadRequest:
    fields = Struct(tuple(Field(f"c{at}", of, id=at) for at, of in enumerate(columns, start=1)))
    every = frozenset(range(1, len(columns) + 1))
    return ReadRequest("memory", None, fields, fields, every if shared is None else shared)


def tally(asked: ReadRequest, *columns: pa.Array) -> Tally:
    batch = pa.RecordBatch.from_arrays(list(columns), names=[f"n{at}" for at in range(len(columns))])
    return rowhash.tally([batch], asked)


def column(of: types.Type | str, values: list[Any], arrow: pa.DataType) -> ColumnTally:
    wanted = types.parse_atom(of) if isinstance(of, str) else of
    assert wanted is not None
    return tally(request(wanted), pa.array(values, arrow)).columns[1]


DIFFERENT = {
    "null and zero": ("int", pa.int32(), None, 0),
    "null and the empty string": ("string", pa.string(), None, ""),
    "null and empty bytes": ("binary", pa.binary(), None, b""),
    "null and false": ("boolean", pa.bool_(), None, False),
    "minus zero and zero": ("double", pa.float64(), -0.0, 0.0),
    "null and NaN": ("double", pa.float64(), None, math.nan),
    "the last byte of a long string": ("string", pa.string(), "x" * 63 + "a", "x" * 63 + "b"),
    "a trailing zero byte": ("binary", pa.binary(), b"ab", b"ab\0"),
    "one microsecond": ("timestamp", pa.timestamp("us"), 1, 2),
    "the last digit of a wide decimal": (
        "decimal(38,10)",
        pa.decimal128(38, 10),
        Decimal("9999999999999999999999999999.9999999999"),
        Decimal("9999999999999999999999999999.9999999998"),
    ),
    "the sign of a decimal": ("decimal(9,2)", pa.decimal128(9, 2), Decimal("0.01"), Decimal("-0.01")),
    "a null list and an empty one": (ListOf(Primitive("int")), pa.list_(pa.int32()), None, []),
    "an empty list and one with a null": (ListOf(Primitive("int")), pa.list_(pa.int32()), [], [None]),
    "the order of a list": (ListOf(Primitive("int")), pa.list_(pa.int32()), [1, 2], [2, 1]),
    "a null map and an empty one": (
        MapOf(Primitive("string"), Primitive("int")),
        pa.map_(pa.string(), pa.int32()),
        None,
        [],
    ),
    "which key has which value": (
        MapOf(Primitive("string"), Primitive("int")),
        pa.map_(pa.string(), pa.int32()),
        [("a", 1), ("b", 2)],
        [("a", 2), ("b", 1)],
    ),
    "a null struct and one of nulls": (POINT, ARROW_POINT, None, {"x": None, "y": None}),
    "which field of a struct has the value": (
        Struct((Field("a", Primitive("int"), id=11), Field("b", Primitive("int"), id=12))),
        pa.struct([("a", pa.int32()), ("b", pa.int32())]),
        {"a": 1, "b": 2},
        {"a": 2, "b": 1},
    ),
}


@pytest.mark.parametrize("case", DIFFERENT, ids=lambda case: case)
def test_different_values_have_different_sums(case: str) -> None:
    """What a reader could confuse is two values."""
    of, arrow, one, other = DIFFERENT[case]
    assert column(of, [one], arrow).sum != column(of, [other], arrow).sum


SAME: dict[str, tuple[types.Type | str, pa.Array, pa.Array]] = {
    "a widened int": ("long", pa.array([7, None], pa.int32()), pa.array([7, None], pa.int64())),
    "a widened float": ("double", pa.array([1.5], pa.float32()), pa.array([1.5], pa.float64())),
    "a decimal in a wider column": (
        "decimal(12,2)",
        pa.array([Decimal("1.10")], pa.decimal128(9, 2)),
        pa.array([Decimal("1.10")], pa.decimal128(12, 2)),
    ),
    "a decimal with fewer digits after the point": (
        "decimal(9,2)",
        pa.array([Decimal("1.1")], pa.decimal128(9, 1)),
        pa.array([Decimal("1.10")], pa.decimal128(9, 2)),
    ),
    "any two NaNs": (
        "double",
        pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(b"\x01\0\0\0\0\0\xf8\xff")]),
        pa.array([math.nan]),
    ),
    "text in a dictionary": ("string", pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(["a", "b", "a"])),
    "text with wide offsets": ("string", pa.array(["a", None], pa.large_string()), pa.array(["a", None])),
    "text as views": ("string", pa.array(["a", "x" * 40, None], pa.string_view()), pa.array(["a", "x" * 40, None])),
    "a uuid as text and as bytes": (
        "uuid",
        pa.array([UUID, None]),
        pa.array([bytes.fromhex(UUID.replace("-", "")), None], pa.binary(16)),
    ),
    "a uuid as an extension type": (
        "uuid",
        pa.array([bytes.fromhex(UUID.replace("-", ""))], pa.uuid()),
        pa.array([UUID.upper()]),
    ),
    "fixed bytes as any bytes": ("fixed[3]", pa.array([b"abc", None], pa.binary(3)), pa.array([b"abc", None])),
    "a map in another order": (
        MapOf(Primitive("string"), Primitive("int")),
        pa.array([[("a", 1), ("b", 2)]], pa.map_(pa.string(), pa.int32())),
        pa.array([[("b", 2), ("a", 1)]], pa.map_(pa.string(), pa.int32())),
    ),
    "a list with wide offsets": (
        ListOf(Primitive("int")),
        pa.array([[1, None], None, []], pa.large_list(pa.int32())),
        pa.array([[1, None], None, []], pa.list_(pa.int32())),
    ),
    "a column of the null type": ("string", pa.nulls(2), pa.array([None, None], pa.string())),
    "a timestamp in milliseconds": (
        "timestamp",
        pa.array([1], pa.timestamp("ms")),
        pa.array([1000], pa.timestamp("us")),
    ),
    "what stands under a null struct": (
        POINT,
        pa.StructArray.from_arrays(
            [pa.array([1, 2], pa.int32()), pa.array([math.nan, 1.0])],
            fields=list(ARROW_POINT),
            mask=pa.array([True, False]),
        ),
        pa.array([None, {"x": 2, "y": 1.0}], ARROW_POINT),
    ),
    "what a null list owns": (
        ListOf(Primitive("double")),
        pa.ListArray.from_arrays(pa.array([0, 2, 3]), pa.array([math.nan, 5.0, 1.0]), mask=pa.array([True, False])),
        pa.array([None, [1.0]], pa.list_(pa.float64())),
    ),
}


@pytest.mark.parametrize("case", SAME, ids=lambda case: case)
def test_the_same_values_have_the_same_tally(case: str) -> None:
    """A value is one value in whatever Arrow type a reader gives it."""
    of, one, other = SAME[case]
    wanted = types.parse_atom(of) if isinstance(of, str) else of
    assert wanted is not None
    assert tally(request(wanted), one) == tally(request(wanted), other)


def test_nulls_and_nans_are_counted() -> None:
    """Nulls are counted at the top of a column, NaNs at any depth of it, and none that is not there."""
    of = ListOf(Primitive("double"))
    seen = column(of, [[math.nan, 1.0], None, [math.nan, None]], pa.list_(pa.float64()))
    assert (seen.nulls, seen.nans) == (1, 2)
    flat = column("double", [math.nan, None, 1.0], pa.float64())
    assert (flat.nulls, flat.nans) == (1, 1)


def test_a_timestamp_with_a_zone_is_another_than_one_without() -> None:
    """A reader that loses the zone, or makes one up, differs."""
    with_zone = column("timestamptz", [1], pa.timestamp("us", tz="UTC"))
    assert with_zone.sum != column("timestamptz", [1], pa.timestamp("us")).sum
    assert with_zone.sum == column("timestamptz", [1], pa.timestamp("us", tz="Asia/Kolkata")).sum


def test_equal_rows_do_not_cancel() -> None:
    """A row that is there twice, or four times, counts so."""
    sums = {tally(request(Primitive("int")), pa.array([5] * times, pa.int32())).whole for times in range(5)}
    assert len(sums) == 5


def test_equal_values_in_other_rows_are_seen() -> None:
    """Swapping values between rows leaves the columns' sums and changes the rows'."""
    asked = request(Primitive("int"), Primitive("int"))
    one = tally(asked, pa.array([1, 2], pa.int32()), pa.array([3, 4], pa.int32()))
    other = tally(asked, pa.array([1, 2], pa.int32()), pa.array([4, 3], pa.int32()))
    assert one.columns == other.columns
    assert one.whole != other.whole


def test_columns_are_known_by_their_field_id() -> None:
    """The same values under another field id are other rows; the names a reader gives do not matter."""
    values = pa.array([1, 2], pa.int32())
    fields = Struct((Field("renamed", Primitive("int"), id=9),))
    asked = ReadRequest("memory", None, fields, fields, frozenset({9}))
    assert tally(request(Primitive("int")), values).whole != tally(asked, values).whole


def test_shared_sums_only_the_shared_columns() -> None:
    """Readers with different columns are compared over those both have, as rows."""
    both = request(Primitive("int"), Primitive("string"), shared=frozenset({1}))
    one = request(Primitive("int"), shared=frozenset({1}))
    seen = tally(both, pa.array([1, 2], pa.int32()), pa.array(["a", "b"]))
    assert seen.shared == tally(one, pa.array([1, 2], pa.int32())).shared
    assert seen.whole != seen.shared


def test_tallies_of_other_columns_do_not_add_up() -> None:
    """Adding what cannot be added is an error, never a number."""
    with pytest.raises(ValueError, match="do not add up"):
        Tally.zero((1,)) + Tally.zero((2,))


@pytest.mark.parametrize(
    ("of", "given"),
    [
        ("int", pa.array(["a"])),
        ("uuid", pa.array(["no uuid at all"])),
        ("timestamp", pa.array([1], pa.int64())),
        ("decimal(9,2)", pa.array([Decimal("1.123")], pa.decimal128(9, 3))),
        ("variant", pa.array([b"x"])),
    ],
)
def test_a_column_of_the_wrong_type_is_told(of: str, given: pa.Array) -> None:
    """What cannot hold the Iceberg type is named, never hashed as something else."""
    wanted = types.parse_atom(of)
    assert wanted is not None
    with pytest.raises(rowhash.MistypedError):
        tally(request(wanted), given)


def test_a_missing_column_is_told() -> None:
    """A batch with fewer columns than were asked for is no tally."""
    with pytest.raises(rowhash.MistypedError, match="2 columns were asked for and 1 came"):
        tally(request(Primitive("int"), Primitive("int")), pa.array([1], pa.int32()))


def test_large_batches_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of batches does not matter, those that are cut for memory included."""
    values = pa.array([f"value {at}" for at in range(1000)])
    whole = tally(request(Primitive("string")), values)
    monkeypatch.setattr(rowhash, "ROWS_MAX", 7)
    assert tally(request(Primitive("string")), values) == whole
