"""The ports `Pointers` and `Commits` together, over every catalog: what is written is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.core.errors import Missing
from firnline.core.ids import Identifier
from firnline.facts import meta
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Pointer
from firnline.loop.values import Outcome, OutcomeKind
from tests.committing import assert_done, assert_refused, changing, creating, properties, requiring
from tests.contracts.catalogs_at_hand import UUID, Place, glue, sqlite
from tests.contracts.catalogs_hive import hive
from tests.contracts.catalogs_rest import rest
from tests.glue_building import at_once

MANY = 250  # more than two pages of any catalog whose server has pages of a fixed size
WRITERS, COMMITS = 4, 5


CATALOGS = [pytest.param(opener, id=opener.__name__) for opener in (sqlite, glue, rest, hive)]


@pytest.fixture(params=CATALOGS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A catalog with an empty namespace of the test's own."""
    with request.param(tmp_path) as opened:
        assert_done(opened.commits.create_namespace(opened.namespace, {"owner": "ann"}))
        yield opened


def create(place: Place, name: str = "orders", **more: Any) -> Identifier:
    identifier = place.table(name)
    assert_done(place.commits.commit(identifier, creating(place.folder(), **more)))
    return identifier


def pointer(place: Place, identifier: Identifier) -> Pointer:
    found = place.pointers.find(identifier)
    assert found is not None
    return found


def loaded(place: Place, identifier: Identifier) -> TableMeta:
    location = pointer(place, identifier).metadata_location
    assert location is not None
    return meta.parse(place.blobs.read(location), location)


def drop(place: Place, identifier: Identifier, *, purge: bool) -> Outcome:
    uuid = loaded(place, identifier).uuid
    assert uuid is not None
    return place.commits.drop(identifier, uuid, purge=purge)


def listed(place: Place) -> list[Identifier]:
    return [each.identifier for each in place.pointers.list(place.namespace)]


# ------------------------------------------------------------------------------------------------------- namespaces


def test_a_namespace_is_there(place: Place) -> None:
    """A namespace that was made is listed with its properties and is empty."""
    assert place.pointers.namespaces()[place.namespace]["owner"] == "ann"
    assert listed(place) == []


def test_a_namespace_twice(place: Place) -> None:
    """A namespace that is there is not made again, and keeps its properties."""
    assert_refused(place.commits.create_namespace(place.namespace, {"owner": "bob"}))
    assert place.pointers.namespaces()[place.namespace]["owner"] == "ann"


def test_namespaces_change(place: Place) -> None:
    """Properties are set and removed; one that is not there is removed without complaint; tables do not notice."""
    if not place.changes_namespaces:
        pytest.skip("its namespaces cannot be changed")
    identifier = create(place)
    before = pointer(place, identifier)
    updates = {"tier": "gold", "größe": 'it\'s "big" 🐘'}
    assert_done(place.commits.update_namespace(place.namespace, updates, ("owner", "never there")))
    found = place.pointers.namespaces()[place.namespace]
    assert {key: found.get(key) for key in ("owner", *updates)} == {"owner": None, **updates}
    assert pointer(place, identifier) == before


def test_no_such_namespace(place: Place) -> None:
    """In a namespace that is not there nothing is listed, found or made, and it cannot be changed."""
    nowhere = (f"{place.namespace[0]}_not",)
    assert list(place.pointers.list(nowhere)) == []
    assert place.pointers.find(Identifier(nowhere, "orders")) is None
    assert_refused(place.commits.commit(Identifier(nowhere, "orders"), creating(place.folder())))
    assert nowhere not in place.pointers.namespaces()
    if place.changes_namespaces:
        assert_refused(place.commits.update_namespace(nowhere, {"owner": "ann"}, ()))


# ----------------------------------------------------------------------------------------------------------- tables


def test_create(place: Place) -> None:
    """A table that was made is found and listed, and its pointer leads to the metadata that was asked for."""
    uuid = "6f0e5d3c-0000-4000-8000-000000000001"
    identifier = place.table()
    outcome = assert_done(
        place.commits.commit(identifier, creating(place.folder(), properties={"owner": "ann"}, uuid=uuid))
    )
    found = pointer(place, identifier)
    assert (found.identifier, found.kind) == (identifier, "table")
    assert found.metadata_location == outcome.facts["metadata-location"]
    assert list(place.pointers.list(place.namespace)) == [found]
    assert found in list(place.pointers.list())
    table = loaded(place, identifier)
    assert (table.uuid, table.properties["owner"]) == (uuid, "ann")
    assert [field.name for field in table.schema.struct.fields] == ["id", "name", "at"]


