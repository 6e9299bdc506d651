"""What the snapshots of real tables keep, beside what PyIceberg reads of the same files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.figures import at_least, at_most, exactly
from firnline.facts import meta as metadata
from firnline.facts import reach
from firnline.facts.values import HistoryFacts
from tests.committing import ORDERS, Shelf, assert_done, creating

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("at", pa.timestamp("us", "UTC")),
    ]
)


@pytest.fixture(params=[1, 2])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """Four appends with a delete between them, a tag on the second append, a branch that went on from the third."""
    found = Shelf(tmp_path)
    assert_done(found.light.create_namespace(("shop",), {}))
    assert_done(found.light.commit(ORDERS, creating(f"{found.warehouse}/orders", version=request.param)))
    catalog = found.sql_catalog()
    table = catalog.load_table("shop.orders")

    def append(first: int, branch: str | None = None) -> None:
        rows = {"id": list(range(first, first + 5)), "name": ["x" * first] * 5, "at": [None] * 5}
        table.append(pa.table(rows, schema=SCHEMA), **({"branch": branch} if branch else {}))

    append(0)
    append(10)
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "second").commit()
    append(20)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "aside").commit()
    table.delete("id = 3")
    append(30, "aside")
    append(40)
    catalog.engine.dispose()
    return found


def history(shelf: Shelf) -> HistoryFacts:
    location = shelf.location()
    return reach.history(metadata.parse(LocalBlobs().read(location), location), IcebergManifests(LocalBlobs()))


Files = Mapping[str, int]


def as_pyiceberg_reads(shelf: Shelf) -> tuple[Mapping[str, Files], Files]:
    """The live files, and their sizes, of each ref's head, and of all snapshots."""
    catalog = shelf.sql_catalog()
    table = catalog.load_table("shop.orders")
    of = {
        snapshot.snapshot_id: {
            entry.data_file.file_path: entry.data_file.file_size_in_bytes
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        }
        for snapshot in table.snapshots()
    }
    heads = {name: of[ref.snapshot_id] for name, ref in table.refs().items()}
    catalog.engine.dispose()
    return heads, {path: size for files in of.values() for path, size in files.items()}


def test_what_is_kept(shelf: Shelf) -> None:
    """Live files, history, and what each ref alone holds are those of the files PyIceberg lists."""
    found, (heads, everything) = history(shelf), as_pyiceberg_reads(shelf)
    main, held = heads["main"], {path for own in heads.values() for path in own}
    assert (found.live_files, found.live_bytes) == (exactly(len(main)), exactly(sum(main.values())))
    past = {path: size for path, size in everything.items() if path not in held}
    assert (found.history_files, found.history_bytes) == (exactly(len(past)), exactly(sum(past.values())))
    assert (found.loose_files, found.damage) == (exactly(0), ())
    alone = {
        name: {path: size for path, size in own.items() if sum(path in other for other in heads.values()) == 1}
        for name, own in heads.items()
    }
    assert {hold.ref: (hold.files, hold.bytes) for hold in found.refs} == {
        name: (exactly(len(own)), exactly(sum(own.values()))) for name, own in alone.items()
    }
    assert {len(own) for own in alone.values()} == {0, 1, 2}
    manifests = set(shelf.folder.rglob("*-m*.avro"))
    assert (found.manifests, found.manifest_bytes) == (
        len(manifests), exactly(sum(path.stat().st_size for path in manifests)),
    )  # fmt: skip


def test_damaged(shelf: Shelf) -> None:
    """A manifest that was cut is named, and what it could hold is in doubt."""
    location = shelf.location()
    meta = metadata.parse(LocalBlobs().read(location), location)
    assert meta.snapshot is not None
    lines = IcebergManifests(LocalBlobs()).list(meta.snapshot.manifest_list or "")
    newest = max(lines, key=lambda line: (line.sequence, line.added_files or 0))
    path = Path(newest.path.removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:-30])
    found = history(shelf)
    assert [damage.location for damage in found.damage] == [newest.path]
    readable = sum(line.files or 0 for line in lines if line != newest)
    assert (found.live_files, found.history_files) == (at_least(readable), at_most(0))
