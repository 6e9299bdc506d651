"""The catalogs the contract suite is held against, by name.

A new adapter adds an opener that yields a `Place` and a line in `test_catalogs.CATALOGS`; marks of a line hold for all
its tests. Places share servers: everything happens in the place's own namespace, which no other test uses.
"""

from __future__ import annotations

import atexit
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from uuid import uuid4

from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.ids import Identifier
from firnline.facts.ports import Blobs, Pointers
from firnline.loop.commits import Commits
from firnline.loop.values import Outcome
from tests import servers
from tests.committing import CATALOG, Shelf, creating
from tests.glue_building import Account, at_once, iceberg

Namespace = tuple[str, ...]
UUID = "6f0e5d3c-0000-4000-8000-00000000dead"  # of no table there is
ODD_NAMES = ("with space", "größe", "日本", "🐘", "a'b", 'a"b', "a%b", "a_b", "a-b", "1", "select", "a;--", "$a{b}")


@dataclass(frozen=True, slots=True)
class Place:
    """One catalog, ready to be written to, and what is special about it."""

    pointers: Pointers
    commits: Commits
    blobs: Blobs  # reads what the tables' metadata locations name
    warehouse: str  # new tables go under it
    fill: Callable[[Namespace, int], None]  # tables `t000`, `t001` … with any pointer, fast, into a namespace there is
    put_foreign: Callable[[Identifier], str] | None = None  # an entry that is no Iceberg table; its kind
    sent: Callable[[], int] = lambda: 0  # requests that reached the server so far
    names: tuple[str, ...] = ()  # odd names of tables it can hold
    never: tuple[str, ...] = ()  # names of tables it cannot hold: nothing of that name is there, and asking is no error
    cannot: Mapping[str, Callable[[Commits, Namespace], Outcome]] = field(default_factory=dict)  # refused unsent
    changes_namespaces: bool = True
    renames: bool = True
    keeps_files: bool = True  # a table can be dropped without its files
    purges: bool = True  # and with them
    namespace: Namespace = field(default_factory=lambda: (f"shop_{uuid4().hex[:12]}",))

    def table(self, name: str = "orders") -> Identifier:
        """A table's name in this place's namespace."""
        return Identifier(self.namespace, name)

    def folder(self) -> str:
        """A location no other table has, whatever the table is called."""
        return f"{self.warehouse}/{uuid4().hex}"


Opener = Callable[[Path], AbstractContextManager[Place]]


@contextmanager
def sqlite(folder: Path) -> Iterator[Place]:
    """The embedded catalog."""
    shelf = Shelf(folder)

    def fill(namespace: Namespace, count: int) -> None:
        rows = [(CATALOG, namespace[0], f"t{number:03d}", "file:///t.json") for number in range(count)]
        with closing(sqlite3.connect(shelf.database)) as connection, connection:
            connection.executemany(
                "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location)"
                " VALUES (?, ?, ?, ?)", rows,
            )  # fmt: skip

    def put_foreign(identifier: Identifier) -> str:
        with closing(sqlite3.connect(shelf.database)) as connection, connection:
            connection.execute(
                "INSERT INTO iceberg_tables VALUES (?, ?, ?, 'file:///v.json', NULL, 'VIEW')",
                (CATALOG, identifier.namespace[0], identifier.name),
            )
        return "view"

    yield Place(
        shelf.pointers, shelf.light, LocalBlobs(), shelf.warehouse, fill, put_foreign,
        names=(*ODD_NAMES, "Upper", "a.b", "a\nb", "x" * 255),
        cannot={
            "a dot in a namespace": lambda commits, _: commits.create_namespace(("a.b",), {}),
            "a table under a dot": lambda commits, _: commits.commit(Identifier(("a.b",), "t"), creating("file:///t")),
        },
    )  # fmt: skip


@contextmanager
def glue(folder: Path) -> Iterator[Place]:
    """The Glue Data Catalog, on the local server that checks versions as AWS does."""
    account, warehouse = _account(), f"file://{folder}/warehouse"

    def fill(namespace: Namespace, count: int) -> None:
        def some(first: int) -> None:
            for number in range(first, count, 4):
                account.put(namespace[0], f"t{number:03d}", **iceberg("file:///t.json"))

        at_once(4, some)

    def put_foreign(identifier: Identifier) -> str:
        account.put(identifier.namespace[0], identifier.name, TableType="EXTERNAL_TABLE")
        return "other"

    def upper(commits: Commits, namespace: Namespace) -> Outcome:
        return commits.commit(Identifier(namespace, "Orders"), creating(f"{warehouse}/upper"))

    def rename(commits: Commits, namespace: Namespace) -> Outcome:
        found = account.pointers.find(Identifier(namespace, "orders"))
        assert found is not None
        uuid = json.loads(LocalBlobs().read(found.metadata_location or ""))["table-uuid"]
        return commits.rename(found.identifier, uuid, Identifier(namespace, "sales"))

    yield Place(
        account.pointers, account.commits, LocalBlobs(), warehouse, fill, put_foreign,
        # Looking for a table before it is made is no change: what counts is what would change something.
        sent=lambda: sum(count for name, count in account.sent.items() if not name.startswith("Get")),
        names=(*ODD_NAMES, "a.b", "x" * 255),
        never=("x" * 256, "ü" * 128, "a\nb", "a\x00b", "\ud800", ""),
        cannot={
            "namespaces of two levels": lambda commits, namespace: commits.create_namespace((*namespace, "deep"), {}),
            "upper case in a namespace": lambda commits, _: commits.create_namespace(("Shop",), {}),
            "upper case in a table": upper,
            "a rename": rename,
        },
        renames=False,
    )  # fmt: skip


@cache
def _account() -> Account:
    """One for all places: its clients take a while to make."""
    account = Account(servers.aws().endpoint, Path())
    atexit.register(account.close)
    return account
