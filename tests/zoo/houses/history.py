"""Snapshots, refs and metadata files: what is kept, what holds it, and what the metadata says or leaves out."""

from __future__ import annotations

from typing import Any

from tests.zoo.houses.deletes import row
from tests.zoo.pen import Pen
from tests.zoo.register import inhabitant

MANY = 10_000


@inhabitant("a snapshot that was staged for audit and never published")
def staged_snapshot(pen: Pen) -> None:
    """It is on no branch; its files are in no head."""
    pen.create()
    table = pen.java
    table.append(table.data(row(1)))
    table.append(table.data(row(2)), staged="audit-7")


@inhabitant("a table that was rolled back over two snapshots, and went on")
def rolled_back(pen: Pen) -> None:
    """The two lie on no branch any more."""
    pen.create()
    table = pen.java
    first = table.append(table.data(row(1)))
    table.append(table.data(row(2)))
    table.append(table.data(row(3)))
    table.table.manageSnapshots().rollbackTo(first).commit()
    table.append(table.data(row(4)))


@inhabitant("a tag on a snapshot that main was rolled back over: the tag keeps it, and not the one before it")
def tag_off_main(pen: Pen) -> None:
    """Of three snapshots the second is on no branch, and a tag leads to no ancestors."""
    pen.create()
    table = pen.java
    first, _, third = (table.append(table.data(row(number))) for number in range(3))
    table.table.manageSnapshots().createTag("kept", third).commit()
    table.table.manageSnapshots().rollbackTo(first).commit()


@inhabitant("five snapshots of which the middle two were expired: a parent is missing")
def expired_middle(pen: Pen) -> None:
    """The chain of parents breaks after the fourth."""
    pen.create()
    table = pen.java
    for number in range(5):
        table.append(table.data(row(number)))
    table.expire(*table.snapshots[1:3])


@inhabitant("a branch that went its own way from the first of two snapshots on main")
def diverged_branch(pen: Pen) -> None:
    """Main and audit have one commit each that the other has not."""
    pen.create()
    table = pen.java
    first = table.append(table.data(row(1)))
    table.table.manageSnapshots().createBranch("audit", first).commit()
    table.append(table.data(row(2)))
    table.append(table.data(row(3)), branch="audit")


@inhabitant("tags that keep the bytes of two months alive; the live table is one small file")
def tagged(pen: Pen) -> None:
    """Everything the tags show was deleted from main."""
    pen.create()
    for month in ("september", "october"):
        pen.fill(range(100), files=2)
        pen.sql(f"ALTER TABLE {{t}} CREATE TAG `{month}`", "DELETE FROM {t} WHERE true")
    pen.sql("ALTER TABLE {t} CREATE BRANCH dev RETAIN 7 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS")
    pen.fill(range(1))


@inhabitant("10,000 snapshots in a metadata file of several megabytes")
def many_snapshots(pen: Pen) -> None:
    """Five were committed; the others are made up and point to their manifest lists."""
    pen.create()
    table = pen.java
    for number in range(5):
        table.append(table.data(row(number)), fast=True)
    pen.edit(_multiplied)


def _multiplied(metadata: dict[str, Any]) -> None:
    real = metadata["snapshots"]
    head = metadata["current-snapshot-id"]
    newest = max(each["timestamp-ms"] for each in real)
    minute = 60_000
    made = []
    for number in range(MANY):
        source = real[min(number, len(real) - 1)]
        after = {"snapshot-id": 7_000_000_000 + number, "sequence-number": number + 1}
        parent = {"parent-snapshot-id": 7_000_000_000 + number - 1} if number else {}
        made.append({**source, **parent, **after, "timestamp-ms": newest - (MANY - 1 - number) * minute})
    made[-1]["snapshot-id"] = head  # so that refs and the last snapshot of the log stay as they are
    metadata["snapshots"] = made
    metadata["last-sequence-number"] = MANY
    metadata["snapshot-log"] = [
        {"timestamp-ms": each["timestamp-ms"], "snapshot-id": each["snapshot-id"]} for each in made
    ]
    metadata["last-updated-ms"] = newest


@inhabitant("every row was deleted: there is a snapshot, and nothing in it")
def emptied(pen: Pen) -> None:
    """Its manifest holds tombstones only."""
    pen.create()
    pen.fill(range(20), files=2)
    pen.sql("DELETE FROM {t} WHERE true")


@inhabitant("a table nobody ever wrote to")
def never_written(pen: Pen) -> None:
    """No snapshot, no manifest, no data folder."""
    pen.create(by="region")


@inhabitant("tombstones of six deleted files stand in manifests that are live")
def tombstones(pen: Pen) -> None:
    """One manifest was rewritten when a region went, and is still in the list two commits later."""
    pen.create(by="region")
    pen.fill(range(90), files=9, region="CASE WHEN id < 60 THEN 'eu' ELSE 'us' END")
    pen.sql("DELETE FROM {t} WHERE region = 'eu'")
    pen.fill(range(90, 91))
    pen.fill(range(91, 92), region="'us'")


@inhabitant("statistics of an older snapshot: a commit came after them")
def stale_statistics(pen: Pen) -> None:
    """A Puffin file with sketches and a file of partition statistics, both of the first snapshot."""
    pen.create(by="region")
    pen.fill(range(20), region="IF(id < 10, 'eu', 'us')")
    pen.sql(f"CALL lake.system.compute_table_stats(table => '{pen.identifier}', columns => array('id', 'region'))")
    pen.sql(f"CALL lake.system.compute_partition_stats(table => '{pen.identifier}')")
    pen.fill(range(20, 30))


@inhabitant("summaries without totals, as some writers leave them")
def summaries_without_totals(pen: Pen) -> None:
    """Only what a commit added or took away is said."""
    pen.create(by="region")
    pen.fill(range(10), files=2)
    pen.fill(range(10, 20), region="'us'")
    pen.sql("DELETE FROM {t} WHERE region = 'us'")
    pen.edit(_without_totals)


def _without_totals(metadata: dict[str, Any]) -> None:
    for each in metadata["snapshots"]:
        each["summary"] = {key: value for key, value in each["summary"].items() if not key.startswith("total-")}


@inhabitant("a metadata file that is compressed")
def gzip_metadata(pen: Pen) -> None:
    """Its name says so, and its first bytes."""
    pen.create(properties={"write.metadata.compression-codec": "gzip"})
    pen.fill(range(10))
    pen.fill(range(10, 20))


@inhabitant("a tag whose snapshot is not there")
def lost_tag(pen: Pen) -> None:
    """Java refuses to load such a table; a catalog may point to one all the same."""
    pen.create()
    pen.fill(range(10))
    pen.edit(_with_lost_tag)


def _with_lost_tag(metadata: dict[str, Any]) -> None:
    metadata["refs"]["lost"] = {"snapshot-id": 12345, "type": "tag"}
