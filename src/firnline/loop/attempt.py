"""Run one step until it is done, refused, out of tries, or of unknown outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from firnline.core.errors import FirnlineError
from firnline.loop import intents
from firnline.loop.registry import StepKind
from firnline.loop.surroundings import Surroundings
from firnline.loop.values import Outcome, OutcomeKind, Stamp, Step

PAUSE_MAX = 5.0
Vet = Callable[[StepKind, Step], Outcome | None]


def attempt(
    step: Step, kind: StepKind, stamp: Stamp, surroundings: Surroundings, on_retry: Callable[[str], None], vet: Vet
) -> tuple[Outcome, int]:
    """The outcome, and how many tries it took.

    A lost race sends the same request again, after a pause with jitter and only while `vet` has no objection to the
    facts that won. The lease is asked for before every try. Never a second try after an outcome that stayed unknown,
    and after a lost reply not before a commit on its way had time to land.
    """
    deadline = surroundings.now() + kind.bounds.retry_time_max
    tries = 0
    while True:
        if not stamp.held():
            return Outcome(OutcomeKind.NOT_DONE, "The lease was lost before the commit; nothing was sent."), tries
        tries += 1
        outcome = _once(step, kind, stamp, surroundings)
        if outcome.kind is not OutcomeKind.NOT_DONE or not outcome.retryable:
            return outcome, tries
        if tries >= kind.bounds.tries_max or surroundings.now() >= deadline:
            return replace(outcome, detail=f"{outcome.detail} Given up after {tries} tries.".strip()), tries
        on_retry(outcome.detail)
        surroundings.sleep(_pause(kind, surroundings, tries))
        objection = vet(kind, step)
        if objection is not None:
            lost = f"Another writer came first, and now: {objection.detail}"
            return Outcome(OutcomeKind.NOT_DONE, lost, objection.facts), tries


def _once(step: Step, kind: StepKind, stamp: Stamp, surroundings: Surroundings) -> Outcome:
    try:
        outcome = kind.run(step, stamp)
    except FirnlineError as error:
        outcome = Outcome(OutcomeKind.UNKNOWN, str(error))
    except Exception as error:  # noqa: BLE001 - whatever came out of a commit call proves neither
        outcome = Outcome(OutcomeKind.UNKNOWN, f"{type(error).__name__}: {error}")
    if outcome.kind is not OutcomeKind.UNKNOWN:
        return outcome
    settled = intents.settle(kind, step, stamp)
    if settled.kind is OutcomeKind.NOT_DONE:
        surroundings.sleep(surroundings.landing_margin.total_seconds())
        settled = intents.settle(kind, step, stamp)
    if settled.kind is OutcomeKind.UNKNOWN:
        return replace(outcome, detail=" ".join(part for part in (outcome.detail, settled.detail) if part))
    said = "found in the table" if settled.kind is OutcomeKind.DONE else "not found in the table"
    return replace(
        settled, detail=f"The reply was lost ({outcome.detail}); the commit was {said}. {settled.detail}".strip()
    )


def _pause(kind: StepKind, surroundings: Surroundings, tries: int) -> float:
    full = min(kind.bounds.retry_pause.total_seconds() * 2.0 ** (tries - 1), PAUSE_MAX)
    return full * (0.5 + surroundings.entropy(1)[0] / 255)
