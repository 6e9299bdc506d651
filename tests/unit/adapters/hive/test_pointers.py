"""Looking into a real metastore, and at what is in it that is not ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.hive.pointers import HivePointers
from firnline.adapters.hive.wire import Fault
from firnline.core.errors import Failed, Partial
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer
from tests import servers
from tests.committing import assert_done, assert_refused
from tests.unit.adapters.hive.lake import Lake, intercept, opened

pytestmark = pytest.mark.spark

ICEBERG = {"table_type": "ICEBERG", "metadata_location": "s3://lake/m.json"}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """An empty database."""
    with opened(servers.metastore().uri, tmp_path) as found:
        yield found


def test_kinds(lake: Lake) -> None:
    """Iceberg tables, views and everything else are told apart; none is left out."""
    lake.put("a_table", **ICEBERG)
    lake.put("b_case", table_type="iceBerg", metadata_location="s3://lake/b.json")
    lake.put("c_hive")
    lake.put("d_pointless", table_type="ICEBERG")
    lake.put("e_view", tableType="VIRTUAL_VIEW")
    lake.put("f_view", tableType="VIRTUAL_VIEW", table_type="ICEBERG-VIEW", metadata_location="s3://lake/f.json")
    lake.put("g_delta", table_type="DELTA", metadata_location="s3://lake/g.json")
    assert list(lake.pointers.list(lake.namespace)) == [
        Pointer(lake.table("a_table"), "s3://lake/m.json"),
        Pointer(lake.table("b_case"), "s3://lake/b.json"),
        Pointer(lake.table("c_hive"), None, "other"),
        Pointer(lake.table("d_pointless"), None, "other"),
        Pointer(lake.table("e_view"), None, "view"),
        Pointer(lake.table("f_view"), "s3://lake/f.json", "view"),
        Pointer(lake.table("g_delta"), None, "other"),
    ]


def test_spelling(lake: Lake) -> None:
    """A table is found under the one name it has; under those the metastore would take for it, there is none."""
    lake.put("orders", **ICEBERG)
    assert lake.pointers.find(lake.table("orders")) is not None
    for name in ("ORDERS", "Orders", " orders", "orders "):
        assert lake.pointers.find(lake.table(name)) is None
    for database in (lake.database.upper(), f" {lake.database}", f"@hive#{lake.database}"):
        assert lake.pointers.find(Identifier((database,), "orders")) is None
        assert list(lake.pointers.list((database,))) == []
    # Asked past all that, the metastore does confuse them.
    assert lake.client.read("get_all_tables", lake.database.upper()) == ["orders"]


def test_listing_is_bounded(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing asks for a bounded number of entries at a time, and reads on only when the caller does."""
    for number in range(5):
        lake.put(f"t{number}", **ICEBERG)
    monkeypatch.setattr("firnline.adapters.hive.pointers.BATCH", 2)
    asked: list[int] = []

    def counted(call: Callable[[], Any], request: Any) -> Any:
        asked.append(len(request.tblNames))
        return call()

    intercept(monkeypatch, "get_table_objects_by_name_req", counted)
    listing = HivePointers(lake.client).list(lake.namespace)
    assert next(listing).identifier == lake.table("t0")
    assert asked == [2]
    assert [each.identifier.name for each in listing] == ["t1", "t2", "t3", "t4"]
    assert asked == [2, 2, 1]


def test_closed_databases(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the whole catalog, a database that may not be listed stops no other, and is named at the end; asked for by
    itself it is an error. Any other error stops at once.
    """
    lake.put("orders", **ICEBERG)
    says = ["Permission denied: user=ann, access=READ"]

    def failing(call: Callable[[], Any], database: str) -> Any:
        if database == "default":
            raise Fault("MetaException", says[0])
        return call()

    intercept(monkeypatch, "get_all_tables", failing)
    found: list[Identifier] = []
    with pytest.raises(Partial, match=r"databases of the metastore .* could not be listed: default") as raised:
        found.extend(each.identifier for each in lake.pointers.list())
    assert "Permission denied: user=ann" in (raised.value.why or "")
    assert lake.table() in found
    with pytest.raises(Failed, match="may not read the tables of default"):
        list(lake.pointers.list(("default",)))
    says[0] = "Unable to open a test connection"
    with pytest.raises(Failed, match="Unable to open a test connection"):
        list(lake.pointers.list())


def test_namespaces(lake: Lake) -> None:
    """A namespace has the properties it was given, the owner among them, and its place."""
    assert_done(lake.commits.update_namespace(lake.namespace, {"tier": "gold"}, ()))
    found = dict(lake.pointers.namespaces()[lake.namespace])
    assert found.pop("hive.metastore.database.owner") == lake.client.user
    assert found == {"tier": "gold", "location": lake.warehouse, "hive.metastore.database.owner-type": "USER"}


def test_comments_of_namespaces(lake: Lake) -> None:
    """A comment is kept when a namespace is made. The metastore of the tests then never changes it, and says that it
    did: we say that it does not, and change nothing else either.
    """
    commented = (f"{lake.database}_c",)
    assert_done(lake.commits.create_namespace(commented, {"comment": "theirs", "location": f"{lake.warehouse}/c"}))
    outcome = lake.commits.update_namespace(commented, {"comment": "ours", "tier": "gold"}, ())
    assert_refused(outcome, "does not change the comment of a namespace")
    found = lake.pointers.namespaces()[commented]
    assert (found["comment"], found.get("tier")) == ("theirs", None)


def test_owners_of_namespaces(lake: Lake) -> None:
    """The owner can be changed, as Iceberg names it; a kind of owner there is not, is refused."""
    owner = {"hive.metastore.database.owner": "staff", "hive.metastore.database.owner-type": "GROUP"}
    assert_done(lake.commits.update_namespace(lake.namespace, owner, ()))
    assert owner.items() <= lake.pointers.namespaces()[lake.namespace].items()
    wrong = {**owner, "hive.metastore.database.owner-type": "GHOST"}
    assert_refused(lake.commits.update_namespace(lake.namespace, wrong, ()), "GHOST", "none of")
