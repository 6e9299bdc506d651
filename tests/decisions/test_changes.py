"""The table of changes holds: every case, every kind, every pair of types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firnline.config import typetext
from firnline.tables import codec, promotion
from firnline.tables.values import CHANGE, CREATE, DROP, NAMESPACE, Change, ChangeKind
from tests.decisions import changes, drafts
from tests.decisions.case import Case, Expected, Result, difference, planned, result

WITH_TABLE = [one for one in changes.CASES if one.before is not None and one.after.drop is None]
OF_STEPS = {
    ChangeKind.CREATE_TABLE: CREATE,
    ChangeKind.DROP_TABLE: DROP,
    ChangeKind.CREATE_NAMESPACE: NAMESPACE,
    ChangeKind.UPDATE_NAMESPACE: NAMESPACE,
}


def words(one: Case) -> str:
    """A case's name among the tests."""
    return one.words.replace(" ", "-")


def agrees(change: Change, expected: Expected) -> bool:
    """Whether a change is the expected one in everything the table states."""
    told = change.refusal.reason if change.refusal and not change.accepted else change.detail
    recipe = change.refusal.recipe if change.refusal else ""
    stated = (change.kind, change.subject, result(change), change.classes, change.price)
    asked = (expected.kind, expected.subject, expected.result, expected.classes, expected.price)
    return (
        stated == asked and expected.says in told and expected.recipe in recipe and change.readers == expected.readers
    )


@pytest.mark.parametrize("one", WITH_TABLE, ids=words)
def test_the_comparison_says_what_the_table_says(one: Case) -> None:
    """Each case of an existing table has exactly the stated changes, in order, with classes, price and reason."""
    found = [each for each in difference(one).changes if each.kind not in OF_STEPS]
    expected = [each for each in one.expect if each.kind not in OF_STEPS]
    assert len(found) == len(expected), found
    for change, wanted in zip(found, expected, strict=True):
        assert agrees(change, wanted), (change, wanted)


@pytest.mark.parametrize("one", changes.CASES, ids=words)
def test_the_plan_says_what_the_table_says(one: Case) -> None:
    """What may go ahead is in the plan's steps, and with one refusal the table's whole step is not."""
    plan = planned(one)
    stepped = [(change, step.kind) for step in plan.steps for change in step.body.changes]
    refused = [each.change for each in plan.refused]
    blocked = {Result.REFUSED, Result.ACCEPTABLE}
    wanted_refused = [each for each in one.expect if each.result in blocked]
    wanted_steps = [] if wanted_refused else list(one.expect)
    assert len(refused) == len(wanted_refused)
    assert all(agrees(change, wanted) for change, wanted in zip(refused, wanted_refused, strict=True)), refused
    assert len(stepped) == len(wanted_steps)
    for (change, kind), wanted in zip(stepped, wanted_steps, strict=True):
        assert agrees(change, wanted), (change, wanted)
        assert kind == OF_STEPS.get(wanted.kind, CHANGE)
    assert one.note in " ".join(note.text for note in plan.notes)


@pytest.mark.parametrize("one", WITH_TABLE, ids=words)
def test_a_request_is_there_exactly_when_nothing_is_refused(one: Case) -> None:
    """A table with changes has a request unless something is refused; without changes it has none."""
    found = difference(one)
    assert (found.request is not None) == (bool(found.changes) and not found.refused)


@pytest.mark.parametrize("one", [one for one in changes.CASES if planned(one).steps], ids=words)
def test_every_step_survives_its_codec(one: Case) -> None:
    """Each step body of the table is what it was after being written to a plan file and read back."""
    pairs: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        CHANGE: (codec.encode_change, codec.decode_change),
        CREATE: (codec.encode_change, codec.decode_change),
        DROP: (codec.encode_drop, codec.decode_drop),
        NAMESPACE: (codec.encode_namespace, codec.decode_namespace),
    }
    for step in planned(one).steps:
        encode, decode = pairs[step.kind]
        assert decode(encode(step.body)) == step.body


@pytest.mark.parametrize("kind", ChangeKind)
def test_every_kind_is_in_the_table(kind: ChangeKind) -> None:
    """No kind of change is without a case."""
    assert any(expected.kind is kind for one in changes.CASES for expected in one.expect)


def test_every_result_is_in_the_table() -> None:
    """Planned, accepted, refused until accepted and refused all occur."""
    assert {expected.result for one in changes.CASES for expected in one.expect} == set(Result)


def test_no_two_cases_are_called_the_same() -> None:
    """The page has one name for each case."""
    names = [one.words for one in changes.CASES]
    doubled = {name for name in names if names.count(name) > 1}
    # A case of all three formats has one name and one line for each.
    assert all(len({one.expect for one in changes.CASES if one.words == name}) == 1 for name in doubled)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("before", changes.TYPES)
def test_promotions_are_the_specifications(before: str, version: int) -> None:
    """For every pair of types and every format, what may become what is Iceberg's table of promotions."""
    old = typetext.parse(before)[0]
    allowed = {
        after
        for after in changes.TYPES
        if after != before and promotion.allowed(old, typetext.parse(after)[0], version)
    }
    assert allowed == {after for after in changes.TYPES if changes.promoted(before, after, version)}


@pytest.mark.parametrize(("before", "after"), sorted(changes.PROMOTED | changes.PROMOTED_FROM_3))
def test_the_way_back_is_narrowing(before: str, after: str) -> None:
    """The way back of every promotion is called narrowing, and is no promotion."""
    old, new = typetext.parse(before)[0], typetext.parse(after)[0]
    assert promotion.narrows(new, old)
    assert not promotion.allowed(new, old, 3)


def test_the_page_has_a_line_for_each_case() -> None:
    """Every case and every kind stands on the page, which begins like the other pages."""
    page = changes.markdown()
    assert page.startswith("# Changes\n\n<!-- Made by `make docs` from the code: edit it there. -->\n")
    assert all(f"| {one.words} |" in page for one in changes.CASES)
    assert all(f"| `{kind}` |" in page for kind in ChangeKind)
    assert drafts.REASON not in page
