"""Each rule says of each subject what the table of cases has."""

from __future__ import annotations

import pytest

from firnline.config.policies import AMOUNTS
from firnline.judge import judging
from firnline.judge.rulebook import ALL
from firnline.judge.values import Health, Subject
from tests.decisions.rule_case import Case, policy
from tests.decisions.rule_cases import CASES

RULES = {rule.id: rule for rule in ALL}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_rule_says_what_the_table_has(case: Case) -> None:
    """The rule fires, does not, or cannot tell; its health is what the case names; its numbers are there."""
    (finding,) = judging.judge(case.subject, (RULES[case.rule],))
    assert finding.fired is case.fired, finding
    assert finding.measures
    assert finding.sentence.endswith((".", ")"))
    if case.health is not None:
        assert finding.health is case.health
    if case.fired is not True:
        assert (finding.health, finding.next_step) == (Health.HEALTHY, None)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_every_rule_has_cases_of_each_kind(rule: object) -> None:
    """For every rule there is a case that fires and one that does not."""
    found = {case.fired for case in CASES if RULES[case.rule] is rule}
    assert {True, False} <= found


@pytest.mark.parametrize("key", [key for key in AMOUNTS if "." in key])
def test_every_threshold_decides_a_case(key: str) -> None:
    """Twice or half of a threshold would change what its rule says of some case."""
    rule = key.split(".", maxsplit=1)[0]
    value = AMOUNTS[key].number

    def told(subject: Subject) -> bool | None:
        return judging.judge(subject, (RULES[rule],))[0].fired

    own = [case for case in CASES if case.rule == rule]
    assert any(
        told(policy(case.subject, key, other)) is not case.fired for case in own for other in (value * 2, value / 2)
    )


def test_cases_are_named_once() -> None:
    """No two cases have the same words."""
    assert len({case.id for case in CASES}) == len(CASES)
