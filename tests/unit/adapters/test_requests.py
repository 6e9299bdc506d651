"""Commit requests made definite: every id decided, alike for both committers."""

from __future__ import annotations

from typing import Any

import pytest

from firnline.adapters import requests
from firnline.adapters.requests import Unfit, definite, unmet
from tests.committing import (
    AT,
    BY_DAY,
    BY_ID,
    ID,
    NAME,
    SCHEMA,
    UNPARTITIONED,
    UNSORTED,
    changing,
    creating,
    properties,
)

SPECS = [UNPARTITIONED, {**BY_DAY, "spec-id": 4}]
BASE = {
    "schemas": [SCHEMA, {**SCHEMA, "schema-id": 5, "fields": [ID, NAME]}],
    "partition-specs": SPECS, "sort-orders": [UNSORTED, {**BY_ID, "order-id": 2}], "properties": {"a": "1", "b": "2"},
}  # fmt: skip
OTHER_SCHEMA = {"type": "struct", "fields": [ID]}
BY_NAME = {"fields": [{"source-id": 2, "field-id": 1001, "transform": "identity", "name": "name"}]}
NAME_FIRST = {"fields": [{"source-id": 2, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}]}


def add(family: str, value: Any) -> dict[str, Any]:
    key = {"schema": "schema", "spec": "spec", "sort-order": "sort-order"}[family]
    return {"action": f"add-{family}", key: value}


def make_current(family: str, value: int = -1) -> dict[str, Any]:
    return {
        "schema": {"action": "set-current-schema", "schema-id": value},
        "spec": {"action": "set-default-spec", "spec-id": value},
        "sort-order": {"action": "set-default-sort-order", "sort-order-id": value},
    }[family]


IDS = {"schema": "schema-id", "spec": "spec-id", "sort-order": "order-id"}


@pytest.mark.parametrize(
    ("family", "value", "base", "added", "current"),
    [
        ("schema", {**OTHER_SCHEMA, "schema-id": 0}, BASE, True, 6),
        ("schema", {**SCHEMA, "schema-id": 9}, BASE, False, 0),
        ("schema", {**SCHEMA, "fields": [ID, NAME]}, BASE, False, 5),
        ("schema", {**SCHEMA, "identifier-field-ids": [1]}, BASE, True, 6),
        ("schema", {**SCHEMA, "fields": [NAME, ID, AT]}, BASE, True, 6),
        ("schema", {**SCHEMA, "fields": [ID, {**NAME, "doc": "new"}, AT]}, BASE, True, 6),
        ("schema", SCHEMA, None, True, 0),
        ("schema", OTHER_SCHEMA, {"schema": SCHEMA}, True, 1),  # format 1 without a list of schemas
        ("spec", {**BY_NAME, "spec-id": 0}, BASE, True, 5),
        ("spec", BY_DAY, BASE, False, 4),
        ("spec", {"fields": [{**BY_DAY["fields"][0], "field-id": 1007}]}, BASE, False, 4),  # type: ignore[index]
        ("spec", {"fields": []}, BASE, False, 0),
        ("spec", BY_DAY, None, True, 0),
        ("spec", BY_NAME, {"partition-spec": []}, True, 1),
        ("sort-order", {**NAME_FIRST, "order-id": 0}, BASE, True, 3),
        ("sort-order", BY_ID, BASE, False, 2),
        ("sort-order", {"fields": []}, BASE, False, 0),
        ("sort-order", UNSORTED, None, True, 0),
        ("sort-order", BY_ID, None, True, 1),
    ],
)
def test_ids(family: str, value: Any, base: Any, added: bool, current: int) -> None:
    """What is new gets the next free id, whatever was sent; what is there already is not added but made current."""
    decided = definite((add(family, value), make_current(family)), base)
    key = family if family != "sort-order" else "sort-order"
    assert [one[key][IDS[family]] for one in decided if one["action"].startswith("add-")] == (
        [current] if added else []
    )
    assert decided[-1] == make_current(family, current)


def test_two_of_one_request() -> None:
    """Two new ones in one request get two ids, and the last is the current one; the same twice is one."""
    decided = definite(
        (add("spec", BY_NAME), add("spec", {"fields": []}), add("spec", BY_NAME), make_current("spec")), BASE
    )
    assert [(one["action"], one.get("spec", {}).get("spec-id", one.get("spec-id"))) for one in decided] == [
        ("add-spec", 5), ("set-default-spec", 5),
    ]  # fmt: skip


@pytest.mark.parametrize("family", list(IDS))
def test_nothing_added(family: str) -> None:
    """The last added one without any added makes no sense; an explicit id is kept as it is."""
    with pytest.raises(Unfit, match=r"makes the last added .* the current one and adds none"):
        definite((make_current(family),), BASE)
    assert definite((make_current(family, 5),), BASE) == (make_current(family, 5),)


@pytest.mark.parametrize(
    ("updates", "removals"),
    [
        ([("remove", ["a", "zz", "a"])], [["a"]]),
        ([("remove", ["zz"])], []),
        ([("set", "zz"), ("remove", ["zz"])], [["zz"]]),
        ([("remove", ["a"]), ("remove", ["a", "b"])], [["a"], ["b"]]),
    ],
)
def test_removals(updates: list[tuple[str, Any]], removals: list[list[str]]) -> None:
    """Only properties that are there at that point are removed, each once."""
    request = [
        {"action": "remove-properties", "removals": value}
        if what == "remove"
        else {"action": "set-properties", "updates": {value: "1"}}
        for what, value in updates
    ]
    decided = definite(tuple(request), BASE)
    assert [one["removals"] for one in decided if one["action"] == "remove-properties"] == removals


def test_the_rest_passes() -> None:
    """Other updates go through untouched and in place, and neither the request nor the base is written to."""
    odd = {"action": "set-location", "location": "file:///x"}
    update = add("schema", {**OTHER_SCHEMA})
    assert definite((odd, update), BASE)[0] == odd
    assert "schema-id" not in update["schema"]
    assert BASE["properties"] == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("expect", "properties_now", "sentence"),
    [
        ({}, {"a": "1"}, None),
        ({"a": "1", "b": None}, {"a": "1"}, None),
        ({"a": "2"}, {"a": "1"}, "the property a was expected as '2' and is as '1'"),
        ({"a": None}, {"a": ""}, "the property a was expected to be absent and is as ''"),
        ({"z": "1", "b": "1"}, {}, "the property b was expected as '1' and is to be absent"),
    ],
)
def test_unmet(expect: dict[str, str | None], properties_now: dict[str, str], sentence: str | None) -> None:
    """The first property, by name, that is not as expected."""
    assert unmet(expect, properties_now) == sentence


def test_what_a_request_is() -> None:
    """Whether it creates, and which format it asks for."""
    assert requests.creates(creating("file:///x"))
    assert not requests.creates(properties(a="1"))
    assert requests.target_version(creating("file:///x", version=1)) == 1
    assert requests.target_version(properties(a="1")) is None
    assert requests.target_version(changing({"action": "upgrade-format-version", "format-version": 3})) == 3
