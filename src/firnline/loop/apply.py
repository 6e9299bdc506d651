"""Apply: walk a plan's steps. The only place where the loop has effects, all of them through its ports.

Per step: lease → open intents of earlier runs settled → fresh facts → vet → intent recorded → lease asked for once more
→ run → outcome recorded → lease given back. Killed anywhere, the ledger then holds either no intent, and nothing was
tried, or an open one, and the next run on that table settles it before it does anything else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from firnline.core.errors import Blocked, FirnlineError
from firnline.core.ids import RunId, StepId
from firnline.loop import intents, plan_file, records
from firnline.loop.attempt import attempt
from firnline.loop.holding import Holding, take
from firnline.loop.intents import Settled, settle_open
from firnline.loop.order import in_order
from firnline.loop.ports import AlreadyRecorded, Leases, Ledger
from firnline.loop.records import Verdict
from firnline.loop.registry import Registry, StepKind
from firnline.loop.surroundings import Moment, Progress, Surroundings
from firnline.loop.values import Outcome, OutcomeKind, Plan, Result, Stamp, Step, StepResult

__all__ = ["Settled", "apply", "settle_open"]


@dataclass(frozen=True, slots=True)
class _Run:
    """What stays the same for the whole apply."""

    plan: Plan
    id: RunId
    owner: str
    registry: Registry
    leases: Leases
    ledger: Ledger
    surroundings: Surroundings
    on_event: Callable[[Progress], None]


@dataclass(slots=True)
class _Walk:
    """What grows while it walks: results, why everything stops, and which tables were given up to a higher rank."""

    results: list[StepResult] = field(default_factory=list)
    outcomes: dict[StepId, OutcomeKind] = field(default_factory=dict)
    stop: str | None = None
    ceded: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Turn:
    """How far one step came: what an interruption in the middle of it has to know."""

    holding: Holding | None = None
    intended: bool = False
    sent: bool = False
    outcome: Outcome | None = None
    tries: int = 0


def apply(
    plan: Plan,
    registry: Registry,
    leases: Leases,
    ledger: Ledger,
    surroundings: Surroundings,
    *,
    command: str,
    overrides: Sequence[str] = (),
    settle: Sequence[str] = (),
    on_event: Callable[[Progress], None] | None = None,
) -> Result:
    """Do what the plan says, and record it.

    Never raises for what happens to a step: the result has an outcome for each, and `records.verdict` sums them up. A
    plan applied before is taken up where it stopped: steps another apply of it did count as done and are not repeated.
    Every apply is a run of its own in the ledger (`intents.name_apply`).

    `settle` names lease keys on which what earlier runs left open is settled first, though no step may be on them.

    After a KeyboardInterrupt or SystemExit the step at hand is settled and recorded, the run ends as interrupted, and
    the exception goes on. Any other BaseException passes untouched, like a kill.
    """
    ordered = in_order(plan.steps)
    run = _begin(plan, registry, ledger, surroundings, command, overrides)
    work = _Run(
        plan=plan,
        id=run,
        owner=f"{run} {surroundings.owner}",
        registry=registry,
        leases=leases,
        ledger=ledger,
        surroundings=surroundings,
        on_event=on_event or (lambda _: None),
    )
    walk = _Walk()
    try:
        for key in dict.fromkeys(settle):
            _settle_key(work, key)
        for position, step in enumerate(ordered, 1):
            _visit(work, walk, step, position)
    except (KeyboardInterrupt, SystemExit):
        _end(work, walk, Verdict.INTERRUPTED)
        raise
    _end(work, walk, records.verdict(walk.results))
    return Result(run, tuple(walk.results))


def _begin(
    plan: Plan,
    registry: Registry,
    ledger: Ledger,
    surroundings: Surroundings,
    command: str,
    overrides: Sequence[str],
) -> RunId:
    digest = plan_file.digest(plan, registry)
    # Different in every apply, so that of two begun at once the ledger gives the run id to one only.
    by = f"{surroundings.owner} {surroundings.entropy(8).hex()}"
    for number in range(1, intents.APPLIES_MAX + 1):
        run = intents.name_apply(plan, number)
        now = surroundings.now()
        try:
            ledger.record(records.started(plan, run, now, command=command, digest=digest, overrides=overrides, by=by))
        except AlreadyRecorded:
            continue
        return run
    raise Blocked(
        f"The plan {plan.run} was applied {intents.APPLIES_MAX:,} times.",
        why="Something applies it in a loop.",
        next_step="Find what does, and plan again.",
    )


def _end(work: _Run, walk: _Walk, verdict: Verdict) -> None:
    work.ledger.record(records.ended(work.id, work.surroundings.now(), verdict, walk.results))


def _settle_key(work: _Run, key: str) -> None:
    """Settle what earlier runs left open on a key. On trouble it stays open, and the next `firnline plan` says so."""
    try:
        left = work.ledger.open_intents(key)
        if left:
            _settle_left(work, key, intents.step_of(left[0], work.registry))
    except FirnlineError:
        return


def _settle_left(work: _Run, key: str, step: Step) -> None:
    def tell(moment: Moment, text: str) -> None:
        work.on_event(Progress(moment, step, 0, len(work.plan.steps), text))

    kind = work.registry.kind(step.kind)
    waiting = partial(tell, Moment.WAITING)
    taken = take(step, kind, work.leases, work.surroundings, work.owner, waiting)
    if isinstance(taken, str):
        waiting(taken)
        return
    try:
        for settled in settle_open(key, work.registry, work.ledger, work.surroundings.now(), by=work.id):
            tell(Moment.SETTLED, str(settled))
    finally:
        taken.release()


def _visit(work: _Run, walk: _Walk, step: Step, position: int) -> None:
    """Take one step's turn, or say why it gets none."""

    def tell(moment: Moment, text: str = "") -> None:
        work.on_event(Progress(moment, step, position, len(work.plan.steps), text))

    turn = _Turn()
    reason = walk.stop or walk.ceded.get(step.lease) or _unmet(step, walk.outcomes)
    try:
        outcome = _skipped(reason) if reason else _take_turn(work, step, turn, tell)
    except (KeyboardInterrupt, SystemExit):
        outcome = _after_interrupt(work, step, turn)
        _close(work, walk, step, turn, outcome)
        raise
    _close(work, walk, step, turn, outcome)
    tell(Moment.ENDED, f"{outcome.kind.value}: {outcome.detail}" if outcome.detail else outcome.kind.value)


