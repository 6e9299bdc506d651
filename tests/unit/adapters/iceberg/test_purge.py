"""What a purge deletes: all a table's metadata reaches, nothing else, and nothing at all when it is not sure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.iceberg.purge import reachable
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.store import LocalStore
from firnline.adapters.requests import Unfit
from tests.committing import ORDERS, Shelf, assert_done, assert_refused, creating, properties

MANIFESTS = IcebergManifests(LocalBlobs())
UUID = "6f0e5d3c-0000-4000-8000-000000000003"
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A table with two appends, an overwrite, and a property changed: files of every kind, some no longer current."""
    found = Shelf(tmp_path)
    assert_done(found.light.create_namespace(("shop",), {}))
    assert_done(found.light.commit(ORDERS, creating(f"{found.warehouse}/orders", uuid=UUID)))
    catalog = found.sql_catalog()
    table = catalog.load_table("shop.orders")
    for number in range(2):
        table.append(pa.table({"id": [number], "name": ["a"]}, schema=SCHEMA))
    table.overwrite(pa.table({"id": [9], "name": ["b"]}, schema=SCHEMA))
    catalog.engine.dispose()
    assert_done(found.light.commit(ORDERS, properties(owner="ann")))
    return found


def files(shelf: Shelf) -> set[str]:
    return {f"file://{path}" for path in (shelf.folder / "warehouse").rglob("*") if path.is_file()}


def test_everything_it_reaches(shelf: Shelf) -> None:
    """Every file of every kept snapshot and every metadata file, the current one last."""
    found = reachable(shelf.metadata(), shelf.location(), MANIFESTS)
    assert found[-1] == shelf.location()
    assert set(found) == files(shelf)
    assert len(found) == len(set(found))


def test_purged(shelf: Shelf) -> None:
    """A purge leaves nothing of the table, and everything that is not its."""
    stranger = shelf.folder / "warehouse" / "orders" / "data" / "somebody's.parquet"
    stranger.touch()
    count = len(files(shelf)) - 1
    outcome = assert_done(shelf.light.drop(ORDERS, UUID, purge=True))
    assert (outcome.facts["files-deleted"], outcome.facts["files-left"], outcome.detail) == (count, 0, "")
    assert files(shelf) == {f"file://{stranger}"}


def test_files_that_stay(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be deleted is counted and said, and the drop is done all the same."""
    delete = LocalStore.delete

    def some(self: LocalStore, paths: Sequence[str]) -> Mapping[str, str]:
        kept = [path for path in paths if path.endswith(".parquet")]
        return {**delete(self, [path for path in paths if path not in kept]), **dict.fromkeys(kept, "busy")}

    monkeypatch.setattr(LocalStore, "delete", some)
    outcome = assert_done(shelf.light.drop(ORDERS, UUID, purge=True))
    assert outcome.facts["files-left"] == 3
    assert outcome.detail == "3 of its files could not be deleted"
    assert shelf.pointers.find(ORDERS) is None


def _gc(data: dict[str, Any]) -> None:
    data["properties"]["gc.enabled"] = "False"


def _outside(data: dict[str, Any]) -> None:
    data["statistics"] = [{"statistics-path": "file:///elsewhere/stats.puffin"}]


def _dots(data: dict[str, Any]) -> None:
    data["metadata-log"][0]["metadata-file"] = f"{data['location']}/../other/metadata/x.json"


def _neighbour(data: dict[str, Any]) -> None:
    data["location"] = data["location"] + "-2"


def _no_list(data: dict[str, Any]) -> None:
    del data["snapshots"][0]["manifest-list"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_gc, "gc.enabled is false"),
        (_outside, "1 of its files lie outside the table's folders (file:///elsewhere/stats.puffin)"),
        (_dots, "1 of its files lie outside the table's folders"),
        (_neighbour, "lie outside the table's folders"),
        (_no_list, "has no manifest list"),
    ],
)
def test_half_a_purge_is_none(shelf: Shelf, edit: Callable[[dict[str, Any]], None], words: str) -> None:
    """A table whose files may be somebody else's is not purged at all; without purge it can still be dropped."""
    data = shelf.metadata()
    edit(data)
    Path(shelf.location().removeprefix("file://")).write_text(json.dumps(data))
    before = files(shelf)
    assert_refused(shelf.light.drop(ORDERS, UUID, purge=True), words)
    assert shelf.pointers.find(ORDERS) is not None
    assert_done(shelf.light.drop(ORDERS, UUID, purge=False))
    assert files(shelf) == before


def test_a_manifest_that_is_gone(shelf: Shelf) -> None:
    """What cannot be listed is not purged: a file nobody reads could name files nobody deletes."""
    Path(shelf.metadata()["snapshots"][0]["manifest-list"].removeprefix("file://")).unlink()
    assert_refused(shelf.light.drop(ORDERS, UUID, purge=True), "There is no file")
    assert shelf.pointers.find(ORDERS) is not None


@pytest.mark.parametrize("key", ["write.data.path", "write.metadata.path", "write.object-storage.path"])
def test_own_folders_elsewhere(shelf: Shelf, key: str) -> None:
    """Folders the table itself names are its own."""
    data = shelf.metadata()
    _outside(data)
    with pytest.raises(Unfit):
        reachable(data, shelf.location(), MANIFESTS)
    data["properties"][key] = "file:///elsewhere"
    assert "file:///elsewhere/stats.puffin" in reachable(data, shelf.location(), MANIFESTS)