def test_create_what_is_there(place: Place) -> None:
    """A name that is taken is refused, and what is there is not touched."""
    identifier = create(place)
    before = pointer(place, identifier)
    assert_refused(place.commits.commit(identifier, creating(place.folder())))
    assert pointer(place, identifier) == before


def test_commit(place: Place) -> None:
    """A commit moves the pointer to new metadata with the change in it, which remembers the old."""
    identifier = create(place)
    before = pointer(place, identifier)
    outcome = assert_done(place.commits.commit(identifier, properties(note="new")))
    after = pointer(place, identifier)
    assert after.metadata_location == outcome.facts["metadata-location"] != before.metadata_location
    table = loaded(place, identifier)
    assert table.properties["note"] == "new"
    assert [location for _, location in table.metadata_log] == [before.metadata_location]


def test_commit_without_table(place: Place) -> None:
    """There is nothing to change where no table is."""
    assert_refused(place.commits.commit(place.table(), properties(note="new")))
    assert listed(place) == []


@pytest.mark.parametrize(
    "requirement",
    [
        {"type": "assert-table-uuid", "uuid": UUID},
        {"type": "assert-current-schema-id", "current-schema-id": 7},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7},
        {"type": "assert-default-spec-id", "default-spec-id": 7},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 7},
    ],
    ids=lambda each: each["type"],
)
def test_a_broken_requirement(place: Place, requirement: dict[str, Any]) -> None:
    """A request that rests on what is not so is refused for good, and nothing is changed."""
    identifier = create(place)
    before = pointer(place, identifier)
    assert_refused(place.commits.commit(identifier, requiring(requirement)))
    assert pointer(place, identifier) == before


def test_a_property_that_changed(place: Place) -> None:
    """A request that expects another value of a property is refused for good."""
    identifier = create(place, properties={"owner": "ann"})
    before = pointer(place, identifier)
    update = {"action": "set-properties", "updates": {"owner": "eve"}}
    assert_refused(place.commits.commit(identifier, changing(update, owner="bob")), "owner")
    assert pointer(place, identifier) == before
    assert_done(place.commits.commit(identifier, changing(update, owner="ann")))


def test_concurrent_commits(place: Place) -> None:
    """Of writers that commit at the same time each is told the truth: what was acknowledged is in the table, and what
    was lost can be sent again until it is.
    """
    identifier = create(place)

    def write(writer: int) -> set[str]:
        done = set()
        for number in range(COMMITS):
            key = f"writer-{writer}-{number}"
            while True:
                outcome = place.commits.commit(identifier, properties(**{key: "done"}))
                if outcome.kind is OutcomeKind.DONE:
                    break
                assert outcome.retryable, outcome
            done.add(key)
        return done

    acknowledged = set().union(*at_once(WRITERS, write))
    assert len(acknowledged) == WRITERS * COMMITS
    table = loaded(place, identifier)
    assert acknowledged == {key for key in table.properties if key.startswith("writer-")}
    assert len(table.metadata_log) == WRITERS * COMMITS


def test_concurrent_creation(place: Place) -> None:
    """Of several who make a table of one name one is told it is done, and it is that one's table that is there."""
    identifier = place.table()
    uuids = [f"6f0e5d3c-0000-4000-8000-{number:012d}" for number in range(WRITERS)]
    requests = [creating(place.folder(), uuid=uuid) for uuid in uuids]
    found = at_once(WRITERS, lambda index: place.commits.commit(identifier, requests[index]))
    done = [uuid for uuid, outcome in zip(uuids, found, strict=True) if outcome.kind is OutcomeKind.DONE]
    assert done == [loaded(place, identifier).uuid]
    assert all(each.kind in {OutcomeKind.DONE, OutcomeKind.NOT_DONE} for each in found)


# ------------------------------------------------------------------------------------------------------------ drops


def test_drop_without_files(place: Place) -> None:
    """A table that is dropped is gone from the catalog; its files stay."""
    if not place.keeps_files:
        pytest.skip("its tables go with their files only")
    identifier = create(place)
    location = pointer(place, identifier).metadata_location or ""
    assert_done(drop(place, identifier, purge=False))
    assert (place.pointers.find(identifier), listed(place)) == (None, [])
    assert place.blobs.read(location)


def test_drop_with_files(place: Place) -> None:
    """A table that is purged is gone, and so are its metadata files, the older ones too."""
    if not place.purges:
        pytest.skip("its tables go without their files only")
    identifier = create(place)
    locations = [pointer(place, identifier).metadata_location or ""]
    assert_done(place.commits.commit(identifier, properties(note="new")))
    locations.append(pointer(place, identifier).metadata_location or "")
    assert_done(drop(place, identifier, purge=True))
    assert (place.pointers.find(identifier), listed(place)) == (None, [])
    for location in locations:
        with pytest.raises(Missing):
            place.blobs.read(location)


