"""The catalog's questions, asked beforehand; refs in requests; what summaries say."""

from __future__ import annotations

from typing import Any

import pytest

from firnline.facts import refs, requirements, summaries
from firnline.loop.commits import CommitRequest
from tests.decisions.drafts import UUID, declare, partition, ref, snapshot, sort, table

META = table(
    declare(
        "id: long", "at: date", partition=(partition("day at"),), order=(sort("identity id"),), properties={"a": "1"}
    ),
    refs=(ref("dev", 1),),
)
HOLDING: list[dict[str, Any]] = [
    {"type": "assert-table-uuid", "uuid": UUID},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 1},
    {"type": "assert-ref-snapshot-id", "ref": "dev", "snapshot-id": 1},
    {"type": "assert-ref-snapshot-id", "ref": "new", "snapshot-id": None},
]


def value_key(requirement: dict[str, Any]) -> str:
    """The key of a requirement that holds what must be true."""
    return next(key for key in reversed(requirement) if key not in {"type", "ref"})


@pytest.mark.parametrize("requirement", HOLDING, ids=lambda item: item["type"])
def test_a_requirement_holds_or_says_why(requirement: dict[str, Any]) -> None:
    """Each kind of requirement passes on the table it was made for, and names both values on another."""
    assert requirements.broken(requirement, META) is None
    sentence = requirements.broken({**requirement, value_key(requirement): 999}, META)
    assert sentence is not None
    assert "was 999 and is " in sentence


def test_an_unknown_requirement_is_broken() -> None:
    """What this version cannot check does not hold."""
    assert (
        requirements.broken({"type": "assert-moon"}, META)
        == "the requirement 'assert-moon' is not known to this version"
    )


@pytest.mark.parametrize(
    ("expect", "drifted"),
    [({"a": "1", "b": None}, 0), ({"a": "2"}, 1), ({"a": None}, 1), ({"b": "1", "a": "2"}, 2), ({}, 0)],
)
def test_expected_properties_are_held_against_the_table(expect: dict[str, str | None], drifted: int) -> None:
    """A touched property that changed, came or went is drift; one that is as planned is none."""
    found = list(requirements.drift(CommitRequest(tuple(HOLDING), (), expect), META))
    assert len(found) == drifted
    assert all(sentence.startswith("the property ") for sentence in found)


def test_every_broken_requirement_is_told() -> None:
    """Drift is told whole: requirements first, then properties."""
    wrong = ({"type": "assert-table-uuid", "uuid": "x"}, {"type": "assert-default-spec-id", "default-spec-id": 5})
    found = list(requirements.drift(CommitRequest(wrong, (), {"a": "0"}), META))
    assert [sentence.split(" ")[0] for sentence in found] == ["table", "default", "the"]


def test_a_ref_is_written_with_the_retention_that_is_set() -> None:
    """`set-snapshot-ref` names what is set and leaves out what is not."""
    assert refs.update(ref("y25", 7, "tag", ref_age_max_ms=5)) == {
        "action": "set-snapshot-ref", "ref-name": "y25", "type": "tag", "snapshot-id": 7, "max-ref-age-ms": 5
    }  # fmt: skip
    full = refs.update(ref("dev", 7, snapshot_age_max_ms=1, snapshots_min=2))
    assert (full["max-snapshot-age-ms"], full["min-snapshots-to-keep"]) == (1, 2)


def test_a_ref_is_required_where_it_is_or_not_to_be() -> None:
    """A move of a ref rests on where it was."""
    assert refs.requirement("dev", ref("dev", 7)) == {"type": "assert-ref-snapshot-id", "ref": "dev", "snapshot-id": 7}
    assert refs.requirement("dev", None)["snapshot-id"] is None


@pytest.mark.parametrize(
    ("value", "count"),
    [("12", 12), ("0", 0), ("", None), ("-1", None), ("1.5", None), ("many", None), ("²", None)],
)
def test_a_count_is_a_number_or_unknown(value: str, count: int | None) -> None:
    """What a writer left out, or wrote as something else, is unknown and never zero."""
    assert summaries.count(snapshot(1, summary={"added-records": value}), "added-records") == count
    assert summaries.count(snapshot(1), "added-records") is None


@pytest.mark.parametrize(
    ("summary", "writer"),
    [
        ({"firnline.run": "R1", "engine-name": "spark"}, "firnline R1"),
        ({"engine-name": "spark", "engine-version": "4.1", "app-id": "a-1"}, "spark 4.1 a-1"),
        ({"spark.app.id": "local-1"}, "spark local-1"),
        ({"iceberg-version": "1.12"}, "iceberg"),
        ({"engine-name": "flink"}, "flink"),
        ({}, "unknown"),
    ],
)
def test_a_writer_is_named_as_far_as_it_told(summary: dict[str, str], writer: str) -> None:
    """Our own run first, then the engine, then unknown."""
    assert summaries.writer(snapshot(1, summary=summary)) == writer
