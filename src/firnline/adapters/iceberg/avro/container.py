"""Avro object containers: the header and the blocks between sync markers. Nothing is decompressed here.

Everything is checked against the bytes that are there, so a file that was cut or holds something else is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
VARINT_BYTES_MAX = 10
# Iceberg puts the table's schema there as JSON: a table of 20,000 columns needs 3 MiB.
HEADER_BYTES_MAX = 16 * 1024 * 1024
HEADER_KEYS_MAX = 1000


class Damaged(Exception):
    """The bytes are not what their schema or the container says. `lane` is the block's position among those given."""

    def __init__(self, reason: str, lane: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lane = lane


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the blocks."""

    schema: bytes
    codec: str
    metadata: dict[str, bytes]
    sync: bytes
    end: int  # where the first block begins


@dataclass(frozen=True, slots=True)
class Block:
    """So many records in `size` bytes at `start`, still compressed."""

    count: int
    start: int
    size: int


def long_at(data: bytes, position: int) -> tuple[int, int]:
    """The zigzag number at a position, and where it ends."""
    if position < len(data) and data[position] < 0x80:  # most numbers are small
        return (data[position] >> 1) ^ -(data[position] & 1), position + 1
    number = shift = 0
    for byte in data[position : position + VARINT_BYTES_MAX]:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            number &= 0xFFFF_FFFF_FFFF_FFFF  # ten bytes hold 70 bits; readers drop the topmost
            return (number >> 1) ^ -(number & 1), position + shift // 7
    raise Damaged("a number has no end")


def read_header(data: bytes) -> Header:
    """The header of a container; Damaged when it is none."""
    if not data.startswith(MAGIC):
        raise Damaged("it is empty" if not data else "it does not begin as an Avro file does")
    head = data[: HEADER_BYTES_MAX + 1]
    try:
        metadata, position = _metadata(head, len(MAGIC))
    except Damaged as error:
        if len(data) > HEADER_BYTES_MAX:
            raise Damaged(f"its header is damaged or longer than {HEADER_BYTES_MAX:,} bytes") from error
        raise
    sync = data[position : position + SYNC_BYTES]
    if len(sync) < SYNC_BYTES:
        raise Damaged("it was cut off within its header")
    if "avro.schema" not in metadata:
        raise Damaged("its header has no schema")
    codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace")
    return Header(metadata["avro.schema"], codec, metadata, sync, position + SYNC_BYTES)


def _metadata(data: bytes, position: int) -> tuple[dict[str, bytes], int]:
    found: dict[str, bytes] = {}
    while True:
        count, position = long_at(data, position)
        if count == 0:
            return found, position
        if count < 0:
            count = -count
            _, position = long_at(data, position)
        if len(found) + count > HEADER_KEYS_MAX:
            raise Damaged("its header is damaged")
        for _ in range(count):
            key, position = _bytes_at(data, position)
            found[key.decode("utf-8", "replace")], position = _bytes_at(data, position)


def _bytes_at(data: bytes, position: int) -> tuple[bytes, int]:
    length, position = long_at(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise Damaged("it was cut off within its header")
    return data[position:end], end


def blocks(data: bytes, header: Header) -> Iterator[Block]:
    """The blocks in their order, each followed by the sync marker; empty ones are left out."""
    position, size_of_file = header.end, len(data)
    while position < size_of_file:
        try:
            count, position = long_at(data, position)
            size, position = long_at(data, position)
        except Damaged as error:
            raise Damaged("it was cut off, or is damaged, at the head of a block") from error
        end = position + size
        if count < 0 or size < 0:
            raise Damaged("a block has a negative length")
        if end + SYNC_BYTES > size_of_file:
            raise Damaged("it was cut off within a block, or is damaged")
        if data[end : end + SYNC_BYTES] != header.sync:
            raise Damaged("a block does not end where it says")
        if count:
            yield Block(count, position, size)
        elif size and header.codec == "null":
            raise Damaged("a block of no records is not empty")
        position = end + SYNC_BYTES
