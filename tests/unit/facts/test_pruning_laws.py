"""No file that holds a row which passes is ever left out, whatever the rows, the spec, the metrics and the filter."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Decimal, Field, Primitive, Struct, Type
from firnline.facts import transforms
from firnline.facts.lines import ManifestLine, Summary
from firnline.facts.meta import Schema
from firnline.facts.predicates import parse
from firnline.facts.pruning import Sieve
from firnline.facts.single_values import Value, encode, encode_decimal, order_key, scaled, show, unscaled
from tests.unit.facts.entry_building import File, entries

Row: TypeAlias = dict[int, Any]
Truth: TypeAlias = bool | None  # None: unknown, as SQL has it
PRICE = Decimal(5, 2)
INT_ENDS = (-(2**31), -(2**31) + 3, 2**31 - 1)
LETTERS = "ab\U0001f600é~\x00\ud7ff\U0010ffff"


@dataclass(frozen=True)
class Kind:
    """A type with values to draw, how a filter writes them, and the transforms it is partitioned by."""

    of: Type
    values: st.SearchStrategy[Any]
    written: Callable[[Any], str]
    transforms: tuple[str, ...]


def quoted(text: str) -> str:
    """A text as a filter has it."""
    return "'" + text.replace("'", "''") + "'"


def shown(of: Type) -> Callable[[Any], str]:
    """How values of a type that are written as texts stand in a filter."""
    return lambda value: quoted(show(value, of))


DATES = ("identity", "year", "month", "day", "bucket[3]", "void")
TIMES = (*DATES, "hour")
CUTS = ("identity", "bucket[3]", "truncate[2]", "truncate[1]", "void")
FLOATS = st.sampled_from([0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf, 0.1, 3.0e38])
KINDS = {
    1: Kind(Primitive("int"), st.integers(-12, 12) | st.sampled_from(INT_ENDS), str, (*CUTS, "truncate[10]")),
    2: Kind(Primitive("long"), st.integers(-12, 12) | st.just(-(2**63)), str, (*CUTS, "truncate[10]")),
    3: Kind(Primitive("double"), FLOATS, repr, ("identity",)),
    4: Kind(Primitive("string"), st.text(LETTERS, max_size=5), quoted, CUTS),
    5: Kind(Primitive("binary"), st.binary(max_size=4), lambda value: f"X'{value.hex()}'", CUTS),
    6: Kind(Primitive("date"), st.integers(-800, 800), shown(Primitive("date")), DATES),
    7: Kind(
        Primitive("timestamp"),
        st.integers(-3 * 10**12, 3 * 10**12) | st.integers(-50, 50).map(lambda hour: hour * 3_600_000_000),
        shown(Primitive("timestamp")),
        TIMES,
    ),
    8: Kind(
        PRICE,
        st.integers(-300, 300).map(lambda number: scaled(number, 2)),
        str,
        ("identity", "bucket[3]", "truncate[50]"),
    ),
    9: Kind(
        Primitive("uuid"),
        st.sampled_from([UUID(int=number << 56) for number in (0, 1, 1 << 70, 1 << 71, (1 << 72) - 1)]),
        shown(Primitive("uuid")),
        ("identity", "bucket[3]"),
    ),
    10: Kind(Primitive("boolean"), st.booleans(), lambda value: str(value).lower(), ("identity",)),
    11: Kind(Primitive("timestamp_ns"), st.integers(-(10**15), 10**15), shown(Primitive("timestamp_ns")), TIMES),
}
SCHEMA = Schema(
    0,
    Struct(
        (
            *(Field(f"c{key}", kind.of, id=key) for key, kind in KINDS.items() if key != 2),
            Field("inside", Struct((Field("c2", Primitive("long"), id=2),)), id=90),
        )
    ),
)
NAMES = {key: f"c{key}" if key != 2 else "inside.c2" for key in KINDS}


# ------------------------------------------------------------------------------------- filters and what they mean


@dataclass(frozen=True)
class Filter:
    """A filter as text, and the truth of it for a row, told without anything of ours."""

    text: str
    holds: Callable[[Row], Truth]


def compare(sign: str, value: Any) -> Callable[[Any], Truth]:
    """What a comparison says of a value. NaN and null compare with nothing."""

    def holds(cell: Any) -> Truth:
        if cell is None or (isinstance(cell, float) and math.isnan(cell) and sign not in {"=", "!="}):
            return None
        return {
            "=": lambda: cell == value, "!=": lambda: cell != value, "<": lambda: cell < value,
            "<=": lambda: cell <= value, ">": lambda: cell > value, ">=": lambda: cell >= value,
        }[sign]()  # fmt: skip

    return holds


@st.composite
def single_tests(draw: st.DrawFn) -> Filter:
    """One test of one column."""
    key = draw(st.sampled_from(sorted(KINDS)))
    kind, name = KINDS[key], NAMES[key]
    number = st.floats(allow_nan=False, allow_infinity=False, width=16) | st.sampled_from([0.0, -0.0, 1.5, 0.1])
    literals = number if kind.of == Primitive("double") else kind.values

    def made(text: str, holds: Callable[[Any], Truth]) -> Filter:
        return Filter(f"{name} {text}", lambda row: holds(row[key]))

    how = draw(st.sampled_from(["compare", "compare", "in", "between", "null", "nan", "like"]))
    if how == "null":
        return made("IS NULL", lambda cell: cell is None)
    if how == "nan" and key == 3:
        return made("IS NAN", lambda cell: None if cell is None else math.isnan(cell))
    if how == "like" and key == 4:
        prefix = draw(st.text(LETTERS, max_size=4))
        return made(f"LIKE {quoted(prefix + '%')}", lambda cell: None if cell is None else cell.startswith(prefix))
    if how == "in":
        chosen = draw(st.lists(literals, min_size=1, max_size=4))
        text = ", ".join(map(kind.written, chosen))
        return made(f"IN ({text})", lambda cell: None if cell is None else cell in chosen)
    if how == "between":
        low, high = draw(literals), draw(literals)
        text = f"BETWEEN {kind.written(low)} AND {kind.written(high)}"
        return made(text, lambda cell: both(compare(">=", low)(cell), compare("<=", high)(cell)))
    sign, value = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), draw(literals)
    return made(f"{sign} {kind.written(value)}", compare(sign, value))


def negated(one: Truth) -> Truth:
    """SQL's NOT."""
    return None if one is None else not one


