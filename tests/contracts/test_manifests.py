"""The port `Manifests`, over every adapter, on tables written by PyIceberg and by Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.errors import Failed, Missing
from firnline.facts.lines import Format, ManifestLine, Metric, Status, Summary, Wanted
from firnline.facts.metrics import ColumnNulls, data_bytes, null_counts
from firnline.facts.ports import Manifests
from tests.committing import BY_DAY, CATALOG, ORDERS, Shelf, assert_done, creating
from tests.iceberg_files import rows

ADAPTERS: dict[str, Callable[[], Manifests]] = {"iceberg": lambda: IcebergManifests(LocalBlobs())}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("at", pa.timestamp("us", "UTC")),
    ]
)


@pytest.fixture(params=ADAPTERS)
def manifests(request: pytest.FixtureRequest) -> Manifests:
    """The port."""
    return ADAPTERS[request.param]()


@pytest.fixture(params=[1, 2])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """A table of two appends: three rows with one name missing, two rows with both missing."""
    found = Shelf(tmp_path)
    assert_done(found.light.create_namespace(("shop",), {}))
    assert_done(found.light.commit(ORDERS, creating(f"{found.warehouse}/orders", version=request.param)))
    catalog = found.sql_catalog()
    table = catalog.load_table("shop.orders")
    for names in (["a", None, "c"], [None, None]):
        rows = {"id": list(range(len(names))), "name": names, "at": [None] * len(names)}
        table.append(pa.table(rows, schema=SCHEMA))
    catalog.engine.dispose()
    return found


def listed(manifests: Manifests, shelf: Shelf) -> tuple[ManifestLine, ...]:
    metadata = shelf.metadata()
    (current,) = [one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["current-snapshot-id"]]
    return manifests.list(current["manifest-list"])


def data_files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.parquet"))


def test_list(manifests: Manifests, shelf: Shelf) -> None:
    """A line per manifest, with the live files and rows it says it has."""
    lines = listed(manifests, shelf)
    assert sorted((line.content, line.spec_id, line.files, line.rows) for line in lines) == [
        ("data", 0, 1, 2), ("data", 0, 1, 3),
    ]  # fmt: skip
    assert all(Path(line.path.removeprefix("file://")).stat().st_size == line.length for line in lines)


def test_nulls(manifests: Manifests, shelf: Shelf) -> None:
    """Nulls are summed over live files; a column no file counts is unknown and not zero."""
    lines = listed(manifests, shelf)
    assert null_counts(manifests, lines, [1, 2, 3, 9]) == {
        1: ColumnNulls(0, 0), 2: ColumnNulls(3, 0), 3: ColumnNulls(5, 0), 9: ColumnNulls(None, 2),
    }  # fmt: skip
    assert null_counts(manifests, lines, []) == {}
    assert null_counts(manifests, [], [1]) == {1: ColumnNulls(0, 0)}


def test_data_bytes(manifests: Manifests, shelf: Shelf) -> None:
    """Bytes per spec are those of the live data files."""
    assert data_bytes(manifests, listed(manifests, shelf)) == {
        0: sum(f.stat().st_size for f in data_files(shelf.folder))
    }
    in_place = [ManifestLine(line.path) for line in listed(manifests, shelf)]  # as format 1 may list them
    assert data_bytes(manifests, in_place) == data_bytes(manifests, listed(manifests, shelf))
    assert data_bytes(manifests, []) == {}


def test_deleted_files(manifests: Manifests, shelf: Shelf) -> None:
    """A file that left the table is counted nowhere, though its manifest still names it."""
    catalog = shelf.sql_catalog()
    catalog.load_table("shop.orders").delete("id >= 0")
    catalog.engine.dispose()
    lines = listed(manifests, shelf)
    assert null_counts(manifests, lines, [2]) == {2: ColumnNulls(0, 0)}
    assert sum(data_bytes(manifests, lines).values()) == 0
    assert sum(line.files or 0 for line in lines) == 0


def listed_by(line: Any) -> ManifestLine:
    """A line as PyIceberg reads it."""
    summaries = line.partitions and tuple(
        Summary(one.contains_null, one.contains_nan, one.lower_bound, one.upper_bound) for one in line.partitions
    )
    return ManifestLine(
        line.manifest_path, line.manifest_length, line.partition_spec_id, ("data", "deletes")[line.content],
        line.sequence_number or 0, line.min_sequence_number or 0, line.added_snapshot_id, line.added_files_count,
        line.existing_files_count, line.deleted_files_count, line.added_rows_count, line.existing_rows_count,
        line.deleted_rows_count, None, summaries, line.key_metadata is not None,
    )  # fmt: skip


def entry_by(entry: Any, number: int, line: Any) -> dict[str, Any]:
    """An entry as PyIceberg reads it."""
    file = entry.data_file
    return {
        "manifest": number, "status": int(entry.status), "content": int(file.content), "format": Format.PARQUET,
        "snapshot": entry.snapshot_id, "sequence": entry.sequence_number or 0,
        "file_sequence": entry.file_sequence_number or 0, "records": file.record_count,
        "size": file.file_size_in_bytes, "sort_order": file.sort_order_id, "first_row_id": None,
        "content_offset": None, "content_size": None, "path": file.file_path, "referenced": None,
        "equality_ids": None if file.equality_ids is None else tuple(file.equality_ids),
        "partition": {1000 + at: file.partition[at] for at in range(len(file.partition))},
        "spec_id": line.partition_spec_id, **{key: _metric(file, *key) for key in ASKED},
    }  # fmt: skip


def _metric(file: Any, metric: Metric, column: int) -> Any:
    names = ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    return (getattr(file, dict(zip(Metric, names, strict=True))[metric]) or {}).get(column)


ASKED = [(metric, column) for metric in Metric for column in (1, 2, 3)]


@pytest.mark.parametrize("version", [1, 2])
def test_what_pyiceberg_reads(manifests: Manifests, tmp_path: Path, version: int) -> None:
    """Lists and manifests of every snapshot, with tombstones and carried entries, say what PyIceberg reads in them."""
    shelf = Shelf(tmp_path)
    assert_done(shelf.light.create_namespace(("shop",), {}))
    assert_done(shelf.light.commit(ORDERS, creating(f"{shelf.warehouse}/orders", version=version, spec=BY_DAY)))
    catalog = shelf.sql_catalog()
    table = catalog.load_table("shop.orders")
    for day in range(14):
        at = [datetime(2026, 11, 1 + day, hour, tzinfo=UTC) for hour in (1, 2)]
        table.append(pa.table({"id": [day, 100 + day], "name": ["é" * day, None], "at": at}, schema=SCHEMA))
    table.delete("id == 3")  # one of two rows: the file is written anew
    table.delete("id < 3 or id > 110")
    snapshots = table.metadata.snapshots
    assert len(snapshots) > 15
    for snapshot in snapshots[-4:]:
        by_them = snapshot.manifests(table.io)
        lines = manifests.list(snapshot.manifest_list)
        assert list(lines) == [listed_by(line) for line in by_them]
        seen = rows(list(manifests.entries(lines, Wanted(frozenset(ASKED)))))
        assert seen == [
            entry_by(entry, number, line)
            for number, line in enumerate(by_them)
            for entry in line.fetch_manifest_entry(table.io, discard_deleted=False)
        ]
        assert {each["status"] for each in seen} >= {Status.ADDED}
    catalog.engine.dispose()


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda path: path.unlink(), Missing, "There is no file"),
        (lambda path: path.write_bytes(b""), Failed, "is not readable as an Iceberg manifest"),
        (lambda path: path.write_bytes(path.read_bytes()[:200]), Failed, "is not readable as an Iceberg manifest"),
        (lambda path: path.write_bytes(b"PAR1" * 100), Failed, "is not readable as an Iceberg manifest"),
        (lambda path: (path.unlink(), path.mkdir()), Failed, "could not be read"),
    ],
    ids=["missing", "empty", "cut off", "something else", "a folder"],
)
@pytest.mark.parametrize("which", ["list", "manifest"])
def test_broken(
    manifests: Manifests, shelf: Shelf, which: str, spoil: Callable[[Path], object], error: type[Exception], words: str
) -> None:
    """A file that is missing or damaged is named, and never read as one without entries."""
    lines = listed(manifests, shelf)
    metadata = shelf.metadata()
    location = metadata["snapshots"][-1]["manifest-list"] if which == "list" else lines[0].path
    spoil(Path(location.removeprefix("file://")))
    with pytest.raises(error, match=words):
        data_bytes(manifests, listed(manifests, shelf))


@pytest.mark.spark
def test_written_by_spark(manifests: Manifests, tmp_path: Path) -> None:
    """Spark's manifests, of several specs and with deletes beside them, say the same to us."""
    from tests.sparklake import spark_lake

    lake = spark_lake(tmp_path / "project")
    name = f"{CATALOG}.shop.orders"
    lake.sql(f"CREATE NAMESPACE {CATALOG}.shop")
    lake.sql(
        f"CREATE TABLE {name} (id BIGINT NOT NULL, name STRING) USING iceberg TBLPROPERTIES "
        "('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.distribution-mode'='none')"
    )
    lake.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, NULL), (3, 'c')")
    lake.sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(1, id)")
    lake.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (4, NULL), (5, NULL)")
    lake.sql(f"DELETE FROM {name} WHERE id = 1")
    shelf = Shelf(tmp_path / "project")
    lines = listed(manifests, shelf)
    assert sorted((line.content, line.spec_id, line.rows) for line in lines) == [
        ("data", 0, 3), ("data", 1, 2), ("deletes", 0, 1),
    ]  # fmt: skip
    assert null_counts(manifests, lines, [1, 2]) == {1: ColumnNulls(0, 0), 2: ColumnNulls(3, 0)}
    sizes = data_bytes(manifests, lines)
    files = [path for path in data_files(tmp_path) if "-deletes" not in path.name]
    assert (set(sizes), sum(sizes.values())) == ({0, 1}, sum(path.stat().st_size for path in files))
