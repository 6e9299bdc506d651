from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from firnline.core.ids import Identifier
from firnline.loop.values import Outcome, OutcomeKind
from tests.committing import (
    AT,
    BY_DAY,
    BY_ID,
    ID,
    NAME,
    SCHEMA,
    assert_done,
    assert_refused,
    changing,
    properties,
    requiring,
    with_fields,
)
from tests.rest_strict import Mishap
from tests.unit.adapters.rest.benches import Bench, opened

UUID = "6f0e5d3c-0000-4000-8000-000000000001"
TOTAL = {"id": 4, "name": "total", "required": False, "type": "double"}
LAST = {"action": "set-current-schema", "schema-id": -1}


@pytest.fixture(params=["plain", "glue", "s3tables"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A catalog of each dialect."""
    with opened(request.param) as made:
        yield made


@pytest.fixture
def plain() -> Iterator[Bench]:
    """A plain catalog."""
    with opened("plain") as made:
        yield made


def writes(bench: Bench) -> list[str]:
    return [each for each in bench.server.seen if not each.startswith("GET")]


def test_create(bench: Bench) -> None:
    """A new table has its columns, layout and properties by the declared ids, whoever numbered them."""
    request = bench.creating(spec=BY_DAY, order=BY_ID, properties={"owner": "ann"}, uuid=UUID)
    outcome = assert_done(bench.commits.commit(bench.name(), request))
    loaded = bench.loaded()
    assert outcome.facts["metadata-location"] == loaded.location
    metadata = loaded.metadata
    assert metadata["schemas"][0]["fields"] == SCHEMA["fields"]
    assert metadata["partition-specs"][0]["fields"][0]["source-id"] == 3
    assert metadata["sort-orders"][0]["fields"][0]["source-id"] == 1
    assert metadata["properties"]["owner"] == "ann"
    if bench.dialect == "plain":
        assert metadata["table-uuid"] == UUID
    else:  # createTable takes no uuid: the outcome tells the one there is
        assert outcome.facts["uuid"] == metadata["table-uuid"]
    assert_refused(bench.commits.commit(bench.name(), request), "xists")
    assert bench.loaded().location == loaded.location


def test_create_without_namespace(bench: Bench) -> None:
    """A table in a namespace that is not there is refused, though the server would make it."""
    outcome = bench.commits.commit(Identifier(("nowhere",), "t"), bench.creating())
    assert_refused(outcome, "there is no namespace nowhere")
    assert writes(bench) == []


def test_create_where_the_server_says(plain: Bench) -> None:
    """Without a location the server chooses one, and the table still has the uuid our commit is found by."""
    request = plain.creating(uuid=UUID)
    without = tuple(update for update in request.updates if update["action"] != "set-location")
    assert_done(plain.commits.commit(plain.name(), type(request)(request.requirements, without)))
    loaded = plain.loaded()
    assert (loaded.metadata["table-uuid"], loaded.metadata["location"].endswith("/orders")) == (UUID, True)
    plain.server.mishaps.append(Mishap())
    outcome = plain.commits.commit(plain.name("new"), type(request)(request.requirements, without))
    assert_refused(outcome, "did not say where the table would lie")
    assert plain.pointers.find(plain.name("new")) is None


@pytest.mark.parametrize("version", [1, 2, 3])
def test_formats(plain: Bench, version: int) -> None:
    """Every format is made and changed without a JVM."""
    plain.create(version=version)
    assert_done(plain.commits.commit(plain.name(), properties(owner="ann")))
    metadata = plain.loaded().metadata
    assert (metadata["format-version"], metadata["properties"]["owner"]) == (version, "ann")


def test_one_version(plain: Bench) -> None:
    """However much a request changes, it is one metadata version."""
    plain.create(properties={"doomed": "yes"})
    first = plain.loaded().location
    request = changing(
        with_fields(ID, {**NAME, "name": "label"}, AT, TOTAL),
        LAST,
        {"action": "add-spec", "spec": BY_DAY},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "set-properties", "updates": {"größe": "🐘"}},
        {"action": "remove-properties", "removals": ["doomed", "never there"]},
    )
    outcome = assert_done(plain.commits.commit(plain.name(), request))
    loaded = plain.loaded()
    assert outcome.facts == {"metadata-location": loaded.location}
    assert [each["metadata-file"] for each in loaded.metadata["metadata-log"]] == [first]
    assert loaded.metadata["properties"].get("größe") == "🐘"
    assert "doomed" not in loaded.metadata["properties"]


def test_changing_nothing(bench: Bench) -> None:
    """A request that changes nothing is done, makes no version, and says so; the server may know it better than we."""
    bench.create(properties={"owner": "ann"})
    first = bench.loaded().location
    again = with_fields(ID, NAME, AT)
    for request in (changing({"action": "remove-properties", "removals": ["absent"]}), changing(again, LAST)):
        outcome = assert_done(bench.commits.commit(bench.name(), request))
        assert outcome.facts == {"metadata-location": first, "changed": False}
    assert bench.loaded().location == first


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (requiring({"type": "assert-table-uuid", "uuid": UUID}), "Requirement failed"),
        (requiring({"type": "assert-weather"}), "knows no requirement"),
        (changing({"action": "no-such-action"}), "knows no update"),
        (changing({"action": "set-properties", "updates": {"owner": "x"}}, owner="bob"), "Requirement failed"),
        (changing({"action": "set-current-schema", "schema-id": -1}), "adds none"),
    ],
    ids=str,
)
def test_refused_before_anything_is_sent(bench: Bench, request_: Any, words: str) -> None:
    """What cannot be done on this table is refused by looking at it, and nothing is sent."""
    bench.create()
    bench.server.seen.clear()
    assert_refused(bench.commits.commit(bench.name(), request_), words)
    assert writes(bench) == []


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-current-schema", "schema-id": 9},
        {"action": "set-snapshot-ref", "ref-name": "x", "type": "tag", "snapshot-id": 9},
        {
            "action": "add-spec",
            "spec": {"fields": [{"source-id": 9, "field-id": 1000, "transform": "day", "name": "x"}]},
        },
    ],
    ids=lambda update: str(update["action"]),
)
def test_what_the_server_refuses(plain: Bench, update: dict[str, Any]) -> None:
    """What makes no sense to the server is refused, and leaves the table as it was."""
    plain.create()
    first = plain.loaded().location
    assert_refused(plain.commits.commit(plain.name(), changing(update)))
    assert plain.loaded().location == first


IMPOSSIBLE: list[tuple[str, str, Any]] = [
    ("glue", "drop", True),
    ("s3tables", "drop", False),
    ("glue", "rename", "sales"),
    ("s3tables", "rename", "Sales"),
    ("glue", "create", {"location": "s3a://lake/x"}),
    ("glue", "create", {"location": ""}),
    ("s3tables", "create", {"location": "s3://lake/x"}),
    ("s3tables", "create", {"version": 1}),
    ("glue", "name", "Orders"),
    ("s3tables", "name", "or-ders"),
    ("glue", "namespace", ("a", "b")),
    ("s3tables", "namespace", ("a", "b")),
    ("s3tables", "namespace properties", {"note": "x"}),
    ("s3tables", "update namespace", {"owner": "x"}),
    ("s3tables", "change", (with_fields({**ID, "required": False}, NAME, AT, TOTAL), LAST)),
    ("s3tables", "change", ({"action": "set-location", "location": "s3://lake/y"},)),
    ("glue", "change", ({"action": "set-location", "location": "s3a://lake/y"},)),
    ("glue", "create", {"schema": {**SCHEMA, "fields": [{**ID, "id": 7}, NAME, AT]}}),
]


@pytest.mark.parametrize(("dialect", "what", "given"), IMPOSSIBLE)
def test_what_a_dialect_cannot_do(dialect: str, what: str, given: Any) -> None:
    """What a kind of catalog cannot do is refused by a sentence that says so, before anything is tried."""
    with opened(dialect) as bench:
        bench.create()
        bench.server.seen.clear()
        assert_refused(_tried(bench, what, given))
        assert writes(bench) == []


def _tried(bench: Bench, what: str, given: Any) -> Outcome:
    commits = bench.commits
    match what:
        case "drop":
            return commits.drop(bench.name(), str(bench.loaded().metadata["table-uuid"]), purge=given)
        case "rename":
            return commits.rename(bench.name(), str(bench.loaded().metadata["table-uuid"]), bench.name(given))
        case "create":
            from tests.committing import creating

            place = "" if bench.dialect == "s3tables" else "s3://lake/x"
            return commits.commit(bench.name("new"), creating(**{"location": place, **given}))
        case "name":
            return commits.commit(bench.name(given), bench.creating())
        case "namespace":
            return commits.create_namespace(given, {})
        case "namespace properties":
            return commits.create_namespace(("new",), given)
        case "update namespace":
            return commits.update_namespace(bench.namespace, given, ())
        case _:
            return commits.commit(bench.name(), changing(*given))


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "what", "given"), IMPOSSIBLE[:17])
def test_the_strict_server_would_refuse_it(
    dialect: str, what: str, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of the tests: without our rules the strict server refuses the same requests."""
    from firnline.adapters.rest import creating, dialects

    with opened(dialect) as bench:
        bench.create()
        for rule in ("bad_namespace", "bad_table", "bad_namespace_properties", "bad_namespace_update", "bad_drop",
                     "bad_rename", "bad_creation", "bad_change"):  # fmt: skip
            monkeypatch.setattr(dialects, rule, lambda *_, **__: None)
        monkeypatch.setattr(creating, "_check_numbers", lambda _: None)
        assert_refused(_tried(bench, what, given), "HTTP 4")


def test_lost_race(plain: Bench) -> None:
    """Of many writers with one requirement each time exactly one wins, and none loses another's change."""
    plain.create()
    request = changing(with_fields(ID, NAME, AT, TOTAL), LAST)
    guarded = type(request)(({"type": "assert-current-schema-id", "current-schema-id": 0},), request.updates)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: plain.commits.commit(plain.name(), guarded), range(8)))
    assert [each.kind for each in outcomes].count(OutcomeKind.DONE) == 1
    assert all(each.kind is OutcomeKind.NOT_DONE for each in outcomes if each.kind is not OutcomeKind.DONE)


