"""When a rule would fire at the present rhythm, and when an expiry would take what."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from firnline.config.amounts import Unit
from firnline.core.ids import SnapshotId
from firnline.facts.meta import Ref
from firnline.facts.values import Rhythm
from firnline.judge import examples, forecasting, judging, ranges, retention
from firnline.judge.rulebook import ALL
from firnline.judge.values import Consumer, Forecast, Measure, Subject
from tests.decisions.rule_case import DAY, HOUR, NOW, files, on

RULES = {rule.id: rule for rule in ALL}


def _when(rule: str, subject: Subject) -> Forecast | None:
    return judging.judge(subject, (RULES[rule],))[0].when


def _at(gap_ms: int | None, since: int, value: float, per_commit: float | None, threshold: float = 100) -> int | None:
    rhythm = Rhythm(9, NOW - since, gap_ms)
    subject = on(snapshots=replace(examples.facts().snapshots, rhythm=rhythm))
    measure = Measure("n", ranges.exactly(value), Unit.COUNT, threshold)
    found = forecasting.at_rhythm(subject, measure, per_commit)
    return None if found is None else found.in_millis


@pytest.mark.parametrize(
    ("gap_ms", "since", "value", "per_commit", "in_millis"),
    [
        (HOUR, 0, 90, 1, 10 * HOUR),
        (HOUR, 0, 90, 4, 3 * HOUR),
        (HOUR, HOUR // 2, 90, 5, HOUR + HOUR // 2),
        (HOUR, 9 * HOUR, 90, 5, 0),
        (HOUR, 11 * HOUR, 90, 5, None),
        (None, 0, 90, 5, None),
        (HOUR, 0, 90, 0, None),
        (HOUR, 0, 90, None, None),
        (HOUR, 0, 100, 5, None),
        (DAY, 0, 0, 0.01, None),
    ],
)
def test_a_number_reaches_its_threshold_after_so_many_commits(
    gap_ms: int | None, since: int, value: float, per_commit: float | None, in_millis: int | None
) -> None:
    """Commits still missing times their gap, from the last one on; None without a living rhythm, or without growth."""
    assert _at(gap_ms, since, value, per_commit) == in_millis


def test_small_files_are_forecast_from_what_commits_add() -> None:
    """A table to which every commit adds two small files fires when the hundredth can be saved."""
    small = examples.snapshots(12, summary={"added-data-files": "2", "added-files-size": "1000"})
    subject = replace(files(200, 60, 60), meta=examples.meta(small))
    found = _when("small-files", subject)
    assert found is not None
    assert found.in_millis == 20 * 6 * HOUR - HOUR
    assert "adds 2" in found.why


def test_large_files_add_nothing_to_small_ones() -> None:
    """Commits whose files are of good size bring no forecast."""
    assert _when("small-files", files(200, 60, 60)) is None


def test_overdue_snapshots_are_forecast_without_a_rhythm() -> None:
    """Snapshots that are there grow old by themselves: the hundredth of them is due at a known moment."""
    subject = examples.subject(of=examples.meta(examples.snapshots(150, HOUR)))
    found = _when("snapshots", subject)
    assert found is not None
    hundredth = NOW - HOUR - 50 * HOUR
    assert found.in_millis == hundredth + 5 * DAY - NOW


def test_snapshots_to_come_are_forecast_by_the_rhythm() -> None:
    """Where fewer are there than may be overdue, those to come are counted in, each with its age."""
    subject = examples.subject(of=examples.meta(examples.snapshots(12)))
    found = _when("snapshots", subject)
    assert found is not None
    assert found.in_millis == 89 * 6 * HOUR - HOUR + 5 * DAY


def test_what_grows_old_needs_no_rhythm() -> None:
    """An equality delete of an hour fires 23 hours from now; a consumer's snapshot a day before it is expired."""
    kinds = {examples.values.DeleteKind.EQUALITY: examples.deletes(1, age_ms=HOUR)}
    assert _when("equality-deletes", on(deletes=kinds)) == Forecast(23 * HOUR, "the oldest of them grows old")
    subject = examples.subject(
        of=examples.meta(examples.snapshots(30)), consumers=(Consumer("feed", None, SnapshotId(20)),)
    )
    found = _when("consumers", subject)
    assert found is not None
    assert found.in_millis == (5 - 1) * DAY - HOUR - 60 * HOUR


def _left(kept: int, refs: dict[str, Ref], snapshot: int, **properties: str) -> float:
    meta = examples.meta(
        examples.snapshots(kept, HOUR), properties={k.replace("_", "-"): v for k, v in properties.items()}
    )
    meta = replace(meta, refs={**meta.refs, **refs})
    return retention.leaves(meta, examples.subject(of=meta).policy)[SnapshotId(snapshot)]


def _made(snapshot: int, kept: int = 10) -> int:
    return NOW - HOUR - (kept - snapshot) * HOUR


AUDIT = Ref("audit", "branch", SnapshotId(4))


@pytest.mark.parametrize(
    ("refs", "snapshot", "until"),
    [
        ({}, 10, math.inf),
        ({}, 4, _made(4) + 5 * DAY),
        ({"audit": AUDIT}, 4, math.inf),
        ({"audit": AUDIT}, 3, _made(3) + 5 * DAY),
        ({"audit": replace(AUDIT, snapshots_min=3)}, 3, math.inf),
        ({"audit": replace(AUDIT, snapshots_min=3)}, 1, _made(1) + 5 * DAY),
        ({"audit": replace(AUDIT, snapshot_age_max_ms=9 * DAY)}, 3, _made(3) + 9 * DAY),
        ({"audit": replace(AUDIT, ref_age_max_ms=9 * DAY)}, 4, _made(4) + 9 * DAY),
        ({"audit": replace(AUDIT, ref_age_max_ms=HOUR)}, 4, _made(4) + 5 * DAY),
        ({"main": Ref("main", "branch", SnapshotId(10), snapshot_age_max_ms=DAY)}, 4, _made(4) + DAY),
        ({"t": Ref("t", "tag", SnapshotId(4))}, 4, math.inf),
        ({"t": Ref("t", "tag", SnapshotId(4))}, 3, _made(3) + 5 * DAY),
        ({"t": Ref("t", "tag", SnapshotId(4), ref_age_max_ms=7 * DAY)}, 4, _made(4) + 7 * DAY),
        ({"main": Ref("main", "branch", SnapshotId(5))}, 9, _made(9) + 5 * DAY),
    ],
)
def test_what_keeps_a_snapshot(refs: dict[str, Ref], snapshot: int, until: float) -> None:
    """A head and a tag keep theirs, a branch its newest by number and age; what nothing leads to goes by age."""
    assert _left(10, refs, snapshot) == until


def test_what_an_expiry_would_take_now() -> None:
    """Overdue snapshots are named oldest first, and the newest of main is never one."""
    subject = examples.subject(of=examples.meta(examples.snapshots(200, HOUR, last_millis=NOW - 9 * DAY)))
    assert retention.overdue(subject) == tuple(SnapshotId(number) for number in range(1, 200))
