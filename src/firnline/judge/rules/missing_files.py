"""Live files that are not where the table says."""

from __future__ import annotations

from firnline.core.figures import Figure, exactly
from firnline.judge import examples, words
from firnline.judge.measures import none_allowed
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Reading, Rule, Subject, Work

_NAME = "live files that a listing did not show"


def look(subject: Subject) -> Reading:
    """Broken when a listing of the location lacks live files."""
    storage = subject.storage
    if storage is None:
        return Reading(None, Health.BROKEN, "Nobody listed the table's location.", (none_allowed(_NAME, UNKNOWN),))
    found = none_allowed(
        _NAME, exactly(storage.missing_files) if storage.whole else Figure(storage.missing_files, None)
    )
    if found.past is not True:
        told = (
            "The listing showed every live file under the location."
            if storage.whole
            else "Not all was looked at in one go."
        )
        return Reading(found.past, Health.BROKEN, told, (found,))
    return Reading(
        fired=True,
        health=Health.BROKEN,
        sentence=f"{words.count(storage.missing_files, 'live file')} not found in storage, such as "
        f"{words.listed(storage.missing)}.",
        measures=(found,),
        next_step="Restore them from bucket versions, or go back: `firnline rollback "
        f"{subject.facts.identifier} --to SNAPSHOT`, to one that does not need them.",
    )


def _example() -> Subject:
    path = f"{examples.LOCATION}/data/ordered_at_day=2026-11-02/00003-7-0001.parquet"
    return examples.subject(storage=examples.storage(missing=(path,), missing_files=1))


RULE = Rule(
    id="missing-files",
    title="Live files that are gone",
    what="Fires when a complete listing of the table's location does not show a file that the current snapshot "
    "refers to, however few. Without a listing nobody can tell; files outside the location are not looked for.",
    why="A query that needs the file fails. Usually something that deletes by age or by path knew nothing of the "
    "table: a lifecycle rule of the bucket, or a clean-up of another table in the same folder.",
    remedy="Stop what deletes first. Then restore the files from bucket versions; where there are none, go back to a "
    "snapshot that does not need them, or take their rows as lost and remove the files from the table.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
