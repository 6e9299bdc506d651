"""Items and keys of DynamoDB, to and from Python's own values, and expressions with what they name filled in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

Plain: TypeAlias = str | int | bytes | list[str] | None
Key: TypeAlias = tuple[str, str]  # partition and sort key: `pk` and `sk`

PARTITION_KEY = "pk"
SORT_KEY = "sk"
KEY_BYTES_MAX = 600  # DynamoDB takes 2048 bytes for `pk` and 1024 for `sk`: room for two texts and our words
_HASHED = "sha256:"
_NAME = re.compile(r"#(\w+)")
_VALUE = re.compile(r":(\w+)")


def key_text(text: str) -> str:
    """The text itself where a key can hold it, else its hash. No two texts share one."""
    if len(text.encode()) <= KEY_BYTES_MAX and not text.startswith(_HASHED):
        return text
    return _HASHED + hashlib.sha256(text.encode()).hexdigest()


def to_key(key: Key) -> dict[str, Any]:
    """A key as requests want it."""
    return {PARTITION_KEY: {"S": key[0]}, SORT_KEY: {"S": key[1]}}


def to_item(key: Key, values: Mapping[str, Plain]) -> dict[str, Any]:
    """A whole item. What is None is left out."""
    return to_key(key) | {name: to_value(value) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `to_item`, the key among the values."""
    return {name: _from_value(value) for name, value in item.items()}


def to_value(value: Plain) -> dict[str, Any]:
    """One value with its type. None compares as equal to nothing."""
    match value:
        case None:
            return {"NULL": True}
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case list():
            return {"L": [{"S": text} for text in value]}


def _from_value(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return int(content)
        case "L":
            return [_from_value(inner) for inner in content]
        case "B":
            return bytes(content)
        case _:
            return content


def filled(values: Mapping[str, Plain], **expressions: str | None) -> dict[str, Any]:
    """The arguments of a request for these expressions, with the attributes (`#name`) and values (`:name`) they use.

    Every attribute goes through a `#name`: DynamoDB reserves 573 words, and `owner` and `key` are among them.
    DynamoDB refuses names and values that no expression uses.
    """
    given = {argument: text for argument, text in expressions.items() if text}
    whole = " ".join(given.values())
    names = {f"#{name}": name for name in _NAME.findall(whole)}
    used = {f":{name}": to_value(values[name]) for name in set(_VALUE.findall(whole))}
    return {
        **given,
        **({"ExpressionAttributeNames": names} if names else {}),
        **({"ExpressionAttributeValues": used} if used else {}),
    }
