"""`state.db`: made, brought up to date, recognised, and left alone by whoever only looks."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.local import state as states
from firnline.adapters.local.migrations import APPLICATION_ID
from firnline.adapters.local.state import SCHEMA_VERSION, from_micros, look_at_state, open_state, to_micros
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError


def seen(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {entry.name: (entry.stat().st_mtime_ns, entry.read_bytes()) for entry in folder.iterdir()}


def other_database(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@given(st.datetimes(timezones=st.just(UTC)))
def test_instants(instant: datetime) -> None:
    """An instant comes back as it went, before 1970 and after 2262 too."""
    assert from_micros(to_micros(instant)) == instant
    assert (
        to_micros(instant.astimezone(timezone(timedelta(hours=5)))) == to_micros(instant)
        if instant.year < 9999
        else True
    )


def test_made(tmp_path: Path) -> None:
    """A file that is not there is made, its folder too, with our mark, its version, and every commit synced."""
    state = open_state(tmp_path / "a" / "b" / "state.db")
    asked = ("application_id", "user_version", "journal_mode", "synchronous", "foreign_keys")
    assert [state.rows(f"PRAGMA {name}")[0][0] for name in asked] == [APPLICATION_ID, SCHEMA_VERSION, "wal", 2, 1]
    state.close()
    state.close()


def test_opened_again(tmp_path: Path) -> None:
    """What was written is there; nothing is migrated twice."""
    for number in range(3):
        state = open_state(tmp_path / "state.db")
        state.rows("INSERT INTO leases (key) VALUES (?)", (f"k{number}",))
        assert state.rows("SELECT count(*) FROM leases")[0][0] == number + 1
        state.close()


def test_a_transaction_that_fails(tmp_path: Path) -> None:
    """Of a transaction that ends with an error nothing stays, and the next one works."""
    state = open_state(tmp_path / "state.db")
    with pytest.raises(KeyError), state.transaction():  # noqa: PT012 -- leaving the block is what is tested
        state.rows("INSERT INTO leases (key) VALUES ('a')")
        raise KeyError("a")
    with state.transaction():
        state.rows("INSERT INTO leases (key) VALUES ('b')")
    assert [row["key"] for row in state.rows("SELECT key FROM leases")] == ["b"]
    state.close()


@pytest.mark.parametrize("opened", [open_state, look_at_state])
@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (("CREATE TABLE iceberg_tables (a)",), "is a SQLite database, and not Firnline's state"),
        (("CREATE TABLE leases (a)", "PRAGMA application_id = 7"), "is a SQLite database, and not Firnline's state"),
        ((f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 99"), "was written by a newer Firnline"),
    ],
)
def test_not_ours(tmp_path: Path, opened: Callable[[Path], object], statements: tuple[str, ...], words: str) -> None:
    """Somebody else's database, and one of a newer version, are refused unchanged."""
    path = tmp_path / "state.db"
    other_database(path, *statements)
    before = seen(tmp_path)
    with pytest.raises(BadInput, match=words) as raised:
        opened(path)
    assert raised.value.next_step
    assert seen(tmp_path) == before


def _text(path: Path) -> None:
    path.write_text("this is no database at all, but a text that is long enough to have a header of its own" * 3)


def _damaged(path: Path) -> None:
    open_state(path).close()
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * 4_000)


def _folder(path: Path) -> None:
    path.mkdir()


def _in_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file")


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (_text, "is damaged or not a SQLite database"),
        (_damaged, "is damaged or not a SQLite database"),
        (_folder, "cannot be opened"),
        (_in_a_file, "cannot be opened"),
    ],
)
def test_unusable(tmp_path: Path, arrange: Callable[[Path], None], words: str) -> None:
    """A path where no state can be is refused with what to do."""
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "state.db"
    arrange(path)
    with pytest.raises(BadInput, match=words) as raised:
        open_state(path)
    assert raised.value.next_step


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (sqlite3.OperationalError("database is locked"), Blocked, "stayed locked for 30 seconds"),
        (sqlite3.OperationalError("attempt to write a readonly database"), BadInput, "cannot be written"),
        (sqlite3.OperationalError("unable to open database file"), BadInput, "cannot be opened"),
        (sqlite3.OperationalError("database or disk is full"), Failed, "cannot grow"),
        (sqlite3.DatabaseError("database disk image is malformed"), BadInput, "is damaged"),
        (sqlite3.OperationalError("disk I/O error"), Failed, "state.db: disk I/O error"),
    ],
)
def test_errors_in_words(error: sqlite3.Error, kind: type[FirnlineError], words: str) -> None:
    """What SQLite says is told as what it means."""
    with pytest.raises(kind, match=words), states._translated("state.db"):
        raise error


