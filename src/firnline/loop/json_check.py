"""Reading JSON that somebody else may have written: bounds, shapes, and sentences about what is wrong. Pure."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean
from firnline.core.types import Json

DEPTH_MAX = 128  # nested types and expressions: the deepest schema Iceberg's own tests have is under 20
STRING_MAX = 1_000_000  # a table comment may be long; nothing we write is longer
WORD_MAX = 2_000
_HALF = re.compile("[\ud800-\udfff]")
_RUN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,79}")
_NAMES: dict[type, str] = {str: "text", int: "a number", list: "a list", dict: "an object", object: "a value"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys an object must and may have, with their types; `object` for any."""

    required: Mapping[str, type]
    optional: Mapping[str, type]


def parse(data: bytes) -> Json:
    """JSON within bounds: no key twice, no NaN, nothing too deep or too long, and every text encodable."""
    try:
        parsed = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except UnicodeDecodeError as error:
        raise BadInput(f"is not JSON: byte {error.start} is not UTF-8.") from error
    except json.JSONDecodeError as error:
        raise BadInput(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from error
    except RecursionError as error:
        raise BadInput(f"is nested deeper than {DEPTH_MAX} levels.") from error
    except ValueError as error:
        raise BadInput(f"is not JSON: {error}.") from error
    _bounded(parsed)
    return parsed


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadInput(f"has the key {show(twice)} {'twice' if count == 2 else f'{count:,} times'} in one object.")
    return found


def _constant(name: str) -> None:
    raise BadInput(f"is not JSON: {name} is no number.")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise BadInput(f"has the number {text[:40]}, which is larger than a number can be.")
    return number


def _bounded(data: Json) -> None:
    level = [data]
    for _ in range(DEPTH_MAX):
        following: list[Json] = []
        for value in level:
            if isinstance(value, dict):
                following += [*value, *value.values()]
            elif isinstance(value, list):
                following += value
            elif isinstance(value, str):
                _bounded_text(value)
        if not following:
            return
        level = following
    raise BadInput(f"is nested deeper than {DEPTH_MAX} levels.")


def _bounded_text(value: str) -> None:
    if len(value) > STRING_MAX:
        raise BadInput(f"has a text of {len(value):,} characters; {STRING_MAX:,} is the most.")
    if _HALF.search(value):  # no database, and no terminal, takes it
        raise BadInput(f"has a text with half of a surrogate pair, which is no character: {show(value)}")


def check(data: Json, shape: Shape, place: str) -> None:
    """Refuse anything but an object of this shape; unknown keys by name."""
    if not isinstance(data, dict):
        raise BadInput(f"In {place}: an object should stand here, and {show(data)} does.")
    known = {**shape.required, **shape.optional}
    for key in data:
        if key not in known:
            raise BadInput(f"In {place}: the key {key!r} is not known.", why=did_you_mean(key, known) or None)
    for key in shape.required:
        if key not in data:
            raise BadInput(f"In {place}: the key {key!r} is missing.")
    for key, value in data.items():
        wanted = known[key]
        # bool is an int to Python, and not to us.
        if wanted is not object and type(value) is not wanted:
            raise BadInput(f"In {place}: {key!r} should be {_NAMES[wanted]}, and is {show(value)}.")


def word(data: Json, key: str, place: str) -> str:
    """A short text with something in it."""
    return _word(data[key], key, place)


def words(data: Json, key: str, place: str) -> tuple[str, ...]:
    """A list of short texts; none when the key is not there."""
    return tuple(_word(item, key, place) for item in data.get(key, ()))


def _word(value: Json, key: str, place: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > WORD_MAX:
        raise BadInput(f"In {place}: {key!r} should be a text of 1 to {WORD_MAX:,} characters, and is {show(value)}.")
    return value


def run_id(data: Json, key: str, place: str) -> str:
    """A run id: it becomes a property of commits and part of file names."""
    if not _RUN.fullmatch(data[key]):
        raise BadInput(f"In {place}: {key!r} is {show(data[key])}, which is no run id.")
    return str(data[key])


def show(value: Json) -> str:
    """A value in a message, cut short."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:57] + "…"
