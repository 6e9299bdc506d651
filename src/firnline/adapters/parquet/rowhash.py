"""The typed row hash: Arrow batches in, a tally out. All readers of a proof share it; it runs on executors too.

Every value becomes two 64-bit words by one rule per Iceberg type; a column's sum adds them up, a row's hash mixes those
of its columns, each under its field id, and the table's sum adds up the rows.

What is one value, and what is two:
- a null differs from every value, an empty list from a null list, an absent field is a null;
- every NaN is the same NaN, and -0.0 differs from 0.0: files keep both, so a reader that loses one did lose something;
- a decimal is its unscaled number under its scale; a timestamp its instant, with or without zone as the reader gave it;
- a map's entries have no order, a list's elements do; strings are their UTF-8 bytes; a uuid its 16 bytes.

Why sums are enough: with well-mixed hashes the sums of two different multisets agree by chance once in 2^64 per lane,
and the lanes use different multipliers and seeds: once in 2^128. Addition (not exclusive or) keeps pairs of equal rows
from cancelling out. It is no defence against somebody who builds a collision on purpose; corruption does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firnline.core import types
from firnline.core.types import show
from firnline.proof.values import ColumnTally, ReadRequest, Sum, Tally

Words = npt.NDArray[np.uint64]
Lanes = npt.NDArray[np.uint64]  # two rows: one per lane

# Hashing a batch takes a few times its bytes for a moment: larger batches are cut.
ROWS_MAX = 65_536
BYTES_MAX = 32 << 20

_MULTIPLY_1 = np.array([[0xBF58476D1CE4E5B9], [0xFF51AFD7ED558CCD]], dtype=np.uint64)
_MULTIPLY_2 = np.array([[0x94D049BB133111EB], [0xC4CEB9FE1A85EC53]], dtype=np.uint64)
_POSITION = np.array([[0x9E3779B97F4A7C15], [0xD1B54A32D192ED03]], dtype=np.uint64)
_NAN_64 = np.uint64(0x7FF8000000000000)
_NAN_32 = np.uint64(0x7FC00000)


class MistypedError(Exception):
    """A reader gave a column in an Arrow type that cannot hold its Iceberg type."""


@dataclass(slots=True)
class _Count:
    """NaNs met inside one column, at any depth."""

    nans: int = 0


def tally(batches: Iterable[pa.RecordBatch], request: ReadRequest) -> Tally:
    """The tally of batches whose columns are those of `request.fields`, in that order; their names do not matter."""
    total = Tally.zero(tuple(_id(field) for field in request.fields.fields))
    for batch in batches:
        for piece in _pieces(batch):
            total += _tally_piece(piece, request)
    return total


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows <= ROWS_MAX and (batch.num_rows <= 1 or batch.nbytes <= BYTES_MAX):
        yield batch
        return
    half = batch.num_rows // 2
    yield from _pieces(batch.slice(0, half))
    yield from _pieces(batch.slice(half))


def _tally_piece(batch: pa.RecordBatch, request: ReadRequest) -> Tally:
    fields = request.fields.fields
    if batch.num_columns != len(fields):
        raise MistypedError(f"{len(fields)} columns were asked for and {batch.num_columns} came")
    rows = batch.num_rows
    whole, shared = (np.zeros((2, rows), dtype=np.uint64) for _ in range(2))
    columns: dict[int, ColumnTally] = {}
    for position, field in enumerate(fields):
        array, count = _plain(batch.column(position)), _Count()
        try:
            hashes = _hash(array, field.type, count)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise MistypedError(f"column {field.name}: {show(field.type)} came as {array.type}: {error}") from error
        columns[_id(field)] = ColumnTally(array.null_count, count.nans, _sum(hashes))
        keyed = _mix(hashes + _key(f"field {field.id}"))
        whole += keyed
        if field.id in request.shared:
            shared += keyed
    return Tally(rows, columns, _sum(_mix(whole + _key("row"))), _sum(_mix(shared + _key("row"))))


def _id(field: types.Field) -> int:
    if field.id is None:
        raise MistypedError(f"column {field.name} has no field id")
    return field.id


def _plain(array: pa.Array) -> pa.Array:
    """The values themselves: a dictionary can hide nulls behind valid indices, an extension type its storage."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _sum(hashes: Lanes) -> Sum:
    high, low = hashes.sum(axis=1, dtype=np.uint64).tolist() if hashes.shape[1] else (0, 0)
    return Sum(high, low)


_KEYS: dict[str, Lanes] = {}


def _key(text: str) -> Lanes:
    """A fixed pair of words for a purpose: it keeps an int 1 from being a date 1, and column 3 from being column 4."""
    if text not in _KEYS:
        digest = hashlib.blake2b(text.encode(), digest_size=16, person=b"firnline-proof").digest()
        _KEYS[text] = np.frombuffer(digest, dtype="<u8").astype(np.uint64).reshape(2, 1)
    return _KEYS[text]


