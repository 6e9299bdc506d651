"""Commits on a real metastore: alone, in a crowd, and behind locks that are not ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.hive import locks
from firnline.adapters.hive.conditions import ALTER
from firnline.adapters.hive.wire import Fault
from firnline.adapters.local.blobs import LocalBlobs
from firnline.loop.values import Outcome, OutcomeKind
from tests import servers
from tests.committing import ID, assert_done, assert_refused, changing, creating, properties, with_fields
from tests.unit.adapters.hive.lake import AGENT, Lake, intercept, opened

pytestmark = pytest.mark.spark

WRITERS, PROCESSES = 12, 4  # each process has a client of its own, as if it were one
UNLOCKED = {"engine.hive.lock-enabled": "false"}
HOLDER = """
import sys, time
from tests.unit.adapters.hive.lake import address
from firnline.adapters.hive import locks
from firnline.adapters.hive.client import HiveClient
client = HiveClient(address(sys.argv[1]))
with client.session() as line, locks.held(client, line, (sys.argv[2], "orders"), 30.0):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """An empty database; every lock is given back at the end."""
    with opened(servers.metastore().uri, tmp_path) as found:
        yield found
        assert found.locked_by() == []


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[Lake]:
    """An empty database for somebody who does not wait long for locks."""
    with opened(servers.metastore().uri, tmp_path, wait=0.2) as found:
        yield found


def assert_lost(outcome: Outcome, *words: str) -> None:
    """The outcome must be not done, worth another try, and say why."""
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, True), outcome
    for word in words:
        assert word in outcome.detail


@pytest.mark.parametrize("given", [{}, UNLOCKED], ids=["lock", "no lock"])
def test_one_of_many(lake: Lake, given: dict[str, str]) -> None:
    """Of many who move a table on from the same place one does, and the others are told that they lost."""
    identifier, old = lake.made(properties=given)
    new = [lake.copied(old) for _ in range(WRITERS)]
    processes = [Lake(lake.endpoint, lake.folder, namespace=lake.namespace) for _ in range(PROCESSES)]

    def write(number: int) -> Outcome:
        return processes[number % PROCESSES].swaps.swap(identifier, old, new[number])

    with ThreadPoolExecutor(WRITERS) as pool:
        found = list(pool.map(write, range(WRITERS)))
    for process in processes:
        process.client.close()
    (winner,) = [location for location, each in zip(new, found, strict=True) if each.kind is OutcomeKind.DONE]
    assert lake.location(identifier) == winner
    for outcome in found:
        if outcome.kind is not OutcomeKind.DONE:
            assert_lost(outcome, "another writer")


def test_columns_follow(lake: Lake) -> None:
    """The metastore shows the columns, comments and properties of the schema there is."""
    identifier, _ = lake.made(properties={"doomed": "yes"})
    more = {"id": 4, "name": "total", "required": False, "type": "decimal(12, 2)", "doc": "with tax"}
    name, at = ({"id": 2, "name": "name", "required": False, "type": "string"},
                {"id": 3, "name": "at", "required": False, "type": "timestamptz"})  # fmt: skip
    request = changing(
        with_fields(ID, name, at, more),
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "remove-properties", "removals": ["doomed"]},
    )
    assert_done(lake.commits.commit(identifier, request))
    entry = lake.entry()
    assert [(column.name, column.type, column.comment) for column in entry.sd.cols] == [
        ("id", "bigint", None), ("name", "string", None), ("at", "timestamp", None),
        ("total", "decimal(12,2)", "with tax"),
    ]  # fmt: skip
    assert "doomed" not in entry.parameters
    assert entry.parameters["metadata_location"] == lake.location(identifier)


