"""The comparison as a decision table: what three readers answered, and what is said of each and of the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from firnline.core.types import Field, Primitive, Struct
from firnline.proof import compare
from firnline.proof.compare import Reading, Subject
from firnline.proof.values import (
    Answer,
    CannotRead,
    ColumnTally,
    FailedReading,
    NotInstalled,
    ReaderName,
    Sum,
    Tally,
    Verdict,
    Verification,
)

SCHEMA = Struct((Field("id", Primitive("long"), id=1), Field("note", Primitive("string"), id=2)))
SUBJECT = Subject("shop.orders", "file:/orders.metadata.json", None, 0, SCHEMA)

GOOD = Tally(10, {1: ColumnTally(0, 0, Sum(1, 1)), 2: ColumnTally(3, 0, Sum(2, 2))}, Sum(3, 3), Sum(3, 3))
ROW_LESS = Tally(9, {1: ColumnTally(0, 0, Sum(7, 1)), 2: ColumnTally(3, 0, Sum(7, 2))}, Sum(7, 3), Sum(7, 3))
TWO_LESS = Tally(8, {1: ColumnTally(0, 0, Sum(8, 1)), 2: ColumnTally(3, 0, Sum(8, 2))}, Sum(8, 3), Sum(8, 3))
OTHER_VALUE = replace(
    GOOD, columns={**GOOD.columns, 2: ColumnTally(3, 0, Sum(9, 9))}, whole=Sum(9, 3), shared=Sum(9, 3)
)
OTHER_NULLS = replace(
    GOOD, columns={**GOOD.columns, 2: ColumnTally(4, 0, Sum(9, 8))}, whole=Sum(9, 4), shared=Sum(9, 4)
)
OTHER_NANS = replace(GOOD, columns={**GOOD.columns, 2: ColumnTally(3, 1, Sum(9, 7))}, whole=Sum(9, 5), shared=Sum(9, 5))
OTHER_ROWS = replace(GOOD, whole=Sum(5, 5), shared=Sum(5, 5))
# Without the column `note`: what both have is the column id, and `shared` is summed over that alone.
NARROW = Tally(10, {1: GOOD.columns[1]}, Sum(4, 4), Sum(4, 4))
WIDE = replace(GOOD, shared=Sum(4, 4))
WIDE_OTHER_NOTE = replace(OTHER_VALUE, shared=Sum(4, 4))

CANNOT, FAILED, MISSING = (
    CannotRead("equality deletes"),
    FailedReading("page 3 is damaged"),
    NotInstalled("pip install"),
)
AGREES, DISAGREES, UNPROVEN = Verdict.AGREES, Verdict.DISAGREES, Verdict.UNPROVEN


@dataclass(frozen=True)
class Case:
    """Answers of Spark, PyIceberg and DuckDB (None: not asked); verdicts in that order; the whole; differences."""

    answers: tuple[Answer | None, Answer | None, Answer | None]
    readers: tuple[Verdict, ...]
    whole: Verdict
    differences: tuple[tuple[str, str | None], ...] = ()
    unproven: tuple[str, ...] = ()


CASES = {
    "all three agree": Case((GOOD, GOOD, GOOD), (AGREES,) * 3, AGREES),
    "two agree, the third cannot read": Case((GOOD, GOOD, CANNOT), (AGREES, AGREES, Verdict.CANNOT_READ), AGREES),
    "two agree, the third is missing": Case((MISSING, GOOD, GOOD), (Verdict.MISSING, AGREES, AGREES), AGREES),
    "two agree, the third breaks": Case((GOOD, FAILED, GOOD), (AGREES, Verdict.FAILED, AGREES), Verdict.FAILED),
    "the odd one is named": Case((GOOD, GOOD, ROW_LESS), (AGREES, AGREES, DISAGREES), DISAGREES, (("rows", None),)),
    "the odd one may be the first": Case(
        (OTHER_VALUE, GOOD, GOOD), (DISAGREES, AGREES, AGREES), DISAGREES, (("values", "note"),)
    ),
    "two that differ both disagree": Case(
        (GOOD, OTHER_VALUE, None), (DISAGREES, DISAGREES), DISAGREES, (("values", "note"),)
    ),
    "three that all differ all disagree": Case(
        (GOOD, ROW_LESS, TWO_LESS), (DISAGREES,) * 3, DISAGREES, (("rows", None),)
    ),
    "two that differ, and one that breaks": Case(
        (GOOD, ROW_LESS, FAILED), (DISAGREES, DISAGREES, Verdict.FAILED), Verdict.FAILED, (("rows", None),)
    ),
    "nulls differ": Case((GOOD, GOOD, OTHER_NULLS), (AGREES, AGREES, DISAGREES), DISAGREES, (("nulls", "note"),)),
    "NaNs differ": Case((GOOD, GOOD, OTHER_NANS), (AGREES, AGREES, DISAGREES), DISAGREES, (("nans", "note"),)),
    "equal values in other rows": Case(
        (GOOD, OTHER_ROWS, GOOD), (AGREES, DISAGREES, AGREES), DISAGREES, (("pairing", None),)
    ),
    "rows and values differ, between different readers": Case(
        (GOOD, OTHER_VALUE, ROW_LESS), (DISAGREES,) * 3, DISAGREES, (("rows", None), ("values", "note"))
    ),
    "one left a column out": Case((WIDE, NARROW, WIDE), (AGREES,) * 3, AGREES),
    "one left out what the others differ in": Case(
        (WIDE, NARROW, WIDE_OTHER_NOTE), (DISAGREES, AGREES, DISAGREES), DISAGREES, (("values", "note"),)
    ),
    "a column only one read": Case((WIDE, NARROW, None), (AGREES, AGREES), AGREES, unproven=("note",)),
    "one reader alone": Case((None, GOOD, None), (UNPROVEN,), UNPROVEN, unproven=("id", "note")),
    "one reader, two that cannot": Case(
        (CANNOT, GOOD, MISSING),
        (Verdict.CANNOT_READ, UNPROVEN, Verdict.MISSING),
        UNPROVEN,
        unproven=("id", "note"),
    ),
    "nobody": Case((MISSING,) * 3, (Verdict.MISSING,) * 3, UNPROVEN, unproven=("id", "note")),
    "one alone, and it breaks": Case((FAILED, None, None), (Verdict.FAILED,), Verdict.FAILED, unproven=("id", "note")),
}


def conclude(case: Case, files: tuple[str, ...] = (), counted: int | None = None) -> Verification:
    answers = zip(ReaderName, case.answers, strict=True)
    readings = {name: Reading(answer, {}, 0.5) for name, answer in answers if answer is not None}
    return compare.conclude(SUBJECT, readings, files=files, counted=counted)


@pytest.mark.parametrize("name", CASES, ids=lambda name: name)
def test_the_verdict_follows_from_the_answers(name: str) -> None:
    """Every combination of answers has its verdict, per reader and of the whole, and its differences."""
    case = CASES[name]
    found = conclude(case)
    assert tuple(report.verdict for report in found.readers) == case.readers
    assert found.verdict is case.whole
    assert tuple((one.kind, one.column) for one in found.differences) == case.differences
    assert found.unproven == case.unproven


@pytest.mark.parametrize("name", CASES, ids=lambda name: name)
def test_disagreement_always_has_a_difference(name: str) -> None:
    """Nobody disagrees without a difference that says in what, and there is no difference without one who disagrees."""
    found = conclude(CASES[name])
    assert bool(found.differences) is any(report.verdict is DISAGREES for report in found.readers)


def test_a_difference_says_what_each_saw() -> None:
    """Every reader that saw the thing is in the difference, with what it saw."""
    (rows,) = conclude(CASES["the odd one is named"]).differences
    assert dict(rows.seen) == {ReaderName.SPARK: "10", ReaderName.PYICEBERG: "10", ReaderName.DUCKDB: "9"}


def test_a_damaged_file_fails_the_whole_even_when_all_agree() -> None:
    """Readers that agree on a damaged file prove nothing."""
    found = conclude(CASES["all three agree"], files=("file:/a.parquet is missing",))
    assert found.verdict is Verdict.FAILED
    assert [report.verdict for report in found.readers] == [AGREES] * 3
    assert found.files == ("file:/a.parquet is missing",)


def test_a_count_that_all_miss_fails_the_whole() -> None:
    """When every reader sees the same number of rows and the manifests count another, something is wrong."""
    assert conclude(CASES["all three agree"], counted=10).verdict is AGREES
    found = conclude(CASES["all three agree"], counted=11)
    assert found.verdict is Verdict.FAILED
    assert "spark read 10 rows where the manifests count 11" in found.files


def test_a_long_list_of_files_is_cut() -> None:
    """A folder that is gone does not fill the screen: the first files are named, the rest counted."""
    found = conclude(CASES["all three agree"], files=tuple(f"{at} is missing" for at in range(1000)))
    assert len(found.files) == compare.FILES_NAMED_MAX + 1
    assert found.files[-1] == "and 980 more"


def test_each_reader_is_asked_for_what_it_can_read() -> None:
    """A column a reader cannot read is left out for that reader only, with the reason; shared is what all can."""
    asked = compare.ask(
        SUBJECT,
        {
            ReaderName.SPARK: lambda _: None,
            ReaderName.DUCKDB: lambda field: "no text" if field.name == "note" else None,
        },
    )
    spark, duckdb = asked[ReaderName.SPARK], asked[ReaderName.DUCKDB]
    assert (spark.request.fields, spark.left_out) == (SCHEMA, {})
    assert [field.name for field in duckdb.request.fields.fields] == ["id"]
    assert duckdb.left_out == {"note": "no text"}
    assert spark.request.shared == duckdb.request.shared == frozenset({1})
    assert duckdb.request.schema == SCHEMA
