"""What the ledger is told, and what is read from it."""

from __future__ import annotations

from typing import Any

import pytest

from firnline.core.ids import RunId, StepId
from firnline.loop import records
from firnline.loop.ports import Event, EventKind
from firnline.loop.records import Verdict
from firnline.loop.values import Outcome, OutcomeKind, StepResult
from tests.unit.loop.stage import NOW, step

D, N, U, S = OutcomeKind.DONE, OutcomeKind.NOT_DONE, OutcomeKind.UNKNOWN, OutcomeKind.SKIPPED


@pytest.mark.parametrize(
    ("kinds", "verdict", "exit_code"),
    [
        ([], Verdict.DONE, 0),
        ([D, D], Verdict.DONE, 0),
        ([D, N], Verdict.PARTIAL, 4),
        ([D, S], Verdict.PARTIAL, 4),
        ([D, N, S], Verdict.PARTIAL, 4),
        ([N], Verdict.FAILED, 1),
        ([N, S], Verdict.FAILED, 1),
        ([S], Verdict.REFUSED, 3),
        ([S, S], Verdict.REFUSED, 3),
        ([U], Verdict.UNKNOWN, 1),
        ([D, N, S, U], Verdict.UNKNOWN, 1),
    ],
)
def test_verdict(kinds: list[OutcomeKind], verdict: Verdict, exit_code: int) -> None:
    """What the steps came to decides what the run came to, and what the command ends with."""
    results = [StepResult(StepId(str(at)), "work", "t", Outcome(kind)) for at, kind in enumerate(kinds)]
    assert records.verdict(results) is verdict
    assert records.exit_code(verdict) == exit_code


def test_every_verdict_has_an_exit_code() -> None:
    """No verdict is without one, and an interruption ends as shells expect."""
    assert {verdict for verdict in Verdict if records.exit_code(verdict) == 0} == {Verdict.DONE}
    assert records.exit_code(Verdict.INTERRUPTED) == 130


def event(kind: EventKind, outcome: str | None = None) -> Event:
    return Event(RunId("r"), kind, NOW, StepId("1"), "lake/t", "t", {} if outcome is None else {"outcome": outcome})


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([event(EventKind.INTENT)], U),
        ([event(EventKind.INTENT), event(EventKind.OUTCOME, "done")], D),
        ([event(EventKind.INTENT), event(EventKind.OUTCOME, "unknown"), event(EventKind.SETTLED, "done")], D),
        ([event(EventKind.INTENT), event(EventKind.SETTLED, "done"), event(EventKind.OUTCOME, "not done")], D),
        ([event(EventKind.INTENT), event(EventKind.OUTCOME, "done"), event(EventKind.SETTLED, "not done")], D),
        ([event(EventKind.INTENT), event(EventKind.OUTCOME, "unknown"), event(EventKind.SETTLED, "not done")], N),
        ([event(EventKind.OUTCOME, "skipped")], S),
        ([event(EventKind.OUTCOME)], U),
    ],
)
def test_step_outcomes(events: list[Event], kind: OutcomeKind) -> None:
    """The word of a commit found outweighs that of one not found; an intent alone says nothing."""
    assert records.step_outcomes(events)[StepId("1")].kind is kind


@pytest.mark.parametrize(
    ("facts", "recorded"),
    [
        ({"rows": 1}, {"rows": 1}),
        ({"rows": float("nan")}, {"not json": "{'rows': nan}"}),
        ({"path": b"x"}, {"not json": "{'path': b'x'}"}),
        ({"text": "x" * 30_000}, {"too long": ('{"text": "' + "x" * 30_000)[:20_000]}),
    ],
)
def test_facts(facts: Any, recorded: Any) -> None:
    """A commit was made: recording it never fails over what a step says about it."""
    said = records.outcome(RunId("r"), step(1), NOW, Outcome(D, "", facts), tries=1)
    assert said.body["facts"] == recorded


def test_ended() -> None:
    """The end of a run counts every outcome, those that did not come too."""
    results = [StepResult(StepId("1"), "work", "t", Outcome(D)), StepResult(StepId("2"), "work", "t", Outcome(S))]
    body = records.ended(RunId("r"), NOW, Verdict.PARTIAL, results).body
    assert body == {"verdict": "partial", "counts": {"done": 1, "not done": 0, "unknown": 0, "skipped": 1}}
