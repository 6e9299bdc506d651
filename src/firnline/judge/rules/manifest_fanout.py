"""Manifests that do not keep partitions apart."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import NONE, Figure, exactly
from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy or costly, when a look at one partition reads much of the metadata."""
    manifests, partitioned = subject.facts.manifests, bool(subject.meta.spec.fields)
    opened = manifests.fanout if partitioned else NONE
    small = exactly(manifests.small)
    full = exactly(manifests.data + manifests.deletes).minus(small)
    # Which ones it opens nobody knows: as if the small ones were all among them.
    own = Figure(max(0, opened.low - small.low), None if opened.high is None else max(0, opened.high - small.low))
    measures = (
        against(
            subject, "manifest-fanout.manifests", "manifests, beside small ones, a look at one partition opens", own
        ),
        against(subject, "manifest-fanout.share", "share of those that are not small", ranges.share(own, full)),
        beside("manifests a look at one partition opens", opened),
    )
    if not partitioned:
        return Reading(False, Health.UNTIDY, "The table has no partitions to keep apart.", measures)
    fired = every(measures[0].past, measures[1].past)
    each = manifests.bytes.low / max(1, manifests.data + manifests.deletes)
    surplus = max(0, own.low - 2)  # one or two is as good as it gets
    waiting = cost.opened(subject, surplus, everywhere=True) + cost.scanned(subject, surplus * each, everywhere=True)
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"A look at one partition opens {words.count(opened, 'manifest')} of {manifests.data:,}.",
        measures=measures,
        waiting=waiting,
        acting=cost.rewritten(subject, manifests.bytes.low, manifests.data),
        next_step=remedies.rewrite_manifests(subject) if fired else None,
    )


def _example() -> Subject:
    wide = replace(
        examples.facts().manifests,
        data=221,
        small=0,
        bytes=Figure(280 * examples.MIB, 280 * examples.MIB),
        entries=exactly(1_000_000),
        fanout=exactly(180),
    )
    return examples.subject(on=examples.facts(manifests=wide))


RULE = Rule(
    id="manifest-fanout",
    title="Manifests that mix partitions",
    what="Fires when a look at one partition opens `manifest-fanout.manifests` manifests beside the small ones "
    "(the 95th percentile over partitions, by the ranges in the manifest list), and these are "
    "`manifest-fanout.share` of all that are not small. Small manifests, which every append leaves and "
    "`manifest-debt` is about, count for nothing here: they come and go with Iceberg's own merging. A table "
    "without partitions never fires.",
    why="A query for one day then reads the metadata of all days before it opens the first file.",
    remedy="Rewrite the manifests: that sorts their entries by partition. Writers that append whole partitions keep "
    "them so; ones that write into all partitions at once mix them again.",
    work=Work.MANIFESTS,
    look=look,
    example=_example,
)
