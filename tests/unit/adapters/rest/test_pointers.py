from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from firnline.adapters.rest.client import RestClient
from firnline.adapters.rest.pointers import RestPointers
from firnline.core.errors import BadInput, Blocked, Failed, Partial
from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer
from tests.committing import ID, assert_done
from tests.unit.adapters.rest.benches import Bench, opened
from tests.unit.adapters.rest.scripted import CONFIG, Heard, Say, endpoint, scripted

DIALECTS = ["plain", "glue", "s3tables"]


@pytest.fixture(params=DIALECTS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A catalog of each dialect."""
    with opened(request.param) as made:
        yield made


def test_lists(bench: Bench) -> None:
    """Tables come in order of name with their metadata, one request each, in pages of the catalog's size."""
    names = ["zebra", "ape", "bear"]
    for name in names:
        bench.create(name)
    bench.server.seen.clear()
    found = list(bench.pointers.list(bench.namespace))
    assert [each.identifier.name for each in found] == sorted(names)
    assert all(each.kind == "table" and each.metadata_location for each in found)
    loads = [each for each in bench.server.seen if "snapshots=refs" in each]
    pages = [each for each in bench.server.seen if "pageToken=" in each]
    assert (len(loads), len(pages)) == (3, 2 if bench.dialect == "plain" else 1)  # and the views, where there are any
    whole = set()
    with suppress(Partial):  # the server is shared: other tests' tables have names this dialect does not show
        whole.update(bench.pointers.list())
    assert set(found) <= whole
    assert bench.pointers.find(bench.name("bear")) == found[1]


def test_what_is_not_there(bench: Bench) -> None:
    """Tables and namespaces that are not there, or could not even be, are none; nothing is asked about the latter."""
    assert bench.pointers.find(bench.name("none")) is None
    assert list(bench.pointers.list(("nowhere",))) == []
    bench.server.seen.clear()
    for impossible in (Identifier((), "t"), Identifier((*bench.namespace, ".."), "t"), bench.name("a\x1fb")):
        assert bench.pointers.find(impossible) is None
        assert list(bench.pointers.list(("a", ".."))) == []
    assert bench.server.seen == []


def test_namespaces(bench: Bench) -> None:
    """Namespaces come with their properties."""
    name = (f"{bench.namespace[0]}_owned",)
    assert_done(bench.commits.create_namespace(name, {"owner": "ann"}))
    assert bench.pointers.namespaces()[name]["owner"] == "ann"


def test_a_hidden_table(bench: Bench) -> None:
    """A table nobody may load holds up no other, and is named at the end."""
    for name in ("open", "secret", "zoo"):
        bench.create(name)
    bench.server.hidden.add("secret")
    listing = bench.pointers.list(bench.namespace)
    assert [next(listing).identifier.name, next(listing).identifier.name] == ["open", "zoo"]
    with pytest.raises(Partial, match=r"secret \(ForbiddenException: not yours"):
        next(listing)
    with pytest.raises(Failed, match=f"You may not load the table {bench.name('secret')}"):
        bench.pointers.find(bench.name("secret"))


FORBIDDEN = Say(403, {"error": {"type": "ForbiddenException", "message": "not yours"}})
VIEWS = "GET /v1/{prefix}/namespaces/{namespace}/views"


def guarded(*closed: str, answer: Say = FORBIDDEN) -> Callable[[Heard], Say]:
    """A catalog of the namespaces a, b and c with a table `t` each, which answers what begins like `closed` so."""

    def script(heard: Heard) -> Say:
        path = heard.target.removeprefix("/v1/")
        if path.startswith("config"):
            return Say(body={"endpoints": [VIEWS]})
        if path.startswith(closed):
            return answer
        if path.startswith("namespaces?"):
            return Say(body={"namespaces": [] if "parent=" in path else [["a"], ["b"], ["c"]]})
        if "/tables/" in path:
            return Say(body={"metadata-location": "s3://b/t.json", "metadata": {}})
        if "/tables" in path:
            return Say(body={"identifiers": [{"namespace": ["x"], "name": "t"}]})
        return Say(body={"identifiers": [], "properties": {"owner": "ann"}})

    return script


@pytest.mark.parametrize(
    ("closed", "seen", "named"),
    [
        ("namespaces/b/tables?", ["a.t", "c.t"], r"the tables of b \(ForbiddenException: not yours \(HTTP 403\)\)\."),
        ("namespaces/b/views?", ["a.t", "b.t", "c.t"], r"does not show: the views of b \("),
        ("namespaces?parent=b&", ["a.t", "b.t", "c.t"], r"does not show: the namespaces of b \("),
    ],
)
def test_a_closed_namespace(closed: str, seen: list[str], named: str) -> None:
    """A namespace that may not be listed holds up no other, and is named at the end."""
    found: list[str] = []
    with pytest.raises(Partial, match=named):
        list_whole(guarded(closed), found)
    assert found == seen


def list_whole(script: Callable[[Heard], Say], found: list[str]) -> None:
    """Puts the names of the whole catalog into `found`, one by one: an error leaves what came before it."""
    with scripted(script) as server:
        client = RestClient(endpoint(server.uri), pause=lambda _: None)
        try:
            for each in RestPointers(client).list():
                found.append(str(each.identifier))  # noqa: PERF401 - an error comes in the middle
        finally:
            client.close()


@pytest.mark.parametrize(
    ("closed", "answer"),
    [
        (("namespaces?pageToken",), FORBIDDEN),
        (("namespaces/b/tables?",), Say(403, {"__type": "ExpiredTokenException"})),
        (("namespaces/b/tables/",), Say(403, {"__type": "ExpiredTokenException"})),
        (("namespaces/b/tables?",), Say(403, b"<html>no</html>", {"Content-Type": "text/html"})),
    ],
)
def test_a_closed_catalog(closed: tuple[str, ...], answer: Say) -> None:
    """What is no matter of one namespace is an error at once, and no part of a listing."""
    with pytest.raises((Failed, BadInput)) as raised:
        list_whole(guarded(*closed, answer=answer), [])
    assert not isinstance(raised.value, Partial)


def test_one_closed_namespace() -> None:
    """A namespace that is asked for by name and may not be listed is an error: there is nothing else to show."""
    with scripted(guarded("namespaces/b/")) as server:
        client = RestClient(endpoint(server.uri))
        with pytest.raises(Failed, match="You may not list the tables of b"):
            list(RestPointers(client).list(("b",)))
        client.close()


def test_closed_properties() -> None:
    """A namespace whose properties may not be read is there, without any; nothing would make it again."""
    with scripted(guarded("namespaces/b", "namespaces?parent=b&")) as server:
        client = RestClient(endpoint(server.uri))
        found = RestPointers(client).namespaces()
        client.close()
    assert found == {("a",): {"owner": "ann"}, ("b",): {}, ("c",): {"owner": "ann"}}


def test_views_and_levels() -> None:
    """A plain catalog has views and levels of namespaces, and both are found."""
    with opened("plain") as bench:
        deep = (*bench.namespace, "ÜBER x", "c")
        for length in (2, 3):
            assert_done(bench.commits.create_namespace(deep[:length], {}))
        view = {
            "name": "seen",
            "schema": {"type": "struct", "schema-id": 0, "fields": [ID]},
            "view-version": {
                "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": list(deep),
                "representations": [{"type": "sql", "sql": "SELECT 1 AS a", "dialect": "spark"}],
            },
            "properties": {},
        }  # fmt: skip
        separated = "%1F".join((bench.namespace[0], "%C3%9CBER%20x", "c"))
        assert bench.client.tell("POST", f"namespaces/{separated}/views", body=view).status == 200
        assert deep in bench.pointers.namespaces()
        assert [(each.identifier.name, each.kind) for each in bench.pointers.list(deep)] == [("seen", "view")]
        found = bench.pointers.find(Identifier(deep, "seen"))
        assert (found and found.kind) == "view"


def paged(kind: str, total: int, size: int) -> Callable[[Heard], Say]:
    """A catalog of so many tables in one namespace, which gives out pages of at most so many."""

    def script(heard: Heard) -> Say:
        if "/v1/config" in heard.target:
            return CONFIG
        if "/tables/" in heard.target:
            name = heard.target.split("/tables/")[1].split("?")[0]
            return Say(body={"metadata-location": f"s3://b/{name}.json", "metadata": {}})
        start = int(heard.target.split("pageToken=")[1].split("&")[0] or 0)
        token = str(start + size) if start + size < total else None
        names = [f"t{each:03}" for each in range(start, min(start + size, total))]
        entries: Any = [{"namespace": ["shop"], "name": name} for name in reversed(names)]
        return Say(body={"identifiers" if kind == "tables" else "namespaces": entries, "next-page-token": token})

    return script


def listed(script: Callable[[Heard], Say]) -> list[Pointer]:
    with scripted(script) as server:
        client = RestClient(endpoint(server.uri), pause=lambda _: None)
        try:
            return list(RestPointers(client).list(("shop",)))
        finally:
            client.close()


def test_pages() -> None:
    """250 tables in pages of 100 the server insists on are 250 tables, in order."""
    found = listed(paged("tables", 250, 100))
    assert [each.identifier.name for each in found] == [f"t{each:03}" for each in range(250)]
    assert found[7].metadata_location == "s3://b/t007.json"


def test_a_listing_without_end() -> None:
    """A server that gives the same token for ever is not listened to for ever."""
    endless = Say(body={"identifiers": [], "next-page-token": "x"})
    with pytest.raises(Failed, match="does not come to an end"):
        listed(lambda heard: CONFIG if "config" in heard.target else endless)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Say(404, {"error": {"type": "NoSuchTableException", "message": "gone"}}), []),
        (Say(404, {"error": {"type": "NoSuchIcebergTableException", "message": "Hive"}}), ["other"]),
        (Say(body={"metadata": {}}), ["other"]),
    ],
)
def test_entries_that_are_no_tables(answer: Say, expected: list[str]) -> None:
    """A table dropped meanwhile is left out; one that is not Iceberg's, or says not where it is, is told apart."""

    def script(heard: Heard) -> Say:
        if "/tables/" in heard.target:
            return answer
        return CONFIG if "config" in heard.target else Say(body={"identifiers": [{"namespace": ["shop"], "name": "t"}]})

    assert [each.kind for each in listed(script)] == expected


