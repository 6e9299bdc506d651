"""What observing needs of the outside. Reading only; nothing here starts a JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from firnline.core.ids import Identifier


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a catalog knows of a table: where its metadata is. `kind` is table, view or other."""

    identifier: Identifier
    metadata_location: str | None
    kind: str = "table"


class Pointers(Protocol):
    """The listing half of a catalog."""

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        """Every entry, or those directly in one namespace, in order of name."""

    def find(self, identifier: Identifier) -> Pointer | None:
        """One entry, or None."""

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        """Every namespace with its properties."""


class Blobs(Protocol):
    """Reads whole small files: metadata JSON, manifest lists."""

    def read(self, location: str) -> bytes:
        """The bytes, or Missing with the location when there is no such file."""


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """One line of a manifest list. None where an old writer left a count out."""

    path: str
    length: int
    spec_id: int
    content: str  # data | deletes
    files: int | None  # added and existing
    rows: int | None


@dataclass(frozen=True, slots=True)
class ColumnNulls:
    """Nulls of one column over all live data files; None when some file has no count for it."""

    nulls: int | None
    files_without_count: int


class Manifests(Protocol):
    """Reads manifest lists, and manifests when a question needs them."""

    def list(self, location: str) -> tuple[ManifestFacts, ...]:
        """The lines of a manifest list."""

    def nulls(self, manifests: Iterable[ManifestFacts], field_ids: Iterable[int]) -> Mapping[int, ColumnNulls]:
        """Null counts of these columns in the live data files, from metrics alone."""

    def data_bytes(self, manifests: Iterable[ManifestFacts]) -> Mapping[int, int]:
        """Bytes of live data files per spec."""
