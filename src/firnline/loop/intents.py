"""Intents left open by a run that was killed or that lost its catalog: found, settled, recorded."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime

from firnline.core.errors import FirnlineError
from firnline.core.ids import RunId, StepId
from firnline.loop import plan_file, records
from firnline.loop.ports import AlreadyRecorded, Event, Ledger
from firnline.loop.registry import Registry, StepKind
from firnline.loop.values import Outcome, OutcomeKind, Plan, Stamp, Step

APPLIES_MAX = 1_000  # of one plan: a loop somewhere that applies a plan for ever ends with a message


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an open intent. An UNKNOWN one stays open."""

    run: RunId
    step: StepId
    kind: str
    subject: str
    table: str  # the lease key
    outcome: Outcome

    def __str__(self) -> str:
        said = {OutcomeKind.DONE: "was done", OutcomeKind.NOT_DONE: "was not done"}.get(self.outcome.kind, "is unknown")
        return f"Run {self.run} was cut off at {self.kind} of {self.subject}: it {said}."


def settle(kind: StepKind, step: Step, stamp: Stamp) -> Outcome:
    """Ask the kind what became of a commit. Whatever goes wrong while asking leaves it unknown."""
    try:
        return kind.settle(step, stamp)
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, error.what)
    except Exception as error:  # noqa: BLE001 - a bug in settling must not read as "not done", which deletes and repeats
        return Outcome(OutcomeKind.UNKNOWN, f"{type(error).__name__}: {error}")


def settle_open(
    table: str, registry: Registry, ledger: Ledger, now: datetime, *, by: RunId, record: bool = True
) -> tuple[Settled, ...]:
    """Settle every open intent on this lease key, oldest first.

    With `record`, only while holding the lease of that key: an open intent may belong to a live run, and settling it as
    not done while it commits would be a lie in the ledger. Without, nothing is written: for a plan that wants to say
    how things stand.
    """
    found = []
    for event in ledger.open_intents(table):
        outcome = _settle_event(event, registry)
        if record and outcome.kind in {OutcomeKind.DONE, OutcomeKind.NOT_DONE}:
            with contextlib.suppress(AlreadyRecorded):  # settled by another, or by its own run: their word stands
                ledger.record(records.settled(event, now, outcome, by))
        kind, subject = str(event.body.get("kind", "?")), event.subject or table
        found.append(Settled(event.run, event.step or StepId("?"), kind, subject, table, outcome))
    return tuple(found)


def _settle_event(event: Event, registry: Registry) -> Outcome:
    try:
        step = step_of(event, registry)
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, f"Its intent cannot be read by this version: {error}")
    return settle(registry.kind(step.kind), step, Stamp(event.run, step.id))


def step_of(event: Event, registry: Registry) -> Step:
    """The step an intent carries; BadInput when this version cannot read it."""
    return plan_file.step_from_json(event.body.get("step"), registry)


def name_apply(plan: Plan, number: int) -> RunId:
    """The run id of the n-th apply of a plan: the plan's own first, then `.2`, `.3` …

    Every apply is a run of its own, so that each of its intents has one end; the names make all applies of a plan
    findable without another index.
    """
    return plan.run if number == 1 else RunId(f"{plan.run}.{number}")


def done_by(plan: Plan, step: StepId, ledger: Ledger, *, asking: RunId) -> RunId | None:
    """The other apply of this plan that did this step, if one did. Ask while holding the step's lease."""
    for number in range(1, APPLIES_MAX + 1):
        run = name_apply(plan, number)
        if run == asking:
            continue
        events = ledger.run(run, step)
        if not events:
            return None
        outcome = records.step_outcomes(events).get(step)
        if outcome is not None and outcome.kind is OutcomeKind.DONE:
            return run
    return None
