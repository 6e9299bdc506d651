"""The codecs of blocks: what was packed comes back, and what is damaged or too large does not."""

from __future__ import annotations

import random
import sys
import zlib
from contextlib import suppress
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.iceberg.avro import codecs
from firnline.adapters.iceberg.avro.codecs import inflater
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.core.errors import Missing
from tests import avro_oracle

LARGE = 1 << 26
TEXTS = [b"", b"a", b"ab" * 40_000, bytes(range(256)) * 300, random.Random(3).randbytes(70_000), b"x" * 200_000]


@pytest.mark.parametrize("codec", avro_oracle.CODECS)
@pytest.mark.parametrize("text", TEXTS, ids=["empty", "one", "pairs", "bytes", "random", "same"])
def test_what_was_packed_comes_back(codec: str, text: bytes) -> None:
    """Every codec gives back what went in."""
    assert inflater(codec)(avro_oracle.deflate(codec, text), LARGE) == text


@given(st.lists(st.sampled_from([b"a", b"bc", b"0123456789", b"\x00" * 70, b"\xff\x01"]), max_size=200))
def test_snappy(parts: list[bytes]) -> None:
    """Literals and copies of every kind, overlapping ones too."""
    text = b"".join(parts)
    assert inflater("snappy")(avro_oracle.deflate("snappy", text), LARGE) == text


def test_deflate_with_a_checksum_behind_it() -> None:
    """PyIceberg leaves three bytes of zlib's checksum behind the end."""
    assert inflater("deflate")(zlib.compress(b"some text")[2:-1], LARGE) == b"some text"


@pytest.mark.parametrize("codec", avro_oracle.CODECS)
def test_too_large(codec: str) -> None:
    """What becomes larger than the bound is refused, and not made first."""
    text = bytes(1_000_000)
    packed = avro_oracle.deflate(codec, text)
    assert inflater(codec)(packed, len(text)) == text
    with pytest.raises(Damaged, match="larger than 999,999 bytes"):
        inflater(codec)(packed, 999_999)


@pytest.mark.parametrize("codec", [codec for codec in avro_oracle.CODECS if codec != "null"])
def test_damage(codec: str) -> None:
    """Cut anywhere, or with something else in it, a block is damaged, or at least no other error."""
    text = b"".join(b"%d" % number for number in range(1000))
    packed = avro_oracle.deflate(codec, text)
    for length in range(0, len(packed), max(1, len(packed) // 100)):
        with pytest.raises(Damaged):
            inflater(codec)(packed[:length], LARGE)
    dice = random.Random(5)
    for _ in range(300):
        spoilt = bytearray(packed)
        spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
        with suppress(Damaged):
            assert len(inflater(codec)(bytes(spoilt), LARGE)) <= LARGE


@pytest.mark.parametrize("codec", ["bzip2", "xz", "zstandard"])
def test_more_than_was_packed(codec: str) -> None:
    """Bytes behind the end are damage where no writer leaves any."""
    with pytest.raises(Damaged, match="more than its compressed data"):
        inflater(codec)(avro_oracle.deflate(codec, b"text") + b"more", LARGE)


def test_unknown_codec() -> None:
    """A codec nobody knows is named."""
    with pytest.raises(Damaged, match="compressed by 'lz77'"):
        inflater("lz77")


SNAPPY: list[tuple[bytes, str]] = [
    (b"", "no length"),
    (b"\xff\xff\xff\xff\xff" + bytes(4), "no length"),
    (b"\x05\x01" + bytes(4), "ends within"),
    (b"\x05\x01\x01" + bytes(4), "copies from before its beginning"),
    (b"\x05\x10ab" + bytes(4), "checksum"),
    (b"\x02\x04ab" + bytes(4), "checksum"),
    (b"\x02\x00a\x0e\x01" + bytes(4), "ends within"),
]


@pytest.mark.parametrize(("data", "words"), SNAPPY)
def test_damaged_snappy(data: bytes, words: str) -> None:
    """Lengths, copies and the checksum of snappy are checked."""
    with pytest.raises(Damaged, match=words):
        inflater("snappy")(data, LARGE)


def test_the_faster_library_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With isal installed its zlib is used; without, Python's own."""
    faster = ModuleType("isal.isal_zlib")
    monkeypatch.setitem(sys.modules, "isal", ModuleType("isal"))
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", faster)
    assert codecs.deflate_library() is faster
    monkeypatch.setitem(sys.modules, "isal", None)
    monkeypatch.delitem(sys.modules, "isal.isal_zlib")
    assert codecs.deflate_library() is zlib


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library of a codec it is said what to install."""
    packed = avro_oracle.deflate("zstandard", b"text")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(Missing, match="pip install zstandard"):
        inflater("zstandard")(packed, LARGE)
