"""The bytes of many blocks, read at many places at once: one position for each lane.

All numbers of Avro are varints: seven bits a byte, the lowest first, the highest bit set in all but the last byte. Here
a word of eight bytes is fetched at each position, and the first byte without that bit is found by arithmetic on it.
Where every lane has a number of one byte, which `bytes.isascii` says in no time, that is all there is to do.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firnline.adapters.iceberg.avro.scalar import PADDING

Octets: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Longs: TypeAlias = NDArray[np.int64]

_EACH = 0x0101_0101_0101_0101
_HIGH = 0x8080_8080_8080_8080
_LOW = 0x7F7F_7F7F_7F7F_7F7F
_NO_END = 0xFFFF_FFFF_FFFF_FFFF  # of eight bytes, when each goes on
_FAR = 1 << 40  # leads beyond every buffer
_PIECE = 4096  # rows whose numbers are decoded at once: their words stay in the processor's cache
# How far to go beyond a text with a length of one byte, by that byte. Odd ones are negative: they lead far away, where
# the walk ends.
_PAST_TEXT = np.array([_FAR if byte & 1 else 1 + (byte >> 1) for byte in range(128)], np.int64)
_SMALL = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(128)], np.int64)
# The place of the n-th set bit of a byte, n from 0, by byte * 8 + n.
_SELECT = np.array(
    [([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[n] for byte in range(256) for n in range(8)], np.int64
)


class GaveUp(Exception):
    """Something is unusual or wrong; the plain decoder knows."""


class Buffer:
    """Bytes that end in the padding of `scalar.lanes`. Positions far beyond raise IndexError."""

    def __init__(self, data: bytes) -> None:
        assert len(PADDING) >= 64
        self.size = len(data)
        self._data = data
        self._octets: Octets = np.frombuffer(data, np.uint8)
        self._words: Words = np.ndarray((self.size - 7,), "<u8", data, 0, (1,))
        self._twos = np.ndarray((self.size - 1,), "<u2", data, 0, (1,))

    def octets(self, at: Longs) -> Octets:
        """The byte at each position."""
        return self._octets[at]

    def twos(self, at: Longs) -> NDArray[np.uint16]:
        """The two bytes at each position, the first one low."""
        return self._twos[at]

    def past(self, at: Longs) -> Longs:
        """Behind one varint."""
        if self._octets[at].tobytes().isascii():
            return at + 1
        words = self._words[at] | _LOW
        after: Longs = at + (np.bitwise_count(words ^ (words + 1)) >> 3)
        if _NO_END in words:
            who = (words == _NO_END).nonzero()[0]
            after[who] += 1 + (self._octets[after[who]] > 127)
            if (self._octets[after[who] - 1] > 127).any():
                raise GaveUp
        return after

    def past_text(self, at: Longs) -> Longs:
        """Behind a length and so many bytes."""
        first = self._octets[at]
        if first.tobytes().isascii():
            return at + _PAST_TEXT.take(first)
        lengths, at = self.small(at)
        if lengths.min() < 0:
            raise GaveUp
        return at + lengths

    def small(self, at: Longs) -> tuple[Longs, Longs]:
        """Numbers of at most five bytes, as lengths, counts and field ids are, and where they end."""
        first = self._octets[at]
        if first.tobytes().isascii():
            return _SMALL.take(first), at + 1
        words = self._words[at]
        stops = ~words & 0x80_8080_8080
        if not stops.all():
            raise GaveUp
        upto = stops ^ (stops - 1)
        kept = words & upto & _LOW
        value = (kept & 0x7F) | (kept >> 1 & 0x3F80) | (kept >> 2 & 0x1F_C000) | (kept >> 3 & 0xFE0_0000)
        value |= kept >> 4 & 0x7_F000_0000
        return _signed(value), at + (np.bitwise_count(upto) >> 3)

    def past_many(self, at: Longs, counts: Longs) -> Longs:
        """Behind so many varints: behind so many bytes that end one."""
        whole = at
        who: Longs | None = None
        while True:
            ends = self.ends(at, 1)
            there = np.bitwise_count(ends)
            beyond = there < counts
            after = at + np.where(beyond, 64, select(ends, counts) + 1)
            if who is None:
                whole = after
            else:
                whole[who] = after
            more = beyond.nonzero()[0]
            if not len(more):
                return whole
            at, counts = after[more], (counts - there)[more]
            who = more if who is None else who[more]

    def ends(self, at: Longs, words: int) -> Words:
        """Which of the next bytes end a varint, a bit for each: so many words of 64 for each position."""
        # Fetched as opaque items, which is three times faster than as rows of bytes.
        width = 64 * words
        window = np.ndarray((max(0, self.size - width + 1),), f"V{width}", self._data, 0, (1,))
        return np.packbits(window[at].view(np.uint8) < 128, bitorder="little").view("<u8")

    def longs(self, at: Longs, missing: int) -> tuple[Longs, Longs]:
        """Numbers of any length, and where they end; `missing` for a position below 0."""
        if not len(at) or int(at.max()) < 0:
            return np.full(len(at), missing, np.int64), at
        values, after = np.empty_like(at), np.empty_like(at)
        for first in range(0, len(at), _PIECE):
            part = slice(first, first + _PIECE)
            values[part], after[part] = self._piece(at[part])
        absent = at < 0
        if absent.any():
            values[absent] = missing
        return values, after

    def _piece(self, at: Longs) -> tuple[Longs, Longs]:
        first = self._octets[at]
        if first.tobytes().isascii():
            return _SMALL.take(first), at + 1
        words = self._words[at]
        upto = (words | _LOW) ^ ((words | _LOW) + 1)
        value = words & upto & _LOW
        value = (value & 0x007F_007F_007F_007F) | (value & 0x7F00_7F00_7F00_7F00) >> 1
        value = (value & 0x0000_3FFF_0000_3FFF) | (value & 0x3FFF_0000_3FFF_0000) >> 2
        value = (value & 0x0000_0000_0FFF_FFFF) | (value & 0x0FFF_FFFF_0000_0000) >> 4
        after: Longs = at + (np.bitwise_count(upto) >> 3)
        who = ((words & _HIGH) == _HIGH).nonzero()[0]
        if len(who):  # nine or ten bytes, as snapshot ids have
            ninth = self._octets[after[who]].astype(np.uint64)
            tenth = self._octets[after[who] + 1].astype(np.uint64)
            two = ninth > 127
            value[who] |= (ninth & 0x7F) << 56 | np.where(two, tenth << 63, 0)
            after[who] += 1 + two
        return _signed(value), after


def _signed(zigzag: NDArray[np.integer[Any]]) -> Longs:
    return (zigzag >> 1).view(np.int64) ^ -(zigzag & 1).view(np.int64)


def select(bits: Words, n: Longs) -> Longs:
    """The place of the n-th set bit, counted from 1, in words that have so many; anything where they have not."""
    rank = n.view(np.uint64)
    # In each byte, the set bits up to its end; then a high bit for each byte whose end the rank lies beyond.
    sums = np.bitwise_count(bits.view(np.uint8)).view("<u8") * _EACH
    beyond = np.bitwise_count((rank * _EACH + _LOW - sums) & _HIGH)
    place = np.minimum(beyond, 7).astype(np.uint64) << 3
    left = rank - (sums << 8 >> place & 0xFF)
    octet = bits >> place & 0xFF
    found: Longs = place.view(np.int64) + _SELECT.take((octet << 3 | (left - 1 & 7)).view(np.int64))
    return found
