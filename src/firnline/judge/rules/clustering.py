"""Files that overlap in the column they are sorted by."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.core.layout import SortField
from firnline.core.types import show_path, walk
from firnline.judge import cost, examples, ranges, remedies
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def _key(subject: Subject) -> SortField | None:
    """The first sort key, if its order is that of the column's own values."""
    first = next(iter(subject.meta.order.fields), None)
    return None if first is None or first.transform.startswith(("bucket", "void")) else first


def look(subject: Subject) -> Reading:
    """Untidy or costly, when one value of the first sort column may be in many files."""
    key, facts = _key(subject), subject.facts
    files = against(subject, "clustering.files", "data files", facts.data.files)
    if key is None:
        said = "Nothing is sorted by ranges of a column: " + (
            "by buckets only." if subject.meta.order.fields else "no sort order."
        )
        depth = against(subject, "clustering.depth", "files one value may be in", ranges.exactly(0))
        return Reading(False, Health.UNTIDY, said, (depth, files))
    column = next((each for each in subject.columns if each.field_id == key.source_ids[0]), None)
    depth = against(
        subject, "clustering.depth", "files one value may be in",
        UNKNOWN if column is None else ranges.scaled(column.depth, 0.01),
    )  # fmt: skip
    order = exactly(facts.sort_orders.get(subject.meta.default_order_id, 0))
    measures = (depth, files, beside("files written in this sort order", order))
    name = next(
        (show_path(path) for path, field in walk(subject.meta.schema.struct) if field.id == key.source_ids[0]), "?"
    )
    fired = every(depth.past, files.past)
    waiting = cost.opened(subject, max(0, depth.value.low - 1), everywhere=True)
    sentence = f"Nobody looked at the bounds of {name}, by which the table is sorted."
    if not depth.value.unknown:
        sentence = f"A value of {name} may be in {ranges.show(depth.value, files.unit)} files of its partition."
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=sentence,
        measures=measures,
        waiting=waiting,
        acting=cost.rewritten(subject, facts.data.bytes.low, facts.data.files.low, factor=cost.SORT_FACTOR),
        next_step=remedies.compact(subject, sort=True) if fired else None,
    )


def _example() -> Subject:
    return examples.subject(columns=(examples.column(examples.CUSTOMER, "customer", depth=exactly(1150)),))


RULE = Rule(
    id="clustering",
    title="Sorted files that overlap",
    what="Fires when a value of the first sort column lies within the bounds of `clustering.depth` files of its "
    "partition on average, in a table of `clustering.files` files. 1 is perfectly clustered. A table without a "
    "sort order never fires; where nobody looked at the column's bounds, nobody can tell.",
    why="A filter on the sort column skips the files whose bounds exclude it. Files that all reach from A to Z "
    "exclude nothing: the work of sorting within them is paid, and its gain is not there.",
    remedy="Rewrite with the sort order, closed partitions first; or have writers spread rows by range "
    "(`write.distribution-mode: range`), so that what they append does not overlap.",
    work=Work.COMPACTION,
    look=look,
    example=_example,
)
