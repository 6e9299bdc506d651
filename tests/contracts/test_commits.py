"""The port `Commits`, over both committers: PyIceberg's model without a JVM, and Iceberg's own Java classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.iceberg.commits import PyIcebergCommits
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.store import LocalStore
from firnline.adapters.routing import Heavy
from firnline.core.ids import Identifier
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind
from tests.committing import (
    AT,
    BY_DAY,
    BY_ID,
    CATALOG,
    ID,
    NAME,
    ORDERS,
    SCHEMA,
    UNPARTITIONED,
    UNSORTED,
    Between,
    Shelf,
    assert_done,
    assert_refused,
    changing,
    creating,
    normal,
    properties,
    requiring,
    with_fields,
)  # fmt: skip

TOTAL = {"id": 4, "name": "total", "required": False, "type": "decimal(12, 2)", "doc": "with tax"}
LAST = -1
EVOLUTION: dict[str, tuple[Mapping[str, Any], ...]] = {
    "everything at once": (
        with_fields(ID, {**NAME, "name": "label"}, AT, TOTAL, **{"identifier-field-ids": [1]}),
        {"action": "set-current-schema", "schema-id": LAST},
        {"action": "add-spec", "spec": BY_DAY},
        {"action": "set-default-spec", "spec-id": LAST},
        {"action": "add-sort-order", "sort-order": BY_ID},
        {"action": "set-default-sort-order", "sort-order-id": LAST},
        {"action": "set-properties", "updates": {"owner": "ann", "größe": "🐘"}},
        {"action": "remove-properties", "removals": ["doomed", "never there"]},
    ),
    "properties alone": ({"action": "set-properties", "updates": {"owner": "bob"}},),
    "a schema there was": (
        {"action": "add-schema", "schema": dict(SCHEMA), "last-column-id": 4},
        {"action": "set-current-schema", "schema-id": LAST},
    ),
    "the spec and order there were": (
        {"action": "add-spec", "spec": UNPARTITIONED},
        {"action": "set-default-spec", "spec-id": LAST},
        {"action": "add-sort-order", "sort-order": UNSORTED},
        {"action": "set-default-sort-order", "sort-order-id": LAST},
    ),
    "another place": ({"action": "set-location", "location": "{warehouse}/moved"},),
}


class LightInTurns(PyIcebergCommits):
    """The committer without a JVM, with something happening between its reading and its swap."""

    between: Between = staticmethod(lambda: None)

    def _publish(self, *values: Any) -> Outcome:
        self.between()
        return super()._publish(*values)


@dataclass
class Bench:
    """A catalog, one committer on it, and the format to make tables in."""

    shelf: Shelf
    version: int
    open: Callable[[Between], Heavy]

    def commit(
        self, request: CommitRequest, identifier: Identifier = ORDERS, between: Between = lambda: None
    ) -> Outcome:
        return self.open(between).commit(identifier, request)

    def create(self, identifier: Identifier = ORDERS, **more: Any) -> str:
        request = creating(f"{self.shelf.warehouse}/{identifier.name}", version=self.version, **more)
        outcome = assert_done(self.commit(request, identifier))
        assert outcome.facts["metadata-location"] == self.shelf.location(identifier)
        return self.shelf.location(identifier)

    def files(self) -> set[str]:
        return {str(path) for path in Path(self.shelf.warehouse.removeprefix("file://")).rglob("*.json")}

    def append(self) -> int:
        """One row, by PyIceberg or by Spark; the snapshot's id."""
        self.write()
        return int(self.shelf.metadata()["current-snapshot-id"])

    write: Callable[[], object] = lambda: None


def _light(folder: Path, version: int) -> Bench:
    shelf = Shelf(folder)

    def opened(between: Between) -> Heavy:
        commits = LightInTurns(shelf.pointers, shelf.swaps, LocalBlobs(), LocalStore())
        commits.between = between
        return commits

    def write() -> None:
        import pyarrow as pa

        catalog = shelf.sql_catalog()
        schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
        catalog.load_table("shop.orders").append(pa.table({"id": [1], "name": ["a"]}, schema=schema))
        catalog.engine.dispose()

    return Bench(shelf, version, opened, write)


