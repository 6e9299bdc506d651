"""Table statistics from before much of the table changed."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import UNKNOWN, Figure, exactly, total
from firnline.core.ids import SnapshotId
from firnline.facts import lineage, summaries
from firnline.facts.meta import Snapshot
from firnline.judge import examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work

_CHANGES = ("added-records", "deleted-records")


def _changed(snapshot: Snapshot) -> Figure:
    if snapshot.operation == "replace":
        return exactly(0)
    counts = [summaries.count(snapshot, key) for key in _CHANGES]
    # A writer leaves out what is nothing; one that leaves out both tells nothing at all.
    return UNKNOWN if counts == [None, None] else exactly(sum(count or 0 for count in counts))


def _since(subject: Subject, snapshot: SnapshotId) -> Figure:
    """Rows that came or went on main since then; unknown when main did not come through it."""
    line = lineage.of(subject.meta)
    main = line.main()
    if snapshot not in main:
        return UNKNOWN
    return total(_changed(line.by_id[each]) for each in main[: main.index(snapshot)])


def look(subject: Subject) -> Reading:
    """Something to watch, when statistics are kept and are old. A table without any is left alone."""
    metadata = subject.facts.metadata
    newest = None if metadata is None else metadata.statistics_snapshot
    found = None if newest is None else subject.meta.find_snapshot(newest)
    none = metadata is not None and not metadata.statistics
    if none:
        changed, age = ranges.exactly(0), ranges.exactly(0)
    elif found is None:
        changed, age = ranges.UNKNOWN, ranges.UNKNOWN
    else:
        changed = ranges.ratio(_since(subject, found.id), subject.facts.data.rows)
        age = ranges.exactly(max(0, subject.now_millis - found.millis))
    measures = (
        against(subject, "statistics.changed", "rows changed since, of all rows", changed),
        against(subject, "statistics.age", "age of the newest statistics", age),
        beside("statistics files", exactly(metadata.statistics if metadata is not None else 0)),
    )
    fired = every(measures[0].past, measures[1].past)
    if none:
        said = "No statistics are kept, so none are old."
    elif found is None:
        said = "Nobody can tell how old the statistics are: their snapshot is gone."
    else:
        of_rows = ranges.show(changed, measures[0].unit)
        said = f"The newest statistics are {words.age(age.low)} old; {of_rows} of the rows changed since."
    return Reading(
        fired=fired,
        health=Health.WATCH,
        sentence=said,
        measures=measures,
        next_step=remedies.compute_statistics(subject) if fired else None,
    )


def _example() -> Subject:
    kept = examples.snapshots(60, summary={"added-records": "1000000"})
    facts = examples.facts()
    assert facts.metadata is not None
    metadata = replace(facts.metadata, statistics=1, statistics_snapshot=kept[10].id)
    return examples.subject(on=replace(facts, metadata=metadata), of=examples.meta(kept))


RULE = Rule(
    id="statistics",
    title="Stale statistics",
    what="Fires when the newest statistics file is `statistics.age` old, and rows amounting to `statistics.changed` "
    "of the table came or went since, as the snapshots tell. A table without statistics never fires.",
    why="Planners order joins by the number of distinct values. Old numbers are worse than none: the planner "
    "trusts them.",
    remedy="Compute them again, or remove them where no engine that reads the table uses them.",
    work=Work.STATISTICS,
    look=look,
    example=_example,
)
