"""Numpy columns and a few small values as bytes, for the cache. Damaged bytes come back as None, never as an error.

The form is ours and plain: a checksum, a JSON head, then the columns one after the other, deflated. Nothing in it is
run when it is read.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from firnline.core.types import Json
from firnline.facts.entries import Longs

_HEAD = struct.Struct("<III")  # checksum of the rest, length of the JSON head, length of everything when inflated
INFLATED_MAX = 1 << 30  # a table's largest manifest folds into some megabytes; what says more is damaged


@dataclass(frozen=True, slots=True)
class Packed:
    """Small values and columns of whole numbers; a column may have several numbers a row."""

    values: Mapping[str, Json]
    columns: Mapping[str, Longs]


def pack(content: Packed) -> bytes:
    """The bytes of it."""
    arrays = {name: np.ascontiguousarray(column, np.int64) for name, column in content.columns.items()}
    shapes = {name: list(column.shape) for name, column in arrays.items()}
    head = json.dumps({"values": content.values, "columns": shapes}, separators=(",", ":")).encode()
    body = head + b"".join(column.tobytes() for column in arrays.values())
    squeezed = zlib.compress(body, 1)
    return _HEAD.pack(zlib.crc32(squeezed), len(head), len(body)) + squeezed


def unpack(data: bytes) -> Packed | None:
    """What was packed; None when the bytes are not whole."""
    try:
        checksum, head_length, length = _HEAD.unpack_from(data)
        squeezed = data[_HEAD.size :]
        if zlib.crc32(squeezed) != checksum or length > INFLATED_MAX:
            return None
        body = zlib.decompress(squeezed, bufsize=length)
        head = json.loads(body[:head_length])
        return Packed(head["values"], _columns(body, head_length, head["columns"]))
    except (struct.error, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None


def _columns(body: bytes, start: int, shapes: Mapping[str, list[int]]) -> dict[str, Longs]:
    columns: dict[str, Longs] = {}
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        columns[name] = np.frombuffer(body, np.int64, count, start).reshape(shape)
        start += 8 * count
    return columns