def _spark(folder: Path, version: int) -> Bench:
    from firnline.adapters.spark.commits import SparkCommits
    from tests.sparklake import spark_lake

    lake = spark_lake(folder)

    class SparkInTurns(SparkCommits):
        between: Between = staticmethod(lambda: None)

        def _stage(self, *values: Any) -> Any:
            staged = super()._stage(*values)
            self.between()
            return staged

    def opened(between: Between) -> Heavy:
        commits = SparkInTurns(lake.session, CATALOG)
        commits.between = between
        return commits

    return Bench(Shelf(folder), version, opened, lambda: lake.sql("INSERT INTO lake.shop.orders VALUES (1, 'a', NULL)"))


COMMITTERS = [
    pytest.param((_light, 1), id="light v1"),
    pytest.param((_light, 2), id="light v2"),
    pytest.param((_spark, 2), id="spark v2", marks=pytest.mark.spark),
    pytest.param((_spark, 3), id="spark v3", marks=pytest.mark.spark),
]


@pytest.fixture(params=COMMITTERS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """A catalog with the namespace `shop` in it, and a committer."""
    make, version = request.param
    made: Bench = make(tmp_path / "project", version)
    assert_done(made.shelf.light.create_namespace(("shop",), {}))
    return made


def _filled(updates: tuple[Mapping[str, Any], ...], bench: Bench) -> CommitRequest:
    filled = [
        {
            key: value.format(warehouse=bench.shelf.warehouse) if key == "location" else value
            for key, value in each.items()
        }
        for each in updates
    ]
    return changing(*filled)


def test_create(bench: Bench) -> None:
    """A new table is in the catalog with its schema, spec, order, properties and uuid, in its first metadata file."""
    uuid = "6f0e5d3c-0000-4000-8000-000000000001"
    location = bench.create(spec={**BY_DAY, "spec-id": 7}, order=BY_ID, properties={"owner": "ann"}, uuid=uuid)
    metadata = bench.shelf.metadata()
    assert location.rsplit("/", 1)[-1].startswith("00000-")
    assert (metadata["format-version"], metadata["table-uuid"]) == (bench.version, uuid)
    assert metadata["schemas"][0]["fields"] == SCHEMA["fields"]
    assert (metadata["partition-specs"][0]["spec-id"], metadata["sort-orders"][0]["order-id"]) == (0, 1)
    assert metadata["properties"]["owner"] == "ann"
    assert (metadata.get("snapshots") or [], metadata.get("metadata-log") or []) == ([], [])


def test_create_what_is_there(bench: Bench) -> None:
    """A name that is taken is refused, and what is there is not touched."""
    location = bench.create()
    assert_refused(bench.commit(creating(f"{bench.shelf.warehouse}/again", version=bench.version)))
    assert bench.shelf.location() == location


def test_create_without_namespace(bench: Bench) -> None:
    """No table without a namespace, and no file of it either."""
    before = bench.files()
    missing = Identifier(("nowhere",), "t")
    assert_refused(bench.commit(creating(f"{bench.shelf.warehouse}/t", version=bench.version), missing), "nowhere")
    assert bench.files() == before


def test_create_raced(bench: Bench) -> None:
    """Of two that create one name the second is told so, and the first one's table stands."""

    def theirs() -> None:
        assert_done(bench.shelf.light.commit(ORDERS, creating(f"{bench.shelf.warehouse}/theirs", version=2)))

    outcome = bench.commit(creating(f"{bench.shelf.warehouse}/ours", version=bench.version), between=theirs)
    assert outcome.kind is OutcomeKind.NOT_DONE, outcome
    assert bench.shelf.metadata()["location"] == f"{bench.shelf.warehouse}/theirs"


def test_one_version(bench: Bench) -> None:
    """However much a request changes, it is one metadata version: schema, spec, order, properties together."""
    first = bench.create(properties={"doomed": "yes", "stays": "yes"})
    outcome = assert_done(bench.commit(_filled(EVOLUTION["everything at once"], bench)))
    metadata = bench.shelf.metadata()
    assert outcome.facts["metadata-location"] == bench.shelf.location()
    assert [entry["metadata-file"] for entry in metadata["metadata-log"]] == [first]
    current = next(one for one in metadata["schemas"] if one["schema-id"] == metadata["current-schema-id"])
    assert [(field["id"], field["name"]) for field in current["fields"]] == [
        (1, "id"),
        (2, "label"),
        (3, "at"),
        (4, "total"),
    ]
    assert current["identifier-field-ids"] == [1]
    assert (metadata["current-schema-id"], metadata["default-spec-id"], metadata["default-sort-order-id"]) == (1, 1, 1)
    assert metadata["last-column-id"] == 4
    kept = {key: value for key, value in metadata["properties"].items() if not key.startswith("write.")}
    assert kept == {"stays": "yes", "owner": "ann", "größe": "🐘"}


def test_changing_nothing(bench: Bench) -> None:
    """A request that changes nothing is done, makes no version, and says so."""
    first = bench.create(properties={"owner": "ann"})
    outcome = assert_done(bench.commit(changing({"action": "remove-properties", "removals": ["absent"]})))
    assert outcome.facts == {"metadata-location": first, "changed": False}
    assert bench.shelf.location() == first


def test_no_such_table(bench: Bench) -> None:
    """A change of a table that is not there is refused."""
    assert_refused(bench.commit(properties(owner="ann")))


@pytest.mark.parametrize(
    "requirement",
    [
        {"type": "assert-create"},
        {"type": "assert-table-uuid", "uuid": "6f0e5d3c-0000-4000-8000-00000000dead"},
        {"type": "assert-current-schema-id", "current-schema-id": 9},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 9},
        {"type": "assert-default-spec-id", "default-spec-id": 9},
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 9_999},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 9},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 9},
        {"type": "assert-no-such-thing", "value": 9},
    ],
    ids=lambda requirement: requirement["type"],
)
def test_broken_requirement(bench: Bench, requirement: dict[str, Any]) -> None:
    """One requirement that does not hold, or that nobody knows, and nothing is done, nor is it worth another try."""
    first, files = bench.create(), bench.files()
    assert_refused(bench.commit(requiring(requirement)))
    assert bench.shelf.location() == first
    assert bench.files() == files


