"""What `doctor` finds: one value per thing looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firnline.core.errors import FirnlineError

OK, WARNING, PROBLEM, NOT_CHECKED = "ok", "warning", "problem", "not checked"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `state` is ok, warning, problem or not checked; `fix` is what to do about it."""

    name: str
    state: str
    text: str
    fix: str | None = None


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """What `look` found; an error of ours is a finding too."""
    try:
        return look()
    except FirnlineError as error:
        return failed(name, error)


def failed(name: str, error: FirnlineError) -> Check:
    """An error of ours as a finding."""
    text = " ".join(part for part in (error.what, error.why) if part)
    return Check(name, PROBLEM, text, error.next_step)
