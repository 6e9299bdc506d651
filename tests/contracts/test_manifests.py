"""The port `Manifests`, over every adapter, on tables written by PyIceberg and by Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from firnline.adapters.iceberg.manifests import PyIcebergManifests
from firnline.core.errors import Failed, Missing
from firnline.facts.ports import ColumnNulls, ManifestFacts, Manifests
from tests.committing import CATALOG, ORDERS, Shelf, assert_done, creating

ADAPTERS: dict[str, Callable[[], Manifests]] = {"pyiceberg": PyIcebergManifests}
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


def listed(manifests: Manifests, shelf: Shelf) -> tuple[ManifestFacts, ...]:
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
    assert manifests.nulls(lines, [1, 2, 3, 9]) == {
        1: ColumnNulls(0, 0), 2: ColumnNulls(3, 0), 3: ColumnNulls(5, 0), 9: ColumnNulls(None, 2),
    }  # fmt: skip
    assert manifests.nulls(lines, []) == {}
    assert manifests.nulls([], [1]) == {1: ColumnNulls(0, 0)}


def test_data_bytes(manifests: Manifests, shelf: Shelf) -> None:
    """Bytes per spec are those of the live data files."""
    assert manifests.data_bytes(listed(manifests, shelf)) == {
        0: sum(f.stat().st_size for f in data_files(shelf.folder))
    }
    assert manifests.data_bytes([]) == {}


def test_deleted_files(manifests: Manifests, shelf: Shelf) -> None:
    """A file that left the table is counted nowhere, though its manifest still names it."""
    catalog = shelf.sql_catalog()
    catalog.load_table("shop.orders").delete("id >= 0")
    catalog.engine.dispose()
    lines = listed(manifests, shelf)
    assert manifests.nulls(lines, [2]) == {2: ColumnNulls(0, 0)}
    assert sum(manifests.data_bytes(lines).values()) == 0
    assert sum(line.files or 0 for line in lines) == 0


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
        manifests.data_bytes(listed(manifests, shelf))


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
    assert manifests.nulls(lines, [1, 2]) == {1: ColumnNulls(0, 0), 2: ColumnNulls(3, 0)}
    sizes = manifests.data_bytes(lines)
    files = [path for path in data_files(tmp_path) if "-deletes" not in path.name]
    assert (set(sizes), sum(sizes.values())) == ({0, 1}, sum(path.stat().st_size for path in files))
