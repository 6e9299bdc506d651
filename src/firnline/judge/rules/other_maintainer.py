"""Somebody else who rewrites the table."""

from __future__ import annotations

from dataclasses import replace

from firnline.core import keys
from firnline.core.figures import exactly
from firnline.facts import summaries
from firnline.judge import examples, ranges, words
from firnline.judge.measures import against, beside, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Something to watch; untidy when we rewrite the table too."""
    rewrites = [snapshot for snapshot in subject.meta.snapshots if snapshot.operation == "replace"]
    others = [snapshot for snapshot in rewrites if keys.RUN not in snapshot.summary]
    last = max((snapshot.millis for snapshot in others), default=None)
    age = ranges.UNKNOWN if last is None else ranges.exactly(max(0, subject.now_millis - last))
    within = subject.policy.number("other-maintainer.age")
    late = [snapshot for snapshot in others if subject.now_millis - snapshot.millis <= within]
    ours = len(rewrites) - len(others)
    measures = (
        against(subject, "other-maintainer.commits", f"rewrites by others in {words.age(within)}", exactly(len(late))),
        beside("kept rewrites of ours", exactly(ours)),
        *(
            (against(subject, "other-maintainer.age", "since their last rewrite", age, above=False),)
            if last is not None
            else ()
        ),
    )
    fired = every(measures[0].past)
    who = sorted({summaries.by(snapshot)[0] for snapshot in late})
    return Reading(
        fired=fired,
        health=Health.UNTIDY if ours else Health.WATCH,
        sentence=f"Rewritten {len(late):,} times in {words.age(within)} by {words.listed(who)}"
        f"{f', and {ours:,} times by us' if ours else ''}."
        if late
        else "Nobody else has rewritten it of late.",
        measures=measures,
        next_step="Agree on one of you, and switch the other off." if fired else None,
    )


def _example() -> Subject:
    theirs = {"operation": "replace", "engine-name": "spark", "engine-version": "4.1.1"}
    kept = examples.snapshots(8, examples.DAY // 2)
    kept = tuple(replace(each, summary=theirs) if each.id % 2 else each for each in kept)
    return examples.subject(of=examples.meta(kept))


RULE = Rule(
    id="other-maintainer",
    title="Another maintainer at work",
    what="Fires when `other-maintainer.commits` kept snapshots of the last `other-maintainer.age` rewrote files "
    "without changing rows, and no run of ours made them: a managed optimizer, an engine's own, a job of "
    "somebody's.",
    why="Two who maintain one table undo each other's work, make each other lose races, and expire what the other "
    "one rests on. Who is charged for it is anybody's guess.",
    remedy="Find out who it is and decide for one. When it is to be the other, switch the rules off here that are "
    "theirs.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
