"""The port `Ledger`, over every adapter."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.state import State, look_at_state, open_state
from firnline.core.errors import Failed
from firnline.core.ids import RunId, StepId
from firnline.loop.ports import AlreadyRecorded, Event, EventKind, Ledger

AT = datetime(2026, 11, 19, 12, 0, 0, 123_456, tzinfo=UTC)
TABLE = "lake/8d1f"


def started(run: str, at: datetime = AT, **body: Any) -> Event:
    return Event(RunId(run), EventKind.STARTED, at, body={"command": "firnline apply", "steps": 1, **body})


def of_step(kind: EventKind, run: str = "r1", step: str = "1", table: str = TABLE, /, **body: Any) -> Event:
    return Event(RunId(run), kind, AT, StepId(step), table, "shop.orders", body)


def intent(run: str = "r1", step: str = "1", table: str = TABLE) -> Event:
    return of_step(EventKind.INTENT, run, step, table, step={"body": {}})


def outcome(kind: str, run: str = "r1", step: str = "1") -> Event:
    return of_step(EventKind.OUTCOME, run, step, TABLE, outcome=kind, detail="", facts={})


def settled(kind: str, run: str = "r1", step: str = "1") -> Event:
    return of_step(EventKind.SETTLED, run, step, outcome=kind, detail="", facts={})


def ended(run: str = "r1", verdict: str = "done") -> Event:
    return Event(RunId(run), EventKind.ENDED, AT + timedelta(seconds=1), body={"verdict": verdict, "counts": {}})


@pytest.mark.parametrize(
    "event",
    [
        started("r1"),
        intent(),
        replace(
            outcome("done"), body={"outcome": "done", "facts": {"größe": 2**60, "nested": [None, True, {"a": "🐘"}]}}
        ),
        replace(started("läuft 🐘"), at=AT.astimezone(timezone(timedelta(hours=9)))),
        replace(ended(), at=datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
    ids=lambda event: f"{event.run}-{event.kind.value}",
)
def test_round_trip(ledger: Ledger, event: Event) -> None:
    """An event comes back as it went in, to the microsecond."""
    ledger.record(event)
    assert ledger.run(event.run) == (event,)


def test_order(ledger: Ledger) -> None:
    """A run's events come in the order they were recorded, whatever their clocks say; of one step with the run-wide."""
    events = [started("r1"), intent(), outcome("done"), intent(step="2"), replace(ended(), at=AT - timedelta(days=1))]
    for event in events:
        ledger.record(event)
    assert ledger.run(RunId("r1")) == tuple(events)
    assert ledger.run(RunId("r1"), StepId("2")) == (events[0], events[3], events[4])
    assert ledger.run(RunId("unknown")) == ()


def test_twice_is_once(ledger: Ledger) -> None:
    """The same event again, with the keys of its body in another order and at another time, changes nothing."""
    first = started("r1", digest="x", plan="p")
    ledger.record(first)
    ledger.record(replace(first, at=AT + timedelta(hours=1), body=dict(reversed(first.body.items()))))
    assert ledger.run(RunId("r1")) == (first,)


@pytest.mark.parametrize("kind", list(EventKind))
def test_already_recorded(ledger: Ledger, kind: EventKind) -> None:
    """Another body for the same run, step and kind is refused, and what stands is not changed."""
    first = of_step(kind, said="first")
    ledger.record(first)
    with pytest.raises(AlreadyRecorded) as raised:
        ledger.record(replace(first, body={"said": "second"}))
    assert isinstance(raised.value, Failed)
    assert f"another {kind.value!r} of step 1 of run r1" in raised.value.what
    assert raised.value.next_step == "See what happened: firnline ledger r1"
    assert ledger.run(RunId("r1")) == (first,)


def test_a_body_json_cannot_hold(ledger: Ledger) -> None:
    """What is no JSON is refused before anything is written."""
    with pytest.raises(ValueError, match="JSON"):
        ledger.record(started("r1", rows=float("nan")))
    assert ledger.run(RunId("r1")) == ()


@pytest.mark.parametrize(
    ("events", "still_open"),
    [
        ([intent()], True),
        ([intent(), outcome("done")], False),
        ([intent(), outcome("not done")], False),
        ([intent(), outcome("unknown")], True),
        ([intent(), outcome("skipped")], True),
        ([intent(), settled("done")], False),
        ([intent(), settled("not done")], False),
        ([intent(), outcome("unknown"), settled("not done")], False),
        ([intent(), outcome("done", run="r2")], True),
        ([intent(), outcome("done", step="2")], True),
        ([outcome("skipped")], False),
        ([outcome("done"), intent()], False),
        ([intent(), replace(outcome("done"), table="lake/renamed")], False),
    ],
)
def test_open_intents(ledger: Ledger, events: list[Event], still_open: bool) -> None:
    """An intent is open until its own run or a later one knows whether the commit was made."""
    for event in events:
        ledger.record(event)
    assert ledger.open_intents(TABLE) == ((intent(),) if still_open else ())


def test_open_intents_of_a_table(ledger: Ledger) -> None:
    """The oldest comes first, and other tables' are not among them."""
    for run, table in (("r3", TABLE), ("r1", TABLE), ("r2", "lake/other")):
        ledger.record(intent(run, table=table))
    assert [event.run for event in ledger.open_intents(TABLE)] == ["r3", "r1"]


def test_table(ledger: Ledger) -> None:
    """A table's events come newest first, as many as asked for, and run-wide ones are nobody's."""
    events = [intent("r1"), outcome("done", "r1"), intent("r2")]
    for event in (started("r1"), *events, intent("r3", table="lake/other")):
        ledger.record(event)
    assert ledger.table(TABLE, 10) == tuple(reversed(events))
    assert ledger.table(TABLE, 2) == (events[2], events[1])


