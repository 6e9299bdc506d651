"""The port `Store`, over every adapter: a file is put once, and only what is named is deleted or marked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.s3_store import TAGS_MAX, S3Store
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.store import LocalStore
from firnline.core.errors import Missing, Refused
from firnline.facts.ports import Blobs
from firnline.loop.store import NameTaken, Store
from tests import s3_places

CONTENDERS = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A location, what writes there and what reads it back. `keeps` versions, `marks` files with tags; `spoils` are
    parts of names the server itself gets wrong.
    """

    store: Store
    blobs: Blobs
    location: str
    keeps: bool = False
    marks: bool = False
    spoils: str | None = None
    rounds: int = 5  # of a race

    @property
    def names(self) -> list[str]:
        """Names of files, as odd as they come."""
        return [name for name in NAMES if self.spoils is None or self.spoils not in name]


def _weed(bucket: str, *, keeps: bool, spoils: str | None = None) -> Place:
    sessions, location = s3_places.weed(), f"s3://{bucket}/{s3_places.prefix()}"
    # Its conditional puts take seconds where many meet.
    return Place(S3Store(sessions), S3Files(sessions), location, keeps, marks=True, spoils=spoils, rounds=1)


def _moto(bucket: str, *, keeps: bool) -> Place:
    sessions, location = s3_places.moto(), f"s3://{bucket}/{s3_places.prefix()}"
    return Place(S3Store(sessions), S3Files(sessions), location, keeps, marks=True)


ADAPTERS: dict[str, Callable[[Path], Place]] = {
    "local": lambda folder: Place(LocalStore(), LocalBlobs(), f"file://{folder}/table"),
    "SeaweedFS": lambda _: _weed("lake", keeps=False),
    # It acknowledges the deletion of `x//y` there, and the file stays.
    "SeaweedFS with versions": lambda _: _weed(s3_places.versioned(s3_places.weed()), keeps=True, spoils="//"),
    "moto": lambda _: _moto("lake", keeps=False),
    "moto with versions": lambda _: _moto(s3_places.versioned(s3_places.moto()), keeps=True),
}
NAMES = ["a", "b/c d", "größe=ß/日本/🐘", "a%2Fb", "?#&=+", "x//y", "'\"<&>", "tab\there"]


