"""Metadata of the table that could not be read."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.facts.values import Damage
from firnline.judge import examples
from firnline.judge.measures import none_allowed
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def _older(subject: Subject) -> tuple[Damage, ...]:
    """What could not be read beside the current snapshot. A bound that was reached is told under the metadata file."""
    history = subject.history.damage if subject.history is not None else ()
    storage = subject.storage.damage if subject.storage is not None else ()
    found = (each for each in dict.fromkeys((*history, *storage)) if each.location != subject.meta.location)
    return tuple(each for each in found if each not in subject.facts.damage)


def look(subject: Subject) -> Reading:
    """Unreadable for any manifest of the current snapshot, broken for one that only history has."""
    now, older = subject.facts.damage, _older(subject)
    measures = (
        none_allowed("metadata files of the current snapshot that could not be read", exactly(len(now))),
        none_allowed("metadata files of older snapshots that could not be read", exactly(len(older))),
    )
    first = next(iter((*now, *older)), None)
    if first is None:
        return Reading(False, Health.UNREADABLE, "Everything that was looked at could be read.", measures)
    more = len(now) + len(older) - 1
    told = first.reason if first.location in first.reason else f"{first.location} could not be read: {first.reason}"
    return Reading(
        fired=True,
        health=Health.UNREADABLE if now else Health.BROKEN,
        sentence=f"{told}{f' ({more:,} more)' if more else ''}",
        measures=measures,
        next_step="Restore the file from a version or a copy of the bucket, or go back: `firnline rollback "
        f"{subject.facts.identifier} --to SNAPSHOT`, to one whose files can all be read.",
    )


def _example() -> Subject:
    damage = Damage(f"{examples.LOCATION}/metadata/a7-m0.avro", "it ends in the middle of a block.")
    return examples.subject(on=examples.facts(damage=(damage,)))


RULE = Rule(
    id="damage",
    title="Metadata that cannot be read",
    what="Fires when a manifest or manifest list could not be read, however few they are. Numbers that would need "
    "what they hold are bounds then, and rules that rest on those say that they cannot tell.",
    why="Every reader that plans over the same file fails, or worse, leaves its rows out.",
    remedy="Bring the file back from a bucket version or a copy: manifests never change, so any copy is the right "
    "one. Where there is none, go back to a snapshot that does not need it.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
