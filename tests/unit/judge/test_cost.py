"""What things cost, term by term, and how rates are learnt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.config.prices import Prices
from firnline.judge import cost, examples
from firnline.judge.values import NO_COST, Cost, Health, Observation, Rates
from tests.decisions.rule_case import GIB, policy

# Round numbers, so that every term can be followed by hand.
PRICES = Prices("EUR", "2026-01", "test", 30.4375, 5.0, 0.4, 5.0, 36.0)
RATES = Rates(rewrite_bytes_per_core_second=1e6, read_bytes_per_core_second=1e8, open_core_seconds=0.1)
SUBJECT = policy(
    policy(replace(examples.subject(), prices=PRICES, rates=RATES), "reads-per-day", 100), "read-share", 0.5
)


@pytest.mark.parametrize(
    ("found", "bytes_", "seconds", "requests", "money"),
    [
        (cost.kept(SUBJECT, 2 * GIB), 2 * GIB, 0, 0, 2.0),
        (cost.opened(SUBJECT, 10), 0, 50, 1500, 1500 * 0.0004 + 0.5),
        (cost.opened(SUBJECT, 10, everywhere=True), 0, 100, 3000, 3000 * 0.0004 + 1.0),
        (cost.scanned(SUBJECT, 10**8), 50 * 10**8, 50, 0, 0.5),
        (cost.rewritten(SUBJECT, 10**9, 10), 10**9, 1001, 32, 30 * 0.0004 + 2 * 0.005 + 10.01),
        (cost.rewritten(SUBJECT, 10**9, 10, factor=2), 10**9, 2001, 32, 30 * 0.0004 + 2 * 0.005 + 20.01),
        (cost.asked(SUBJECT, gets=10, puts=20, lists=30), 0, 0, 60, 0.004 + 0.1 + 0.15),
        (cost.opened(SUBJECT, 0), 0, 0, 0, 0),
        (cost.rewritten(SUBJECT, 0, 0), 0, 0, 0, 0),
    ],
)
def test_every_term_is_as_simple_as_its_name(
    found: Cost, bytes_: int, seconds: float, requests: int, money: float
) -> None:
    """Bytes, core-seconds and requests times their prices."""
    assert (found.bytes, found.requests) == (bytes_, requests)
    assert (found.core_seconds, found.money) == (pytest.approx(seconds), pytest.approx(money))


def test_costs_add_up() -> None:
    """The sum of two costs is that of each part; adding nothing changes nothing."""
    one, two = Cost(1, 2.0, 3, 4.0), Cost(10, 20.0, 30, 40.0)
    assert one + two == Cost(11, 22.0, 33, 44.0)
    assert one + NO_COST == one


@pytest.mark.parametrize(("money", "grade"), [(0.5, Health.COSTLY), (0.49, Health.UNTIDY), (0.0, Health.UNTIDY)])
def test_costly_is_a_matter_of_money(money: float, grade: Health) -> None:
    """From `costly-from` a day on, untidy is costly."""
    assert cost.grade(SUBJECT, Cost(money=money)) is grade


@settings(deadline=None)
@given(st.lists(st.builds(Observation, st.integers(0, 10**12), st.floats(0, 1e6)), max_size=8))
def test_rates_are_learnt_from_three_runs_on(observations: list[Observation]) -> None:
    """Fewer than three runs that tell a speed change nothing; with more, the speed lies among theirs."""
    told = [each.bytes / each.core_seconds for each in observations if each.bytes > 0 and each.core_seconds > 0]
    found = cost.calibrated(RATES, observations)
    if len(told) < 3:
        assert found == RATES
    else:
        assert min(told) <= found.rewrite_bytes_per_core_second <= max(told)
        assert found.runs == len(told)


def test_one_odd_run_does_not_move_the_rate() -> None:
    """It is the median that counts."""
    runs = [Observation(10, 1.0), Observation(11, 1.0), Observation(10**9, 1.0)]
    assert cost.calibrated(RATES, runs).rewrite_bytes_per_core_second == 11
