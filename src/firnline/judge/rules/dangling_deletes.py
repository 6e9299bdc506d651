"""Deletes that apply to nothing any more."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.facts.values import DeleteKind
from firnline.judge import cost, deletions, examples, ranges, remedies, words
from firnline.judge.measures import against, every
from firnline.judge.values import Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what readers pay for opening them."""
    dangling = subject.facts.dangling
    whole = deletions.files(subject.facts, tuple(DeleteKind))
    measures = (
        against(subject, "dangling-deletes.files", "dangling deletes", dangling.files),
        against(subject, "dangling-deletes.share", "share of deletes that dangle", ranges.share(dangling.files, whole)),
    )
    fired = every(measures[0].past, measures[1].past)
    waiting = cost.opened(subject, dangling.files.low)
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"Deletes that apply to no live file: {words.of(dangling.files, whole, 'delete')}.",
        measures=measures,
        waiting=waiting,
        acting=cost.asked(subject, gets=2 * subject.facts.manifests.deletes, puts=subject.facts.manifests.deletes),
        next_step=_next_step(subject) if fired else None,
    )


def _next_step(subject: Subject) -> str:
    if len(subject.meta.specs) > 1 or DeleteKind.GLOBAL_EQUALITY in subject.facts.deletes:
        return f"{remedies.rewrite_all(subject)}: other removals may take deletes that still count, in this table."
    return remedies.call(
        subject, "rewrite_data_files",
        options='map("use-starting-sequence-number", "false", "remove-dangling-deletes", "true")',
    )  # fmt: skip


def _example() -> Subject:
    deletes = {DeleteKind.POSITION_FILE: examples.deletes(90, 90_000)}
    dangling = examples.deletes(60, 60_000)
    facts = examples.facts(deletes=deletes, dangling=dangling, touched=exactly(8))
    return examples.subject(on=facts)


RULE = Rule(
    id="dangling-deletes",
    title="Dangling deletes",
    what="Fires when `dangling-deletes.files` deletes, and `dangling-deletes.share` of all, apply to no live file, "
    "by the sequence rule of the specification: every file they could apply to is younger, or gone.",
    why="Rewriting the files that deletes touched leaves the deletes behind. They take away nothing, and planning "
    "still attaches them to what lies in their partition.",
    remedy="Remove them from the table. In a table that was once partitioned differently, or that has equality "
    "deletes for the whole table, Iceberg's own removal takes some that still count, and deleted rows come "
    "back: rewrite the files instead.",
    work=Work.FOLD,
    look=look,
    example=_example,
)
