"""Files wherever they are: each location goes to the adapter of its scheme. A catalog may point to several places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from firnline.facts.ports import Blobs, Files, Page, StoredFile
from firnline.loop.store import Store, Version

S3 = ("s3://", "s3a://", "s3n://")


class Place(Protocol):
    """Everything one kind of storage can do."""

    @property
    def files(self) -> Files:
        """Lists, and reads parts."""

    @property
    def blobs(self) -> Blobs:
        """Reads small files whole."""

    @property
    def store(self) -> Store:
        """Writes and deletes."""


class ByScheme:
    """The ports `Files`, `Blobs` and `Store` over this machine and S3. `s3` opens the place of a location there: a
    catalog may vend credentials that hold for one table only.
    """

    def __init__(self, here: Place, s3: Callable[[str], Place]) -> None:
        self._here = here
        self._s3 = s3

    def _of(self, location: str) -> Place:
        return self._s3(location) if location.startswith(S3) else self._here

    def list(self, location: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Files under it at any depth."""
        return self._of(location).files.list(location, after=after, limit=limit)

    def look(self, location: str) -> StoredFile | None:
        """One file as it is now."""
        return self._of(location).files.look(location)

    def part(self, location: str, start: int, length: int) -> bytes:
        """Some of its bytes."""
        return self._of(location).files.part(location, start, length)

    def read(self, location: str) -> bytes:
        """All of a small one."""
        return self._of(location).blobs.read(location)

    def put(self, location: str, data: bytes) -> None:
        """A new file."""
        self._of(location).store.put(location, data)

    def delete(self, locations: Sequence[str]) -> Mapping[str, str]:
        """Exactly these, each where it is."""
        places: dict[int, tuple[Place, list[str]]] = {}
        for location in locations:
            place = self._of(location)
            places.setdefault(id(place), (place, []))[1].append(location)
        return {name: why for place, names in places.values() for name, why in place.store.delete(names).items()}

    def tidy(self, location: str, deleted: Sequence[str]) -> None:
        """What is left of them below a location."""
        beside = [one for one in deleted if one.startswith(S3) == location.startswith(S3)]
        self._of(location).store.tidy(location, beside)

    def versions(self, location: str) -> tuple[Version, ...]:
        """Every version kept of one file."""
        return self._of(location).store.versions(location)

    def restore(self, location: str) -> bool:
        """The version before its deletion."""
        return self._of(location).store.restore(location)

    def tags(self, location: str) -> Mapping[str, str]:
        """The tags of one file."""
        return self._of(location).store.tags(location)

    def tag(self, location: str, tags: Mapping[str, str]) -> None:
        """More tags for one file."""
        self._of(location).store.tag(location, tags)
