"""Data files far beyond the target size."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, every
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Something to watch, when a good part of the table lies in such files."""
    facts = subject.facts
    data = facts.data
    measures = (
        against(subject, "large-files.files", "large files", data.large_files),
        against(
            subject, "large-files.share", "share of bytes in large files", ranges.share(data.large_bytes, data.bytes)
        ),
    )
    fired = every(measures[0].past, measures[1].past)
    return Reading(
        fired=fired,
        health=Health.WATCH,
        sentence=f"Large files (over {words.size(facts.thresholds.large_above)}): "
        f"{words.of(data.large_files, data.files, 'file')}, of {words.size(data.large_bytes)}.",
        measures=measures,
        partitions=tuple(each.name for each in facts.partitions if each.large_files)[: words.NAMES_MAX]
        if fired
        else (),
        acting=cost.rewritten(subject, data.large_bytes.low, data.large_files.low),
        next_step=remedies.compact(subject) if fired else None,
    )


def _example() -> Subject:
    size = 4 * examples.GIB
    data = examples.data(files=40, size=size, large_files=exactly(24), large_bytes=exactly(24 * size))
    return examples.subject(on=examples.facts(data=data))


RULE = Rule(
    id="large-files",
    title="Large files",
    what="Fires when `large-files.files` files are over `large-file-times` of the `target-file-size`, and "
    "`large-files.share` of the bytes lie in them.",
    why="Readers split them, so queries hardly suffer. Changes do: deleting one row rewrites gigabytes under copy "
    "on write, a rewrite of one file is one long task, and bounds over so many rows exclude little.",
    remedy="Rewrite them to the target size, or leave them where nothing is ever changed. Where the size is meant, "
    "set `target-file-size`.",
    work=Work.COMPACTION,
    look=look,
    example=_example,
)