@pytest.mark.parametrize("page", [{"identifiers": "t"}, {"identifiers": [["shop", "t"]]}, {"tables": []}])
def test_a_listing_of_something_else(page: Any) -> None:
    """JSON of another service is told from an empty catalog."""
    with pytest.raises(BadInput, match="not what an Iceberg REST catalog answers"):
        listed(lambda heard: CONFIG if "config" in heard.target else Say(body=page))


def test_a_server_that_is_tired() -> None:
    """What would meet every table ends the listing at the first one."""

    def script(heard: Heard) -> Say:
        if "/tables/" in heard.target:
            return Say(503)
        return CONFIG if "config" in heard.target else Say(body={"identifiers": [{"namespace": ["shop"], "name": "t"}]})

    with pytest.raises(Blocked, match=r"has too much to do: it could not load the table shop\.t"):
        listed(script)


def test_vended_credentials() -> None:
    """Credentials a catalog vends come with what they are for and until when, the narrowest first; asked for by name,
    and only when the settings want them.
    """
    config = {"s3.access-key-id": "A", "s3.secret-access-key": "sss", "client.region": "eu-west-3"}
    answer = {
        "metadata-location": "s3://b/t.json",
        "metadata": {},
        "config": {**config, "s3.endpoint": "http://127.0.0.1:9", "s3.path-style-access": "true"},
        "storage-credentials": [
            {"prefix": "s3://b", "config": {"s3.session-token": "wide"}},
            {
                "prefix": "s3://b/t",
                "config": {"s3.session-token": "n", "s3.session-token-expires-at-ms": "1700000000000"},
            },
        ],
    }
    with scripted(lambda heard: CONFIG if "config" in heard.target else Say(body=answer)) as server:
        client = RestClient(endpoint(server.uri, vended=True))
        narrow, wide = RestPointers(client).credentials(Identifier(("shop",), "t"))
        assert server.heard[-1].headers["x-iceberg-access-delegation"] == "vended-credentials"
        assert RestPointers(RestClient(endpoint(server.uri))).credentials(Identifier(("shop",), "t")) == ()
        client.close()
    assert (narrow.prefix, narrow.access.token, narrow.until and narrow.until.year) == ("s3://b/t", "n", 2023)
    assert (wide.prefix, wide.access.token, wide.until) == ("s3://b", "wide", None)
    assert (wide.access.region, wide.access.endpoint, wide.access.path_style) == (
        "eu-west-3",
        "http://127.0.0.1:9",
        True,
    )
    assert "sss" not in repr(wide)
