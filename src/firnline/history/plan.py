"""Where main is to go, decided. Pure: the table, the target and the time come in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from firnline.config.values import Declaration
from firnline.core.errors import BadInput, Refused
from firnline.core.ids import Identifier, SnapshotId, StepId
from firnline.facts import lineage
from firnline.facts.lineage import Lineage
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.history import consequences, timeline
from firnline.history.values import REF, ROLLBACK, ROLLBACKS, Action, Move
from firnline.loop.values import Step

REASON_LENGTH_MIN = 10  # as for acceptances in files: "ok" is no reason to somebody who reads the ledger next year


def rollback(
    identifier: Identifier,
    meta: TableMeta,
    target: Snapshot,
    *,
    declaration: Declaration | None,
    now: datetime,
    accepted: str | None = None,
) -> Move | None:
    """Main to the target, or None when it is there. Refused without a reason for a snapshot main never was at."""
    main = meta.refs.get("main")
    if main is None:
        raise BadInput(
            f"{identifier} has no snapshot on main, so there is nothing to roll back.",
            next_step=f"`firnline history {identifier}` lists what there is.",
        )
    if main.snapshot == target.id:
        return None
    line = lineage.of(meta)
    action = classify(line, main.snapshot, target.id)
    reason = checked_reason(accepted)
    if action is Action.UNRELATED and reason is None:
        raise Refused(
            f"Main of {identifier} never was at snapshot {target.id}: it was staged, or written to a branch.",
            why="Readers would see rows that nobody published.",
            next_step="Publish a branch with `firnline branch forward`; or give the reason: --accept '…'.",
        )
    own, theirs = line.line(main.snapshot), line.line(target.id)
    leaving = frozenset(own) - frozenset(theirs)
    move = Move(
        identifier=identifier,
        uuid=str(meta.uuid),
        action=action,
        before=main,
        after=_moved(main, target.id),
        origin=timeline.entry(line, main.snapshot) if main.snapshot in line.by_id else None,
        target=timeline.entry(line, target.id),
        leaving=timeline.span(line, leaving),
        returning=timeline.span(line, frozenset(theirs) - frozenset(own)),
        accepted=reason if action is Action.UNRELATED else None,
    )
    return replace(move, consequences=tuple(consequences.of_rollback(move, line, declaration, leaving, now)))


def _moved(ref: Ref, snapshot: SnapshotId) -> Ref:
    return Ref(ref.name, ref.kind, snapshot, ref.ref_age_max_ms, ref.snapshot_age_max_ms, ref.snapshots_min)


def classify(line: Lineage, now: SnapshotId, target: SnapshotId) -> Action:
    """What moving main from one snapshot to another is."""
    if target in line.line(now):
        return Action.BACK
    if target not in line.ever_on_main():
        return Action.UNRELATED
    return Action.FORWARD if line.descends(target, now) else Action.ACROSS


def checked_reason(reason: str | None) -> str | None:
    """The reason, stripped; BadInput for one that says nothing."""
    if reason is None:
        return None
    if len(reason.strip()) < REASON_LENGTH_MIN:
        raise BadInput(
            f"{reason!r} is no reason.",
            why="It is recorded for whoever reads the ledger later.",
            next_step=f"Say in {REASON_LENGTH_MIN} characters or more why.",
        )
    return reason.strip()


def step(move: Move, catalog: str, meta: TableMeta) -> Step:
    """The move as the one step of a plan."""
    kind = ROLLBACK if move.action in ROLLBACKS else REF
    return Step(StepId("1"), kind, str(move.identifier), f"{catalog}/{move.uuid}", move, meta.location)


def overrides(move: Move, subject: str) -> tuple[str, ...]:
    """The recorded acceptance of a move, as a sentence for the ledger."""
    return (f"{subject}: {move.action} move of main accepted: {move.accepted}",) if move.accepted else ()
