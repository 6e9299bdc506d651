"""A partition that is much larger than the others."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import examples, ranges, remedies, words
from firnline.judge.measures import against, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Something to watch, when the largest partition dwarfs the median one."""
    facts = subject.facts
    most = exactly(facts.partition_rows_most)
    measures = (
        against(
            subject, "partition-skew.times", "rows of the largest partition, in those of the median one",
            ranges.ratio(most, exactly(facts.partition_rows_median)),
        ),
        against(subject, "partition-skew.partitions", "partitions", exactly(facts.partition_count)),
        against(subject, "partition-skew.rows", "rows of the largest partition", most),
    )  # fmt: skip
    fired = every(*(measure.past for measure in measures))
    largest = max(facts.partitions, key=lambda each: (each.rows, each.name), default=None)
    return Reading(
        fired=fired,
        health=Health.WATCH,
        sentence=f"The largest of {words.count(facts.partition_count, 'partition')} has "
        f"{words.count(facts.partition_rows_most, 'row')}, the median one {facts.partition_rows_median:,}.",
        measures=measures,
        partitions=(largest.name,) if fired and largest and largest.rows == facts.partition_rows_most else (),
        next_step=remedies.declare(subject, "a `partition:` that spreads rows more evenly") if fired else None,
    )


def _example() -> Subject:
    facts = examples.facts(partition_rows_most=96_000_000, partition_rows_median=2_100_000)
    return examples.subject(on=facts)


RULE = Rule(
    id="partition-skew",
    title="Partitions of very unequal size",
    what="Fires when the largest partition has `partition-skew.times` the rows of the median one, and "
    "`partition-skew.rows` rows, in a table of `partition-skew.partitions` partitions. All three have to hold: "
    "among few or small partitions unequal ones are no trouble.",
    why="Work that is split by partition waits for the largest: writers that gather rows by partition, rewrites, "
    "and joins on the partition column.",
    remedy="Partition by something that spreads better, or add a bucket to the spec. Often the partition of null or "
    "of one large customer is the one: then that is what to look at.",
    work=Work.DECLARATION,
    look=look,
    example=_example,
)
