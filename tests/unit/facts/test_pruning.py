"""Which manifests, partitions and files a filter leaves: the rules of Iceberg's inclusive evaluators, case by case."""

from __future__ import annotations

import struct
from uuid import UUID

import numpy as np
import pytest

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Decimal, Field, Primitive, Struct
from firnline.facts.lines import ManifestLine, Metric, Summary
from firnline.facts.meta import Schema
from firnline.facts.predicates import And, Or, Predicate, Term, parse
from firnline.facts.projections import project
from firnline.facts.pruning import Sieve
from firnline.facts.single_values import Value, encode
from tests.unit.facts.entry_building import File, entries

I, D, S, U, P, B, T, DAY, F, SUB, N = range(1, 12)  # noqa: E741 -- the ids of the columns, by their names
SCHEMA = Schema(
    0,
    Struct(
        (
            Field("i", Primitive("int"), id=I),
            Field("d", Primitive("double"), id=D),
            Field("s", Primitive("string"), id=S),
            Field("u", Primitive("uuid"), id=U),
            Field("p", Decimal(9, 2), id=P),
            Field("b", Primitive("boolean"), id=B),
            Field("t", Primitive("timestamp"), id=T),
            Field("day", Primitive("date"), id=DAY),
            Field("f", Primitive("float"), id=F),
            Field("o", Struct((Field("x", Primitive("long"), id=N),)), id=SUB),
        )
    ),
)
LOW, HIGH = UUID("00000000-0000-0000-0000-000000000001"), UUID("f0000000-0000-0000-0000-000000000001")


def number(value: int) -> bytes:
    """The bound of an int."""
    return encode(value, Primitive("int"))


def double(value: float) -> bytes:
    """The bound of a double."""
    return encode(value, Primitive("double"))


def sieve(where: str, *fields: PartitionField) -> Sieve:
    """The filter on a table with one spec."""
    return Sieve.of(parse(where, SCHEMA), [PartitionSpec(fields, 0)], [SCHEMA])


def left(where: str, file: File) -> bool:
    """Whether the metrics of a file leave it."""
    return bool(sieve(where).files(entries([file]), np.array([0]))[0])


FIVE_TO_NINE = File(records=4, values={I: 4}, nulls={I: 0}, lower={I: number(5)}, upper={I: number(9)})
SOME_NULL = File(records=4, values={I: 4}, nulls={I: 1}, lower={I: number(5)}, upper={I: number(9)})
ALL_NULL = File(records=4, values={I: 4, D: 4, S: 4}, nulls={I: 4, D: 4, S: 4})
ONLY_SEVEN = File(records=4, values={I: 4}, nulls={I: 0}, lower={I: number(7)}, upper={I: number(7)})
UNTOLD = File(records=4)
EMPTY = File(records=0)
UNCOUNTED = File(records=-1, values={I: 4}, nulls={I: 0}, lower={I: number(5)}, upper={I: number(9)})
NO_LOWER = File(records=4, values={I: 4}, nulls={I: 0}, upper={I: number(9)})
NO_UPPER = File(records=4, values={I: 4}, nulls={I: 0}, lower={I: number(5)})
DAMAGED = File(records=4, values={I: 4}, nulls={I: 0}, lower={I: b"\x05"}, upper={I: b"\x09"})
DOUBLES = File(values={D: 4}, nulls={D: 0}, nans={D: 0}, lower={D: double(1.5)}, upper={D: double(2.5)})
SOME_NAN = File(values={D: 4}, nulls={D: 0}, nans={D: 1}, lower={D: double(1.5)}, upper={D: double(1.5)})
ALL_NAN = File(values={D: 4}, nulls={D: 0}, nans={D: 4})
NAN_BOUNDS = File(values={D: 4}, nulls={D: 0}, lower={D: double(float("nan"))}, upper={D: double(float("nan"))})
BELOW_ZERO = File(values={D: 4}, nulls={D: 0}, nans={D: 0}, lower={D: double(-0.0)}, upper={D: double(-0.0)})
ZERO = File(values={D: 4}, nulls={D: 0}, nans={D: 0}, lower={D: double(0.0)}, upper={D: double(0.0)})
TEXTS = File(values={S: 4}, nulls={S: 0}, lower={S: b"bar"}, upper={S: b"baz"})
NUL_TEXT = File(values={S: 4}, nulls={S: 0}, lower={S: b"a\x00"}, upper={S: b"a\x00"})
UUIDS = File(values={U: 2}, nulls={U: 0}, lower={U: LOW.bytes}, upper={U: HIGH.bytes})
JAVA_UUIDS = File(values={U: 2}, nulls={U: 0}, lower={U: HIGH.bytes}, upper={U: LOW.bytes})
PRICES = File(values={P: 2}, nulls={P: 0}, lower={P: b"\xff"}, upper={P: b"\x00\xff"})  # -0.01 to 2.55
FALSE_ONLY = File(values={B: 2}, nulls={B: 0}, lower={B: b"\0"}, upper={B: b"\0"})
WAS_INT = File(values={N: 2}, nulls={N: 0}, lower={N: number(5)}, upper={N: number(9)})
WAS_DATE = File(values={T: 2}, nulls={T: 0}, lower={T: number(5)}, upper={T: number(9)})
WAS_FLOAT = File(values={D: 2}, nulls={D: 0}, lower={D: struct.pack("<f", 1.5)}, upper={D: struct.pack("<f", 2.5)})
MANY = ", ".join(str(number) for number in range(100, 301))

