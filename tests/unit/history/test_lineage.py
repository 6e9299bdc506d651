"""Which snapshot descends from which, and snapshots as lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.ids import SnapshotId
from firnline.facts import lineage
from firnline.facts.meta import Snapshot, TableMeta
from firnline.history import timeline
from firnline.history.values import Standing
from tests.decisions.drafts import ORDERS, declare, ref, snapshot, table

ORDERS_TABLE = declare("id: long")


def forked() -> TableMeta:
    """1, 2, 3 on main, 3 rolled back for 4 on top of 2; 20, 21 on dev from 2; 30 staged on 4; 1's parent is gone."""
    return table(
        ORDERS_TABLE,
        snapshots=(
            snapshot(1, 99),
            snapshot(2, 1),
            snapshot(3, 2),
            snapshot(4, 2),
            snapshot(20, 2),
            snapshot(21, 20),
            snapshot(30, 4),
        ),
        main=4,
        refs=(ref("dev", 21), ref("y25", 1, "tag"), ref("gone", 77, "tag")),
        snapshot_log=tuple((number * 1000, SnapshotId(number)) for number in (99, 1, 2, 3, 4)),
    )


LINE = lineage.of(forked())


@pytest.mark.parametrize(("start", "line"), [(4, (4, 2, 1)), (21, (21, 20, 2, 1)), (1, (1,)), (99, ()), (None, ())])
def test_a_line_ends_where_nobody_can_look(start: int | None, line: tuple[int, ...]) -> None:
    """A snapshot and its kept ancestors, newest first; an expired parent ends it."""
    assert LINE.line(None if start is None else SnapshotId(start)) == line


def test_what_was_ever_on_main_is_more_than_its_line() -> None:
    """What main was rolled back from was on it; what lies on a branch or was staged was not."""
    assert LINE.main() == (4, 2, 1)
    assert LINE.ever_on_main() == {1, 2, 3, 4}
    assert lineage.of(replace(LINE.meta, snapshot_log=())).ever_on_main() == {1, 2, 4}


def test_refs_hold_their_lines() -> None:
    """A ref holds its snapshot and everything under it; a ref to an expired snapshot holds nothing."""
    assert LINE.held() == {1, 2, 4, 20, 21}
    assert LINE.held(but="dev") == {1, 2, 4}
    assert LINE.held(but="main") == {1, 2, 20, 21}


@pytest.mark.parametrize(
    ("one", "other", "descends"), [(21, 2, True), (2, 2, True), (4, 3, False), (2, 4, False), (1, 99, False)]
)
def test_descending(one: int, other: int, descends: bool) -> None:
    """A snapshot descends from itself and from what is under it, and from nothing that is gone."""
    assert LINE.descends(SnapshotId(one), SnapshotId(other)) is descends


@given(st.dictionaries(st.integers(1, 12), st.none() | st.integers(1, 12), min_size=1), st.integers(1, 12))
def test_damaged_metadata_goes_in_no_circle(parents: dict[int, int | None], start: int) -> None:
    """Whatever the parents, loops among them, a line ends, names no snapshot twice and only kept ones."""
    kept = tuple(snapshot(number, parent) for number, parent in parents.items())
    line = lineage.of(table(ORDERS_TABLE, snapshots=kept)).line(SnapshotId(start))
    assert len(set(line)) == len(line)
    assert set(line) <= set(parents)
    assert (line[:1] == (start,)) == (start in parents)


# ------------------------------------------------------------------------------------------------------------- timeline


def test_the_timeline_is_newest_first_with_where_each_stands() -> None:
    """Every kept snapshot, by sequence number, with its refs and its standing to main."""
    found = timeline.timeline(ORDERS, forked(), None)
    assert (found.table, found.total) == ("shop.orders", 7)
    assert [(entry.id, entry.standing, entry.refs) for entry in found.entries] == [
        (30, Standing.ON_NO_REF, ()),
        (21, Standing.ON_ANOTHER_REF, ("dev",)),
        (20, Standing.ON_ANOTHER_REF, ()),
        (4, Standing.ON_MAIN, ("main",)),
        (3, Standing.ROLLED_BACK, ()),
        (2, Standing.ON_MAIN, ()),
        (1, Standing.ON_MAIN, ("y25",)),
    ]


