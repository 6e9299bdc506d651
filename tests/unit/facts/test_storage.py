"""What lies under a table's location and what of it the table refers to: on tables written by PyIceberg."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.files import LocalFiles
from firnline.core.errors import BadInput, Missing
from firnline.facts import meta as metadata
from firnline.facts import storage
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Page
from firnline.facts.references import references
from firnline.facts.values import StorageFacts
from tests.committing import ORDERS, Shelf, assert_done, creating
from tests.facts_building import TABLE, Line, Shelves, snapshot_of, table_of

NOW = 2_000_000_000_000
OLD = NOW - storage.YOUNG_MS
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("at", pa.timestamp("us", "UTC")),
    ]
)


@dataclass
class Table:
    """A table on disk, and its folder."""

    shelf: Shelf
    folder: Path

    @property
    def meta(self) -> TableMeta:
        location = self.shelf.location()
        return metadata.parse(LocalBlobs().read(location), location)

    def put(self, name: str, data: bytes = b"123", millis: int = OLD) -> str:
        """A file beside the table's own."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, ns=(millis * 1_000_000, millis * 1_000_000))
        return f"{self.meta.table_location}/{name}"

    def files(self) -> list[Path]:
        """Every file on disk."""
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def look(self, meta: TableMeta | None = None, **more: Any) -> StorageFacts:
        """What a listing shows."""
        meta = meta or self.meta
        found = references(meta, IcebergManifests(LocalBlobs()))
        return storage.look(meta, found, LocalFiles(), LocalBlobs(), now_millis=NOW, **more)


def table_in(folder: Path, version: int) -> Table:
    """Three appends, and a delete that rewrote the first file."""
    shelf = Shelf(folder)
    assert_done(shelf.light.create_namespace(("shop",), {}))
    assert_done(shelf.light.commit(ORDERS, creating(f"{shelf.warehouse}/orders", version=version)))
    catalog = shelf.sql_catalog()
    orders = catalog.load_table("shop.orders")
    for first in (0, 10, 20):
        orders.append(pa.table({"id": [first, first + 1], "name": ["a", "b"], "at": [None, None]}, schema=SCHEMA))
    orders.delete("id = 0")
    catalog.engine.dispose()
    return Table(shelf, folder / "warehouse" / "orders")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return table_in(tmp_path, 2)


@pytest.fixture(params=[1, 2])
def any_table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    return table_in(tmp_path, request.param)


def sort_of(found: StorageFacts, before: StorageFacts) -> Mapping[str, int]:
    """By how many files each sort grew."""
    sorts = ("listed", "referenced", "unreferenced", "young", "unknown")
    grown = {sort: getattr(found, f"{sort}_files") - getattr(before, f"{sort}_files") for sort in sorts}
    return {sort: files for sort, files in grown.items() if files}


def test_a_table_by_itself(any_table: Table) -> None:
    """Whatever its writer wrote, a table refers to, in all its snapshots, and nothing is missing."""
    found, files = any_table.look(), any_table.files()
    assert found == StorageFacts(
        listed_files=len(files),
        listed_bytes=sum(path.stat().st_size for path in files),
        referenced_files=len(files),
        referenced_bytes=sum(path.stat().st_size for path in files),
    )
    assert len(files) > 12


def test_without_history(any_table: Table) -> None:
    """The files of snapshots that were expired are unreferenced, and those that are still live are not."""
    meta = any_table.meta
    assert meta.snapshot is not None
    found = any_table.look(replace(meta, snapshots=(meta.snapshot,)))
    assert found.unreferenced_files >= 2
    assert {Path(stray.location).suffix for stray in found.examples} == {".parquet", ".avro"}
    assert sum(stray.location.endswith(".parquet") for stray in found.examples) == 1
    assert (found.missing_files, found.whole) == (0, True)


SORTS = [
    # A name, and its sort when nothing refers to it and it is old.
    ("data/00000-0-x.parquet", "unreferenced"),
    ("data/day=2026-11-18/x.snappy.parquet", "unreferenced"),
    ("data/x.orc", "unreferenced"),
    ("data/x.avro", "unreferenced"),
    ("data/x-deletes.puffin", "unreferenced"),
    ("x.parquet", "unreferenced"),
    ("data/_id=3/.name=4/x.parquet", "unreferenced"),
    ("data/.x.parquet.crc", "unreferenced"),
    ("metadata/snap-1-1-x.avro", "unreferenced"),
    ("metadata/x-m0.avro", "unreferenced"),
    ("metadata/x.stats", "unreferenced"),
    ("metadata/partition-stats-1.parquet", "unreferenced"),
    ("metadata/version-hint.text", "referenced"),
    ("metadata/.version-hint.text.crc", "referenced"),
    ("data/_SUCCESS", "referenced"),
    ("data/._SUCCESS.crc", "referenced"),
    ("README.md", "unknown"),
    ("data/x.parquet.tmp", "unknown"),
    ("data/parquet", "unknown"),
    ("data/_temporary/0/x.parquet", "unknown"),
    ("data/_x.parquet", "unknown"),
    ("data/.x.parquet", "unknown"),
    ("data/.hive-staging/x.parquet", "unknown"),
    ("_delta_log/000.json", "unknown"),
    ("metadata/.x.metadata.json.crc", "unknown"),
    ("x.crc", "unknown"),
]


