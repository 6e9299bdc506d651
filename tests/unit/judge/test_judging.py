"""What findings come to for a table, what comes first in a fleet, and what a budget reaches."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.ids import Identifier
from firnline.judge import examples, judging
from firnline.judge.judging import Budget, Judgement
from firnline.judge.rulebook import ALL
from firnline.judge.values import NO_COST, Cost, Finding, Health, Work

COSTS = st.builds(
    lambda money, seconds: Cost(core_seconds=seconds, money=money),
    st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.5]),
    st.sampled_from([0.0, 1.0, 60.0, 3600.0]),
)


def _finding(name: str, health: Health, waiting: Cost, acting: Cost, *, fired: bool | None = True) -> Finding:
    table = Identifier(("a",), name)
    said = "It is so."
    return Finding(f"r@{name}", "r", table, None, Work.FOLD, fired, health, said, (), waiting=waiting, acting=acting)


def _judgement(name: str, health: Health, waiting: Cost, acting: Cost) -> Judgement:
    return Judgement(Identifier(("a",), name), None, health, "It is so.", (), waiting, acting)


NAMES = st.text("abc", min_size=1, max_size=3)
FINDINGS = st.lists(
    st.builds(_finding, NAMES, st.sampled_from(Health), COSTS, COSTS, fired=st.sampled_from([True, False, None])),
    max_size=8,
    unique_by=lambda each: each.id,
)
JUDGEMENTS = st.lists(
    st.builds(_judgement, NAMES, st.sampled_from(Health), COSTS, COSTS), max_size=8, unique_by=lambda each: each.table
)
LIMITS = st.none() | st.sampled_from([0.0, 0.2, 1.0, 5.0, 100.0])


@settings(deadline=None)
@given(FINDINGS, st.randoms(use_true_random=False))
def test_the_ranking_is_a_total_order(findings: list[Finding], chance: Random) -> None:
    """In whatever order findings come, they are ranked alike, the worst health first, and only those that fired."""
    shuffled = list(findings)
    chance.shuffle(shuffled)
    ranked = judging.rank(findings)
    assert ranked == judging.rank(shuffled)
    assert {each.id for each in ranked} == {each.id for each in findings if each.fired}
    assert [each.health.rank for each in ranked] == sorted((each.health.rank for each in ranked), reverse=True)


@settings(deadline=None)
@given(JUDGEMENTS, st.randoms(use_true_random=False))
def test_tables_are_ranked_in_the_same_order(judgements: list[Judgement], chance: Random) -> None:
    """Among tables of one health, what earns its price back sooner comes first."""
    shuffled = list(judgements)
    chance.shuffle(shuffled)
    ranked = judging.rank_tables(judgements)
    assert ranked == judging.rank_tables(shuffled)
    assert set(ranked) == set(judgements)
    worth = [(-each.health.rank, -judging.worth(each.waiting, each.acting)) for each in ranked]
    assert worth == sorted(worth)


@settings(deadline=None)
@given(JUDGEMENTS, LIMITS, LIMITS)
def test_a_cut_never_exceeds_its_budget(
    judgements: list[Judgement], money: float | None, seconds: float | None
) -> None:
    """What is taken stays within the budget, adds up, and with what is left out is all there is to do."""
    ranked = judging.rank_tables(judgements)
    cut = judging.cut(ranked, Budget(money, seconds))
    assert money is None or cut.spent.money <= money
    assert seconds is None or cut.spent.core_seconds <= seconds
    assert sum((each.acting for each in cut.taken), NO_COST) == cut.spent
    both = [*cut.taken, *(left.judgement for left in cut.left_out)]
    assert {each.table for each in both} == {each.table for each in ranked if each.acting != NO_COST}
    assert [each for each in ranked if each in cut.taken] == list(cut.taken)


@settings(deadline=None)
@given(JUDGEMENTS)
def test_without_a_limit_nothing_is_left_out(judgements: list[Judgement]) -> None:
    """An endless budget reaches everything."""
    assert judging.cut(judging.rank_tables(judgements), Budget()).left_out == ()


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (Budget(money=5.0), "It costs 3.00, and 2.00 of 5.00 is left."),
        (Budget(core_seconds=100), "It takes 60 core-seconds, and 40 of 100 are left."),
    ],
)
def test_a_cut_says_why_something_is_left_out(budget: Budget, why: str) -> None:
    """What does not fit is left out with its price and with what is left; smaller work below it is still taken."""
    dear, small = Cost(money=3.0, core_seconds=60), Cost(money=1.0, core_seconds=10)
    tables = [_judgement(name, Health.COSTLY, NO_COST, cost) for name, cost in (("a", dear), ("b", dear), ("c", small))]
    cut = judging.cut(tables, budget)
    assert [each.table.name for each in cut.taken] == ["a", "c"]
    assert [(each.judgement.table.name, each.why) for each in cut.left_out] == [("b", why)]


def test_a_table_is_as_well_as_its_worst_finding() -> None:
    """Health is the worst of what fired; what cannot be told does not count."""
    some = [
        _finding("a", Health.WATCH, NO_COST, NO_COST),
        _finding("b", Health.COSTLY, NO_COST, NO_COST),
        _finding("c", Health.BROKEN, NO_COST, NO_COST, fired=None),
    ]
    assert judging.health(some) is Health.COSTLY
    assert judging.health([]) is Health.HEALTHY


def test_the_reason_is_the_worst_sentence() -> None:
    """One line says the worst and how much more there is, or how much of nothing could be looked at."""
    broken = replace(_finding("b", Health.BROKEN, NO_COST, NO_COST), sentence="It is broken.")
    watch = _finding("a", Health.WATCH, NO_COST, NO_COST)
    untold, quiet = replace(watch, fired=None), replace(watch, fired=False)
    assert judging.reason([watch, broken]) == "It is broken. (1 more)"
    assert judging.reason([broken, untold]) == "It is broken."
    assert judging.reason([untold, quiet]) == "Nothing is wrong as far as 1 of 2 rules could tell."
    assert judging.reason([]) == "Nothing is wrong."


def test_work_that_mends_two_findings_is_paid_once() -> None:
    """A table's price takes the dearest of each kind of work; what waiting costs adds up."""
    one, two = Cost(money=1.0), Cost(money=2.0)
    fold = [_finding("a", Health.COSTLY, one, one), _finding("b", Health.COSTLY, one, two)]
    other = replace(_finding("c", Health.UNTIDY, one, one), work=Work.EXPIRY)
    quiet = _finding("d", Health.UNTIDY, one, Cost(money=9.0), fired=False)
    found = judging.judgement(examples.subject(), (*fold, other, quiet))
    assert (found.waiting.money, found.acting.money) == (3.0, 3.0)


def test_a_table_nobody_could_read_comes_first() -> None:
    """A table without facts is unreadable, with the reason, and outranks all others."""
    lost = judging.unreadable(Identifier(("a",), "b"), "its metadata is cut.")
    broken = _judgement("a", Health.BROKEN, Cost(money=900.0), NO_COST)
    assert judging.rank_tables([broken, lost]) == (lost, broken)


def test_the_words_of_health_have_an_order() -> None:
    """From healthy to unreadable, each word outweighs the one before."""
    words = ["healthy", "watch", "untidy", "costly", "risky", "broken", "unreadable"]
    assert [each.value for each in sorted(Health, key=lambda each: each.rank)] == words


def test_everything_is_judged_in_order() -> None:
    """Every rule has one finding, in the order of the list."""
    assert [finding.rule for finding in judging.judge(examples.subject())] == [rule.id for rule in ALL]
