"""Moves in a plan file: written, read back, and held against the table though somebody edited them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from firnline.core.errors import BadInput
from firnline.core.ids import SnapshotId, StepId, TableUuid
from firnline.facts.meta import TableMeta
from firnline.history import codec, plan, refs, vet
from firnline.history.refs import Retention
from firnline.history.values import REF, ROLLBACK, Action, Move
from firnline.loop.values import Step
from tests.decisions.drafts import ORDERS, ref, snapshot
from tests.unit.history.test_lineage import forked
from tests.unit.history.test_refs import NOW, kept
from tests.unit.history.test_rollback import WHY, at, moved

META = forked()


def some(found: Move | None) -> Move:
    """A move that must be one."""
    assert found is not None
    return found


MOVES: dict[str, Move] = {
    "back": moved(2),
    "forward": moved(3, at(2)),
    "across": moved(3),
    "unrelated": moved(21, accepted=WHY),
    "create": some(refs.create(ORDERS, META, "fix", "branch", kept(2), Retention(snapshots_min=3))),
    "drop": refs.drop(ORDERS, META, "dev", "branch", NOW),
    "drop what points at nothing": refs.drop(ORDERS, META, "gone", "tag", NOW),
    "fast forward": some(refs.forward(ORDERS, META, "main", kept(30))),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_move_survives_the_plan_file(move: Move) -> None:
    """A move is the same after being written as JSON text and read back."""
    assert codec.decode(json.loads(json.dumps(codec.encode(move)))) == move


@pytest.mark.parametrize(
    "mangled",
    [
        {"table": "orders"},
        {"table": 7},
        {"action": "sideways"},
        {"before": "main"},
        {"before": {"name": "main", "kind": "twig", "snapshot": 4}},
        {"before": {"name": "main", "kind": "branch", "snapshot": "4"}},
        {"before": {"name": "main", "kind": "branch", "snapshot": True}},
        {"after": {"name": "main", "kind": "branch", "snapshot": 4, "max-ref-age-ms": "1d"}},
        {"leaving": []},
        {"leaving": {"count": 1, "entries": [None]}},
        {"leaving": {"count": 1, "entries": [{"id": 1}]}},
        {"consequences": {"reader": "x"}},
        {"consequences": [{"concern": "weather", "text": "x"}]},
        {"accepted": 7},
        {"origin": {**codec.encode(MOVES["back"])["origin"], "at": "2026-11-18T09:30:00"}},
        {"origin": {**codec.encode(MOVES["back"])["origin"], "standing": "upright"}},
        {"origin": {**codec.encode(MOVES["back"])["origin"], "refs": "main"}},
    ],
)
def test_a_mangled_move_is_refused(mangled: dict[str, Any]) -> None:
    """What is not what the codec wrote raises what its contract says."""
    with pytest.raises((KeyError, TypeError, ValueError, BadInput)):
        codec.decode({**codec.encode(MOVES["back"]), **mangled})


@pytest.mark.parametrize("key", ["table", "uuid", "action", "leaving", "returning", "consequences"])
def test_a_move_with_a_part_missing_is_refused(key: str) -> None:
    """What every move has cannot be left out."""
    whole = codec.encode(MOVES["back"])
    with pytest.raises(KeyError):
        codec.decode({name: value for name, value in whole.items() if name != key})


def objections(move: Move, fresh: TableMeta | None = META, kind: str | None = None) -> str:
    """What speaks against the move now."""
    step = plan.step(move, "lake", META)
    found = vet.move(Step(StepId("1"), kind or step.kind, step.subject, step.lease, move), fresh)
    assert all(one.next_step == vet.PLAN_AGAIN for one in found)
    return "; ".join(one.reason for one in found)


@pytest.mark.parametrize(
    "name", ["back", "across", "unrelated", "create", "drop", "drop what points at nothing", "fast forward"]
)
def test_a_move_as_planned_is_let_through(name: str) -> None:
    """On the table it was planned on, and on one that only grew elsewhere, nothing speaks against a move."""
    assert objections(MOVES[name]) == ""
    grown = replace(META, snapshots=(*META.snapshots, snapshot(50, 21)), properties={"x": "1"})
    assert objections(MOVES[name], grown) == ""


def without_snapshot(number: int) -> TableMeta:
    """The table after that snapshot was expired."""
    return replace(META, snapshots=tuple(one for one in META.snapshots if one.id != number))


@pytest.mark.parametrize(
    ("move", "fresh", "words"),
    [
        ("back", None, "is gone from the catalog"),
        ("back", replace(META, uuid=TableUuid("x")), "drifted since the plan: table uuid"),
        ("back", at(3), "drifted since the plan: main was 4 and is 3"),
        ("create", replace(META, refs={**META.refs, "fix": ref("fix", 1)}), "fix was None and is 1"),
        ("drop", replace(META, refs={"main": META.refs["main"]}), "dev was 21 and is None"),
        ("back", without_snapshot(2), "has no snapshot 2 any more"),
        ("create", without_snapshot(2), "has no snapshot 2 any more"),
        ("across", replace(META, snapshot_log=META.snapshot_log[:1]), "planned as across, and is unrelated"),
        (
            "fast forward",
            replace(META, snapshots=tuple(replace(one, parent=None) for one in META.snapshots)),
            "Snapshot 30 does not follow on main",
        ),
    ],
)
def test_a_move_is_held_against_the_table_as_it_is(move: str, fresh: TableMeta | None, words: str) -> None:
    """A ref that moved, a target that expired, or a history that says otherwise is an objection."""
    assert words in objections(MOVES[move], fresh)


EDITS: list[tuple[str, Callable[[Move], Move], str | None, str]] = [
    ("unrelated", lambda move: replace(move, accepted=None), None, "no reason is recorded"),
    ("unrelated", lambda move: replace(move, accepted="  "), None, "no reason is recorded"),
    ("unrelated", lambda move: replace(move, action=Action.BACK), None, "planned as back, and is unrelated"),
    ("back", lambda move: replace(move, after=ref("main", 21)), None, "planned as back, and is unrelated"),
    ("back", lambda move: replace(move, action=Action.FORWARD), None, "planned as forward, and is back"),
    ("back", lambda move: replace(move, after=ref("main", 77)), None, "has no snapshot 77 any more"),
    ("back", lambda move: replace(move, after=ref("dev", 2)), None, "dev was 4 and is 21"),
    ("back", lambda move: replace(move, after=ref("main", 2, "tag")), None, "contradicts itself"),
    ("back", lambda move: replace(move, after=None), None, "contradicts itself"),
    ("back", lambda move: replace(move, before=ref("dev", 21), after=ref("dev", 20)), None, "A rollback moves main"),
    ("back", lambda move: move, REF, "contradicts itself"),
    ("fast forward", lambda move: move, ROLLBACK, "contradicts itself"),
    ("fast forward", lambda move: replace(move, after=ref("main", 21)), None, "Snapshot 21 does not follow on main"),
    ("drop", lambda move: replace(move, before=ref("main", 4)), None, "main is the table itself"),
    ("create", lambda move: replace(move, after=ref("fix", SnapshotId(77))), None, "has no snapshot 77"),
    ("create", lambda move: replace(move, action=Action.DROP), None, "contradicts itself"),
]


@pytest.mark.parametrize(("name", "edit", "kind", "words"), EDITS)
def test_an_edited_plan_is_worked_out_anew(
    name: str, edit: Callable[[Move], Move], kind: str | None, words: str
) -> None:
    """A plan file is input, not authority: what it calls a move, and what it leaves out, is checked."""
    assert words in objections(edit(MOVES[name]), kind=kind)