def test_sorts(table: Table) -> None:
    """A file nothing refers to is sorted by its name, its age, and the file it accompanies."""
    before = table.look()
    for name, sort in SORTS:
        for millis, expected in ((OLD, sort), (OLD + 1, {"unreferenced": "young"}.get(sort, sort))):
            table.put(name, millis=millis)
            assert sort_of(table.look(), before) == {"listed": 1, expected: 1}, name
        (table.folder / name).unlink()


def test_how_young_is_told(table: Table) -> None:
    """What counts as young is for the caller to say."""
    table.put("data/x.parquet", millis=NOW - 1000)
    assert [table.look(young_ms=ms).young_files for ms in (999, 1000, 1001)] == [0, 0, 1]


def test_checksums_of_our_files(table: Table) -> None:
    """A checksum beside a file we refer to is counted with it, and does not stand for it."""
    data = next(path for path in table.files() if path.suffix == ".parquet")
    before = table.look()
    table.put(f"data/.{data.name}.crc")
    assert sort_of(table.look(), before) == {"listed": 1, "referenced": 1}
    live = {path for path in table.files() if path.suffix == ".parquet"}
    for path in live:
        table.put(f"data/.{path.name}.crc")
        path.unlink()
    assert table.look().missing_files > 0


def test_examples(table: Table) -> None:
    """The largest unreferenced files are named, the largest first, a few."""
    names = {table.put(f"data/{size:03}.parquet", b"x" * size): size for size in range(1, 31)}
    found = table.look()
    assert (found.unreferenced_files, found.unreferenced_bytes) == (30, sum(range(1, 31)))
    assert [(stray.location, stray.size, stray.millis) for stray in found.examples] == [
        (location, size, OLD) for location, size in list(names.items())[:-11:-1]
    ]


def own(table: Table, **changes: Any) -> bytes:
    return json.dumps({**table.shelf.metadata(), **changes}).encode()


def test_old_metadata_of_ours(table: Table) -> None:
    """Metadata with our uuid that left the log is unreferenced, plain or compressed; what is in the log is not read."""
    before = table.look(metadata_read_max=0)
    assert (before.unchecked, before.foreign) == (0, ())
    table.put("metadata/00000-old.metadata.json", own(table))
    table.put("metadata/00001-old.gz.metadata.json", gzip.compress(own(table)))
    table.put("metadata/00002-old.metadata.json.gz", gzip.compress(own(table)))
    table.put("metadata/00003-new.metadata.json", own(table), millis=NOW)
    found = table.look()
    assert sort_of(found, before) == {"listed": 4, "unreferenced": 3, "young": 1}
    assert found.foreign == ()


@pytest.mark.parametrize(
    "data",
    [
        b'{"table-uuid": "11111111-1111-1111-1111-111111111111", "location": "file:///elsewhere"}',
        b'{"table-uuid": 5}',
        b"{}",
        b"",
        b"[1]",
        b"not json",
        b"\x1f\x8bnot gzip",
        b"[" * 100_000,
        b'{"table-uuid": "\xff"}',
    ],
)
@pytest.mark.parametrize("millis", [OLD, NOW])
def test_metadata_of_another_table(table: Table, data: bytes, millis: int) -> None:
    """Metadata with another uuid, and what is not readable as metadata, is foreign and never unreferenced."""
    before = table.look()
    location = table.put("metadata/00000-x.metadata.json", data, millis)
    found = table.look()
    assert (found.foreign, sort_of(found, before)) == ((location,), {"listed": 1, "unknown": 1})


def test_metadata_without_a_uuid(table: Table) -> None:
    """Early metadata without a uuid is ours when it says so of its location, however spelled."""
    location = table.meta.table_location
    for name, where in (("a", f"{location}/"), ("b", location.removeprefix("file://")), ("c", f"{location}2")):
        table.put(f"metadata/{name}.metadata.json", own(table, **{"table-uuid": None, "location": where}))
    assert [Path(one).name for one in table.look().foreign] == ["c.metadata.json"]


