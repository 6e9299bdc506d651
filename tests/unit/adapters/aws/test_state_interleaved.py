"""Lease verbs that need two requests, with somebody else between the two."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from firnline.adapters.aws.items import Key, Plain
from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.aws.state_table import StateTable, Updated
from firnline.loop.ports import REASONS_MAX, Lease, LeaseItem, Rank
from tests import dynamo

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Interrupted(StateTable):
    """A table on which, before the n-th update, somebody else does something."""

    def __init__(self, name: str, number: int, between: Callable[[], object]) -> None:
        super().__init__(dynamo.sessions(), name)
        self.left = number
        self._between = between

    def update(self, key: Key, change: str, values: Mapping[str, Plain], condition: str | None = None) -> Updated:
        """One item changed, after the other was there."""
        self.left -= 1
        if self.left == 0:
            self._between()
        return super().update(key, change, values, condition)


@pytest.fixture(scope="module")
def table() -> StateTable:
    """A table for all: every test has a key of its own."""
    return dynamo.new_table()


@pytest.fixture
def others(table: StateTable) -> DynamoLeases:
    """Somebody else's."""
    return DynamoLeases(table)


@pytest.fixture
def key() -> str:
    """A key nobody ever spoke of."""
    return uuid.uuid4().hex


def taken(leases: DynamoLeases, key: str, owner: str = "me") -> Lease:
    lease = leases.acquire(key, owner, Rank.REST, NOW, MINUTE)
    assert lease is not None
    return lease


def item(leases: DynamoLeases, key: str) -> LeaseItem:
    found = leases.look(key)
    assert found is not None
    return found


@pytest.mark.parametrize("higher", [Rank.FOLD, Rank.ERASURE])
def test_wanted_by_a_higher_one_meanwhile(table: StateTable, others: DynamoLeases, key: str, higher: Rank) -> None:
    """Whoever tells a holder after a higher rank did leaves that one's word."""
    taken(others, key)
    between = Interrupted(table.name, 2, lambda: others.acquire(key, "higher", higher, NOW, MINUTE))
    assert DynamoLeases(between).acquire(key, "you", Rank.PUBLISH, NOW, MINUTE) is None
    assert between.left < 0
    assert item(others, key).wanted is higher


def test_given_back_meanwhile(table: StateTable, others: DynamoLeases, key: str) -> None:
    """Nobody is told to stop for a wish that came too late: the holder it was meant for is gone."""
    lease = taken(others, key)

    def handed_on() -> None:
        others.release(lease)
        taken(others, key, "next")

    between = Interrupted(table.name, 2, handed_on)
    assert DynamoLeases(between).acquire(key, "you", Rank.REST, NOW, MINUTE) is None
    assert item(others, key).wanted is None
    lease = taken(others, key + "'")
    between = Interrupted(table.name, 2, lambda: others.release(lease))
    assert DynamoLeases(between).acquire(key + "'", "you", Rank.FOLD, NOW, MINUTE) is None
    assert item(others, key + "'").wanted is None


@pytest.mark.parametrize(
    ("between", "more", "reasons"),
    [
        (lambda others, key, _: others.mark(key, "third"), True, ("first", "second", "third")),
        (lambda others, key, _: others.park(key, "stop"), True, ("first", "second", "stop")),
        (lambda others, _, lease: others.release(lease), True, ("first", "second")),
    ],
    ids=["marked", "parked", "lost"],
)
def test_completed_with_others_between(
    between: Callable[[DynamoLeases, str, Lease], object], more: bool, reasons: tuple[str, ...],
    table: StateTable, others: DynamoLeases, key: str,
) -> None:  # fmt: skip
    """What is asked for between the two requests of `complete` stays asked for, with its reason."""
    others.mark(key, "first")
    lease = taken(others, key)
    others.mark(key, "second")
    leases = DynamoLeases(Interrupted(table.name, 2, lambda: between(others, key, lease)))
    assert leases.complete(lease) is more
    assert (item(others, key).owner, item(others, key).reasons) == (None, reasons)


def test_lifted_between(table: StateTable, others: DynamoLeases, key: str) -> None:
    """A failure counts from what a person left of the attempts."""
    for _ in range(2):
        others.fail(taken(others, key), NOW, 9)
    lease = taken(others, key)
    assert lease.attempt == 2
    assert not DynamoLeases(Interrupted(table.name, 1, lambda: others.unpark(key))).fail(lease, NOW, 3)
    assert (item(others, key).attempt, item(others, key).parked) == (1, False)


def test_a_reason_while_the_list_is_shortened(table: StateTable, others: DynamoLeases, key: str) -> None:
    """A reason that comes while the list is shortened is not lost, and the next one shortens it."""
    for number in range(2 * REASONS_MAX):
        others.mark(key, f"reason {number}")
    between = Interrupted(table.name, 2, lambda: others.mark(key, "meanwhile"))
    DynamoLeases(between).mark(key, "mine")
    assert between.left == 0
    assert item(others, key).reasons[-2:] == ("mine", "meanwhile")
    stored = table.get((f"lease#{key}", "lease"), "reasons")
    assert stored is not None
    assert len(stored["reasons"]) == REASONS_MAX
