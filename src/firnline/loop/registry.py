"""The step registry: which kinds of step there are, and what the loop may do with each.

A capability describes a kind as a `StepKind`; the composition root registers it. The loop knows kinds by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean
from firnline.core.types import Json
from firnline.loop.ports import Rank
from firnline.loop.values import Objection, Outcome, Stamp, Step


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how often a kind of step is tried."""

    tries_max: int = 8  # a table that loses eight races in a row has a writer no retry will outrun
    retry_time_max: timedelta = timedelta(seconds=60)  # all tries together: a person is waiting
    retry_pause: timedelta = timedelta(milliseconds=100)  # before the second try; doubled each time, up to 5 s
    lease_length: timedelta = timedelta(seconds=60)  # three renewals; what a killed holder costs the next one
    commit_budget: timedelta = timedelta(seconds=15)  # what must be left of the lease when the commit is sent


@dataclass(frozen=True, slots=True)
class StepKind:
    """One kind of step.

    `encode` and `decode` are inverse; `decode` may raise KeyError, TypeError or ValueError on what it cannot read.
    `observe` reads fresh facts: the pointer and what landed since the base, never the whole table. `vet` is pure.
    `run` makes at most one commit, carries the stamp into it, and does not retry; an exception out of it counts as an
    unknown outcome. `settle` finds out afterwards whether the commit of that stamp happened: DONE, NOT_DONE
    (`retryable` when sending it again is right), or UNKNOWN. It reads and never writes.
    """

    name: str
    encode: Callable[[Any], Json]
    decode: Callable[[Json], Any]
    observe: Callable[[Step], Any]
    vet: Callable[[Step, Any], tuple[Objection, ...]]
    run: Callable[[Step, Stamp], Outcome]
    settle: Callable[[Step, Stamp], Outcome]
    bounds: Bounds = Bounds()
    rank: Rank = Rank.REST


class Registry:
    """Kinds by name. Immutable once built."""

    def __init__(self, kinds: Iterable[StepKind]) -> None:
        self._kinds: dict[str, StepKind] = {}
        for kind in kinds:
            if kind.name in self._kinds:
                raise ValueError(f"The step kind {kind.name!r} is registered twice.")
            self._kinds[kind.name] = kind

    def names(self) -> tuple[str, ...]:
        """Every registered kind, sorted."""
        return tuple(sorted(self._kinds))

    def kind(self, name: str) -> StepKind:
        """The kind of this name; BadInput for one this version does not have."""
        if name not in self._kinds:
            raise BadInput(
                f"This version of Firnline has no step kind {name!r}.",
                why=did_you_mean(name, self._kinds) or None,
                next_step="Use the version that made the plan, or plan again with this one.",
            )
        return self._kinds[name]
