"""Leases and ledger on DynamoDB while requests and replies are lost: a process or a line may die between any two."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from firnline.adapters.aws import leases as lease_verbs
from firnline.adapters.aws import ledger as ledgers
from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.aws.ledger import DynamoLedger
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.state_table import StateTable
from firnline.core.errors import Failed
from firnline.core.ids import RunId, StepId
from firnline.loop.ports import STEAL_MARGIN, Event, EventKind, Lease, Leases, Rank
from tests import dynamo
from tests.dynamo import Fate, Proxy

pytestmark = pytest.mark.faults

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FEW = 2  # reasons
LOSSES = [Fate.NEVER_SENT, Fate.REPLY_LOST]


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    """One proxy for all."""
    with dynamo.proxied() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def patient(proxy: Proxy) -> Iterator[Sessions]:
    """Clients behind the proxy that send again what got no reply."""
    sessions = dynamo.new_sessions(proxy.endpoint)
    yield sessions
    sessions.close()


@pytest.fixture(scope="module")
def mortal(proxy: Proxy) -> Iterator[Sessions]:
    """Clients behind the proxy that send once: of a process that dies there."""
    sessions = dynamo.new_sessions(proxy.endpoint, tries=1)
    yield sessions
    sessions.close()


@pytest.fixture(autouse=True)
def at_once(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client sends again without waiting, lists are full soon, and the proxy begins with nothing to do."""
    monkeypatch.setattr(lease_verbs, "REASONS_MAX", FEW)
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    proxy.begin()


# ------------------------------------------------------------------------------------------------------------- leases


@dataclass(frozen=True)
class Verb:
    """A verb in one of its cases: what was before, and what is asked then."""

    name: str
    act: Callable[[Leases, str, Lease], object]
    before: Callable[[Leases, str, Lease], object] | None = None

    def prepared(self, leases: Leases, key: str) -> Lease:
        leases.mark(key, "asked for")
        lease = leases.acquire(key, "me", Rank.COMPACTION, NOW, MINUTE)
        assert lease is not None
        if self.before is not None:
            self.before(leases, key, lease)
        return lease


VERBS = [
    Verb("park", lambda leases, key, _: leases.park(key, "stop")),
    Verb(
        "park with a list of reasons that is full",
        lambda leases, key, _: leases.park(key, "stop"),
        lambda leases, key, _: [leases.mark(key, f"reason {number}") for number in range(2 * FEW)],
    ),
    Verb("unpark", lambda leases, key, _: leases.unpark(key), lambda leases, key, _: leases.park(key, "stop")),
    Verb(
        "acquire a free one",
        lambda leases, key, _: replace(_taken(leases, key, "you"), key=""),
        lambda leases, _, lease: leases.release(lease),
    ),
    Verb("acquire a held one", lambda leases, key, _: leases.acquire(key, "you", Rank.COMPACTION, NOW, MINUTE)),
    Verb("acquire and be told of", lambda leases, key, _: leases.acquire(key, "you", Rank.ERASURE, NOW, MINUTE)),
    Verb("acquire of one that is gone", lambda leases, key, _: replace(_taken(leases, key, "you", gone="me"), key="")),
    Verb("renew", lambda leases, _, lease: replace(_renewed(leases, lease, MINUTE * 2), key="")),
    Verb("renew what is longer", lambda leases, _, lease: replace(_renewed(leases, lease, MINUTE / 2), key="")),
    Verb("guard", lambda leases, _, lease: leases.guard(lease, NOW, MINUTE)),
    Verb("complete", lambda leases, _, lease: leases.complete(lease)),
    Verb(
        "complete when more is asked for",
        lambda leases, _, lease: leases.complete(lease),
        lambda leases, key, _: leases.mark(key, "more"),
    ),
    Verb(
        "complete when parked",
        lambda leases, _, lease: leases.complete(lease),
        lambda leases, key, _: leases.park(key, "stop"),
    ),
    Verb("release", lambda leases, _, lease: leases.release(lease)),
    Verb("fail", lambda leases, _, lease: leases.fail(lease, NOW + MINUTE, 2)),
    Verb("fail for the last time", lambda leases, _, lease: leases.fail(lease, NOW + MINUTE, 1)),
    Verb(
        "fail when a person lifted the attempts",
        lambda leases, _, lease: leases.fail(replace(lease, attempt=4), NOW + MINUTE, 5),
        lambda leases, key, _: leases.unpark(key),
    ),
    Verb("look", lambda leases, key, _: leases.look(key) is not None),
]


