from __future__ import annotations

from typing import Any

import pytest

from firnline.adapters.rest import requirements
from firnline.loop.commits import CommitRequest

UUID = "6f0e5d3c-0000-4000-8000-00000000abcd"
TABLE: dict[str, Any] = {
    "table-uuid": UUID, "last-column-id": 3, "current-schema-id": 1, "last-partition-id": 1000, "default-spec-id": 1,
    "default-sort-order-id": 0, "current-snapshot-id": 7, "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
}  # fmt: skip
OLD: dict[str, Any] = {"table-uuid": UUID, "last-column-id": 3, "schema": {"fields": []}, "current-snapshot-id": -1}


@pytest.mark.parametrize(
    ("requirement", "metadata", "holds"),
    [
        ({"type": "assert-create"}, TABLE, False),
        ({"type": "assert-table-uuid", "uuid": UUID}, TABLE, True),
        ({"type": "assert-table-uuid", "uuid": UUID.upper()}, TABLE, True),
        ({"type": "assert-table-uuid", "uuid": UUID.replace("6", "7")}, TABLE, False),
        ({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3}, TABLE, True),
        ({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 4}, TABLE, False),
        ({"type": "assert-current-schema-id", "current-schema-id": 1}, TABLE, True),
        ({"type": "assert-current-schema-id", "current-schema-id": 0}, TABLE, False),
        ({"type": "assert-current-schema-id", "current-schema-id": 0}, OLD, True),
        ({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000}, TABLE, True),
        ({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999}, TABLE, False),
        ({"type": "assert-default-spec-id", "default-spec-id": 1}, TABLE, True),
        ({"type": "assert-default-spec-id", "default-spec-id": 0}, TABLE, False),
        ({"type": "assert-default-spec-id", "default-spec-id": 0}, OLD, True),
        ({"type": "assert-default-sort-order-id", "default-sort-order-id": 0}, TABLE, True),
        ({"type": "assert-default-sort-order-id", "default-sort-order-id": 1}, TABLE, False),
        ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}, TABLE, True),
        ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 8}, TABLE, False),
        ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}, TABLE, False),
        ({"type": "assert-ref-snapshot-id", "ref": "audit", "snapshot-id": None}, TABLE, True),
        ({"type": "assert-ref-snapshot-id", "ref": "audit"}, TABLE, True),
        ({"type": "assert-ref-snapshot-id", "ref": "audit", "snapshot-id": 7}, TABLE, False),
        ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}, OLD, True),
        ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}, {**OLD, "current-snapshot-id": 7}, True),
    ],
)
def test_requirements(requirement: dict[str, Any], metadata: dict[str, Any], holds: bool) -> None:
    """A requirement holds on metadata exactly when the specification says so, of old metadata too."""
    wrong = requirements.broken((requirement,), metadata)
    assert (wrong is None) is holds, wrong
    assert wrong is None or wrong.startswith("Requirement failed: ")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (CommitRequest(({"type": "assert-weather"},), ()), "no requirement 'assert-weather'"),
        (CommitRequest((), ({"action": "drop-everything"},)), "no update 'drop-everything'"),
        (CommitRequest(({},), ()), "no requirement None"),
        (CommitRequest(({"type": "assert-default-spec-id"},), ()), "has no default-spec-id"),
        (CommitRequest((), ({"action": "set-location", "location": 7},)), "has no location"),
        (CommitRequest(({"type": "assert-create"},), ({"action": "set-properties", "updates": {}},)), None),
    ],
)
def test_unheard_of(request_: CommitRequest, words: str | None) -> None:
    """What the specification does not know is not sent to a server that may die of it."""
    found = requirements.unheard(request_)
    assert found is None if words is None else found is not None and words in found
