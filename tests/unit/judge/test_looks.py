"""What a look keeps, and what changed between two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.figures import UNKNOWN, at_least, exactly
from firnline.core.types import Json
from firnline.facts.values import DeleteKind, TableFacts
from firnline.judge import examples, judging, looks
from firnline.judge.looks import FIGURES, Change, Look, Sight
from firnline.judge.values import Health

HEALTHY, UNTIDY, BROKEN, UNREADABLE = Health.HEALTHY, Health.UNTIDY, Health.BROKEN, Health.UNREADABLE
SIGHTS = st.builds(
    Sight,
    st.sampled_from(Health),
    st.lists(st.sampled_from(["small-files", "orphans", "damage"]), unique=True).map(lambda each: tuple(sorted(each))),
    st.dictionaries(st.sampled_from(FIGURES), st.none() | st.integers(0, 10**18)),
    st.none() | st.integers(-(2**63), 2**63 - 1),
)
FLEETS = st.dictionaries(st.text("ab.é`", min_size=1, max_size=6), SIGHTS, max_size=5)


@settings(deadline=None)
@given(st.integers(0, 10**13), FLEETS)
def test_a_look_comes_back(millis: int, sights: dict[str, Sight]) -> None:
    """What is kept as JSON is the same look again."""
    look = Look(millis, sights)
    assert looks.from_json(json.loads(json.dumps(looks.to_json(look)))) == look


NO_LOOKS: list[Json] = [
    None, [], 7, "look", {}, {"millis": 1}, {"tables": {}},
    {"millis": "soon", "tables": {}}, {"millis": 1, "tables": []},
    *(
        {"millis": 1, "tables": {"a.b": sight}}
        for sight in (
            None, [], ["healthy"], ["well", [], {}, None], ["healthy", 7, {}, None], ["healthy", [], [], None],
            ["healthy", [], {"bytes": "many"}, None], ["healthy", [], {"bytes": []}, None], ["healthy", [], {}, "x"],
            ["healthy", [], {}, None, "more"],
        )
    ),
]  # fmt: skip


@dataclass
class Drawer:
    """The port `Memory` over a list, in whose order it is recalled."""

    kept: list[Json] = field(default_factory=list)

    def keep(self, _: int, look: Json) -> None:
        self.kept.append(look)

    def recall(self, _: int) -> Iterator[Json]:
        yield from self.kept


@pytest.mark.parametrize("kept", NO_LOOKS, ids=lambda each: json.dumps(each)[:60])
def test_what_is_no_look_is_passed_over(kept: Json) -> None:
    """Whatever another version, or damage, left there: the next look is taken."""
    look = Look(5, {"a.b": Sight(HEALTHY)})
    assert looks.earlier(Drawer([kept]), 9, but=9) is None
    assert looks.earlier(Drawer([kept, looks.to_json(look)]), 9, but=9) == look


def test_the_present_is_not_its_own_past() -> None:
    """The look that is compared is never the one it is compared with."""
    past, present = Look(5, {}), Look(9, {})
    memory = Drawer([looks.to_json(present), looks.to_json(past)])
    assert looks.earlier(memory, 9, but=9) == past
    assert looks.earlier(Drawer([looks.to_json(present)]), 9, but=9) is None


def of(health: Health = HEALTHY, *fired: str, snapshot: int | None = 1, **figures: int | None) -> Sight:
    return Sight(health, fired, {name.replace("_", " "): value for name, value in figures.items()}, snapshot)


CASES: list[tuple[str, Sight | None, Sight | None, Change | None]] = [
    ("nothing", of(), of(), None),
    ("a commit that moves little", of(bytes=1000), of(bytes=1100, snapshot=2), None),
    ("new", None, of(UNTIDY, "x"), Change("t", None, UNTIDY, ("x",))),
    ("gone", of(UNTIDY, "x"), None, Change("t", UNTIDY, None)),
    ("a rule began", of(), of(UNTIDY, "x"), Change("t", HEALTHY, UNTIDY, ("x",))),
    ("a rule ended", of(UNTIDY, "x", "y"), of(UNTIDY, "y"), Change("t", UNTIDY, UNTIDY, (), ("x",))),
    ("one for another", of(UNTIDY, "x"), of(UNTIDY, "y"), Change("t", UNTIDY, UNTIDY, ("y",), ("x",))),
    ("worse by itself", of(UNTIDY, "x"), of(BROKEN, "x"), Change("t", UNTIDY, BROKEN)),
    ("unreadable", of(UNTIDY, "x", rows=5), Sight(UNREADABLE), Change("t", UNTIDY, UNREADABLE, (), ("x",), {}, True)),
    (
        "grown by more than a fifth", of(rows=100), of(rows=121, snapshot=2),
        Change("t", HEALTHY, HEALTHY, (), (), {"rows": (100, 121)}, True),
    ),
    ("grown by a fifth", of(rows=100), of(rows=120), None),
    ("shrunk", of(rows=100), of(rows=0), Change("t", HEALTHY, HEALTHY, (), (), {"rows": (100, 0)})),
    ("from nothing to one", of(rows=0), of(rows=1), None),
    ("from nothing to two", of(rows=0), of(rows=2), Change("t", HEALTHY, HEALTHY, (), (), {"rows": (0, 2)})),
    ("unknown now", of(rows=100), of(rows=None), None),
    ("known now", of(rows=None), of(rows=100), None),
    ("a figure of another version", of(rows=100), of(), None),
]  # fmt: skip


@pytest.mark.parametrize(("what", "before", "after", "change"), CASES, ids=[what for what, *_ in CASES])
def test_what_is_a_change(what: str, before: Sight | None, after: Sight | None, change: Change | None) -> None:
    """Health, rules, figures that moved by more than a fifth; not every commit, and not what nobody knows."""
    was, now = ({} if sight is None else {"t": sight} for sight in (before, after))
    assert looks.changes(was, now) == (() if change is None else (change,)), what


WORSE = [
    (HEALTHY, UNTIDY, True), (UNTIDY, HEALTHY, False), (UNTIDY, UNTIDY, False), (None, HEALTHY, False),
    (None, UNTIDY, True), (BROKEN, None, False), (BROKEN, UNREADABLE, True),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "worse"), WORSE)
def test_what_is_worse(before: Health | None, after: Health | None, worse: bool) -> None:
    """A worse word than before; of a new table any word but healthy."""
    assert Change("t", before, after).worse is worse


@settings(deadline=None)
@given(FLEETS, FLEETS)
def test_changes_come_in_order(before: Mapping[str, Sight], after: Mapping[str, Sight]) -> None:
    """Every table once at most, the worse first, then by how bad they are now; nothing changes into itself."""
    found = looks.changes(before, after)
    assert len({each.table for each in found}) == len(found)
    assert [each.worse for each in found] == sorted((each.worse for each in found), reverse=True)
    for worse in (True, False):
        ranks = [each.after.rank if each.after else 0 for each in found if each.worse is worse]
        assert ranks == sorted(ranks, reverse=True)
    assert looks.changes(before, before) == ()
    assert {each.table for each in looks.changes({}, after)} == set(after)


def sighted(facts: TableFacts) -> Sight:
    subject = examples.subject(on=facts)
    return looks.sight(judging.judgement(subject, judging.judge(subject)), facts)


def test_what_a_look_keeps_of_a_table() -> None:
    """Health, the rules that fired by name, the head, and figures that are known."""
    deletes = {DeleteKind.VECTOR: examples.deletes(3), DeleteKind.EQUALITY: examples.deletes(4)}
    data = examples.data(files=1020, small=900, removable=885)
    found = sighted(examples.facts(data=data, deletes=deletes, touched=exactly(3)))
    assert found.health.rank >= UNTIDY.rank
    assert "small-files" in found.fired
    assert list(found.fired) == sorted(found.fired)
    assert set(found.figures) == set(FIGURES)
    assert (found.figures["data files"], found.figures["deletes"], found.figures["removable files"]) == (1020, 7, 885)
    assert found.snapshot == examples.facts().snapshot


BOUNDED = [
    ("data files", {"data": replace(examples.data(), files=at_least(5))}),
    ("rows", {"data": replace(examples.data(), rows=UNKNOWN)}),
    ("deletes", {"deletes": {DeleteKind.VECTOR: replace(examples.deletes(3), files=at_least(3))}}),
    ("deletes", {"touched": UNKNOWN}),
]


@pytest.mark.parametrize(("figure", "facts"), BOUNDED)
def test_bounds_are_not_kept_as_numbers(figure: str, facts: Mapping[str, object]) -> None:
    """What is not known for sure is None in a look: a bound that moves is no change of the table."""
    found = sighted(examples.facts(**facts))  # type: ignore[arg-type]
    assert [name for name, value in found.figures.items() if value is None] == [figure]


def test_a_table_nobody_could_read() -> None:
    """It has its health and nothing else."""
    judgement = judging.unreadable(examples.IDENTIFIER, "It is gone.")
    assert looks.sight_of_unreadable(judgement) == Sight(UNREADABLE)
