"""Iceberg's single values: bytes, Python values, order, and what people read."""

from __future__ import annotations

import decimal
import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Decimal, Field, Fixed, ListOf, Opaque, Primitive, Struct, Type
from firnline.facts.meta import Schema
from firnline.facts.single_values import (
    Value,
    civil,
    decode,
    encode,
    from_partition,
    order_key,
    partition_name,
    scaled,
    show,
    show_part,
    source_types,
    unscaled,
)

D = decimal.Decimal
PRICE = Decimal(9, 2)
UID = UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")

# From appendix D of the specification.
BYTES: list[tuple[Type, Value, str]] = [
    (Primitive("boolean"), False, "00"),
    (Primitive("boolean"), True, "01"),
    (Primitive("int"), 34, "22000000"),
    (Primitive("int"), -1, "ffffffff"),
    (Primitive("long"), 34, "2200000000000000"),
    (Primitive("float"), -4.5, "000090c0"),
    (Primitive("double"), 6.0, "0000000000001840"),
    (Primitive("date"), 1000, "e8030000"),
    (Primitive("time"), 10_000, "1027000000000000"),
    (Primitive("timestamp"), 400_000, "801a060000000000"),
    (Primitive("timestamptz"), -1, "ffffffffffffffff"),
    (Primitive("timestamp_ns"), 1, "0100000000000000"),
    (Primitive("timestamptz_ns"), 1, "0100000000000000"),
    (Primitive("string"), "ABC", "414243"),
    (Primitive("string"), "é", "c3a9"),
    (Primitive("uuid"), UID, "f79c3e09677c4bbda4793f349cb785e7"),
    (Fixed(3), b"\x0a\x0b\x0c", "0a0b0c"),
    (Primitive("binary"), b"", ""),
    (PRICE, D("123.45"), "3039"),
    (PRICE, D("-1.28"), "80"),  # the fewest bytes that hold it
    (PRICE, D("1.28"), "0080"),
    (PRICE, D("0.00"), "00"),
    (Decimal(38, 0), D(10**37), (10**37).to_bytes(16, "big").hex()),
]


@pytest.mark.parametrize(("of", "value", "hexed"), BYTES)
def test_a_value_has_the_bytes_of_the_specification(of: Type, value: Value, hexed: str) -> None:
    """Every type is written, and read back, as appendix D has it."""
    assert encode(value, of).hex() == hexed
    assert decode(bytes.fromhex(hexed), of) == value


@pytest.mark.parametrize(
    ("of", "hexed", "value"),
    [
        (Primitive("long"), "22000000", 34),  # was an int
        (Primitive("double"), "000090c0", -4.5),  # was a float
        (Decimal(20, 2), "3039", D("123.45")),  # was narrower
        (Primitive("timestamp"), "e8030000", None),  # was a date: days, not microseconds
        (Primitive("int"), "2200000000000000", None),
        (Primitive("int"), "22", None),
        (Primitive("uuid"), "f7", None),
        (Primitive("string"), "ff", None),
        (PRICE, "", None),
        (Primitive("variant"), "00", None),
        (Opaque("geometry"), "00", None),
        (ListOf(Primitive("int")), "22000000", None),
    ],
)
def test_bytes_of_another_type_are_told_apart(of: Type, hexed: str, value: Value | None) -> None:
    """A value of a type that was widened since is still read; bytes that are no value of the type are none."""
    assert decode(bytes.fromhex(hexed), of) == value


@pytest.mark.parametrize(
    ("value", "of"), [("x", Primitive("int")), (1, Primitive("string")), (D("0.001"), PRICE), (D("NaN"), PRICE)]
)
def test_no_bytes_for_a_value_of_another_type(value: Value, of: Type) -> None:
    """What is no value of the type is refused, not written somehow."""
    with pytest.raises(ValueError, match=r"no single value|no number|more than"):
        encode(value, of)


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_decimals_keep_every_digit(number: int, scale: int) -> None:
    """38 digits go through text, bytes and back: nothing is rounded on the way."""
    value = scaled(number, scale)
    assert unscaled(value, scale) == number
    assert decode(encode(value, Decimal(38, scale)), Decimal(38, scale)) == value


ORDERED: list[tuple[Type, st.SearchStrategy[Value]]] = [
    (Primitive("long"), st.integers(-(2**63), 2**63 - 1)),
    (Primitive("double"), st.floats(allow_nan=False)),
    (Primitive("string"), st.text()),
    (Primitive("binary"), st.binary()),
    (Decimal(38, 3), st.integers(-(10**20), 10**20).map(lambda number: scaled(number, 3))),
    (Primitive("boolean"), st.booleans()),
]


@given(st.data(), st.sampled_from(ORDERED))
def test_keys_are_in_the_order_of_values(data: st.DataObject, drawn: tuple[Type, st.SearchStrategy[Value]]) -> None:
    """Whatever is less has the lesser key."""
    of, values = drawn
    one, other = data.draw(values), data.draw(values)
    if one < other:  # type: ignore[operator]  # both of one type
        assert order_key(one, of) < order_key(other, of)  # type: ignore[operator]  # as above


def test_keys_of_odd_numbers() -> None:
    """-0.0 comes right before 0.0, infinities at the ends, whole numbers among floats, and NaN has no place."""
    double = Primitive("double")
    keys = [order_key(each, double) for each in (-math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1, 1.5, math.inf)]
    assert keys == sorted(keys)  # type: ignore[type-var]  # no NaN among them
    assert len(set(keys)) == len(keys)
    assert order_key(math.nan, double) is None


