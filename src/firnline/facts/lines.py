"""The lines of manifest lists, and the words for what stands in manifests. Without numpy: listing stays light."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Status(IntEnum):
    """What an entry says of its file."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2  # a tombstone: the file left the table in the snapshot that wrote the manifest


class Content(IntEnum):
    """What is in a file."""

    DATA = 0
    POSITION_DELETES = 1  # deletion vectors too
    EQUALITY_DELETES = 2


class Format(IntEnum):
    """How a file is written."""

    OTHER = 0
    PARQUET = 1
    ORC = 2
    AVRO = 3
    PUFFIN = 4


class Metric(IntEnum):
    """The metrics a manifest may hold per column, by the field id of their map."""

    VALUES = 109
    NULLS = 110
    NANS = 137
    LOWER = 125
    UPPER = 128


# The columns of position delete files, whose bounds tell which data files they are about.
DELETE_PATH_ID = 2147483546


@dataclass(frozen=True, slots=True)
class Summary:
    """What a manifest list says of one partition field over a whole manifest. Bounds are Iceberg's single values."""

    contains_null: bool
    contains_nan: bool | None
    lower: bytes | None
    upper: bytes | None


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """One line of a manifest list. None where an old writer left something out.

    A format 1 snapshot may list its manifests in place: such a line has a path and nothing else.
    """

    path: str
    length: int | None = None
    spec_id: int | None = None
    content: str = "data"  # data | deletes
    sequence: int = 0
    sequence_min: int = 0
    snapshot: int | None = None
    added_files: int | None = None
    existing_files: int | None = None
    deleted_files: int | None = None
    added_rows: int | None = None
    existing_rows: int | None = None
    deleted_rows: int | None = None
    first_row_id: int | None = None
    partitions: tuple[Summary, ...] | None = None
    encrypted: bool = False

    @property
    def files(self) -> int | None:
        """Live files: added and existing."""
        return _sum(self.added_files, self.existing_files)

    @property
    def rows(self) -> int | None:
        """Rows of live files."""
        return _sum(self.added_rows, self.existing_rows)

    @property
    def entries(self) -> int | None:
        """Entries, tombstones too."""
        return _sum(self.added_files, self.existing_files, self.deleted_files)


def _sum(*numbers: int | None) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which metrics to keep; every other is passed over. `(Metric.NULLS, 4)` are the null counts of column 4."""

    metrics: frozenset[tuple[Metric, int]] = frozenset()