def _taken(leases: Leases, key: str, owner: str, gone: str | None = None) -> Lease:
    lease = leases.acquire(key, owner, Rank.COMPACTION, NOW, MINUTE, gone=gone)
    assert lease is not None
    return lease


def _renewed(leases: Leases, lease: Lease, length: timedelta) -> Lease:
    renewed = leases.renew(lease, NOW, length)
    assert renewed is not None
    return renewed


@pytest.fixture(scope="module")
def table() -> StateTable:
    """A table for all leases: every trial has a key of its own."""
    return dynamo.new_table()


@pytest.fixture(scope="module")
def book() -> StateTable:
    """A table for all ledgers: every trial has a run of its own."""
    return dynamo.new_table()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_lost_request_or_reply(verb: Verb, table: StateTable, patient: Sessions, proxy: Proxy) -> None:
    """Whichever request of a verb is lost, before or after it was carried out: the client sends it again, and answer
    and item are those of a verb with no loss.
    """
    clean, lossy = DynamoLeases(table), DynamoLeases(StateTable(patient, table.name))
    lease = verb.prepared(clean, verb.name)
    expected, item = verb.act(clean, verb.name, lease), clean.look(verb.name)
    assert item is not None
    for number, loss in itertools.product(range(5), LOSSES):
        key = f"{verb.name} {number} {loss.name}"
        lease = verb.prepared(clean, key)
        proxy.begin(*[Fate.PASSED] * number, loss)
        assert verb.act(lossy, key, lease) == expected, key
        assert clean.look(key) == replace(item, key=key)
        if proxy.script:
            assert number >= 1, "no request was lost"
            return
    pytest.fail("the verb never came to an end")


@pytest.mark.parametrize(("loss", "generation"), [(Fate.NEVER_SENT, 1), (Fate.REPLY_LOST, 2)])
def test_a_lost_mark(loss: Fate, generation: int, table: StateTable, patient: Sessions, proxy: Proxy) -> None:
    """A mark whose reply was lost counts twice, which costs a cheap run; none is lost, and its reason stands once."""
    proxy.begin(loss)
    leases = DynamoLeases(StateTable(patient, table.name))
    assert leases.mark(loss.name, "why") == generation
    item = leases.look(loss.name)
    assert item is not None
    assert (item.requested, item.reasons) == (generation, ("why",))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_holder_that_dies(verb: Verb, table: StateTable, mortal: Sessions, proxy: Proxy) -> None:
    """Wherever in a verb a process dies, nobody is locked out for longer than its lease, no fence comes twice, and no
    work that was asked for and not done is forgotten.
    """
    clean, dying = DynamoLeases(table), DynamoLeases(StateTable(mortal, table.name))
    for number, loss in itertools.product(range(5), LOSSES):
        key = f"{verb.name}, dies {number} {loss.name}"
        lease = verb.prepared(clean, key)
        proxy.begin(*[Fate.PASSED] * number, loss, after=Fate.NEVER_SENT)
        try:
            verb.act(dying, key, lease)
        except Failed:
            _inherited(clean, key, lease)
        else:
            assert number >= 1, "no request was lost"
            return
    pytest.fail("the verb never came to an end")


