"""How many manifests a look at one partition opens, beside a count of them one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.figures import NONE, UNKNOWN, Figure, exactly
from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Primitive, Type
from firnline.facts.fanout import PARTITIONS_MAX, fanout
from firnline.facts.lines import ManifestLine, Summary
from firnline.facts.single_values import encode
from firnline.facts.values import PartitionKey

LONG, STRING, DOUBLE = Primitive("long"), Primitive("string"), Primitive("double")
TYPES: Mapping[int, Type] = {1: LONG, 2: STRING, 3: DOUBLE}
ID, NAME, X, BUCKET = (
    PartitionField("id", "identity", (1,), 1000), PartitionField("name", "truncate[2]", (2,), 1001),
    PartitionField("x", "identity", (3,), 1002), PartitionField("bucket", "bucket[4]", (2,), 1003),
)  # fmt: skip
ODD, LOST = PartitionField("odd", "zorder[3]", (1,), 1004), PartitionField("lost", "identity", (77,), 1005)
SPECS = {
    0: PartitionSpec((), 0), 1: PartitionSpec((ID,), 1), 2: PartitionSpec((NAME, X), 2),
    3: PartitionSpec((BUCKET, ODD), 3), 4: PartitionSpec((LOST, ID), 4),
}  # fmt: skip
NUMBERS, WORDS = st.integers(-3, 9), st.sampled_from(["", "a", "b", "é", "zz", "\U0001f600"])
FLOATS = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 2.0, math.inf])
PLAIN: Mapping[int, tuple[st.SearchStrategy[object], Type]] = {
    1000: (NUMBERS, LONG), 1001: (WORDS, STRING), 1002: (FLOATS, DOUBLE), 1003: (st.integers(0, 3), Primitive("int")),
    1004: (NUMBERS, LONG), 1005: (NUMBERS, LONG),
}  # fmt: skip


@st.composite
def summaries(draw: st.DrawFn, field: PartitionField) -> Summary:
    plain, of = PLAIN[field.field_id or 0]
    null, nan = draw(st.booleans()), draw(st.sampled_from([None, False, True]))
    ends = draw(st.none() | st.tuples(plain, plain))
    if ends is None:
        return Summary(null, nan, None, None)
    low, high = sorted(ends, key=lambda each: _place(each, of))
    return Summary(null, nan, encode(low, of), encode(high, of))  # type: ignore[arg-type]


def _place(value: object, of: Type) -> object:
    """What orders like the value: strings by their bytes, and -0.0 before 0.0."""
    if isinstance(value, str):
        return value.encode()
    return (value, math.copysign(1, value)) if of == DOUBLE else value  # type: ignore[arg-type]


@st.composite
def lines(draw: st.DrawFn) -> ManifestLine:
    spec_id = draw(st.sampled_from(sorted(SPECS)))
    fields = SPECS[spec_id].fields
    told = tuple(draw(summaries(field)) for field in fields[: draw(st.integers(0, len(fields)))] or fields)
    return ManifestLine("m", spec_id=spec_id, partitions=told)


@st.composite
def keys(draw: st.DrawFn) -> PartitionKey:
    spec_id = draw(st.sampled_from(sorted(SPECS)))
    odd = st.sampled_from([None, math.nan])
    return spec_id, tuple(
        draw(PLAIN[field.field_id or 0][0] | (odd if field is X else st.none())) for field in SPECS[spec_id].fields
    )


def covers(line: ManifestLine, key: PartitionKey) -> bool:
    """Whether a reader who looks for the partition has to open the manifest, by its ranges alone."""
    spec_id, values = key
    return line.spec_id == spec_id and all(
        _covers(summary, value, field)
        for summary, value, field in zip(line.partitions or (), values, SPECS[spec_id].fields, strict=False)
    )


def _covers(summary: Summary, value: object, field: PartitionField) -> bool:
    if field in {ODD, LOST}:
        return True
    if value is None:
        return summary.contains_null
    if isinstance(value, float) and math.isnan(value):
        return summary.contains_nan is not False
    if summary.lower is None or summary.upper is None:
        return False
    of = PLAIN[field.field_id or 0][1]
    own, least, most = (_place(each, of) for each in (value, *_ends(summary, of)))
    return least <= own <= most  # type: ignore[operator]


def _ends(summary: Summary, of: Type) -> tuple[object, object]:
    from firnline.facts.single_values import decode

    assert summary.lower is not None
    assert summary.upper is not None
    return decode(summary.lower, of), decode(summary.upper, of)


@settings(deadline=None)
@given(st.lists(lines(), max_size=8), st.lists(keys(), min_size=1, max_size=8))
def test_it_is_what_counting_finds(listed: list[ManifestLine], wanted: list[PartitionKey]) -> None:
    """The 95th of a hundred partitions opens so many manifests. There are nulls, NaN, negative zeros, text that is
    ordered by its bytes, transforms nobody knows and columns that are gone.
    """
    counts = sorted(sum(covers(line, key) for line in listed) for key in wanted)
    assert fanout(listed, wanted, SPECS, TYPES) == exactly(counts[math.ceil(0.95 * (len(counts) - 1))])


def of(*days: tuple[int, int], **more: object) -> list[ManifestLine]:
    """Manifests of the spec by id, with these ranges."""
    told = [(Summary(False, None, encode(low, LONG), encode(high, LONG)),) for low, high in days]
    return [replace(ManifestLine("m", spec_id=1, partitions=each), **more) for each in told]  # type: ignore[arg-type]


ENDS = (("a", "z", STRING), (0.0, 2.0, DOUBLE))
KEYS: Sequence[PartitionKey] = [(1, (day,)) for day in range(4)]
CASES: list[tuple[str, Sequence[ManifestLine], Sequence[PartitionKey], Figure]] = [
    ("no partitions", of((0, 9)), [], NONE),
    ("no manifests", [], KEYS, exactly(0)),
    ("side by side", of((0, 0), (1, 1), (2, 2), (3, 3)), KEYS, exactly(1)),
    ("each may hold all", of((0, 3), (0, 3), (0, 3)), KEYS, exactly(3)),
    ("none says its ranges", of((0, 3), (0, 3), partitions=None), KEYS, UNKNOWN),
    ("one does not", [*of((0, 3)), *of((0, 3), partitions=None)], KEYS, Figure(1, 2)),
    ("listed in place, without a spec", of((0, 3), (0, 3), spec_id=None), KEYS, UNKNOWN),
    ("of a spec that is gone", [*of((0, 3)), *of((0, 3), spec_id=55)], KEYS, Figure(1, 2)),
    ("no partitioning, nothing to say", [ManifestLine("m", spec_id=0)] * 3, [(0, ())], exactly(3)),
    ("no partitioning, said", [ManifestLine("m", spec_id=0, partitions=())] * 3, [(0, ())], exactly(3)),
    ("no value in a range", [*of((0, 3)), *of((5, 9))], KEYS, exactly(1)),
    ("damaged bounds", of((0, 3), partitions=(Summary(False, None, b"1", b"9"),)), KEYS, exactly(1)),
    ("a value of another type", of((0, 0), (9, 9)), [(1, (b"\xff",)), (1, (0,))], exactly(2)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "listed", "wanted", "opens"), CASES, ids=[what for what, *_ in CASES])
def test_cases(what: str, listed: Sequence[ManifestLine], wanted: Sequence[PartitionKey], opens: Figure) -> None:
    """Exact where every manifest says its ranges, bounded where some do not, unknown where none does."""
    assert fanout(listed, wanted, SPECS, TYPES) == opens, what


@pytest.mark.parametrize(("said", "opens"), [(None, 1), (True, 1), (False, 0)])
def test_nan_is_looked_for_where_it_may_be(said: bool | None, opens: int) -> None:
    """It is in no range: only a manifest that says it has none is passed over."""
    words, numbers = (Summary(False, said, encode(low, of), encode(high, of)) for low, high, of in ENDS)
    listed = [ManifestLine("m", spec_id=2, partitions=(words, numbers))]
    assert fanout(listed, [(2, ("b", math.nan))], SPECS, TYPES) == exactly(opens)
    assert fanout(listed, [(2, ("b", 1.5))], SPECS, TYPES) == exactly(1)


def test_many_partitions_are_sampled_evenly() -> None:
    """Beyond a bound some partitions stand for all: a hot end of a hundredth does not decide, and a tenth does."""
    wanted: list[PartitionKey] = [(1, (day,)) for day in range(5 * PARTITIONS_MAX)]
    for hot, opens in ((50, 1), (500, 4)):
        listed = of((0, 10**6), (0, hot - 1), (0, hot - 1), (0, hot - 1))
        assert fanout(listed, wanted, SPECS, TYPES) == exactly(opens)
