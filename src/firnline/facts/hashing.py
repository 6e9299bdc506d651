"""128-bit hashes of byte strings, by which files and partitions are told apart without keeping their names.

Two lanes of 64 bits with rounds of their own (those of murmur3 and of xxHash) mix a string eight bytes at a time. Two
different strings agree by chance once in 2^128: some pair among n strings does with odds of n²/2^129, which is 10^-27
for a million and 10^-23 for a hundred million. It is no defence against somebody who builds a collision on purpose.

A million paths of 150 bytes take 0.2 s of one core; beside the result a few megabytes are needed, for any number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firnline.facts.entries import Bytes, Longs, Texts

Words: TypeAlias = NDArray[np.uint64]
Hashes: TypeAlias = tuple[Words, Words]

WINDOW = 64  # bytes gathered at a time, as dear as gathering eight; so many zero bytes end the buffer of a `Texts`
ROWS = 8192  # hashed at a time: what they need stays in the processor's cache


def _word(number: int) -> np.uint64:
    return np.uint64(number)


_MURMUR_1, _MURMUR_2 = _word(0x87C37B91114253D5), _word(0x4CF5AD432745937F)
_MURMUR_3, _MURMUR_4 = _word(0xFF51AFD7ED558CCD), _word(0xC4CEB9FE1A85EC53)
_XX_1, _XX_2 = _word(0x9E3779B185EBCA87), _word(0xC2B2AE3D27D4EB4F)
_SPLIT_1, _SPLIT_2 = _word(0xBF58476D1CE4E5B9), _word(0x94D049BB133111EB)
_SEED_HIGH, _SEED_LOW = 0x243F6A8885A308D3, 0x13198A2E03707344
MASKS: Words = np.array([(1 << (8 * held)) - 1 for held in range(9)], np.uint64)  # of a word's first so many bytes


def hash128(texts: Texts, rows: Longs | None = None) -> Hashes:
    """The halves of the hash of each string, or of those in these rows. It depends on the bytes alone, not on the batch
    they came in; null is a value of its own.
    """
    start, length = (texts.start, texts.length) if rows is None else (texts.start[rows], texts.length[rows])
    high, low = np.empty(len(start), np.uint64), np.empty(len(start), np.uint64)
    for first in range(0, len(start), ROWS):
        part = slice(first, first + ROWS)
        # Longest first: those that go on past a window are then the first so many.
        order = np.argsort(-length[part], kind="stable") + first
        high[order], low[order] = _hash(texts.buffer, start[order], length[order])
    return high, low


def hash_of(text: bytes) -> tuple[int, int]:
    """The hash of one string: what `hash128` makes of it."""
    high, low = hash128(texts_of([text]))
    return int(high[0]), int(low[0])


def numbered(hashes: Hashes, numbers: Longs) -> Hashes:
    """The hashes of strings that a number belongs to."""
    both = np.stack((*hashes, numbers.astype(np.uint64)), axis=1)
    buffer = np.concatenate((both.astype("<u8").view(np.uint8).reshape(-1), np.zeros(WINDOW, np.uint8)))
    width = 8 * both.shape[1]
    return hash128(Texts(buffer, np.arange(len(both)) * width, np.full(len(both), width)))


def texts_of(strings: Sequence[bytes]) -> Texts:
    """Byte strings as a batch of their own."""
    length = np.fromiter(map(len, strings), np.int64, len(strings))
    buffer = np.frombuffer(b"".join((*strings, bytes(WINDOW))), np.uint8)
    return Texts(buffer, np.cumsum(length) - length, length)


def _hash(buffer: Bytes, start: Longs, length: Longs) -> Hashes:
    """The hashes of strings that come longest first."""
    high, low = np.full(len(start), _SEED_HIGH, np.uint64), np.full(len(start), _SEED_LOW, np.uint64)
    windows = np.ndarray((len(buffer) - WINDOW + 1,), f"V{WINDOW}", buffer, 0, (1,))
    for at in range(0, int(length[0]), WINDOW):
        window = windows[start[: _longer(length, at)] + at]
        words = np.ascontiguousarray(window.view("<u8").reshape(-1, WINDOW // 8).T)
        for column, position in zip(words, range(at, at + WINDOW, 8), strict=True):
            going = _longer(length, position)
            if not going:
                break
            word = column[:going] & MASKS[np.minimum(length[:going] - position, 8)]
            _mix_murmur(high[:going], word)
            _mix_xx(low[:going], word)
    return _finish(high, length, _MURMUR_3, _MURMUR_4, 33), _finish(low, length, _SPLIT_1, _SPLIT_2, 30)


def _longer(length: Longs, than: int) -> int:
    return int(np.searchsorted(-length, -than))


def _mix_murmur(lane: Words, word: Words) -> None:
    lane ^= _turned(word * _MURMUR_1, 31) * _MURMUR_2
    lane[:] = _turned(lane, 27)
    lane *= _word(5)
    lane += _word(0x52DCE729)


def _mix_xx(lane: Words, word: Words) -> None:
    lane += word * _XX_2
    lane[:] = _turned(lane, 31)
    lane *= _XX_1


def _turned(words: Words, by: int) -> Words:
    return (words << _word(by)) | (words >> _word(64 - by))


def _finish(lane: Words, length: Longs, first: np.uint64, second: np.uint64, shift: int) -> Words:
    """Every bit of the lane and of the length reaches every bit of the result. A bijection: no two lanes meet here."""
    lane ^= length.astype(np.uint64) * first
    for factor in (first, second):
        lane ^= lane >> _word(shift)
        lane *= factor
    lane ^= lane >> _word(31)
    return lane
