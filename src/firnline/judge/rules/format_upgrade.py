"""Tables that a later format would serve better."""

from __future__ import annotations

from firnline.config.engines import ENGINES
from firnline.core.figures import exactly
from firnline.facts.values import DeleteKind
from firnline.judge import deletions, examples, remedies, words
from firnline.judge.measures import against, beside, every
from firnline.judge.ranges import exactly as known
from firnline.judge.values import Health, Measure, Reading, Rule, Subject, Work


def _measure(subject: Subject, version: int) -> Measure:
    if version > 1:
        live = deletions.files(subject.facts, deletions.POSITION)
        return against(
            subject, "format-upgrade.delete-files", "position delete files", live if version == 2 else known(0)
        )
    operations = subject.facts.snapshots.by_operation
    count = operations.get("overwrite", 0) + operations.get("delete", 0)
    return against(
        subject, "format-upgrade.rewrites", "kept snapshots that rewrote files to change rows", exactly(count)
    )


def look(subject: Subject) -> Reading:
    """Something to watch, unless a declared reader could not read the later format."""
    version = subject.facts.format_version
    measure = _measure(subject, version)
    unable = [each for each in subject.readers if not _reads_vectors(each)]
    measures = (
        measure,
        beside("format version", exactly(version)),
        beside("readers that could not read format 3", exactly(len(unable))),
    )
    if version >= 3:
        return Reading(False, Health.WATCH, "The table has format 3.", measures)
    fired = every(measure.past, not unable)
    what = "position delete files, which format 3 has as vectors" if version == 2 else "snapshots that rewrote files"
    kept_back = f" {words.capital(words.listed(unable))} could not read format 3." if unable and measure.past else ""
    asked = "" if subject.readers or not fired else " No readers are declared: make sure that all can."
    return Reading(
        fired=fired,
        health=Health.WATCH,
        sentence=f"A format {version} table with {int(measure.value.low):,} {what}.{kept_back}{asked}",
        measures=measures,
        next_step=remedies.declare(subject, "`format-version: 3`") if fired else None,
    )


def _reads_vectors(reader: str) -> bool:
    engine = ENGINES.get(reader.casefold())
    return engine is not None and engine.format_max >= 3 and engine.deletion_vectors


def _example() -> Subject:
    deletes = {DeleteKind.POSITION_FILE: examples.deletes(310, 40_000)}
    return examples.subject(on=examples.facts(deletes=deletes), readers=("spark", "trino"))


RULE = Rule(
    id="format-upgrade",
    title="A later format would help",
    what="Fires for a format 2 table with `format-upgrade.delete-files` position delete files, and for a format 1 "
    "table whose kept snapshots rewrote files `format-upgrade.rewrites` times in order to change rows. Never "
    "while a declared reader could not read format 3 with its vectors.",
    why="Format 1 has no deletes: changing a row rewrites its file. Format 2 has delete files, which readers open "
    "one by one and compare with every row. Format 3 has one vector for each data file, and keeps row ids.",
    remedy="Upgrade in the table's file. It is one commit of metadata and cannot be undone: declare the readers first.",
    work=Work.DECLARATION,
    look=look,
    example=_example,
)
