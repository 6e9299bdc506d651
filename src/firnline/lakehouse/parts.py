"""Parts that are not installed, told in one sentence before anything of them is imported."""

from __future__ import annotations

from importlib.util import find_spec

from firnline.core.errors import Missing


def require(library: str, part: str, what: str) -> None:
    """Missing when the library of an extra is not there. `what` needs it."""
    if find_spec(library) is None:
        raise Missing(
            f"{what} needs the part {part!r}, and {library} is not installed.",
            next_step=f"Install it: pip install 'firnline[{part}]'.",
        )
