"""Avro, slow and obvious: the reader and writer the decoder is held against. Nothing here is shared with it.

The writer makes every choice the format leaves open by throwing dice: how lists are split into runs, whether runs say
their size, whether numbers are longer than they need to be, how many records go into a block.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import random
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

MAGIC = b"Obj\x01"
CODECS = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")


@dataclass
class Style:
    """How values are written where the format leaves a choice. Plain: as every library does it."""

    dice: random.Random
    runs: bool = False  # lists in several runs, some with their size
    long_numbers: bool = False  # numbers with needless continuation bytes

    def number(self, value: int) -> bytes:
        bits = (value << 1) ^ (value >> 63)
        out = bytearray()
        while bits > 0x7F:
            out.append(bits & 0x7F | 0x80)
            bits >>= 7
        out.append(bits)
        while self.long_numbers and len(out) < 10 and self.dice.random() < 0.05:
            out[-1] |= 0x80
            out.append(0)
        return bytes(out)


def plain() -> Style:
    return Style(random.Random(0))


def encode(schema: Any, value: Any, style: Style) -> bytes:
    """A value by its schema. Unions take the first branch that fits; maps are dicts."""
    if isinstance(schema, list):
        index = next(place for place, branch in enumerate(schema) if fits(branch, value))
        # The number of a branch is never written longer: the format leaves it open, no writer does it.
        return plain().number(index) + encode(schema[index], value, style)
    kind = schema["type"] if isinstance(schema, dict) else schema
    match kind:
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long":
            return style.number(value)
        case "float":
            return struct.pack("<f", value)
        case "double":
            return struct.pack("<d", value)
        case "string":
            raw = str(value).encode()
            return style.number(len(raw)) + raw
        case "bytes":
            return style.number(len(value)) + bytes(value)
        case "fixed":
            return bytes(value)
        case "record":
            return b"".join(encode(field["type"], value[field["name"]], style) for field in schema["fields"])
        case "array":
            return _runs([encode(schema["items"], item, style) for item in value], style)
        case "map":
            pairs = [
                encode("string", key, style) + encode(schema["values"], item, style) for key, item in value.items()
            ]
            return _runs(pairs, style)
        case _:
            return encode(kind, value, style)


def fits(schema: Any, value: Any) -> bool:
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return fits(kind, value)
    wanted: dict[str, type | tuple[type, ...]] = {
        "null": type(None), "boolean": bool, "int": int, "long": int, "float": float, "double": float, "string": str,
        "bytes": bytes, "fixed": bytes, "record": dict, "array": list, "map": dict,
    }  # fmt: skip
    return isinstance(value, wanted[kind]) and (kind == "boolean") == isinstance(value, bool)


def _runs(items: Sequence[bytes], style: Style) -> bytes:
    out, first = b"", 0
    while first < len(items):
        count = style.dice.randint(1, len(items) - first) if style.runs else len(items)
        body = b"".join(items[first : first + count])
        sized = style.runs and style.dice.random() < 0.5
        out += style.number(-count) + style.number(len(body)) + body if sized else style.number(count) + body
        first += count
    return out + style.number(0)


def decode(schema: Any, stream: io.BytesIO) -> Any:
    """A value by its schema."""
    if isinstance(schema, list):
        return decode(schema[_number(stream)], stream)
    kind = schema["type"] if isinstance(schema, dict) else schema
    match kind:
        case "null":
            return None
        case "boolean":
            return stream.read(1) != b"\x00"
        case "int" | "long":
            return _number(stream)
        case "float":
            return struct.unpack("<f", stream.read(4))[0]
        case "double":
            return struct.unpack("<d", stream.read(8))[0]
        case "string":
            return stream.read(_number(stream)).decode()
        case "bytes":
            return stream.read(_number(stream))
        case "fixed":
            return stream.read(schema["size"])
        case "record":
            return {field["name"]: decode(field["type"], stream) for field in schema["fields"]}
        case "array":
            return list(_items(stream, lambda: decode(schema["items"], stream)))
        case "map":
            return dict(_items(stream, lambda: (decode("string", stream), decode(schema["values"], stream))))
        case _:
            return decode(kind, stream)


def _items(stream: io.BytesIO, one: Callable[[], Any]) -> Iterator[Any]:
    while count := _number(stream):
        if count < 0:
            _number(stream)
        for _ in range(abs(count)):
            yield one()


def _number(stream: io.BytesIO) -> int:
    bits = shift = 0
    while True:
        byte = stream.read(1)[0]
        bits |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            bits &= 2**64 - 1
            return bits >> 1 if not bits & 1 else -(bits >> 1) - 1


def deflate(codec: str, data: bytes) -> bytes:
    """A block as its codec has it."""
    match codec:
        case "null":
            return data
        case "deflate":
            packer = zlib.compressobj(6, zlib.DEFLATED, -15)
            return packer.compress(data) + packer.flush()
        case "snappy":
            return snappy(data) + zlib.crc32(data).to_bytes(4, "big")
        case "zstandard":
            stream = zstandard.ZstdCompressor().compressobj()  # so without its size, as Java does
            return stream.compress(data) + stream.flush()
        case "bzip2":
            return bz2.compress(data)
        case _:
            return lzma.compress(data)


def snappy(data: bytes) -> bytes:
    """Snappy by the book and by greed: literals, and copies of all three kinds."""
    size, out = len(data), bytearray()
    while True:
        out.append(size & 0x7F | (0x80 if size > 0x7F else 0))
        size >>= 7
        if not size:
            break
    seen: dict[bytes, int] = {}
    at = pending = 0
    while at < len(data):
        before = seen.get(data[at : at + 4])
        seen[data[at : at + 4]] = at
        if before is None or at + 4 > len(data):
            at += 1
            continue
        length = 4
        while length < 64 and at + length < len(data) and data[before + length] == data[at + length]:
            length += 1
        out += _literal(data[pending:at]) + _copy(length, at - before)
        at += length
        pending = at
    return bytes(out + _literal(data[pending:]))


def _literal(data: bytes) -> bytes:
    if not data:
        return b""
    size = len(data) - 1
    if size < 60:
        return bytes([size << 2]) + data
    width = (size.bit_length() + 7) // 8
    return bytes([(59 + width) << 2]) + size.to_bytes(width, "little") + data


def _copy(length: int, offset: int) -> bytes:
    if length < 12 and offset < 2048:
        return bytes([1 | (length - 4) << 2 | (offset >> 8) << 5, offset & 0xFF])
    if offset < 65536:
        return bytes([2 | (length - 1) << 2]) + offset.to_bytes(2, "little")
    return bytes([3 | (length - 1) << 2]) + offset.to_bytes(4, "little")


def write(
    schema: Any,
    values: Sequence[Any],
    *,
    codec: str = "deflate",
    style: Style | None = None,
    per_block: Callable[[], int] = lambda: 100,
    metadata: Mapping[str, str] | None = None,
    sync: bytes = bytes(range(16)),
) -> bytes:
    """A container file. `per_block` says how many records the next block takes; 0 makes an empty block."""
    style = style or plain()
    head = {"avro.schema": json.dumps(schema), "avro.codec": codec, **(metadata or {})}
    out = [MAGIC, style.number(len(head))]
    for key, text in head.items():
        out += [style.number(len(key)), key.encode(), style.number(len(text.encode())), text.encode()]
    out += [style.number(0), sync]
    first = 0
    while first < len(values):
        count = min(per_block(), len(values) - first)
        body = deflate(codec, b"".join(encode(schema, value, style) for value in values[first : first + count]))
        out += [style.number(count), style.number(len(body)), body, sync]
        first += count
    return b"".join(out)


def read(data: bytes) -> tuple[Any, list[Any]]:
    """The schema and the records of a container file."""
    stream = io.BytesIO(data)
    assert stream.read(4) == MAGIC
    head: dict[str, bytes] = dict(_items(stream, lambda: (decode("string", stream), decode("bytes", stream))))
    schema = json.loads(head["avro.schema"])
    sync, records = stream.read(16), []
    while stream.tell() < len(data):
        count, size = _number(stream), _number(stream)
        body = io.BytesIO(inflate(head["avro.codec"].decode(), stream.read(size)))
        records += [decode(schema, body) for _ in range(count)]
        assert not body.read()
        assert stream.read(16) == sync
    return schema, records


def inflate(codec: str, data: bytes) -> bytes:
    """A block without its codec."""
    match codec:
        case "null":
            return data
        case "deflate":
            return zlib.decompress(data, -15)
        case "snappy":
            return unsnappy(data[:-4])
        case "zstandard":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        case "bzip2":
            return bz2.decompress(data)
        case _:
            return lzma.decompress(data)


def unsnappy(data: bytes) -> bytes:
    """Snappy, byte by byte."""
    stream, out = io.BytesIO(data), bytearray()
    while stream.read(1)[0] > 0x7F:
        pass  # the length, which the writer knew
    while tag := stream.read(1):
        kind, rest = tag[0] & 3, tag[0] >> 2
        if kind == 0:
            out += stream.read(1 + (rest if rest < 60 else int.from_bytes(stream.read(rest - 59), "little")))
            continue
        length = rest % 8 + 4 if kind == 1 else rest + 1
        offset = (
            (rest // 8 * 256 + stream.read(1)[0]) if kind == 1 else int.from_bytes(stream.read(2 * kind - 2), "little")
        )
        for _ in range(length):
            out.append(out[-offset])
    return bytes(out)
