"""Expiry that would break somebody who reads incrementally."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from firnline.config.amounts import Unit
from firnline.core.figures import exactly
from firnline.core.ids import SnapshotId
from firnline.judge import examples, ranges, retention, words
from firnline.judge.measures import against, beside, some
from firnline.judge.values import Consumer, Forecast, Health, Measure, Reading, Rule, Subject, Work


@dataclass(frozen=True, slots=True)
class _Stand:
    """One consumer: how long until expiry takes what it needs (below nothing: it is gone; infinite: none does)."""

    consumer: Consumer
    left: float | None  # None: nobody knows what it needs
    lag: int | None


def _stands(subject: Subject) -> Iterator[_Stand]:
    until = retention.leaves(subject.meta, subject.policy)
    millis = {snapshot.id: snapshot.millis for snapshot in subject.meta.snapshots}
    for consumer in subject.consumers:
        if consumer.needs is None:
            yield _Stand(consumer, None, None)
        elif consumer.needs not in millis:
            yield _Stand(consumer, -1, None)
        else:
            left = max(0.0, until[consumer.needs] - subject.now_millis)
            yield _Stand(consumer, left, max(0, subject.now_millis - millis[consumer.needs]))


def _measures(subject: Subject, stand: _Stand) -> Iterator[Measure]:
    name, left = stand.consumer.id, stand.left
    if left is None or left < math.inf:
        value = ranges.UNKNOWN if left is None else ranges.exactly(max(0, left))
        yield against(subject, "consumers.warning", f"until expiry takes what {name} needs", value, above=False)
    else:
        yield Measure(f"snapshots that {name} needs and expiry may take", ranges.exactly(0), Unit.COUNT, 1)
    if stand.lag is not None:
        yield beside(f"how far behind {name} is", ranges.exactly(stand.lag), Unit.DURATION)


def look(subject: Subject) -> Reading:
    """Broken when what a consumer needs is gone, risky when the next expiry may take it."""
    stands = tuple(_stands(subject))
    if not stands:
        said = "No consumers are registered, so nobody is known to be cut off."
        return Reading(False, Health.RISKY, said, (beside("registered consumers", exactly(0)),))
    by_stand = {stand.consumer.id: tuple(_measures(subject, stand)) for stand in stands}
    measures = tuple(measure for each in by_stand.values() for measure in each)
    gone = [stand.consumer.id for stand in stands if stand.left is not None and stand.left < 0]
    near = [each for each, own in by_stand.items() if each not in gone and own[0].past]
    fired = some(*(own[0].past for own in by_stand.values()))
    return Reading(
        fired=fired,
        health=Health.BROKEN if gone else Health.RISKY,
        sentence=_sentence(subject, stands, gone, near),
        measures=measures,
        when=None if fired is not False else _forecast(subject, stands),
        next_step=_next_step(subject, gone, near) if fired else None,
    )


def _sentence(subject: Subject, stands: tuple[_Stand, ...], gone: list[str], near: list[str]) -> str:
    if gone:
        return f"A snapshot that {words.listed(gone)} needs has been expired."
    if near:
        return f"The next expiry may take what {words.listed(near)} needs: {_how_far(subject, stands, near[0])}."
    unknown = [stand.consumer.id for stand in stands if stand.left is None]
    if unknown:
        return f"Nobody knows what {words.listed(unknown)} needs: expiry has to wait for it."
    return f"Nothing that {words.listed([stand.consumer.id for stand in stands])} needs is about to be expired."


def _how_far(subject: Subject, stands: tuple[_Stand, ...], name: str) -> str:
    stand = next(stand for stand in stands if stand.consumer.id == name)
    behind = f"it is {words.age(stand.lag or 0)} behind"
    most = stand.consumer.lag_max_ms
    late = f", {words.age(most)} were agreed" if most is not None and (stand.lag or 0) > most else ""
    return f"{behind}{late}, and snapshots live {words.age(subject.policy.number('snapshots.age'))}"


def _forecast(subject: Subject, stands: tuple[_Stand, ...]) -> Forecast | None:
    nearest = min((stand.left for stand in stands if stand.left is not None), default=math.inf)
    if nearest == math.inf:
        return None
    millis = int(nearest - subject.policy.number("consumers.warning"))
    return Forecast(max(0, millis), "unless the consumer moves on")


def _next_step(subject: Subject, gone: list[str], near: list[str]) -> str:
    table = subject.facts.identifier
    if gone:
        return f"Set {gone[0]} up anew from the current snapshot; `firnline history {table}` shows what is kept."
    needs = next(each.needs for each in subject.consumers if each.id == near[0])
    return f"firnline tag create {table} needed_by_{near[0].replace('-', '_')} --at {needs}"


def _example() -> Subject:
    table = examples.meta(examples.snapshots(30))
    return examples.subject(of=table, consumers=(Consumer("feed", 2 * examples.HOUR, SnapshotId(12)),))


RULE = Rule(
    id="consumers",
    title="Expiry that would cut off a consumer",
    what="Fires when a registered consumer needs a snapshot that is gone, or one that an expiry by `snapshots.age` "
    "would take within `consumers.warning`. Snapshots that a tag, a branch or a least number keeps are safe "
    "and do not count. A consumer of whom nobody knows what it needs cannot be told.",
    why="A stream that reads increments fails for good once the snapshot it stands at is expired: it then has to "
    "be set up anew, and rows are lost or repeated. Our own expiry waits for consumers; others do not ask.",
    remedy="Find out why the consumer does not move. Until it does, a tag keeps what it needs. Where it is slow by "
    "nature, let snapshots live longer.",
    work=Work.PERSON,
    look=look,
    example=_example,
)
