"""Rollbacks decided: what moving main is called, what leaves, whom it touches, and the way back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from firnline.config.values import Declaration, DeclaredConsumer
from firnline.core.errors import BadInput, Refused
from firnline.core.ids import SnapshotId
from firnline.core.types import Field, Primitive, Struct
from firnline.facts import lineage
from firnline.facts.meta import Schema, TableMeta
from firnline.history import consequences, plan, request
from firnline.history.values import REF, ROLLBACK, Action, Concern, Move
from tests.decisions.drafts import METADATA, ORDERS, UUID, declare, ref, table
from tests.unit.history.test_lineage import forked

NOW = datetime.fromtimestamp(60, UTC)
WHY = "the batch of Tuesday was loaded twice"


def move(
    to: int, meta: TableMeta | None = None, *, declaration: Declaration | None = None, accepted: str | None = None
) -> Move | None:
    """Main of the table moved to this snapshot."""
    meta = meta or forked()
    target = meta.find_snapshot(to)
    assert target is not None
    return plan.rollback(ORDERS, meta, target, declaration=declaration, now=NOW, accepted=accepted)


def moved(
    to: int, meta: TableMeta | None = None, *, declaration: Declaration | None = None, accepted: str | None = None
) -> Move:
    """The same, which must be a move."""
    found = move(to, meta, declaration=declaration, accepted=accepted)
    assert found is not None
    return found


def at(main: int, meta: TableMeta | None = None) -> TableMeta:
    """The table with main elsewhere, as after a rollback."""
    meta = meta or forked()
    refs = {**meta.refs, "main": replace(meta.refs["main"], snapshot=SnapshotId(main))}
    return replace(meta, current_snapshot_id=SnapshotId(main), refs=refs)


def said(of: Move, concern: Concern) -> str:
    """What the move means to one of those concerned."""
    return " | ".join(one.text for one in of.consequences if one.concern is concern)


@pytest.mark.parametrize(
    ("main", "to", "action", "leaving", "returning"),
    [
        (4, 2, Action.BACK, {4}, set()),
        (4, 1, Action.BACK, {2, 4}, set()),
        (2, 3, Action.FORWARD, set(), {3}),
        (1, 4, Action.FORWARD, set(), {2, 4}),
        (4, 3, Action.ACROSS, {4}, {3}),
        (4, 21, Action.UNRELATED, {4}, {20, 21}),
        (4, 30, Action.UNRELATED, set(), {30}),
        (2, 20, Action.UNRELATED, set(), {20}),
    ],
)
def test_a_move_of_main_is_called_what_it_is(
    main: int, to: int, action: Action, leaving: set[int], returning: set[int]
) -> None:
    """Back along its line, forward to where it was, across to what it left, or to what it never was at."""
    found = moved(to, at(main), accepted=WHY)
    assert found.action is action
    assert {entry.id for entry in found.leaving.entries} == leaving
    assert {entry.id for entry in found.returning.entries} == returning
    assert (found.before, found.after) == (ref("main", main), ref("main", to))
    assert found.accepted == (WHY if action is Action.UNRELATED else None)


def test_a_move_to_where_main_is_is_none() -> None:
    """Nothing is planned when main is there."""
    assert move(4) is None


def test_the_retention_of_main_goes_along() -> None:
    """A move changes main's snapshot and nothing else of it."""
    meta = forked()
    kept = replace(meta, refs={**meta.refs, "main": replace(meta.refs["main"], snapshots_min=7)})
    assert moved(2, kept).after == ref("main", 2, snapshots_min=7)


def test_what_nobody_published_needs_a_reason() -> None:
    """Main goes to a snapshot it never was at only with a recorded reason."""
    with pytest.raises(Refused, match=r"Main of shop\.orders never was at snapshot 21") as caught:
        move(21)
    assert "--accept" in (caught.value.next_step or "")