def _mix(lanes: Lanes) -> Lanes:
    """A bijective finaliser per lane; overwrites its argument."""
    lanes ^= lanes >> np.uint64(30)
    lanes *= _MULTIPLY_1
    lanes ^= lanes >> np.uint64(27)
    lanes *= _MULTIPLY_2
    lanes ^= lanes >> np.uint64(31)
    return lanes


def _hash(array: pa.Array, of: types.Type, count: _Count) -> Lanes:
    """Hashes of the values of one array, nulls included: two rows of words, one column per value."""
    array = _plain(array)
    if pa.types.is_null(array.type):
        return np.repeat(_key("null"), len(array), axis=1)
    match of:
        case types.Struct():
            hashes = _hash_struct(array, of, count)
        case types.ListOf():
            hashes = _hash_list(array, of, count)
        case types.MapOf():
            hashes = _hash_map(array, of, count)
        case types.Decimal():
            hashes = _hash_decimal(array, of)
        case types.Fixed():
            hashes = _hash_bytes(array, "fixed")
        case types.Primitive():
            hashes = _hash_primitive(array, of.name, count)
        case _:
            raise MistypedError(f"{show(of)} has no canonical form to compare")
    if array.null_count:
        hashes[:, _null_mask(array)] = _key("null")
    return hashes


def _null_mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return mask


def _hash_primitive(array: pa.Array, name: str, count: _Count) -> Lanes:
    match name:
        case "boolean":
            return _hash_words(_words(array.cast(pa.bool_()).cast(pa.uint8()), "u1"), name)
        case "int" | "long":
            return _hash_words(_words(array.cast(pa.int64()), "<i8"), name)
        case "float":
            return _hash_words(_float_words(array.cast(pa.float32()), "<u4", "<f4", _NAN_32, count), name)
        case "double":
            return _hash_words(_float_words(array.cast(pa.float64()), "<u8", "<f8", _NAN_64, count), name)
        case "date":
            return _hash_words(_words(array.cast(pa.date32()), "<i4"), name)
        case "time":
            return _hash_words(_words(array.cast(pa.time64("us")), "<i8"), name)
        case "timestamp" | "timestamptz":
            return _hash_timestamp(array, "us")
        case "timestamp_ns" | "timestamptz_ns":
            return _hash_timestamp(array, "ns")
        case "string" | "binary":
            return _hash_bytes(array, name)
        case "uuid":
            return _hash_bytes(_uuid_bytes(array), name)
        case _:
            raise MistypedError(f"{name} has no canonical form to compare")


