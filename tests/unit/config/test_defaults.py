"""Default values in Iceberg's JSON single-value form: one canonical writing, and nothing that the type cannot hold."""

from __future__ import annotations

import pytest

from firnline.config.defaults import canonical
from firnline.core.errors import BadInput
from firnline.core.types import Decimal, Fixed, ListOf, Primitive, Type

GOOD = [
    ("boolean", True, True), ("int", -(2**31), -(2**31)), ("long", 2**63 - 1, 2**63 - 1), ("double", 1, 1.0),
    ("string", "no", "no"), ("date", "2026-11-18", "2026-11-18"), ("time", "22:31", "22:31:00"),
    ("time", "22:31:08.120000", "22:31:08.12"), ("timestamp", "2026-11-18 09:30:00", "2026-11-18T09:30:00"),
    ("timestamptz", "2026-11-18T09:30:00Z", "2026-11-18T09:30:00+00:00"),
    ("timestamptz", "2026-11-18T09:30:00.5+02:00", "2026-11-18T07:30:00.5+00:00"),
    ("timestamp_ns", "2026-11-18T09:30:00.123456789", "2026-11-18T09:30:00.123456789"),
    ("uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("binary", "00ff", "00FF"),
]  # fmt: skip
BAD = [
    ("boolean", 1), ("int", 2**31), ("int", True), ("int", 1.5), ("long", 2**63), ("float", 1e39), ("double", "x"),
    ("double", float("inf")), ("string", 1), ("date", "18.11.2026"), ("date", "2026-02-30"), ("time", "25:00"),
    ("time", "22:31:08.1234567"), ("timestamp", "2026-11-18T09:30:00Z"), ("timestamptz", "2026-11-18T09:30:00"),
    ("timestamp", "2026-11-18T09:30:00.1234567"), ("uuid", "x"), ("binary", "0"), ("variant", 1), ("unknown", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "expected"), GOOD)
def test_a_value_has_one_canonical_writing(name: str, value: object, expected: object) -> None:
    """Different writings of one value become the same, and the canonical one stays."""
    assert canonical(value, Primitive(name)) == expected
    assert canonical(expected, Primitive(name)) == expected


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_the_type_cannot_hold_is_refused(name: str, value: object) -> None:
    """Nothing is rounded, cut or guessed."""
    with pytest.raises(BadInput):
        canonical(value, Primitive(name))


@pytest.mark.parametrize(
    ("value", "of", "expected"),
    [
        ("1.5", Decimal(9, 2), "1.50"),
        ("-0.10", Decimal(4, 2), "-0.10"),
        ("1e3", Decimal(9, 0), "1000"),
        ("00ff", Fixed(2), "00FF"),
    ],
)
def test_sized_types(value: str, of: Type, expected: str) -> None:
    """Decimals are written with their scale, fixed bytes in capitals."""
    assert canonical(value, of) == expected


@pytest.mark.parametrize(
    ("value", "of"),
    [
        ("1.555", Decimal(9, 2)),
        ("12345", Decimal(4, 0)),
        ("nan", Decimal(9, 2)),
        ("00", Fixed(2)),
        ([1], ListOf(Primitive("int"))),
    ],
)
def test_sized_types_refuse_what_does_not_fit(value: object, of: Type) -> None:
    """More digits, other lengths, and nested types take no default."""
    with pytest.raises(BadInput):
        canonical(value, of)
