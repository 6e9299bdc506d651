"""Looking at a Glue Data Catalog as accounts have them: everything is told apart, and every request is counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.aws import glue_namespaces
from firnline.core.errors import Blocked, Failed, Partial
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer
from tests import servers
from tests.glue_building import Account, Crooked, Fault, crooked, iceberg

AT = "s3://lake/t/metadata/00000-a.metadata.json"
LINK = {"CatalogId": "210987654321", "DatabaseName": "theirs"}


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """Clients for every test of this file."""
    made = Account(servers.aws().endpoint, tmp_path_factory.mktemp("none"))
    yield made
    made.close()


@pytest.fixture
def account(clients: Account, tmp_path: Path) -> Account:
    """An empty account."""
    return clients.emptied(tmp_path)


@pytest.fixture(scope="module")
def bad_clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Account, Crooked]]:
    """Clients behind a server that misbehaves, and that server. One try for each request."""
    with crooked(servers.aws().endpoint) as server:
        made = Account(server.address, tmp_path_factory.mktemp("none"), {"tries": 1})
        yield made, server
        made.close()


@pytest.fixture
def bad_line(bad_clients: tuple[Account, Crooked], tmp_path: Path) -> tuple[Account, Crooked]:
    """An empty account behind it, with nothing wrong yet."""
    account, server = bad_clients
    server.faults.clear()
    server.seen.clear()
    return account.emptied(tmp_path), server


def named(*names: str) -> list[Identifier]:
    return [Identifier.parse(name) for name in names]


def found(pointers: Iterator[Pointer]) -> list[Identifier]:
    return [pointer.identifier for pointer in pointers]


KINDS: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "iceberg": (iceberg(AT), "table", AT),
    "iceberg in lower case": (iceberg(AT, "iceberg"), "table", AT),
    "iceberg in any case": (iceberg(AT, "IceBerg"), "table", AT),
    "iceberg with an empty pointer": (iceberg(""), "other", None),
    "iceberg without pointer": (
        {"TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "ICEBERG"}}, "other", None,
    ),
    "delta": ({"Parameters": {"table_type": "DELTA", "metadata_location": AT}}, "other", AT),
    "a pointer alone": ({"TableType": "EXTERNAL_TABLE", "Parameters": {"metadata_location": AT}}, "other", AT),
    "hive": ({"TableType": "EXTERNAL_TABLE", "Parameters": {"classification": "parquet"}}, "other", None),
    "hive, managed": ({"TableType": "MANAGED_TABLE"}, "other", None),
    "nothing but a name": ({}, "other", None),
    "view": ({"TableType": "VIRTUAL_VIEW", "ViewOriginalText": "/* Presto View */"}, "view", None),
    "link": ({"TargetTable": {**LINK, "Name": "t"}}, "other", None),
    "link that looks like iceberg": ({**iceberg(AT), "TargetTable": {**LINK, "Name": "t"}}, "other", AT),
}  # fmt: skip


def test_kinds(account: Account) -> None:
    """An Iceberg table is what says so in any case of letters and has a pointer; views and all the rest are told
    apart, in a listing as one by one.
    """
    account.database("shop")
    for name, (entry, _, _) in KINDS.items():
        account.put("shop", name, **entry)
    expected = [Pointer(Identifier(("shop",), name), KINDS[name][2], KINDS[name][1]) for name in sorted(KINDS)]
    assert list(account.pointers.list()) == expected
    assert [account.pointers.find(each.identifier) for each in expected] == expected


def test_order_and_requests(account: Account) -> None:
    """Entries come in order of name, database by database; a hundred of them cost one request, as a hundred databases
    do, and an empty database costs one too.
    """
    for name in ("b", "a", "empty"):
        account.database(name)
    for number in reversed(range(205)):
        account.put("a", f"t{number:03d}", **iceberg(AT))
    account.put("b", "t", **iceberg(AT))
    account.sent.clear()
    pointers = list(account.pointers.list())
    assert [str(pointer.identifier) for pointer in pointers] == [*(f"a.t{n:03d}" for n in range(205)), "b.t"]
    assert account.sent == {"GetDatabases": 1, "GetTables": 3 + 1 + 1}


def test_pages_in_any_order(bad_line: tuple[Account, Crooked]) -> None:
    """Glue promises no order, and an entry that changes between two pages may come twice; a page may be empty."""
    account, server = bad_line
    account.database("shop")
    pages = [["c", "a"], [], ["b", "a"]]
    for number, names in enumerate(pages):
        token = {"NextToken": f"after {number}"} if number + 1 < len(pages) else {}
        entries = [{"Name": name, "DatabaseName": "shop", **iceberg(AT)} for name in names]
        server.faults.append(Fault("GetTables", 200, body={"TableList": entries, **token}))
    assert found(account.pointers.list()) == named("shop.a", "shop.b", "shop.c")
    assert server.seen["GetTables"] == len(pages)


def test_the_same_page_again(bad_line: tuple[Account, Crooked]) -> None:
    """A server that gives the same token again is not followed for ever, and no listing passes for whole."""
    account, server = bad_line
    account.database("shop")
    page = {"TableList": [{"Name": "a", "DatabaseName": "shop", **iceberg(AT)}], "NextToken": "again"}
    server.faults.extend(Fault("GetTables", 200, body=page) for _ in range(5))
    with pytest.raises(Failed, match="the same token twice"):
        list(account.pointers.list())
    assert server.seen["GetTables"] == 2


def test_many_databases(account: Account) -> None:
    """More databases than one answer holds are all listed."""
    for number in range(101):
        account.database(f"d{number:03d}", Description=f"number {number}")
    account.sent.clear()
    assert list(account.pointers.namespaces()) == [(f"d{number:03d}",) for number in range(101)]
    assert account.sent == {"GetDatabases": 2}


def test_one_namespace(account: Account) -> None:
    """One namespace costs a look at the database and its pages, and shows nothing of its neighbours."""
    for name in ("shop", "shop2"):
        account.put(account.database(name), "t", **iceberg(AT))
    account.sent.clear()
    assert found(account.pointers.list(("shop",))) == named("shop.t")
    assert account.sent == {"GetDatabase": 1, "GetTables": 1}
    assert list(account.pointers.list(("nowhere",))) == []


def test_find(account: Account) -> None:
    """One table is one request, and none when Glue could not have it."""
    account.put(account.database("shop"), "t", **iceberg(AT))
    account.sent.clear()
    assert account.pointers.find(Identifier(("shop",), "t")) is not None
    assert account.pointers.find(Identifier(("shop",), "u")) is None
    assert account.pointers.find(Identifier(("nowhere",), "t")) is None
    assert account.sent == {"GetTable": 3}
    for impossible in (Identifier(("shop", "deep"), "t"), Identifier((), "t"), Identifier(("shop",), "t" * 256)):
        assert account.pointers.find(impossible) is None
    assert [list(account.pointers.list(each)) for each in ((), ("shop", "deep"), ("s" * 256,))] == [[], [], []]
    assert account.sent == {"GetTable": 3}


def test_names_are_exact(account: Account) -> None:
    """Glue folds the name it is asked for; what it then finds is not what was meant."""
    account.put(account.database("shop"), "t", **iceberg(AT))
    assert account.pointers.find(Identifier(("shop",), "T")) is None
    assert account.pointers.find(Identifier(("SHOP",), "t")) is None
    assert list(account.pointers.list(("SHOP",))) == []
    assert account.sent["GetTable"] == 2


def test_a_table_behind_a_linked_database(bad_line: tuple[Account, Crooked]) -> None:
    """Glue answers for a table of a linked database with the database it belongs to: it is not ours."""
    account, server = bad_line
    server.faults += [Fault("GetTable", 200, body={"Table": {"Name": "t", "DatabaseName": "theirs", **iceberg(AT)}})]
    identifier = Identifier(("linked",), "t")
    assert account.pointers.find(identifier) == Pointer(identifier, AT, "other")


def test_listing_is_lazy(account: Account) -> None:
    """A database is asked for when its turn comes: who stops early does not pay for the account."""
    for name in ("a", "b", "c"):
        account.put(account.database(name), "t", **iceberg(AT))
    account.sent.clear()
    assert next(iter(account.pointers.list())).identifier == Identifier(("a",), "t")
    assert account.sent["GetTables"] == 1


def test_namespaces(account: Account) -> None:
    """Location and comment are properties like Iceberg's, and a link says what it stands for."""
    account.database("plain")
    account.database("full", Description="sales", LocationUri="s3://lake/full/", Parameters={"owner": "ann"})
    account.database("linked", TargetDatabase=LINK)
    assert account.pointers.namespaces() == {
        ("full",): {"owner": "ann", "location": "s3://lake/full", "comment": "sales"},
        ("linked",): {glue_namespaces.TARGET: "210987654321/theirs"},
        ("plain",): {},
    }