def _words(array: pa.Array, dtype: str) -> Words:
    """The values of a fixed-width array as words; what stands in the place of a null is anything."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype=np.uint64)
    raw = np.frombuffer(data, dtype=dtype, count=array.offset + len(array))[array.offset :]
    return raw.astype(np.int64).view(np.uint64) if raw.dtype.kind == "i" else raw.astype(np.uint64)


def _float_words(array: pa.Array, bits: str, values: str, nan: np.uint64, count: _Count) -> Words:
    words = _words(array, bits)
    is_nan = np.isnan(words.astype(bits).view(values))
    words[is_nan] = nan
    count.nans += int((is_nan & ~_null_mask(array)).sum()) if array.null_count else int(is_nan.sum())
    return words


def _hash_words(words: Words, tag: str) -> Lanes:
    return _mix(words[np.newaxis, :] + _key(tag))


def _hash_timestamp(array: pa.Array, unit: str) -> Lanes:
    if not pa.types.is_timestamp(array.type):
        raise MistypedError(f"a timestamp came as {array.type}")
    zone = array.type.tz
    words = _words(array.cast(pa.timestamp(unit, tz=zone)), "<i8")
    return _hash_words(words, f"timestamp {unit} {'with' if zone else 'without'} zone")


def _hash_decimal(array: pa.Array, of: types.Decimal) -> Lanes:
    data = array.cast(pa.decimal128(38, of.scale))
    buffer = data.buffers()[1]
    if buffer is None or not len(data):
        return np.zeros((2, len(data)), dtype=np.uint64)
    pairs = np.frombuffer(buffer, dtype="<u8", count=2 * (data.offset + len(data)))[2 * data.offset :].reshape(-1, 2)
    low = _mix(pairs[:, 0].astype(np.uint64)[np.newaxis, :] + _key("decimal low"))
    high = _mix(pairs[:, 1].astype(np.uint64)[np.newaxis, :] + _key("decimal high"))
    return _mix(low + high + _key(f"decimal {of.scale}"))


def _uuid_bytes(array: pa.Array) -> pa.Array:
    """16 bytes each, from bytes or from text in any of the usual spellings."""
    kind = array.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return array
    plain = pc.replace_substring(array.cast(pa.large_string()), "-", "").fill_null("0" * 32)
    text = "".join(plain.to_pylist())
    if len(text) != 32 * len(array):
        raise MistypedError("a uuid came as text that is no uuid")
    raw = pa.py_buffer(bytes.fromhex(text))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(array), [None, raw])


def _hash_bytes(array: pa.Array, tag: str) -> Lanes:
    """Bytes of any length: words of eight, each mixed under its place, added up, and closed with the length."""
    plain = array.cast(pa.large_binary()) if pa.types.is_fixed_size_binary(array.type) else _as_large_binary(array)
    _, offset_buffer, data = plain.buffers()
    length = len(plain)
    if offset_buffer is None or not length:
        return np.zeros((2, length), dtype=np.uint64)
    offsets = np.frombuffer(offset_buffer, dtype="<i8", count=plain.offset + length + 1)[plain.offset :]
    starts, sizes = offsets[:-1], np.diff(offsets)
    counts = (sizes + 7) // 8
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]), dtype=np.int64) - np.repeat(ends - counts, counts)
    words = _gather(data, np.repeat(starts, counts) + 8 * places, np.repeat(sizes, counts) - 8 * places)
    mixed = _mix(words[np.newaxis, :] + places.view(np.uint64)[np.newaxis, :] * _POSITION + _key("bytes"))
    return _mix(_segments(mixed, ends - counts, ends) + sizes.view(np.uint64) * _POSITION + _key(tag))


def _as_large_binary(array: pa.Array) -> pa.Array:
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array.cast(pa.large_binary())


def _gather(data: pa.Buffer | None, starts: npt.NDArray[np.int64], left: npt.NDArray[np.int64]) -> Words:
    """The little-endian word at each byte position, cut to the bytes that are left there."""
    if data is None or not len(starts):
        return np.zeros(len(starts), dtype=np.uint64)
    first, last = int(starts.min()), int(starts.max()) + 8
    padded = np.zeros(last - first, dtype=np.uint8)
    used = min(last, data.size) - first
    padded[:used] = np.frombuffer(data, dtype=np.uint8, count=used, offset=first)
    sliding: Any = np.ndarray(shape=(len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    words: Words = sliding[starts - first].astype(np.uint64)
    short = left < 8
    words[short] &= (np.uint64(1) << (left[short].astype(np.uint64) * np.uint64(8))) - np.uint64(1)
    return words


def _segments(lanes: Lanes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Lanes:
    """The sum of each run of columns, modulo 2^64; an empty run is zero."""
    totals = np.zeros((2, lanes.shape[1] + 1), dtype=np.uint64)
    np.cumsum(lanes, axis=1, out=totals[:, 1:])
    return totals[:, ends] - totals[:, starts]


def _hash_struct(array: pa.Array, of: types.Struct, count: _Count) -> Lanes:
    if not pa.types.is_struct(array.type) or array.type.num_fields != len(of.fields):
        raise MistypedError(f"{show(of)} came as {array.type}")
    total = np.zeros((2, len(array)), dtype=np.uint64)
    # flatten() and not field(): what stands under a null struct is no value.
    for field, child in zip(of.fields, array.flatten(), strict=True):
        total += _mix(_hash(child, field.type, count) + _key(f"field {field.id}"))
    return _mix(total + _key("struct"))


def _hash_list(array: pa.Array, of: types.ListOf, count: _Count) -> Lanes:
    if not pa.types.is_list(array.type):
        array = array.cast(pa.large_list(array.type.value_field))
    starts, ends, rows = _runs(array)
    elements = _hash(_take(array.values, rows), of.element, count)
    places = np.arange(elements.shape[1], dtype=np.int64) - np.repeat(starts, ends - starts)
    keyed = _mix(elements + places.view(np.uint64)[np.newaxis, :] * _POSITION + _key("element"))
    return _mix(_segments(keyed, starts, ends) + (ends - starts).view(np.uint64) * _POSITION + _key("list"))


def _hash_map(array: pa.Array, of: types.MapOf, count: _Count) -> Lanes:
    if not pa.types.is_map(array.type):
        raise MistypedError(f"{show(of)} came as {array.type}")
    starts, ends, rows = _runs(array)
    keys = _mix(_hash(_take(array.keys, rows), of.key, count) + _key("map key"))
    values = _mix(_hash(_take(array.items, rows), of.value, count) + _key("map value"))
    entries = _mix(keys + values + _key("entry"))
    return _mix(_segments(entries, starts, ends) + (ends - starts).view(np.uint64) * _POSITION + _key("map"))


def _runs(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64] | slice]:
    """Where each list begins and ends among the elements in use, and which of the child's elements are in use.

    A null list may own elements in the child, and a slice owns only some: neither may be hashed or counted.
    """
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    sizes = np.diff(offsets)
    if array.null_count:
        sizes = np.where(_null_mask(array), 0, sizes)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    total = int(ends[-1]) if len(ends) else 0
    if len(offsets) and total == offsets[-1] - offsets[0]:
        return starts, ends, slice(int(offsets[0]), int(offsets[-1]))
    rows = np.arange(total, dtype=np.int64) + np.repeat(offsets[:-1] - starts, sizes)
    return starts, ends, rows


def _take(child: pa.Array, rows: npt.NDArray[np.int64] | slice) -> pa.Array:
    if isinstance(rows, slice):
        return child.slice(rows.start, rows.stop - rows.start)
    return child.take(pa.array(rows))