METRICS: list[tuple[str, File, bool]] = [
    ("i < 5", FIVE_TO_NINE, False),
    ("i < 6", FIVE_TO_NINE, True),
    ("i <= 4", FIVE_TO_NINE, False),
    ("i <= 5", FIVE_TO_NINE, True),
    ("i > 9", FIVE_TO_NINE, False),
    ("i > 8", FIVE_TO_NINE, True),
    ("i >= 10", FIVE_TO_NINE, False),
    ("i >= 9", FIVE_TO_NINE, True),
    ("i = 4", FIVE_TO_NINE, False),
    ("i = 5", FIVE_TO_NINE, True),
    ("i = 10", FIVE_TO_NINE, False),
    ("i IN (1, 4, 10)", FIVE_TO_NINE, False),
    ("i IN (1, 9)", FIVE_TO_NINE, True),
    ("i IN (10, 11)", FIVE_TO_NINE, False),
    ("i BETWEEN 1 AND 4", FIVE_TO_NINE, False),
    ("i NOT BETWEEN 1 AND 10", FIVE_TO_NINE, False),
    ("i = 1 OR i = 7", FIVE_TO_NINE, True),
    ("i = 1 AND i = 7", FIVE_TO_NINE, False),
    (f"i IN ({MANY})", FIVE_TO_NINE, True),  # 201 literals: not looked at
    (f"i IN ({MANY})", ALL_NULL, False),
    (f"i IN ({MANY}, 100) AND i IN ({MANY.removesuffix(', 300')})", FIVE_TO_NINE, False),  # 200 are
    ("i != 7", FIVE_TO_NINE, True),
    ("i != 7", ONLY_SEVEN, False),
    ("i NOT IN (7, 8)", ONLY_SEVEN, False),
    ("i NOT IN (6, 8)", ONLY_SEVEN, True),
    (f"i NOT IN ({MANY}, 7)", ONLY_SEVEN, False),  # no limit here
    ("i IS NULL", FIVE_TO_NINE, False),
    ("i IS NULL", SOME_NULL, True),
    ("i IS NULL", UNTOLD, True),
    ("i IS NOT NULL", SOME_NULL, True),
    ("i IS NOT NULL", ALL_NULL, False),
    ("i IS NOT NULL", UNTOLD, True),
    ("i < 5", ALL_NULL, False),
    ("i = 5", ALL_NULL, False),
    ("i != 5", ALL_NULL, False),
    ("i NOT IN (5, 6)", ALL_NULL, False),
    ("i = 1", UNTOLD, True),
    ("i < 1", UNTOLD, True),
    ("i IS NULL", EMPTY, False),
    ("s LIKE '%x'", EMPTY, False),
    ("i = 1", UNCOUNTED, True),
    ("i = 1", NO_LOWER, True),
    ("i = 10", NO_LOWER, False),
    ("i IN (10, 11)", NO_LOWER, True),  # Iceberg asks for the lower bound first
    ("i IN (1, 2)", NO_UPPER, False),
    ("i IN (1, 12)", NO_UPPER, True),
    ("i > 100", NO_UPPER, True),
    ("i > 100", DAMAGED, True),
    ("d < 1.5", DOUBLES, False),
    ("d > 2.5", DOUBLES, False),
    ("d IS NAN", DOUBLES, False),
    ("d IS NAN", SOME_NAN, True),
    ("d IS NAN", UNTOLD, True),
    ("d IS NAN", ALL_NULL, False),
    ("d IS NOT NAN", ALL_NAN, False),
    ("d IS NOT NAN", SOME_NAN, True),
    ("d = 1.5", ALL_NAN, False),
    ("d > 1.5", ALL_NAN, False),
    ("d > 5", SOME_NAN, False),  # NaN compares with nothing
    ("d != 1.5", SOME_NAN, True),
    ("d != 1.5", ALL_NAN, True),
    ("d < 1", NAN_BOUNDS, True),
    ("d > 1", NAN_BOUNDS, True),
    ("d = 1", NAN_BOUNDS, True),
    ("d IN (1, 2)", NAN_BOUNDS, True),
    ("d = 0", BELOW_ZERO, True),
    ("d = -0.0", ZERO, True),
    ("d >= 0", BELOW_ZERO, True),
    ("d <= -0.0", ZERO, True),
    ("d IN (0, 1)", BELOW_ZERO, True),
    ("d > 0", BELOW_ZERO, False),
    ("d < -0.0", ZERO, False),
    ("d != 0", ZERO, False),
    ("d != 0", BELOW_ZERO, True),
    ("s LIKE 'ba%'", TEXTS, True),
    ("s LIKE 'bar%'", TEXTS, True),
    ("s LIKE 'bara%'", TEXTS, True),
    ("s LIKE 'c%'", TEXTS, False),
    ("s LIKE 'a%'", TEXTS, False),
    ("s LIKE 'bb%'", TEXTS, False),
    ("s LIKE '%'", TEXTS, True),
    ("s LIKE 'x%'", ALL_NULL, False),
    ("s LIKE 'x%'", UNTOLD, True),
    ("s NOT LIKE 'ba%'", TEXTS, False),
    ("s NOT LIKE 'bar%'", TEXTS, True),
    ("s NOT LIKE 'ba%'", ALL_NULL, False),
    ("s NOT LIKE 'bazz%'", TEXTS, True),
    ("s LIKE 'b_r'", TEXTS, True),
    ("s = 'a'", NUL_TEXT, False),
    ("s > 'a'", NUL_TEXT, True),
    ("s != 'a\0'", NUL_TEXT, False),
    (f"u = '{LOW}'", UUIDS, True),
    (f"u = '{HIGH}'", JAVA_UUIDS, True),
    ("u = '70000000-0000-0000-0000-000000000000'", UUIDS, True),
    ("u > '70000000-0000-0000-0000-000000000000'", UUIDS, True),  # in Java's order the upper bound lies below
    ("u > 'f1000000-0000-0000-0000-000000000000'", UUIDS, False),
    ("u < '00000000-0000-0000-0000-000000000000'", UUIDS, False),
    (f"u != '{LOW}'", UUIDS, True),
    ("p = 2.55", PRICES, True),
    ("p > 2.55", PRICES, False),
    ("p < -0.01", PRICES, False),
    ("p IN (3, 4)", PRICES, False),
    ("b = true", FALSE_ONLY, False),
    ("b != false", FALSE_ONLY, False),
    ("o.x = 4", WAS_INT, False),
    ("o.x = 5", WAS_INT, True),
    ("t = '1970-01-01T00:00:01'", WAS_DATE, True),
    ("d > 2.5", WAS_FLOAT, False),
    ("d = 2.5", WAS_FLOAT, True),
]