@pytest.mark.parametrize("kind", [EventKind.INTENT, EventKind.OUTCOME, EventKind.STARTED])
@pytest.mark.parametrize(
    "text",
    [
        "x" * 15_000,  # about the size where a store may begin to think of something
        "column " * 300_000,
        random.Random(5).randbytes(300_000).hex(),
        random.Random(7).randbytes(900_000).hex(),
    ],
    ids=["small", "compressible", "large", "very large"],
)
def test_a_large_body(ledger: Ledger, kind: EventKind, text: str) -> None:
    """A body of any size comes back whole wherever its event does, and is held to "once" as every other."""
    event = of_step(kind, said=text)
    ledger.record(event)
    ledger.record(event)
    with pytest.raises(AlreadyRecorded):
        ledger.record(replace(event, body={"said": text + "x"}))
    assert ledger.run(RunId("r1")) == ledger.run(RunId("r1"), StepId("1")) == ledger.table(TABLE, 5) == (event,)
    assert ledger.open_intents(TABLE) == ((event,) if kind is EventKind.INTENT else ())


def test_long_names(ledger: Ledger) -> None:
    """Runs, steps and tables may have names of any length and of any characters, and none is taken for another."""
    names = ["a" * 5_000, "a" * 5_001, "1", "#", "#1", "1#2", "1#intent", "läuft 🐘", "sha256:" + "0" * 64]
    for name in names:
        ledger.record(intent(name, name, name))
        ledger.record(intent("shared", name, "shared"))
    for name in names:
        assert (
            ledger.run(RunId(name)) == ledger.table(name, 2) == ledger.open_intents(name) == (intent(name, name, name),)
        )
        assert ledger.run(RunId("shared"), StepId(name)) == (intent("shared", name, "shared"),)
    assert [event.step for event in ledger.open_intents("shared")] == names


def test_many_events(ledger: Ledger) -> None:
    """More than one page or one batch of any store comes in order, without a gap."""
    of = [replace(intent(step=str(number)), body={"step": "x" * 12_000}) for number in range(105)]
    for event in of:
        ledger.record(event)
    assert ledger.run(RunId("r1")) == tuple(of)
    assert ledger.table(TABLE, 102) == tuple(reversed(of[3:]))
    assert ledger.open_intents(TABLE) == tuple(of)


def test_runs(ledger: Ledger) -> None:
    """Runs come by when they were recorded, newest first, in pages, and an unknown page begins nowhere."""
    for number in range(5):
        ledger.record(started(f"r{number}", AT - timedelta(hours=number)))
    assert [run.run for run in ledger.runs(2)] == ["r4", "r3"]
    assert [run.run for run in ledger.runs(2, before=RunId("r3"))] == ["r2", "r1"]
    assert [run.run for run in ledger.runs(10, before=RunId("r0"))] == []
    assert [run.run for run in ledger.runs(10, before=RunId("unknown"))] == []
    assert ledger.runs(0) == ()


def test_a_run_at_a_glance(ledger: Ledger) -> None:
    """A summary counts what was done, by its own word or a later one's, and shows that a killed run has no end."""
    for event in (
        started("r1", steps=3),
        intent(step="1"),
        outcome("done", step="1"),
        intent(step="2"),
        settled("done", step="2"),
    ):
        ledger.record(event)
    (killed,) = ledger.runs(5)
    assert (killed.started, killed.ended, killed.verdict) == (AT, None, None)
    assert (killed.command, killed.steps, killed.done) == ("firnline apply", 3, 2)
    ledger.record(ended(verdict="partial"))
    (over,) = ledger.runs(5)
    assert (over.ended, over.verdict, over.done) == (AT + timedelta(seconds=1), "partial", 2)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = '{}'",
        "UPDATE events SET seq = seq + 1",
        "DELETE FROM events",
        "REPLACE INTO events (run, step, kind, at, body) VALUES ('r1', '', 'started', 1, '{}')",
        "INSERT OR REPLACE INTO events (seq, run, step, kind, at, body) VALUES (1, 'x', '', 'started', 1, '{}')",
    ],
)
def test_append_only(state: State, statement: str) -> None:
    """No statement changes or removes what is recorded, not even by replacing it."""
    ledger = SqliteLedger(state)
    ledger.record(started("r1"))
    with pytest.raises(Failed, match="append-only"):
        state.rows(statement)
    assert ledger.run(RunId("r1")) == (started("r1"),)


def test_append_only_for_others(tmp_path: Path) -> None:
    """The file itself refuses, whoever opens it."""
    state = open_state(tmp_path / "state.db")
    SqliteLedger(state).record(started("r1"))
    other = sqlite3.connect(tmp_path / "state.db")
    for statement in ("DELETE FROM events", "UPDATE events SET at = 0"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(statement)
    other.close()
    state.close()


def test_a_glance_at_a_run_whose_start_says_little(ledger: Ledger) -> None:
    """A run that did not say how many steps it has is counted by those it began."""
    for event in (replace(started("r1"), body={}), intent(step="1"), outcome("done", step="1"), intent(step="2")):
        ledger.record(event)
    assert [(run.steps, run.done) for run in ledger.runs(1)] == [(2, 1)]


def test_durable(tmp_path: Path) -> None:
    """What was recorded is there for the next process, and for whoever only looks while this one still writes."""
    state = open_state(tmp_path / "state.db")
    SqliteLedger(state).record(started("r1"))
    looking = look_at_state(tmp_path / "state.db")
    assert SqliteLedger(looking).run(RunId("r1")) == (started("r1"),)
    looking.close()
    state.close()
    again = open_state(tmp_path / "state.db")
    assert SqliteLedger(again).run(RunId("r1")) == (started("r1"),)
    again.close()
