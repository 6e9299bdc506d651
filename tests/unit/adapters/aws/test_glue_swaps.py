"""Writing to a Glue Data Catalog: what is sent, what it keeps, and what becomes of it when answers go wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from firnline.core.ids import Identifier
from firnline.loop.values import Outcome, OutcomeKind
from tests import servers
from tests.committing import ORDERS, assert_done, assert_refused, changing, creating
from tests.glue_building import Account, Crooked, Fault, at_once, crooked, iceberg

WRITERS = 12
LINK = {"CatalogId": "210987654321", "DatabaseName": "theirs"}
NEVER, AGAIN, UNKNOWN, DONE = "never", "again", "unknown", "done"


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
    """Clients behind a server that misbehaves, and that server. Looking is tried twice."""
    with crooked(servers.aws().endpoint) as server:
        made = Account(server.address, tmp_path_factory.mktemp("none"), {"tries": 2})
        yield made, server
        made.close()


@pytest.fixture
def bad_line(bad_clients: tuple[Account, Crooked], tmp_path: Path) -> tuple[Account, Crooked]:
    """An empty account behind it, with nothing wrong yet."""
    account, server = bad_clients
    server.faults.clear()
    server.seen.clear()
    return account.emptied(tmp_path), server


def said(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.NOT_DONE:
        return AGAIN if outcome.retryable else NEVER
    return str(outcome.kind.value)


def test_insert(account: Account) -> None:
    """A new table is an external Iceberg table with its pointer, its location and its columns, by one request."""
    account.database("shop")
    account.sent.clear()
    request = creating(f"{account.warehouse}/orders", properties={"comment": "what was ordered"})
    location = assert_done(account.commits.commit(ORDERS, request)).facts["metadata-location"]
    entry = account.entry()
    assert account.sent == {"GetTable": 1 + 1, "CreateTable": 1}  # the last look is the test's own
    assert (entry["TableType"], entry["Description"]) == ("EXTERNAL_TABLE", "what was ordered")
    assert entry["Parameters"] == {"table_type": "ICEBERG", "metadata_location": location}
    storage = entry["StorageDescriptor"]
    assert storage["Location"] == f"{account.warehouse}/orders"
    assert [(each["Name"], each["Type"]) for each in storage["Columns"]] == [
        ("id", "bigint"), ("name", "string"), ("at", "timestamp"),
    ]  # fmt: skip
    assert storage["Columns"][0]["Parameters"] == {
        "iceberg.field.id": "1", "iceberg.field.optional": "false", "iceberg.field.current": "true",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        (Identifier(("nowhere",), "orders"), "there is no namespace nowhere"),
        (Identifier(("shop", "deep"), "orders"), "has 2 levels, and Glue has one"),
        (Identifier(("shop",), "Orders"), "keeps names in lower case: write 'orders'"),
        (Identifier(("Shop",), "orders"), "keeps names in lower case: write 'shop'"),
        (Identifier(("shop",), "o" * 256), "cannot be a name in Glue"),
    ],
)
def test_insert_where_it_cannot_be(account: Account, identifier: Identifier, words: str) -> None:
    """A table whose database is not there, or whose name Glue would refuse or change, is not made."""
    location = account.create()
    assert_refused(account.swaps.insert(identifier, location), words)


@pytest.mark.parametrize("damage", [None, b"{}", b"no JSON"])
def test_metadata_that_cannot_be_read(account: Account, damage: bytes | None) -> None:
    """What cannot be read is not pointed to: nothing is sent."""
    location = account.create()
    new = f"file://{account.folder}/new.metadata.json"
    if damage is not None:
        Path(new.removeprefix("file://")).write_bytes(damage)
    account.sent.clear()
    assert_refused(account.swaps.insert(Identifier(("shop",), "other"), new), "new.metadata.json")
    assert_refused(account.swaps.swap(ORDERS, location, new), "new.metadata.json")
    assert not {"CreateTable", "UpdateTable"} & account.sent.keys()


def test_swap_keeps_what_was_there(account: Account) -> None:
    """A commit changes the pointer and what is shown of the schema; every other field and parameter stays."""
    old = account.create()
    entry = account.entry()
    mine = {
        "Owner": "ann", "Retention": 30, "Description": "by hand", "ViewOriginalText": "a note of Athena's",
        "PartitionKeys": [{"Name": "day", "Type": "date"}],
    }  # fmt: skip
    storage = {**entry["StorageDescriptor"], "SerdeInfo": {"Name": "a serializer"}, "Compressed": True}
    storage["Columns"][0]["Comment"] = "the key"
    parameters = {**entry["Parameters"], "note": "kept", "classification": "iceberg"}
    given = {"Name": "orders", "TableType": "EXTERNAL_TABLE", "Parameters": parameters, "StorageDescriptor": storage}
    account.glue.update_table(DatabaseName="shop", TableInput={**given, **mine})
    new = account.copy(old, "00001-b")
    assert_done(account.swaps.swap(ORDERS, old, new))
    entry = account.entry()
    assert {key: entry[key] for key in mine} == mine
    assert entry["Parameters"] == {**parameters, "metadata_location": new, "previous_metadata_location": old}
    assert (entry["StorageDescriptor"]["SerdeInfo"], entry["StorageDescriptor"]["Compressed"]) == (
        {"Name": "a serializer"}, True,
    )  # fmt: skip
    assert entry["StorageDescriptor"]["Columns"][0]["Comment"] == "the key"


def test_swap_shows_the_new_schema(account: Account) -> None:
    """After a change of the schema the columns shown are those of the new one."""
    account.create()
    schema = {"type": "struct", "schema-id": 1, "fields": [
        {"id": 1, "name": "key", "required": True, "type": "long", "doc": "the key"}]}  # fmt: skip
    updates = ({"action": "add-schema", "schema": schema, "last-column-id": 3},
               {"action": "set-current-schema", "schema-id": -1})  # fmt: skip
    assert_done(account.commits.commit(ORDERS, changing(*updates)))
    columns = account.entry()["StorageDescriptor"]["Columns"]
    assert [(each["Name"], each.get("Comment"), each["Parameters"]["iceberg.field.current"]) for each in columns] == [
        ("key", "the key", "true"), ("id", None, "false"), ("name", None, "false"), ("at", None, "false"),
    ]  # fmt: skip


@pytest.mark.parametrize("skip_archive", [True, False])
def test_what_a_swap_sends(tmp_path: Path, skip_archive: bool) -> None:
    """A commit is one look and one UpdateTable with the version that was read, archiving as the setting says."""
    account = Account(servers.aws().endpoint, tmp_path, skip_archive=skip_archive)
    old = account.create()
    version = account.entry()["VersionId"]
    sent: list[dict[str, Any]] = []
    account.once.meta.events.register(
        "provide-client-params.glue.UpdateTable", lambda params, **_: sent.append(dict(params))
    )
    account.sent.clear()
    assert_done(account.swaps.swap(ORDERS, old, account.copy(old, "00001-b")))
    account.close()
    assert account.sent == {"GetTable": 1, "UpdateTable": 1}
    assert (sent[0]["VersionId"], sent[0]["SkipArchive"], sent[0]["DatabaseName"]) == (version, skip_archive, "shop")


def test_another_catalog(tmp_path: Path) -> None:
    """With `glue.id` every request names that catalog."""
    account = Account(servers.aws().endpoint, tmp_path, catalog_id="210987654321")
    named: list[object] = []
    for client in (account.glue, account.once):
        client.meta.events.register(
            "provide-client-params.glue", lambda params, **_: named.append(params.get("CatalogId"))
        )
    location = account.create()
    assert_done(account.swaps.update_namespace(("shop",), {"owner": "ann"}, ()))
    assert_done(account.swaps.swap(ORDERS, location, account.copy(location, "00001-b")))
    assert len(list(account.pointers.list())) == len(list(account.pointers.list(("shop",)))) == 1
    pointer = account.pointers.find(ORDERS)
    assert pointer is not None
    assert_done(account.swaps.remove(ORDERS, pointer.metadata_location or ""))
    account.close()
    assert set(named) == {"210987654321"}


def test_tables_keep_their_names(account: Account) -> None:
    """A rename is refused with the reason, and nothing is asked or sent."""
    location = account.create()
    account.sent.clear()
    assert_refused(account.swaps.rename(ORDERS, location, Identifier(("shop",), "sales")), "no request that renames")
    assert not account.sent


Verb = Callable[[Account, str], Outcome]
SWAP: Verb = lambda account, old: account.swaps.swap(ORDERS, old, account.copy(old, "00001-mine"))  # noqa: E731
REMOVE: Verb = lambda account, old: account.swaps.remove(ORDERS, old)  # noqa: E731


@pytest.mark.parametrize("verb", [SWAP, REMOVE], ids=["swap", "remove"])
def test_not_where_it_was(account: Account, verb: Verb) -> None:
    """A table that points elsewhere by now is a lost race, one that is gone is a refusal; nothing is sent."""
    old = account.create()
    assert_done(account.swaps.swap(ORDERS, old, account.copy(old, "00001-theirs")))
    account.sent.clear()
    assert said(verb(account, old)) == AGAIN
    account.glue.delete_table(DatabaseName="shop", Name="orders")
    assert_refused(verb(account, old), "there is no table shop.orders")
    assert account.sent == {"GetTable": 2, "DeleteTable": 1}  # the deletion is the test's own


@pytest.mark.parametrize("verb", [SWAP, REMOVE], ids=["swap", "remove"])
def test_no_longer_iceberg(account: Account, verb: Verb) -> None:
    """A table somebody replaced by something else is left alone."""
    old = account.create()
    account.glue.update_table(DatabaseName="shop", TableInput={"Name": "orders", "TableType": "VIRTUAL_VIEW"})
    assert verb(account, old).kind is OutcomeKind.NOT_DONE
    assert account.entry()["TableType"] == "VIRTUAL_VIEW"


def meeting(account: Account, count: int) -> None:
    """Make every commit of this account wait until so many have read the table and are about to write."""
    barrier = threading.Barrier(count)

    def wait(**_: object) -> None:
        barrier.wait(60)

    account.once.meta.events.register("before-call.glue.UpdateTable", wait)


def race(account: Account) -> tuple[list[str], list[str]]:
    """What becomes of twelve commits on one state, and the location each would have gone to."""
    old = account.create()
    new = [account.copy(old, f"00001-{index}") for index in range(WRITERS)]
    meeting(account, WRITERS)
    return [said(each) for each in at_once(WRITERS, lambda i: account.swaps.swap(ORDERS, old, new[i]))], new


def test_race(account: Account) -> None:
    """Of twelve commits that read the same version exactly one is done; the others are lost races, and it stands."""
    found, new = race(account)
    assert sorted(found) == [AGAIN] * (WRITERS - 1) + [DONE]
    assert account.entry()["Parameters"]["metadata_location"] == new[found.index(DONE)]


def test_race_where_versions_are_not_checked(tmp_path: Path) -> None:
    """On a server that ignores VersionId the same race loses acknowledged commits: the race above is a real one."""
    account = Account(servers.stock_aws().endpoint, tmp_path)
    found, new = race(account)
    account.close()
    assert found == [DONE] * WRITERS
    assert len(set(new)) == WRITERS


def test_creation_race(account: Account) -> None:
    """Of twelve tables of one name exactly one is made."""
    old = account.create()
    new = [account.copy(old, f"00000-{index}") for index in range(WRITERS)]
    name = Identifier(("shop",), "fresh")
    found = [said(each) for each in at_once(WRITERS, lambda i: account.swaps.insert(name, new[i]))]
    assert sorted(found) == [DONE] + [NEVER] * (WRITERS - 1)
    assert account.entry(name)["Parameters"]["metadata_location"] == new[found.index(DONE)]


FAULTS = [
    # what happens to the request, whether the server carried it out, and what may be said of it
    (Fault("UpdateTable", 400, "ThrottlingException"), False, AGAIN),
    (Fault("UpdateTable", 400, "ConcurrentModificationException"), False, AGAIN),
    (Fault("UpdateTable", 429, "TooManyRequestsException"), False, AGAIN),
    (Fault("UpdateTable", 400, "EntityNotFoundException"), False, NEVER),
    (Fault("UpdateTable", 400, "AccessDeniedException"), False, NEVER),
    (Fault("UpdateTable", 500, "InternalServiceException"), False, UNKNOWN),
    (Fault("UpdateTable", 500, "InternalServiceException", after=True), True, UNKNOWN),
    (Fault("UpdateTable", 503, "ServiceUnavailable"), False, UNKNOWN),
    (Fault("UpdateTable", 503, "ServiceUnavailable", after=True), True, UNKNOWN),
    (Fault("UpdateTable", 400, "OperationTimeoutException", after=True), True, UNKNOWN),
    (Fault("UpdateTable", None), False, UNKNOWN),
    (Fault("UpdateTable", None, after=True), True, UNKNOWN),
]


@pytest.mark.parametrize(("fault", "moved", "expected"), FAULTS)
def test_faults(bad_line: tuple[Account, Crooked], fault: Fault, moved: bool, expected: str) -> None:
    """Whatever happens to the one request, it is sent once, and what is said of it is never wrong."""
    account, server = bad_line
    old = account.create()
    new = account.copy(old, "00001-b")
    server.faults.append(fault)
    assert said(account.swaps.swap(ORDERS, old, new)) == expected
    assert server.seen["UpdateTable"] == 1
    assert account.entry()["Parameters"]["metadata_location"] == (new if moved else old)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_stall(account: Account, tmp_path: Path, after: bool) -> None:
    """An answer that does not come in time proves nothing, whether the server did the work or not."""
    old = account.create()
    new = account.copy(old, "00001-b")
    with crooked(account.server) as server:
        hasty = Account(server.address, tmp_path, {"read_millis": 300})
        hasty.number = account.number
        server.faults.append(Fault("UpdateTable", None, after=after, stalls=True))
        assert said(hasty.swaps.swap(ORDERS, old, new)) == UNKNOWN
        hasty.close()
    assert server.seen["UpdateTable"] == 1
    while after and account.entry()["Parameters"]["metadata_location"] != new:
        time.sleep(0.01)  # the server may still be at it: that is what unknown means
    assert account.entry()["Parameters"]["metadata_location"] == (new if after else old)


OTHERS: dict[str, Verb] = {
    "CreateTable": lambda account, old: account.swaps.insert(Identifier(("shop",), "fresh"), old),
    "DeleteTable": lambda account, old: account.swaps.remove(ORDERS, old),
    "CreateDatabase": lambda account, _: account.swaps.create_namespace(("fresh",), {}),
    "UpdateDatabase": lambda account, _: account.swaps.update_namespace(("shop",), {"owner": "ann"}, ()),
}  # fmt: skip


@pytest.mark.parametrize("operation", OTHERS)
def test_every_change_is_sent_once(bad_line: tuple[Account, Crooked], operation: str) -> None:
    """A change whose answer is lost is not sent again by itself: the second try would be told of the first."""
    account, server = bad_line
    old = account.create()
    server.seen.clear()
    server.faults.append(Fault(operation, 500, "InternalServiceException", after=True))
    assert said(OTHERS[operation](account, old)) == UNKNOWN
    assert server.seen[operation] == 1


@pytest.mark.parametrize(
    ("code", "expected"), [("ThrottlingException", AGAIN), ("AccessDeniedException", NEVER)]
)  # fmt: skip
def test_a_look_that_fails(bad_line: tuple[Account, Crooked], code: str, expected: str) -> None:
    """When the look before a commit fails nothing is sent; it is worth another try if the server only was busy."""
    account, server = bad_line
    old = account.create()
    for verb in (SWAP, REMOVE):
        server.faults[:] = [Fault("GetTable", 400, code)] * 2
        assert said(verb(account, old)) == expected
    assert server.seen["UpdateTable"] == server.seen["DeleteTable"] == 0


def test_nobody_there(tmp_path: Path) -> None:
    """A server that cannot be reached is not done, with the setting that names it."""
    with crooked("http://127.0.0.1:1") as server:
        address = server.address
    account = Account(address, tmp_path, {"tries": 1})
    location = f"file://{tmp_path}/1.metadata.json"
    outcome = account.swaps.remove(ORDERS, location)
    assert_refused(outcome, address, "glue.endpoint")
    assert_refused(account.swaps.create_namespace(("shop",), {}), "nothing was sent")
    account.close()


def test_no_version(bad_line: tuple[Account, Crooked]) -> None:
    """Where the catalog tells no version, a commit could undo another's without anybody knowing: it is refused."""
    account, server = bad_line
    old = account.create()
    entry = {"Name": "orders", "DatabaseName": "shop", **iceberg(old)}
    server.faults.append(Fault("GetTable", 200, body={"Table": entry}))
    assert_refused(account.swaps.swap(ORDERS, old, account.copy(old, "00001-b")), "gives no version of shop.orders")
    assert server.seen["UpdateTable"] == 0