def test_foreign_parameters_stay(lake: Lake) -> None:
    """A commit keeps what other tools wrote into the entry."""
    identifier, _ = lake.made()
    entry = lake.entry()
    entry.parameters["theirs"] = "kept"
    with lake.client.session() as line:
        line.call("alter_table", lake.database, "orders", entry)
    before = lake.location(identifier)
    assert_done(lake.commits.commit(identifier, properties(note="new")))
    parameters = lake.entry().parameters
    assert (parameters["theirs"], parameters["note"]) == ("kept", "new")
    assert parameters["previous_metadata_location"] == before


def test_moved_meanwhile(lake: Lake) -> None:
    """A swap or removal from where the table no longer is, is lost; of a table there is not, refused."""
    identifier, old = lake.made()
    new = lake.copied(old)
    assert_done(lake.swaps.swap(identifier, old, new))
    assert_lost(lake.swaps.swap(identifier, old, lake.copied(old)), "another writer")
    assert_lost(lake.swaps.remove(identifier, old), "another writer")
    assert_lost(lake.swaps.rename(identifier, old, lake.table("sales")), "another writer")
    assert_refused(lake.swaps.swap(lake.table("never"), old, new), "there is no table")
    assert_refused(lake.swaps.remove(lake.table("Orders"), new), "there is no table")
    assert_refused(lake.swaps.rename(lake.table("never"), new, lake.table("sales")), "there is no table")
    assert lake.location(identifier) == new


def test_a_rename_moves_nothing(lake: Lake) -> None:
    """Of a renamed table the metastore keeps everything but the name: folder, files, columns, what others wrote."""
    identifier, old = lake.made(properties={"note": "ours"})
    before = lake.entry()
    assert_done(lake.swaps.rename(identifier, old, lake.table("sales")))
    after = lake.entry("sales")
    assert (after.tableName, after.sd, after.owner) == ("sales", before.sd, before.owner)
    told = {key: text for key, text in after.parameters.items() if key != "transient_lastDdlTime"}
    assert told == {key: before.parameters[key] for key in told}
    assert set(before.parameters) <= set(after.parameters)
    assert LocalBlobs().read(old)


@pytest.mark.parametrize(
    "given", [{"EXTERNAL": "FALSE"}, {"EXTERNAL": "TRUE", "TRANSLATED_TO_EXTERNAL": "TRUE"}], ids=str
)
def test_folders_that_follow_a_name(lake: Lake, given: dict[str, str]) -> None:
    """A table whose folder the metastore would move is not renamed: its metadata would name files that are gone."""
    identifier, old = lake.made()
    entry = lake.entry()
    entry.parameters |= given
    entry.tableType = "EXTERNAL_TABLE" if given["EXTERNAL"] == "TRUE" else "MANAGED_TABLE"
    with lake.client.session() as line:
        line.call("alter_table", lake.database, "orders", entry)
    assert_refused(lake.swaps.rename(identifier, old, lake.table("sales")), "would move its folder")
    assert lake.location(identifier) == old


def test_unreadable_metadata(lake: Lake) -> None:
    """A pointer is never moved to metadata that cannot be read."""
    identifier, old = lake.made()
    assert_refused(lake.swaps.swap(identifier, old, f"{old}.not"), "There is no file")
    assert_refused(lake.swaps.insert(lake.table("other"), f"{old}.not"), "There is no file")
    assert lake.location(identifier) == old


def test_encrypted_tables(lake: Lake) -> None:
    """A table whose entry holds a hash of its metadata is left to writers who can make one."""
    assert_refused(
        lake.commits.commit(lake.table(), creating(f"{lake.warehouse}/x", properties={"encryption.key-id": "k"})),
        "is encrypted",
    )
    assert lake.pointers.find(lake.table()) is None


