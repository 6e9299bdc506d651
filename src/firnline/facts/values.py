"""What a table is: facts from metadata alone. Frozen values; every later capability reads these.

A plain `int` is exact. A `Figure` says itself whether it is exact, bounded or unknown. Times are milliseconds since the
epoch. Sizes are bytes as stored. Rows are as the files hold them: deletes are counted beside, never subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from firnline.core.figures import NONE, UNKNOWN, Figure
from firnline.core.ids import Identifier, SnapshotId, TableUuid

PartitionKey = tuple[int, tuple[object, ...]]  # spec id, and the values in the order of that spec's fields


class DeleteKind(StrEnum):
    """The kinds of deletes, by what they cost readers."""

    POSITION_FILE = "position, one file"
    POSITION_FILES = "position, many files"
    EQUALITY = "equality"
    GLOBAL_EQUALITY = "global equality"
    VECTOR = "deletion vector"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Which sizes are too small and too large, from the size a table's files are meant to have."""

    target: int
    small_below: int
    large_above: int


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Live data files. `removable` is how many files would be fewer if the small ones of each partition were merged."""

    files: Figure = NONE
    bytes: Figure = NONE
    rows: Figure = NONE
    small_files: Figure = NONE
    small_bytes: Figure = NONE
    removable: Figure = NONE
    large_files: Figure = NONE
    large_bytes: Figure = NONE


@dataclass(frozen=True, slots=True)
class DeleteFacts:
    """Live deletes of one kind. A deletion vector counts as a file of its own with the bytes of its blob.

    `containers` are the files they lie in: many vectors share a Puffin file. `rows` are the positions or keys the files
    hold; for equality deletes nobody can tell from metadata how many rows they take away. `oldest_millis` is when the
    oldest was committed: bounded from above when its snapshot has been expired.
    """

    files: Figure = NONE
    bytes: Figure = NONE
    rows: Figure = NONE
    containers: Figure = NONE
    oldest_sequence: int | None = None
    oldest_millis: Figure = UNKNOWN


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When data was committed, from the newest commits that added files and whose snapshots are still known."""

    commits: int  # how many were looked at
    last_millis: int | None = None
    gap_ms: int | None = None  # the median time between two of them


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """One partition. Exact, unless `TableFacts.damage` names manifests that could not be read, or a writer left out
    sizes or counts: then this is what is known.
    """

    key: PartitionKey
    name: str  # day=2026-11-18/region=eu
    files: int
    bytes: int
    rows: int
    small_files: int
    small_bytes: int
    removable: int
    large_files: int
    large_bytes: int
    delete_files: int
    delete_bytes: int
    delete_rows: int
    touched: Figure  # data files that a delete applies to
    rhythm: Rhythm


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Data files with sizes from `floor` up to, not including, `ceiling`."""

    floor: int
    ceiling: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large data files are. Bins are a quarter of a doubling wide; quantiles are known to within one."""

    bins: tuple[SizeBin, ...] = ()
    least: int = 0
    most: int = 0

    @property
    def files(self) -> int:
        """All files."""
        return sum(each.files for each in self.bins)

    def quantile(self, share: float) -> Figure:
        """The size below which this share of the files lies."""
        rank, seen = share * self.files, 0
        for each in self.bins:
            seen += each.files
            if each.files and seen >= rank:
                return Figure(max(each.floor, self.least), min(each.ceiling - 1, self.most))
        return NONE


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """Live data files under one partition spec."""

    spec_id: int
    current: bool
    partitions: int
    files: Figure
    bytes: Figure
    rows: Figure


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """The manifests of the current snapshot. `fanout` is how many data manifests a look at one partition opens:
    the 95th percentile over (at most 1,000) partitions, by the ranges in the manifest list.
    """

    data: int = 0
    deletes: int = 0
    bytes: Figure = NONE
    entries: Figure = NONE
    tombstones: Figure = NONE
    small: int = 0  # below a quarter of the target size
    target_bytes: int = 0
    fanout: Figure = UNKNOWN


@dataclass(frozen=True, slots=True)
class Writer:
    """Somebody who commits: engine and version, application, or a run of Firnline."""

    engine: str
    application: str | None
    ours: bool
    commits: int
    last_millis: int
    operations: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SnapshotFacts:
    """The snapshots that are kept. Changes are commits other than `replace`: those only rewrite."""

    count: int = 0
    by_operation: Mapping[str, int] = field(default_factory=dict)
    oldest_millis: int | None = None
    newest_millis: int | None = None
    changed_millis: int | None = None  # of the newest change on main
    unreachable: int = 0  # on no branch and no tag
    broken_parents: int = 0  # whose parent has been expired
    writers: tuple[Writer, ...] = ()
    rhythm: Rhythm = Rhythm(0)


