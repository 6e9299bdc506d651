"""The port `Leases` against a model of it that is written from the contract, in any order of verbs and at any time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.state import memory_state
from firnline.loop.ports import STEAL_MARGIN, WANTED_LASTS, Lease, Leases, Rank
from tests import dynamo

KEY = "lake/t"
OWNERS = st.sampled_from(["ann", "bob", "cyd"])
RANKS = st.sampled_from(list(Rank))
LENGTHS = st.sampled_from([timedelta(seconds=1), timedelta(seconds=45), timedelta(seconds=90)])


@dataclass
class Model:
    """What is true of one key."""

    requested: int = 0
    done: int = 0
    running: int = 0
    fence: int = 0
    owner: str | None = None
    until: datetime | None = None
    rank: Rank | None = None
    wishes: dict[Rank, datetime] = field(default_factory=dict)  # who waits, and when that lapses
    attempt: int = 0
    not_before: datetime | None = None
    parked: bool = False

    def wanted(self, now: datetime) -> Rank | None:
        return max((rank for rank, lapses in self.wishes.items() if lapses >= now), default=None)

    def may_take(self, rank: Rank, now: datetime, gone: str | None) -> bool:
        stale = self.until is not None and now - self.until > STEAL_MARGIN
        free = self.owner is None or stale or self.owner == gone
        turn = (self.wanted(now) or Rank.REST) <= rank
        return free and turn and not self.parked and (self.not_before is None or now >= self.not_before)

    def holds(self, lease: Lease) -> bool:
        return (self.owner, self.fence) == (lease.owner, lease.fence)

    def free(self) -> None:
        self.owner = self.until = self.rank = None


class LeasesAgainstModel(RuleBasedStateMachine):
    """Every answer of the adapter is the model's."""

    held: Bundle[Lease] = Bundle("held")

    @abstractmethod
    def opened(self) -> tuple[Leases, Callable[[], None]]:
        """The adapter with nothing in it, and what closes it."""

    @initialize()
    def begin(self) -> None:
        self.leases, self.close = self.opened()
        self.model = Model()
        self.now = datetime(2026, 11, 19, tzinfo=UTC)
        self.known = False

    def teardown(self) -> None:
        if hasattr(self, "close"):
            self.close()

    @rule(seconds=st.integers(0, 100))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def mark(self) -> None:
        self.known = True
        self.model.requested += 1
        assert self.leases.mark(KEY, "work") == self.model.requested

    @rule(target=held, owner=OWNERS, rank=RANKS, length=LENGTHS, gone=st.none() | OWNERS)
    def acquire(self, owner: str, rank: Rank, length: timedelta, gone: str | None) -> Lease:
        lease = self.leases.acquire(KEY, owner, rank, self.now, length, gone=gone)
        model = self.model
        assert (lease is not None) == model.may_take(rank, self.now, gone)
        if lease is None:
            if model.owner is not None and model.rank is not None and model.rank < rank:
                wanted = max(rank, model.wanted(self.now) or Rank.REST)
                model.wishes = {wanted: self.now + WANTED_LASTS}
            return Lease(KEY, "nobody", 0, 0, self.now, rank)  # a lease nobody ever had: every verb must see that
        self.known = True
        model.fence += 1
        model.running, model.wishes, model.not_before = model.requested, {}, None
        model.owner, model.until, model.rank = owner, self.now + length, rank
        assert lease == Lease(KEY, owner, model.fence, model.running, self.now + length, rank, model.attempt)
        return lease

    @rule(lease=held, length=LENGTHS)
    def renew(self, lease: Lease, length: timedelta) -> None:
        renewed = self.leases.renew(lease, self.now, length)
        assert (renewed is not None) == self.model.holds(lease)
        if renewed is not None:
            assert self.model.until is not None
            self.model.until = max(self.model.until, self.now + length)
            assert (renewed.until, renewed.wanted) == (self.model.until, self.model.wanted(self.now))

    @rule(lease=held, budget=LENGTHS)
    def guard(self, lease: Lease, budget: timedelta) -> None:
        until = self.model.until
        expected = self.model.holds(lease) and until is not None and until - self.now >= budget
        assert self.leases.guard(lease, self.now, budget) == expected

    @rule(lease=held)
    def complete(self, lease: Lease) -> None:
        if self.model.holds(lease):
            self.model.done, self.model.attempt = self.model.running, 0
            self.model.free()
        assert self.leases.complete(lease) == (self.known and self.model.requested > self.model.done)

    @rule(lease=held)
    def release(self, lease: Lease) -> None:
        self.leases.release(lease)
        if self.model.holds(lease):
            self.model.free()

    @rule(lease=held, wait=LENGTHS, most=st.integers(1, 4))
    def fail(self, lease: Lease, wait: timedelta, most: int) -> None:
        parked = self.leases.fail(lease, self.now + wait, most)
        if not self.model.holds(lease):
            assert not parked
            return
        self.model.attempt += 1
        self.model.not_before = self.now + wait
        self.model.parked = self.model.parked or self.model.attempt >= most
        self.model.free()
        assert parked == self.model.parked

    @rule()
    def park(self) -> None:
        self.known = True
        self.model.parked = True
        self.leases.park(KEY, "stop")

    @rule()
    def unpark(self) -> None:
        self.model.parked, self.model.attempt, self.model.not_before = False, 0, None
        self.leases.unpark(KEY)

    @invariant()
    def look(self) -> None:
        if not hasattr(self, "close"):
            return
        item = self.leases.look(KEY)
        assert (item is not None) == self.known
        if item is not None:
            model = self.model
            assert (item.requested, item.done, item.running, item.fence) == (
                model.requested, model.done, model.running, model.fence,
            )  # fmt: skip
            assert (item.owner, item.until, item.rank) == (model.owner, model.until, model.rank)
            assert (item.attempt, item.not_before, item.parked) == (model.attempt, model.not_before, model.parked)


class SqliteAgainstModel(LeasesAgainstModel):
    """SQLite's."""

    def opened(self) -> tuple[Leases, Callable[[], None]]:
        state = memory_state()
        return SqliteLeases(state), state.close


class DynamoAgainstModel(LeasesAgainstModel):
    """DynamoDB's."""

    def opened(self) -> tuple[Leases, Callable[[], None]]:
        return DynamoLeases(dynamo.new_table()), lambda: None


TestSqliteAgainstModel = SqliteAgainstModel.TestCase
TestSqliteAgainstModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestDynamoAgainstModel = DynamoAgainstModel.TestCase  # a request is a thousand times slower than a row in memory
TestDynamoAgainstModel.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
