"""Items and keys of DynamoDB, to and from Python's own values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.aws.items import KEY_BYTES_MAX, Plain, filled, from_item, key_text, to_item

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = TEXT | st.integers(-(10**30), 10**30) | st.binary() | st.lists(TEXT)


@given(st.dictionaries(st.sampled_from(["a", "b", "owner", "key"]), PLAIN | st.none()))
def test_items(values: dict[str, Plain]) -> None:
    """An item comes back as it went, without what is None."""
    back = from_item(to_item(("p", "s"), values))
    assert back == {"pk": "p", "sk": "s"} | {name: value for name, value in values.items() if value is not None}


@given(st.sets(TEXT | TEXT.map(lambda text: text * 700) | TEXT.map(key_text) | TEXT.map(lambda text: "sha256:" + text)))
def test_key_texts(texts: set[str]) -> None:
    """Whatever the texts, keys are short enough, and no two texts share one."""
    keys = {key_text(text) for text in texts}
    assert len(keys) == len(texts)
    assert all(len(key.encode()) <= KEY_BYTES_MAX for key in keys)


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        ({}, {}),
        ({"ConditionExpression": None, "ProjectionExpression": ""}, {}),
        (
            {"ProjectionExpression": "#a, #b"},
            {"ProjectionExpression": "#a, #b", "ExpressionAttributeNames": {"#a": "a", "#b": "b"}},
        ),
        (
            {"UpdateExpression": "SET #a = :one", "ConditionExpression": "#a = :none"},
            {
                "UpdateExpression": "SET #a = :one",
                "ConditionExpression": "#a = :none",
                "ExpressionAttributeNames": {"#a": "a"},
                "ExpressionAttributeValues": {":one": {"N": "1"}, ":none": {"NULL": True}},
            },
        ),
    ],
)
def test_expressions(expressions: dict[str, str | None], expected: dict[str, Any]) -> None:
    """A request has the names and values its expressions use, and no others: DynamoDB refuses those."""
    assert filled({"one": 1, "none": None, "unused": "x"}, **expressions) == expected
