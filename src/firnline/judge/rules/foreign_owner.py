"""Another table's metadata under this table's location."""

from __future__ import annotations

from firnline.core.figures import Figure, exactly
from firnline.judge import examples, words
from firnline.judge.measures import none_allowed
from firnline.judge.ranges import UNKNOWN
from firnline.judge.values import Health, Reading, Rule, Subject, Work

_NAME = "signs of another table"


def look(subject: Subject) -> Reading:
    """Risky when another table has the location for its own, or its metadata lies there."""
    storage = subject.storage
    if storage is None:
        return Reading(None, Health.RISKY, "Nobody listed the table's location.", (none_allowed(_NAME, UNKNOWN),))
    count = len(storage.foreign)
    whole = storage.after is None and not storage.unchecked
    found = none_allowed(_NAME, exactly(count) if whole else Figure(count, None))
    if found.past is not True:
        told = "The table has its location for itself." if whole else "Not every metadata file there was looked into."
        return Reading(found.past, Health.RISKY, told, (found,))
    return Reading(
        fired=True,
        health=Health.RISKY,
        sentence=f"Another table lives in the same folder: {words.listed(storage.foreign)}.",
        measures=(found,),
        next_step="Remove no orphans here, with any tool. Find out which table it is, and move one of the two.",
    )


def _example() -> Subject:
    path = f"{examples.LOCATION}/metadata/00041-77aa.metadata.json"
    return examples.subject(storage=examples.storage(foreign=(path,)))


RULE = Rule(
    id="foreign-owner",
    title="Two tables in one folder",
    what="Fires when a listing of the location shows a metadata file with another table's uuid, or when another "
    "table of the catalog has the same location: one is enough. A table that was dropped and made again under "
    "the same name leaves such files too: then they are merely left over.",
    why="To the orphan removal of either table, the files of the other are orphans: running it once destroys a table.",
    remedy="Until it is clear whose files they are, nothing here is called an orphan. Give one of the tables a "
    "location of its own and copy it there, or delete what is left of a table that is gone.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
