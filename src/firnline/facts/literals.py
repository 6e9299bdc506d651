"""The literals of a filter: from the pieces of its text to values of the column they are compared with."""

from __future__ import annotations

import decimal
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from firnline.core.errors import BadInput
from firnline.core.types import Decimal, Fixed, Primitive, Type, show
from firnline.facts.single_values import Value, scaled, unscaled

NUMBER_LENGTH_MAX = 100
_EPOCH = date(1970, 1, 1).toordinal()
_FLOAT_MAX = (2 - 2**-23) * 2.0**127
_MICRO_DIGITS, _NANO_DIGITS = 6, 9
_OFFSET_MINUTES_MAX = 18 * 60
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII)
_MOMENT = re.compile(rf"({_DAY.pattern})(?:[T ]({_CLOCK.pattern}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)

_EXAMPLES = {
    "boolean": "true",
    "int": "42",
    "long": "42",
    "float": "1.5",
    "double": "1.5",
    "date": "DATE '2026-11-18'",
    "time": "'09:30:00'",
    "timestamp": "TIMESTAMP '2026-11-18T09:30:00'",
    "timestamptz": "TIMESTAMP '2026-11-18T09:30:00Z'",
    "timestamp_ns": "TIMESTAMP '2026-11-18T09:30:00.000000001'",
    "timestamptz_ns": "TIMESTAMP '2026-11-18T09:30:00.000000001Z'",
    "string": "'text'",
    "uuid": "'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
    "binary": "X'0aff'",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a filter. `at` counts from 0; `text` is without its quotes.

    `kind` is number, string, hex, date or timestamp (a string after that word), name (in backticks), word, sign, end.
    """

    kind: str
    text: str
    at: int


def fault(token: Token, problem: str, next_step: str | None = None) -> BadInput:
    """What is wrong with the filter, and where."""
    return BadInput(f"The filter, column {token.at + 1}: {problem}", next_step=next_step)


def example(of: Type) -> str | None:
    """A literal of the type as it is written in a filter; None for a type whose values cannot be compared."""
    match of:
        case Decimal():
            return f"{scaled(125, of.scale):f}"
        case Fixed():
            return f"X'{'0a' * min(of.length, 8)}'"
        case Primitive(name):
            return _EXAMPLES.get(name)
        case _:
            return None


def value(token: Token, of: Type) -> Value:
    """The literal as a value of the type, or BadInput that says why it is none and shows one."""
    read = _reader(of)
    if read is None:
        raise fault(token, f"values of {show(of)} cannot be compared.", "Ask IS NULL or IS NOT NULL of it.")
    try:
        return read(token)
    except (ValueError, ArithmeticError) as error:
        reason = str(error)
        problem = f"{_shown(token)} is no {show(of)}{f': {reason}' if reason else ''}."
        raise fault(token, problem, f"Write it like this: {example(of)}") from error


def _shown(token: Token) -> str:
    text = token.text if len(token.text) <= 40 else f"{token.text[:40]}…"
    return {"number": text, "word": text, "hex": f"X'{text}'"}.get(token.kind, f"'{text}'")


def _reader(of: Type) -> Callable[[Token], Value] | None:
    match of:
        case Decimal():
            return lambda token: _decimal(token, of)
        case Fixed():
            return lambda token: _bytes(token, of.length)
        case Primitive("int" | "long" as name):
            return lambda token: _whole(token, 32 if name == "int" else 64)
        case Primitive("float" | "double" as name):
            return lambda token: _float(token, name)
        case Primitive(name) if name.startswith("timestamp"):
            return lambda token: _moment(token, name)
        case Primitive(name):
            return _READERS.get(name)
        case _:
            return None


def _text(token: Token, *kinds: str) -> str:
    if token.kind not in kinds:
        raise ValueError
    return token.text


def _number(token: Token) -> str:
    text = _text(token, "number")
    if len(text) > NUMBER_LENGTH_MAX:
        raise ValueError(f"at most {NUMBER_LENGTH_MAX} digits are read")
    return text


def _whole(token: Token, bits: int) -> int:
    text = _number(token)
    if not _WHOLE.fullmatch(text):
        raise ValueError("it is no whole number")
    number = int(text)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError("it is out of range")
    return number


def _float(token: Token, name: str) -> float:
    number = float(_number(token))
    if abs(number) > (_FLOAT_MAX if name == "float" else sys.float_info.max):
        raise ValueError("it is out of range")
    # A column of floats is compared with the nearest float, as Iceberg does.
    return float(struct.unpack("<f", struct.pack("<f", number))[0]) if name == "float" else number


def _decimal(token: Token, of: Decimal) -> decimal.Decimal:
    number = decimal.Decimal(_number(token))
    if number and abs(number.adjusted()) > NUMBER_LENGTH_MAX:  # before its digits are written out
        raise ValueError("it is out of range")
    whole = unscaled(number, of.scale) if number else 0
    if abs(whole) >= 10**of.precision:
        raise ValueError("it is out of range")
    return scaled(whole, of.scale)


def _boolean(token: Token) -> bool:
    text = _text(token, "word").lower()
    if text not in {"true", "false"}:
        raise ValueError
    return text == "true"


def _bytes(token: Token, length: int | None = None) -> bytes:
    data = bytes.fromhex(_text(token, "hex"))
    if length is not None and len(data) != length:
        raise ValueError(f"it has {len(data)} bytes")
    return data


def _uuid(token: Token) -> UUID:
    text = _text(token, "string")
    if not _UUID.fullmatch(text):
        raise ValueError
    return UUID(text)


def _date(token: Token) -> int:
    found = _DAY.fullmatch(_text(token, "string", "date").strip())
    if not found:
        raise ValueError
    return _days(*found.groups())


def _days(year: str, month: str, day: str) -> int:
    return date(int(year), int(month), int(day)).toordinal() - _EPOCH


def _time(token: Token) -> int:
    found = _CLOCK.fullmatch(_text(token, "string").strip())
    if not found:
        raise ValueError
    return _since_midnight(found.groups(), _MICRO_DIGITS)


def _since_midnight(parts: tuple[str | None, ...], digits: int) -> int:
    power: int = 10**digits
    hour, minute, second = (int(part or 0) for part in parts[:3])
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("a day has no such time")
    fraction = (parts[3] or "").ljust(_NANO_DIGITS, "0")
    if fraction[digits:].strip("0"):
        raise ValueError(f"the column keeps {digits} digits of a second")
    return (hour * 3600 + minute * 60 + second) * power + int(fraction[:digits])


def _moment(token: Token, name: str) -> int:
    found = _MOMENT.fullmatch(_text(token, "string", "timestamp", "date").strip())
    if not found:
        raise ValueError
    digits = _NANO_DIGITS if name.endswith("_ns") else _MICRO_DIGITS
    zone = found[10]
    if zone is not None and "tz" not in name:
        raise ValueError("the column has no time zone")
    minutes = _offset(zone)
    days = _days(found[2], found[3], found[4])
    since = _since_midnight((found[6], found[7], found[8], found[9]), digits)
    power: int = 10**digits
    number = (days * 86_400 - minutes * 60) * power + since
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("it is out of range")
    return number


def _offset(zone: str | None) -> int:
    """Minutes east of UTC. Without a zone a time is UTC, as everywhere here."""
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    if minutes > _OFFSET_MINUTES_MAX or int(zone[4:6]) > 59:
        raise ValueError("there is no such time zone")
    return -minutes if zone[0] == "-" else minutes


_READERS: dict[str, Callable[[Token], Value]] = {
    "boolean": _boolean,
    "string": lambda token: _text(token, "string"),
    "binary": _bytes,
    "uuid": _uuid,
    "date": _date,
    "time": _time,
}