@pytest.mark.parametrize("reason", ["", "   ", "ok", "because  "])
def test_a_reason_says_something(reason: str) -> None:
    """A reason is for whoever reads the ledger next year."""
    with pytest.raises(BadInput, match="is no reason"):
        move(21, accepted=reason)
    assert plan.checked_reason(f"  {WHY} ") == WHY
    assert plan.checked_reason(None) is None


def test_a_table_without_main_has_nothing_to_roll_back() -> None:
    """Where main has no snapshot, a rollback is bad input and not a crash."""
    meta = table(declare("id: long"), main=None)
    with pytest.raises(BadInput, match="has no snapshot on main"):
        plan.rollback(ORDERS, meta, meta.snapshots[0], declaration=None, now=NOW)


def test_a_move_is_one_step() -> None:
    """The step is leased by the table's uuid and rests on the metadata it was planned on."""
    step = plan.step(moved(2), "lake", forked())
    assert (step.kind, step.lease, step.base) == (ROLLBACK, f"lake/{UUID}", METADATA)
    assert plan.step(replace(moved(2), action=Action.CREATE), "lake", forked()).kind == REF
    assert plan.overrides(moved(2), "shop.orders") == ()
    assert plan.overrides(moved(21, accepted=WHY), "shop.orders") == (
        f"shop.orders: unrelated move of main accepted: {WHY}",
    )


