"""Files under the location that nothing refers to."""

from __future__ import annotations

from firnline.core.figures import Figure, exactly
from firnline.judge import cost, examples, ranges, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Reading, Rule, Subject, Work

_BYTES, _SHARE = "bytes nothing refers to", "share of bytes nothing refers to"


def look(subject: Subject) -> Reading:
    """Untidy or costly, by what storing them costs. Never while another table's metadata lies there."""
    storage = subject.storage
    if storage is None:
        size = against(subject, "orphans.bytes", _BYTES, UNKNOWN)
        share = against(subject, "orphans.share", _SHARE, UNKNOWN)
        return Reading(None, Health.UNTIDY, "Nobody listed the table's location.", (size, share))
    whole = storage.after is None and not storage.damage
    unreferenced = exactly(storage.unreferenced_bytes) if whole else Figure(storage.unreferenced_bytes, None)
    listed = exactly(storage.listed_bytes) if whole else Figure(storage.listed_bytes, None)
    measures = (
        against(subject, "orphans.bytes", _BYTES, unreferenced),
        against(subject, "orphans.share", _SHARE, ranges.share(unreferenced, listed)),
        beside("files nothing refers to", exactly(storage.unreferenced_files)),
        beside("files too young to tell", exactly(storage.young_files)),
    )
    if storage.foreign:
        said = "Another table's metadata lies here too: nothing can be called an orphan."
        return Reading(False, Health.UNTIDY, said, measures)
    fired = every(measures[0].past, measures[1].past)
    waiting = cost.kept(subject, storage.unreferenced_bytes)
    return Reading(
        fired=fired,
        health=cost.grade(subject, waiting),
        sentence=f"Nothing refers to {words.count(storage.unreferenced_files, 'file')} of {words.size(unreferenced)} "
        "under the location.",
        measures=measures,
        waiting=waiting,
        acting=cost.asked(subject, lists=-(-storage.listed_files // cost.LIST_PAGE)),
        next_step=remedies.list_orphans(subject) if fired else None,
    )


def _example() -> Subject:
    return examples.subject(storage=examples.storage(unreferenced=12 * examples.GIB))


RULE = Rule(
    id="orphans",
    title="Orphans",
    what="Fires when files older than `young-file-age` that nothing refers to take up `orphans.bytes`, and "
    "`orphans.share` of what lies under the location. It needs a listing; without a whole one nobody can tell. "
    "It never fires while another table's metadata lies in the same folder.",
    why="Jobs that died between writing and committing leave files that no reader sees and everybody pays for.",
    remedy="List them first and look. Delete by the list, after keeping it a while: what is deleted by age or by "
    "prefix may be a file of a commit on its way, or of another table.",
    work=Work.ORPHANS,
    look=look,
    example=_example,
)
