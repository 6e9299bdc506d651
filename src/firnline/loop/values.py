"""The values of the loop: plans, steps, objections, outcomes. Everything here is frozen and serialisable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from firnline.core.ids import RunId, StepId
from firnline.core.types import Json

PLAN_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One unit of work that makes at most one commit. `body` is the capability's own frozen value of kind `kind`."""

    id: StepId
    kind: str
    subject: str  # the table or namespace, as people write it
    lease: str  # the lease key: catalog and table uuid; for create and drop, catalog and name
    body: Any
    base: str | None = None  # the metadata location the step was planned on
    requires: tuple[StepId, ...] = ()
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Something the plan does not do, and why: the report half of a plan. `level` is info, waiting or warning."""

    subject: str
    text: str
    level: str = "info"


@dataclass(frozen=True, slots=True)
class Plan:
    """Every decision taken. Preview, approval, apply and explain read this one value."""

    run: RunId
    tool: str
    lakehouse: str
    environment: str
    catalog: str
    created: datetime
    steps: tuple[Step, ...]
    report: tuple[Note, ...] = ()
    parent: RunId | None = None
    format: int = PLAN_FORMAT


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason not to run a step now. `next_step` is what the user could do or would have to declare."""

    reason: str
    next_step: str | None = None


class OutcomeKind(StrEnum):
    """The three outcomes of a commit, and the one of a step that was never tried."""

    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a step. `facts` holds small figures worth keeping: snapshot id, metadata location, counts."""

    kind: OutcomeKind
    detail: str = ""
    facts: Json = field(default_factory=dict)
    retryable: bool = False  # a lost race: the same request may be sent again while its requirements hold


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step and its outcome, in the order they were tried."""

    step: StepId
    kind: str
    subject: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Result:
    """What an apply did."""

    run: RunId
    steps: tuple[StepResult, ...]


def _held() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a step writes into its commit so that the commit can be found again.

    `held` asks whether the lease is still ours. The loop asks before `run`; a step that works for long before it
    commits asks again right before the commit, and does not commit on False.
    """

    run: RunId
    step: StepId
    held: Callable[[], bool] = field(default=_held, compare=False, repr=False)