def test_parts_of_partitions_become_values() -> None:
    """Decimals and uuids come as bytes from manifests; what does not fit the type is no value."""
    assert from_partition(b"\x30\x39", PRICE) == D("123.45")
    assert from_partition(UID.bytes, Primitive("uuid")) == UID
    assert from_partition(b"text", Primitive("string")) == "text"
    assert from_partition(b"\xff", Primitive("string")) is None
    assert from_partition((1,), Primitive("int")) is None


SHOWN: list[tuple[object, Type | None, str]] = [
    (None, Primitive("int"), "null"),
    (True, Primitive("boolean"), "true"),
    (7, Primitive("int"), "7"),
    (20_775, Primitive("date"), "2026-11-18"),
    (-1, Primitive("date"), "1969-12-31"),
    (-(10**9), Primitive("date"), "-2735938-12-29"),
    (10**9, Primitive("date"), "2739877-01-03"),
    (34_200_000_000, Primitive("time"), "09:30:00"),
    (-1, Primitive("timestamp"), "1969-12-31T23:59:59.999999"),
    (1_794_994_200_000_000, Primitive("timestamptz"), "2026-11-18T09:30:00Z"),
    (1_794_994_200_000_000_001, Primitive("timestamptz_ns"), "2026-11-18T09:30:00.000000001Z"),
    (1_794_994_200_500_000_000, Primitive("timestamp_ns"), "2026-11-18T09:30:00.5"),
    (b"\x30\x39", PRICE, "123.45"),
    (D("1E+3"), Decimal(9, 0), "1000"),
    (UID.bytes, Primitive("uuid"), str(UID)),
    (b"\x0a\xff", Primitive("binary"), "0aff"),
    ("a b", Primitive("string"), "a b"),
    (math.nan, Primitive("double"), "NaN"),
    (-math.inf, Primitive("double"), "-Infinity"),
    (1.5, Primitive("float"), "1.5"),
    (b"\x01", Primitive("int"), "01"),  # not what it should be: shown as it is
    (5, None, "5"),
]


@pytest.mark.parametrize(("value", "of", "text"), SHOWN)
def test_values_as_people_read_them(value: object, of: Type | None, text: str) -> None:
    """Dates are dates, decimals have a point, bytes are hex, and nothing is too odd to be shown."""
    assert show(value, of) == text


@given(st.integers(-800_000_000, 800_000_000))
def test_the_calendar_repeats_every_400_years(days: int) -> None:
    """A day 400 years on is the same day of the same month."""
    year, month, day = civil(days)
    assert civil(days + 146_097) == (year + 400, month, day)


@pytest.mark.parametrize(
    ("transform", "value", "text"),
    [
        ("year", 56, "2026"),
        ("year", -1, "1969"),
        ("month", 682, "2026-11"),
        ("month", -1, "1969-12"),
        ("day", 20_775, "2026-11-18"),
        ("hour", 498_609, "2026-11-18-09"),
        ("bucket[16]", 3, "3"),
        ("identity", 1_794_994_200_000_000, "2026-11-18T09:30:00"),
        ("void", None, "null"),
        ("zorder[3]", 7, "1970-01-01T00:00:00.000007"),  # of a later version
    ],
)
def test_parts_of_partitions_as_people_read_them(transform: str, value: object, text: str) -> None:
    """A transform's result is shown as what it stands for."""
    assert show_part(value, transform, Primitive("timestamp")) == text


SCHEMA = Schema(0, Struct((Field("at", Primitive("timestamp"), id=1), Field("region", Primitive("string"), id=2))))
OLD = Schema(1, Struct((Field("price", PRICE, id=3),)))
BY_DAY = PartitionField("day", "day", (1,), 1000)
BY_REGION = PartitionField("region", "identity", (2,), 1001)
BY_PRICE = PartitionField("p/q=", "identity", (3,), 1002)


def test_a_partition_has_a_name() -> None:
    """Field and value joined, by slashes; slashes and equal signs inside are escaped, and nulls are named."""
    spec = PartitionSpec((BY_DAY, BY_REGION), 0)
    assert partition_name(spec, source_types((SCHEMA,)), (20_775, "eu")) == "day=2026-11-18/region=eu"
    assert partition_name(spec, source_types((SCHEMA,)), (None, "a/b=c%")) == "day=null/region=a%2Fb%3Dc%"
    assert partition_name(PartitionSpec((), 0), source_types((SCHEMA,)), ()) == ""


def test_a_dropped_source_is_looked_for_in_older_schemas() -> None:
    """A column that left the schema still tells what its partitions mean; unknown to all, the value is shown raw."""
    spec = PartitionSpec((BY_PRICE,), 0)
    assert partition_name(spec, source_types((OLD, SCHEMA)), (b"\x30\x39",)) == "p%2Fq%3D=123.45"
    assert partition_name(spec, source_types((SCHEMA,)), (b"\x30\x39",)) == "p%2Fq%3D=3039"


def test_the_current_schema_says_what_a_column_is() -> None:
    """A column that was widened is read by its present type."""
    old = Schema(1, Struct((Field("at", Primitive("date"), id=1),)))
    spec = PartitionSpec((PartitionField("at", "identity", (1,), 1000),), 0)
    assert partition_name(spec, source_types((old, SCHEMA)), (0,)) == "at=1970-01-01T00:00:00"


def test_floats_are_written_as_the_nearest_float() -> None:
    """A double that is no float loses digits, as in a column of floats."""
    of = Primitive("float")
    assert decode(encode(0.1, of), of) == 0.10000000149011612
