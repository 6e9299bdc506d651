"""A line that fails in the middle of a commit: each outcome is what can be known, and no lock stays behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from firnline.loop.values import Outcome, OutcomeKind
from tests import servers
from tests.unit.adapters.hive.lake import Lake, faulty, opened

pytestmark = [pytest.mark.spark, pytest.mark.faults]

DONE, LOST, UNKNOWN = "done", "lost", "unknown"
ALTER = "alter_table_with_environment_context"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A database; its tables are named after the test."""
    with opened(servers.metastore().uri, tmp_path_factory.mktemp("lake")) as found:
        yield found


SWAPS = [
    # method, fault, the outcome, and whether the change was in fact made
    ("get_table_req", "before", LOST, False),
    ("get_table_req", "after", LOST, False),
    ("get_table_req", "bye", LOST, False),
    ("lock", "before", LOST, False),
    ("lock", "after", LOST, False),
    ("lock", "bye", LOST, False),
    ("heartbeat", "before", LOST, False),
    ("heartbeat", "after", LOST, False),
    (ALTER, "before", UNKNOWN, False),
    (ALTER, "stall", UNKNOWN, False),
    (ALTER, "after", DONE, True),
    (ALTER, "bye", DONE, True),
    ("unlock", "before", DONE, True),
    ("unlock", "after", DONE, True),
]


@pytest.mark.parametrize(("method", "fault", "expected", "moved"), SWAPS)
def test_swaps(lake: Lake, method: str, fault: str, expected: str, moved: bool) -> None:
    """A swap is done when it can be seen to be, lost when nothing was sent, and else unknown: never the wrong one."""
    identifier, old = lake.made(f"t_{method}_{fault}")
    new = lake.copied(old)
    with faulty(lake.endpoint, method, fault) as port:
        outcome = through(lake, port, lambda near: near.swaps.swap(identifier, old, new))
    assert outcome == expected
    assert lake.location(identifier) == (new if moved else old)
    assert lake.locked_by() == []


@pytest.mark.parametrize(("fault", "expected", "removed"), [("before", UNKNOWN, False), ("after", DONE, True)])
def test_removals(lake: Lake, fault: str, expected: str, removed: bool) -> None:
    """A table that is no longer there was removed."""
    identifier, old = lake.made(f"r_{fault}")
    with faulty(lake.endpoint, "drop_table", fault) as port:
        assert through(lake, port, lambda near: near.swaps.remove(identifier, old)) == expected
    assert (lake.pointers.find(identifier) is None) == removed
    assert lake.locked_by() == []


@pytest.mark.parametrize(("fault", "expected", "renamed"), [("before", UNKNOWN, False), ("after", DONE, True)])
def test_renames(lake: Lake, fault: str, expected: str, renamed: bool) -> None:
    """A table that is there under its new name, where it was, was renamed."""
    identifier, old = lake.made(f"o_{fault}")
    to = lake.table(f"to_{fault}")
    with faulty(lake.endpoint, ALTER, fault) as port:
        assert through(lake, port, lambda near: near.swaps.rename(identifier, old, to)) == expected
    assert lake.location(to if renamed else identifier) == old
    assert lake.pointers.find(identifier if renamed else to) is None
    assert lake.locked_by() == []


@pytest.mark.parametrize(("fault", "expected"), [("before", UNKNOWN), ("after", DONE)])
def test_inserts(lake: Lake, fault: str, expected: str) -> None:
    """A new table that points where ours was to point is ours."""
    _, location = lake.made(f"i_{fault}")
    identifier = lake.table(f"n_{fault}")
    with faulty(lake.endpoint, "create_table", fault) as port:
        assert through(lake, port, lambda near: near.swaps.insert(identifier, location)) == expected
    assert (lake.pointers.find(identifier) is None) == (expected != DONE)


@pytest.mark.parametrize("fault", ["before", "after"])
def test_namespaces(lake: Lake, fault: str) -> None:
    """A namespace bears nobody's mark: whether a lost call made it is not known."""
    with faulty(lake.endpoint, "create_database", fault) as port:
        wanted = (f"{lake.database}_{fault}",)
        found = through(lake, port, lambda near: near.swaps.create_namespace(wanted, {"location": lake.warehouse}))
    assert found == UNKNOWN


@pytest.mark.parametrize("method", ["get_all_databases", "get_all_tables", "get_table_objects_by_name_req"])
@pytest.mark.parametrize("fault", ["before", "after", "bye"])
def test_looking_again(lake: Lake, method: str, fault: str) -> None:
    """Looking asks once more when the line breaks."""
    identifier, old = lake.made(f"l_{method}_{fault}")
    with faulty(lake.endpoint, method, fault) as port:
        near = lake.through(port)
        found = {each.identifier: each.metadata_location for each in near.pointers.list()}
        near.client.close()
    assert found[identifier] == old


def through(lake: Lake, port: int, attempt: Callable[[Lake], Outcome]) -> str:
    """The outcome of this attempt behind a bad line, in a word."""
    near = lake.through(port)
    outcome = attempt(near)
    near.client.close()
    assert outcome.detail or outcome.kind is OutcomeKind.DONE
    if outcome.kind is OutcomeKind.NOT_DONE:
        assert outcome.retryable, outcome
        return LOST
    return str(outcome.kind.value)
