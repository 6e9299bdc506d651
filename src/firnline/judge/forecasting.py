"""When a number would reach its threshold if commits went on coming as they do. Pure.

None where that cannot be told: without a rhythm, when the commits have stopped, or when they do not add to the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firnline.facts import lineage, summaries
from firnline.facts.meta import Snapshot
from firnline.judge import words
from firnline.judge.values import Forecast, Measure, Subject

COMMITS_MAX = 50  # the newest, as for the rhythm itself
STOPPED_AFTER = 10  # gaps without a commit: whatever wrote has stopped, and its rhythm says nothing
YEARS_MAX_MS = 10 * 365 * 86_400_000  # beyond that a forecast is a joke


def commits(subject: Subject) -> tuple[Snapshot, ...]:
    """The newest commits on main that did not only rewrite, newest first."""
    line = lineage.of(subject.meta)
    found = (line.by_id[each] for each in line.main())
    return tuple([each for each in found if each.operation != "replace"][:COMMITS_MAX])


def at_rhythm(subject: Subject, measure: Measure, per_commit: float | None) -> Forecast | None:
    """When a measure that grows by so much with every commit reaches its threshold."""
    rhythm = subject.facts.snapshots.rhythm
    if measure.threshold is None or measure.past is not False or not per_commit or per_commit <= 0:
        return None
    if rhythm.gap_ms is None or rhythm.last_millis is None or measure.value.high is None:
        return None
    since = subject.now_millis - rhythm.last_millis
    if since > STOPPED_AFTER * rhythm.gap_ms:
        return None
    missing = math.ceil((measure.threshold - measure.value.high) / per_commit)
    millis = max(0, missing * rhythm.gap_ms - max(0, since))
    if millis > YEARS_MAX_MS:
        return None
    why = f"a commit every {words.age(rhythm.gap_ms)} adds {per_commit:,.4g}"
    return Forecast(millis, why)


def with_age(measure: Measure, why: str) -> Forecast | None:
    """When a measure that is an age reaches its threshold: nobody has to do anything for that."""
    if measure.threshold is None or measure.past is not False or measure.value.high is None:
        return None
    return Forecast(max(0, int(measure.threshold - measure.value.high)), why)


def mean(counts: Sequence[int | None]) -> float | None:
    """The mean of those that are known; None when none is."""
    known = [each for each in counts if each is not None]
    return sum(known) / len(known) if known else None


def added(subject: Subject, key: str) -> float | None:
    """What a commit adds of a count in the summaries, on average."""
    return mean([summaries.count(each, key) for each in commits(subject)])


def small_files_added(subject: Subject) -> float | None:
    """How many small files a commit adds, on average."""
    return mean([_small(each, subject.facts.thresholds.small_below) for each in commits(subject)])


def _small(snapshot: Snapshot, small_below: int) -> int | None:
    files, size = summaries.count(snapshot, "added-data-files"), summaries.count(snapshot, "added-files-size")
    if files is None or not files:
        return files
    return None if size is None else files if size / files < small_below else 0