def test_requirements_that_hold(bench: Bench) -> None:
    """Requirements that hold are in nobody's way, the absence of a ref among them."""
    uuid = "6f0e5d3c-0000-4000-8000-000000000001"
    bench.create(uuid=uuid)
    metadata = bench.shelf.metadata()
    held = requiring(
        {"type": "assert-table-uuid", "uuid": uuid},
        {"type": "assert-current-schema-id", "current-schema-id": 0},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
        {"type": "assert-default-spec-id", "default-spec-id": 0},
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": metadata["last-partition-id"]},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None},
    )
    assert_done(bench.commit(held))
    assert bench.shelf.metadata()["properties"]["required"] == "yes"


@pytest.mark.parametrize(
    ("expect", "sentence"),
    [
        ({"owner": "bob"}, "the property owner was expected as 'bob' and is as 'ann'"),
        ({"owner": None}, "the property owner was expected to be absent and is as 'ann'"),
        ({"absent": "x"}, "the property absent was expected as 'x' and is to be absent"),
        ({"owner": "ann", "absent": None}, None),
    ],
)
def test_expected_properties(bench: Bench, expect: dict[str, str | None], sentence: str | None) -> None:
    """A property that is not as it was planned on refuses the request: the specification has no requirement for it."""
    first = bench.create(properties={"owner": "ann"})
    outcome = bench.commit(changing({"action": "set-properties", "updates": {"owner": "cyd"}}, **expect))
    if sentence is None:
        assert_done(outcome)
    else:
        assert_refused(outcome, "Requirement failed", sentence)
        assert bench.shelf.location() == first


