"""Manifests that rewriting would save, and entries of files that have left."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import Figure, exactly
from firnline.judge import cost, examples, forecasting, ranges, remedies, words
from firnline.judge.measures import against, every, some
from firnline.judge.values import Reading, Rule, Subject, Work


def _saved(count: int, size: Figure, target: int) -> Figure:
    """How many manifests would be fewer if all were of the target size. Delete manifests stay apart from data ones."""
    least = 1 if count else 0
    fewest = max(least, -(-size.low // max(1, target)))
    most = count if size.high is None else max(least, -(-size.high // max(1, target)))
    return Figure(max(0, count - most), max(0, count - fewest))


def look(subject: Subject) -> Reading:
    """Untidy, or costly when the table is read often enough."""
    manifests = subject.facts.manifests
    count = manifests.data + manifests.deletes
    saved = _saved(count, manifests.bytes, manifests.target_bytes)
    measures = (
        against(subject, "manifest-debt.manifests", "manifests that rewriting would save", saved),
        against(
            subject, "manifest-debt.small-share", "share of small manifests",
            ranges.share(exactly(manifests.small), exactly(count)),
        ),
        against(subject, "manifest-debt.tombstones", "entries of files that left", manifests.tombstones),
        against(
            subject, "manifest-debt.tombstone-share", "share of entries of files that left",
            ranges.share(manifests.tombstones, manifests.entries),
        ),
    )  # fmt: skip
    fired = some(every(measures[0].past, measures[1].past), every(measures[2].past, measures[3].past))
    waiting = cost.opened(subject, saved.low, everywhere=True)
    per_commit = 1.0 if measures[1].past else None
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"{words.count(count, 'manifest')} of {words.size(manifests.bytes)} in all, "
        f"{manifests.small:,} of them small; {words.count(manifests.tombstones, 'entry', 'entries')} of files that "
        "left.",
        measures=measures,
        waiting=waiting,
        acting=cost.rewritten(subject, manifests.bytes.low, count),
        when=forecasting.at_rhythm(subject, measures[0], per_commit),
        next_step=remedies.rewrite_manifests(subject) if fired else None,
    )


def _example() -> Subject:
    manifests = examples.facts().manifests
    many = replace(manifests, data=640, small=640, bytes=exactly(640 * 9_000), entries=exactly(1_900))
    return examples.subject(on=examples.facts(manifests=many))


RULE = Rule(
    id="manifest-debt",
    title="Small manifests",
    what="Fires when rewriting would save `manifest-debt.manifests` manifests and `manifest-debt.small-share` of "
    "them are small (under a quarter of the size they are meant to have); or when `manifest-debt.tombstones` "
    "entries, and `manifest-debt.tombstone-share` of all, are of files that have left. Iceberg's appends merge "
    "manifests by themselves from 100 on, so the number swings below that on healthy tables: the threshold "
    "stands well above the swing.",
    why="Planning a query opens every manifest that may hold a file of it. Streams that append fast, and engines "
    "that do not merge, leave one or more with every commit.",
    remedy="Rewrite the manifests: it touches no data file and takes seconds. Where they come back soon, see whether "
    "`commit.manifest-merge.enabled` is off, or have the writer commit less often.",
    work=Work.MANIFESTS,
    look=look,
    example=_example,
)
