"""A fleet at a moment, small enough to keep, and what changed between two such looks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from firnline.core.types import Json
from firnline.facts.values import TableFacts
from firnline.judge.judging import Judgement
from firnline.judge.values import Health

# The figures a look keeps of a table; None where nothing is known for sure.
FIGURES = ("data files", "bytes", "rows", "deletes", "snapshots", "removable files")
NOTEWORTHY = 0.2  # a figure that moved by less than a fifth is not worth a line


@dataclass(frozen=True, slots=True)
class Sight:
    """One table in a look."""

    health: Health
    fired: tuple[str, ...] = ()
    figures: Mapping[str, int | None] = field(default_factory=dict)
    snapshot: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A whole fleet."""

    millis: int
    sights: Mapping[str, Sight]


class Memory(Protocol):
    """Keeps looks. Disposable, and never in the way: what cannot be kept is not."""

    def keep(self, millis: int, look: Json) -> None:
        """Keep it, and forget the oldest of too many."""

    def recall(self, millis: int) -> Iterator[Json]:
        """Looks not younger than that, the newest first; then younger ones, the oldest first."""


def earlier(memory: Memory, millis: int, *, but: int) -> Look | None:
    """The newest look not younger than that, or the oldest there is; `but` one, which is the present."""
    for data in memory.recall(millis):
        try:
            look = from_json(data)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue  # of another version
        if look.millis != but:
            return look
    return None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a table between two looks. Health of a table that was not there is None."""

    table: str
    before: Health | None
    after: Health | None
    began: tuple[str, ...] = ()  # rules that fire now and did not
    ended: tuple[str, ...] = ()
    moved: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    commits: bool = False

    @property
    def worse(self) -> bool:
        """Whether it is worse than it was."""
        rank = -1 if self.before is None else self.before.rank
        return self.after is not None and self.after.rank > max(rank, 0)


def sight(judgement: Judgement, facts: TableFacts) -> Sight:
    """What a look keeps of a table."""
    deletes = [each.files.value for each in facts.deletes.values()]
    numbers = (
        facts.data.files.value, facts.data.bytes.value, facts.data.rows.value,
        None if None in deletes or facts.touched.unknown else sum(each or 0 for each in deletes), facts.snapshots.count,
        facts.data.removable.value,
    )  # fmt: skip
    fired = tuple(sorted(each.rule for each in judgement.findings if each.fired))
    return Sight(judgement.health, fired, dict(zip(FIGURES, numbers, strict=True)), facts.snapshot)


def sight_of_unreadable(judgement: Judgement) -> Sight:
    """A table nobody could read."""
    return Sight(judgement.health)


def changes(before: Mapping[str, Sight], after: Mapping[str, Sight]) -> tuple[Change, ...]:
    """The tables that changed, the worst turns first."""
    found = [
        change
        for table in {**before, **after}
        if (change := _change(table, before.get(table), after.get(table))) is not None
    ]
    return tuple(sorted(found, key=lambda each: (not each.worse, -(each.after.rank if each.after else 0), each.table)))


def _change(table: str, before: Sight | None, after: Sight | None) -> Change | None:
    if before is None or after is None:
        one = before or after
        assert one is not None
        began = one.fired if before is None else ()
        return Change(table, None if before is None else before.health, None if after is None else after.health, began)
    began = tuple(rule for rule in after.fired if rule not in before.fired)
    ended = tuple(rule for rule in before.fired if rule not in after.fired)
    moved = {
        name: (old, new)
        for name, old in before.figures.items()
        if old is not None and (new := after.figures.get(name)) is not None and _noteworthy(old, new)
    }
    if before.health is after.health and not (began or ended or moved):
        return None
    return Change(table, before.health, after.health, began, ended, moved, before.snapshot != after.snapshot)


def _noteworthy(old: int, new: int) -> bool:
    return abs(new - old) > NOTEWORTHY * max(old, 1) and abs(new - old) > 1


def to_json(look: Look) -> Json:
    """A look for keeping."""
    return {
        "millis": look.millis,
        "tables": {
            name: [each.health.value, list(each.fired), dict(each.figures), each.snapshot]
            for name, each in look.sights.items()
        },
    }


def from_json(data: Json) -> Look:
    """The inverse. Raises KeyError, TypeError, ValueError or AttributeError on what is no look."""
    sights = {
        str(name): Sight(
            Health(health),
            tuple(map(str, fired)),
            {str(key): _whole(value) for key, value in figures.items()},
            _whole(snapshot),
        )
        for name, (health, fired, figures, snapshot) in data["tables"].items()
    }
    return Look(int(data["millis"]), sights)


def _whole(value: Json) -> int | None:
    return None if value is None else int(value)
