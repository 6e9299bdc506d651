"""Deletes, or a format, that a declared reader cannot read."""

from __future__ import annotations

from collections.abc import Iterator

from firnline.config.amounts import Unit
from firnline.config.engines import AS_OF, ENGINES, Engine
from firnline.core.figures import exactly
from firnline.facts.values import DeleteKind
from firnline.judge import cost, deletions, examples, ranges, remedies, words
from firnline.judge.measures import beside, none_allowed, some
from firnline.judge.values import NO_COST, Health, Measure, Reading, Rule, Subject, Work

# Unknown counts as cannot: only a known reader is safe.
_NOBODY = Engine(2, position_deletes=False, equality_deletes=False, deletion_vectors=False)


def _cannot(subject: Subject, reader: str) -> Iterator[Measure]:
    engine = ENGINES.get(reader.casefold(), _NOBODY)
    version = ranges.exactly(subject.facts.format_version)
    yield Measure(f"format version, for {reader}", version, Unit.COUNT, engine.format_max + 1)
    for able, name, kinds in (
        (engine.position_deletes, "position deletes", deletions.POSITION),
        (engine.equality_deletes, "equality deletes", deletions.EQUALITY),
        (engine.deletion_vectors, "deletion vectors", deletions.VECTORS),
    ):
        if not able:
            yield none_allowed(f"{name}, which {reader} cannot read", deletions.files(subject.facts, kinds))


def look(subject: Subject) -> Reading:
    """Broken now when a declared reader cannot read what is live."""
    if not subject.readers:
        said = "No readers are declared, so nobody is known to be left out."
        return Reading(False, Health.BROKEN, said, (beside("declared readers", exactly(0)),))
    by_reader = {reader: tuple(_cannot(subject, reader)) for reader in subject.readers}
    measures = tuple(measure for each in by_reader.values() for measure in each)
    fired = some(*(measure.past for measure in measures))
    left_out = [reader for reader, each in by_reader.items() if some(*(one.past for one in each))]
    if fired is not True:
        told = "Nobody can tell whether it can" if fired is None else "It can"
        return Reading(fired, Health.BROKEN, f"{told} be read by {words.listed(subject.readers)}.", measures)
    touched = subject.facts.touched_bytes.low
    version = any(measure.past for measure in measures if measure.name.startswith("format"))
    why = [measure.name.split(",")[0] for measure in measures if measure.past and not measure.name.startswith("format")]
    what = words.listed(sorted({*why, *([f"format version {subject.facts.format_version}"] if version else [])}))
    return Reading(
        fired=True,
        health=Health.BROKEN,
        sentence=f"It cannot be read by {words.listed(left_out)} as it is now: it has {what}.",
        measures=measures,
        acting=cost.rewritten(subject, touched, subject.facts.touched.low) if why else NO_COST,
        next_step=remedies.fold(subject) if why else remedies.declare(subject, "`readers:` that read this format"),
    )


def _example() -> Subject:
    equality = {DeleteKind.EQUALITY: examples.deletes(3, 5_000)}
    facts = examples.facts(deletes=equality, touched=exactly(12), touched_bytes=exactly(12 * examples.FILE_SIZE))
    return examples.subject(on=facts, readers=("spark", "redshift"))


RULE = Rule(
    id="reader-contract",
    title="Deletes that a reader cannot read",
    what="Fires when an engine under `readers:` cannot read what the table holds now: a kind of delete of which at "
    f"least one is live, or the format version. What engines can do is known as of {AS_OF}; an engine that is not "
    "known can do nothing but data files of format 2. Without `readers:` it never fires.",
    why="Such an engine fails, or returns rows that were deleted. This is no debt that grows: it is wrong from the "
    "first delete file on.",
    remedy="Rewrite the data files that the deletes touch, so that no deletes are left. To keep it from coming back, "
    "have writers copy on write (`write.delete.mode`, `write.update.mode`, `write.merge.mode`), or use readers "
    "that can.",
    work=Work.FOLD,
    look=look,
    example=_example,
)