@pytest.mark.parametrize(("where", "file", "is_left"), METRICS)
def test_metrics_of_a_file(where: str, file: File, is_left: bool) -> None:
    """A file is left out when its counts and bounds show that no row passes, and only then."""
    assert left(where, file) is is_left


def summary(lower: Value, upper: Value, *, of: str, null: bool = False, nan: bool | None = None) -> Summary:
    """A summary with bounds of a type."""
    return Summary(null, nan, encode(lower, Primitive(of)), encode(upper, Primitive(of)))


BY_I = PartitionField("i", "identity", (I,), 1000)
BY_D = PartitionField("d", "identity", (D,), 1000)
BY_S = PartitionField("s", "identity", (S,), 1000)
INTS = summary(5, 9, of="int")
INTS_NULL = summary(5, 9, null=True, of="int")
NULLS = Summary(contains_null=True, contains_nan=None, lower=None, upper=None)
NULLS_OR_NANS = Summary(contains_null=True, contains_nan=None, lower=None, upper=None)
NANS = Summary(contains_null=False, contains_nan=True, lower=None, upper=None)
NOTHING = Summary(contains_null=False, contains_nan=None, lower=None, upper=None)
SEVEN = summary(7, 7, of="int")

SUMMARIES: list[tuple[str, PartitionField, Summary, bool]] = [
    ("i = 4", BY_I, INTS, False),
    ("i = 5", BY_I, INTS, True),
    ("i < 5", BY_I, INTS, False),
    ("i > 9", BY_I, INTS, False),
    ("i IN (1, 20)", BY_I, INTS, False),
    (f"i IN ({MANY})", BY_I, INTS, True),
    ("i IS NULL", BY_I, INTS, False),
    ("i IS NULL", BY_I, INTS_NULL, True),
    ("i IS NOT NULL", BY_I, NULLS, False),
    ("i < 5", BY_I, NULLS, False),
    ("i = 5", BY_I, NULLS, False),
    ("i != 5", BY_I, NULLS, False),
    ("i != 7", BY_I, SEVEN, False),
    ("i NOT IN (7, 8)", BY_I, SEVEN, False),
    ("i != 7", BY_I, summary(7, 7, null=True, of="int"), True),
    ("i = 5", BY_I, NOTHING, True),  # bounds that were not kept
    ("d = 5", BY_D, NANS, False),
    ("d IS NAN", BY_D, NANS, True),
    ("d IS NOT NAN", BY_D, NANS, False),
    ("d IS NAN", BY_D, summary(1.0, 2.0, nan=False, of="double"), False),
    ("d IS NAN", BY_D, summary(1.0, 2.0, of="double"), True),
    ("d IS NOT NULL", BY_D, NULLS_OR_NANS, True),  # some may be NaN
    ("d IS NOT NULL", BY_D, Summary(contains_null=True, contains_nan=False, lower=None, upper=None), False),
    ("d != 1", BY_D, summary(1.0, 1.0, of="double"), True),
    ("d != 1", BY_D, summary(1.0, 1.0, nan=False, of="double"), False),
    ("s LIKE 'ba%'", BY_S, summary("bar", "baz", of="string"), True),
    ("s LIKE 'c%'", BY_S, summary("bar", "baz", of="string"), False),
    ("s NOT LIKE 'ba%'", BY_S, summary("bar", "baz", of="string"), False),
    ("s NOT LIKE 'ba%'", BY_S, summary("bar", "baz", null=True, of="string"), True),
    ("i = 4 OR s = 'x'", BY_I, INTS, True),
    ("i = 4 AND s = 'x'", BY_I, INTS, False),
]