@pytest.mark.parametrize("verb", [SWAP, REMOVE], ids=["swap", "remove"])
def test_links_are_not_written_through(bad_line: tuple[Account, Crooked], verb: Verb) -> None:
    """A table that is seen through a link belongs to somebody else."""
    account, server = bad_line
    old = account.create()
    entry = {"Name": "orders", "DatabaseName": "theirs", "VersionId": "1", **iceberg(old)}
    server.faults.append(Fault("GetTable", 200, body={"Table": entry}))
    assert_refused(verb(account, old), "shop.orders is a link to a table of somebody else")


def test_namespaces(account: Account) -> None:
    """Location and comment go where Glue has them; everything else is a parameter; nothing else is touched."""
    given = {"location": "s3://lake/shop", "comment": "sales", "owner": "ann"}
    assert_done(account.swaps.create_namespace(("shop",), given))
    found = account.glue.get_database(Name="shop")["Database"]
    assert (found["LocationUri"], found["Description"], found["Parameters"]) == (
        "s3://lake/shop", "sales", {"owner": "ann"},
    )  # fmt: skip
    assert_done(account.swaps.update_namespace(("shop",), {"tier": "gold", "comment": "all sales"}, ("owner", "none")))
    assert account.pointers.namespaces() == {
        ("shop",): {"location": "s3://lake/shop", "comment": "all sales", "tier": "gold"}
    }
    assert_done(account.swaps.update_namespace(("shop",), {}, ("location", "comment", "tier")))
    assert account.pointers.namespaces() == {("shop",): {}}


