"""Branches and tags that keep bytes nobody else needs."""

from __future__ import annotations

import shlex

from firnline.core.figures import exactly
from firnline.facts.values import RefHold
from firnline.judge import cost, examples, ranges, words
from firnline.judge.measures import against, every, some
from firnline.judge.ranges import UNKNOWN, Range
from firnline.judge.values import Health, Measure, Reading, Rule, Subject, Work

_BYTES, _SHARE = "pinned-by-refs.bytes", "pinned-by-refs.share"


def _measures(subject: Subject, hold: RefHold) -> tuple[Measure, Measure]:
    assert subject.history is not None
    return (
        against(subject, _BYTES, f"bytes kept by {hold.ref} alone", hold.bytes),
        against(
            subject,
            _SHARE,
            f"share of live bytes, kept by {hold.ref} alone",
            ranges.ratio(hold.bytes, subject.history.live_bytes),
        ),
    )


def _of_one(subject: Subject, value: Range) -> tuple[Measure, Measure]:
    return (
        against(subject, _BYTES, "bytes kept by one ref alone", value),
        against(subject, _SHARE, "share of live bytes, kept by one ref alone", value),
    )


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what storing it costs."""
    if subject.history is None:
        return Reading(None, Health.UNTIDY, "Nobody looked at what branches and tags keep.", _of_one(subject, UNKNOWN))
    holds = sorted(
        (each for each in subject.history.refs if each.ref != "main"), key=lambda each: (-each.bytes.low, each.ref)
    )
    by_hold = [(hold, _measures(subject, hold)) for hold in holds]
    fired = some(*(every(*(measure.past for measure in own)) for _, own in by_hold))
    past = [hold for hold, own in by_hold if every(*(measure.past for measure in own))]
    waiting = cost.kept(subject, sum(hold.bytes.low for hold in past))
    sentence = "No branch or tag keeps anything for itself."
    if holds:
        first = (past or holds)[0]
        sentence = f"{first.ref} alone keeps {words.size(first.bytes)}."
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=sentence,
        measures=tuple(measure for _, own in by_hold[: words.NAMES_MAX] for measure in own)
        or _of_one(subject, ranges.exactly(0)),
        waiting=waiting,
        next_step=_drop(subject, past[0].ref) if past else None,
    )


def _drop(subject: Subject, name: str) -> str:
    kind = next((ref.kind for ref in subject.facts.refs if ref.name == name), "branch")
    return f"firnline {kind} drop {shlex.quote(str(subject.facts.identifier))} {shlex.quote(name)}"


def _example() -> Subject:
    hold = RefHold("audit_2025", exactly(120), exactly(42 * examples.GIB))
    return examples.subject(history=examples.history(refs=(hold,)))


RULE = Rule(
    id="pinned-by-refs",
    title="Refs that pin bytes",
    what="Fires when one branch or tag alone keeps `pinned-by-refs.bytes` from leaving, and that is "
    "`pinned-by-refs.share` of what is live. It needs a look at the whole history; without one, nobody can "
    "tell.",
    why="No expiry frees them as long as the ref is there, and refs that were made without an age stay for ever.",
    remedy="Drop the ref, or give it an age under `branches:` or `tags:` in the table's file. Where it has to stay, "
    "set the threshold of this table to what it keeps.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
