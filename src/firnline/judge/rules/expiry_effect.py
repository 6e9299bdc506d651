"""An expiry after which what it let go was still there."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import cost, examples, ranges, words
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import NO_COST, Health, LastExpiry, Reading, Rule, RunFigures, Subject, Work

_DUE, _FREED = "bytes only the expired snapshots needed", "share of them that went"


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what the bytes cost that should have gone."""
    last = None if subject.runs is None else subject.runs.expiry
    if last is None:
        due = against(subject, "expiry-effect.bytes", _DUE, UNKNOWN)
        gone = against(subject, "expiry-effect.freed", _FREED, UNKNOWN, above=False)
        return Reading(None, Health.UNTIDY, "The ledger tells of no expiry of this table.", (due, gone))
    freed = max(0, last.bytes_before - last.bytes_after)
    share = ranges.share(exactly(freed), exactly(last.bytes_due))
    measures = (
        against(subject, "expiry-effect.bytes", _DUE, exactly(last.bytes_due)),
        against(subject, "expiry-effect.freed", _FREED, share, above=False),
        beside("snapshots it took", exactly(last.snapshots)),
    )
    fired = every(measures[0].past, measures[1].past)
    waiting = cost.kept(subject, max(0, last.bytes_due - freed)) if fired else NO_COST
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"The last expiry took {words.count(last.snapshots, 'snapshot')}; {words.size(freed)} of the "
        f"{words.size(last.bytes_due)} that only they needed went with them.",
        measures=measures,
        waiting=waiting,
        next_step=f"firnline history {subject.facts.identifier}" if fired else None,
    )


def _example() -> Subject:
    stored = 90 * examples.GIB
    last = LastExpiry(
        millis=examples.NOW - examples.DAY,
        snapshots=240,
        bytes_due=30 * examples.GIB,
        bytes_before=stored,
        bytes_after=stored,
    )
    return examples.subject(runs=RunFigures(expiry=last))


RULE = Rule(
    id="expiry-effect",
    title="Expiry that frees nothing",
    what="Fires when our last expiry of the table let go of `expiry-effect.bytes` that only the expired snapshots "
    "needed, and less than `expiry-effect.freed` of them were gone afterwards. An expiry that had nothing to "
    "free, as of a table that is only appended to, does not fire. Before the first such run nobody can tell.",
    why="Snapshots went and their files did not: what should have become cheaper did not, and the way back is gone "
    "all the same.",
    remedy="Look for deletes of files that failed, for an engine that only cleans metadata, and for `gc.enabled: "
    "false`; what was left behind is orphaned now.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
