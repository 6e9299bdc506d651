"""Branches and tags whose snapshot is not there."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.core.ids import SnapshotId
from firnline.facts.values import RefFacts
from firnline.judge import examples, words
from firnline.judge.measures import none_allowed
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Broken when a ref names a snapshot the metadata does not have."""
    missing = [f"{ref.kind} {ref.name}" for ref in subject.facts.refs if ref.missing]
    measures = (none_allowed("refs without their snapshot", exactly(len(missing))),)
    if not missing:
        return Reading(False, Health.BROKEN, "Every branch and tag has its snapshot.", measures)
    ref = next(ref for ref in subject.facts.refs if ref.missing)
    return Reading(
        fired=True,
        health=Health.BROKEN,
        sentence=f"The snapshot of {words.listed(missing)} is not there any more.",
        measures=measures,
        next_step=f"firnline {ref.kind} drop {subject.facts.identifier} {ref.name}",
    )


def _example() -> Subject:
    gone = RefFacts("audit_2026_q3", "tag", SnapshotId(77), None, None, missing=True)
    return examples.subject(on=examples.facts(refs=(gone,)))


RULE = Rule(
    id="broken-refs",
    title="Refs without a snapshot",
    what="Fires when a branch or tag names a snapshot that is no longer in the metadata, however few.",
    why="Whoever reads the table by that name gets an error, and Iceberg's own expiry may refuse to run.",
    remedy="Drop the ref, or make it anew at a snapshot that is kept. An expiry by hand that named snapshot ids, or a "
    "catalog that edits metadata, is what leaves such a ref behind.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