@pytest.mark.parametrize("verb", ["swap", "remove", "rename"])
def test_somebody_elses_lock(hurried: Lake, verb: str) -> None:
    """A lock of another writer is waited for; then the commit is lost, and says who holds it and for how long yet."""
    identifier, old = hurried.made()
    attempts: dict[str, Callable[[], Outcome]] = {
        "swap": lambda: hurried.swaps.swap(identifier, old, hurried.copied(old)),
        "remove": lambda: hurried.swaps.remove(identifier, old),
        "rename": lambda: hurried.swaps.rename(identifier, old, hurried.table("sales")),
    }
    lock = hurried.lock()
    outcome = attempts[verb]()
    assert_lost(outcome, f"lock {lock} of eve on elsewhere ({AGENT})", "last heard of", "300 s", "for 0.2 s")
    assert hurried.locked_by() == [AGENT]  # ours is out of the queue, and theirs was not touched
    hurried.unlock(lock)
    assert_done(attempts[verb]())
    assert hurried.locked_by() == []


def test_turns(hurried: Lake) -> None:
    """Threads of one process do not queue in the metastore: one asks for the lock, the others wait for that one."""
    identifier, old = hurried.made()
    lock = hurried.lock()
    with ThreadPoolExecutor(4) as pool:
        attempts = [pool.submit(hurried.swaps.swap, identifier, old, hurried.copied(old)) for _ in range(4)]
        while not all(each.done() for each in attempts):
            assert len(hurried.locked_by()) <= 2
    for attempt in attempts:
        assert_lost(attempt.result())
    hurried.unlock(lock)
    assert_done(hurried.swaps.swap(identifier, old, hurried.copied(old)))


def test_locks_are_waited_for(lake: Lake) -> None:
    """Somebody who gives the lock back in time costs the commit nothing."""
    identifier, old = lake.made()
    lock = lake.lock()
    new = lake.copied(old)
    with ThreadPoolExecutor(1) as pool:
        attempt = pool.submit(lake.swaps.swap, identifier, old, new)
        while len(lake.locked_by()) < 2:
            assert not attempt.done()
        lake.unlock(lock)
        assert_done(attempt.result())


