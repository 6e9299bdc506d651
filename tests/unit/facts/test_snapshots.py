"""What the metadata file alone tells: snapshots, writers, rhythm, refs, statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core import keys
from firnline.core.figures import exactly
from firnline.core.ids import SnapshotId
from firnline.facts import snapshots
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.facts.snapshots import COMMITS_MAX, WRITERS_MAX
from firnline.facts.values import Rhythm, SnapshotFacts
from tests.facts_building import snapshot_of, table_of


def made(number: int, parent: int | None = None, operation: str = "append", **summary: str) -> Snapshot:
    said = {name.replace("__", ".").replace("_", "-"): value for name, value in summary.items()}
    return replace(snapshot_of(number, parent), summary={"operation": operation, **said})


def history() -> TableMeta:
    """1 is expired. 2 - 3 - 4 (rewritten as 5) on main; 6 went off from 3 to a branch; 7 is on no ref."""
    line = [
        made(2, 1), made(3, 2, "overwrite"), made(4, 3, "delete"), made(5, 4, "replace"), made(6, 3),
        made(7, 3, "append"),
    ]  # fmt: skip
    return table_of(line, current=5, branches={"aside": 6}, tags={"then": 2, "lost": 99})


def test_what_is_kept() -> None:
    """Counts by operation, the oldest and newest, the newest change on main, what no ref leads to, broken lines."""
    found = snapshots.facts(history())
    assert (found.count, found.by_operation) == (6, {"append": 3, "overwrite": 1, "delete": 1, "replace": 1})
    assert (found.oldest_millis, found.newest_millis, found.changed_millis) == (2000, 7000, 4000)
    assert (found.unreachable, found.broken_parents) == (1, 1)
    assert found.rhythm == Rhythm(3, 4000, 1000)


def test_no_snapshot() -> None:
    """A table never written has no oldest, no newest and no rhythm."""
    assert snapshots.facts(table_of([])) == SnapshotFacts()


def test_only_rewrites_change_nothing() -> None:
    """A table of which only rewrites are kept has no known change, and no rhythm."""
    found = snapshots.facts(table_of([made(1, None, "replace")], current=1))
    assert (found.changed_millis, found.rhythm) == (None, Rhythm(0))


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), max_size=2 * COMMITS_MAX))
def test_a_rhythm_is_the_median_gap(millis: list[int]) -> None:
    """Of the newest times, in whatever order they come: how many, the last, and the median of the gaps between."""
    newest = sorted(millis)[-COMMITS_MAX:]
    gaps = [later - earlier for earlier, later in pairwise(newest)]
    found = snapshots.rhythm(millis)
    assert found == Rhythm(len(newest), newest[-1] if newest else None, int(median(gaps)) if len(newest) > 1 else None)


WRITERS: list[tuple[Mapping[str, str], tuple[str, str | None, bool]]] = [
    ({}, ("unknown", None, False)),
    ({"spark__app__id": "app-1"}, ("spark", "app-1", False)),
    ({"engine_name": "spark", "engine_version": "4.1", "app_id": "x"}, ("spark 4.1", "x", False)),
    ({"engine_name": "flink", "spark__app__id": "app-1"}, ("flink", "app-1", False)),
    ({"iceberg_version": "Apache Iceberg 1.10"}, ("iceberg", None, False)),
    ({"engine_name": "", "app_id": ""}, ("unknown", None, False)),
]


@pytest.mark.parametrize(("summary", "writer"), WRITERS)
def test_who_commits(summary: Mapping[str, str], writer: tuple[str, str | None, bool]) -> None:
    """Engine with version and application, as far as the summary tells; a run of ours says so."""
    found = snapshots.facts(table_of([made(1, **summary)], current=1)).writers
    assert [(each.engine, each.application, each.ours) for each in found] == [writer]
    ours = replace(made(1, **summary), summary={**made(1, **summary).summary, keys.RUN: "run"})
    assert [each.ours for each in snapshots.facts(table_of([ours], current=1)).writers] == [True]


def test_writers_are_counted_the_latest_first() -> None:
    """Each with its commits by operation and the time of its last; of many, those that wrote last."""
    line = [made(at, at - 1, "append" if at % 2 else "delete", app_id=f"a{at % 2}") for at in range(1, 6)]
    first, second = snapshots.facts(table_of(line, current=5)).writers
    assert (first.application, first.commits, first.last_millis, first.operations) == ("a1", 3, 5000, {"append": 3})
    assert (second.application, second.commits, second.last_millis, second.operations) == ("a0", 2, 4000, {"delete": 2})
    many = [made(at, at - 1, app_id=f"a{at}") for at in range(1, 2 * WRITERS_MAX)]
    named = snapshots.facts(table_of(many, current=1)).writers
    assert [each.last_millis for each in named] == [1000 * at for at in range(2 * WRITERS_MAX - 1, WRITERS_MAX - 1, -1)]


def test_refs_main_first() -> None:
    """Branches and tags by name behind main, with the time of their snapshot; one without it is missing."""
    found = snapshots.refs(history())
    assert [(each.name, each.kind, each.millis, each.missing) for each in found] == [
        ("main", "branch", 5000, False), ("aside", "branch", 6000, False), ("lost", "tag", None, True),
        ("then", "tag", 2000, False),
    ]  # fmt: skip
    assert snapshots.refs(table_of([])) == ()


EXPIRING = [
    ("aside", 4000, 500, 4500),
    ("main", 4000, 500, None),
    ("aside", 4000, None, None),
    ("aside", None, 5, None),
]


@pytest.mark.parametrize(("name", "millis", "age", "expires"), EXPIRING)
def test_when_a_ref_expires(name: str, millis: int | None, age: int | None, expires: int | None) -> None:
    """So long after its snapshot was made; main never does, and of a snapshot that is not there nobody can tell."""
    ref = Ref(name, "branch", SnapshotId(4), ref_age_max_ms=age)
    meta = replace(table_of([] if millis is None else [made(4)]), refs={name: ref})
    assert [each.expires_millis for each in snapshots.refs(meta)] == [expires]


STATISTICS: list[tuple[list[object], list[object], tuple[int, int | None, int, object]]] = [
    ([], [], (0, None, 0, 0)),
    ([{"snapshot-id": 2, "file-size-in-bytes": 7}], [], (1, 2, 0, 7)),
    ([{"snapshot-id": at, "file-size-in-bytes": 7} for at in (5, 2)], [{"file-size-in-bytes": 3}], (2, 5, 1, 17)),
    ([{"snapshot-id": 99, "file-size-in-bytes": 7}], [], (1, None, 0, 7)),
    ([{"snapshot-id": 2}], [{"file-size-in-bytes": 3}], (1, 2, 1, None)),
    (["odd"], [7], (1, None, 1, 0)),
]


@pytest.mark.parametrize(("statistics", "of_partitions", "told"), STATISTICS)
def test_statistics_files(statistics: list[object], of_partitions: list[object], told: tuple[object, ...]) -> None:
    """How many, the newest snapshot that is kept and has one, and their bytes: a bound when one says no size."""
    meta = replace(history(), statistics=tuple(statistics), partition_statistics=tuple(of_partitions))
    found = snapshots.metadata(meta, 100, gzip=True)
    assert (found.json_bytes, found.gzip, found.versions, found.schemas, found.specs, found.orders) == (
        100, True, 1, 1, 1, 1,
    )  # fmt: skip
    assert (
        found.statistics, found.statistics_snapshot, found.partition_statistics, found.statistics_bytes.value,
    ) == told  # fmt: skip
    assert found.statistics_bytes.low == sum(
        each.get("file-size-in-bytes", 0) for each in (*statistics, *of_partitions) if isinstance(each, dict)
    )
    assert told[3] is None or found.statistics_bytes == exactly(found.statistics_bytes.low)