def test_drop_of_another_table(place: Place) -> None:
    """A name under which another table is by now is not dropped, and one that is gone cannot be."""
    identifier = create(place)
    before = pointer(place, identifier)
    assert_refused(place.commits.drop(identifier, UUID, purge=place.purges))
    assert pointer(place, identifier) == before
    uuid = loaded(place, identifier).uuid or ""
    assert_done(place.commits.drop(identifier, uuid, purge=place.purges))
    assert_refused(place.commits.drop(identifier, uuid, purge=place.purges))


def test_a_name_is_free_again(place: Place) -> None:
    """Where a table was dropped another one of its name can be made."""
    identifier = create(place)
    old = loaded(place, identifier).uuid
    assert_done(drop(place, identifier, purge=place.purges))
    create(place)
    assert loaded(place, identifier).uuid != old


# ---------------------------------------------------------------------------------------------------------- renames


def rename(place: Place, identifier: Identifier, to: Identifier) -> Outcome:
    return place.commits.rename(identifier, loaded(place, identifier).uuid or "", to)


@pytest.fixture
def renaming(place: Place) -> Place:
    """A catalog that can rename tables."""
    if not place.renames:
        pytest.skip("its tables keep their names")
    return place


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same namespace", "another namespace"])
def test_rename(renaming: Place, elsewhere: bool) -> None:
    """A renamed table is the same under its new name, metadata, files and all, and nothing has the old one."""
    place = renaming
    namespace = (f"{place.namespace[0]}_other",) if elsewhere else place.namespace
    if elsewhere:
        assert_done(place.commits.create_namespace(namespace, {}))
    identifier, to = create(place), Identifier(namespace, "sales")
    before = pointer(place, identifier)
    outcome = assert_done(rename(place, identifier, to))
    assert outcome.facts["metadata-location"] == before.metadata_location
    assert (place.pointers.find(identifier), identifier in listed(place)) == (None, False)
    assert list(place.pointers.list(namespace)) == [pointer(place, to)]
    assert pointer(place, to).metadata_location == before.metadata_location
    folder = loaded(place, to).table_location
    after = assert_done(place.commits.commit(to, properties(note="new"))).facts["metadata-location"]
    assert (loaded(place, to).table_location, after.startswith(f"{folder}/")) == (folder, True)
    create(place)  # the old name is free
    assert place.namespace in place.pointers.namespaces()


def test_rename_of_another_table(renaming: Place) -> None:
    """A name under which another table is by now is not renamed, nor what is not there."""
    identifier, to = create(renaming), renaming.table("sales")
    before = pointer(renaming, identifier)
    assert_refused(renaming.commits.rename(identifier, UUID, to), "another table")
    assert_refused(renaming.commits.rename(renaming.table("never"), UUID, to), "there is no table")
    assert list(renaming.pointers.list(renaming.namespace)) == [before]


def test_rename_to_what_is_taken(renaming: Place) -> None:
    """A name that is taken, by a table or by anything else, and a namespace that is not there, are refused for good."""
    identifier, other = create(renaming), create(renaming, "sales")
    nowhere = Identifier((f"{renaming.namespace[0]}_not",), "sales")
    targets = [other, nowhere]
    if renaming.put_foreign is not None:
        targets.append(renaming.table("foreign"))
        renaming.put_foreign(targets[-1])
    before = list(renaming.pointers.list(renaming.namespace))
    for to in targets:
        assert_refused(rename(renaming, identifier, to))
    assert list(renaming.pointers.list(renaming.namespace)) == before
    assert nowhere.namespace not in renaming.pointers.namespaces()


def test_rename_to_what_cannot_be(renaming: Place) -> None:
    """A name this catalog could not hold is none to go to."""
    identifier = create(renaming)
    before = pointer(renaming, identifier)
    for name in renaming.never:
        assert_refused(rename(renaming, identifier, renaming.table(name)))
    assert_refused(rename(renaming, identifier, Identifier((), "orders")))
    assert list(renaming.pointers.list(renaming.namespace)) == [before]


def test_concurrent_renames(renaming: Place) -> None:
    """Of several who rename a table one is told it is done, and it is that one's name the table has."""
    identifier = create(renaming)
    uuid = loaded(renaming, identifier).uuid or ""
    targets = [renaming.table(f"sales_{number}") for number in range(WRITERS)]
    found = at_once(WRITERS, lambda index: renaming.commits.rename(identifier, uuid, targets[index]))
    done = [to for to, outcome in zip(targets, found, strict=True) if outcome.kind is OutcomeKind.DONE]
    assert done == listed(renaming)
    assert all(each.kind in {OutcomeKind.DONE, OutcomeKind.NOT_DONE} for each in found)


