"""The words in which the tables of rules are written: a subject, and what one rule has to make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from firnline.core.figures import Figure, exactly
from firnline.facts.values import DeleteKind, HistoryFacts, MetadataFacts, StorageFacts
from firnline.judge import examples
from firnline.judge.policy import PolicyValue
from firnline.judge.values import Health, Subject

SIZE = examples.FILE_SIZE
DAY, HOUR, MIB, GIB, NOW = examples.DAY, examples.HOUR, examples.MIB, examples.GIB, examples.NOW


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule says of a subject: True, False, or None when it cannot tell."""

    rule: str
    words: str
    subject: Subject
    fired: bool | None
    health: Health | None = None

    @property
    def id(self) -> str:
        """The name of the test."""
        return f"{self.rule}: {self.words}"


def on(**changes: Any) -> Subject:
    """The healthy table with other facts."""
    return examples.subject(on=examples.facts(**changes))


def files(total: int, small: int, removable: int, **changes: Any) -> Subject:
    """A table without named partitions, with small files."""
    data = examples.data(files=total, small=small, removable=removable)
    return on(data=data, partition_count=1, partitions=(), **changes)


def deleted(
    kind: DeleteKind, number: int, rows: int = 0, *, touched: int = 0, age_ms: int = HOUR, **changes: Any
) -> Subject:
    """The healthy table of 120 files with deletes of one kind."""
    found: dict[str, Any] = {
        "deletes": {kind: examples.deletes(number, rows, age_ms=age_ms)},
        "touched": exactly(touched),
        "touched_bytes": exactly(touched * SIZE),
        **changes,
    }
    return on(**found)


def metadata(**changes: Any) -> MetadataFacts:
    """The healthy table's metadata file, changed."""
    healthy = examples.facts().metadata
    assert healthy is not None
    return replace(healthy, **changes)


def history(**changes: Any) -> Subject:
    """The healthy table with a look at its history."""
    found: HistoryFacts = examples.history(**changes)
    return examples.subject(history=found)


def storage(**changes: Any) -> Subject:
    """The healthy table with a listing of its location."""
    found: StorageFacts = examples.storage(**changes)
    return examples.subject(storage=found)


def policy(subject: Subject, key: str, value: float) -> Subject:
    """The subject under a policy with one other value."""
    before = subject.policy.values[key]
    values = {**subject.policy.values, key: PolicyValue(key, value, before.unit, "test")}
    return replace(subject, policy=replace(subject.policy, values=values))


def bounded(low: int, high: int | None) -> Figure:
    """A number that is not known exactly."""
    return Figure(low, high)
