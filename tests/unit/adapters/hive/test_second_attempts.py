"""Complaints of a metastore about what it did itself: it repeats a change whose transaction went through with an error,
and its listeners speak after the change. Whatever is said, a commit that is in is never called not done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.hive.conditions import ALTER
from firnline.adapters.hive.wire import Fault
from firnline.loop.values import OutcomeKind
from tests import servers
from tests.committing import assert_done, assert_refused, properties
from tests.unit.adapters.hive.lake import Lake, intercept, opened

pytestmark = [pytest.mark.spark, pytest.mark.faults]

MODIFIED = Fault("MetaException", "The table has been modified. The parameter value for key 'metadata_location' is 'b'")
TAKEN = Fault("AlreadyExistsException", "Table orders already exists")
GONE = Fault("NoSuchObjectException", "shop.orders table not found")
COMPLAINTS = {
    "modified": MODIFIED,
    "modified, by a proxy": Fault("InvalidOperationException", MODIFIED.text),
    "no such table": GONE,
    "no rights": Fault("MetaException", "Permission denied: user=ann, access=WRITE"),
    "a type": Fault("MetaException", "java.lang.IllegalArgumentException: the listener was given nonsense"),
    "a storage": Fault("MetaException", 'No FileSystem for scheme "s3"'),
    "an operation": Fault("InvalidOperationException", "a listener says no"),
}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """An empty database."""
    with opened(servers.metastore().uri, tmp_path) as found:
        yield found


def complaining(error: Fault, *, carried_out: bool = True) -> Callable[..., Any]:
    """A server that says this, after it did what it was asked or instead."""

    def complain(call: Callable[[], Any], *_: Any) -> Any:
        if carried_out:
            call()
        raise Fault(error.name, error.text)

    return complain


@pytest.mark.parametrize("row", COMPLAINTS)
def test_commits(lake: Lake, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    """A commit the table points to is done, and its metadata file stays, whatever the metastore complains of."""
    identifier, _ = lake.made()
    intercept(monkeypatch, ALTER, complaining(COMPLAINTS[row]))
    assert_done(lake.commits.commit(identifier, properties(note="new")))
    assert lake.pointers.find(identifier) is not None
    assert Path(lake.location(identifier).removeprefix("file://")).exists()


@pytest.mark.parametrize("row", COMPLAINTS)
def test_commits_not_carried_out(lake: Lake, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    """A commit of which the entry shows nothing is not done."""
    identifier, old = lake.made()
    intercept(monkeypatch, ALTER, complaining(COMPLAINTS[row], carried_out=False))
    outcome = lake.swaps.swap(identifier, old, lake.copied(old))
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.NOT_DONE, row.startswith("modified"))
    assert lake.location(identifier) == old


@pytest.mark.parametrize("error", [TAKEN, COMPLAINTS["no rights"]], ids=["taken", "a listener"])
def test_new_tables(lake: Lake, monkeypatch: pytest.MonkeyPatch, error: Fault) -> None:
    """A new table that stands where ours was to stand is ours."""
    _, location = lake.made()
    intercept(monkeypatch, "create_table", complaining(error))
    assert_done(lake.swaps.insert(lake.table("new"), location))


def test_names_taken_meanwhile(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that another table took since we looked is refused."""
    _, location = lake.made()

    def overtaken(call: Callable[[], Any], *_: Any) -> Any:
        monkeypatch.undo()
        lake.made("new")
        return call()

    intercept(monkeypatch, "create_table", overtaken)
    assert_refused(lake.swaps.insert(lake.table("new"), location), "exists already")


@pytest.mark.parametrize(
    ("error", "expected"),
    [(GONE, OutcomeKind.UNKNOWN), (COMPLAINTS["no rights"], OutcomeKind.DONE)],
    ids=["gone", "a listener"],
)
def test_removals(lake: Lake, monkeypatch: pytest.MonkeyPatch, error: Fault, expected: OutcomeKind) -> None:
    """A table that is gone was removed. If nothing was found to remove, another may have renamed it, and its files,
    which go with a removal that is done, are then still in use.
    """
    identifier, old = lake.made()
    intercept(monkeypatch, "drop_table", complaining(error))
    assert lake.swaps.remove(identifier, old).kind is expected


@pytest.mark.parametrize("error", [MODIFIED, GONE, COMPLAINTS["an operation"]], ids=["modified", "gone", "a listener"])
def test_renames(lake: Lake, monkeypatch: pytest.MonkeyPatch, error: Fault) -> None:
    """A table that stands under its new name was renamed."""
    identifier, old = lake.made()
    intercept(monkeypatch, ALTER, complaining(error))
    assert_done(lake.swaps.rename(identifier, old, lake.table("sales")))


