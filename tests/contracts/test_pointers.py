"""The port `Pointers`, over every adapter, on catalogs as they are found in the wild."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from firnline.adapters.local.catalog import SqliteCatalog
from firnline.adapters.local.pointers import SqlitePointers
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer, Pointers
from tests.committing import CATALOG, ORDERS, Shelf, assert_done, creating

V0 = """CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
    PRIMARY KEY (catalog_name, table_namespace, table_name))"""
ADAPTERS: dict[str, Callable[[Path], Pointers]] = {
    "sqlite": lambda database: SqlitePointers(str(database), CATALOG, busy_seconds=0.1),
}


@pytest.fixture(params=ADAPTERS)
def looking(request: pytest.FixtureRequest) -> Callable[[Path], Pointers]:
    """Opens the port on a catalog's file."""
    return ADAPTERS[request.param]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A catalog with a namespace `shop` and two tables, closed."""
    path = tmp_path / "catalog.db"
    swaps = SqliteCatalog(str(path), CATALOG)
    assert_done(swaps.create_namespace(("shop",), {"owner": "ann"}))
    for name in ("orders", "customers"):
        assert_done(swaps.insert(Identifier(("shop",), name), f"file:///w/{name}.json"))
    return path


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def seen(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file of a folder, with all that writing changes."""
    return {
        entry.name: (entry.stat().st_mtime_ns, entry.stat().st_ino, entry.read_bytes()) for entry in folder.iterdir()
    }


def test_lists(looking: Callable[[Path], Pointers], database: Path) -> None:
    """Every entry in order of name, those of one namespace, and one by its name."""
    pointers = looking(database)
    customers = Pointer(Identifier(("shop",), "customers"), "file:///w/customers.json")
    orders = Pointer(ORDERS, "file:///w/orders.json")
    assert list(pointers.list()) == [customers, orders]
    assert list(pointers.list(("shop",))) == [customers, orders]
    assert list(pointers.list(("shop", "deeper"))) == []
    assert pointers.find(ORDERS) == orders
    assert pointers.find(Identifier(("shop",), "ORDERS")) is None
    assert pointers.namespaces() == {("shop",): {"owner": "ann"}}


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_no_catalog_yet(looking: Callable[[Path], Pointers], tmp_path: Path, content: bytes | None) -> None:
    """Where nobody applied anything yet nothing is listed, and nothing is made."""
    if content is not None:
        (tmp_path / "catalog.db").write_bytes(content)
    before = seen(tmp_path)
    pointers = looking(tmp_path / "catalog.db")
    assert (list(pointers.list()), pointers.find(ORDERS), pointers.namespaces()) == ([], None, {})
    assert seen(tmp_path) == before


def test_a_database_without_tables(looking: Callable[[Path], Pointers], tmp_path: Path) -> None:
    """A database in which nothing was made yet is an empty catalog."""
    execute(tmp_path / "catalog.db", "PRAGMA user_version = 1")
    assert list(looking(tmp_path / "catalog.db").list()) == []


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_looking_writes_nothing(looking: Callable[[Path], Pointers], database: Path, mode: str) -> None:
    """Looking leaves the folder as it was, byte for byte, without the files SQLite keeps beside a database."""
    execute(database, f"PRAGMA journal_mode = {mode}")
    before = seen(database.parent)
    pointers = looking(database)
    assert (len(list(pointers.list())), len(pointers.namespaces())) == (2, 1)
    assert pointers.find(ORDERS) is not None
    assert seen(database.parent) == before


def test_a_folder_that_takes_no_writes(looking: Callable[[Path], Pointers], database: Path) -> None:
    """A catalog on a read-only folder can be read."""
    os.chmod(database, 0o400)
    os.chmod(database.parent, 0o500)
    try:
        assert len(list(looking(database).list())) == 2
    finally:
        os.chmod(database.parent, 0o700)


def test_while_somebody_writes(looking: Callable[[Path], Pointers], database: Path) -> None:
    """What is committed is seen at once, still in the log or not; what is not committed is not."""
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("UPDATE iceberg_tables SET metadata_location = 'file:///w/2.json' WHERE table_name = 'orders'")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE iceberg_tables SET metadata_location = 'file:///w/3.json' WHERE table_name = 'orders'")
    found = looking(database).find(ORDERS)
    writer.execute("COMMIT")
    after = looking(database).find(ORDERS)
    writer.close()
    assert (found and found.metadata_location, after and after.metadata_location) == (
        "file:///w/2.json", "file:///w/3.json",
    )  # fmt: skip


def test_layout_v0(looking: Callable[[Path], Pointers], tmp_path: Path) -> None:
    """The older layout has no kinds: everything in it is a table, and there may be no namespaces beside it."""
    path = tmp_path / "catalog.db"
    execute(path, V0, "INSERT INTO iceberg_tables VALUES ('lake', 'a.b', 't', 'file:///t.json', NULL)")
    pointers = looking(path)
    assert list(pointers.list()) == [Pointer(Identifier(("a", "b"), "t"), "file:///t.json")]
    assert pointers.namespaces() == {("a",): {}, ("a", "b"): {}}


