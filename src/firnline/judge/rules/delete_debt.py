"""Position deletes and deletion vectors that have piled up."""

from __future__ import annotations

from firnline.core.figures import Figure, exactly, total
from firnline.facts.values import DeleteKind
from firnline.judge import cost, deletions, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every, some
from firnline.judge.values import Measure, Reading, Rule, Subject, Work

_KINDS = {
    DeleteKind.POSITION_FILE: "position delete files for one data file",
    DeleteKind.POSITION_FILES: "position delete files for many data files",
    DeleteKind.VECTOR: "deletion vectors",
}


def _touched(subject: Subject, live: Figure) -> Figure:
    """The data files these kinds apply to: beside equality deletes, nobody can tell them from those of the others."""
    others = deletions.files(subject.facts, deletions.EQUALITY)
    if live.high == 0:
        return exactly(0)
    return subject.facts.touched if others.high == 0 else Figure(0, subject.facts.touched.high)


def look(subject: Subject) -> Reading:
    """Untidy or costly, when deletes touch much of the table or take away much of it."""
    facts = subject.facts
    found = {kind: deletions.of(facts, kind) for kind in _KINDS}
    live = total(each.files for each in found.values())
    rows = total(each.rows for each in found.values())
    touched = _touched(subject, live)
    held: tuple[Measure, ...] = (
        against(subject, "delete-debt.files", "data files with deletes", touched),
        against(
            subject,
            "delete-debt.touched-share",
            "share of data files with deletes",
            ranges.share(touched, facts.data.files),
        ),
        against(subject, "delete-debt.rows", "deleted rows still held", rows),
        against(subject, "delete-debt.rows-share", "share of rows deleted", ranges.share(rows, facts.data.rows)),
    )
    kinds = tuple(
        measure
        for kind, name in _KINDS.items()
        if found[kind].files.high != 0
        for measure in (beside(name, found[kind].files), beside(f"rows of {name}", found[kind].rows))
    )
    fired = some(every(held[0].past, held[1].past), every(held[2].past, held[3].past))
    containers = total(each.containers for each in found.values())
    size = total(each.bytes for each in found.values())
    waiting = cost.opened(subject, containers.low) + cost.scanned(subject, size.low)
    sentence = "There are no position deletes and no vectors."
    if live.high != 0:
        share = ranges.show(held[3].value, held[3].unit)
        sentence = (
            f"Deletes touch {words.of(touched, facts.data.files, 'data file')} and take away {share} of the rows."
        )
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=sentence,
        measures=(*held, *kinds),
        partitions=tuple(each.name for each in facts.partitions if each.touched.low)[: words.NAMES_MAX]
        if fired
        else (),
        waiting=waiting,
        acting=cost.rewritten(subject, facts.touched_bytes.low, facts.touched.low),
        next_step=remedies.fold(subject) if fired else None,
    )


def _example() -> Subject:
    deletes = {DeleteKind.POSITION_FILE: examples.deletes(45, 14_400_000)}
    facts = examples.facts(
        deletes=deletes,
        touched=exactly(45),
        touched_bytes=exactly(45 * examples.FILE_SIZE),
        partitions=(examples.partition(touched=exactly(4), delete_files=4),),
    )
    return examples.subject(on=facts)


RULE = Rule(
    id="delete-debt",
    title="Deletes that pile up",
    what="Fires when position deletes or deletion vectors touch both `delete-debt.files` data files and "
    "`delete-debt.touched-share` of them, or when they take away both `delete-debt.rows` rows and "
    "`delete-debt.rows-share` of all. Either way a number and a share have to come together: a small table "
    "does not fire for its few files, nor a large one for its few deletes. Folding takes both to nothing, so "
    "it does not come and go.",
    why="Readers open a delete beside each file it touches, read rows in order to throw them away, and pay for "
    "storing them. Deleted data is still there, too.",
    remedy="Rewrite exactly the files that deletes touch, in one commit. Under format 2, `write.delete.granularity: "
    "file` keeps a delete from touching every file of its partition; under format 3, vectors make each "
    "cheaper.",
    work=Work.FOLD,
    look=look,
    example=_example,
)