def test_a_move_as_a_request() -> None:
    """It is the same table, the ref is still where it was, and now goes there; dropped, it goes."""
    found = request.build(moved(2))
    assert found.requirements == (
        {"type": "assert-table-uuid", "uuid": UUID},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 4},
    )
    assert found.updates == ({"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 2},)
    gone = request.build(replace(moved(2), action=Action.DROP, before=ref("dev", 21), after=None))
    assert gone.updates == ({"action": "remove-snapshot-ref", "ref-name": "dev"},)


# --------------------------------------------------------------------------------------------------------- consequences

FILE = declare("id: long", "email: string")


def test_readers_are_named_or_said_to_be_unknown() -> None:
    """Who reads main sees other rows; nobody declared means nobody knows, not nobody."""
    assert "readers of main (trino, spark)" in said(
        moved(2, declaration=replace(FILE, readers=("trino", "spark"))), Concern.READER
    )
    assert "No `readers:` are declared" in said(moved(2), Concern.READER)


def test_consumers_are_told_what_they_took() -> None:
    """A consumer within its lag has taken in what is older; one without may have taken in anything."""
    consumers = (DeclaredConsumer("billing", timedelta(seconds=57)), DeclaredConsumer("search"))
    text = said(moved(1, declaration=replace(FILE, consumers=consumers)), Concern.CONSUMER)
    assert "billing has taken in 1 of the 2 snapshots that leave, and may have taken in the rest (its lag: 57s)" in text
    assert "search may have taken in the 2 snapshots that leave" in text
    one = said(moved(2, declaration=replace(FILE, consumers=consumers[1:])), Concern.CONSUMER)
    assert "the 1 snapshot that leaves" in one


@pytest.mark.parametrize("concern", [Concern.CONSUMER, Concern.STREAM, Concern.WAY_BACK])
def test_going_forward_takes_nothing_away(concern: Concern) -> None:
    """Where no snapshot leaves, no consumer or stream is cut off, and there is nothing to bring back."""
    declaration = replace(FILE, consumers=(DeclaredConsumer("billing"),))
    assert said(moved(3, at(2), declaration=declaration), concern) == ""
    assert said(moved(2, declaration=declaration), concern) != ""


@pytest.mark.parametrize("key", ["deleted-records", "added-position-deletes", "added-equality-deletes"])
def test_rows_of_people_that_come_back_are_named(key: str) -> None:
    """Undoing a deletion in a table with subjects may bring back somebody who asked to be forgotten."""
    meta = forked()
    deleting = tuple(replace(one, summary={**one.summary, key: "3"}) if one.id == 4 else one for one in meta.snapshots)
    subjects = replace(FILE, subjects=(("email",),))
    text = said(moved(2, replace(meta, snapshots=deleting), declaration=subjects), Concern.SUBJECT)
    assert "rows that 1 of these snapshots deleted come back, and email identifies people" in text
    assert said(moved(2, declaration=subjects), Concern.SUBJECT) == ""
    assert said(moved(2, replace(meta, snapshots=deleting), declaration=FILE), Concern.SUBJECT) == ""


def schemas(*fields: Field) -> TableMeta:
    """The table with a second schema, current since snapshot 4."""
    meta = forked()
    grown = Schema(1, Struct(fields))
    late = tuple(replace(one, schema_id=1) if one.id == 4 else one for one in meta.snapshots)
    return replace(meta, schemas=(*meta.schemas, grown), current_schema_id=1, snapshots=late)


def test_a_rollback_moves_rows_and_not_the_schema() -> None:
    """What was added, dropped, renamed or required since the target is told; an unchanged schema is silent."""
    meta = schemas(
        Field("key", Primitive("long"), True, id=1),
        Field("x", Primitive("int"), id=2),
        Field("y", Primitive("int"), id=3, initial_default=7),
    )
    text = said(moved(2, meta), Concern.SCHEMA)
    assert "the target was written under schema 0" in text
    assert "Added since, and so without a value in its rows: x (null), y (7)." in text
    assert "Renamed since: id is key." in text
    assert "key became required since" in text
    dropped = said(moved(2, schemas(Field("x", Primitive("int"), id=2))), Concern.SCHEMA)
    assert "Dropped since, and still dropped: id." in dropped
    assert said(moved(2), Concern.SCHEMA) == ""


def test_long_lists_are_cut() -> None:
    """Of many columns the first are named and the rest counted."""
    meta = schemas(*(Field(f"c{number}", Primitive("int"), id=10 + number) for number in range(9)))
    assert "c4 (null) and 4 more." in said(moved(2, meta), Concern.SCHEMA)


def test_refs_that_still_hold_what_leaves_are_named() -> None:
    """What another ref holds is not lost."""
    meta = forked()
    held = replace(meta, refs={**meta.refs, "keep": ref("keep", 4, "tag"), "half": ref("half", 2)})
    assert said(moved(1, held), Concern.REF) == (
        "branch dev still holds 1 of the 2. | branch half still holds 1 of the 2. | tag keep still holds all of them."
    )
    assert said(moved(1, held), Concern.WAY_BACK).endswith("brings it back as long as another ref holds it.")


DAY_MS = 24 * 60 * 60 * 1000


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        (
            {},
            "until 1970-01-06 00:00:04Z, when an expiry by the table's own settings may delete it (5d, Iceberg",
        ),
        ({consequences.AGE_PROPERTY: str(DAY_MS)}, "until 1970-01-02 00:00:04Z"),
        ({consequences.AGE_PROPERTY: "1000"}, "only until the next expiry: it is older than 1s"),
        ({consequences.AGE_PROPERTY: "1" + "0" * 18}, "never expire it"),
        ({consequences.AGE_PROPERTY: "1" + "0" * 40}, "never expire it"),
        ({consequences.AGE_PROPERTY: "soon"}, "(5d, Iceberg's default"),
        ({"gc.enabled": " FALSE "}, "at any time: gc.enabled=false keeps every snapshot."),
    ],
)
def test_how_long_there_is_a_way_back(properties: dict[str, str], words: str) -> None:
    """By the table's own settings, or Iceberg's default, and with the command that is the way."""
    text = said(moved(2, replace(forked(), properties=properties)), Concern.WAY_BACK)
    assert words in text
    assert "`firnline rollback shop.orders --to 4` brings it back" in text


def test_a_parent_loop_is_classified() -> None:
    """Damaged metadata does not hang the plan."""
    meta = forked()
    looped = replace(meta, snapshots=tuple(replace(one, parent=SnapshotId(4)) for one in meta.snapshots))
    assert plan.classify(lineage.of(looped), SnapshotId(4), SnapshotId(1)) is Action.FORWARD
