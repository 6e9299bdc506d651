"""What is known of one column in many files at once, and which of them may hold a row that passes a test.

The rules are those of Iceberg's inclusive evaluators: too much may be kept, never too little. Where Iceberg itself
keeps too little, it is not followed: a test with zero keeps 0.0 and -0.0, and UUIDs are held against both orders that
writers have given them, the bytes' own and Java's. NaN compares with nothing, as in Iceberg: bounds leave it out.

A test costs a few numpy operations over all files: of 64-bit numbers where values are of fixed width, of Python's
objects otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from firnline.core.types import Fixed, Primitive, Type
from firnline.facts.entries import Truths
from firnline.facts.predicates import Term
from firnline.facts.single_values import FLOATS, Key, from_partition, order_key

IN_MAX = 200  # longer lists are not looked at, as in Iceberg
KeyArray: TypeAlias = NDArray[Any]  # of 64-bit numbers, or of objects
_NAN = (1 << 63) - 1  # above every float
_ZERO, _ZERO_BELOW = 0, -1  # 0.0 and -0.0 in IEEE 754's total order


@dataclass(frozen=True, slots=True)
class Keys:
    """A bound of each file as its place in the order of values, and whether there is one."""

    values: KeyArray
    known: Truths


@dataclass(frozen=True, slots=True)
class Ranges:
    """One column in many files. With `exact` both bounds are the one value that a file has, or null.

    `incomparable`: no row has a value that could be compared.
    """

    incomparable: Truths
    only_null: Truths
    only_nan: Truths
    maybe_null: Truths
    maybe_nan: Truths
    lower: Keys
    upper: Keys
    exact: bool = False

    def __len__(self) -> int:
        return len(self.only_null)


def keys_of(keys: Iterable[Key | None], of: Type) -> Keys:
    """Keys one by one; None where there is none, or one that values of the type do not have."""
    filler = _filler(of)
    listed = [key if isinstance(key, type(filler)) else None for key in keys]
    found = np.empty(len(listed), object)
    found[:] = [filler if key is None else key for key in listed]
    return Keys(found, np.array([key is not None for key in listed], bool))


def _filler(of: Type) -> Key:
    match of:
        case Fixed() | Primitive("string" | "binary"):
            return b""
        case Primitive("uuid"):
            return bytes(16)
        case _:
            return 0


def of_values(values: Sequence[object], of: Type) -> Ranges:
    """Files that have one value each, such as a part of their partition. What is no value of the type may be any."""
    typed = [from_partition(value, of) for value in values]
    nan = np.array([isinstance(value, float) and math.isnan(value) for value in typed], bool)
    found = (None if value is None else order_key(value, of) for value in typed)
    keys = keys_of((_NAN if is_nan else key for key, is_nan in zip(found, nan.tolist(), strict=True)), of)
    null = np.array([value is None for value in values], bool)
    puzzling = ~null & ~keys.known
    return Ranges(null, null, nan, null | puzzling, nan | puzzling, keys, keys, exact=True)


def may_pass(term: Term, ranges: Ranges) -> Truths:
    """Which files may hold a row that passes."""
    passing = _may_pass(term, ranges)
    if term.column.type == Primitive("uuid") and term.values:
        turned = replace(ranges, lower=_javas(ranges.lower), upper=_javas(ranges.upper))
        values = tuple(UUID(bytes=_java(value.bytes)) for value in term.values if isinstance(value, UUID))
        passing = passing | _may_pass(replace(term, values=values), turned)
    return passing


def _may_pass(term: Term, ranges: Ranges) -> Truths:
    match term.test:
        case "is null":
            return ranges.maybe_null
        case "is not null":
            return ~ranges.only_null
        case "is nan":
            return ranges.maybe_nan & ~ranges.only_null
        case "is not nan":
            return ~ranges.only_nan
        case "!=" | "not in":
            return ~_always_one_of(_literals(term), ranges, floats=_is_float(term))
        case "starts with" | "not starts with":
            return _by_prefix(term, ranges)
        case _:
            return _compared(term, ranges)


def _is_float(term: Term) -> bool:
    return isinstance(term.column.type, Primitive) and term.column.type.name in FLOATS


def _literals(term: Term) -> list[Key]:
    return [key for value in term.values if (key := order_key(value, term.column.type)) is not None]


def _compared(term: Term, ranges: Ranges) -> Truths:
    written = _literals(term)
    wide = _with_both_zeros(written) if _is_float(term) else sorted(written)
    lower, upper = ranges.lower, ranges.upper
    found: Truths
    match term.test:
        case "<":
            found = ~lower.known | (lower.values < _boxed(written[0]))
        case "<=":
            found = ~lower.known | (lower.values <= _boxed(wide[-1]))
        case ">":
            found = ~upper.known | (upper.values > _boxed(written[0]))
        case ">=":
            found = ~upper.known | (upper.values >= _boxed(wide[0]))
        case "=":
            below = ~lower.known | (lower.values <= _boxed(wide[-1]))
            found = below & (~upper.known | (upper.values >= _boxed(wide[0])))
        case _:
            found = _some_between(wide, ranges, counted=len(written))
    if ranges.exact and term.test in {"<", "<="}:
        return found  # Iceberg sorts a null partition before every value
    return found & ~ranges.incomparable


def _with_both_zeros(literals: list[Key]) -> list[Key]:
    zeros = {*literals} & {_ZERO, _ZERO_BELOW}
    return sorted({*literals, _ZERO, _ZERO_BELOW} if zeros else literals)


def _some_between(literals: list[Key], ranges: Ranges, *, counted: int) -> Truths:
    """Whether some literal lies between the bounds."""
    if counted > IN_MAX and not ranges.exact:
        return np.ones(len(ranges), bool)
    lower, upper = ranges.lower, ranges.upper
    row = _row(literals, like=lower.values)
    at = np.searchsorted(row, lower.values)
    inside = at < len(row)
    following = row[np.minimum(at, len(row) - 1)]
    found: Truths = ~lower.known | (inside & (~upper.known | (following <= upper.values)))
    return found


def _always_one_of(literals: list[Key], ranges: Ranges, *, floats: bool) -> Truths:
    """Whether every row has one value, and that is among the literals."""
    lower, upper = ranges.lower, ranges.upper
    single = lower.known & upper.known & ~ranges.maybe_null
    if floats:
        single = single & ~ranges.maybe_nan
    row = _row(sorted(literals), like=lower.values)
    following = row[np.minimum(np.searchsorted(row, lower.values), len(row) - 1)]
    found: Truths = single & (lower.values == upper.values) & (following == lower.values)
    return found


def _by_prefix(term: Term, ranges: Ranges) -> Truths:
    (prefix,) = _literals(term)
    assert isinstance(prefix, bytes)
    lower, upper = ranges.lower.known, ranges.upper.known
    first, last = _heads(ranges.lower.values, len(prefix)), _heads(ranges.upper.values, len(prefix))
    found: Truths
    if term.test == "starts with":
        found = (~lower | (first <= _boxed(prefix))) & (~lower | ~upper | (last >= _boxed(prefix)))
        return found & ~ranges.only_null
    found = (first != _boxed(prefix)) | (last != _boxed(prefix))
    return found | ~lower | ~upper | ranges.maybe_null


def _heads(values: KeyArray, size: int) -> KeyArray:
    heads = np.empty(len(values), object)
    heads[:] = [value[:size] for value in values.tolist()]
    return heads


def _javas(keys: Keys) -> Keys:
    turned = np.empty(len(keys.values), object)
    turned[:] = [_java(value) for value in keys.values.tolist()]
    return Keys(turned, keys.known)


def _java(data: bytes) -> bytes:
    """The bytes of a UUID changed so that they are in order as Java has UUIDs: two signed numbers."""
    return bytes((data[0] ^ 0x80, *data[1:8], data[8] ^ 0x80, *data[9:]))


def _boxed(key: Key) -> Any:
    """A literal as numpy compares it: bytes in a box of their own, or their last zeros would be lost."""
    if isinstance(key, int):
        return key
    box = np.empty((), object)
    box[()] = key
    return box


def _row(keys: list[Key], *, like: KeyArray) -> KeyArray:
    row = np.empty(len(keys), object)
    row[:] = keys
    return row.astype(np.int64) if like.dtype == np.int64 else row
