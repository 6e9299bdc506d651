"""The local cache: there or not, never in the way."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from firnline.adapters.local.cache import LocalCache

MANY = {f"key {number}": bytes([number % 256]) * number for number in range(1200)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the cache is to be."""
    return tmp_path / "cache" / "facts.db"


def test_what_is_kept_is_there(path: Path) -> None:
    """Values come back by key, from another process's view too, and others do not."""
    LocalCache(str(path)).put(MANY)
    assert LocalCache(str(path)).get([*MANY, "another"]) == MANY


def test_nothing_is_made_by_looking(path: Path) -> None:
    """Asking a cache that is not there gives nothing and makes nothing; neither does keeping nothing."""
    cache = LocalCache(str(path))
    assert cache.get(["a"]) == {}
    cache.put({})
    assert not path.parent.exists()


def test_a_damaged_cache_is_begun_again(path: Path) -> None:
    """Bytes that are no database are no error: nothing is found, and the next value is kept."""
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 100)
    cache = LocalCache(str(path))
    assert cache.get(["a"]) == {}
    cache.put({"a": b"1"})
    cache.put({"a": b"1"})
    assert cache.get(["a"]) == {"a": b"1"}


def test_another_form_is_not_read(path: Path) -> None:
    """A file another version wrote is emptied, not misread."""
    LocalCache(str(path)).put({"a": b"1"})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    cache = LocalCache(str(path))
    assert cache.get(["a"]) == {}
    cache.put({"b": b"2"})
    assert cache.get(["a", "b"]) == {"b": b"2"}


def test_a_locked_cache_is_gone_without(path: Path) -> None:
    """While somebody writes, nothing is kept and nothing fails."""
    cache = LocalCache(str(path))
    cache.put({"a": b"1"})
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert cache.get(["a"]) == {}
        cache.put({"b": b"2"})
        other.execute("ROLLBACK")
    assert cache.get(["a", "b"]) == {"a": b"1"}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    """Where nothing may be written the cache keeps nothing."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    cache = LocalCache(str(tmp_path / "file" / "cache" / "facts.db"))
    cache.put({"a": b"1"})
    assert cache.get(["a"]) == {}


def test_it_does_not_grow_for_ever(path: Path) -> None:
    """Past its bound the file is begun again."""
    cache = LocalCache(str(path), bytes_max=100_000)
    for number in range(20):
        cache.put({f"{number}": os.urandom(20_000)})
    assert path.stat().st_size < 200_000
    assert set(cache.get(["0", "19"])) == {"19"}
