"""The codecs of Avro blocks. Each result is bounded, so that a small file cannot fill the memory."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any

from firnline.adapters.iceberg.avro import snappy
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.core.errors import Missing

_XZ_MEMORY_MAX = 512 * 1024 * 1024  # a dictionary of this size needs no manifest; xz itself asks before more
_ZSTD_FEED = 1024  # input is fed in pieces: 4 bytes of it can mean 128 KiB


def deflate_library() -> Any:
    """isal's zlib, which inflates twice as fast, where it is installed; else Python's own."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


_deflate = deflate_library()
Inflate = Callable[[bytes, int], bytes]


def inflater(codec: str) -> Inflate:
    """The function that decompresses a block of this codec, given the bytes and the most they may become."""
    found = _CODECS.get(codec)
    if found is None:
        raise Damaged(f"it is compressed by {codec!r}, which is none of {', '.join(_CODECS)}")
    return found


def _too_large(bytes_max: int) -> Damaged:
    return Damaged(f"a block is larger than {bytes_max:,} bytes when decompressed")


def _stored(data: bytes, bytes_max: int) -> bytes:
    if len(data) > bytes_max:
        raise _too_large(bytes_max)
    return data


def _raw_deflate(data: bytes, bytes_max: int) -> bytes:
    stream = _deflate.decompressobj(-15)
    try:
        out: bytes = stream.decompress(data, bytes_max)
    except (_deflate.error, zlib.error) as error:
        raise Damaged(f"a block does not decompress: {error}") from error
    _check_end(stream, bytes_max, len(out))  # PyIceberg leaves three bytes of a checksum behind the end
    return out


def _check_end(stream: Any, bytes_max: int, size: int) -> None:
    if not stream.eof:
        raise _too_large(bytes_max) if size >= bytes_max else Damaged("a block ends within its compressed data")


def _check_whole(stream: Any, bytes_max: int, size: int) -> None:
    _check_end(stream, bytes_max, size)
    if stream.unused_data:
        raise Damaged("a block holds more than its compressed data")


def _bzip2(data: bytes, bytes_max: int) -> bytes:
    import bz2

    stream = bz2.BZ2Decompressor()
    try:
        out = stream.decompress(data, bytes_max)
    except (OSError, EOFError) as error:
        raise Damaged(f"a block does not decompress: {error}") from error
    _check_whole(stream, bytes_max, len(out))
    return out


def _xz(data: bytes, bytes_max: int) -> bytes:
    import lzma

    stream = lzma.LZMADecompressor(memlimit=_XZ_MEMORY_MAX)
    try:
        out = stream.decompress(data, bytes_max)
    except (lzma.LZMAError, EOFError) as error:
        raise Damaged(f"a block does not decompress: {error}") from error
    _check_whole(stream, bytes_max, len(out))
    return out


def _zstandard(data: bytes, bytes_max: int) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise Missing(
            "A manifest is compressed by zstandard, and that library is not installed.",
            next_step="pip install zstandard",
        ) from error
    stream = zstandard.ZstdDecompressor().decompressobj()
    pieces: list[bytes] = []
    size = position = 0
    try:
        while position < len(data) and not stream.eof:
            pieces.append(stream.decompress(data[position : position + _ZSTD_FEED]))
            position += _ZSTD_FEED
            size += len(pieces[-1])
            if size > bytes_max:
                raise _too_large(bytes_max)
    except zstandard.ZstdError as error:
        raise Damaged(f"a block does not decompress: {error}") from error
    if not stream.eof:
        raise Damaged("a block ends within its compressed data")
    if position < len(data) or stream.unused_data:
        raise Damaged("a block holds more than its compressed data")
    return b"".join(pieces)


_CODECS: dict[str, Inflate] = {
    "null": _stored,
    "deflate": _raw_deflate,
    "snappy": snappy.decompress,
    "zstandard": _zstandard,
    "bzip2": _bzip2,
    "xz": _xz,
}
