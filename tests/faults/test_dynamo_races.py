"""Leases and ledger on DynamoDB while many ask at once, each with a client of its own, against a server process."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.aws.ledger import DynamoLedger
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.state_table import StateTable
from firnline.core.ids import RunId, StepId
from firnline.loop.ports import REASONS_MAX, AlreadyRecorded, Event, EventKind, Lease, Rank
from tests import dynamo, servers

pytestmark = pytest.mark.faults

Answer = TypeVar("Answer")

CONTENDERS = 16
NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEY = "lake/8d1f"
ROUNDS = 15
PROCESSES, THREADS, TURNS = 3, 4, 4  # twelve contenders, each to have the lease four times


@pytest.fixture(scope="module")
def clients() -> Iterator[list[Sessions]]:
    """A client for each contender."""
    made = [dynamo.new_sessions(servers.aws().endpoint) for _ in range(CONTENDERS)]
    yield made
    for sessions in made:
        sessions.close()


def at_once(clients: list[Sessions], name: str, go: Callable[[StateTable, int], Answer]) -> list[Answer]:
    together = threading.Barrier(len(clients))

    def contender(number: int) -> Answer:
        table = StateTable(clients[number], name)
        together.wait()
        return go(table, number)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(contender, range(len(clients))))


def test_a_table_made_by_many(clients: list[Sessions]) -> None:
    """All that need a table that is not there yet get it, and it is one."""
    name = f"made-{os.urandom(8).hex()}"

    def go(table: StateTable, _: int) -> int:
        table.ensure()
        return DynamoLeases(table).mark(KEY, "made")

    assert sorted(at_once(clients, name, go)) == list(range(1, CONTENDERS + 1))


def test_one_of_many_takes_it(clients: list[Sessions]) -> None:
    """Of 16 that ask for a lease at one moment one gets it, be it free or past its end; its fence is the next."""
    name = dynamo.new_table().name

    def go(table: StateTable, number: int) -> list[tuple[int, int]]:
        leases, taken = DynamoLeases(table), []
        for turn in range(ROUNDS):
            lease = leases.acquire(KEY, f"contender {number}", Rank.REST, NOW + turn * 10 * MINUTE, MINUTE)
            if lease is not None:
                taken.append((turn, lease.fence))
            together.wait()
        return taken

    together = threading.Barrier(CONTENDERS)
    won = sorted(turn for taken in at_once(clients, name, go) for turn in taken)
    assert won == [(turn, turn + 1) for turn in range(ROUNDS)]


def test_marks_collapse_into_one_run(clients: list[Sessions]) -> None:
    """However many mark a key while one works on it: none is lost, and exactly one more run does them all."""
    table = dynamo.new_table()
    leases = DynamoLeases(table)
    leases.mark(KEY, "first")
    first = leases.acquire(KEY, "first", Rank.REST, NOW, MINUTE)
    assert first is not None
    marked = threading.Barrier(CONTENDERS + 1)

    def go(table: StateTable, number: int) -> list[int]:
        leases, owner = DynamoLeases(table), f"contender {number}"
        generation = leases.mark(KEY, owner)
        assert leases.acquire(KEY, owner, Rank.REST, NOW, MINUTE) is None
        marked.wait()
        while True:
            item = leases.look(KEY)
            assert item is not None
            if item.done >= generation:
                return []
            lease = leases.acquire(KEY, owner, Rank.REST, NOW, MINUTE)
            if lease is not None:
                return _worked(leases, lease)

    with ThreadPoolExecutor(1) as pool:
        contending = pool.submit(at_once, clients, table.name, go)
        marked.wait(timeout=60)
        assert leases.complete(first), "more was asked for"
        runs = [run for runs in contending.result() for run in runs]
    assert runs == [CONTENDERS + 1]
    item = leases.look(KEY)
    assert item is not None
    assert (item.requested, item.done, item.owner, item.reasons) == (CONTENDERS + 1, CONTENDERS + 1, None, ())


def _worked(leases: DynamoLeases, lease: Lease) -> list[int]:
    item = leases.look(KEY)
    assert item is not None
    if item.done >= lease.generation:  # another did it between our look and our lease
        leases.release(lease)
        return []
    assert not leases.complete(lease)
    return [lease.generation]


def test_reasons_of_many(clients: list[Sessions]) -> None:
    """Of reasons that come at once none is lost while there is room, and the list stays bounded."""
    table = dynamo.new_table()

    def go(table: StateTable, number: int) -> None:
        for turn in range(4):
            DynamoLeases(table).mark(KEY, f"old {turn} of {number}")
        together.wait()
        DynamoLeases(table).mark(KEY, f"newest of {number}")

    together = threading.Barrier(CONTENDERS)
    at_once(clients, table.name, go)
    item = DynamoLeases(table).look(KEY)
    assert item is not None
    assert item.requested == CONTENDERS * 5
    assert set(item.reasons) == {f"newest of {number}" for number in range(CONTENDERS)}
    assert len(item.reasons) == REASONS_MAX == CONTENDERS
    stored = table.get((f"lease#{KEY}", "lease"), "reasons")
    assert stored is not None
    assert len(stored["reasons"]) <= 2 * REASONS_MAX + CONTENDERS


def test_the_highest_of_many_waits_first(clients: list[Sessions]) -> None:
    """Of many that wait for a holder at once the highest rank is the one it is told of."""
    table = dynamo.new_table()
    held = DynamoLeases(table).acquire(KEY, "holder", Rank.REST, NOW, MINUTE)
    assert held is not None

    def go(table: StateTable, number: int) -> Lease | None:
        return DynamoLeases(table).acquire(KEY, f"{number}", Rank(1 + number % 4), NOW, MINUTE)

    assert at_once(clients, table.name, go) == [None] * CONTENDERS
    renewed = DynamoLeases(table).renew(held, NOW, MINUTE)
    assert renewed is not None
    assert renewed.wanted is Rank.ERASURE


def test_one_word_of_many_stands(clients: list[Sessions]) -> None:
    """Of many that record one event with bodies of their own one stands, and all others are told."""
    table = dynamo.new_table()

    def go(table: StateTable, number: int) -> bool:
        event = Event(RunId("r1"), EventKind.SETTLED, NOW, StepId("1"), KEY, body={"outcome": "done", "by": number})
        try:
            DynamoLedger(table).record(event)
        except AlreadyRecorded:
            return False
        return True

    recorded = at_once(clients, table.name, go)
    (stands,) = DynamoLedger(table).run(RunId("r1"))
    assert [number for number, told in enumerate(recorded) if told] == [stands.body["by"]]
    assert DynamoLedger(table).table(KEY, 50) == (stands,)


def test_events_of_many(clients: list[Sessions]) -> None:
    """Events of many runs on one table are all there, each once, and each run's in the order it recorded them."""
    table = dynamo.new_table()

    def go(table: StateTable, number: int) -> tuple[Event, ...]:
        ledger, run = DynamoLedger(table), RunId(f"r{number}")
        events = (
            Event(run, EventKind.STARTED, NOW, body={"command": "firnline apply", "steps": 1}),
            Event(run, EventKind.INTENT, NOW, StepId("1"), KEY, body={"step": {}}),
            Event(run, EventKind.OUTCOME, NOW, StepId("1"), KEY, body={"outcome": "unknown" if number % 2 else "done"}),
        )
        for event in events:
            ledger.record(event)
        return events

    of_runs = at_once(clients, table.name, go)
    ledger = DynamoLedger(table)
    assert [ledger.run(events[0].run) for events in of_runs] == of_runs
    of_table = ledger.table(KEY, 1_000)
    assert len(of_table) == 2 * CONTENDERS
    for events in of_runs:
        assert [event for event in reversed(of_table) if event.run == events[0].run] == list(events[1:])
    assert {event.run for event in ledger.open_intents(KEY)} == {f"r{number}" for number in range(1, CONTENDERS, 2)}
    assert {run.run for run in ledger.runs(CONTENDERS)} == {events[0].run for events in of_runs}


