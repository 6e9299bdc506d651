"""Iceberg's single values: bounds of columns and parts of partitions, as bytes, as Python values, in order, for people.

Appendix D of the specification. Integers stand for dates (days), times (microseconds) and timestamps (micro- or
nanoseconds since the epoch), as Iceberg has them. What is damaged, or of a type that has no single values, is None.
"""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TypeAlias
from uuid import UUID

from firnline.core.layout import PartitionField, PartitionSpec, parse_transform
from firnline.core.types import Decimal, Fixed, Primitive, Type, walk
from firnline.facts.meta import Schema

Value: TypeAlias = bool | int | float | str | bytes | decimal.Decimal | UUID
Key: TypeAlias = int | bytes

FLOATS = frozenset({"float", "double"})
_INTS = frozenset({"int", "date"})
_LONGS = frozenset({"long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_ERA_DAYS = 146_097  # of 400 years, after which the calendar repeats itself
_EPOCH = date(1970, 1, 1).toordinal()
_DAY_SECONDS = 86_400


def decode(data: bytes, of: Type) -> Value | None:
    """The value of these bytes. A number written before its column was widened has the shorter form of its old type."""
    match of:
        case Decimal():
            return scaled(int.from_bytes(data, "big", signed=True), of.scale) if data else None
        case Fixed():
            return data
        case Primitive(name):
            try:
                return _decode_primitive(data, name)
            except (struct.error, ValueError):
                return None
        case _:
            return None


def _decode_primitive(data: bytes, name: str) -> Value | None:
    if name in _INTS or (name == "long" and len(data) == 4):
        return int(struct.unpack("<i", data)[0])
    if name in _LONGS:
        return int(struct.unpack("<q", data)[0])
    match name:
        case "float" | "double":
            return float(struct.unpack("<f" if name == "float" or len(data) == 4 else "<d", data)[0])
        case "boolean":
            return bool(struct.unpack("<B", data)[0])
        case "string":
            return data.decode()
        case "uuid":
            return UUID(bytes=data)
        case "binary":
            return data
        case _:
            return None


def encode(value: Value, of: Type) -> bytes:
    """The bytes of a value of this type; the inverse of `decode`."""
    match value, of:
        case decimal.Decimal(), Decimal():
            return encode_decimal(unscaled(value, of.scale))
        case UUID(), Primitive("uuid"):
            return value.bytes
        case bytes(), Primitive("binary") | Fixed():
            return value
        case str(), Primitive("string"):
            return value.encode()
        case bool(), Primitive("boolean"):
            return bytes([value])
        case int() | float(), Primitive("float" | "double" as name):
            return struct.pack("<f" if name == "float" else "<d", value)
        case int(), Primitive(name) if name in _INTS | _LONGS:
            return struct.pack("<i" if name in _INTS else "<q", value)
        case _:
            raise ValueError(f"{value!r} is no single value of {of}")


def unscaled(value: decimal.Decimal, scale: int) -> int:
    """The whole number whose last `scale` digits stand behind the point; ValueError when digits would be lost."""
    if not value.is_finite():
        raise ValueError(f"{value} is no number")
    sign, digits, exponent = value.as_tuple()
    whole = int("".join(map(str, digits)))
    shift = int(exponent) + scale
    power: int = 10 ** abs(shift)
    number, lost = (whole * power, 0) if shift >= 0 else divmod(whole, power)
    if lost:
        raise ValueError(f"{value} has more than {scale} digits behind the point")
    return -number if sign else number


def scaled(number: int, scale: int) -> decimal.Decimal:
    """The inverse of `unscaled`."""
    return decimal.Decimal(f"{number}E-{scale}")  # from text: arithmetic would round to 28 digits


def encode_decimal(number: int) -> bytes:
    """Two's complement in as few bytes as hold it, the first byte first."""
    bits = (number if number >= 0 else ~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def from_partition(value: object, of: Type) -> Value | None:
    """A part of a partition as `Entries.decode_partition` gives it: decimals and uuids come as bytes there."""
    match value, of:
        case bytes(), Decimal() | Primitive("uuid" | "string"):
            return decode(value, of)
        case bool() | int() | float() | str() | bytes() | decimal.Decimal() | UUID(), _:
            return value
        case _:
            return None


def order_key(value: Value, of: Type) -> Key | None:
    """What orders like the value among values of its type; None for NaN, which has no place in bounds.

    Strings are in order of their UTF-8 bytes, floats in IEEE 754's total order: -0.0 comes before 0.0.
    """
    match value:
        case bool():
            return int(value)
        case int() if not (isinstance(of, Primitive) and of.name in FLOATS):
            return value
        case int() | float():
            return None if math.isnan(value) else _total_order(float(value))
        case str():
            return value.encode("utf-8", "surrogatepass")
        case decimal.Decimal():
            return unscaled(value, of.scale) if isinstance(of, Decimal) else None
        case UUID():
            return value.bytes
        case bytes():
            return value


def _total_order(value: float) -> int:
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else bits ^ 0x7FFF_FFFF_FFFF_FFFF


# ------------------------------------------------------------------------------------------------------- for people


def show(value: object, of: Type | None) -> str:
    """The value as people read it: `2026-11-18`, `2026-11-18T09:30:00Z`, `12.50`, `0aff`, `null`."""
    if value is None:
        return "null"
    known = from_partition(value, of) if of is not None else value
    match known, of:
        case bool(), _:
            return "true" if known else "false"
        case int(), Primitive(name):
            return _show_whole(known, name)
        case float(), _:
            return "NaN" if math.isnan(known) else str(known).replace("inf", "Infinity")
        case decimal.Decimal(), _:
            return f"{known:f}"
        case bytes(), _:
            return known.hex()
        case None, _:
            return value.hex() if isinstance(value, bytes) else str(value)
        case _:
            return str(known)


def _show_whole(number: int, name: str) -> str:
    match name:
        case "date":
            return show_day(number)
        case "time":
            return _clock(*divmod(number, 10**6), digits=6)
        case "timestamp" | "timestamptz":
            return _moment(*divmod(number, 10**6), digits=6, zone="Z" if name.endswith("tz") else "")
        case "timestamp_ns" | "timestamptz_ns":
            return _moment(*divmod(number, 10**9), digits=9, zone="Z" if "tz" in name else "")
        case _:
            return str(number)


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from the epoch, in years beyond Python's own too."""
    eras, rest = divmod(days, _ERA_DAYS)
    day = date.fromordinal(_EPOCH + rest)
    return day.year + 400 * eras, day.month, day.day


def show_day(days: int) -> str:
    """`2026-11-18` from days since the epoch."""
    year, month, day = civil(days)
    return f"{_year(year)}-{month:02d}-{day:02d}"


def _year(year: int) -> str:
    return f"{year:04d}" if year >= 0 else f"-{-year:04d}"


def _moment(seconds: int, parts: int, *, digits: int, zone: str) -> str:
    days, second = divmod(seconds, _DAY_SECONDS)
    return f"{show_day(days)}T{_clock(second, parts, digits=digits)}{zone}"


def _clock(seconds: int, parts: int, *, digits: int) -> str:
    fraction = f".{parts:0{digits}d}".rstrip("0") if parts else ""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def show_part(value: object, transform: str, source: Type | None) -> str:
    """The result of a transform as people read it: `2026-11` for a month, `2026-11-18-09` for an hour."""
    parsed = parse_transform(transform)
    if not isinstance(value, int) or isinstance(value, bool) or parsed is None:
        return show(value, source)
    match parsed[0]:
        case "year":
            return _year(1970 + value)
        case "month":
            return f"{_year(1970 + value // 12)}-{value % 12 + 1:02d}"
        case "day":
            return show_day(value)
        case "hour":
            return f"{show_day(value // 24)}-{value % 24:02d}"
        case "bucket":
            return str(value)
        case _:
            return show(value, source)


def partition_name(spec: PartitionSpec, types: Mapping[int, Type], values: tuple[object, ...]) -> str:
    """`day=2026-11-18/region=eu`: the names of the spec's fields with their values; nothing for no partition.

    `types` are those of the source columns (`source_types`). `/` and `=` in a name or a value are written %2F and %3D.
    """
    return "/".join(_name_part(field, value, types) for field, value in zip(spec.fields, values, strict=False))


def _name_part(field: PartitionField, value: object, types: Mapping[int, Type]) -> str:
    shown = show_part(value, field.transform, types.get(field.source_ids[0]))
    return f"{_escaped(field.name)}={_escaped(shown)}"


def _escaped(text: str) -> str:
    return text.replace("/", "%2F").replace("=", "%3D")


def source_types(schemas: Iterable[Schema]) -> dict[int, Type]:
    """The type of every column by its id; the last schema that has it says."""
    return {field.id: field.type for schema in schemas for _, field in walk(schema.struct) if field.id is not None}
