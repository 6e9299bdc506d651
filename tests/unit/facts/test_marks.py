"""Marks: stamped into a request, found again or not, and what that means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from firnline.core.errors import Failed, Missing
from firnline.core.ids import Identifier, RunId, StepId
from firnline.facts import marks, observe
from firnline.facts.ports import Pointer
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind, Stamp
from tests.unit.facts.test_meta import V2, WHERE, without

ORDERS = Identifier(("shop",), "orders")
UUID = V2["table-uuid"]
STAMP = Stamp(RunId("20261118T093000-aaaa"), StepId("2"))
MARK = {"firnline.run": STAMP.run, "firnline.step": STAMP.step}
OTHER = {"firnline.run": "20261118T100000-bbbb", "firnline.step": "1"}
SET = {"action": "set-properties", "updates": {"a": "1"}}


@dataclass
class Shelf:
    """A catalog of one entry, and metadata files by their location."""

    pointer: Pointer | None
    files: Mapping[str, Any] = field(default_factory=dict)
    error: Exception | None = None

    def find(self, identifier: Identifier) -> Pointer | None:
        if self.error:
            raise self.error
        return self.pointer if self.pointer and identifier == self.pointer.identifier else None

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        del namespace
        yield from [self.pointer] if self.pointer else []

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        return {}

    def read(self, location: str) -> bytes:
        if location not in self.files:
            raise Missing(f"There is no file {location}.")
        found = self.files[location]
        return found if isinstance(found, bytes) else json.dumps(found).encode()


def chain(*properties: Mapping[str, str], uuid: str = UUID, kept: int = 100) -> Shelf:
    """A table whose versions v0, v1 … have these properties; its log keeps that many."""
    files: dict[str, Any] = {}
    for number, one in enumerate(properties):
        logged = [{"timestamp-ms": at, "metadata-file": f"v{at}"} for at in range(number)][-kept:]
        files[f"v{number}"] = {**V2, "table-uuid": uuid, "properties": dict(one), "metadata-log": logged}
    return Shelf(Pointer(ORDERS, f"v{len(properties) - 1}"), files)


def settled(shelf: Shelf, base: str | None = "v0") -> Outcome:
    """What settling finds."""
    return marks.settle(shelf, shelf, ORDERS, uuid=UUID, base=base, stamp=STAMP)


DONE, NOT_DONE, UNKNOWN = OutcomeKind.DONE, OutcomeKind.NOT_DONE, OutcomeKind.UNKNOWN


@pytest.mark.parametrize(
    ("shelf", "kind", "retryable", "words"),
    [
        pytest.param(chain({}, MARK), DONE, False, "found in the table", id="the newest version has it"),
        pytest.param(chain({}, MARK, OTHER, OTHER), DONE, False, "found", id="an older version since the base has it"),
        pytest.param(chain({}), NOT_DONE, True, "no metadata version", id="nothing happened since"),
        pytest.param(chain({}, OTHER), NOT_DONE, True, "no metadata version", id="others wrote since"),
        pytest.param(chain(MARK, OTHER), NOT_DONE, True, "no metadata version", id="only the base itself has it"),
        pytest.param(
            chain({}, MARK, OTHER, OTHER, kept=1), UNKNOWN, False, "no longer reaches back to v0", id="a short log"
        ),
        pytest.param(
            chain({}, {**MARK, "firnline.step": "1"}), NOT_DONE, True, "no metadata", id="another step's mark"
        ),
        pytest.param(chain({}, MARK, uuid="another"), NOT_DONE, False, "another table has this name", id="replaced"),
        pytest.param(Shelf(None), NOT_DONE, False, "not in the catalog", id="gone"),
        pytest.param(Shelf(Pointer(ORDERS, None, "view")), NOT_DONE, False, "not in the catalog", id="a view now"),
        pytest.param(Shelf(Pointer(ORDERS, "v9")), UNKNOWN, False, "could not look", id="its metadata is missing"),
        pytest.param(Shelf(Pointer(ORDERS, "v"), {"v": b"{"}), UNKNOWN, False, "could not look", id="damaged"),
        pytest.param(Shelf(None, error=Failed("locked")), UNKNOWN, False, "could not look: locked", id="no catalog"),
    ],
)
def test_settling(shelf: Shelf, kind: OutcomeKind, retryable: bool, words: str) -> None:
    """Done when a version since the base carries the mark, not done when none does, unknown when nobody can see."""
    found = settled(shelf)
    assert (found.kind, found.retryable) == (kind, retryable)
    assert words in found.detail


def test_a_missing_link_of_the_log_is_unknown() -> None:
    """A metadata file that was deleted from the middle of the log might have carried the mark."""
    shelf = chain({}, MARK, OTHER, OTHER)
    found = settled(Shelf(shelf.pointer, without(shelf.files, "v1")))
    assert found.kind is UNKNOWN


def test_the_version_that_was_found_is_named() -> None:
    """Of a commit that was made, the metadata file is known."""
    assert settled(chain({}, MARK, OTHER)).facts == {"metadata-location": "v1"}


def test_a_log_longer_than_the_bound_is_unknown() -> None:
    """Looking back ends at the bound, and what lies beyond is unknown, not absent."""
    found = settled(chain({}, *[OTHER] * (marks.METADATA_LOG_READ_MAX + 5), kept=10_000))
    assert found.kind is UNKNOWN


@pytest.mark.parametrize(
    ("shelf", "kind", "retryable"),
    [
        (chain({}), DONE, False),
        (chain({}, uuid="another"), NOT_DONE, False),
        (Shelf(None), NOT_DONE, True),
    ],
)
def test_settling_a_creation(shelf: Shelf, kind: OutcomeKind, retryable: bool) -> None:
    """A table made under its chosen uuid is the commit; no table, and it may be made again."""
    found = settled(shelf, base=None)
    assert (found.kind, found.retryable) == (kind, retryable)


@pytest.mark.parametrize("versions", [(MARK,), ({**MARK, "a": "1"}, OTHER), (MARK, OTHER, OTHER)])
def test_settling_a_creation_under_another_uuid(versions: tuple[Mapping[str, str], ...]) -> None:
    """A catalog that gives a new table a uuid of its own made it all the same: the step's mark says so."""
    found = settled(chain(*versions, uuid="the catalog's choice"), base=None)
    assert (found.kind, found.facts) == (DONE, {"metadata-location": "v0"})