@dataclass(frozen=True, slots=True)
class RefFacts:
    """A branch or tag."""

    name: str
    kind: str
    snapshot: SnapshotId
    millis: int | None
    expires_millis: int | None
    missing: bool = False  # its snapshot is not there


@dataclass(frozen=True, slots=True)
class MetadataFacts:
    """The metadata file and what it tracks."""

    json_bytes: int
    gzip: bool
    versions: int  # of the metadata log
    schemas: int
    specs: int
    orders: int
    statistics: int  # statistics files of any snapshot
    statistics_snapshot: SnapshotId | None  # the newest snapshot with one
    partition_statistics: int
    statistics_bytes: Figure


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that could not be read, and why. What it held is in no number: those are bounds then."""

    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table, at its current snapshot.

    With `damage`, figures are bounds, and plain numbers are of what could be read. `touched` are the data files a
    reader has to apply a delete to, as Iceberg plans it: a delete about several files is applied to every older one in
    its partition, whether or not it names a row of it.
    """

    identifier: Identifier
    uuid: TableUuid | None
    location: str
    metadata_location: str
    format_version: int
    snapshot: SnapshotId | None
    sequence: int
    thresholds: Thresholds
    data: DataFacts = DataFacts()
    sizes: Sizes = Sizes()
    formats: Mapping[str, int] = field(default_factory=dict)  # live data files by file format
    sort_orders: Mapping[int, int] = field(default_factory=dict)  # live data files by sort order id; 0: none
    specs: tuple[SpecFacts, ...] = ()
    deletes: Mapping[DeleteKind, DeleteFacts] = field(default_factory=dict)
    dangling: DeleteFacts = DeleteFacts()  # deletes that apply to no live file, by their sequence numbers
    touched: Figure = NONE  # data files that a delete applies to
    touched_bytes: Figure = NONE
    partition_count: int = 0
    partition_rows_median: int = 0
    partition_rows_most: int = 0
    partitions: tuple[PartitionFacts, ...] = ()  # those with most to mend first; `partitions_left_out` are not named
    partitions_left_out: int = 0
    manifests: ManifestFacts = ManifestFacts()
    snapshots: SnapshotFacts = SnapshotFacts()
    refs: tuple[RefFacts, ...] = ()
    metadata: MetadataFacts | None = None
    encrypted: bool = False
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class RefHold:
    """What one ref alone keeps: bytes of files live in its head and in no other ref's."""

    ref: str
    files: Figure
    bytes: Figure


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """Every file of every snapshot that is kept, once: data files, delete files, vectors by blob.

    `live` are those of the current snapshot. `history` are in no ref's head and in some snapshot a ref leads to.
    `loose` are only in snapshots that no ref leads to. `refs` says what each ref alone keeps from leaving.
    """

    live_files: Figure = NONE
    live_bytes: Figure = NONE
    history_files: Figure = NONE
    history_bytes: Figure = NONE
    loose_files: Figure = NONE
    loose_bytes: Figure = NONE
    refs: tuple[RefHold, ...] = ()
    manifests: int = 0
    manifest_bytes: Figure = NONE
    snapshots_read: int = 0
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class Stray:
    """A file under a table's location that the table does not refer to."""

    location: str
    size: int
    millis: int


@dataclass(frozen=True, slots=True)
class StorageFacts:
    """What lies under a table's location. Young files may belong to a commit on its way and are counted apart.

    `unreferenced` are data, delete and metadata files that nothing refers to. `unknown` are files of no kind Iceberg
    writes, and those nobody can tell about: beside the table's own location, of another table, or while `damage` tells
    that something that may refer to them cannot be read. `foreign` are metadata files of a table with another uuid,
    and locations of other tables: then nothing here may be called an orphan. `unchecked` metadata files were too many
    to look into. A listing that stopped early says so with `after`, from which it goes on.
    """

    listed_files: int = 0
    listed_bytes: int = 0
    referenced_files: int = 0
    referenced_bytes: int = 0
    unreferenced_files: int = 0
    unreferenced_bytes: int = 0
    young_files: int = 0
    young_bytes: int = 0
    unknown_files: int = 0
    unknown_bytes: int = 0
    foreign: tuple[str, ...] = ()
    unchecked: int = 0
    examples: tuple[Stray, ...] = ()  # of unreferenced files, the largest first, a few
    missing: tuple[str, ...] = ()  # live files under the location that the listing did not show, a few
    missing_files: int = 0
    whole: bool = True  # all was seen in one look, and all that refers to files was read: no more files are missing
    damage: tuple[Damage, ...] = ()
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What manifests tell of one column, in the files that were looked at."""

    field_id: int
    name: str
    files: int
    with_counts: int  # files with null and value counts
    with_bounds: int
    depth: Figure = UNKNOWN  # overlapping files per file in a partition, in hundredths: 100 is perfectly clustered
