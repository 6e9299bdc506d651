"""Points in time. Everything is UTC; milliseconds since the epoch inside, ISO 8601 outside."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from firnline.core.errors import BadInput

_AGO = re.compile(r"^(\d{1,15})\s*(ms|s|m|h|d|w)\s*(?:ago)?$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_instant(text: str, now: datetime) -> datetime:
    """An ISO time (UTC unless it says otherwise) or an age such as `2h` or `3d ago`."""
    text = text.strip()
    ago = _AGO.match(text)
    if ago:
        try:
            return now - timedelta(**{_UNIT[ago[2]]: int(ago[1])})
        except OverflowError as error:
            raise BadInput(f"{text!r} lies before the beginning of time.") from error
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(
            f"{text!r} is not a time.",
            next_step="Write 2026-11-18T09:30:00Z, 2026-11-18, or an age such as 90m, 2h or 3d.",
        ) from error
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def parse_duration(text: str) -> timedelta:
    """`250ms`, `90s`, `15m`, `12h`, `7d`, `2w`: some time, never none."""
    found = _AGO.match(text.strip())
    if not found or text.strip().endswith("ago"):
        raise BadInput(f"{text!r} is not a duration.", next_step="Write a number and a unit: 90s, 15m, 12h, 7d or 2w.")
    try:
        length = timedelta(**{_UNIT[found[2]]: int(found[1])})
    except OverflowError as error:
        raise BadInput(f"{text!r} is longer than time itself.") from error
    if not length:
        raise BadInput(f"{text!r} is no time at all.", next_step="Write 1s or more.")
    return length


def show_duration(length: timedelta) -> str:
    """The inverse of `parse_duration`, for whole milliseconds: in the largest unit that divides it, up to days."""
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(length, timedelta(**{_UNIT[unit]: 1}))
        if not rest:
            return f"{count}{unit}"
    raise ValueError(length)


def to_millis(instant: datetime) -> int:
    """Milliseconds since the epoch."""
    # In whole numbers: a float of seconds is off by a millisecond from 2038 on.
    return (instant - _EPOCH) // timedelta(milliseconds=1)


def from_millis(millis: int) -> datetime:
    """The inverse of `to_millis`."""
    return _EPOCH + timedelta(milliseconds=millis)


def show(instant: datetime) -> str:
    """`2026-11-18 09:30:00Z`."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"