def test_lost_race(bench: Bench) -> None:
    """Whoever swaps second has done nothing, may send the same again, and takes nothing of the first one's away."""
    bench.create()
    request = properties(ours="yes")
    outcome = bench.commit(request, between=lambda: assert_done(bench.commit(THEIRS)))
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, True), outcome
    assert "ours" not in bench.shelf.metadata()["properties"]
    assert_done(bench.commit(request))
    kept = bench.shelf.metadata()["properties"]
    assert (kept["ours"], kept["theirs"]) == ("yes", "yes")


THEIRS = properties(theirs="yes")


def test_dropped_meanwhile(bench: Bench) -> None:
    """A table that goes before the swap does not come back."""
    uuid = "6f0e5d3c-0000-4000-8000-000000000001"
    bench.create(uuid=uuid)
    outcome = bench.commit(
        properties(ours="yes"), between=lambda: assert_done(bench.shelf.light.drop(ORDERS, uuid, purge=False))
    )
    assert outcome.kind is OutcomeKind.NOT_DONE, outcome
    assert bench.shelf.pointers.find(ORDERS) is None


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-current-schema", "schema-id": 9},
        {"action": "set-current-schema", "schema-id": LAST},
        {"action": "set-default-spec", "spec-id": 9},
        {
            "action": "add-spec",
            "spec": {"fields": [{"source-id": 9, "field-id": 1000, "transform": "day", "name": "x"}]},
        },
        {"action": "set-snapshot-ref", "ref-name": "x", "type": "tag", "snapshot-id": 9},
        {"action": "no-such-action"},
    ],
    ids=lambda update: f"{update['action']}",
)
def test_what_cannot_be_done(bench: Bench, update: dict[str, Any]) -> None:
    """A request that makes no sense for this table is refused, and leaves nothing behind."""
    first, files = bench.create(), bench.files()
    assert_refused(bench.commit(changing(update)))
    assert bench.shelf.location() == first
    assert bench.files() == files


def test_refs(bench: Bench) -> None:
    """Branches and tags come with their retention, move, and go, in the same commit as everything else."""
    bench.create()
    first = bench.append()
    second = bench.append()
    tag = {
        "action": "set-snapshot-ref",
        "ref-name": "v1",
        "type": "tag",
        "snapshot-id": first,
        "max-ref-age-ms": 86_400_000,
    }
    branch = {"action": "set-snapshot-ref", "ref-name": "audit", "type": "branch", "snapshot-id": second}
    assert_done(bench.commit(changing(tag, branch, {"action": "set-properties", "updates": {"owner": "ann"}})))
    refs = bench.shelf.metadata()["refs"]
    assert refs["v1"] == {"snapshot-id": first, "type": "tag", "max-ref-age-ms": 86_400_000}
    assert (refs["audit"]["snapshot-id"], refs["main"]["snapshot-id"]) == (second, second)
    main = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": first}
    assert_done(bench.commit(changing(main, {"action": "remove-snapshot-ref", "ref-name": "v1"})))
    metadata = bench.shelf.metadata()
    assert set(metadata["refs"]) == {"main", "audit"}
    assert metadata["current-snapshot-id"] == first
    assert [entry["snapshot-id"] for entry in metadata["snapshot-log"]] == [first, second, first]


def test_upgrade(tmp_path: Path) -> None:
    """A table of format 1 becomes one of format 2, uuid and columns as they were."""
    bench = _light(tmp_path, 1)
    assert_done(bench.shelf.light.create_namespace(("shop",), {}))
    bench.create()
    before = bench.shelf.metadata()
    assert_done(bench.commit(changing({"action": "upgrade-format-version", "format-version": 2})))
    after = bench.shelf.metadata()
    assert (after["format-version"], after["table-uuid"]) == (2, before["table-uuid"])
    assert after["schemas"] == before["schemas"]
    assert_refused(bench.commit(changing({"action": "upgrade-format-version", "format-version": 1})))


@pytest.mark.spark
@pytest.mark.parametrize("version", [1, 2])
def test_the_same_metadata(tmp_path: Path, version: int) -> None:
    """Both committers make the same metadata of the same requests, one after the other."""
    benches = [_light(tmp_path / "light", version), _spark(tmp_path / "spark", version)]
    for bench in benches:
        assert_done(bench.shelf.light.create_namespace(("shop",), {}))
        bench.create(properties={"doomed": "yes"})
    _same(benches, "create")
    for name, updates in EVOLUTION.items():
        for bench in benches:
            assert_done(bench.commit(_filled(updates, bench)))
        _same(benches, name)


