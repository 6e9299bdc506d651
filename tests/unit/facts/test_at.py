"""Which snapshot somebody means by an id, a ref, a time or an age."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from firnline.core.errors import BadInput
from firnline.core.ids import SnapshotId
from firnline.facts import at
from firnline.facts.meta import TableMeta
from tests.decisions.drafts import declare, ref, snapshot, table

START = datetime(2026, 11, 18, 9, tzinfo=UTC)
NOW = START + timedelta(minutes=10)


def millis(minute: int) -> int:
    """Milliseconds at this minute after the start."""
    return int((START + timedelta(minutes=minute)).timestamp() * 1000)


def log(*entries: tuple[int, int]) -> tuple[tuple[int, SnapshotId], ...]:
    """Main's own log: at which minute it came to which snapshot."""
    return tuple((millis(minute), SnapshotId(snapshot_id)) for minute, snapshot_id in entries)


# 1, 2, 3 on main; at minute 4 main was rolled back to 2 and at 5 written on (4). 20 lies on the branch dev, from
# minute 6; 9 was expired; 30 is newer than all and was staged only.
META: TableMeta = table(
    declare("id: long"),
    snapshots=(
        snapshot(1, millis=millis(1)),
        snapshot(2, 1, millis=millis(2)),
        snapshot(3, 2, millis=millis(3)),
        snapshot(4, 2, millis=millis(5)),
        snapshot(20, 2, millis=millis(6)),
        snapshot(30, 4, millis=millis(7)),
    ),
    main=4,
    refs=(ref("dev", 20), ref("2026", 1, "tag"), ref("2h", 2, "tag"), ref("gone", 9, "tag")),
    snapshot_log=log((0, 9), (1, 1), (2, 2), (3, 3), (4, 2), (5, 4)),
)


@pytest.mark.parametrize(
    ("to", "meant"),
    [
        ("3", 3),  # by id, though main was rolled back from it
        (" 30 ", 30),  # staged only
        ("main", 4),
        ("dev", 20),
        ("2026", 1),  # a tag called like a year is a ref before it is anything else
        ("2h", 2),  # a tag called like an age
        ("2026-11-18T09:01:00Z", 1),  # the very moment
        ("2026-11-18T09:02:59.999Z", 2),
        ("2026-11-18 09:03:30", 3),  # before the rollback
        ("2026-11-18T09:04:30Z", 2),  # after it: what a reader saw, not the newest by age
        ("2026-11-18T14:35:00+05:30", 4),
        ("2026-11-18T09:06:30Z", 4),  # the branch's snapshot is newer, and no reader of main saw it
        ("3m", 4),
        ("6m ago", 2),
        ("0s", 4),
    ],
)
def test_what_is_meant(to: str, meant: int) -> None:
    """An id, then a ref of exactly that name, then a time as a reader of main saw it."""
    assert at.resolve(META, to, NOW).id == meant


@pytest.mark.parametrize(
    ("to", "what", "next_step"),
    [
        ("5", "has no snapshot 5", "Refs: 2026, 2h, dev, gone, main."),
        ("-5", "has no snapshot -5", "Snapshots: 30, 20, 4, 3, 2 and 1 older."),
        ("devv", "neither a snapshot, a ref nor a time", "Did you mean dev?"),
        ("Main", "neither a snapshot, a ref nor a time", "Did you mean main?"),
        ("", "neither a snapshot", "A time is written"),
        ("gone", "The ref 'gone' was 9, which is no longer kept", "Snapshots: 30"),
        ("2026-11-18T09:00:30Z", "Main's snapshot at 2026-11-18 09:00:30Z was 9, which is no longer kept", "Refs:"),
        ("2026-11-18T08:00:00Z", "At 2026-11-18 08:00:00Z main had no snapshot that is still kept", "Refs:"),
        ("2026-11-19", "lies in the future: it is 2026-11-18 09:10:00Z now", "Refs:"),
    ],
)
def test_what_cannot_be_meant(to: str, what: str, next_step: str) -> None:
    """The complaint says what there is instead: the range of main's history, refs, ids, the nearest word."""
    with pytest.raises(BadInput) as caught:
        at.resolve(META, to, NOW)
    assert what in caught.value.what
    assert next_step in (caught.value.next_step or "")
    assert caught.value.why == (
        "Main's history reaches from 2026-11-18T09:00:00.000+00:00 to 2026-11-18T09:05:00.000+00:00."
    )


def test_the_shown_range_can_be_typed() -> None:
    """Both ends of the range that a complaint names are times that are found."""
    whole = replace(META, snapshot_log=META.snapshot_log[1:])
    with pytest.raises(BadInput) as caught:
        at.resolve(whole, "nonsense", NOW)
    ends = (caught.value.why or "").rstrip(".").split(" from ")[1].split(" to ")
    assert [at.resolve(whole, end, NOW).id for end in ends] == [1, 4]


def test_a_time_just_after_the_last_snapshot_of_a_fast_clock_is_found() -> None:
    """A writer's clock ahead of ours makes a snapshot in our future, which a time up to it means."""
    ahead = replace(META, snapshot_log=log((1, 1), (15, 4)))
    assert at.resolve(ahead, "2026-11-18T09:15:00Z", NOW).id == 4
    assert at.resolve(ahead, "2026-11-18T09:12:00Z", NOW).id == 1


def test_without_a_log_main_is_where_it_is_since_its_snapshot() -> None:
    """A table whose log was left out has the history of its current snapshot."""
    bare = replace(META, snapshot_log=())
    assert at.main_log(bare) == ((millis(5), 4),)
    assert at.resolve(bare, "1m", NOW).id == 4
    with pytest.raises(BadInput, match="main had no snapshot"):
        at.resolve(bare, "9m", NOW)


def test_a_table_with_only_a_branch_has_no_time() -> None:
    """Where main never had a snapshot, a time means nothing, a ref and an id do."""
    only = table(declare("id: long"), snapshots=(snapshot(7),), main=None, refs=(ref("dev", 7),))
    assert at.resolve(only, "dev", NOW).id == 7
    assert at.resolve(only, "7", NOW).id == 7
    with pytest.raises(BadInput, match="main had no snapshot") as caught:
        at.resolve(only, "1m", NOW)
    assert caught.value.why == "No snapshot was ever published on main."


def test_an_empty_table_says_to_write_first() -> None:
    """A table nobody wrote to has nothing to be meant."""
    empty = table(declare("id: long"), snapshots=())
    with pytest.raises(BadInput) as caught:
        at.resolve(empty, "main", NOW)
    assert "Write to the table first." in (caught.value.next_step or "")
