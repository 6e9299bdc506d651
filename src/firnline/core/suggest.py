"""The nearest valid word, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word most like `word`, or None when nothing is close."""
    by_folded = {candidate.casefold(): candidate for candidate in valid}
    found = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, valid: Iterable[str]) -> str:
    """A hint sentence: the nearest word, or the list of what is valid."""
    options = sorted(valid)
    near = nearest(word, options)
    if near is not None:
        return f"Did you mean {near!r}?"
    return f"Valid: {', '.join(options)}." if options else ""
