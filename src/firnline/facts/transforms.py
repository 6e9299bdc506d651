"""Partition transforms: from the value of a column to the value of a partition, as Iceberg's writers compute it.

Hashes follow appendix B of the specification. A transform this version does not know, or one that does not take the
type of its source, has no function: whoever plans with it must keep what it cannot judge.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from firnline.core.layout import accepts, parse_transform
from firnline.core.types import Decimal, Primitive, Type
from firnline.facts.single_values import Value, civil, encode_decimal, scaled, unscaled

Function: TypeAlias = Callable[[Value], Value | None]

_MASK = 0xFFFF_FFFF
_DAY_MICROS = 86_400 * 10**6
_HOUR_MICROS = 3_600 * 10**6
_BITS = {"int": 32, "long": 64}


def result_type(transform: str, source: Type) -> Type | None:
    """The type of the transform's results, or None for a transform this version does not know."""
    parsed = parse_transform(transform)
    match parsed[0] if parsed else None:
        case None:
            return None
        case "bucket" | "year" | "month" | "hour":
            return Primitive("int")
        case "day":
            return Primitive("date")
        case _:
            return source


def function(transform: str, source: Type) -> Function | None:
    """What computes the transform for values of this type, or None when nothing here can."""
    parsed = parse_transform(transform)
    if parsed is None or not accepts(transform, source):
        return None
    word, number = parsed
    match word:
        case "identity":
            return _same
        case "void":
            return _nothing
        case "bucket":
            return lambda value: (bucket_hash(value, source) & 0x7FFF_FFFF) % (number or 1)
        case "truncate":
            return lambda value: _truncated(value, number or 1, source)
        case _:
            return lambda value: _period(word, value, source)


def _same(value: Value) -> Value:
    return value


def _nothing(_: Value) -> None:
    return None


def _truncated(value: Value, width: int, source: Type) -> Value:
    match value, source:
        case int(), Primitive(name) if name in _BITS:
            return wrapped(value - value % width, _BITS[name])
        case decimal.Decimal(), Decimal():
            number = unscaled(value, source.scale)
            return scaled(number - number % width, source.scale)
        case str() | bytes(), _:
            return value[:width]
        case _:
            raise ValueError(f"{value!r} cannot be truncated")


def wrapped(number: int, bits: int) -> int:
    """The number as Java's arithmetic leaves it: below the smallest one it goes on from the largest."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def _period(word: str, value: Value, source: Type) -> int:
    if not isinstance(value, int) or not isinstance(source, Primitive):
        raise ValueError(f"{value!r} is no point in time")  # noqa: TRY004 -- like every other value of the wrong type
    micros = value * _DAY_MICROS if source.name == "date" else to_micros(value, source.name)
    if word == "hour":
        return micros // _HOUR_MICROS
    days = micros // _DAY_MICROS
    year, month, _ = civil(days)
    return {"day": days, "month": (year - 1970) * 12 + month - 1, "year": year - 1970}[word]


def to_micros(value: int, name: str) -> int:
    """A timestamp in microseconds, the part of one that is left over dropped."""
    return value // 1000 if name.endswith("_ns") else value


# --------------------------------------------------------------------------------------------------------- hashes


def bucket_hash(value: Value, source: Type) -> int:
    """The 32-bit hash of a value, of which a bucket is the remainder."""
    match value:
        case int():
            whole = to_micros(value, source.name) if isinstance(source, Primitive) else value
            return murmur3(whole.to_bytes(8, "little", signed=True))
        case decimal.Decimal() if isinstance(source, Decimal):
            return murmur3(encode_decimal(unscaled(value, source.scale)))
        case str():
            return murmur3(value.encode())
        case UUID():
            return murmur3(value.bytes)
        case bytes():
            return murmur3(value)
        case _:
            raise ValueError(f"{value!r} falls into no bucket")


def murmur3(data: bytes, seed: int = 0) -> int:
    """The 32-bit variant of Murmur3 for x86, signed as Java has it."""
    state = seed
    whole = len(data) - len(data) % 4
    for at in range(0, whole, 4):
        state ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        state = (_rotated(state, 13) * 5 + 0xE654_6B64) & _MASK
    state ^= _mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    state = ((state ^ (state >> 16)) * 0x85EB_CA6B) & _MASK
    state = ((state ^ (state >> 13)) * 0xC2B2_AE35) & _MASK
    return wrapped(state ^ (state >> 16), 32)


def _mixed(word: int) -> int:
    return (_rotated(word * 0xCC9E_2D51 & _MASK, 15) * 0x1B87_3593) & _MASK


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _MASK
