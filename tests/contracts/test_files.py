"""The port `Files`, over every adapter: whole, in order, and going on anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.local.files import LocalFiles
from firnline.core.errors import Missing
from firnline.facts.ports import Files, StoredFile
from tests import s3_places


@dataclass(frozen=True, slots=True)
class Place:
    """A location, what lists it, and what puts a file there. `spoils` are characters the server itself changes."""

    files: Files
    location: str
    put: Callable[[str, bytes], None]
    spoils: str = ""

    def stock(self, names: Sequence[str]) -> list[str]:
        """Put files there; their locations in the order a listing has."""
        kept = [name for name in names if not set(name) & set(self.spoils)]
        for name in kept:
            self.put(name, b"x" * len(name))
        return [f"{self.location}/{name}" for name in sorted(kept, key=str.encode)]


def _local(folder: Path) -> Place:
    def put(name: str, data: bytes) -> None:
        path = folder / "table" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return Place(LocalFiles(), f"file://{folder}/table", put)


def _s3(sessions: Sessions, request_files: int, spoils: str = "") -> Place:
    prefix, client = s3_places.prefix(), sessions.client("s3")

    def put(name: str, data: bytes) -> None:
        client.put_object(Bucket="lake", Key=f"{prefix}/{name}", Body=data)

    return Place(S3Files(sessions, request_files=request_files), f"s3://lake/{prefix}", put, spoils)


ADAPTERS: dict[str, Callable[[Path], Place]] = {
    "local": _local,
    "S3 in the order of keys": lambda _: _s3(s3_places.moto(), 1000),
    "S3 a few files at a time": lambda _: _s3(s3_places.moto(), 2),
    # SeaweedFS takes a backslash for a slash.
    "S3 in the order of a file system": lambda _: _s3(s3_places.weed(), 3, "\\"),
}
NAMES = [
    # What follows a folder's name decides: "!" and "-" come before its slash, "0" and letters behind it.
    "a", "a!", "a-b", "a.parquet", "b/1", "b!", "b-b/1", "b-b/2", "b0", "b/1-", "b/1!/x", "bb/1", "c/d/e/f/g/h/1",
    "c/d/e/f/g/h/2", "c/d/e/f/g-/1", "data/day=2026-11-18/größe=ß/x y.parquet", "data/day=a%2Fb/1", "data/日本/🐘",
    "data/\ufb00", "data/ z", "metadata/v1.metadata.json", "metadata/.v1.metadata.json.crc", "_SUCCESS", "Z", "?#&=",
    "'\"\\", "a+b", "50%", "%2B",
]  # fmt: skip


@pytest.fixture(params=ADAPTERS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place."""
    return ADAPTERS[request.param](tmp_path)


def listed(files: Files, location: str, limit: int, after: str | None = None) -> list[StoredFile]:
    """All pages, one after the other."""
    found: list[StoredFile] = []
    while True:
        page = files.list(location, after=after, limit=limit)
        assert len(page.files) <= limit
        found += page.files
        if page.after is None:
            return found
        assert page.after == page.files[-1].location
        after = page.after


def test_pages(place: Place) -> None:
    """At every page size the pages together are all the files, in order, none twice."""
    expected = place.stock(NAMES)
    for limit in range(1, len(NAMES) + 3):
        assert [file.location for file in listed(place.files, place.location, limit)] == expected, limit


def test_the_last_page(place: Place) -> None:
    """A page that ends with the last file says that there is no more."""
    count = len(place.stock(NAMES))
    assert place.files.list(place.location, limit=count).after is None
    assert place.files.list(place.location, limit=count - 1).after is not None


def test_after(place: Place) -> None:
    """A listing begins behind any location, of a file or not, whoever asked before."""
    expected = place.stock(NAMES)
    between = [f"{location}{tail}" for location in expected for tail in ("", "!", "/", "~")]
    for after in (*between, place.location, f"{place.location}/", f"{place.location}/b", f"{place.location}~"):
        found = [file.location for file in place.files.list(place.location, after=after, limit=3).files]
        assert found == [location for location in expected if location.encode() > after.encode()][:3], after


def test_what_a_file_is(place: Place) -> None:
    """A file has its size and when it was written."""
    place.put("a/b", b"12345")
    (file,) = place.files.list(place.location).files
    assert (file.location, file.size) == (f"{place.location}/a/b", 5)
    assert 1_600_000_000_000 < file.millis < 4_000_000_000_000