def test_links_are_not_followed(account: Account) -> None:
    """Nothing of another account's database is listed or asked for."""
    account.put(account.database("ours"), "t", **iceberg(AT))
    account.put(account.database("linked", TargetDatabase=LINK), "t", **iceberg(AT))
    account.sent.clear()
    assert found(account.pointers.list()) == named("ours.t")
    assert list(account.pointers.list(("linked",))) == []
    assert account.sent["GetTables"] == 1


def test_one_closed_database(bad_line: tuple[Account, Crooked]) -> None:
    """A database that may not be listed stops no other, and is named at the end with the right that lacks."""
    account, server = bad_line
    for name in ("a", "b", "c"):
        account.put(account.database(name), "t", **iceberg(AT))
    server.faults += [Fault("GetTables", 400, "AccessDeniedException")]
    listing = account.pointers.list()
    assert [next(listing).identifier, next(listing).identifier] == named("b.t", "c.t")
    with pytest.raises(Partial) as raised:
        next(listing)
    assert raised.value.what == "1 of the 3 databases of the catalog 'lake' could not be listed: a."
    assert "glue:GetTables on the database a" in (raised.value.why or "")
    assert "firnline iam-policy" in (raised.value.next_step or "")


def test_a_closed_database_by_name(bad_line: tuple[Account, Crooked]) -> None:
    """Asked for by name, a database that may not be listed is an error of its own."""
    account, server = bad_line
    account.database("a")
    server.faults += [Fault("GetTables", 400, "AccessDeniedException")]
    with pytest.raises(Failed, match="may not do glue:GetTables on the database a"):
        list(account.pointers.list(("a",)))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("GetTables", 400, "ThrottlingException"), Blocked),
        (Fault("GetTables", 500, "InternalServiceException"), Failed),
        (Fault("GetTables", None), Failed),
        (Fault("GetDatabases", 400, "AccessDeniedException"), Failed),
        (Fault("GetDatabases", 400, "ExpiredTokenException"), Failed),
    ],
    ids=lambda value: value.code or "cut" if isinstance(value, Fault) else value.__name__,
)
def test_what_is_about_all_databases(bad_line: tuple[Account, Crooked], fault: Fault, error: type[Exception]) -> None:
    """A server that is throttled, broken or gone ends the listing: what it says is not about one database."""
    account, server = bad_line
    for name in ("a", "b"):
        account.database(name)
    server.faults += [fault]
    with pytest.raises(error):
        list(account.pointers.list())


def test_gone_in_the_meantime(bad_line: tuple[Account, Crooked]) -> None:
    """A database that is dropped between two requests has no entries."""
    account, server = bad_line
    for name in ("a", "b"):
        account.put(account.database(name), "t", **iceberg(AT))
    server.faults += [Fault("GetTables", 400, "EntityNotFoundException")]
    assert found(account.pointers.list()) == named("b.t")