@pytest.mark.parametrize(("where", "field", "found", "is_left"), SUMMARIES)
def test_summaries_of_a_manifest(where: str, field: PartitionField, found: Summary, is_left: bool) -> None:
    """A manifest is left out when the ranges of its partitions show that no file can hold a row that passes."""
    assert sieve(where, field).manifests([ManifestLine("m", spec_id=0, partitions=(found,))]).tolist() == [is_left]


def test_manifests_of_which_little_is_known_are_left() -> None:
    """No summaries, too few of them, a spec that is not there, or one of several that is not told: all are kept."""
    outside = (summary(1, 2, of="int"),)
    lines = [
        ManifestLine("none", spec_id=0),
        ManifestLine("few", spec_id=0, partitions=()),
        ManifestLine("gone", spec_id=9, partitions=outside),
        ManifestLine("untold", partitions=outside),
        ManifestLine("told", spec_id=0, partitions=outside),
    ]
    specs = [PartitionSpec((BY_I,), 0), PartitionSpec((BY_D,), 1)]
    several = Sieve.of(parse("i = 5", SCHEMA), specs, [SCHEMA])
    assert several.manifests(lines).tolist() == [True, True, True, True, False]
    assert several.manifests([]).tolist() == []
    only = Sieve.of(parse("i = 5", SCHEMA), specs[:1], [SCHEMA])
    assert only.manifests(lines).tolist() == [True, True, True, False, False]