def test_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file somebody else writes to is waited for, and then blocked."""
    monkeypatch.setattr(states, "BUSY_SECONDS", 0.05)
    path = tmp_path / "state.db"
    state = open_state(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(Blocked, match="stayed locked"), state.transaction():
        raise AssertionError("nobody comes here")
    holder.execute("COMMIT")
    holder.close()
    with state.transaction():
        state.rows("INSERT INTO leases (key) VALUES ('a')")
    state.close()


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_looking_where_nothing_is(tmp_path: Path, content: bytes | None) -> None:
    """Looking where there is no state sees an empty one, and makes nothing: neither file nor folder."""
    folder = tmp_path / "project"
    if content is not None:
        folder.mkdir()
        (folder / "state.db").write_bytes(content)
    state = look_at_state(folder / "state.db")
    assert state.rows("SELECT count(*) FROM events")[0][0] == 0
    state.close()
    assert folder.exists() is (content is not None)
    assert not folder.exists() or [entry.name for entry in folder.iterdir()] == ["state.db"]


@pytest.mark.parametrize("busy", [False, True], ids=["closed", "while somebody writes"])
def test_looking_writes_nothing(tmp_path: Path, busy: bool) -> None:
    """Looking sees what is committed and changes no file and makes none; writing through it is refused."""
    path = tmp_path / "state.db"
    writer = open_state(path)
    writer.rows("INSERT INTO leases (key) VALUES ('a')")
    if not busy:
        writer.close()
    before = seen(tmp_path)
    looking = look_at_state(path)
    assert looking.rows("SELECT key FROM leases")[0]["key"] == "a"
    with pytest.raises(BadInput, match="cannot be written"):
        looking.rows("INSERT INTO leases (key) VALUES ('b')")
    looking.close()
    after = seen(tmp_path)
    assert set(after) == set(before)
    assert {name: after[name] for name in after if "-shm" not in name} == {
        name: before[name] for name in before if "-shm" not in name
    }
    writer.close()


def test_an_older_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking does not migrate, and says who does; opening for work does, and keeps what is there."""
    path = tmp_path / "state.db"
    old = open_state(path)
    old.rows("INSERT INTO leases (key) VALUES ('a')")
    old.close()
    monkeypatch.setattr(states, "MIGRATIONS", (*states.MIGRATIONS, ("ALTER TABLE leases ADD COLUMN note TEXT",)))
    monkeypatch.setattr(states, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(Blocked, match="was written by an older Firnline"):
        look_at_state(path)
    new = open_state(path)
    assert dict(new.rows("SELECT key, note FROM leases")[0]) == {"key": "a", "note": None}
    new.close()
    look_at_state(path).close()


def test_a_migration_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration is whole or not at all: the next try begins where the last one began."""
    path = tmp_path / "state.db"
    monkeypatch.setattr(
        states, "MIGRATIONS", (*states.MIGRATIONS, ("CREATE TABLE extra (a)", "CREATE TABLE extra (a)"))
    )
    monkeypatch.setattr(states, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(Failed, match="extra already exists"):
        open_state(path)
    monkeypatch.undo()
    state = open_state(path)
    assert state.rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION
    assert not state.rows("SELECT 1 FROM sqlite_master WHERE name = 'extra'")
    state.close()


def _open(path: str, together: Any, ends: Any) -> None:
    together.wait()
    state = open_state(Path(path))
    ends.put(state.rows("PRAGMA user_version")[0][0])
    state.close()


def test_opened_at_once(tmp_path: Path) -> None:
    """Processes that all come first make one database between them."""
    context = multiprocessing.get_context("spawn")
    together, ends = context.Barrier(4), context.Queue()
    openers = [context.Process(target=_open, args=(str(tmp_path / "state.db"), together, ends)) for _ in range(4)]
    for opener in openers:
        opener.start()
    assert [ends.get(timeout=60) for _ in openers] == [SCHEMA_VERSION] * 4
    for opener in openers:
        opener.join()
        assert opener.exitcode == 0