def _same(benches: list[Bench], name: str) -> None:
    light, spark = (_told(bench) for bench in benches)
    assert light == spark, name


def _told(bench: Bench) -> dict[str, Any]:
    """What the metadata says. The JVM writes its own defaults into the properties of a new table."""
    data = normal(bench.shelf.metadata())
    data["properties"] = {
        key: value for key, value in data.get("properties", {}).items() if not key.startswith("write.")
    }
    return data


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A catalog with a namespace and one table."""
    found = Shelf(tmp_path)
    assert_done(found.light.create_namespace(("shop",), {}))
    assert_done(found.light.commit(ORDERS, creating(f"{found.warehouse}/orders", uuid=UUID)))
    return found


UUID = "6f0e5d3c-0000-4000-8000-000000000002"


@pytest.mark.parametrize("purge", [False, True])
def test_drop(shelf: Shelf, purge: bool) -> None:
    """A dropped table is out of the catalog; its files go with a purge, and only then. The namespace stays."""
    location = Path(shelf.location().removeprefix("file://"))
    outcome = assert_done(shelf.light.drop(ORDERS, UUID, purge=purge))
    assert shelf.pointers.find(ORDERS) is None
    assert location.exists() is not purge
    assert location.parents[1].exists() is not purge
    assert ("files-deleted" in outcome.facts) is purge
    assert ("shop",) in shelf.pointers.namespaces()


def test_drop_refused(shelf: Shelf) -> None:
    """What is not there, or is another table by now, is not dropped."""
    assert_refused(shelf.light.drop(Identifier(("shop",), "none"), UUID, purge=True), "there is no table")
    assert_refused(shelf.light.drop(ORDERS, UUID.replace("2", "3"), purge=True), "Requirement failed", "another table")
    assert shelf.pointers.find(ORDERS) is not None


def test_drop_raced(shelf: Shelf) -> None:
    """A table somebody changed between the look and the drop is not dropped, and not purged; asking again is right."""
    raced = shelf.light
    remove = raced._swaps.remove

    def after_a_commit(identifier: Identifier, old: str) -> Outcome:
        assert_done(shelf.light.commit(ORDERS, THEIRS))
        return remove(identifier, old)

    raced._swaps.remove = after_a_commit  # type: ignore[method-assign]
    outcome = raced.drop(ORDERS, UUID, purge=True)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, True)
    assert shelf.metadata()["properties"]["theirs"] == "yes"


def test_namespaces(shelf: Shelf) -> None:
    """A namespace is made once, its properties are set and removed together, and losing the last one keeps it."""
    commits = shelf.light
    assert_refused(commits.create_namespace(("shop",), {}), "exists already")
    assert_done(commits.create_namespace(("lab", "raw"), {"owner": "ann", "note": "x"}))
    assert_refused(commits.create_namespace(("lab",), {}), "exists already")
    assert_done(commits.update_namespace(("lab", "raw"), {"owner": "bob"}, ("note", "never there")))
    assert shelf.pointers.namespaces()["lab", "raw"] == {"owner": "bob"}
    assert_done(commits.update_namespace(("lab", "raw"), {}, ("owner",)))
    assert shelf.pointers.namespaces()["lab", "raw"] == {}
    assert_refused(commits.update_namespace(("none",), {"a": "b"}, ()), "there is no namespace none")


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("a", "")])
def test_namespaces_that_cannot_be(shelf: Shelf, namespace: tuple[str, ...]) -> None:
    """A namespace whose name the catalog could not give back is refused, for tables too."""
    assert_refused(shelf.light.create_namespace(namespace, {}), "joins the parts")
    assert_refused(shelf.light.update_namespace(namespace, {"a": "b"}, ()), "joins the parts")
    assert_refused(shelf.light.commit(Identifier(namespace, "t"), creating(f"{shelf.warehouse}/t")))
