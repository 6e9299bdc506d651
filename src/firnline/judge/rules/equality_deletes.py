"""Equality deletes that nobody folds away."""

from __future__ import annotations

from firnline.core.figures import Figure, exactly, total
from firnline.facts.values import DeleteFacts, DeleteKind
from firnline.judge import cost, deletions, examples, forecasting, ranges, remedies, words
from firnline.judge.measures import against, beside, some
from firnline.judge.ranges import Range
from firnline.judge.values import Cost, Reading, Rule, Subject, Work


def _age(subject: Subject, found: list[DeleteFacts]) -> Range:
    """How old the oldest is; nothing when there are none."""
    moments = [each.oldest_millis for each in found if each.files.high != 0]
    if not moments:
        return ranges.exactly(0)
    highs = [moment.high for moment in moments if moment.high is not None]
    earliest = Figure(min(moment.low for moment in moments), min(highs) if highs else None)
    return ranges.ages(earliest, subject.now_millis)


def _waiting(subject: Subject, found: list[DeleteFacts]) -> Cost:
    """Every reader of a touched file reads, and holds, the keys of all deletes of its partition."""
    times = max(1, subject.facts.touched.low) / max(1, subject.facts.partition_count)
    files, size = total(each.files for each in found).low, total(each.bytes for each in found).low
    return cost.scanned(subject, size * times) + cost.opened(subject, files * times)


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what the readers pay for holding their keys in memory."""
    facts = subject.facts
    found = [deletions.of(facts, kind) for kind in deletions.EQUALITY]
    live = total(each.files for each in found)
    files = against(subject, "equality-deletes.files", "equality delete files", live)
    oldest = against(subject, "equality-deletes.age", "age of the oldest equality delete", _age(subject, found))
    whole = deletions.of(facts, DeleteKind.GLOBAL_EQUALITY).files
    kinds = (beside("equality delete files for the whole table", whole),) if whole.high != 0 else ()
    fired = some(files.past, oldest.past)
    waiting = _waiting(subject, found)
    sentence = "There are no equality deletes."
    if live.high != 0:
        since = f", the oldest from {words.age(oldest.value.low)} ago" if oldest.value.low else ""
        many = words.capital(words.count(live, "equality delete file"))
        sentence = f"{many}{since}: readers hold their keys in memory."
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=sentence,
        measures=(files, oldest, beside("keys in equality deletes", total(each.rows for each in found)), *kinds),
        waiting=waiting,
        acting=cost.rewritten(subject, facts.touched_bytes.low, facts.touched.low),
        when=forecasting.with_age(oldest, "the oldest of them grows old") if live.low else None,
        next_step=remedies.fold(subject) if fired else None,
    )


def _example() -> Subject:
    old = {DeleteKind.EQUALITY: examples.deletes(40, 8_000, age_ms=3 * examples.DAY)}
    touched = exactly(60)
    size = exactly(60 * examples.FILE_SIZE)
    return examples.subject(on=examples.facts(deletes=old, touched=touched, touched_bytes=size))


RULE = Rule(
    id="equality-deletes",
    title="Equality deletes",
    what="Fires when any equality delete is older than `equality-deletes.age`, or when there are "
    "`equality-deletes.files` of them, however young. A stream that writes them all the time and is folded "
    "every few hours therefore does not fire.",
    why="A position delete says where a row is; an equality delete only says what it was. Every reader of every "
    "older file in the partition has to hold all its keys in memory and compare each row: reads slow down with "
    "the product of both, and engines run out of memory. Some engines cannot read them at all.",
    remedy="Rewrite the files they touch, soon after they were written. Deletes made by a job rather than a stream "
    "are better made as position deletes or vectors, or copied on write. Do not run Iceberg's removal of "
    "dangling deletes on a table that was partitioned differently once: it takes those for the whole table for "
    "dangling, and rows come back.",
    work=Work.FOLD,
    look=look,
    example=_example,
)