def _unmet(step: Step, outcomes: Mapping[StepId, OutcomeKind]) -> str | None:
    for needed in step.requires:
        if outcomes[needed] is not OutcomeKind.DONE:
            return f"It requires {needed}, which is {outcomes[needed].value}."
    return None


def _skipped(reason: str, **facts: object) -> Outcome:
    return Outcome(OutcomeKind.SKIPPED, reason, facts)


def _take_turn(work: _Run, step: Step, turn: _Turn, tell: Callable[..., None]) -> Outcome:
    try:
        kind = work.registry.kind(step.kind)
        taken = take(step, kind, work.leases, work.surroundings, work.owner, lambda text: tell(Moment.WAITING, text))
        if isinstance(taken, str):
            return _skipped(taken, blocked=True)
        turn.holding = taken
        with work.surroundings.background(taken.renew, kind.bounds.lease_length / 3):
            return _with_lease(work, step, kind, taken, turn, tell)
    except FirnlineError as error:
        if turn.intended:
            raise  # the ledger or the leases failed around a commit: nothing after this can be trusted to be recorded
        return Outcome(OutcomeKind.NOT_DONE, _words(error))


def _with_lease(
    work: _Run, step: Step, kind: StepKind, holding: Holding, turn: _Turn, tell: Callable[..., None]
) -> Outcome:
    for settled in settle_open(step.lease, work.registry, work.ledger, work.surroundings.now(), by=work.id):
        tell(Moment.SETTLED, str(settled))
        if settled.outcome.kind is OutcomeKind.UNKNOWN:
            return _skipped(
                f"Run {settled.run} left {settled.kind} of {settled.subject} with an unknown outcome, and it still is: "
                f"{settled.outcome.detail or 'no reason given'} See it with `firnline ledger {settled.run}`.",
                unsettled=settled.run,
            )
    earlier = intents.done_by(work.plan, step.id, work.ledger, asking=work.id)
    if earlier is not None:
        return Outcome(OutcomeKind.DONE, f"Done already, by run {earlier}.", {"already": earlier})
    objections = _vet(kind, step)
    if objections is not None:
        return objections
    tell(Moment.RUNNING)
    _intend(work, step, turn)
    stamp = Stamp(work.id, step.id, holding.held)
    with work.surroundings.shield():
        turn.sent = True
        outcome, turn.tries = attempt(
            step, kind, stamp, work.surroundings, lambda text: tell(Moment.RETRYING, text), _vet
        )
        turn.outcome = outcome
        _record_outcome(work, step, turn, outcome)
    return outcome


