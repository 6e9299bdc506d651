"""What observing needs of the outside. Reading only; nothing here starts a JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from firnline.core.ids import Identifier
from firnline.facts.lines import ManifestLine, Wanted

if TYPE_CHECKING:
    from firnline.facts.entries import Entries

NOTHING_MORE = Wanted()


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a catalog knows of a table: where its metadata is. `kind` is table, view or other."""

    identifier: Identifier
    metadata_location: str | None
    kind: str = "table"


class Pointers(Protocol):
    """The listing half of a catalog."""

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry, or those directly in one namespace, in order of name. Of the whole catalog it may end in
        Partial, after everything that may be seen, naming what may not.
        """

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None."""

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every namespace with its properties."""


class Blobs(Protocol):
    """Reads whole small files: metadata JSON, manifest lists."""

    def read(self, location: str) -> bytes:
        """The bytes, or Missing with the location when there is no such file."""


class Manifests(Protocol):
    """Reads manifest lists and manifests. What cannot be read raises Missing or Failed and names the file."""

    def list(self, location: str) -> tuple[ManifestLine, ...]:
        """The lines of a manifest list."""

    def entries(self, lines: Sequence[ManifestLine], wanted: Wanted = NOTHING_MORE) -> Iterator[Entries]:
        """Every entry of these manifests, tombstones too, in batches of bounded size.

        Manifests of one writer schema share a batch, and one manifest may be spread over several: order is kept within
        a manifest only.
        """


class Cache(Protocol):
    """Small derived values by key, disposable: whatever is not there is made again. Never raises."""

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of these keys that are there."""

    def put(self, values: Mapping[str, bytes]) -> None:
        """Keep these, or do not."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as a listing shows it."""

    location: str
    size: int
    millis: int  # last modified


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a listing, in order of location. `after` asks for the next one; None: there is none."""

    files: tuple[StoredFile, ...]
    after: str | None


class Files(Protocol):
    """Lists what lies under a location, and reads parts of single files."""

    def list(self, location: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Files under it at any depth, after a location, at most so many."""

    def look(self, location: str) -> StoredFile | None:
        """One file as it is now, or None when there is none."""

    def part(self, location: str, start: int, length: int) -> bytes:
        """Bytes from `start` on, as many as there are up to `length`; Missing when there is no such file."""
