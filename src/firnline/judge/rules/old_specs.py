"""Files that are still laid out by an earlier partition spec."""

from __future__ import annotations

from firnline.core.figures import exactly, total
from firnline.facts.values import SpecFacts
from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy, when a good part of the table lies under specs that are no longer current."""
    facts = subject.facts
    old = [each for each in facts.specs if not each.current and each.files.high != 0]
    files, size = total(each.files for each in old), total(each.bytes for each in old)
    measures = (
        against(subject, "old-specs.files", "files under old specs", files),
        against(subject, "old-specs.share", "share of bytes under old specs", ranges.share(size, facts.data.bytes)),
        beside("specs with live files", exactly(len([each for each in facts.specs if each.files.high != 0]))),
    )
    fired = every(measures[0].past, measures[1].past)
    named = words.listed([f"spec {each.spec_id}" for each in old]) if old else ""
    return Reading(
        fired=fired,
        health=Health.UNTIDY,
        sentence=f"Still under {named}: {words.count(files, 'file')} of {words.size(size)}."
        if old
        else "Every file lies under the current partition spec.",
        measures=measures,
        acting=cost.rewritten(subject, size.low, files.low),
        next_step=remedies.rewrite_all(subject) if fired else None,
    )


def _example() -> Subject:
    size = examples.FILE_SIZE
    specs = (
        SpecFacts(0, False, 1, exactly(90), exactly(90 * size), exactly(90_000_000)),
        SpecFacts(1, True, 30, exactly(30), exactly(30 * size), exactly(30_000_000)),
    )
    return examples.subject(on=examples.facts(specs=specs))


RULE = Rule(
    id="old-specs",
    title="Files under old partition specs",
    what="Fires when `old-specs.files` files, and `old-specs.share` of the bytes, were written under a partition "
    "spec that is no longer the current one.",
    why="Changing the spec moves nothing. A filter that skips whole partitions of new files reads every old one, "
    "and deletes and rewrites treat each spec apart.",
    remedy="Rewrite the old files. Where they are cold and nobody filters them by the new fields, leave them and set "
    "the threshold of this table higher.",
    work=Work.COMPACTION,
    look=look,
    example=_example,
)