def _vet(kind: StepKind, step: Step) -> Outcome | None:
    """What keeps the step from being run on the facts as they are now, or None."""
    try:
        objections = kind.vet(step, kind.observe(step))
    except FirnlineError as error:
        return Outcome(OutcomeKind.NOT_DONE, _words(error))
    except Exception as error:  # noqa: BLE001 - nothing was tried: other tables can go on; the ledger keeps the words
        return Outcome(OutcomeKind.NOT_DONE, f"{type(error).__name__}: {error}")
    if not objections:
        return None
    said = [{"reason": objection.reason, "next_step": objection.next_step} for objection in objections]
    return _skipped(" ".join(objection.reason for objection in objections), objections=said)


def _intend(work: _Run, step: Step, turn: _Turn) -> None:
    encoded = plan_file.step_to_json(step, work.registry)
    digest = plan_file.digest_of(encoded)
    turn.intended = True  # before it is recorded: an interruption in between must look for the commit, not assume
    work.ledger.record(records.intent(work.id, step, work.surroundings.now(), encoded=encoded, digest=digest))


def _after_interrupt(work: _Run, step: Step, turn: _Turn) -> Outcome:
    if turn.outcome is not None:
        return turn.outcome
    if not turn.intended:
        return _skipped("Interrupted before it was tried.")
    if not turn.sent:
        return Outcome(OutcomeKind.NOT_DONE, "Interrupted before anything was sent.")
    found = intents.settle(work.registry.kind(step.kind), step, Stamp(work.id, step.id))
    # Interrupted within the commit call: not found yet is no proof, and whoever interrupts twice does not want to wait.
    kind = OutcomeKind.DONE if found.kind is OutcomeKind.DONE else OutcomeKind.UNKNOWN
    return replace(found, kind=kind, detail=f"Interrupted while it was being committed: {found.detail}")


def _record_outcome(work: _Run, step: Step, turn: _Turn, outcome: Outcome) -> None:
    with contextlib.suppress(AlreadyRecorded):  # recorded right before an interruption
        work.ledger.record(records.outcome(work.id, step, work.surroundings.now(), outcome, tries=turn.tries))


def _close(work: _Run, walk: _Walk, step: Step, turn: _Turn, outcome: Outcome) -> None:
    """Record what is not recorded yet, give the lease back, and draw the consequences for the steps after this one."""
    _record_outcome(work, step, turn, outcome)
    walk.results.append(StepResult(step.id, step.kind, step.subject, outcome))
    walk.outcomes[step.id] = outcome.kind
    if outcome.kind is OutcomeKind.UNKNOWN:
        # The lease is left to lapse: for that long nobody touches the table, and a commit on its way can land.
        walk.stop = (
            f"Stopped: it is not known whether {step.kind} of {step.subject} was done. "
            "`firnline plan` says how it stands, and the next `firnline apply` settles it first."
        )
        return
    if turn.holding is None:
        return
    if turn.holding.lost:
        walk.stop = f"Stopped: the lease on {step.subject} was lost while this run held it."
    elif turn.holding.wanted is not None:
        rank = turn.holding.wanted.name.lower()
        walk.ceded[step.lease] = f"{step.subject} was given up to {rank}, which goes first; apply again later."
    turn.holding.release()


def _words(error: FirnlineError) -> str:
    return " ".join(part for part in (error.what, error.next_step) if part)
