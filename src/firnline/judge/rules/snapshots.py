"""Snapshots that should have been expired."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import exactly
from firnline.judge import cost, examples, forecasting, remedies, retention, words
from firnline.judge.measures import against, some
from firnline.judge.values import NO_COST, Forecast, Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy, when many are older than the policy lets them get, or there are very many of any age."""
    due = retention.overdue(subject)
    count = subject.facts.snapshots.count
    age = subject.policy.number("snapshots.age")
    overdue = against(subject, "snapshots.overdue", f"snapshots overdue after {words.age(age)}", exactly(len(due)))
    every_one = against(subject, "snapshots.count", "snapshots of any age", exactly(count))
    fired = some(overdue.past, every_one.past)
    return Reading(
        fired=fired,
        health=Health.UNTIDY,
        sentence=f"{words.count(count, 'snapshot')} are kept; an expiry after {words.age(age)} would "
        f"take {len(due):,} of them.",
        measures=(overdue, every_one),
        acting=cost.asked(subject, gets=len(due)) if fired else NO_COST,
        when=None if fired else _forecast(subject),
        next_step=remedies.expire(subject) if fired else None,
    )


def _forecast(subject: Subject) -> Forecast | None:
    """When as many as the threshold will be overdue: of those that are there, that is known without any rhythm."""
    needed = max(1, subject.policy.whole("snapshots.overdue"))
    moments = sorted(
        moment for moment in retention.leaves(subject.meta, subject.policy).values() if moment < float("inf")
    )
    if len(moments) >= needed:
        return Forecast(max(0, int(moments[needed - 1] - subject.now_millis)), "snapshots that are there grow old")
    rhythm = subject.facts.snapshots.rhythm
    age = subject.policy.whole("snapshots.age")
    missing = against(subject, "snapshots.overdue", "snapshots that will be", exactly(len(moments)))
    more = forecasting.at_rhythm(subject, missing, 1.0)
    if more is None or rhythm.gap_ms is None:
        return None
    return Forecast(more.in_millis + age, f"a commit every {words.age(rhythm.gap_ms)}, each kept for {words.age(age)}")


def _example() -> Subject:
    kept = examples.snapshots(700, examples.HOUR)
    facts = examples.facts(snapshots=replace(examples.facts().snapshots, count=700))
    return examples.subject(on=facts, of=examples.meta(kept))


RULE = Rule(
    id="snapshots",
    title="Snapshots that are never expired",
    what="Fires when an expiry by `snapshots.age` would take `snapshots.overdue` snapshots, or when there are "
    "`snapshots.count` of any age. What a branch, a tag or a least number keeps is not overdue, so a table "
    "that keeps a long history on purpose does not fire, and a stream that commits every minute does not "
    "either as long as expiry follows it.",
    why="Each keeps files from leaving and makes the metadata file longer, which every commit writes and every "
    "reader reads.",
    remedy="Expire them, and do so often and in small steps. Where older ones are wanted, let `snapshots.age` say so, "
    "or keep single ones by a tag.",
    work=Work.EXPIRY,
    look=look,
    example=_example,
)
