"""What the codecs of step bodies share: reading JSON by type, and a commit request as JSON.

Every reader raises KeyError, TypeError or ValueError on what it cannot read: `StepKind.decode` promises no more.
"""

from __future__ import annotations

from typing import Any

from firnline.core.types import Json
from firnline.loop.commits import CommitRequest


def mapping(value: Any) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, found {type(value).__name__}")
    return value


def items(value: Any) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, found {type(value).__name__}")
    return value


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value


def optional_text(value: Any) -> str | None:
    """A text, or nothing."""
    return None if value is None else text(value)


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, found {type(value).__name__}")
    return value


def number(value: Any) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a number, found {type(value).__name__}")
    return value


def optional_number(value: Any) -> int | None:
    """A whole number, or nothing."""
    return None if value is None else number(value)


def encode_request(request: CommitRequest) -> Json:
    """A commit request."""
    return {
        "requirements": list(request.requirements),
        "updates": list(request.updates),
        "expect": dict(request.expect),
    }


def decode_request(value: Any) -> CommitRequest:
    """The inverse of `encode_request`."""
    data = mapping(value)
    return CommitRequest(
        tuple(_typed(item, "type") for item in items(data["requirements"])),
        tuple(_typed(item, "action") for item in items(data["updates"])),
        {text(key): optional_text(item) for key, item in mapping(data["expect"]).items()},
    )


def _typed(value: Any, key: str) -> dict[str, Any]:
    text(mapping(value)[key])
    return dict(value)
