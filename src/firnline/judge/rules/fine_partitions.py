"""Partitions that hold next to nothing."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy, when there are many partitions and little in each."""
    facts = subject.facts
    count = facts.partition_count
    mean = ranges.scaled(facts.data.bytes, 1 / max(1, count))
    measures = (
        against(subject, "fine-partitions.partitions", "partitions", exactly(count)),
        against(subject, "fine-partitions.bytes", "bytes in each, on average", mean, above=False),
        beside("data files", facts.data.files),
    )
    fired = every(measures[0].past, measures[1].past)
    partitioned = bool(subject.meta.spec.fields)
    return Reading(
        fired=fired if partitioned else False,
        health=Health.UNTIDY,
        sentence=f"{words.count(count, 'partition')} with {words.size(int(mean.low))} each, on average."
        if partitioned
        else "The table has no partitions.",
        measures=measures,
        acting=cost.rewritten(subject, facts.data.bytes.low, facts.data.files.low),
        next_step=remedies.declare(subject, "a coarser `partition:`") if fired and partitioned else None,
    )


def _example() -> Subject:
    data = examples.data(files=9_000, size=3 * examples.MIB)
    return examples.subject(on=examples.facts(data=data, partition_count=8_760))


RULE = Rule(
    id="fine-partitions",
    title="Partitions that are too fine",
    what="Fires when there are `fine-partitions.partitions` partitions and less than `fine-partitions.bytes` in "
    "each, on average. Merging cannot help then: a file lies in one partition.",
    why="Every partition has at least one file for every writer that touched it, so planning, opening and expiring "
    "grow with the number of partitions and not with the data.",
    remedy="Partition more coarsely (by day instead of hour, into fewer buckets, by one column less) and rewrite what "
    "is there. A sort order within larger partitions skips as well as many small ones do.",
    work=Work.DECLARATION,
    look=look,
    example=_example,
)
