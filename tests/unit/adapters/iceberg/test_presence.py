"""Whether a snapshot's files are what its manifests say: there, of that size, with so many rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField

from firnline.adapters.iceberg import presence
from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.iceberg.presence import Presence, Unseen
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.files import LocalFiles
from firnline.core.errors import Blocked, Failed, FirnlineError
from firnline.facts import meta
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot
from firnline.facts.ports import Blobs, StoredFile


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two snapshots: 3 rows, and 2 more in another file."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("shop")
    made = catalog.create_table("shop.orders", Schema(NestedField(1, "id", LongType())))
    for rows in ([1, 2, 3], [4, 5]):
        made.append(pa.table({"id": pa.array(rows, pa.int64())}))
    catalog.close()
    return made


def snapshots(table: Table) -> tuple[Snapshot, ...]:
    return meta.parse(local(table.metadata_location).read_bytes(), table.metadata_location).snapshots


def local(location: str) -> Path:
    return Path(location.removeprefix("file://"))


def looked(snapshot: Snapshot) -> Presence:
    return presence.look(snapshot, IcebergManifests(LocalBlobs()), LocalFiles())


def newest_file(table: Table) -> Path:
    return local(max(table.scan().plan_files(), key=lambda task: -task.file.record_count).file.file_path)


def test_a_whole_snapshot_has_no_problems(table: Table) -> None:
    """Each snapshot has its own files and counts its own rows."""
    first, second = snapshots(table)
    assert looked(first) == Presence((), 3)
    assert looked(second) == Presence((), 5)


def test_a_missing_file_concerns_the_snapshots_that_need_it(table: Table) -> None:
    """A file that is gone is named for the snapshot that has it; the one before is whole."""
    first, second = snapshots(table)
    gone = newest_file(table)
    gone.unlink()
    assert looked(first).problems == ()
    (problem,) = looked(second).problems
    assert problem.endswith(f"{gone.name} is missing")
    assert looked(second).rows is None


def test_another_size_is_told_with_both_numbers(table: Table) -> None:
    """A file that grew or shrank is not the one that was committed."""
    file = newest_file(table)
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() + b"x")
    (problem,) = looked(snapshots(table)[1]).problems
    assert problem.endswith(f"{file.name} has {size + 1:,} bytes where the manifest says {size:,}")


def test_a_missing_manifest_is_a_problem(table: Table) -> None:
    """Without a manifest or the manifest list nobody knows the files: that is said, and nothing is raised."""
    first, second = snapshots(table)
    manifest = local(table.metadata.snapshots[1].manifests(table.io)[0].manifest_path)
    manifest.unlink()
    assert any(manifest.name in problem for problem in looked(second).problems)
    assert second.manifest_list is not None
    local(second.manifest_list).write_bytes(b"no avro")
    (problem,) = looked(second).problems
    assert local(second.manifest_list).name in problem
    assert looked(first).problems == ()


@pytest.mark.parametrize("change", [{"content": "deletes"}, {"added_rows": None}], ids=["deletes", "no count"])
def test_with_delete_files_rows_are_not_counted(table: Table, change: dict[str, str | None]) -> None:
    """What manifests count says nothing once delete files take rows away, or when a writer left counts out."""
    last = snapshots(table)[1]
    assert presence.look(last, Changed(LocalBlobs(), change), LocalFiles()).rows is None


class Changed(IcebergManifests):
    """Lines with something else in them."""

    def __init__(self, blobs: Blobs, change: dict[str, str | None]) -> None:
        super().__init__(blobs)
        self._change = change

    def list(self, location: str) -> tuple[ManifestLine, ...]:
        return tuple(replace(line, **self._change) for line in super().list(location))


class Closed(LocalFiles):
    """Lets nobody see a file."""

    def __init__(self, trouble: FirnlineError) -> None:
        super().__init__()
        self.trouble = trouble

    def look(self, location: str) -> StoredFile | None:  # noqa: ARG002 -- the port's
        raise self.trouble


@pytest.mark.parametrize("trouble", [Blocked("too busy"), Failed("no right to see it")])
def test_what_could_not_be_looked_at_is_no_finding(table: Table, trouble: FirnlineError) -> None:
    """A store that is busy, or lets nobody in, says nothing about the table: there is no verdict then."""
    with pytest.raises(Unseen, match=trouble.what):
        presence.look(snapshots(table)[1], IcebergManifests(LocalBlobs()), Closed(trouble))