@pytest.fixture(params=ADAPTERS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place."""
    return ADAPTERS[request.param](tmp_path)


def there(place: Place, name: str) -> bytes | None:
    """What a file holds."""
    try:
        return place.blobs.read(f"{place.location}/{name}")
    except Missing:
        return None


def test_put(place: Place) -> None:
    """What is put is there, whole, under its very name."""
    for name in place.names:
        place.store.put(f"{place.location}/{name}", name.encode())
    assert [there(place, name) for name in place.names] == [name.encode() for name in place.names]


def test_put_empty(place: Place) -> None:
    """A file may be empty, and is taken all the same."""
    place.store.put(f"{place.location}/a", b"")
    assert there(place, "a") == b""
    with pytest.raises(NameTaken):
        place.store.put(f"{place.location}/a", b"1")


@pytest.mark.parametrize("other", [b"2", b"12", b""], ids=["as long", "longer", "empty"])
def test_taken(place: Place, other: bytes) -> None:
    """A name that is taken stays as it is, and says so."""
    place.store.put(f"{place.location}/a", b"1")
    with pytest.raises(NameTaken, match="there already"):
        place.store.put(f"{place.location}/a", other)
    assert there(place, "a") == b"1"


def test_put_again(place: Place) -> None:
    """The same bytes under the same name are ours: an answer was lost on the way."""
    for _ in range(2):
        place.store.put(f"{place.location}/a", b"1" * 100_000)
    assert there(place, "a") == b"1" * 100_000
    assert len(place.store.versions(f"{place.location}/a")) == 1


def test_race(place: Place) -> None:
    """Of many who put one name at once one wins, and it is the winner's bytes that are there."""

    def put(number: int, name: str) -> int | None:
        try:
            place.store.put(f"{place.location}/{name}", f"{number}".encode() * 1000)
        except NameTaken:
            return None
        return number

    with ThreadPoolExecutor(CONTENDERS) as pool:
        for turn in range(place.rounds):
            won = [one for one in pool.map(put, range(CONTENDERS), [f"{turn}"] * CONTENDERS) if one is not None]
            assert len(won) == 1
            assert there(place, f"{turn}") == f"{won[0]}".encode() * 1000


def test_delete(place: Place) -> None:
    """Exactly what is named is deleted, and what is not there is."""
    for name in (*place.names, "a-b", "a.b"):
        place.store.put(f"{place.location}/{name}", b"1")
    gone = [*place.names, "never", "b/never"]
    assert place.store.delete([f"{place.location}/{name}" for name in gone]) == {}
    assert [there(place, name) for name in gone] == [None] * len(gone)
    assert (there(place, "a-b"), there(place, "a.b")) == (b"1", b"1")


def test_delete_nothing(place: Place) -> None:
    """Nothing is deleted when nothing is named, and once when it is named twice."""
    assert place.store.delete([]) == {}
    place.store.put(f"{place.location}/a", b"1")
    assert place.store.delete([f"{place.location}/a"] * 2) == {}
    assert there(place, "a") is None


def test_delete_elsewhere(place: Place) -> None:
    """A location that is none of the place's is left with a reason, and the others are deleted."""
    place.store.put(f"{place.location}/a", b"1")
    assert set(place.store.delete(["gopher://x/y", f"{place.location}/a"])) == {"gopher://x/y"}
    assert there(place, "a") is None


def test_tidy(place: Place) -> None:
    """What deleting left behind goes, what is still there stays."""
    for name in ("a/b/1", "a/c"):
        place.store.put(f"{place.location}/{name}", b"1")
    place.store.delete([f"{place.location}/a/b/1"])
    place.store.tidy(place.location, [f"{place.location}/a/b/1"])
    assert there(place, "a/c") == b"1"


def test_versions(place: Place) -> None:
    """Every version is told of, the newest first; without versions there is the file, or nothing."""
    location = f"{place.location}/a"
    assert place.store.versions(location) == ()
    place.store.put(location, b"12345")
    place.store.put(f"{location}b", b"a neighbour whose name begins alike")
    (only,) = place.store.versions(location)
    assert (only.size, only.latest, only.deleted) == (5, True, False)
    assert 1_600_000_000_000 < only.millis < 4_000_000_000_000
    place.store.delete([location])
    after = [(one.size, one.latest, one.deleted) for one in place.store.versions(location)]
    assert after == ([(0, True, True), (5, False, False)] if place.keeps else [])


def test_restore(place: Place) -> None:
    """A deleted file is brought back where versions are kept, however often it was deleted; nothing else is."""
    location = f"{place.location}/a"
    assert place.store.restore(location) is False
    place.store.put(location, b"1")
    assert place.store.restore(location) is False
    for _ in range(2):
        place.store.delete([location])
    assert place.store.restore(location) is place.keeps
    assert there(place, "a") == (b"1" if place.keeps else None)


def test_tags(place: Place) -> None:
    """Tags are put beside those there are; a place without tags has none and refuses them."""
    location = f"{place.location}/a"
    place.store.put(location, b"1")
    assert place.store.tags(location) == {}
    if not place.marks:
        with pytest.raises(Refused):
            place.store.tag(location, {"a": "b"})
        return
    place.store.tag(location, {"a": "1", "b": "2"})
    place.store.tag(location, {"b": "3", "größe": "x y"})
    assert place.store.tags(location) == {"a": "1", "b": "3", "größe": "x y"}
    assert there(place, "a") == b"1"


def test_too_many_tags(place: Place) -> None:
    """More tags than fit are refused before anything is changed."""
    location = f"{place.location}/a"
    place.store.put(location, b"1")
    many = {f"n{number}": "" for number in range(TAGS_MAX + 1)}
    with pytest.raises(Refused):
        place.store.tag(location, many)
    assert place.store.tags(location) == {}