@pytest.mark.parametrize(
    ("kind", "location", "expected"),
    [
        ("TABLE", "file:///x.json", "table"),
        ("VIEW", "file:///x.json", "view"),
        ("view", "file:///x.json", "view"),
        (None, "file:///x.json", "table"),
        ("FUNC", "file:///x.json", "other"),
        ("TABLE", None, "other"),
        ("TABLE", "", "other"),
    ],
)
def test_kinds(
    looking: Callable[[Path], Pointers], database: Path, kind: str | None, location: str | None, expected: str
) -> None:
    """Views and what is no Iceberg table are told apart, not left out."""
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO iceberg_tables VALUES ('lake', 'shop', 'x', ?, NULL, ?)", (location, kind))
    connection.close()
    found = looking(database).find(Identifier(("shop",), "x"))
    assert found is not None
    assert found.kind == expected


@pytest.mark.parametrize("name", ["a.b", "größe", "日本", "with space", "a'b", "a_b", "a%b", "SELECT", "🐘" * 50])
def test_names(looking: Callable[[Path], Pointers], database: Path, name: str) -> None:
    """A table's name may be anything, dots included, and is found by exactly that."""
    identifier = Identifier(("shop",), name)
    assert_done(SqliteCatalog(str(database), CATALOG).insert(identifier, "file:///x.json"))
    pointers = looking(database)
    assert pointers.find(identifier) == Pointer(identifier, "file:///x.json")
    assert identifier in {pointer.identifier for pointer in pointers.list(("shop",))}
    assert (
        pointers.find(Identifier(("shop",), name.replace("_", "x").replace("%", "x").replace(".", "x") + "x")) is None
    )


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("shop", "")])
def test_namespaces_that_cannot_be(
    looking: Callable[[Path], Pointers], database: Path, namespace: tuple[str, ...]
) -> None:
    """Parts are stored joined by dots: a part with one in it holds nothing, and is not mistaken for two parts."""
    assert_done(SqliteCatalog(str(database), CATALOG).create_namespace(("a", "b"), {}))
    assert_done(SqliteCatalog(str(database), CATALOG).insert(Identifier(("a", "b"), "t"), "file:///x.json"))
    assert list(looking(database).list(namespace)) == []
    assert looking(database).find(Identifier(namespace, "t")) is None


def test_namespaces(looking: Callable[[Path], Pointers], database: Path) -> None:
    """Declared ones, those that merely hold tables, and the parents of both are there; `exists` is no property."""
    execute(
        database,
        "INSERT INTO iceberg_tables VALUES ('lake', 'x.y.z', 't', 'file:///t.json', NULL, 'TABLE')",
        "INSERT INTO iceberg_namespace_properties VALUES ('other', 'theirs', 'exists', 'true')",
        "INSERT INTO iceberg_namespace_properties VALUES ('lake', 'shop', 'note', NULL)",
    )
    assert looking(database).namespaces() == {
        ("shop",): {"owner": "ann", "note": None}, ("x",): {}, ("x", "y"): {}, ("x", "y", "z"): {},
    }  # fmt: skip


def _another_projects(path: Path) -> None:
    execute(path, "UPDATE iceberg_tables SET catalog_name = 'theirs'", "DELETE FROM iceberg_namespace_properties")


def _something_else(path: Path) -> None:
    execute(path, "DROP TABLE iceberg_tables", "DROP TABLE iceberg_namespace_properties", "CREATE TABLE songs (a)")


def _unknown_layout(path: Path) -> None:
    execute(path, "ALTER TABLE iceberg_tables RENAME COLUMN metadata_location TO pointer")


def _no_database(path: Path) -> None:
    path.write_bytes(b"catalog: not a database, but long enough to have a header" * 4)


def _damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(data)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (_another_projects, BadInput, "holds the catalog 'theirs' and none named 'lake'"),
        (_something_else, BadInput, "is an SQLite database of something else: it has songs"),
        (_unknown_layout, BadInput, "has a table iceberg_tables without metadata_location"),
        (_no_database, BadInput, "is not an SQLite database"),
        (_damaged, Failed, "is damaged"),
        (_folder, Failed, "could not be read: Is a directory"),
    ],
)
def test_broken(
    looking: Callable[[Path], Pointers],
    database: Path,
    spoil: Callable[[Path], None],
    error: type[FirnlineError],
    words: str,
) -> None:
    """What is no catalog of ours is refused by name, with what to do, and never read as empty."""
    spoil(database)
    with pytest.raises(error) as raised:
        list(looking(database).list())
    assert words in raised.value.what
    assert str(database) in raised.value.what
    assert raised.value.next_step


def test_locked(looking: Callable[[Path], Pointers], database: Path) -> None:
    """A catalog somebody keeps to himself is waited for, and then reported as blocked."""
    execute(database, "PRAGMA journal_mode = delete")
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Blocked, match="is locked by another process"):
        looking(database).find(ORDERS)
    holder.close()


def test_made_by_pyiceberg(looking: Callable[[Path], Pointers], tmp_path: Path) -> None:
    """A catalog of PyIceberg's own is read as it is, and it reads ours."""
    shelf = Shelf(tmp_path)
    theirs = shelf.sql_catalog()
    theirs.create_namespace("shop", {"owner": "ann"})
    assert_done(shelf.light.commit(ORDERS, creating(f"{shelf.warehouse}/orders")))
    pointers = looking(shelf.database)
    assert pointers.namespaces() == {("shop",): {"owner": "ann"}}
    assert [pointer.identifier for pointer in pointers.list()] == [ORDERS]
    assert theirs.list_tables("shop") == [("shop", "orders")]
    theirs.engine.dispose()
