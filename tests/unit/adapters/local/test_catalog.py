"""The writing half of the embedded catalog: one transaction per verb, and what each failure of it means."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.local.catalog import SqliteCatalog
from firnline.adapters.local.pointers import SqlitePointers
from firnline.core.ids import Identifier
from firnline.loop.values import Outcome, OutcomeKind
from tests.committing import CATALOG, ORDERS, assert_done, assert_refused

VERBS: dict[str, Callable[[SqliteCatalog], Outcome]] = {
    "insert": lambda catalog: catalog.insert(Identifier(("shop",), "new"), "file:///new.json"),
    "swap": lambda catalog: catalog.swap(ORDERS, "file:///1.json", "file:///2.json"),
    "remove": lambda catalog: catalog.remove(ORDERS, "file:///1.json"),
    "rename": lambda catalog: catalog.rename(ORDERS, "file:///1.json", Identifier(("shop",), "sales")),
    "create_namespace": lambda catalog: catalog.create_namespace(("lab",), {"a": "b"}),
    "update_namespace": lambda catalog: catalog.update_namespace(("shop",), {"a": "b"}, ()),
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A catalog with one table."""
    path = tmp_path / "made" / "catalog.db"
    catalog = SqliteCatalog(str(path), CATALOG)
    assert_done(catalog.create_namespace(("shop",), {}))
    assert_done(catalog.insert(ORDERS, "file:///1.json"))
    return path


def rows(path: Path) -> dict[str, list[Any]]:
    connection = sqlite3.connect(path)
    found = {
        table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()
        for table in ("iceberg_tables", "iceberg_namespace_properties")
    }
    connection.close()
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_done(database: Path, verb: str) -> None:
    """Every verb changes something when it says done."""
    before = rows(database)
    assert_done(VERBS[verb](SqliteCatalog(str(database), CATALOG)))
    assert rows(database) != before


@pytest.mark.parametrize("verb", VERBS)
def test_busy(database: Path, verb: str) -> None:
    """A lock held for too long is a lost race: nothing was done, and the same may be sent again."""
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    outcome = VERBS[verb](SqliteCatalog(str(database), CATALOG, busy_seconds=0.01))
    holder.execute("ROLLBACK")
    holder.close()
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, True), outcome
    assert_done(VERBS[verb](SqliteCatalog(str(database), CATALOG)))


class Spoilt:
    """A connection on which one statement fails, before or after it did its work."""

    def __init__(self, real: sqlite3.Connection, word: str, when: str) -> None:
        self._real, self._word, self._when = real, word, when

    def execute(self, sql: str, values: Any = ()) -> Any:
        if sql.startswith(self._word) and self._when == "before":
            raise sqlite3.OperationalError("disk I/O error")
        answer = self._real.execute(sql, values)
        if sql.startswith(self._word):
            raise sqlite3.OperationalError("disk I/O error")
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("word", "kind"), [("BEGIN", OutcomeKind.NOT_DONE), ("COMMIT", OutcomeKind.UNKNOWN)])
def test_failures(
    database: Path, monkeypatch: pytest.MonkeyPatch, verb: str, when: str, word: str, kind: OutcomeKind
) -> None:
    """Before COMMIT a failure proves that nothing was done; on it nobody knows, and it may have been."""
    before = rows(database)
    opened = SqliteCatalog._open
    monkeypatch.setattr(SqliteCatalog, "_open", lambda self: Spoilt(opened(self), word, when))
    outcome = VERBS[verb](SqliteCatalog(str(database), CATALOG))
    monkeypatch.undo()
    assert (outcome.kind, outcome.retryable) == (kind, False), outcome
    assert (rows(database) == before) is not (word == "COMMIT" and when == "after")


@pytest.mark.parametrize("verb", ["swap", "remove", "rename"])
def test_moved_on(database: Path, verb: str) -> None:
    """A pointer that is no longer where the commit is based is a lost race."""
    assert_done(SqliteCatalog(str(database), CATALOG).swap(ORDERS, "file:///1.json", "file:///other.json"))
    before = rows(database)
    outcome = VERBS[verb](SqliteCatalog(str(database), CATALOG))
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, True)
    assert rows(database) == before


def test_taken_names(database: Path) -> None:
    """A name that something has, a view too, is refused; so is one without a namespace."""
    catalog = SqliteCatalog(str(database), CATALOG)
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO iceberg_tables VALUES ('lake', 'shop', 'v', 'file:///v.json', NULL, 'VIEW')")
    connection.close()
    assert_refused(catalog.insert(ORDERS, "file:///x.json"), "an entry of this name was made in the meantime")
    assert_refused(catalog.insert(Identifier(("shop",), "v"), "file:///x.json"), "an entry of this name")
    assert_refused(catalog.rename(ORDERS, "file:///1.json", Identifier(("shop",), "v")), "an entry of this name")
    assert_refused(catalog.insert(Identifier(("lab",), "t"), "file:///x.json"), "there is no namespace lab")
    assert_refused(catalog.insert(Identifier(("sho_",), "t"), "file:///x.json"), "there is no namespace sho_")


@pytest.mark.parametrize("verb", ["remove", "rename"])
def test_the_last_table_of_a_namespace(tmp_path: Path, verb: str) -> None:
    """A namespace that existed through its table alone does not vanish with it."""
    path = tmp_path / "catalog.db"
    catalog = SqliteCatalog(str(path), CATALOG)
    assert_done(catalog.create_namespace(("shop",), {}))
    assert_done(catalog.insert(ORDERS, "file:///1.json"))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM iceberg_namespace_properties")
    connection.close()
    assert_done(catalog.create_namespace(("lab",), {}))
    to = Identifier(("lab",), "orders")
    gone = (
        catalog.rename(ORDERS, "file:///1.json", to) if verb == "rename" else catalog.remove(ORDERS, "file:///1.json")
    )
    assert_done(gone)
    assert dict(SqlitePointers(str(path), CATALOG).namespaces()) == {("lab",): {}, ("shop",): {}}


def test_layout_v0(tmp_path: Path) -> None:
    """A catalog without kinds is written as it is found."""
    path = tmp_path / "catalog.db"
    catalog = SqliteCatalog(str(path), CATALOG)
    assert_done(catalog.create_namespace(("shop",), {}))
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE iceberg_tables DROP COLUMN iceberg_type")
    connection.close()
    assert_done(catalog.insert(ORDERS, "file:///1.json"))
    assert_done(catalog.swap(ORDERS, "file:///1.json", "file:///2.json"))
    assert_done(catalog.rename(ORDERS, "file:///2.json", Identifier(("shop",), "sales")))
    assert len(rows(path)["iceberg_tables"][0]) == 5


def test_no_folder(tmp_path: Path) -> None:
    """A catalog where no folder can be made is refused, not raised."""
    (tmp_path / "file").touch()
    assert_refused(
        VERBS["create_namespace"](SqliteCatalog(str(tmp_path / "file" / "c.db"), CATALOG)), "could not be made"
    )