def test_the_timeline_can_be_cut() -> None:
    """The newest so many are listed, and how many there are in all is still said."""
    found = timeline.timeline(ORDERS, forked(), 2)
    assert ([entry.id for entry in found.entries], found.total) == ([30, 21], 7)
    assert timeline.timeline(ORDERS, table(ORDERS_TABLE, snapshots=()), None).entries == ()


def test_without_sequence_numbers_time_decides() -> None:
    """Format 1 has no sequence numbers: there the clock orders, and the id where clocks agree."""
    three = tuple(replace(snapshot(number, millis=millis), sequence=0) for number, millis in ((1, 9), (2, 5), (3, 9)))
    assert [one.id for one in timeline.in_order(three)] == [3, 1, 2]


TOTALS = {"total-records": "100", "total-data-files": "4", "total-position-deletes": "3", "total-equality-deletes": "2"}


@pytest.mark.parametrize(
    ("summary", "added", "deleted"),
    [
        ({**TOTALS, "added-records": "7"}, 7, 0),  # Iceberg leaves out counts of zero
        ({**TOTALS}, 0, 0),
        ({**TOTALS, "deleted-records": "5"}, 0, 5),
        ({**TOTALS, "added-position-deletes": "2"}, 0, 2),
        ({**TOTALS, "added-records": "9", "deleted-records": "10", "removed-position-deletes": "1"}, 9, 9),  # a fold
        ({**TOTALS, "removed-position-deletes": "4"}, 0, 0),  # never below zero
        ({**TOTALS, "added-equality-deletes": "1", "added-records": "3"}, 3, None),  # nobody counted what they match
        ({"added-records": "7"}, 7, None),  # a summary without totals counts nothing at all
        ({}, None, None),
    ],
)
def test_rows_that_came_and_went(summary: dict[str, str], added: int | None, deleted: int | None) -> None:
    """A count of zero is told from a count nobody made."""
    (entry,) = timeline.timeline(ORDERS, table(ORDERS_TABLE, snapshots=(snapshot(1, summary=summary),)), None).entries
    assert (entry.added, entry.deleted) == (added, deleted)


def test_a_line_of_the_timeline() -> None:
    """Rows, files, deletes that readers apply, writer, run and time of one snapshot."""
    one = snapshot(1, summary={**TOTALS, "firnline.run": "R1"})
    (entry,) = timeline.timeline(ORDERS, table(ORDERS_TABLE, snapshots=(one,)), None).entries
    assert (entry.rows, entry.files, entry.deletes, entry.run, entry.writer) == (100, 4, 5, "R1", "firnline R1")
    assert (entry.at, entry.operation) == (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "append")
    partly = table(ORDERS_TABLE, snapshots=(snapshot(1, summary={"total-position-deletes": "1"}),))
    assert timeline.timeline(ORDERS, partly, None).entries[0].deletes is None


def test_branches_are_counted_against_main() -> None:
    """Main first; the others with what they have beside it and what they lack; a ref to nothing is left out."""
    branches = timeline.ref_lines(forked(), "branch")
    assert [(line.ref.name, line.ahead, line.behind) for line in branches] == [("main", 0, 0), ("dev", 2, 1)]
    tags = timeline.ref_lines(forked(), "tag")
    assert [(line.ref.name, line.ahead, line.behind) for line in tags] == [("y25", 0, 2)]


@pytest.mark.parametrize(
    ("name", "age", "expires"),
    [
        ("y25", 60_000, datetime(1970, 1, 1, 0, 1, 1, tzinfo=UTC)),
        ("y25", None, None),
        ("main", 60_000, None),  # main itself never goes
        ("y25", 2**62, None),  # longer than time
    ],
)
def test_a_ref_expires_by_the_age_of_its_snapshot(name: str, age: int | None, expires: datetime | None) -> None:
    """Iceberg counts a ref's age from its snapshot, not from when the ref was made."""
    assert timeline.expires(ref(name, 1, ref_age_max_ms=age), snapshot(1)) == expires


def test_a_span_lists_the_newest_and_counts_all() -> None:
    """Of very many snapshots the newest are named one by one."""
    many: tuple[Snapshot, ...] = tuple(snapshot(number, number - 1 or None) for number in range(1, 301))
    line = lineage.of(table(ORDERS_TABLE, snapshots=many))
    span = timeline.span(line, [one.id for one in many])
    assert (span.count, len(span.entries), span.entries[0].id) == (300, timeline.LISTED_MAX, 300)
