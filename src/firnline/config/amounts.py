"""Amounts as a policy states them (`128MiB`, `7d`, 0.2, 100), and the number each of them is."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from enum import StrEnum

from firnline.core.errors import BadInput
from firnline.core.instants import parse_duration, show_duration
from firnline.core.sizes import show_bytes
from firnline.core.types import Json

_BINARY = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([A-Za-z]{0,3})\s*")
_DECIMAL_UNIT = re.compile(r"[kKMGTP]B?")
_LONG_MAX = 2**63 - 1  # what Iceberg's own settings hold
_COARSE = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000))

SIZE_PATTERN = r"^\s*[0-9]{1,15}(\.[0-9]{1,6})?\s*(B|KiB|MiB|GiB|TiB|PiB)?\s*$"


class Unit(StrEnum):
    """What a number counts. Durations are milliseconds inside; sizes are bytes."""

    COUNT = "count"
    BYTES = "bytes"
    DURATION = "duration"
    SHARE = "share"
    TIMES = "times"
    MONEY = "money"


WRITTEN = {
    Unit.COUNT: "a whole number such as 100",
    Unit.BYTES: "a size such as 128MiB",
    Unit.DURATION: "a duration such as 7d",
    Unit.SHARE: "a share from 0 to 1 such as 0.2",
    Unit.TIMES: "a number such as 1.5",
    Unit.MONEY: "an amount of money such as 0.5",
}


def parse(value: Json, unit: Unit) -> float:
    """The number of a value as YAML or JSON has it; whole for counts, bytes and durations. BadInput with the reason."""
    match unit:
        case Unit.BYTES if isinstance(value, str):
            return _size(value)
        case Unit.DURATION if isinstance(value, str):
            return parse_duration(value) // timedelta(milliseconds=1)
        case Unit.COUNT | Unit.BYTES if isinstance(value, int) and not isinstance(value, bool):
            if 0 <= value <= _LONG_MAX:
                return value
        case Unit.SHARE | Unit.TIMES | Unit.MONEY if isinstance(value, int | float) and not isinstance(value, bool):
            most = 1 if unit is Unit.SHARE else _LONG_MAX
            if math.isfinite(value) and 0 <= value <= most:
                return value
        case _:
            pass
    raise BadInput(f"{str(value)[:60]!r} is not {WRITTEN[unit]}.", next_step=_quantity_hint(unit))


def parse_text(text: str, unit: Unit) -> float:
    """The number of a table property's text: the same writing, where everything is text."""
    stripped = text.strip()
    if unit in {Unit.COUNT, Unit.BYTES} and stripped.isascii() and stripped.isdigit() and len(stripped) < 20:
        return parse(int(stripped), unit)
    if unit in {Unit.SHARE, Unit.TIMES, Unit.MONEY} and re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", stripped):
        return parse(float(stripped), unit)
    return parse(stripped, unit)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None or found[2] not in _BINARY:
        hint = None
        if found is not None and _DECIMAL_UNIT.fullmatch(found[2]):
            hint = f"Write {found[1]}{found[2][0].upper()}iB: sizes count in powers of 1024."
        raise BadInput(f"{text[:60]!r} is not a size.", next_step=hint or "Write 128MiB, 1.5GiB, or a number of bytes.")
    number, _, fraction = found[1].partition(".")
    size = _BINARY[found[2]] * int(number + fraction) // int("1" + "0" * len(fraction))
    if size > _LONG_MAX:
        raise BadInput(f"{text[:60]!r} is larger than any file.")
    return size


def _quantity_hint(unit: Unit) -> str:
    return f"Write {WRITTEN[unit]}."


def show(number: float, unit: Unit) -> str:
    """`1,234`, `128.0 MiB`, `7d`, `20 %`, `1.8x`, `0.53`: for people, so rounded."""
    match unit:
        case Unit.COUNT:
            return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"
        case Unit.BYTES:
            return show_bytes(int(number))
        case Unit.DURATION:
            return _show_duration(int(number))
        case Unit.SHARE:
            return _show_share(number)
        case Unit.TIMES:
            return f"{number:,.1f}x"
        case Unit.MONEY:
            return _show_money(number)


def _show_money(amount: float) -> str:
    if 0 < amount < 0.0005:
        return "under 0.001"
    return f"{amount:,.3f}" if 0 < amount < 0.005 else f"{amount:,.2f}"


def _show_share(share: float) -> str:
    """Per cent; a share that is nearly nothing or nearly all does not round to it."""
    percent = share * 100
    if 0 < percent < 0.1:
        return "under 0.1 %"
    if percent < 10:
        return f"{percent:.1f} %".replace(".0 %", " %")
    return "over 99 %" if 99 < percent < 100 else f"{percent:.0f} %"


def _show_duration(millis: int) -> str:
    for unit, length in _COARSE:
        if millis >= length:
            whole, rest = divmod(millis, length)
            return f"{whole}{unit}" if not rest or whole >= 100 else f"{millis / length:.1f}{unit}".replace(".0", "")
    return show_duration(timedelta(milliseconds=millis)) if millis else "0s"
