"""What the loop needs of the outside: leases and a ledger. One contract suite per port in `tests/contracts`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Protocol

from firnline.core.errors import Failed
from firnline.core.ids import RunId, StepId
from firnline.core.types import Json


class Rank(IntEnum):
    """Who gives way to whom. A higher rank sets *wanted*; the holder of a lower one stops before its next step."""

    REST = 0
    COMPACTION = 1
    PUBLISH = 2
    FOLD = 3
    ERASURE = 4


@dataclass(frozen=True, slots=True)
class Lease:
    """A held lease. `fence` grows with every acquisition; whoever holds an older one has lost."""

    key: str
    owner: str
    fence: int
    generation: int  # the request generation this holder works for
    until: datetime
    rank: Rank
    attempt: int = 0
    wanted: Rank | None = None  # a higher rank waits: stop before the next step


@dataclass(frozen=True, slots=True)
class LeaseItem:
    """Everything stored about one key, for looking."""

    key: str
    requested: int
    done: int
    running: int
    fence: int
    owner: str | None
    until: datetime | None
    rank: Rank | None
    wanted: Rank | None
    attempt: int
    not_before: datetime | None
    parked: bool
    reasons: tuple[str, ...] = ()


class Leases(Protocol):
    """Mutual exclusion per key with generation counters and fences. Every verb is one atomic action.

    Time comes in as an argument: leases expire by the caller's clock, and a lease may be stolen only `STEAL_MARGIN`
    after its end, so that two clocks a few seconds apart do no harm.
    """

    def mark(self, key: str, reason: str) -> int:
        """Ask for work: one generation more. Returns the generation. Duplicates cost one extra cheap run at most."""

    def acquire(
        self, key: str, owner: str, rank: Rank, now: datetime, length: timedelta, gone: str | None = None
    ) -> Lease | None:
        """Take the lease when nobody holds it, it is not parked and not before its time; else None.

        A holder of lower rank is told: `wanted` is set for `WANTED_LASTS`, renewed by every further try, and until it
        lapses a lower rank does not get the lease either, so the higher one is neither starved nor, dead, in the way.
        `gone` names an owner the caller knows to be dead (its process is no more): its lease counts as free at once.
        """

    def renew(self, lease: Lease, now: datetime, length: timedelta) -> Lease | None:
        """Longer, and with what is wanted by now; None when it was lost."""

    def guard(self, lease: Lease, now: datetime, budget: timedelta) -> bool:
        """Whether the lease is ours with at least `budget` left: asked right before each commit."""

    def complete(self, lease: Lease) -> bool:
        """The work of this generation is done. True when more was asked for meanwhile: run again at once.

        On a lost lease nothing is done; the answer then says whether work is still asked for.
        """

    def release(self, lease: Lease) -> None:
        """Give the lease back with the work not done and nothing held against it. Safe on a lost lease."""

    def fail(self, lease: Lease, not_before: datetime, attempts_max: int) -> bool:
        """Give it back after a failure, not to be taken before then; True when that parked the key."""

    def park(self, key: str, reason: str) -> None:
        """Nobody acquires this key until a person lifts it with `unpark`; a `mark` counts and does not lift it."""

    def unpark(self, key: str) -> None:
        """Lift `park`, attempts forgotten."""

    def look(self, key: str) -> LeaseItem | None:
        """The item as stored."""


STEAL_MARGIN = timedelta(seconds=30)
WANTED_LASTS = timedelta(seconds=60)
REASONS_MAX = 16  # the newest reasons of a key, each once: enough to explain a run, bounded whatever the events do


class AlreadyRecorded(Failed):
    """The ledger has this event with another body: somebody else wrote it first."""


class EventKind(StrEnum):
    """What the ledger records. A run starts, has events per step, and ends."""

    STARTED = "started"
    INTENT = "intent"
    OUTCOME = "outcome"
    SETTLED = "settled"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the ledger. Run-wide events have no step and no table."""

    run: RunId
    kind: EventKind
    at: datetime
    step: StepId | None = None
    table: str | None = None  # the lease key of the step
    subject: str | None = None
    body: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run at a glance. `ended` is None for one that is running or was killed."""

    run: RunId
    started: datetime
    ended: datetime | None
    command: str
    verdict: str | None
    steps: int
    done: int


class Ledger(Protocol):
    """Append-only. Nothing is ever changed or removed."""

    def record(self, event: Event) -> None:
        """Durable when this returns. The same (run, step, kind) twice with the same body is once.

        AlreadyRecorded for another body: what stands is not changed.
        """

    def run(self, run: RunId, step: StepId | None = None) -> tuple[Event, ...]:
        """Every event of a run in order; with `step`, that step's and the run-wide ones. Empty for an unknown run."""

    def runs(self, limit: int, before: RunId | None = None) -> tuple[RunSummary, ...]:
        """The runs that started last come first; from before that one, and none before an unknown one."""

    def table(self, table: str, limit: int) -> tuple[Event, ...]:
        """The newest events of a table, newest first."""

    def open_intents(self, table: str) -> tuple[Event, ...]:
        """Intents of this table without an outcome of done or not done, and not settled: oldest first."""