def test_a_rename_among_commits(renaming: Place) -> None:
    """A commit at the time of a rename is in the table under its new name, or was not made."""
    identifier, to = create(renaming), renaming.table("sales")
    uuid = loaded(renaming, identifier).uuid or ""

    def act(index: int) -> Outcome:
        if index:
            return renaming.commits.commit(identifier, properties(**{f"writer-{index}": "done"}))
        while (outcome := renaming.commits.rename(identifier, uuid, to)).retryable:
            pass
        return outcome

    moved, *written = at_once(WRITERS, act)
    assert_done(moved)
    kept = {key for key in loaded(renaming, to).properties if key.startswith("writer-")}
    assert kept == {f"writer-{index}" for index, each in enumerate(written, 1) if each.kind is OutcomeKind.DONE}
    assert listed(renaming) == [to]


# ---------------------------------------------------------------------------------------------------------- listing


def test_many_tables(place: Place) -> None:
    """However the server cuts a listing into pages, every table is listed once, in order of name."""
    place.fill(place.namespace, MANY)
    expected = [place.table(f"t{number:03d}") for number in range(MANY)]
    assert listed(place) == expected
    assert [each.identifier for each in place.pointers.list() if each.identifier.namespace == place.namespace] == (
        expected
    )


def test_order_over_namespaces(place: Place) -> None:
    """The whole catalog is listed in order of name, and a namespace shows nothing of one whose name begins alike."""
    longer = (f"{place.namespace[0]}_longer",)
    assert_done(place.commits.create_namespace(longer, {}))
    for identifier in (Identifier(longer, "a"), place.table("b"), place.table("a")):
        assert_done(place.commits.commit(identifier, creating(place.folder())))
    ours = [each.identifier for each in place.pointers.list() if each.identifier.namespace in {place.namespace, longer}]
    assert ours == [place.table("a"), place.table("b"), Identifier(longer, "a")]
    assert listed(place) == [place.table("a"), place.table("b")]


def test_odd_names(place: Place) -> None:
    """Names with spaces, quotes and letters of every script are kept as they are, and found by exactly that."""
    if not place.names:
        pytest.skip("its names are letters and digits")
    for name in place.names:
        create(place, name)
    assert listed(place) == sorted(place.table(name) for name in place.names)
    for name in place.names:
        assert pointer(place, place.table(name)).identifier.name == name
        assert place.pointers.find(place.table(f"{name[:200]}.not")) is None
    odd = place.table(place.names[0])
    assert_done(place.commits.commit(odd, properties(note="new")))
    assert_done(drop(place, odd, purge=place.purges))
    assert place.pointers.find(odd) is None


def test_names_that_cannot_be(place: Place) -> None:
    """To ask for a table or a namespace that this catalog could not hold is no error: it is not there."""
    create(place)
    for name in place.never:
        assert place.pointers.find(place.table(name)) is None
        assert list(place.pointers.list((name,))) == []
        assert place.commits.create_namespace((name,), {}).kind is OutcomeKind.NOT_DONE
        assert place.commits.commit(place.table(name), creating(place.folder())).kind is OutcomeKind.NOT_DONE
    for namespace in ((), (*place.namespace, "deeper")):
        assert place.pointers.find(Identifier(namespace, "orders")) is None
        assert list(place.pointers.list(namespace)) == []
    assert listed(place) == [place.table()]


def test_what_is_no_iceberg_table(place: Place) -> None:
    """An entry that is no Iceberg table is listed as what it is; it is not changed, dropped or replaced."""
    if place.put_foreign is None:
        pytest.skip("it holds nothing but Iceberg tables")
    identifier = place.table("foreign")
    kind = place.put_foreign(identifier)
    before = pointer(place, identifier)
    assert before.kind == kind != "table"
    assert list(place.pointers.list(place.namespace)) == [before]
    assert_refused(place.commits.commit(identifier, properties(note="new")))
    assert_refused(place.commits.commit(identifier, creating(place.folder())))
    assert_refused(place.commits.drop(identifier, UUID, purge=False))
    assert pointer(place, identifier) == before


def test_what_it_cannot_do(place: Place) -> None:
    """What a catalog cannot do is refused with a reason, before anything is tried."""
    create(place)
    before, sent = list(place.pointers.list(place.namespace)), place.sent()
    for attempt in place.cannot.values():
        outcome = attempt(place.commits, place.namespace)
        assert_refused(outcome)
        assert outcome.detail
    assert place.sent() == sent
    assert list(place.pointers.list(place.namespace)) == before