VALUES: list[tuple[str, PartitionField, object, bool]] = [
    ("i = 5", BY_I, 5, True),
    ("i = 5", BY_I, 6, False),
    ("i < 5", BY_I, None, True),  # Iceberg sorts a null partition before every value
    ("i <= 5", BY_I, None, True),
    ("i > 5", BY_I, None, False),
    ("i = 5", BY_I, None, False),
    ("i != 5", BY_I, None, False),
    ("i NOT IN (5, 6)", BY_I, None, False),
    ("i IN (5, 6)", BY_I, None, False),
    ("i IS NULL", BY_I, None, True),
    ("i IS NULL", BY_I, 5, False),
    ("i IS NOT NULL", BY_I, None, False),
    (f"i IN ({MANY})", BY_I, 5, False),  # no limit on values
    ("i = 5", BY_I, "five", True),  # no value of the type
    ("i IS NULL", BY_I, "five", True),
    ("d IS NAN", BY_D, "five", True),
    ("d < 5", BY_D, float("nan"), False),
    ("d > 5", BY_D, float("nan"), True),  # and NaN after
    ("d = 5", BY_D, float("nan"), False),
    ("d IS NAN", BY_D, float("nan"), True),
    ("d IS NAN", BY_D, None, False),
    ("d IS NOT NAN", BY_D, float("nan"), False),
    ("d IS NOT NAN", BY_D, None, True),
    ("d = 0", BY_D, -0.0, True),
    ("s LIKE 'ab%'", BY_S, "abc", True),
    ("s LIKE 'ab%'", BY_S, "a", False),
    ("s LIKE 'ab%'", BY_S, None, False),
    ("s NOT LIKE 'ab%'", BY_S, "abc", False),
    ("s NOT LIKE 'ab%'", BY_S, "a", True),
    ("s NOT LIKE 'ab%'", BY_S, None, False),
    ("p = 2.55", PartitionField("p", "identity", (P,), 1000), b"\x00\xff", True),
    ("p = 2.56", PartitionField("p", "identity", (P,), 1000), b"\x00\xff", False),
    (f"u = '{LOW}'", PartitionField("u", "identity", (U,), 1000), LOW.bytes, True),
    (f"u = '{LOW}'", PartitionField("u", "identity", (U,), 1000), HIGH.bytes, False),
    ("i = 5", PartitionField("i", "void", (I,), 1000), None, True),
    ("i = 5", PartitionField("i", "zorder[2]", (I,), 1000), 1, True),
    ("i = 5", PartitionField("i", "bucket[4]", (I, D), 1000), 1, True),  # of several sources
    ("i = 5", PartitionField("i", "identity", (77,), 1000), 6, True),  # its source is another column
    ("i = 5", PartitionField("i", "identity", (I,), 4711), 6, True),  # not in the manifest
]


@pytest.mark.parametrize(("where", "field", "value", "is_left"), VALUES)
def test_values_of_a_partition(where: str, field: PartitionField, value: object, is_left: bool) -> None:
    """A file is left out when its partition shows that no row passes, and only then."""
    batch = entries([File(partition=(value,))], ids=(1000,))
    kept = sieve(where, field).partitions(batch)
    assert kept.tolist() == [is_left]


def test_entries_are_held_against_their_own_spec() -> None:
    """The same partition means another thing under another spec; under an unknown one, or one of several that is not
    told, it is kept.
    """
    specs = [PartitionSpec((BY_I,), 0), PartitionSpec((PartitionField("i", "truncate[10]", (I,), 1000),), 1)]
    two = Sieve.of(parse("i = 15", SCHEMA), specs, [SCHEMA])
    one = Sieve.of(parse("i = 15", SCHEMA), specs[:1], [SCHEMA])
    files = [File(partition=(each,)) for each in (10, 15, 10)]
    for found, spec_id, kept in (
        (two, 0, [False, True, False]),
        (two, 1, [True, False, True]),
        (two, 9, [True, True, True]),
        (two, None, [True, True, True]),
        (one, None, [False, True, False]),
    ):
        assert found.partitions(entries(files, ids=(1000,), spec_id=spec_id)).tolist() == kept


def projected(where: str, transform: str) -> object:
    """A filter on partitions in short."""

    def said(predicate: Predicate) -> object:
        match predicate:
            case Term(test=test, values=values):
                return (test, *values)
            case And((part,)):
                return said(part)
            case And(parts) | Or(parts):
                return [said(part) for part in parts]
            case _:
                return None

    predicate = parse(where, SCHEMA)
    column = next(iter(predicate.parts if isinstance(predicate, And | Or) else [predicate]))
    assert isinstance(column, Term)
    field = PartitionField("x", transform, (column.column.id,), 1000)
    return said(project(predicate, PartitionSpec((field,), 0)))


