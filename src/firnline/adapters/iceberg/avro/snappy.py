"""Snappy's raw format, decompressed in plain Python: some megabytes a second, for the rare writer that uses it."""

from __future__ import annotations

import zlib

from firnline.adapters.iceberg.avro.container import Damaged

_CRC_BYTES = 4


def decompress(data: bytes, bytes_max: int) -> bytes:
    """What an Avro block of codec snappy holds; its last four bytes are the big-endian CRC32 of the result."""
    body, crc = data[:-_CRC_BYTES], data[-_CRC_BYTES:]
    size, position = _size(body)
    if size > bytes_max:
        raise Damaged(f"a block would be larger than {bytes_max:,} bytes when decompressed")
    try:
        out = _elements(body, position, size)
    except IndexError as error:
        raise Damaged("a block ends within its compressed data") from error
    if len(out) != size or zlib.crc32(out) != int.from_bytes(crc, "big"):
        raise Damaged("a block's checksum does not match")
    return bytes(out)


def _size(data: bytes) -> tuple[int, int]:
    size = 0
    for position, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return size, position + 1
    raise Damaged("a block has no length of its decompressed data")


def _elements(data: bytes, position: int, size: int) -> bytearray:
    out = bytearray()
    end = len(data)
    while position < end and len(out) <= size:
        tag = data[position]
        position += 1
        if not tag & 3:
            length, position = _literal_length(data, tag >> 2, position)
            out += data[position : position + length]
            position += length
            continue
        length, offset, position = _copy(data, tag, position)
        if not 0 < offset <= len(out):
            raise Damaged("a block copies from before its beginning")
        if offset >= length:
            out += out[len(out) - offset : len(out) - offset + length]
        else:  # the copy overlaps what it writes: the last bytes repeat
            out += (out[-offset:] * (length // offset + 1))[:length]
    return out


def _literal_length(data: bytes, code: int, position: int) -> tuple[int, int]:
    if code < 60:
        return code + 1, position
    width = code - 59
    return int.from_bytes(data[position : position + width], "little") + 1, position + width


def _copy(data: bytes, tag: int, position: int) -> tuple[int, int, int]:
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[position], position + 1
    width = 2 if tag & 3 == 2 else 4
    if position + width > len(data):
        raise IndexError(position)
    return (tag >> 2) + 1, int.from_bytes(data[position : position + width], "little"), position + width
