"""Branches and tags made, dropped and moved forward; the commands that undo; notes about declared refs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from firnline.core.errors import BadInput, Refused
from firnline.core.ids import Identifier
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.history import consequences, refs
from firnline.history.refs import Retention
from firnline.history.values import Action, Concern, Move
from tests.decisions import drafts
from tests.decisions.drafts import ORDERS, ref
from tests.unit.history.test_lineage import forked

NOW = datetime.fromtimestamp(60, UTC)
META = forked()


def kept(snapshot_id: int, meta: TableMeta = META) -> Snapshot:
    """A snapshot of the table."""
    found = meta.find_snapshot(snapshot_id)
    assert found is not None
    return found


def create(name: str, kind: str = "branch", at: int = 2, retention: Retention = Retention()) -> Move | None:  # noqa: B008 # frozen
    """A ref made at this snapshot."""
    return refs.create(ORDERS, META, name, kind, kept(at), retention)


def test_a_new_ref_is_a_move_from_nowhere() -> None:
    """A ref is made at its snapshot with the retention that was asked for."""
    week = timedelta(days=7)
    found = create("fix", retention=Retention(week, timedelta(milliseconds=5), 3))
    assert found is not None
    made = ref("fix", 2, ref_age_max_ms=604_800_000, snapshot_age_max_ms=5, snapshots_min=3)
    assert (found.action, found.before, found.after) == (Action.CREATE, None, made)
    assert found.target is not None
    assert (found.target.id, found.consequences) == (2, ())


def test_the_very_ref_that_is_there_is_no_move() -> None:
    """Making what is there does nothing."""
    assert create("dev", at=21) is None
    assert create("y25", "tag", at=1) is None


@pytest.mark.parametrize(
    ("name", "kind", "retention", "words"),
    [
        ("dev", "branch", Retention(), "has a branch 'dev' already, at snapshot 21"),
        ("dev", "tag", Retention(), "has a branch 'dev' already"),
        ("main", "branch", Retention(), "has a branch 'main' already"),
        ("y26", "tag", Retention(snapshots_min=2), "A tag holds one snapshot"),
        ("y26", "tag", Retention(snapshot_age_max=timedelta(1)), "A tag holds one snapshot"),
        ("", "branch", Retention(), "cannot be the name of a ref"),
        (" x", "branch", Retention(), "cannot be the name of a ref"),
        ("a\nb", "branch", Retention(), "cannot be the name of a ref"),
        ("x" * 256, "branch", Retention(), "cannot be the name of a ref"),
        ("2026", "tag", Retention(), "reads like a snapshot id"),
        ("-7", "tag", Retention(), "reads like a snapshot id"),
    ],
)
def test_a_ref_that_cannot_be_made(name: str, kind: str, retention: Retention, words: str) -> None:
    """A name that is taken, unreadable or looks like an id, and a retention tags do not have, are refused."""
    with pytest.raises(BadInput, match=words):
        create(name, kind, retention=retention)


def test_dropping_a_ref_frees_what_only_it_held() -> None:
    """What other refs hold stays held; the rest is named with the way back."""
    found = refs.drop(ORDERS, META, "dev", "branch", NOW)
    assert (found.action, found.before, found.after) == (Action.DROP, ref("dev", 21), None)
    assert [entry.id for entry in found.leaving.entries] == [21, 20]
    assert "`firnline branch create shop.orders dev --at 21` brings it back" in found.consequences[0].text
    tag = refs.drop(ORDERS, META, "y25", "tag", NOW)
    assert tag.leaving.count == 0
    assert tag.consequences[0].text == "other refs hold every snapshot of it: nothing becomes free to expire."


def test_a_ref_to_an_expired_snapshot_can_be_dropped() -> None:
    """A ref that points at nothing is dropped without more ado."""
    found = refs.drop(ORDERS, META, "gone", "tag", NOW)
    assert (found.origin, found.leaving.count) == (None, 0)


@pytest.mark.parametrize(
    ("name", "kind", "error", "words"),
    [
        ("main", "branch", Refused, "main is the table itself"),
        ("dev", "tag", BadInput, "'dev' of shop.orders is a branch, not a tag"),
        ("devv", "branch", BadInput, "has no branch 'devv'"),
    ],
)
def test_a_ref_that_cannot_be_dropped(name: str, kind: str, error: type[Exception], words: str) -> None:
    """Main is the table; a wrong kind or a wrong name is bad input with a hint."""
    with pytest.raises(error, match=words):
        refs.drop(ORDERS, META, name, kind, NOW)


def test_forward_goes_along_the_branchs_own_line() -> None:
    """A branch moves to a snapshot that follows on it; readers of main see what comes."""
    found = refs.forward(ORDERS, META, "main", kept(30))
    assert found is not None
    assert (found.action, found.before, found.after) == (Action.FAST_FORWARD, ref("main", 4), ref("main", 30))
    assert [entry.id for entry in found.returning.entries] == [30]
    assert [one.concern for one in found.consequences] == [Concern.READER]
    dev = refs.forward(ORDERS, replace(META, refs={**META.refs, "dev": ref("dev", 2)}), "dev", kept(21))
    assert dev is not None
    assert dev.consequences == ()
    assert refs.forward(ORDERS, META, "dev", kept(21)) is None


@pytest.mark.parametrize(("name", "to"), [("main", 21), ("dev", 4), ("main", 2)])
def test_forward_never_loses_a_snapshot(name: str, to: int) -> None:
    """What does not follow on the branch is refused, backwards too."""
    with pytest.raises(Refused, match=f"Snapshot {to} does not follow on {name}"):
        refs.forward(ORDERS, META, name, kept(to))


def test_forward_is_for_branches() -> None:
    """A tag stays."""
    with pytest.raises(BadInput, match="is a tag, not a branch"):
        refs.forward(ORDERS, META, "y25", kept(2))


# ----------------------------------------------------------------------------------------------------------------- undo

ODD = Identifier(("my shop",), "it's.orders")


def undone(action: Action, before: Ref | None, after: Ref | None, identifier: Identifier = ORDERS) -> tuple[str, ...]:
    """The commands that take this move back."""
    return consequences.undo(Move(identifier, "u", action, before, after))


@pytest.mark.parametrize(
    ("action", "before", "after", "commands"),
    [
        (Action.BACK, ref("main", 4), ref("main", 2), ("firnline rollback shop.orders --to 4",)),
        (Action.UNRELATED, ref("main", 4), ref("main", 9), ("firnline rollback shop.orders --to 4",)),
        (Action.FAST_FORWARD, ref("main", 4), ref("main", 9), ("firnline rollback shop.orders --to 4",)),
        (Action.CREATE, None, ref("y", 2, "tag"), ("firnline tag drop shop.orders y",)),
        (
            Action.FAST_FORWARD,
            ref("dev", 4),
            ref("dev", 9),
            ("firnline branch drop shop.orders dev", "firnline branch create shop.orders dev --at 4"),
        ),
        (
            Action.DROP,
            ref("dev", 4, ref_age_max_ms=86_400_000, snapshot_age_max_ms=1500, snapshots_min=2),
            None,
            ("firnline branch create shop.orders dev --at 4 --keep 1d --max-snapshot-age 1500ms --min-snapshots 2",),
        ),
    ],
)
def test_undo_is_a_command_to_type(
    action: Action, before: Ref | None, after: Ref | None, commands: tuple[str, ...]
) -> None:
    """Each move has the commands that take it back, retention and all."""
    assert undone(action, before, after) == commands


def test_an_undo_survives_the_shell() -> None:
    """Names with spaces, quotes and backticks come through a shell as they are."""
    (command,) = undone(Action.DROP, ref("my $branch", 4), None, ODD)
    assert shlex.split(command) == ["firnline", "branch", "create", str(ODD), "my $branch", "--at", "4"]
    (back,) = undone(Action.BACK, ref("main", 4), ref("main", 2), ODD)
    assert shlex.split(back) == ["firnline", "rollback", str(ODD), "--to", "4"]


# --------------------------------------------------------------------------------------------------- declared otherwise


@pytest.mark.parametrize(
    ("before", "after", "declared", "words"),
    [
        (ref("dev", 1), None, drafts.branch("dev"), "the next `firnline apply` makes it again"),
        (None, ref("dev", 1), drafts.branch("dev", absent=True), "the next `firnline apply` drops it"),
        (ref("dev", 1), None, drafts.branch("dev", absent=True), ""),
        (None, ref("dev", 1), drafts.branch("dev"), ""),
        (None, ref("dev", 1), drafts.branch("other", absent=True), ""),
    ],
)
def test_a_file_that_says_otherwise_is_noted(
    before: Ref | None, after: Ref | None, declared: object, words: str
) -> None:
    """What the next apply would make or drop again is warned of."""
    move = Move(ORDERS, "u", Action.CREATE if after else Action.DROP, before, after)
    notes = refs.declared_otherwise(move, drafts.declare("id: long", refs=(declared,)))
    assert words in " ".join(note.text for note in notes)
    assert bool(notes) == bool(words)
    assert refs.declared_otherwise(move, None) == ()