def _contend(endpoint: str, name: str, log: str, together: Any) -> None:
    def contender(owner: str) -> None:
        leases = DynamoLeases(StateTable(sessions, name))
        for _ in range(TURNS):
            while (lease := leases.acquire(KEY, owner, Rank.REST, datetime.now(UTC), MINUTE)) is None:
                pass
            os.write(file, f"in {lease.fence}\n".encode())
            assert leases.guard(lease, datetime.now(UTC), timedelta(0))
            os.write(file, f"out {lease.fence}\n".encode())
            leases.release(lease)

    sessions = dynamo.new_sessions(endpoint)
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    together.wait()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(contender, [f"{os.getpid()}/{number}" for number in range(THREADS)]))
    os.close(file)
    sessions.close()


@pytest.mark.slow
def test_processes_take_turns(tmp_path: Path) -> None:
    """Twelve contenders in processes of their own never hold a lease together, and every holder's fence is the next."""
    log = tmp_path / "log"
    log.touch()
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(PROCESSES)
    given = (servers.aws().endpoint, dynamo.new_table().name, str(log), together)
    contenders = [context.Process(target=_contend, args=given) for _ in range(PROCESSES)]
    for contender in contenders:
        contender.start()
    for contender in contenders:
        contender.join()
        assert contender.exitcode == 0
    turns = range(1, PROCESSES * THREADS * TURNS + 1)
    assert log.read_text().splitlines() == [f"{word} {fence}" for fence in turns for word in ("in", "out")]