def test_a_creation_that_cannot_be_looked_for_is_unknown() -> None:
    """A version that cannot be read might be the one that was made."""
    shelf = chain(MARK, OTHER, uuid="the catalog's choice")
    assert settled(Shelf(shelf.pointer, without(shelf.files, "v0")), base=None).kind is UNKNOWN


def test_a_request_is_stamped_where_it_sets_properties() -> None:
    """The mark joins the properties a request sets, and leaves the request as it was."""
    request = CommitRequest(({"type": "assert-create"},), ({"action": "assign-uuid"}, SET, SET), {"a": None})
    stamped = marks.stamped(request, STAMP)
    assert stamped.updates == ({"action": "assign-uuid"}, {**SET, "updates": {"a": "1", **MARK}}, SET)
    assert (stamped.requirements, stamped.expect) == (request.requirements, request.expect)
    assert request.updates[1] == {"action": "set-properties", "updates": {"a": "1"}}


def test_a_request_without_properties_gets_them() -> None:
    """A request that sets none sets the mark alone."""
    assert marks.stamped(CommitRequest((), ({"action": "x"},)), STAMP).updates == (
        {"action": "x"},
        {"action": "set-properties", "updates": MARK},
    )


@pytest.mark.parametrize("kind", ["view", "other", "table"])
def test_only_tables_are_observed(kind: str) -> None:
    """What is no Iceberg table has no metadata; what is one is parsed from where the pointer says."""
    shelf = Shelf(Pointer(ORDERS, WHERE, kind), {WHERE: V2})
    meta = observe.table(shelf, shelf, ORDERS)
    assert (meta is not None) == (kind == "table")
    assert observe.table(shelf, shelf, Identifier(("shop",), "other")) is None
