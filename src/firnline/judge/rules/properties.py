"""Table properties that hurt."""

from __future__ import annotations

from firnline.core.figures import exactly
from firnline.judge import examples, hurtful, remedies, words
from firnline.judge.measures import beside, none_allowed
from firnline.judge.values import Health, Reading, Rule, Subject, Work


def look(subject: Subject) -> Reading:
    """Something to watch, when a setting does harm to this table."""
    hurts = tuple(hurtful.found(subject))
    measures = (
        none_allowed("properties that hurt", exactly(len(hurts))),
        beside("properties that are set", exactly(len(subject.meta.properties))),
    )
    if not hurts:
        return Reading(False, Health.WATCH, "No property does harm here.", measures)
    first = hurts[0]
    more = f" ({words.count(len(hurts) - 1, 'more property', 'more properties')})" if len(hurts) > 1 else ""
    shown = "unset" if first.value is None else first.value
    return Reading(
        fired=True,
        health=Health.WATCH,
        sentence=f"{first.property} is {shown}: {first.sentence}{more}",
        measures=measures,
        next_step=remedies.properties(subject, {hurt.property: hurt.instead for hurt in hurts}),
    )


def _example() -> Subject:
    return examples.subject({"commit.retry.num-retries": "0", "write.target-file-size": "1048576"})


RULE = Rule(
    id="properties",
    title="Properties that hurt",
    what="Fires when a property of the table does harm to this table, by the list below, or has a name under one of "
    "Iceberg's prefixes that Iceberg does not know. One is enough. A property that is only unusual does not "
    "fire.",
    why="Nothing complains of a property: it does its harm with every write until somebody looks.",
    remedy="Set it under `properties:` in the table's file; `plan` shows the change. null removes a property.",
    work=Work.DECLARATION,
    look=look,
    example=_example,
)
