"""What a proof is made of: what readers are asked, what they saw, and the verdict. The hash itself is in the adapters.

A *sum* is a 128-bit multiset hash: two lanes of 64 bits that are added separately, so that the order of rows and the
way they are split among batches, files and executors do not matter, while a row that is there twice counts twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from firnline.core.ids import SnapshotId
from firnline.core.types import Struct

_LANE = (1 << 64) - 1


class ReaderName(StrEnum):
    """The readers a proof can call, in the order they are shown."""

    SPARK = "spark"
    PYICEBERG = "pyiceberg"
    DUCKDB = "duckdb"


@dataclass(frozen=True, slots=True, order=True)
class Sum:
    """Two 64-bit lanes. Lane-wise addition: associative, commutative, and no value is its own inverse in both lanes."""

    high: int = 0
    low: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum((self.high + other.high) & _LANE, (self.low + other.low) & _LANE)

    def __str__(self) -> str:
        return f"{self.high:016x}{self.low:016x}"


@dataclass(frozen=True, slots=True)
class ColumnTally:
    """One column: nulls at the top, NaNs at any depth, and the sum of the hashes of its values."""

    nulls: int = 0
    nans: int = 0
    sum: Sum = Sum()

    def __add__(self, other: ColumnTally) -> ColumnTally:
        return ColumnTally(self.nulls + other.nulls, self.nans + other.nans, self.sum + other.sum)


@dataclass(frozen=True, slots=True)
class Tally:
    """What was seen of a snapshot, or of a part of it; parts add up.

    `whole` sums the rows over every column in `columns`; `shared` over the columns all readers of the proof can read,
    so that rows are compared as rows even when one reader lacks a column.
    """

    rows: int
    columns: Mapping[int, ColumnTally]
    whole: Sum = Sum()
    shared: Sum = Sum()

    def __add__(self, other: Tally) -> Tally:
        if self.columns.keys() != other.columns.keys():
            raise ValueError("tallies of different columns do not add up")
        columns = {key: value + other.columns[key] for key, value in self.columns.items()}
        return Tally(self.rows + other.rows, columns, self.whole + other.whole, self.shared + other.shared)

    @staticmethod
    def zero(column_ids: tuple[int, ...]) -> Tally:
        """Nothing seen yet of these columns."""
        return Tally(0, dict.fromkeys(column_ids, ColumnTally()))


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One snapshot of one immutable metadata file, projected by field id to `fields`.

    `snapshot` None: the current snapshot of that file, read with its current schema. A number: time travel, which every
    reader does with the schema of that snapshot. `schema` is that whole schema; `fields` are those asked for, a subset.
    `shared` are the ids of the columns that all readers of the proof can read.
    """

    metadata_location: str
    snapshot: SnapshotId | None
    schema: Struct
    fields: Struct
    shared: frozenset[int]


@dataclass(frozen=True, slots=True)
class CannotRead:
    """The reader does not support something here and says so: no finding about the table."""

    reason: str


@dataclass(frozen=True, slots=True)
class FailedReading:
    """The reader supports all this and broke on it, in the middle of a file perhaps: a finding about the table."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotInstalled:
    """The reader is not there."""

    reason: str


Answer: TypeAlias = Tally | CannotRead | FailedReading | NotInstalled


class Verdict(StrEnum):
    """What a proof says of one reader, or of the whole."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    FAILED = "failed reading"
    CANNOT_READ = "cannot read"
    MISSING = "missing"
    UNPROVEN = "unproven"  # of the whole: fewer than two could read; of a reader: nobody to compare it with


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """One reader: verdict, what it saw, the columns it had to leave out (name → why), and how long it took."""

    reader: ReaderName
    verdict: Verdict
    tally: Tally | None = None
    reason: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """What readers differ in: `rows`; in a column `nulls`, `nans` or `values`; or `pairing`, of equal values to rows.

    Only what does not follow from an earlier one is listed: with a row less, every column's sum is another.
    """

    kind: str
    column: str | None
    seen: Mapping[ReaderName, str]


@dataclass(frozen=True, slots=True)
class Verification:
    """The answer of `firnline verify`.

    `files` is what is wrong with the snapshot's files by its own manifests, whoever reads them: a file that is missing
    or has another size, or other rows than they count. `counted` is that count; None where delete files leave it open.
    `unproven` are columns that fewer than two readers could read.
    """

    table: str
    metadata_location: str
    snapshot: SnapshotId | None
    schema_id: int
    columns: Mapping[int, str]  # field id → name
    verdict: Verdict
    readers: tuple[ReaderReport, ...]
    differences: tuple[Difference, ...] = ()
    unproven: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    counted: int | None = None
