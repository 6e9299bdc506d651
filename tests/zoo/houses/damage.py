"""Files that are gone, cut, foreign, or nobody's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.zoo.houses.deletes import BY_FILE, row
from tests.zoo.pen import Pen, local
from tests.zoo.register import inhabitant

AVRO_SYNC = 16  # bytes that end every block
OLD = 1_767_225_600  # 2026-01-01: nothing still on its way to a commit is that old


@inhabitant("a live data file that is not on the disk")
def missing_data_file(pen: Pen) -> None:
    """Metadata is whole: only a listing, or a reader, finds out."""
    pen.create()
    table = pen.java
    first = table.data(row(1))
    table.append(first, table.data(row(2)))
    local(first.location()).unlink()


def _two_manifests(pen: Pen) -> str:
    """A table of two appends; where the manifest of the first lies."""
    pen.create(properties={"commit.manifest-merge.enabled": "false"})
    table = pen.java
    table.append(*(table.data(row(number)) for number in range(3)), fast=True)
    (first,) = table.manifests
    table.append(table.data(row(3)), fast=True)
    return first


@inhabitant("a manifest cut in the middle: the other one can be read")
def truncated_manifest(pen: Pen) -> None:
    """Three of four files are in the one that was cut."""
    pen.damage(_two_manifests(pen), lambda data: data[: len(data) // 2])


@inhabitant("a manifest that is not on the disk")
def missing_manifest(pen: Pen) -> None:
    """Three of four files were in it."""
    local(_two_manifests(pen)).unlink()


@inhabitant("a manifest cut where a block ends: it reads without an error and lacks an entry")
def manifest_cut_between_blocks(pen: Pen) -> None:
    """PyIceberg writes a block per entry. Only the counts of the manifest list tell."""
    import pyarrow as pa

    pen.create("id bigint, region string", by="region")
    table = pen.shelf.sql_catalog().load_table((*pen.identifier.namespace, pen.identifier.name))
    rows = [{"id": number, "region": f"r{number}"} for number in range(3)]
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    (manifest,) = table.current_snapshot().manifests(table.io)
    pen.damage(manifest.manifest_path, _without_last_block)


def _without_last_block(data: bytes) -> bytes:
    sync = data[-AVRO_SYNC:]
    return data[: data.rindex(sync, 0, len(data) - AVRO_SYNC) + AVRO_SYNC]


@inhabitant("a manifest of delete files cut in the middle")
def truncated_delete_manifest(pen: Pen) -> None:
    """Which files are touched cannot be known; the data files can."""
    pen.create(properties=BY_FILE)
    pen.fill(range(20), files=2)
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10)")
    table = pen.java.table
    (manifest,) = table.currentSnapshot().deleteManifests(table.io())
    pen.damage(manifest.path(), lambda data: data[: len(data) // 2])


@inhabitant("a manifest list cut in the middle")
def truncated_manifest_list(pen: Pen) -> None:
    """Nothing of the current snapshot can be known but its summary."""
    _two_manifests(pen)
    pen.damage(pen.java.table.currentSnapshot().manifestListLocation(), lambda data: data[: len(data) // 2])


@inhabitant("the metadata of another table lies in this one's folder")
def foreign_owner(pen: Pen) -> None:
    """Two catalogs once shared the location: whatever looks like an orphan here may be the other's."""
    pen.create()
    pen.fill(range(10))
    text = local(pen.shelf.location(pen.identifier)).read_text(encoding="utf-8")
    uuid = pen.metadata["table-uuid"]
    other = pen.folder / "metadata" / "00007-0a0a0a0a-1111-4222-8333-444444444444.metadata.json"
    other.write_text(text.replace(uuid, "0b0b0b0b-5555-4666-8777-888888888888"), encoding="utf-8")


@inhabitant("five old files that nothing refers to, one of a moment ago, and one of no known kind")
def orphans(pen: Pen) -> None:
    """Three data files and a manifest of writers that failed; metadata of a lost race; a commit on its way."""
    pen.create()
    table = pen.java
    table.append(table.data(row(1)))
    for number in range(3):
        _aged(local(table.data(row(number)).location()))
    metadata = pen.folder / "metadata"
    for pattern, left in (("*-m0.avro", "lost-m0.avro"), ("*.json", "00001-lost.metadata.json")):
        shutil.copyfile(min(metadata.glob(pattern)), metadata / left)
        _aged(metadata / left)
    table.data(row(9))
    (pen.folder / "data" / "notes.txt").write_text("who put this here?", encoding="utf-8")
    _aged(pen.folder / "data" / "notes.txt")


def _aged(path: Path) -> None:
    for each in (path, path.with_name(f".{path.name}.crc")):
        if each.exists():
            os.utime(each, (OLD, OLD))
