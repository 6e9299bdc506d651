"""Column paths as text: `address.city`, and in backticks what a bare word cannot hold."""

from __future__ import annotations

import re

from firnline.core.errors import BadInput
from firnline.core.types import Path

_PART = re.compile(r"`((?:[^`]|``)*)`|([^`.]+)")
_BARE = re.compile(r"[^\W\d][\w-]*")


def parse(text: str) -> Path:
    """The parts of a path. Inside backticks anything goes, a backtick being written twice."""
    rest, parts = text.strip(), []
    while True:
        found = _PART.match(rest)
        if found is None:
            raise BadInput(f"{text!r} is not a column: a part is empty or has a backtick that is never closed.")
        parts.append(found[2].strip() if found[1] is None else found[1].replace("``", "`"))
        rest = rest[found.end() :].lstrip()
        if not rest:
            return tuple(parts)
        if not rest.startswith("."):
            raise BadInput(
                f"{text!r} is not a column: text follows a closing backtick.", next_step="A dot belongs there."
            )
        rest = rest[1:].lstrip()


def show(path: Path) -> str:
    """The inverse of `parse`; bare wherever that is safe inside `bucket(16, …)` and before `desc`, too."""
    return ".".join(part if _BARE.fullmatch(part) else f"`{part.replace('`', '``')}`" for part in path)
