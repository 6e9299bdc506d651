"""Our own runs losing more races than before."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import examples, ranges
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import UNKNOWN, Range
from firnline.judge.values import Health, Reading, Rule, RunFigures, Subject, Work


def _rise(runs: RunFigures) -> Range:
    """How much larger the share of lost races is than before; none before counts as one, lest any rise be endless."""
    if not runs.tries or not runs.tries_before:
        return UNKNOWN
    before = max(1, runs.conflicts_before) / runs.tries_before
    return ranges.exactly(runs.conflicts / runs.tries / before)


def look(subject: Subject) -> Reading:
    """Something to watch, when lost races are many, a good part of all tries, and more than before."""
    runs = subject.runs or RunFigures()
    known = bool(runs.tries)
    share = ranges.share(exactly(runs.conflicts), exactly(runs.tries)) if known else UNKNOWN
    measures = (
        against(subject, "conflicts.count", "lost races", exactly(runs.conflicts) if known else UNKNOWN),
        against(subject, "conflicts.share", "share of tries that lost", share),
        against(subject, "conflicts.rise", "that share, in those of the time before", _rise(runs)),
        beside("tries", exactly(runs.tries)),
    )
    if not known:
        return Reading(None, Health.WATCH, "The ledger tells of no run on this table of late.", measures)
    fired = every(*(measure.past for measure in measures[:3]))
    return Reading(
        fired=fired,
        health=Health.WATCH,
        sentence=f"Lost races: {runs.conflicts:,} of {runs.tries:,} tries; {runs.conflicts_before:,} of "
        f"{runs.tries_before:,} before.",
        measures=measures,
        next_step="firnline ledger" if fired else None,
    )


def _example() -> Subject:
    return examples.subject(runs=RunFigures(tries=40, conflicts=14, tries_before=44, conflicts_before=3))


RULE = Rule(
    id="conflicts",
    title="More and more lost races",
    what="Fires when `conflicts.count` tries of our own runs lost a race of late, these are `conflicts.share` of "
    "all tries, and that share is `conflicts.rise` of what it was before. Without runs in both times nobody "
    "can tell.",
    why="A commit that loses its race throws its work away. When that becomes the rule, upkeep costs and does not "
    "help, and it may make writers lose theirs.",
    remedy="See in the ledger which writer wins. Work on partitions that are closed, in smaller steps that fit "
    "between two commits, or have the writer commit less often.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