APPLIED, NOT_APPLIED = True, False
MISHAPS: list[tuple[Mishap, OutcomeKind, bool, bool]] = [
    (Mishap(500), OutcomeKind.UNKNOWN, False, NOT_APPLIED),
    (Mishap(500, after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(502, after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(503), OutcomeKind.UNKNOWN, False, NOT_APPLIED),
    (Mishap(503, after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(503, headers={"Retry-After": "1"}), OutcomeKind.NOT_DONE, True, NOT_APPLIED),
    (Mishap(504, after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(), OutcomeKind.UNKNOWN, False, NOT_APPLIED),
    (Mishap(after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(after=True, cut=True), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(after=True, declared=10), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(after=True, declared=10**6), OutcomeKind.UNKNOWN, False, APPLIED),
    (Mishap(400, b'{"__type":"ThrottlingException"}'), OutcomeKind.NOT_DONE, True, NOT_APPLIED),
    (Mishap(429), OutcomeKind.NOT_DONE, True, NOT_APPLIED),
    (Mishap(409), OutcomeKind.NOT_DONE, True, NOT_APPLIED),
    (Mishap(403), OutcomeKind.NOT_DONE, False, NOT_APPLIED),
    (Mishap(200, b'{"Output":{"__type":"a#UnknownOperationException"}}'), OutcomeKind.NOT_DONE, False, NOT_APPLIED),
]


@pytest.mark.parametrize(("mishap", "kind", "retryable", "applied"), MISHAPS)
def test_mishaps(plain: Bench, mishap: Mishap, kind: OutcomeKind, retryable: bool, applied: bool) -> None:
    """Whatever happens to a commit on its way, the outcome claims no more than what is known, and it was sent once."""
    plain.create()
    plain.server.seen.clear()
    plain.server.mishaps.append(mishap)
    outcome = plain.commits.commit(plain.name(), properties(owner="ann"))
    assert (outcome.kind, outcome.retryable) == (kind, retryable), outcome
    assert len(writes(plain)) == 1
    assert ("owner" in plain.loaded().metadata["properties"]) is applied


def test_mishaps_of_other_changes(plain: Bench) -> None:
    """Drops, creations and changes of namespaces are as careful."""
    plain.create()
    uuid = str(plain.loaded().metadata["table-uuid"])
    tries = {
        "drop": lambda: plain.commits.drop(plain.name(), uuid, purge=False),
        "create": lambda: plain.commits.commit(plain.name("new"), plain.creating("new")),
        "namespace": lambda: plain.commits.create_namespace((f"{plain.namespace[0]}_new",), {}),
        "properties": lambda: plain.commits.update_namespace(plain.namespace, {"a": "b"}, ()),
    }
    for name, attempt in tries.items():
        plain.server.mishaps.append(Mishap(500))
        assert attempt().kind is OutcomeKind.UNKNOWN, name
    for name, attempt in tries.items():
        assert attempt().kind is OutcomeKind.DONE, name


def test_drop(bench: Bench) -> None:
    """A dropped table is out of the catalog, whichever way its dialect drops; another table of the name is not."""
    bench.create()
    purge = bench.dialect == "s3tables"
    uuid = str(bench.loaded().metadata["table-uuid"])
    assert_refused(bench.commits.drop(bench.name(), UUID, purge=purge), "Requirement failed", "another table")
    assert_refused(bench.commits.drop(bench.name("none"), uuid, purge=purge), "there is no table")
    assert_done(bench.commits.drop(bench.name(), uuid, purge=purge))
    assert bench.pointers.find(bench.name()) is None


@pytest.mark.parametrize("dialect", ["plain", "s3tables"])
def test_rename(dialect: str) -> None:
    """A renamed table is the same under its new name; another table of the old one, and a taken name, are refused."""
    with opened(dialect) as bench:
        bench.create("sales")
        bench.create()
        before = bench.loaded()
        uuid = str(before.metadata["table-uuid"])
        bench.server.seen.clear()
        assert_refused(
            bench.commits.rename(bench.name(), UUID, bench.name("new")), "Requirement failed", "another table"
        )
        assert_refused(bench.commits.rename(bench.name(), uuid, Identifier(("nowhere",), "t")), "there is no namespace")
        assert writes(bench) == []
        assert_refused(bench.commits.rename(bench.name(), uuid, bench.name("sales")), "xists")
        assert_done(bench.commits.rename(bench.name(), uuid, bench.name("new")))
        assert bench.pointers.find(bench.name()) is None
        assert bench.loaded("new").location == before.location


def test_a_rename_that_is_not_offered(plain: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says what it has, and names no rename, is not asked for one."""
    plain.create()
    config = plain.client.config
    without = frozenset(each for each in config.endpoints or () if not each.endswith("/rename"))
    monkeypatch.setattr(plain.client, "_config", replace(config, endpoints=without))
    plain.server.seen.clear()
    assert_refused(plain.commits.rename(plain.name(), UUID, plain.name("new")), "does not rename tables")
    assert writes(plain) == []


@pytest.mark.parametrize(
    ("mishap", "kind", "retryable", "applied"),
    [
        (Mishap(409), OutcomeKind.NOT_DONE, False, NOT_APPLIED),
        (Mishap(406), OutcomeKind.NOT_DONE, False, NOT_APPLIED),
        (Mishap(429), OutcomeKind.NOT_DONE, True, NOT_APPLIED),
        (Mishap(500), OutcomeKind.UNKNOWN, False, NOT_APPLIED),
        (Mishap(503, after=True), OutcomeKind.UNKNOWN, False, APPLIED),
        (Mishap(after=True), OutcomeKind.UNKNOWN, False, APPLIED),
    ],
)
def test_mishaps_of_a_rename(plain: Bench, mishap: Mishap, kind: OutcomeKind, retryable: bool, applied: bool) -> None:
    """A conflict is about the name, and sending the rename again would meet it again; the rest is as for commits."""
    plain.create()
    uuid = str(plain.loaded().metadata["table-uuid"])
    plain.server.seen.clear()
    plain.server.mishaps.append(mishap)
    outcome = plain.commits.rename(plain.name(), uuid, plain.name("new"))
    assert (outcome.kind, outcome.retryable) == (kind, retryable), outcome
    assert len(writes(plain)) == 1
    assert (plain.pointers.find(plain.name("new")) is not None) is applied


def test_purge_refused(plain: Bench) -> None:
    """Files a table says are not its own to delete are not deleted."""
    plain.create(properties={"gc.enabled": "FALSE"})
    uuid = str(plain.loaded().metadata["table-uuid"])
    assert_refused(plain.commits.drop(plain.name(), uuid, purge=True), "gc.enabled=false")
    assert_done(plain.commits.drop(plain.name(), uuid, purge=False))


def test_namespaces(plain: Bench) -> None:
    """A namespace is made once, changed, and refused when it is not there."""
    commits, name = plain.commits, (f"{plain.namespace[0]}_lab", "raw x")
    assert_done(commits.create_namespace(name, {"owner": "ann", "note": "x"}))
    assert_refused(commits.create_namespace(name, {}), "exists already")
    assert_done(commits.update_namespace(name, {"owner": "bob"}, ("note", "never there")))
    found = plain.pointers.namespaces()[name]
    assert (found["owner"], "note" in found) == ("bob", False)
    assert_done(commits.update_namespace(name, {}, ()))
    assert_refused(commits.update_namespace(("none",), {"a": "b"}, ()), "there is no namespace none")
    assert_refused(commits.update_namespace(("none",), {}, ()), "there is no namespace none")
    assert_refused(commits.update_namespace(name, {"a": "b"}, ("a",)), "HTTP 422")
    assert_refused(commits.create_namespace((), {}))


def test_a_server_that_is_gone(plain: Bench) -> None:
    """A catalog that does not answer at all has done nothing."""
    from firnline.adapters.rest.client import RestClient
    from firnline.adapters.rest.commits import RestCommits
    from tests.unit.adapters.rest.scripted import endpoint

    client = RestClient(endpoint("http://127.0.0.1:1"), pause=lambda _: None)
    assert_refused(RestCommits(client).commit(plain.name(), properties(a="b")), "cannot be reached")


@pytest.mark.parametrize(
    "update",
    [{"action": "add-schema", "schema": {"type": "struct", "fields": [7]}}, {"action": "add-schema"},
     {"action": "set-location"}, {"action": "upgrade-format-version", "format-version": "new"},
     {"action": "set-properties"}],
    ids=str,
)  # fmt: skip
def test_requests_nobody_can_read(bench: Bench, update: dict[str, Any]) -> None:
    """A saved plan may hold anything: what cannot be read is refused, for new tables and for those there are."""
    bench.create()
    assert bench.commits.commit(bench.name(), changing(update)).kind is OutcomeKind.NOT_DONE
    request = bench.creating("new")
    spoilt = type(request)(request.requirements, (*request.updates, update))
    assert bench.commits.commit(bench.name("new"), spoilt).kind is OutcomeKind.NOT_DONE


def test_a_catalog_that_makes_something_else() -> None:
    """A new table that came out otherwise than asked for is not called done, and what differs is named."""
    from firnline.adapters.rest import creating
    from tests.committing import creating as request

    asked = creating.of(request("s3://b/t", spec=BY_DAY, order=BY_ID, properties={"a": "b"}).updates)
    body = asked.body("t")
    made = {
        "format-version": 2, "location": "s3://b/t/", "current-schema-id": 0, "schemas": [body["schema"]],
        "default-spec-id": 0, "partition-specs": [{**body["partition-spec"], "spec-id": 0}], "default-sort-order-id": 1,
        "sort-orders": [body["write-order"]], "properties": {"a": "b", "more": "c"},
    }  # fmt: skip
    assert creating.differences(asked, made) == ()
    other = json.loads(json.dumps(made).replace('"id": 1, "name": "id"', '"id": 9, "name": "id"'))
    assert creating.differences(asked, other) == ("columns",)
    bare = {**made, "default-spec-id": 7, "default-sort-order-id": 0, "properties": {}, "location": "s3://b/x",
            "format-version": 1}  # fmt: skip
    assert creating.differences(asked, bare) == ("partitions", "order", "format version", "location", "properties")
