"""What PyIceberg would lose of a metadata file."""

from __future__ import annotations

from typing import Any

import pytest

from firnline.adapters.iceberg.losses import losses


@pytest.mark.parametrize(
    ("original", "returned", "lost"),
    [
        ({"a": 1}, {"a": 1}, ()),
        ({"a": 1}, {"a": 2}, ("a",)),
        ({"a": 1}, {}, ("a",)),
        ({"a": {"b": [{"c": 1}, {"d": 2}]}}, {"a": {"b": [{"c": 1}, {"d": 3}]}}, ("a.b[1].d",)),
        ({"a": [1, 2]}, {"a": [1]}, ("a",)),
        ({"a": [1, 2]}, {"a": [2, 1]}, ("a[0]", "a[1]")),
        ({"a": True}, {"a": 1}, ("a",)),
        ({"a": 0}, {"a": False}, ("a",)),
        ({"a": "1"}, {"a": 1}, ("a",)),
        ({"a": 1.0}, {"a": 1}, ()),
        # nothing, said in another way
        ({"statistics": None}, {"statistics": []}, ()),
        ({"statistics": []}, {}, ()),
        ({}, {"statistics": []}, ()),
        ({"properties": {}}, {}, ()),
        ({"current-snapshot-id": -1}, {"current-snapshot-id": None}, ()),
        ({"current-snapshot-id": -1}, {}, ()),
        ({"current-snapshot-id": 5}, {"current-snapshot-id": -1}, ("current-snapshot-id",)),
        ({"current-snapshot-id": 5}, {}, ("current-snapshot-id",)),
        # written out where it went without saying
        ({}, {"sequence-number": 0}, ()),
        ({}, {"sequence-number": 1}, ("sequence-number",)),
        ({"sequence-number": 0}, {}, ()),
        ({"sequence-number": 3}, {}, ("sequence-number",)),
        ({}, {"type": "struct"}, ()),
        ({}, {"schemas": [{"schema-id": 0}]}, ()),
        ({}, {"refs": {"main": {}}}, ()),
        ({}, {"something": 1}, ("something",)),
        # a set, and a list of one
        ({"identifier-field-ids": [2, 1]}, {"identifier-field-ids": [1, 2]}, ()),
        ({"identifier-field-ids": [2, 1]}, {"identifier-field-ids": [1]}, ("identifier-field-ids",)),
        ({"source-ids": [1]}, {"source-id": 1}, ("source-id",)),
        ({"source-id": 1, "source-ids": [1]}, {"source-id": 1}, ()),
        # what it has never heard of
        ({"encryption-keys": [{"key-id": "1"}]}, {}, ("encryption-keys",)),
        (
            {"snapshots": [{"snapshot-id": 1, "key-id": "k"}]},
            {"snapshots": [{"snapshot-id": 1}]},
            ("snapshots[0].key-id",),
        ),
    ],
)
def test_losses(original: dict[str, Any], returned: dict[str, Any], lost: tuple[str, ...]) -> None:
    """Every place at which the two do not mean the same is named, and no other."""
    assert losses(original, returned) == lost