def test_a_namespace_keeps_what_was_there(account: Account) -> None:
    """Fields of a database that are no properties of ours survive a change."""
    rights = [{"Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}, "Permissions": ["ALL"]}]
    account.database("shop", LocationUri="s3://lake/shop/", CreateTableDefaultPermissions=rights)
    assert_done(account.swaps.update_namespace(("shop",), {"owner": "ann"}, ()))
    found = account.glue.get_database(Name="shop")["Database"]
    assert (found["CreateTableDefaultPermissions"], found["LocationUri"]) == (rights, "s3://lake/shop/")


@pytest.mark.parametrize(
    ("namespace", "words"),
    [(("nowhere",), "there is no namespace nowhere"), (("a", "b"), "there is no namespace a.b"),
     (("linked",), "is a link to a database of somebody else")],
)  # fmt: skip
def test_namespaces_that_cannot_be_changed(account: Account, namespace: tuple[str, ...], words: str) -> None:
    """What is not there, or somebody else's, is not changed."""
    account.database("linked", TargetDatabase=LINK)
    account.sent.clear()
    assert_refused(account.swaps.update_namespace(namespace, {"owner": "ann"}, ()), words)
    assert "UpdateDatabase" not in account.sent


def test_in_turns_with_pyiceberg(tmp_path: Path) -> None:
    """PyIceberg's own Glue catalog reads and changes what we made, and we what it made, in turns."""
    from pyiceberg.catalog.glue import GlueCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    account = Account(servers.aws().endpoint, tmp_path)
    account.number = "123456789012"  # where the local server puts who does not say
    ours = Identifier((f"shop_{uuid4().hex}",), "ours")
    account.create(ours)
    keys = {"client.access-key-id": "testing", "client.secret-access-key": "testing", "client.region": "us-east-1"}
    theirs = GlueCatalog("lake", **{"glue.endpoint": account.server, **keys})
    table = theirs.load_table((*ours.namespace, ours.name))
    with table.transaction() as transaction:
        transaction.set_properties(by="them")
    assert_done(
        account.commits.commit(ours, changing({"action": "set-properties", "updates": {"too": "us"}}, by="them"))
    )
    assert table.refresh().properties == {"by": "them", "too": "us"}
    schema = Schema(NestedField(1, "id", LongType()))
    theirs.create_table((*ours.namespace, "theirs"), schema, f"{account.warehouse}/theirs")
    made = Identifier(ours.namespace, "theirs")
    assert [each.identifier for each in account.pointers.list(ours.namespace)] == [ours, made]
    assert_done(account.commits.commit(made, changing({"action": "set-properties", "updates": {"by": "us"}})))
    assert theirs.load_table((*ours.namespace, "theirs")).properties["by"] == "us"
    theirs.glue.close()
    account.close()
