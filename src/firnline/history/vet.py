"""Objections to a move, from fresh facts. Pure: what a move is called in a plan file is worked out anew here."""

from __future__ import annotations

from firnline.facts import lineage, requirements
from firnline.facts.meta import TableMeta
from firnline.history import plan, request
from firnline.history.values import REF, ROLLBACK, ROLLBACKS, Action, Move
from firnline.loop.values import Objection, Step

PLAN_AGAIN = "Look at the table with `firnline history`, then give the command again."


def move(step: Step, fresh: TableMeta | None) -> tuple[Objection, ...]:
    """Objections to `history.rollback` and `history.ref`."""
    body = step.body
    assert isinstance(body, Move)
    if fresh is None:
        return (Objection(f"{body.identifier} is gone from the catalog.", PLAN_AGAIN),)
    found = [
        f"{body.identifier} drifted since the plan: {said}." for said in requirements.drift(request.build(body), fresh)
    ]
    if not found:
        found = [said for said in (_mislabelled(step.kind, body), _target(body, fresh)) if said is not None]
    if not found:
        found = [said for said in (_not_as_planned(body, fresh),) if said is not None]
    return tuple(Objection(reason, PLAN_AGAIN) for reason in found)


def _mislabelled(kind: str, body: Move) -> str | None:
    """A plan file may be edited: the kind, the action and the two ends of the move must fit each other."""
    ends = (body.before is not None, body.after is not None)
    fits = {Action.CREATE: (False, True), Action.DROP: (True, False)}.get(body.action, (True, True))
    names = {ref.name for ref in (body.before, body.after) if ref is not None}
    kinds = {ref.kind for ref in (body.before, body.after) if ref is not None}
    of_main = body.action in ROLLBACKS
    if ends != fits or len(names) != 1 or len(kinds) != 1 or kind != (ROLLBACK if of_main else REF):
        return "The plan contradicts itself: its ends do not make the move it is called."
    if of_main and names != {"main"}:
        return f"A rollback moves main, and this one moves {names.pop()}."
    if names == {"main"} and body.action in {Action.CREATE, Action.DROP}:
        return "main is the table itself: it is neither made nor dropped."
    return None


def _target(body: Move, fresh: TableMeta) -> str | None:
    if body.after is None or fresh.find_snapshot(body.after.snapshot) is not None:
        return None
    return f"{body.identifier} has no snapshot {body.after.snapshot} any more."


def _not_as_planned(body: Move, fresh: TableMeta) -> str | None:
    """The same move may mean something else by now, or never have been what the plan called it."""
    if body.before is None or body.after is None:
        return None
    line = lineage.of(fresh)
    if body.action is Action.FAST_FORWARD:
        if not line.descends(body.after.snapshot, body.before.snapshot):
            return f"Snapshot {body.after.snapshot} does not follow on {body.before.name}."
        return None
    action = plan.classify(line, body.before.snapshot, body.after.snapshot)
    if action is not body.action:
        return f"The move is planned as {body.action}, and is {action}."
    if action is Action.UNRELATED and not (body.accepted or "").strip():
        return f"Main never was at snapshot {body.after.snapshot}, and no reason is recorded."
    return None
