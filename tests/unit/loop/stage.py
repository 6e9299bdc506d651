"""A loop to be watched: real leases and a real ledger in memory, and steps that do what a script says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.state import State, memory_state
from firnline.core.ids import RunId, StepId
from firnline.loop.apply import apply
from firnline.loop.ports import Event, EventKind, Rank
from firnline.loop.registry import Bounds, Registry, StepKind
from firnline.loop.surroundings import Progress, Surroundings
from firnline.loop.values import Objection, Outcome, OutcomeKind, Plan, Result, Stamp, Step

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
DONE = Outcome(OutcomeKind.DONE)
NOT_DONE = Outcome(OutcomeKind.NOT_DONE, "it is not so")
LOST = Outcome(OutcomeKind.NOT_DONE, "somebody else was faster", retryable=True)
UNKNOWN = Outcome(OutcomeKind.UNKNOWN, "no reply")


def step(number: int, lease: str | None = None, *, requires: Iterable[int] = (), kind: str = "work") -> Step:
    """A step on a table of its own, unless it says another."""
    needed = tuple(StepId(str(each)) for each in requires)
    table = lease or f"t{number}"
    return Step(StepId(str(number)), kind, f"shop.{table}", f"lake/{table}", {"n": number}, requires=needed)


def plan(*steps: Step, run: str = "plan") -> Plan:
    """A plan of these steps."""
    return Plan(RunId(run), "test", "shop", "local", "lake", NOW, steps)


@dataclass
class Stage:
    """`script` says what each call comes to: (what, step) to a list of answers, taken one by one; then all is well.

    An answer is a value, an exception to raise, or something to call. What a call is: vet, run, settle, observe.
    """

    script: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    rank: Rank = Rank.REST
    owner: str = "here:1"
    state: State = field(default_factory=memory_state)
    calls: list[tuple[str, str]] = field(default_factory=list)
    events: list[Progress] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    time: datetime = NOW
    gone: Callable[[str], bool] = lambda _: False
    background: Callable[..., AbstractContextManager[None]] = lambda tick, every: nullcontext()  # noqa: ARG005
    watch: Callable[[Progress], None] = lambda _: None
    patience: timedelta = timedelta(seconds=120)
    numbers: itertools.count = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.leases: Any = SqliteLeases(self.state)
        self.ledger: Any = SqliteLedger(self.state)

    @property
    def kind(self) -> StepKind:
        return StepKind(
            "work", lambda body: body, lambda body: {"n": body["n"] + 0},
            observe=lambda step: self._play("observe", step, None),
            vet=lambda step, _: self._play("vet", step, ()),
            run=self._run,
            settle=lambda step, stamp: self._play("settle", step, NOT_DONE, stamp),
            bounds=self.bounds, rank=self.rank,
        )  # fmt: skip

    def _run(self, step: Step, stamp: Stamp) -> Outcome:
        answer: Outcome = self._play("run", step, DONE, stamp)
        return answer

    def _play(self, what: str, step: Step, well: Any, *more: Any) -> Any:
        self.calls.append((what, step.id))
        answers = self.script.get((what, step.id), [])
        answer = answers.pop(0) if answers else well
        if isinstance(answer, BaseException):
            raise answer
        return answer(*more) if callable(answer) else answer

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            now=lambda: self.time, sleep=self._sleep,
            entropy=lambda size: next(self.numbers).to_bytes(8, "big")[-size:].rjust(size, b"\0"),
            owner=self.owner, gone=self.gone, background=self.background, patience=self.patience,
        )  # fmt: skip

    @property
    def registry(self) -> Registry:
        return Registry([self.kind])

    def _on_event(self, progress: Progress) -> None:
        self.events.append(progress)
        self.watch(progress)

    def apply(self, *steps: Step, run: str = "plan", settle: Iterable[str] = ()) -> Result:
        return apply(
            plan(*steps, run=run), self.registry, self.leases, self.ledger, self.surroundings,
            command="firnline apply", settle=tuple(settle), on_event=self._on_event,
        )  # fmt: skip

    def recorded(self, run: str = "plan") -> list[tuple[EventKind, str | None]]:
        return [(event.kind, event.step) for event in self.ledger.run(RunId(run))]

    def verdict(self, run: str = "plan") -> str | None:
        ended = [event for event in self.ledger.run(RunId(run)) if event.kind is EventKind.ENDED]
        return ended[0].body["verdict"] if ended else None

    def outcome(self, step: str, run: str = "plan") -> dict[str, Any]:
        found: list[Event] = [e for e in self.ledger.run(RunId(run), StepId(step)) if e.kind is EventKind.OUTCOME]
        return dict(found[0].body)

    def holder(self, table: str) -> str | None:
        item = self.leases.look(f"lake/{table}")
        return item.owner if item else None

    def ran(self) -> list[str]:
        return [step for what, step in self.calls if what == "run"]


def object_to(*reasons: str) -> tuple[Objection, ...]:
    """Objections."""
    return tuple(Objection(reason, "Plan again.") for reason in reasons)


def kinds(result: Result) -> list[OutcomeKind]:
    """What became of each step."""
    return [each.outcome.kind for each in result.steps]