PROJECTIONS: list[tuple[str, str, object]] = [
    ("i < 10", "identity", ("<", 10)),
    ("d IS NAN", "identity", ("is nan",)),
    ("i = 34", "bucket[16]", ("=", 3)),
    ("i IN (34, 50)", "bucket[1]", ("=", 0)),
    ("i < 34", "bucket[16]", None),
    ("i != 34", "bucket[16]", [("is not null",), None]),
    ("i NOT IN (1, 2)", "bucket[16]", [("is not null",), None]),
    ("i IS NULL", "bucket[16]", ("is null",)),
    ("i IS NOT NULL", "truncate[4]", ("is not null",)),
    ("i < 10", "truncate[10]", [("<=", 0), (">=", 2**31 - 2)]),  # -2**31 is cut to 2**31 - 2
    ("i <= 10", "truncate[10]", [("<=", 10), (">=", 2**31 - 2)]),
    ("i > 9", "truncate[10]", (">=", 10)),
    ("i >= -2147483648", "truncate[10]", None),
    ("i >= -2147483648", "truncate[8]", (">=", -(2**31))),
    ("i < 10", "truncate[8]", ("<=", 8)),
    ("i != 10", "truncate[10]", [("is not null",), None]),
    ("i NOT IN (10, 20)", "truncate[10]", [("is not null",), None]),
    ("s < 'abcd'", "truncate[3]", ("<=", "abc")),
    ("s >= 'abcd'", "truncate[3]", (">=", "abc")),
    ("s != 'abcd'", "truncate[3]", [("is not null",), None]),
    ("s IN ('abcd', 'abce')", "truncate[3]", ("=", "abc")),
    ("s LIKE 'ab%'", "truncate[3]", ("starts with", "ab")),
    ("s LIKE 'abc%'", "truncate[3]", ("=", "abc")),
    ("s LIKE 'abcd%'", "truncate[3]", ("starts with", "abc")),
    ("s NOT LIKE 'ab%'", "truncate[3]", [("is not null",), ("not starts with", "ab")]),
    ("s NOT LIKE 'abc%'", "truncate[3]", [("is not null",), ("!=", "abc")]),
    ("s NOT LIKE 'abcd%'", "truncate[3]", [("is not null",), None]),
    ("s LIKE '😀%'", "truncate[2]", ("starts with", "😀")),  # widths count letters, not Java's chars
    ("t < '1970-01-02T00:00:00'", "day", ("<=", 0)),
    ("t <= '1970-01-02T00:00:00'", "day", ("<=", 1)),
    ("t > '1970-01-01T23:59:59.999999'", "day", (">=", 1)),
    ("t >= '1970-01-02T00:00:00'", "hour", (">=", 24)),
    ("t = '1970-03-01T00:00:00'", "month", ("=", 2)),
    ("t != '1970-03-01T00:00:00'", "month", [("is not null",), None]),
    # Old writers put times before 1970 one period too late.
    ("t < '1969-12-31T00:00:00'", "day", ("<=", -1)),
    ("t = '1969-12-31T12:00:00'", "day", ("in", -1, 0)),
    ("t > '1969-12-31T12:00:00'", "day", (">=", -1)),
    ("day = '1969-12-31'", "day", ("=", -1)),
    ("day = '1969-12-31'", "year", ("in", -1, 0)),
    ("day < '1969-01-01'", "year", ("<=", -1)),
]


@pytest.mark.parametrize(("where", "transform", "expected"), PROJECTIONS)
def test_a_filter_on_rows_becomes_one_on_partitions(where: str, transform: str, expected: object) -> None:
    """Each test is projected as Iceberg's inclusive projection has it; what says nothing of partitions always holds."""
    assert projected(where, transform) == expected


def test_a_column_that_was_a_date_narrows_no_partition() -> None:
    """A date that became a timestamp: numbers in old partitions count days, so they are not held against it."""
    were = Schema(1, Struct((Field("t", Primitive("date"), id=T),)))
    spec = PartitionSpec((PartitionField("t", "identity", (T,), 1000),), 0)
    batch = entries([File(partition=(20_000,))], ids=(1000,))
    for schemas, kept in (([SCHEMA], False), ([were, SCHEMA], True)):
        found = Sieve.of(parse("t = '2026-11-18T00:00:00'", SCHEMA), [spec], schemas)
        assert found.partitions(batch).tolist() == [kept]


def test_only_what_the_filter_names_is_asked_for() -> None:
    """Bounds and counts of the columns of the filter, NaN counts for floats, nothing else."""
    wanted = sieve("i = 1 AND NOT f > 2").wanted
    common = {Metric.VALUES, Metric.NULLS, Metric.LOWER, Metric.UPPER}
    assert wanted.metrics == {(each, I) for each in common} | {(each, F) for each in common | {Metric.NANS}}