def _inherited(leases: Leases, key: str, lease: Lease) -> None:
    item = leases.look(key)
    assert item is not None
    assert lease.fence <= item.fence <= lease.fence + 1
    assert item.done in {0, lease.generation}
    assert item.owner is not None or item.done or item.requested > item.done
    leases.unpark(key)
    heir = leases.acquire(key, "heir", Rank.ERASURE, NOW + MINUTE * 3 + STEAL_MARGIN, MINUTE)
    assert heir is not None
    assert heir.fence == item.fence + 1


# ------------------------------------------------------------------------------------------------------------- ledger

BODY = random.Random(3).randbytes(4_000).hex()


def run_of(trial: str) -> tuple[Event, ...]:
    """A whole run on a table of its own."""
    run, step, table = RunId(trial), StepId("1"), f"lake/{trial}"
    return (
        Event(run, EventKind.STARTED, NOW, body={"command": "firnline apply", "steps": 1}),
        Event(run, EventKind.INTENT, NOW, step, table, "shop.orders", {"step": BODY}),
        Event(run, EventKind.OUTCOME, NOW, step, table, "shop.orders", {"outcome": "done", "detail": "", "facts": {}}),
        Event(run, EventKind.ENDED, NOW, body={"verdict": "done"}),
    )


REQUESTS = 10  # each event counted and added; the intent has two parts


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items hold little, so that a small intent is cut into parts."""
    monkeypatch.setattr(ledgers, "PLAIN_MAX", 1_000)
    monkeypatch.setattr(ledgers, "PART_BYTES", 3_000)


def _whole(ledger: DynamoLedger, recorded: tuple[Event, ...], trial: str) -> None:
    """Whoever looks finds these events, every way there is."""
    run, table = RunId(trial), f"lake/{trial}"
    of_table = [event for event in recorded if event.table is not None]
    ends = any(event.kind is EventKind.OUTCOME for event in recorded)
    assert ledger.run(run) == recorded, trial
    assert ledger.table(table, 10) == tuple(reversed(of_table)), trial
    assert ledger.open_intents(table) == (() if ends else tuple(of_table)), trial
    assert (run in [run.run for run in ledger.runs(1)]) is bool(recorded), trial


def _record_until_dead(ledger: DynamoLedger, events: tuple[Event, ...]) -> int:
    for number, event in enumerate(events):
        try:
            ledger.record(event)
        except Failed:
            return number
    pytest.fail("nothing was lost")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("number", range(REQUESTS))
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_run_that_dies(loss: Fate, number: int, book: StateTable, mortal: Sessions, proxy: Proxy) -> None:
    """Wherever the line is cut, an event is whole in the ledger or not there; recorded again it is there once."""
    trial = f"dies at {number} {loss.name}"
    clean, dying, events = DynamoLedger(book), DynamoLedger(StateTable(mortal, book.name)), run_of(trial)
    proxy.begin(*[Fate.PASSED] * number, loss, after=Fate.NEVER_SENT)
    acknowledged = _record_until_dead(dying, events)
    there = clean.run(RunId(trial))
    assert len(there) in {acknowledged, acknowledged + 1}
    _whole(clean, events[: len(there)], trial)
    for event in events:
        clean.record(event)
    _whole(clean, events, trial)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("number", range(REQUESTS))
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_an_event_sent_again(loss: Fate, number: int, book: StateTable, patient: Sessions, proxy: Proxy) -> None:
    """A request sent again because its reply was lost records its event once, also where the server knows no tokens."""
    trial = f"again at {number} {loss.name}"
    lossy, events = DynamoLedger(StateTable(patient, book.name)), run_of(trial)
    proxy.begin(*[Fate.PASSED] * number, loss)
    for event in events:
        lossy.record(event)
    found_there = proxy.seen[number] == "TransactWriteItems" and loss is Fate.REPLY_LOST
    assert len(proxy.seen) == REQUESTS + 1 + found_there  # refused the second time, it looks at what stands
    _whole(DynamoLedger(book), events, trial)
