"""What PyIceberg would lose of a metadata file by reading and writing it.

Its model knows the fields it knows and drops the rest without a word: statistics of other blob types, encryption keys,
fields of a later format. Metadata is all there is of a table, so a commit through it must first show that nothing goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firnline.core.types import Json

# Written or left out at the writer's choice, with one meaning: absent, null, empty, and -1 for "no snapshot".
_NOTHING: tuple[Any, ...] = (None, [], {})
# What a reader of format 1 works out from the older fields beside them.
_DERIVED = frozenset(
    {
        "schemas", "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id", "sort-orders",
        "default-sort-order-id", "refs", "schema-id", "partition-spec",
    }
)  # fmt: skip
# A snapshot's sequence number of 0, an empty summary and so on: written out where the original left the default unsaid.
_DEFAULTS: dict[str, Any] = {"sequence-number": 0, "last-sequence-number": 0, "schema-id": 0, "type": "struct"}


def losses(original: Json, returned: Json) -> tuple[str, ...]:
    """The paths at which the original says something the returned metadata does not say, or says otherwise."""
    return tuple(_differences(original, returned, ""))


def _differences(original: Json, returned: Json, path: str) -> Iterator[str]:
    if isinstance(original, dict) and isinstance(returned, dict):
        for key in sorted(original.keys() | returned.keys()):
            yield from _member(key, original.get(key), returned.get(key), f"{path}.{key}" if path else key)
    elif isinstance(original, list) and isinstance(returned, list) and len(original) == len(returned):
        for position, (old, new) in enumerate(zip(original, returned, strict=True)):
            yield from _differences(old, new, f"{path}[{position}]")
    elif original != returned or isinstance(original, bool) is not isinstance(returned, bool):
        yield path


def _member(key: str, old: Any, new: Any, path: str) -> Iterator[str]:
    if key == "current-snapshot-id" and old in (None, -1) and new in (None, -1):
        return
    if any(old == nothing for nothing in _NOTHING):
        if new not in _NOTHING and key not in _DERIVED and _DEFAULTS.get(key, old) != new:
            yield path
    elif key == "source-ids" and new is None:
        return  # a list of one, written as `source-id`
    elif key == "identifier-field-ids" and new is not None:
        if sorted(old) != sorted(new):  # a set, in any order
            yield path
    elif new is None:
        if not (key in _DEFAULTS and _DEFAULTS[key] == old):
            yield path
    else:
        yield from _differences(old, new, path)
