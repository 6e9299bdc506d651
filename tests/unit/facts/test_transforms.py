"""Partition transforms: the hashes and values of the specification."""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.types import Decimal, Fixed, Primitive, Type
from firnline.facts.single_values import Value
from firnline.facts.transforms import bucket_hash, function, murmur3, result_type

MICROS = 1_510_871_468_000_000  # 2017-11-16T22:31:08
DAY = date(2017, 11, 16).toordinal() - date(1970, 1, 1).toordinal()
D = decimal.Decimal

# From appendix B of the specification.
HASHES: list[tuple[Type, Value, int]] = [
    (Primitive("int"), 34, 2017239379),
    (Primitive("long"), 34, 2017239379),
    (Decimal(9, 2), D("14.20"), -500754589),
    (Primitive("date"), DAY, -653330422),
    (Primitive("time"), 81_068_000_000, -662762989),
    (Primitive("timestamp"), MICROS, -2047944441),
    (Primitive("timestamp"), MICROS + 1, -1207196810),
    (Primitive("timestamptz"), MICROS, -2047944441),
    (Primitive("timestamptz"), MICROS + 1, -1207196810),
    (Primitive("timestamp_ns"), MICROS * 1000, -2047944441),
    (Primitive("timestamp_ns"), MICROS * 1000 + 1001, -1207196810),
    (Primitive("timestamptz_ns"), MICROS * 1000, -2047944441),
    (Primitive("string"), "iceberg", 1210000089),
    (Primitive("uuid"), UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), 1488055340),
    (Fixed(4), b"\x00\x01\x02\x03", -188683207),
    (Primitive("binary"), b"\x00\x01\x02\x03", -188683207),
]


@pytest.mark.parametrize(("of", "value", "hashed"), HASHES)
def test_hashes_are_those_of_the_specification(of: Type, value: Value, hashed: int) -> None:
    """Every type that may be bucketed hashes as appendix B has it."""
    assert bucket_hash(value, of) == hashed


@pytest.mark.parametrize(
    ("data", "seed", "hashed"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"\xff" * 4, 0, 0x76293B50),
        (b"!Ce\x87", 0x5082EDEE, 0x2362F9DE),
        (b"!Ce", 0, 0x7E4A8634),
        (b"!C", 0, 0xA0F7B07A),
        (b"!", 0, 0x72661CF4),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
    ],
)
def test_murmur_is_the_published_one(data: bytes, seed: int, hashed: int) -> None:
    """The known vectors of the 32-bit variant, with every length of tail."""
    assert murmur3(data, seed) % 2**32 == hashed


RESULTS: list[tuple[str, Type, Value, Value | None]] = [
    ("identity", Primitive("string"), "x", "x"),
    ("void", Primitive("string"), "x", None),
    ("bucket[16]", Primitive("int"), 34, 3),
    ("bucket[100]", Primitive("string"), "iceberg", 89),
    ("bucket[7]", Primitive("date"), DAY, (-653330422 & 0x7FFFFFFF) % 7),
    ("truncate[10]", Primitive("int"), 1, 0),
    ("truncate[10]", Primitive("int"), -1, -10),
    ("truncate[10]", Primitive("long"), -(2**63) + 8, -(2**63) + 8),
    ("truncate[10]", Primitive("int"), -(2**31), 2**31 - 2),  # goes on from the largest, as in Java
    ("truncate[50]", Decimal(9, 2), D("10.65"), D("10.50")),
    ("truncate[50]", Decimal(9, 2), D("-0.05"), D("-0.50")),
    ("truncate[3]", Primitive("string"), "iceberg", "ice"),
    ("truncate[2]", Primitive("string"), "😀é漢", "😀é"),
    ("truncate[3]", Primitive("binary"), b"\x01\x02\x03\x04", b"\x01\x02\x03"),
    ("year", Primitive("date"), DAY, 47),
    ("month", Primitive("date"), DAY, 574),
    ("day", Primitive("date"), DAY, DAY),
    ("year", Primitive("timestamp"), -1, -1),
    ("month", Primitive("timestamp"), -1, -1),
    ("day", Primitive("timestamptz"), -1, -1),
    ("hour", Primitive("timestamptz"), MICROS, MICROS // 3_600_000_000),
    ("hour", Primitive("timestamp_ns"), -1, -1),
    ("day", Primitive("timestamptz_ns"), MICROS * 1000, DAY),
]  # fmt: skip


@pytest.mark.parametrize(("transform", "of", "value", "result"), RESULTS)
def test_a_value_falls_into_its_partition(transform: str, of: Type, value: Value, result: Value | None) -> None:
    """Each transform gives what Iceberg's writers give, on both sides of zero."""
    compute = function(transform, of)
    assert compute is not None
    assert compute(value) == result


@pytest.mark.parametrize(
    ("transform", "of"),
    [
        ("zorder[3]", Primitive("int")),
        ("bucket[16]", Primitive("double")),
        ("bucket[0]", Primitive("int")),
        ("truncate[4]", Primitive("date")),
        ("hour", Primitive("date")),
        ("identity", Primitive("variant")),
    ],
)
def test_what_cannot_be_computed_has_no_function(transform: str, of: Type) -> None:
    """A transform of a later version, or of a type it does not take, computes nothing rather than something wrong."""
    assert function(transform, of) is None


@pytest.mark.parametrize(
    ("transform", "result"),
    [
        ("identity", Primitive("timestamp")),
        ("void", Primitive("timestamp")),
        ("year", Primitive("int")),
        ("month", Primitive("int")),
        ("day", Primitive("date")),
        ("hour", Primitive("int")),
        ("bucket[4]", Primitive("int")),
        ("zorder[3]", None),
    ],
)
def test_results_have_a_type(transform: str, result: Type | None) -> None:
    """The type of a partition field follows from its transform and its source."""
    assert result_type(transform, Primitive("timestamp")) == result


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_periods_are_those_of_the_calendar(moment: datetime) -> None:
    """Year, month, day and hour count whole periods since 1970, before it too."""
    micros = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    days = moment.toordinal() - date(1970, 1, 1).toordinal()
    expected = {
        "year": moment.year - 1970,
        "month": (moment.year - 1970) * 12 + moment.month - 1,
        "day": days,
        "hour": days * 24 + moment.hour,
    }
    for word, number in expected.items():
        compute = function(word, Primitive("timestamp"))
        assert compute is not None
        assert compute(micros) == number


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 1000))
def test_truncated_numbers_are_multiples_below(number: int, width: int) -> None:
    """Cut numbers are the next multiple at or below, unless none fits the type."""
    compute = function(f"truncate[{width}]", Primitive("int"))
    assert compute is not None
    cut = compute(number)
    assert isinstance(cut, int)
    assert (cut % width == 0 and 0 <= number - cut < width) or number - number % width < -(2**31)