def test_more_metadata_than_is_looked_into(table: Table) -> None:
    """What nobody looked into for its number or size is counted, and not called unreferenced."""
    before = table.look()
    for number in range(5):
        table.put(f"metadata/0000{number}-x.metadata.json", own(table))
    found = table.look(metadata_read_max=2)
    assert (found.unchecked, sort_of(found, before)) == (3, {"listed": 5, "unreferenced": 2, "unknown": 3})


def test_metadata_that_is_too_large(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metadata file above the bound is not read."""
    monkeypatch.setattr(storage, "METADATA_BYTES_MAX", 10)
    table.put("metadata/x.metadata.json", b'{"table-uuid": 1}')
    found = table.look()
    assert (found.unchecked, found.foreign) == (1, ())


def test_metadata_that_went_away(table: Table) -> None:
    """A metadata file that is cleaned away between the listing and the look into it is nobody else's."""

    class Gone(LocalBlobs):
        def read(self, location: str) -> bytes:
            raise Missing(f"There is no file {location}.")

    table.put("metadata/x.metadata.json")
    meta, files = table.meta, LocalFiles()
    found = storage.look(meta, references(meta, IcebergManifests(LocalBlobs())), files, Gone(), now_millis=NOW)
    assert (found.foreign, found.unreferenced_files) == ((), 1)


def test_a_table_inside_ours(table: Table) -> None:
    """Files in another table's location are left out, told as foreign, and ours even there."""
    before, location = table.look(), table.meta.table_location
    table.put("nested/data/x.parquet")
    table.put("nested/metadata/1.metadata.json", b'{"table-uuid": "1"}')
    table.put("nested-not/data/x.parquet")
    for others in ([f"{location}/nested"], [f"{location}/nested/".removeprefix("file://"), f"{location}/empty"]):
        found = table.look(others=others)
        assert (found.foreign, sort_of(found, before)) == ((others[0],), {"listed": 1, "unreferenced": 1})
    found = table.look(others=[f"{location}/data", f"{location}/nested"])
    assert (found.foreign, found.referenced_files) == ((f"{location}/nested",), before.referenced_files)


def test_a_table_around_ours(table: Table) -> None:
    """A table whose location holds ours takes nothing away; one with the very same location is foreign."""
    location = table.meta.table_location
    table.put("data/x.parquet")
    assert table.look(others=[location.rpartition("/")[0]]) == table.look()
    shared = table.look(others=[f"{location}/"])
    assert (shared.foreign, shared.unreferenced_files) == ((f"{location}/",), 1)


def test_missing(any_table: Table) -> None:
    """A live file that is gone is named; one that only history needs is not."""
    meta = any_table.meta
    assert meta.snapshot is not None
    with_history, without = (
        references(one, IcebergManifests(LocalBlobs())) for one in (meta, replace(meta, snapshots=(meta.snapshot,)))
    )
    data = [path for path in any_table.files() if path.suffix == ".parquet"]
    assert (int(with_history.live.sum()), int(without.live.sum()), len(data)) == (3, 3, 4)
    for path in data:
        path.unlink()
    found = any_table.look()
    assert (found.missing_files, len(found.missing), found.whole) == (3, 3, True)
    assert set(found.missing) < {f"file://{path}" for path in data}


def test_behind_a_link(table: Table) -> None:
    """Files in a folder that is a link are not listed and not missing: they are looked for by name."""
    (table.folder / "data").rename(table.folder.parent / "disk")
    (table.folder / "data").symlink_to(table.folder.parent / "disk")
    found = table.look()
    assert (found.missing, found.missing_files, found.whole) == ((), 0, False)
    newest = max((table.folder / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()
    found = table.look()
    assert (found.missing, found.missing_files, found.whole) == ((f"file://{newest}",), 1, False)


@pytest.mark.parametrize("what", ["list", "manifest"])
def test_what_cannot_be_read(table: Table, what: str) -> None:
    """While a manifest or a list cannot be read nothing is called unreferenced, and the damage is named."""
    table.put("data/x.parquet")
    meta = table.meta
    assert meta.snapshot is not None
    lists = [snapshot.manifest_list or "" for snapshot in meta.snapshots[:-1]]
    lines = IcebergManifests(LocalBlobs()).list(lists[0])
    spoiled = lists[0] if what == "list" else lines[0].path
    Path(spoiled.removeprefix("file://")).write_bytes(b"")
    found = table.look()
    assert [damage.location for damage in found.damage] == [spoiled]
    assert (found.unreferenced_files, found.unknown_files >= 1, found.whole, found.missing) == (0, True, False, ())


def test_another_location(table: Table, tmp_path: Path) -> None:
    """Where properties send files is looked at too: nothing there is called unreferenced, for others may use it."""
    meta = table.meta
    data = next(path for path in table.files() if path.suffix == ".parquet")
    (tmp_path / "far" / "deep").mkdir(parents=True)
    data.rename(tmp_path / "far" / "deep" / data.name)
    stray = tmp_path / "far" / "x.parquet"
    stray.write_bytes(b"1")
    os.utime(stray, (0, 0))
    moved = replace(meta, properties={"write.data.path": f"{tmp_path}/far"})
    before = table.look()
    assert sort_of(table.look(moved), before) == {"listed": 2, "unknown": 2}
    assert table.look(replace(meta, properties={"write.metadata.path": f"{tmp_path}/far"})).unknown_files == 2


@dataclass
class Narrow:
    """`Files` with small pages."""

    width: int
    files: LocalFiles = field(default_factory=LocalFiles)

    def list(self, location: str, *, after: str | None = None, limit: int = 1000) -> Page:
        return self.files.list(location, after=after, limit=min(self.width, limit))


OTHERS_METADATA = b'{"table-uuid": "1"}'
NAMES = st.sets(
    st.sampled_from(
        [
            "t/data/a", "t/data/b.parquet", "t/data/c.parquet", "t/data/.a.crc", "t/data/young.parquet",
            "t/nested/x.parquet", "t/metadata/1.metadata.json", "t/metadata/2.metadata.json", "t/x", "t/y.avro",
            "far/a.parquet", "far/b", "far/1.metadata.json", "further/a.parquet",
        ]
    )
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(NAMES, st.integers(1, 4), st.integers(1, 4))
def test_looks_add_up(tmp_path_factory: pytest.TempPathFactory, names: set[str], width: int, pages: int) -> None:
    """However often a look stops and goes on, all of them together show what a single one shows."""
    folder = tmp_path_factory.mktemp("w")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(OTHERS_METADATA if "json" in name else b"x" * (len(name) % 7))
        os.utime(folder / name, ns=(millis := (NOW if "young" in name else OLD) * 1_000_000, millis))
    properties = {"write.data.path": f"{folder}/far", "write.metadata.path": f"{folder}/further"}
    meta = table_of([snapshot_of(1)], current=1, location=f"{folder}/t", properties=properties)
    lines = {"m": tuple(Line(f"{folder}/t/data/{name}") for name in ("a", "c.parquet"))}
    referenced = references(meta, Shelves({f"{TABLE}/metadata/snap-1.avro": ["m"]}, lines))

    def look(**more: Any) -> StorageFacts:
        return storage.look(
            meta, referenced, Narrow(width), LocalBlobs(), now_millis=NOW, others=[f"{folder}/t/nested"], **more
        )

    whole, parts = look(), look(pages_max=pages)
    while parts.after is not None:
        parts = storage.combined(parts, look(pages_max=pages, after=parts.after))
    assert parts == replace(whole, whole=parts.whole, missing=parts.missing, missing_files=parts.missing_files)
    assert whole.missing_files == sum(name not in names for name in ("t/data/a", "t/data/c.parquet"))
    sorts = ("referenced", "unreferenced", "young", "unknown")
    assert (
        whole.listed_files
        == len(names - {"t/nested/x.parquet"})
        == sum(getattr(whole, f"{sort}_files") for sort in sorts)
    )
    assert whole.listed_bytes == sum(getattr(whole, f"{sort}_bytes") for sort in sorts)


def test_a_look_in_parts_misses_nothing(table: Table) -> None:
    """A look that did not see everything calls nothing missing, and says that it cannot."""
    for path in table.files():
        path.unlink() if path.suffix == ".parquet" else None
    meta = table.meta
    found = references(meta, IcebergManifests(LocalBlobs()))
    first = storage.look(meta, found, Narrow(2), LocalBlobs(), now_millis=NOW, pages_max=1)
    second = storage.look(meta, found, Narrow(2), LocalBlobs(), now_millis=NOW, after=first.after)
    for part in (first, second, storage.combined(first, second)):
        assert (part.missing_files, part.missing, part.whole) == (0, (), False)
    assert (first.after is not None, second.after) == (True, None)


def test_going_on_elsewhere(table: Table) -> None:
    """A look cannot go on behind a file that lies in no location of the table."""
    with pytest.raises(BadInput, match="lies under no location"):
        table.look(after="/elsewhere/a")


def test_an_empty_table() -> None:
    """A table without a snapshot refers to its metadata, and a location that is not there has no files."""
    meta = table_of([])
    found = references(meta, Shelves({}, {}))
    assert len(found.high) == 1
    assert storage.look(meta, found, LocalFiles(), LocalBlobs(), now_millis=NOW) == StorageFacts()
