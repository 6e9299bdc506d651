"""Leases as the loop holds them: waited for with patience, renewed, asked for, given back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from firnline.core.errors import Blocked
from firnline.loop.holding import MISSES_MAX, Holding, take
from firnline.loop.ports import STEAL_MARGIN, Rank
from firnline.loop.surroundings import Moment
from firnline.loop.values import OutcomeKind
from tests.unit.loop.stage import NOW, Stage, kinds, step

MINUTE = timedelta(minutes=1)


def held(stage: Stage) -> Holding:
    found = take(step(1), stage.kind, stage.leases, stage.surroundings, "me", lambda _: None)
    assert isinstance(found, Holding)
    return found


def occupy(stage: Stage, owner: str = "them here:2", rank: Rank = Rank.REST) -> None:
    assert stage.leases.acquire("lake/t1", owner, rank, stage.time, MINUTE) is not None


def test_a_holder_is_waited_for(stage: Stage) -> None:
    """Somebody who holds the table is waited for until his lease has lapsed, and the person is told once."""
    occupy(stage)
    assert kinds(stage.apply(step(1))) == [OutcomeKind.DONE]
    assert stage.time - NOW > MINUTE + STEAL_MARGIN
    waiting = [event.text for event in stage.events if event.moment is Moment.WAITING]
    assert len(waiting) == 1
    assert waiting[0].startswith("shop.t1 is held by them here:2 until ")
    assert max(stage.slept) <= 2.0


def test_patience_ends(stage: Stage) -> None:
    """Who does not want to wait longer is told who holds it and until when; the step counts as blocked."""
    occupy(stage)
    stage.patience = timedelta(seconds=10)
    (result,) = stage.apply(step(1)).steps
    assert (result.outcome.kind, result.outcome.facts) == (OutcomeKind.SKIPPED, {"blocked": True})
    assert "is held by them here:2" in result.outcome.detail
    assert "still after 10 s of waiting; a holder that was killed loses it soon after" in result.outcome.detail
    assert sum(stage.slept) == pytest.approx(10)


def test_no_patience(stage: Stage) -> None:
    """A patience of nothing ends too."""
    occupy(stage)
    stage.patience = timedelta(0)
    assert kinds(stage.apply(step(1))) == [OutcomeKind.SKIPPED]


def test_a_holder_that_is_gone(stage: Stage) -> None:
    """A dead holder's table is had after the time a commit of his may need to land, and not before."""
    occupy(stage)
    stage.gone = lambda owner: owner == "them here:2"
    assert kinds(stage.apply(step(1))) == [OutcomeKind.DONE]
    assert stage.slept == [stage.surroundings.landing_margin.total_seconds()]


def test_gone_and_no_patience(stage: Stage) -> None:
    """A margin longer than the patience is not cut short: the table stays with the dead."""
    occupy(stage)
    stage.gone = lambda _: True
    stage.patience = timedelta(seconds=1)
    assert kinds(stage.apply(step(1))) == [OutcomeKind.SKIPPED]


def _park(stage: Stage) -> None:
    for number in range(5):
        stage.leases.park("lake/t1", f"reason {number}")


def _failed(stage: Stage) -> None:
    lease = stage.leases.acquire("lake/t1", "them", Rank.REST, stage.time, MINUTE)
    stage.leases.fail(lease, stage.time + timedelta(hours=1), 9)


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (_park, "shop.t1 is parked: reason 2; reason 3; reason 4. Lift that first."),
        (_failed, "shop.t1 failed before and is not to be tried until 2026-11-19"),
    ],
)
def test_hopeless(stage: Stage, arrange: Callable[[Stage], None], words: str) -> None:
    """What no waiting helps is not waited for."""
    arrange(stage)
    (result,) = stage.apply(step(1)).steps
    assert result.outcome.detail.startswith(words)
    assert stage.slept == []


def test_not_before_is_near(stage: Stage) -> None:
    """A key whose time comes within the patience is waited for."""
    lease = stage.leases.acquire("lake/t1", "them", Rank.REST, stage.time, MINUTE)
    stage.leases.fail(lease, stage.time + MINUTE, 9)
    assert kinds(stage.apply(step(1))) == [OutcomeKind.DONE]


def test_wanted_by_a_higher_rank(stage: Stage) -> None:
    """A free table that a higher rank waits for is left to it, in words that say so."""
    lease = stage.leases.acquire("lake/t1", "them", Rank.REST, stage.time, MINUTE)
    stage.leases.acquire("lake/t1", "eraser", Rank.ERASURE, stage.time, MINUTE)
    stage.leases.release(lease)
    stage.patience = timedelta(seconds=5)
    (result,) = stage.apply(step(1)).steps
    assert "shop.t1 is wanted by work of a higher rank, still after 5 s" in result.outcome.detail


class Flaky:
    """Leases whose renewals and guards come to what the list says: True lets it through."""

    def __init__(self, target: Any, answers: list[bool]) -> None:
        self._target, self._answers = target, answers

    def __getattr__(self, name: str) -> Any:
        if name in {"renew", "guard"} and not self._answers.pop(0):
            raise Blocked("locked")
        return getattr(self._target, name)


@pytest.mark.parametrize(
    ("answers", "lost"),
    [([True], False), ([False], False), ([False, True, False], False), ([False] * MISSES_MAX, True)],
)
def test_renewals_that_fail(stage: Stage, answers: list[bool], lost: bool) -> None:
    """One renewal that could not be asked is no loss; as many in a row as the lease lasts are."""
    holding = held(stage)
    holding._leases = Flaky(stage.leases, list(answers))  # type: ignore[assignment]
    for _ in answers:
        holding.renew()
    assert holding.lost is lost


def test_a_refused_renewal(stage: Stage) -> None:
    """A renewal that is refused means the lease is somebody else's; it is never asked for again."""
    holding = held(stage)
    stage.time += timedelta(hours=1)
    occupy(stage)
    holding.renew()
    assert holding.lost
    assert not holding.held()
    holding.release()
    assert stage.holder("t1") == "them here:2"


def test_held_asks(stage: Stage) -> None:
    """Before a commit the lease is made long enough, then asked for; no answer is no."""
    holding = held(stage)
    stage.time += timedelta(seconds=30)
    assert holding.held()
    assert stage.leases.look("lake/t1").until == stage.time + MINUTE
    holding._leases = Flaky(stage.leases, [False])  # type: ignore[assignment]
    assert not holding.held()


def test_a_clock_that_jumped(stage: Stage) -> None:
    """A lease that lapsed while we slept, and that nobody took, is taken up again."""
    holding = held(stage)
    stage.time += timedelta(hours=3)
    assert holding.held()
    assert not holding.lost
