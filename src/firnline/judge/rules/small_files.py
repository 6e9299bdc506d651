"""Small files that merging would save."""

from __future__ import annotations

from firnline.core import figures
from firnline.core.figures import exactly
from firnline.core.sizes import show_count
from firnline.facts.values import PartitionFacts
from firnline.judge import cost, examples, forecasting, ranges, remedies, words
from firnline.judge.measures import against, every, some
from firnline.judge.values import Measure, Reading, Rule, Subject, Work

_FILES, _SHARE = "small-files.files", "small-files.share"


def _of(subject: Subject, partition: PartitionFacts) -> tuple[Measure, Measure]:
    share = ranges.share(exactly(partition.small_files), exactly(partition.files))
    return (
        against(subject, _FILES, f"files that merging would save in {partition.name}", exactly(partition.removable)),
        against(subject, _SHARE, f"share of small files in {partition.name}", share),
    )


def look(subject: Subject) -> Reading:
    """Untidy or costly, when the table or one of its partitions has many, and they are a good part of its files."""
    facts, data = subject.facts, subject.facts.data
    saved = against(subject, _FILES, "files that merging would save", data.removable)
    share = against(subject, _SHARE, "share of small files", ranges.share(data.small_files, data.files))
    # Those left out by the facts have less to mend than these.
    within = [(each, _of(subject, each)) for each in facts.partitions] if facts.partition_count > 1 else []
    hot = [each for each, measures in within if every(*(measure.past for measure in measures))]
    worst = max(within, key=lambda one: (one[0] in hot, one[0].removable, one[0].name), default=None)
    fired = some(every(saved.past, share.past), bool(hot))
    waiting = cost.opened(subject, data.removable.low)
    sentence = (
        f"Small files (under {words.size(facts.thresholds.small_below)}): "
        f"{words.of(data.small_files, data.files, 'file')}; "
        f"merging them saves {figures.show(data.removable, show_count)}."
    )
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=sentence,
        measures=(saved, share, *(worst[1] if worst is not None else ())),
        partitions=tuple(each.name for each in hot[: words.NAMES_MAX]),
        waiting=waiting,
        acting=cost.rewritten(subject, data.small_bytes.low, data.small_files.low),
        when=forecasting.at_rhythm(subject, saved, forecasting.small_files_added(subject)) if share.past else None,
        next_step=remedies.compact(subject) if fired else None,
    )


def _example() -> Subject:
    today = examples.partition(files=904, small_files=900, small_bytes=900 * 8 * examples.MIB, removable=885)
    data = examples.data(files=1020, small=900, removable=885)
    return examples.subject(on=examples.facts(data=data, partitions=(today,)))


RULE = Rule(
    id="small-files",
    title="Small files",
    what="Fires when merging the small files of each partition would save `small-files.files` files, and small ones "
    "are `small-files.share` of all: in the whole table, or in one partition. A file is small under "
    "`small-file-share` of `target-file-size`. Files that cannot be merged with any other of their partition "
    "count for nothing, so a partition's only file may be as small as it likes. One hot partition is not "
    "hidden by a thousand cold ones. Merging takes the number to nothing, so it does not come and go.",
    why="Every file costs its readers requests, a footer and a place in the plan, whatever its size: a thousand "
    "files of a megabyte take longer to open than to read.",
    remedy="Merge them, closed partitions first: a rewrite in a partition that is being written races its writer. "
    "Writers that commit less often, or that gather rows by partition first (`write.distribution-mode: hash`), "
    "make fewer.",
    work=Work.COMPACTION,
    look=look,
    example=_example,
)
