"""A metadata file that has grown large."""

from __future__ import annotations

from dataclasses import replace

from firnline.core.figures import UNKNOWN, exactly
from firnline.judge import cost, examples, forecasting, remedies, words
from firnline.judge.measures import against, beside
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Untidy or costly, by how often it is read."""
    metadata = subject.facts.metadata
    if metadata is None:
        untold = against(subject, "metadata-json.bytes", "size of the metadata file", UNKNOWN)
        return Reading(None, Health.UNTIDY, "Nobody looked at the metadata file itself.", (untold,))
    size = against(subject, "metadata-json.bytes", "size of the metadata file", exactly(metadata.json_bytes))
    measures = (
        size,
        beside("snapshots in it", exactly(subject.facts.snapshots.count)),
        beside("schemas in it", exactly(metadata.schemas)),
        beside("versions it lists", exactly(metadata.versions)),
    )
    waiting = cost.scanned(subject, metadata.json_bytes, everywhere=True)
    per_commit = metadata.json_bytes / max(1, subject.facts.snapshots.count)
    step = remedies.expire(subject)
    if not metadata.gzip:
        step = remedies.properties(subject, {"write.metadata.compression-codec": "gzip"})
    return Reading(
        fired=size.past,
        health=cost.grade(subject, waiting),
        sentence=f"The metadata file has {words.size(metadata.json_bytes)}{', gzipped' if metadata.gzip else ''}, with "
        f"{words.count(subject.facts.snapshots.count, 'snapshot')}.",
        measures=measures,
        waiting=waiting,
        when=forecasting.at_rhythm(subject, size, per_commit),
        next_step=step if size.past else None,
    )


def _example() -> Subject:
    facts = examples.facts()
    assert facts.metadata is not None
    grown = replace(facts.metadata, json_bytes=31 * examples.MIB, versions=101)
    kept = replace(facts.snapshots, count=24_000)
    return examples.subject(on=replace(facts, metadata=grown, snapshots=kept))


RULE = Rule(
    id="metadata-json",
    title="A large metadata file",
    what="Fires when the metadata file, as it is stored, has `metadata-json.bytes`.",
    why="Every commit writes it anew as a whole, every reader reads it as a whole before anything else, and the "
    "catalog swaps pointers to it: past some megabytes commits slow down and lose more races.",
    remedy="Expire snapshots: they are most of it. Gzip makes the rest a tenth. Hundreds of schemas mean that a "
    "writer evolves the table with every batch.",
    work=Work.EXPIRY,
    look=look,
    example=_example,
)
