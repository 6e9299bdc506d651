"""Which file a location names, however it is spelled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.facts import places
from firnline.facts.hashing import ROWS, texts_of

SAME = [
    ("/w/t/x", "file:/w/t/x", "file:///w/t/x", "/w//t/x", "file:////w/t/x", "/w/./t/x", "/w/a/../t/x", "//w/t//x"),
    ("s3://b/k/x", "s3a://b/k/x", "s3n://b/k/x"),
    ("/", "file:/", "file:///"),
]
APART = [
    "/w/t/x", "/w/t/X", "/w/t/x/", "/w/t", "s3://b/k/x", "s3://b/k//x", "s3://b/k/../x", "s3://b/x", "gs://b/k/x",
    "s3:/b/k/x", "s3b://b/k/x", "//b/k/x", "b/k/x", "file:w", "file://host/w/t/x", "", "file:", "abfs://c@a/k",
    "/w/t/a%20b", "/w/t/a b", "/w/t/.x", "/w/t/..x", "/w/t/x.", "/w/.t/x", "/w/t./x",
]  # fmt: skip
WORDS = st.sampled_from(["", "a", ".", "..", "b c", "größe", "d=1", ".x", "..y", "a" * 60])
STARTS = ["", "/", "//", "file:", "file:/", "file://", "file:///", "s3:/", "s3://", "s3a://", "s3n://", "s3x://", "h:"]
LOCATIONS = st.builds(
    lambda start, words: start + "/".join(words), st.sampled_from(STARTS), st.lists(WORDS, max_size=6)
)


def plain(locations: list[str]) -> list[bytes | None]:
    texts = places.plain(texts_of([places.encoded(location) for location in locations]))
    return [texts.at(row) for row in range(len(locations))]


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: spellings[0])
def test_spellings(spellings: tuple[str, ...]) -> None:
    """All spellings of a place are normally one, by itself and in a batch."""
    assert {places.normal(spelling) for spelling in spellings} == {spellings[0]}
    assert len(set(plain(list(spellings)))) == 1
    high, low = places.of(spellings)
    assert (len(set(high.tolist())), len(set(low.tolist()))) == (1, 1)


def test_other_places() -> None:
    """What only looks alike stays apart: no case, no percent sign, no slash of an object store is passed over."""
    assert len({places.normal(location) for location in APART}) == len(APART)
    assert len(set(plain(APART))) == len(APART)


@given(st.lists(LOCATIONS, max_size=30))
def test_a_batch_is_the_single_rule(locations: list[str]) -> None:
    """In a batch, which passes over first bytes, places are the same and differ as one by one."""
    normal = [places.normal(location) for location in locations]
    assert plain(locations) == [places.encoded(one[3:] if one.startswith("s3://") else one) for one in normal]


@given(LOCATIONS)
def test_normal_is_a_fixed_point(location: str) -> None:
    """The normal spelling is its own normal spelling."""
    assert places.normal(places.normal(location)) == places.normal(location)


def test_a_large_batch() -> None:
    """Crooked paths are found wherever they lie in a batch."""
    locations = [f"file:///w/t/{number}" for number in range(3 * ROWS)]
    for row in (0, ROWS - 1, ROWS, 3 * ROWS - 1):
        locations[row] = f"file:/w//t/./a/../{row}"
    assert plain(locations) == [f"/w/t/{number}".encode() for number in range(3 * ROWS)]


def test_null() -> None:
    """A null stays null."""
    texts = texts_of([b"file:///x", b"s3a://b/x"])
    texts.length[:] = -1
    assert [places.plain(texts).at(row) for row in range(2)] == [None, None]


@pytest.mark.parametrize(
    ("location", "folder", "inside"),
    [
        ("file:/w/t/data/x", "file:///w/t", True),
        ("/w/t/data/x", "file:///w/t/", True),
        ("s3a://b/t/x", "s3://b/t", True),
        ("s3://b/t/x", "s3://b", True),
        ("/w/t/../t/x", "/w/t", True),
        ("/w/t2/x", "/w/t", False),
        ("/w/t", "/w/t", False),
        ("/w/t/", "/w/t", False),
        ("/w/t/../u/x", "/w/t", False),
        ("s3://b/t/x", "/b/t", False),
        ("s3://b/t//x", "s3://b/t", True),
        ("/w/x", "/", True),
    ],
)
def test_beneath(location: str, folder: str, inside: bool) -> None:
    """A place is beneath a folder when its path goes on behind the folder's; what only begins alike is not."""
    found = places.beneath(places.plain(texts_of([location.encode(), b"", location.encode()])), folder)
    assert found.tolist() == [inside, False, inside]
    assert places.lies_beneath(location, folder) is inside


@pytest.mark.parametrize("name", ["a\udc80b", "\ud800", "größe", "🐘"])
def test_any_name(name: str) -> None:
    """A name that is no text has a place as well."""
    high, _ = places.of([f"/w/{name}", f"file:/w//{name}"])
    assert np.unique(high).size == 1