def test_a_killed_writer(hurried: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that is killed leaves its lock behind. It is respected until it has been silent for too long, and
    dropped by the next who waits then.
    """
    identifier, old = hurried.made()
    command = [sys.executable, "-c", HOLDER, servers.metastore().uri, hurried.database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        os.kill(holder.pid, signal.SIGKILL)
    new = hurried.copied(old)
    assert_lost(hurried.swaps.swap(identifier, old, new), "another writer held the lock")
    assert len(hurried.locked_by()) == 1
    monkeypatch.setattr(locks, "SILENT_SECONDS", 0.1)
    assert_done(hurried.swaps.swap(identifier, old, new))
    assert hurried.locked_by() == []


def test_silence_of_those_who_promised_nothing(hurried: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a writer that does not say who it is, is not dropped however long it has been silent."""
    identifier, old = hurried.made()
    lock = hurried.lock(agent="Unknown")
    monkeypatch.setattr(locks, "SILENT_SECONDS", 0.0)
    assert_lost(hurried.swaps.swap(identifier, old, hurried.copied(old)), "(Unknown)")
    assert hurried.locked_by() == ["Unknown"]
    hurried.unlock(lock)


def test_a_lock_that_was_taken_away(lake: Lake) -> None:
    """A lock that is no longer ours right before the change means that nothing is changed."""
    identifier, _ = lake.made()
    with lake.client.session() as line, locks.held(lake.client, line, (lake.database, identifier.name), 30.0) as lock:
        locks.confirm(line, lock)
        lake.unlock(lock)
        with pytest.raises(locks.NotHeld, match="dropped the lock before anything was changed"):
            locks.confirm(line, lock)


def test_long_commits_keep_their_lock(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a lock is held the metastore is told so again and again."""
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.01)
    with lake.client.session() as line, locks.held(lake.client, line, (lake.database, "orders"), 30.0):
        first = _last_heard_of(lake)
        while _last_heard_of(lake) == first:
            pass


def _last_heard_of(lake: Lake) -> int:
    (lock,) = locks._locks(lake.client, (lake.database, "orders"))
    return int(lock.lastheartbeat)


def test_tables_without_locks(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that says so is committed to without its lock, where the metastore compares the pointer itself."""
    identifier, _ = lake.made(properties=UNLOCKED)
    lock = lake.lock()
    assert_done(lake.commits.commit(identifier, properties(note="new")))
    assert lake.client.table_names(lake.database) == ["orders"]  # what was asked to find out left no trace
    lake.unlock(lock)
    monkeypatch.setattr("firnline.adapters.hive.swaps.are_held", lambda *_: False)
    old = lake.location(identifier)
    with opened(servers.metastore().uri, lake.folder) as another:
        outcome = another.swaps.swap(identifier, old, lake.copied(old))
    assert_refused(outcome, "engine.hive.lock-enabled=false", "HIVE-26882")
    assert lake.location(identifier) == old


@pytest.mark.parametrize(
    ("carried_out", "expected"), [(True, OutcomeKind.DONE), (False, OutcomeKind.NOT_DONE)], ids=["after", "before"]
)
def test_errors_around_the_change(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, carried_out: bool, expected: OutcomeKind
) -> None:
    """An error that a listener of the metastore raises after the change looks like one from before it: the entry itself
    says which it was.
    """
    identifier, old = lake.made()
    new = lake.copied(old)

    def listened(call: Callable[[], Any], *_: Any) -> Any:
        if carried_out:
            call()
        raise Fault("MetaException", "a listener failed")

    intercept(monkeypatch, ALTER, listened)
    outcome = lake.swaps.swap(identifier, old, new)
    assert outcome.kind is expected, outcome
    assert lake.location(identifier) == (new if carried_out else old)
    if not carried_out:
        assert_refused(outcome, "a listener failed")


def test_errors_and_another_writer(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error that proves nothing, an entry that points to a third place proves nothing either."""
    identifier, old = lake.made()
    third = lake.copied(old)

    def overtaken(*_: Any) -> Any:
        monkeypatch.undo()
        with opened(servers.metastore().uri, lake.folder) as another:
            entry = lake.entry()
            entry.parameters["metadata_location"] = third
            with another.client.session() as line:
                line.call("alter_table", lake.database, "orders", entry)
        raise Fault("MetaException", "a listener failed")

    intercept(monkeypatch, ALTER, overtaken)
    assert lake.swaps.swap(identifier, old, lake.copied(old)).kind is OutcomeKind.UNKNOWN


def test_no_lock_service(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metastore whose lock tables were never made says no more than that something is wrong inside: what it most
    likely is, and what helps, is said here.
    """
    identifier, old = lake.made()
    with monkeypatch.context() as patch:
        for method in ("lock", "show_locks"):
            intercept(patch, method, failing(f"Internal error processing {method}"))
        outcome = lake.swaps.swap(identifier, old, lake.copied(old))
    assert_refused(outcome, "HIVE_LOCKS", "schematool", "Internal error processing lock")


def test_a_disturbed_lock_service(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metastore that is in trouble for a moment is asked again: by the next attempt, or within the same wait."""
    identifier, old = lake.made()
    with monkeypatch.context() as patch:
        intercept(patch, "lock", failing("Internal error processing lock"))
        assert_lost(lake.swaps.swap(identifier, old, lake.copied(old)), "did not give the lock")
    answers = [failing("Internal error processing check_lock")]
    lock = lake.lock()

    def once(call: Callable[[], Any], *given: Any) -> Any:
        if answers:
            lake.unlock(lock)
            return answers.pop()(call, *given)
        return call()

    intercept(monkeypatch, "check_lock", once)
    assert_done(lake.swaps.swap(identifier, old, lake.copied(old)))
    assert answers == []


def failing(text: str) -> Callable[..., Any]:
    """A server that does nothing, and says this."""

    def fail(*_: Any) -> Any:
        raise Fault("TApplicationException", text)

    return fail