@pytest.mark.parametrize("tail", ["", "/"])
def test_spelled_as_asked(place: Place, tail: str) -> None:
    """Files are spelled as the location was, with or without a slash behind it."""
    place.stock(["a/b", "c"])
    found = place.files.list(f"{place.location}{tail}").files
    assert [file.location for file in found] == [f"{place.location}/a/b", f"{place.location}/c"]


def test_a_part(place: Place) -> None:
    """What lies beside a location and begins like it is not under it."""
    place.stock(["a/b", "a/c/d", "a-b/e", "ab/f", "a.g"])
    found = place.files.list(f"{place.location}/a").files
    assert [file.location for file in found] == [f"{place.location}/a/b", f"{place.location}/a/c/d"]


def test_nothing_there(place: Place) -> None:
    """A location that is not there, and one that is a file, has no files."""
    assert place.files.list(place.location) == place.files.list(f"{place.location}/deeper/down")
    assert (place.files.list(place.location).files, place.files.list(place.location).after) == ((), None)
    place.put("a", b"")
    assert place.files.list(f"{place.location}/a").files == ()


def located(place: Place, after: str | None) -> list[str]:
    return [file.location for file in place.files.list(place.location, after=after, limit=2).files]


def test_looking_twice(place: Place) -> None:
    """Listings that are under way do not get into each other's way, and each goes on more than once."""
    expected = place.stock(NAMES)
    for _ in range(2):
        first = place.files.list(place.location, limit=3)
        other = place.files.list(place.location, limit=5)
        assert [
            file.location for file in place.files.list(place.location, after=first.after, limit=2).files
        ] == expected[3:5]
        assert [
            file.location for file in place.files.list(place.location, after=other.after, limit=2).files
        ] == expected[5:7]
        assert [
            file.location for file in place.files.list(place.location, after=first.after, limit=2).files
        ] == expected[3:5]


def test_files_that_come_and_go(place: Place) -> None:
    """What is there all the time is listed once, whatever comes and goes between two pages."""
    expected = place.stock([f"{number:02}/{part}" for number in range(5) for part in "abc"])
    after, found = None, []
    for number in range(40):
        page = place.files.list(place.location, after=after, limit=2)
        found += [file.location for file in page.files]
        place.put(f"{number % 5:02}/new{number}", b"")
        after = page.after
        if after is None:
            break
    assert [location for location in found if "new" not in location] == expected
    assert len(set(found)) == len(found)


PARTS = st.sampled_from(["a", "b", "a-", "a0", "ä", "a b", "a!"])


@settings(deadline=None, max_examples=25)
@given(st.sets(st.lists(PARTS, min_size=1, max_size=4).map("/".join)), st.integers(1, 4), st.data())
def test_any_tree(tmp_path_factory: pytest.TempPathFactory, names: set[str], limit: int, data: st.DataObject) -> None:
    """Any tree is listed whole and in order, from anywhere on."""
    kept = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    for open_place in ADAPTERS.values():
        place = open_place(tmp_path_factory.mktemp("tree"))
        expected = place.stock(kept)
        assert [file.location for file in listed(place.files, place.location, limit)] == expected
        if names:  # also one that another file lies under, and so is none
            after = f"{place.location}/{data.draw(st.sampled_from(sorted(names)))}"
            found = [file.location for file in listed(place.files, place.location, limit, after)]
            assert found == [location for location in expected if location.encode() > after.encode()]


def test_look(place: Place) -> None:
    """A file is looked at as it is listed; what is no file, or not there, is None."""
    place.stock(NAMES)
    for file in place.files.list(place.location).files:
        assert place.files.look(file.location) == file
    for name in ("nothing", "data", "b/1/deeper"):
        assert place.files.look(f"{place.location}/{name}") is None


def test_part(place: Place) -> None:
    """A part has the bytes there are from its start on, none behind the end."""
    place.put("a/b", b"12345")
    for start in (0, 1, 4, 5, 6, 1000):
        for length in (0, 1, 4, 5, 6, 1000):
            part = place.files.part(f"{place.location}/a/b", start, length)
            assert part == b"12345"[start : start + length], (start, length)


def test_part_of_nothing(place: Place) -> None:
    """A file that is not there has no part, not even an empty one; an empty file has."""
    place.put("empty", b"")
    for length in (0, 5):
        assert place.files.part(f"{place.location}/empty", 0, length) == b""
        with pytest.raises(Missing, match="nothing"):
            place.files.part(f"{place.location}/nothing", 0, length)
