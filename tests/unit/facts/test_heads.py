"""The lines of a current snapshot, kept: the same lines again, of no other snapshot, and nothing of what is broken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firnline.facts.heads import kept_head
from firnline.facts.lines import ManifestLine, Summary
from firnline.facts.values import Damage
from tests.facts_building import Shelves, snapshot_of, table_of
from tests.unit.facts.entry_building import Drawer

META = table_of([snapshot_of(1)], current=1)
LIST = META.snapshots[0].manifest_list or ""
MAYBE = st.none() | st.integers(0, 2**62)
SUMMARIES = st.builds(
    Summary, st.booleans(), st.none() | st.booleans(), st.none() | st.binary(max_size=9), st.none() | st.binary()
)
LINES = st.builds(
    ManifestLine, st.text(), MAYBE, MAYBE, st.sampled_from(["data", "deletes"]), first_row_id=MAYBE,
    partitions=st.none() | st.lists(SUMMARIES, max_size=3).map(tuple), encrypted=st.booleans(),
)  # fmt: skip


@given(st.lists(LINES, max_size=4).map(tuple))
def test_what_is_kept_is_what_was_read(lines: tuple[ManifestLine, ...]) -> None:
    """Every line comes back as it was, bounds and all, without the list."""
    cache = Drawer()
    assert kept_head(Shelves({LIST: lines}, {}), cache, META) == (lines, ())
    assert kept_head(Shelves({}, {}), cache, META) == (lines, ())


def test_another_snapshot_is_read() -> None:
    """A list belongs to one snapshot: whatever has its name elsewhere is another."""
    cache, shelves = Drawer(), Shelves({LIST: ["m1"]}, {})
    kept_head(shelves, cache, META)
    kept_head(shelves, cache, table_of([snapshot_of(1, sequence=7)], current=1))
    assert shelves.reads == [LIST, LIST]


def test_damage_is_not_kept() -> None:
    """A list that could not be read is asked for again with the next look."""
    cache = Drawer()
    lines, damage = kept_head(Shelves({}, {}), cache, META)
    assert (lines, damage) == ((), (Damage(LIST, f"There is no file {LIST}."),))
    assert kept_head(Shelves({LIST: []}, {}), cache, META) == ((), ())


def test_what_has_no_list_is_not_kept() -> None:
    """Neither a table without snapshots nor one whose manifests stand in its metadata puts anything by."""
    cache = Drawer()
    kept_head(Shelves({}, {}), cache, table_of([]))
    lines, _ = kept_head(Shelves({}, {}), cache, table_of([snapshot_of(1, manifests=["m1"])], current=1))
    assert ([line.path for line in lines], cache.kept) == (["m1"], {})
