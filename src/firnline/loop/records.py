"""What the loop writes into the ledger and how it is read back: the one place that knows the bodies of events. Pure.

A step is *done* when its outcome or its settling says so: the word of a commit found outweighs that of one not found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from firnline.core.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PARTIAL, EXIT_REFUSED
from firnline.core.ids import RunId, StepId
from firnline.core.types import Json
from firnline.loop.ports import AlreadyRecorded, Event, EventKind, RunSummary
from firnline.loop.values import Outcome, OutcomeKind, Plan, Step, StepResult

FACTS_CHARACTERS_MAX = 20_000  # facts are small figures; a careless step must not fill the ledger


class Verdict(StrEnum):
    """What a run came to."""

    DONE = "done"
    REFUSED = "refused"  # nothing was tried
    PARTIAL = "partial"
    FAILED = "failed"
    UNKNOWN = "unknown"  # the outcome of a commit is not known
    INTERRUPTED = "interrupted"


_EXIT = {
    Verdict.DONE: EXIT_DONE,
    Verdict.REFUSED: EXIT_REFUSED,
    Verdict.PARTIAL: EXIT_PARTIAL,
    Verdict.FAILED: EXIT_FAILED,
    Verdict.UNKNOWN: EXIT_FAILED,
    Verdict.INTERRUPTED: EXIT_INTERRUPTED,
}


def exit_code(verdict: Verdict) -> int:
    """The exit code a command ends with."""
    return _EXIT[verdict]


def verdict(results: Sequence[StepResult]) -> Verdict:
    """Done when every step is; unknown when one is; refused when none was tried; otherwise partial or failed."""
    kinds = {result.outcome.kind for result in results}
    if OutcomeKind.UNKNOWN in kinds:
        return Verdict.UNKNOWN
    if kinds <= {OutcomeKind.DONE}:
        return Verdict.DONE
    if OutcomeKind.DONE in kinds:
        return Verdict.PARTIAL
    return Verdict.FAILED if OutcomeKind.NOT_DONE in kinds else Verdict.REFUSED


def started(
    plan: Plan, run: RunId, at: datetime, *, command: str, digest: str, overrides: Sequence[str], by: str
) -> Event:
    """A run begins. `by` names the process and is different for every apply: two never take one run for theirs."""
    body = {
        "command": command,
        "plan": plan.run,
        "digest": digest,
        "overrides": list(overrides),
        "steps": len(plan.steps),
        "lakehouse": plan.lakehouse,
        "environment": plan.environment,
        "catalog": plan.catalog,
        "tool": plan.tool,
        "by": by,
    }
    return Event(run, EventKind.STARTED, at, body=body)


def intent(run: RunId, step: Step, at: datetime, *, encoded: Json, digest: str) -> Event:
    """A step is about to commit. It carries the whole step: whoever finds it open can settle it without the plan.

    `outputs` are the exact paths the step will write: cleaning up after it deletes these and never lists. A metadata
    commit writes none of its own.
    """
    body = {"kind": step.kind, "digest": digest, "base": step.base, "outputs": [], "step": encoded}
    return Event(run, EventKind.INTENT, at, step.id, step.lease, step.subject, body)


def outcome(run: RunId, step: Step, at: datetime, outcome: Outcome, *, tries: int) -> Event:
    """What became of a step."""
    body = {"kind": step.kind, "tries": tries, **_outcome_body(outcome)}
    return Event(run, EventKind.OUTCOME, at, step.id, step.lease, step.subject, body)


def settled(of: Event, at: datetime, outcome: Outcome, by: RunId) -> Event:
    """What became of an intent that was left open, found out by a later run."""
    body = {"kind": of.body.get("kind"), "by": by, **_outcome_body(outcome)}
    return Event(of.run, EventKind.SETTLED, at, of.step, of.table, of.subject, body)


def ended(run: RunId, at: datetime, verdict: Verdict, results: Sequence[StepResult]) -> Event:
    """A run is over."""
    counts = {kind.value: sum(result.outcome.kind is kind for result in results) for kind in OutcomeKind}
    return Event(run, EventKind.ENDED, at, body={"verdict": verdict.value, "counts": counts})


def _outcome_body(outcome: Outcome) -> dict[str, Json]:
    return {"outcome": outcome.kind.value, "detail": outcome.detail, "facts": _plain(outcome.facts)}


def _plain(facts: Json) -> Json:
    # A commit was made: recording it must not fail over a figure that JSON cannot hold.
    try:
        text = json.dumps(facts, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return {"not json": repr(facts)[:FACTS_CHARACTERS_MAX]}
    return facts if len(text) <= FACTS_CHARACTERS_MAX else {"too long": text[:FACTS_CHARACTERS_MAX]}


def step_outcomes(events: Iterable[Event]) -> dict[StepId, Outcome]:
    """What became of each step of one run. An intent without an end is unknown."""
    found: dict[StepId, Outcome] = {}
    for event in events:
        if event.step is None or event.kind not in {EventKind.INTENT, EventKind.OUTCOME, EventKind.SETTLED}:
            continue
        new = _read_outcome(event)
        before = found.get(event.step)
        if before is None or before.kind is not OutcomeKind.DONE:
            found[event.step] = new
    return found


def _read_outcome(event: Event) -> Outcome:
    if event.kind is EventKind.INTENT:
        return Outcome(OutcomeKind.UNKNOWN, "The step was begun; nobody recorded its end.")
    kind = OutcomeKind(event.body.get("outcome", OutcomeKind.UNKNOWN.value))
    return Outcome(kind, str(event.body.get("detail", "")), event.body.get("facts", {}))


def summarise(events: Sequence[Event]) -> RunSummary:
    """A run at a glance, from all its events; the first is its beginning."""
    first = events[0]
    end = next((event for event in events if event.kind is EventKind.ENDED), None)
    outcomes = step_outcomes(events)
    return RunSummary(
        run=first.run,
        started=first.at,
        ended=end.at if end else None,
        command=str(first.body.get("command", "")),
        verdict=str(end.body["verdict"]) if end else None,
        steps=int(first.body.get("steps", len(outcomes))),
        done=sum(outcome.kind is OutcomeKind.DONE for outcome in outcomes.values()),
    )


def canonical(body: Json) -> str:
    """The one text of a body: two bodies are the same when their texts are."""
    return json.dumps(body, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def already_recorded(event: Event) -> AlreadyRecorded:
    """What a ledger answers to an event it has with another body."""
    of = f"step {event.step} of run {event.run}" if event.step else f"run {event.run}"
    return AlreadyRecorded(
        f"The ledger already has another {event.kind.value!r} of {of}.",
        why="What is recorded is never changed.",
        next_step=f"See what happened: firnline ledger {event.run}",
    )
