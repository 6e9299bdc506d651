"""History that is larger than the table."""

from __future__ import annotations

from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Reading, Rule, Subject, Work

_TIMES, _BYTES = "bytes of history, in live bytes", "bytes of history"


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what storing it costs."""
    history = subject.history
    if history is None:
        measures = (
            against(subject, "history.times", _TIMES, UNKNOWN),
            against(subject, "history.bytes", _BYTES, UNKNOWN),
        )
        return Reading(None, Health.UNTIDY, "Nobody looked at what history keeps.", measures)
    kept = history.history_bytes + history.loose_bytes
    times = against(subject, "history.times", _TIMES, ranges.ratio(kept, history.live_bytes))
    size = against(subject, "history.bytes", _BYTES, kept)
    fired = every(times.past, size.past)
    waiting = cost.kept(subject, kept.low)
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"History alone keeps {words.size(kept)}, beside {words.size(history.live_bytes)} that are live.",
        measures=(times, size, beside("bytes of snapshots that no ref leads to", history.loose_bytes, size.unit)),
        waiting=waiting,
        acting=cost.asked(subject, gets=history.manifests + history.snapshots_read),
        next_step=remedies.expire(subject) if fired else None,
    )


def _example() -> Subject:
    return examples.subject(history=examples.history(kept=190 * examples.GIB, loose=2 * examples.GIB))


RULE = Rule(
    id="history",
    title="History larger than the table",
    what="Fires when files that only older snapshots need take up `history.times` as many bytes as the live ones, "
    "and at least `history.bytes`. It needs a look at the whole history; without one, nobody can tell.",
    why="Storage is paid for rows that nobody queries, and every rewrite adds to it until expiry has run.",
    remedy="Expire snapshots. Where that has run and the bytes are still there, a branch or tag holds them, or the "
    "age is longer than anybody needs.",
    work=Work.EXPIRY,
    look=look,
    example=_example,
)