def both(one: Truth, other: Truth) -> Truth:
    """SQL's AND."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def extended(inside: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    """Filters around filters."""
    pairs = st.tuples(inside, inside)
    return (
        inside.map(lambda one: Filter(f"NOT ({one.text})", lambda row: negated(one.holds(row))))
        | pairs.map(lambda two: Filter(
            f"({two[0].text}) AND ({two[1].text})", lambda row: both(two[0].holds(row), two[1].holds(row))))
        | pairs.map(lambda two: Filter(
            f"({two[0].text}) OR ({two[1].text})",
            lambda row: negated(both(negated(two[0].holds(row)), negated(two[1].holds(row))))))
    )  # fmt: skip


FILTERS = st.recursive(single_tests(), extended, max_leaves=5)


# ------------------------------------------------------------------------------------------- files and what they say


@st.composite
def specs(draw: st.DrawFn) -> PartitionSpec:
    """A spec of up to three fields."""
    keys = draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=3))
    return PartitionSpec(
        tuple(
            PartitionField(f"p{at}", draw(st.sampled_from(KINDS[key].transforms)), (key,), 1000 + at)
            for at, key in enumerate(keys)
        ),
        0,
    )


def partition_of(spec: PartitionSpec, row: Row) -> tuple[Value | None, ...]:
    """The partition a writer puts a row in."""
    found = []
    for field in spec.fields:
        key = field.source_ids[0]
        compute = transforms.function(field.transform, KINDS[key].of)
        assert compute is not None
        found.append(None if row[key] is None else compute(row[key]))
    return tuple(found)


def stored(value: Value | None) -> object:
    """A part of a partition as manifests hold it."""
    match value:
        case decimal.Decimal():
            return encode_decimal(unscaled(value, PRICE.scale))
        case UUID():
            return value.bytes
        case _:
            return value


def in_order(values: Sequence[Value], of: Type) -> tuple[Value, Value] | None:
    """The least and the greatest, NaN left out."""
    comparable = [value for value in values if order_key(value, of) is not None]
    if not comparable:
        return None
    ordered = sorted(comparable, key=lambda value: order_key(value, of))  # type: ignore[arg-type, return-value]
    return ordered[0], ordered[-1]


def cut(low: Value, high: Value, of: Type) -> tuple[bytes, bytes | None]:
    """Bounds as writers shorten them: the lower one to its beginning, the upper one to the next beginning above."""
    if isinstance(low, str) and isinstance(high, str):
        return encode(low[:2], of), high.encode() if len(high) <= 2 else _above(high[:2])
    if isinstance(low, bytes) and isinstance(high, bytes):
        kept = high[:2].rstrip(b"\xff")
        return low[:2], high if len(high) <= 2 else kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    return encode(low, of), encode(high, of)


def _above(text: str) -> bytes | None:
    while text:
        following = ord(text[-1]) + 1
        following = 0xE000 if following == 0xD800 else following
        if following <= 0x10FFFF:
            return (text[:-1] + chr(following)).encode()
        text = text[:-1]
    return None


@st.composite
def metrics(draw: st.DrawFn, rows: Sequence[Row]) -> dict[str, dict[int, Any]]:
    """What a writer keeps of its rows: everything, or less."""
    found: dict[str, dict[int, Any]] = {"values": {}, "nulls": {}, "nans": {}, "lower": {}, "upper": {}}
    for key, kind in KINDS.items():
        column = [row[key] for row in rows if row[key] is not None]
        nans = sum(isinstance(value, float) and math.isnan(value) for value in column)
        counts = {"values": len(rows), "nulls": len(rows) - len(column), "nans": nans}
        kept = draw(st.sampled_from(["all", "all", "no nans", "counts", "bounds", "lower", "nothing"]))
        if kept in {"all", "no nans", "counts"}:
            names = ("values", "nulls") if kept == "no nans" or key != 3 else ("values", "nulls", "nans")
            for name in names:
                found[name][key] = counts[name]
        ends = in_order(column, kind.of)
        if ends is None or kept in {"counts", "nothing"}:
            continue
        lower, upper = cut(*ends, kind.of)
        found["lower"][key] = lower
        if upper is not None and kept != "lower":
            found["upper"][key] = upper
    return found


def summary_of(spec: PartitionSpec, partitions: Sequence[tuple[Value | None, ...]]) -> tuple[Summary, ...]:
    """What a manifest list says of these partitions."""
    found = []
    for at, field in enumerate(spec.fields):
        of = transforms.result_type(field.transform, KINDS[field.source_ids[0]].of)
        assert of is not None
        column = [partition[at] for partition in partitions]
        ends = in_order([value for value in column if value is not None], of)
        nan = any(isinstance(value, float) and math.isnan(value) for value in column)
        low, high = (None, None) if ends is None else (encode(ends[0], of), encode(ends[1], of))
        found.append(Summary(any(value is None for value in column), nan, low, high))
    return tuple(found)


ROWS = st.fixed_dictionaries({key: st.none() | kind.values for key, kind in KINDS.items()})


@settings(max_examples=300, deadline=None)
@given(st.data(), specs(), st.lists(st.lists(ROWS, min_size=1, max_size=4), min_size=1, max_size=4), FILTERS)
def test_what_passes_is_never_left_out(
    data: st.DataObject, spec: PartitionSpec, groups: list[list[Row]], where: Filter
) -> None:
    """Manifest, partition and metrics of every file with a row that passes leave it, for any filter and any metrics."""
    files: list[File] = []
    held: list[list[Row]] = []
    partitions: list[tuple[Value | None, ...]] = []
    for group in groups:
        for partition, rows in _by_partition(spec, group):
            found = data.draw(metrics(rows))
            files.append(File(partition=tuple(map(stored, partition)), records=len(rows), **found))
            held.append(rows)
            partitions.append(partition)
    sieve = Sieve.of(parse(where.text, SCHEMA), [spec], [SCHEMA])
    ids = tuple(field.field_id or 0 for field in spec.fields)
    batch = entries(files, ids=ids)
    line = ManifestLine("m", spec_id=0, partitions=summary_of(spec, partitions))
    in_partition = sieve.partitions(batch)
    by_metrics = sieve.files(batch, np.arange(len(files)))
    passing = [any(where.holds(row) is True for row in rows) for rows in held]
    event(f"left out: {not (in_partition & by_metrics).all()}")
    if any(passing):
        assert sieve.manifests([line]).tolist() == [True]
    for passes, by_partition, by_metric in zip(passing, in_partition, by_metrics, strict=True):
        assert not passes or (by_partition and by_metric)


def _by_partition(spec: PartitionSpec, rows: list[Row]) -> list[tuple[tuple[Value | None, ...], list[Row]]]:
    found: dict[str, tuple[tuple[Value | None, ...], list[Row]]] = {}
    for row in rows:
        partition = partition_of(spec, row)
        found.setdefault(repr(partition), (partition, []))[1].append(row)
    return list(found.values())


@settings(max_examples=50, deadline=None)
@given(ROWS, single_tests())
def test_a_file_of_one_row_is_left_where_the_row_passes(row: Row, where: Filter) -> None:
    """With all metrics, a file of one value is left exactly where it passes; nulls, floats and UUIDs may be kept."""
    key = next(key for key, name in NAMES.items() if where.text.startswith(f"{name} "))
    cell, of = row[key], KINDS[key].of
    null, nan = cell is None, isinstance(cell, float) and math.isnan(cell)
    bound = {} if null or nan else {key: encode(cell, of)}
    file = File(values={key: 1}, nulls={key: int(null)}, nans={key: int(nan)}, lower=bound, upper=bound)
    left = Sieve.of(parse(where.text, SCHEMA), [], [SCHEMA]).files(entries([file]), np.array([0])).tolist()
    odd = null or nan or isinstance(cell, float | UUID)  # nulls pass !=, two zeros are one, UUIDs have two orders
    assert odd or left == [where.holds(row) is True]
