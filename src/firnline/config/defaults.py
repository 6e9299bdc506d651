"""Default values → Iceberg's JSON single-value form (the specification's appendix D), in one canonical writing.

Engines write the same value differently (`.100` or `.1`, hex in either case); what is compared must be one text.
"""

from __future__ import annotations

import base64
import binascii
import decimal
import math
import re
import uuid
from datetime import date, datetime, timedelta

from firnline.core.errors import BadInput
from firnline.core.types import Decimal, Fixed, Json, Primitive, Type, show

_INT = 2**31
_LONG = 2**63
_TIME = re.compile(r"(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE)
_PRECISE = decimal.Context(prec=80)


def canonical(value: Json, of: Type) -> Json:
    """The value as table metadata has it. Raises BadInput with the reason when the type cannot hold it."""
    match of:
        case Decimal():
            return _decimal(value, of)
        case Fixed():
            return _hex(value, of, of.length)
        case Primitive():
            return _primitive(value, of)
        case _:
            raise BadInput(f"{show(of)} takes no default.", next_step="Only single values have defaults.")


def _primitive(value: Json, of: Primitive) -> Json:
    match of.name:
        case "boolean" if isinstance(value, bool):
            return value
        case "int" | "long":
            return _whole(value, of)
        case "float" | "double":
            return _float(value, of)
        case "string" if isinstance(value, str):
            return value
        case "date":
            return _date(value)
        case "time":
            return _time(value)
        case "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns":
            return _timestamp(value, of.name)
        case "uuid":
            return _uuid(value)
        case "binary":
            return _hex(value, of, None)
        case "unknown" | "variant":
            raise BadInput(f"{of.name} takes no default.", next_step="Its default is always null.")
        case _:
            raise _misfit(value, of)


def _misfit(value: Json, of: Type, hint: str | None = None) -> BadInput:
    if hint is None and of == Primitive("string"):
        hint = f"Quote it: '{value}'."
    return BadInput(f"{value!r} is not a value of {show(of)}.", next_step=hint)


def _whole(value: Json, of: Primitive) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _misfit(value, of)
    bound = _INT if of.name == "int" else _LONG
    if not -bound <= value < bound:
        raise BadInput(f"{value} is too large for {of.name}.")
    return value


def _float(value: Json, of: Primitive) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _misfit(value, of)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _misfit(value, of, "JSON metadata holds finite numbers only.")
    if of.name == "float" and abs(number) > 3.4028234663852886e38:
        raise BadInput(f"{value} is too large for float.")
    return number


def _decimal(value: Json, of: Decimal) -> str:
    try:
        number = decimal.Decimal(str(value)) if not isinstance(value, bool) else decimal.Decimal("nan")
        exact = number.quantize(decimal.Decimal(1).scaleb(-of.scale), context=_PRECISE)
    except decimal.InvalidOperation:
        raise _misfit(value, of) from None
    if not number.is_finite() or exact != number:
        raise BadInput(
            f"{value} has more than {of.scale} digits after the point.", next_step="Round it, or widen the type."
        )
    if len(exact.as_tuple().digits) > of.precision:
        raise BadInput(f"{value} has more digits than {show(of)} holds.")
    return format(exact, "f")


def _date(value: Json) -> str:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
    raise _misfit(value, Primitive("date"), "Write it as 2026-11-18.")


def _clock(text: str) -> str | None:
    try:
        return datetime.fromisoformat(f"2000-01-01T{text}").time().isoformat()
    except ValueError:
        return None


def _fraction(digits: str | None, most: int, value: Json, of: Primitive) -> str:
    kept = (digits or "").rstrip("0")
    if len(kept) > most:
        raise BadInput(f"{value!r} is more exact than {show(of)}: it has {most} digits after the second.")
    return f".{kept}" if kept else ""


def _time(value: Json) -> str:
    of = Primitive("time")
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    clock = _clock(found[1]) if found else None
    if found is None or clock is None:
        raise _misfit(value, of, "Write it as 22:31:08 or 22:31:08.123456.")
    return clock + _fraction(found[2], 6, value, of)


def _timestamp(value: Json, name: str) -> str:
    of, zoned = Primitive(name), name.startswith("timestamptz")
    found = _STAMP.fullmatch(value) if isinstance(value, str) else None
    example = "2026-11-18T09:30:00+00:00" if zoned else "2026-11-18T09:30:00"
    if found is None:
        raise _misfit(value, of, f"Write it as {example}.")
    if bool(found[4]) is not zoned:
        problem = "has no zone, and the type does" if zoned else "has a zone, and the type has none"
        raise BadInput(f"{value!r} {problem}.", next_step=f"Write it as {example}.")
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{found[2]}") - _offset(found[4])
    except (ValueError, OverflowError):
        raise _misfit(value, of, f"Write it as {example}.") from None
    fraction = _fraction(found[3], 9 if name.endswith("_ns") else 6, value, of)
    return f"{moment.isoformat()}{fraction}{'+00:00' if zoned else ''}"


def _offset(text: str | None) -> timedelta:
    if text is None or text.upper() == "Z":
        return timedelta()
    digits = text[1:].replace(":", "")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -length if text[0] == "-" else length


def _uuid(value: Json) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise _misfit(value, Primitive("uuid"), "Write it as f79c3e09-677c-4bbd-a479-3f349cb785e7.") from None


def _hex(value: Json, of: Type, length: int | None) -> str:
    try:
        found = base64.b16decode(value.upper()) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        found = None
    if found is None:
        raise _misfit(value, of, "Write its bytes as quoted hexadecimal digits, two for each.")
    if length is not None and len(found) != length:
        raise BadInput(f"{value!r} is {len(found)} bytes; {show(of)} holds exactly {length}.")
    return found.hex().upper()
