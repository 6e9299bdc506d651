"""Step kinds by name, and what their codecs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firnline.core.errors import BadInput
from firnline.loop import bodies
from firnline.loop.commits import CommitRequest
from firnline.loop.registry import Registry
from tests.unit.loop.stage import Stage


def test_registry(stage: Stage) -> None:
    """A kind is found by its name, once registered once; another name is met with the nearest one."""
    assert Registry([stage.kind]).kind("work").name == "work"
    assert Registry([stage.kind]).names() == ("work",)
    with pytest.raises(ValueError, match="registered twice"):
        Registry([stage.kind, stage.kind])
    with pytest.raises(BadInput, match="no step kind 'wrok'") as raised:
        Registry([stage.kind]).kind("wrok")
    assert "work" in (raised.value.why or "")


def test_requests() -> None:
    """A commit request comes back from JSON as it went."""
    request = CommitRequest(
        ({"type": "assert-create"},), ({"action": "assign-uuid", "uuid": "x"},), {"a": None, "b": "c"}
    )
    assert bodies.decode_request(bodies.encode_request(request)) == request


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"requirements": {}, "updates": [], "expect": {}},
        {"requirements": [1], "updates": [], "expect": {}},
        {"requirements": [{}], "updates": [], "expect": {}},
        {"requirements": [], "updates": [{"action": 1}], "expect": {}},
        {"requirements": [], "updates": [], "expect": []},
        {"requirements": [], "updates": [], "expect": {"a": 1}},
    ],
)
def test_requests_that_are_none(value: Any) -> None:
    """Whatever else stands there ends in an error a codec may raise."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        bodies.decode_request(value)


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (bodies.text, ["", "x"], [None, 1, []]),
        (bodies.optional_text, ["x", None], [1]),
        (bodies.flag, [True, False], [0, 1, None, "true"]),
        (bodies.number, [0, -1, 2**70], [True, 1.0, "1", None]),
        (bodies.optional_number, [1, None], [True, "1"]),
        (bodies.mapping, [{}], [[], None]),
        (bodies.items, [[]], [{}, "x", None]),
    ],
)
def test_readers(read: Callable[[Any], Any], good: list[Any], bad: list[Any]) -> None:
    """Each reader takes its type and nothing that merely looks like it."""
    assert [read(value) for value in good] == good
    for value in bad:
        with pytest.raises(TypeError, match="expected"):
            read(value)
