"""The 128-bit hash of byte strings: the same for the same bytes wherever they lie, and different for different ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.facts.entries import Texts
from firnline.facts.hashing import ROWS, WINDOW, hash128, hash_of, numbered, texts_of

STRINGS = st.lists(st.binary(max_size=200), max_size=20)
PATH = b"s3://lake/shop/orders/data/ts_day=2026-11-18/00007-3-0f0a4b7e-9d45-4a3b-8f6c-7d8e0f0a4b7e-0-00001.parquet"


def pairs(texts: Texts, rows: list[int] | None = None) -> list[tuple[int, int]]:
    high, low = hash128(texts, None if rows is None else np.array(rows, np.int64))
    return list(zip(high.tolist(), low.tolist(), strict=True))


@given(STRINGS)
def test_agrees_with_the_single_hash(strings: list[bytes]) -> None:
    """A string has one hash, by itself and in a batch."""
    assert pairs(texts_of(strings)) == [hash_of(string) for string in strings]


@settings(deadline=None)
@given(STRINGS, st.binary(max_size=9), st.randoms(use_true_random=False))
def test_position_does_not_matter(strings: list[bytes], between: bytes, random: object) -> None:
    """What lies before and behind a string, and in which order strings come, changes nothing."""
    order = list(range(len(strings)))
    random.shuffle(order)  # type: ignore[attr-defined]
    whole, start = b"", []
    for string in strings:
        whole += between
        start.append(len(whole))
        whole += string
    buffer = np.frombuffer(whole + b"\xff" * WINDOW, np.uint8)
    texts = Texts(buffer, np.array(start, np.int64), np.array([len(string) for string in strings], np.int64))
    assert pairs(texts, order) == [hash_of(strings[row]) for row in order]


def test_more_rows_than_are_hashed_at_a_time() -> None:
    """Rows of many lengths keep their places when they are hashed in several goes."""
    strings = [bytes([number % 251]) * (number % 150) for number in range(2 * ROWS + 5)]
    found = pairs(texts_of(strings))
    for row in (0, 1, ROWS - 1, ROWS, ROWS + 149, 2 * ROWS, 2 * ROWS + 4):
        assert found[row] == hash_of(strings[row])


def test_null_and_empty() -> None:
    """Null, nothing and zeros are three things."""
    texts = texts_of([b"", b"", b"\0", b"\0\0", b"\0" * 8, b"\0" * 9])
    texts.length[0] = -1
    assert len(set(pairs(texts))) == 6


def test_no_rows() -> None:
    """No strings have no hashes."""
    assert pairs(texts_of([])) == []
    assert pairs(texts_of([b"a"]), []) == []


NAMES = {
    "counters": lambda n: [b"s3://b/t/data/%08d.parquet" % i for i in range(n)],
    "two counters": lambda n: [b"s3://b/t/data/%d-%d.parquet" % (i // 447, i % 447) for i in range(n)],
    "days and buckets": lambda n: [
        b"/w/t/data/d=2026-%02d-%02d/b=%d/%05d-%d-0.parquet" % (i % 12, i // 12 % 28, i // 336 % 16, i // 5376, i % 7)
        for i in range(n)
    ],
    "growing": lambda n: [b"x" * (i % 500) + b"%d" % (i // 500) for i in range(n)],
    "one byte apart": lambda n: [PATH[: i // 256 % 100] + bytes([i % 256]) + b"%d" % (i // 25600) for i in range(n)],
    "numbers as bytes": lambda n: [i.to_bytes(8, "little") + (n - i).to_bytes(8, "little") for i in range(n)],
    "high bits": lambda n: [(i << 46).to_bytes(8, "little") * 3 for i in range(n)],
}


@pytest.mark.parametrize("kind", NAMES)
def test_no_collisions(kind: str) -> None:
    """200,000 names that differ in little have as many hashes, and no half of them meets twice either."""
    strings = list(dict.fromkeys(NAMES[kind](200_000)))
    high, low = hash128(texts_of(strings))
    # Two of 200,000 agree in 64 bits with odds of one in a thousand million.
    assert (len(np.unique(high)), len(np.unique(low))) == (len(strings), len(strings))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 63, 64, 65, 104])
def test_every_bit_matters(length: int) -> None:
    """One bit of the string changes about half of the bits of either half, wherever it lies."""
    base = PATH[:length]
    flipped = []
    for bit in range(8 * length):
        spoiled = bytearray(base)
        spoiled[bit // 8] ^= 1 << bit % 8
        flipped.append(bytes(spoiled))
    for half, own in zip(hash128(texts_of(flipped)), hash_of(base), strict=True):
        changed = np.bitwise_count(half ^ np.uint64(own))
        # 32 of 64 are expected, 4 is the standard deviation.
        assert int(changed.min()) >= 10
        assert int(changed.max()) <= 54
        assert abs(float(changed.mean()) - 32) < 12 / np.sqrt(len(flipped)) + 0.5


def test_every_bit_of_the_hash_is_used() -> None:
    """Over many names every bit of the hash is set in half of them."""
    for half in hash128(texts_of(NAMES["counters"](20_000))):
        share = np.array([(half >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)])
        assert np.abs(share - 0.5).max() < 0.02


@given(st.lists(st.tuples(st.sampled_from([b"a", b"b", PATH]), st.integers(-5, 5)), max_size=30))
def test_numbered(pieces: list[tuple[bytes, int]]) -> None:
    """A string with a number is told apart by both, and not taken for the string alone."""
    hashes = hash128(texts_of([string for string, _ in pieces]))
    high, low = numbered(hashes, np.array([number for _, number in pieces], np.int64))
    found = list(zip(high.tolist(), low.tolist(), strict=True))
    assert len(set(found)) == len(set(pieces))
    assert not {hash_of(string) for string, _ in pieces} & set(found)
    assert all((found[a] == found[b]) == (pieces[a] == pieces[b]) for a in range(len(found)) for b in range(a))