@pytest.mark.parametrize("ours", [True, False], ids=["from ours", "from before"])
def test_moved_on_by_another(lake: Lake, monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
    """An entry that another writer moved on is proof by where it came from: through our commit, or past it."""
    identifier, _ = lake.made()

    def overtaken(call: Callable[[], Any], *_: Any) -> Any:
        monkeypatch.undo()
        held = lake.locked_by()
        if ours:
            call()
        with opened(servers.metastore().uri, lake.folder) as another, pytest.MonkeyPatch.context() as patch:
            another.namespace = lake.namespace
            patch.setattr("firnline.adapters.hive.swaps.entries.locks", lambda _: False)
            assert_done(another.commits.commit(identifier, properties(theirs="yes")))
        assert held
        raise Fault(MODIFIED.name, MODIFIED.text)

    intercept(monkeypatch, ALTER, overtaken)
    outcome = lake.commits.commit(identifier, properties(note="new"))
    assert outcome.kind is (OutcomeKind.DONE if ours else OutcomeKind.NOT_DONE), outcome
    assert outcome.retryable is not ours


def test_looks_that_fail(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A complaint of a metastore that then shows no entry proves nothing, and nothing is deleted."""
    identifier, _ = lake.made()

    def fallen(call: Callable[[], Any], *_: Any) -> Any:
        call()
        intercept(monkeypatch, "get_table_req", complaining(Fault("MetaException", "out of order")))
        raise Fault(MODIFIED.name, MODIFIED.text)

    intercept(monkeypatch, ALTER, fallen)
    outcome = lake.commits.commit(identifier, properties(note="new"))
    monkeypatch.undo()
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert Path(lake.location(identifier).removeprefix("file://")).exists()


def test_new_namespaces(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace that was not there, and is after a complaint, may be ours; one that still is not, was not made."""
    name = (f"{lake.database}_more",)
    given = {"location": lake.warehouse}
    with monkeypatch.context() as patch:
        intercept(patch, "create_database", complaining(COMPLAINTS["no rights"], carried_out=False))
        assert_refused(lake.swaps.create_namespace(name, given), "Permission denied")
    with monkeypatch.context() as patch:
        intercept(patch, "create_database", complaining(TAKEN))
        assert lake.swaps.create_namespace(name, given).kind is OutcomeKind.UNKNOWN
    assert_refused(lake.swaps.create_namespace(name, given), "exists already")


@pytest.mark.parametrize(
    ("carried_out", "expected"), [(True, OutcomeKind.DONE), (False, OutcomeKind.NOT_DONE)], ids=["after", "before"]
)
def test_namespaces(lake: Lake, monkeypatch: pytest.MonkeyPatch, carried_out: bool, expected: OutcomeKind) -> None:
    """A namespace that reads as it was wanted was changed, and one that reads as before was not."""
    error = COMPLAINTS["no rights"]
    intercept(monkeypatch, "alter_database", complaining(error, carried_out=carried_out))
    assert lake.swaps.update_namespace(lake.namespace, {"note": "new"}, ()).kind is expected


class Described:
    """A metastore that can change a comment, which the one of the tests cannot: it keeps what it is given, and
    complains at the calls of these numbers.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lake: Lake, *, wrong: tuple[int, ...], keeps: bool) -> None:
        self.database: Any = lake.client.database(lake.database)
        self.calls = 0

        def alter(_: Callable[[], Any], name: str, given: Any) -> None:
            assert name == lake.database
            self.calls += 1
            if self.calls in wrong:
                raise Fault("MetaException", "out of order")
            if not keeps:
                given.locationUri = self.database.locationUri
            self.database = given

        intercept(monkeypatch, "alter_database", alter)
        intercept(monkeypatch, "get_database", lambda *_: self.database)


@pytest.mark.parametrize(
    ("updates", "wrong", "keeps", "expected"),
    [
        ({"comment": "new", "note": "new"}, (), True, OutcomeKind.DONE),
        ({"comment": "new", "note": "new"}, (1,), True, OutcomeKind.NOT_DONE),
        ({"comment": "new", "note": "new"}, (2,), True, OutcomeKind.UNKNOWN),
        ({"comment": "new", "location": "file:///elsewhere"}, (), False, OutcomeKind.UNKNOWN),
        ({"location": "file:///elsewhere"}, (), False, OutcomeKind.NOT_DONE),
    ],
    ids=["both", "the first refused", "the second refused", "half of the first", "none of the first"],
)
def test_comments_first(
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
    updates: dict[str, str],
    wrong: tuple[int, ...],
    keeps: bool,
    expected: OutcomeKind,
) -> None:
    """A change of a namespace of which a part was made is never called not done."""
    there = Described(monkeypatch, lake, wrong=wrong, keeps=keeps)
    before = there.database
    outcome = lake.swaps.update_namespace(lake.namespace, updates, ())
    assert outcome.kind is expected, outcome
    assert there.database.parameters == before.parameters or expected is OutcomeKind.DONE
    if expected is OutcomeKind.NOT_DONE:
        assert (there.database.description or "") == (before.description or "")
        assert there.database.locationUri == before.locationUri


def test_values_that_cannot_be_written(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with a change of a namespace is said before any of it is made."""
    there = Described(monkeypatch, lake, wrong=(), keeps=True)
    updates = {"comment": "new", "hive.metastore.database.owner-type": "CAT"}
    assert_refused(lake.swaps.update_namespace(lake.namespace, updates, ()), "CAT")
    assert there.calls == 0
