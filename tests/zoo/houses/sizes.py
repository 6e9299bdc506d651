"""How large data files are and how they lie in partitions."""

from __future__ import annotations

from tests.zoo.pen import Pen
from tests.zoo.register import inhabitant

LONG_NOTES = "sha2(cast(id AS string), 256)"  # 64 characters that do not compress


@inhabitant("24 tiny files in an unpartitioned table")
def small_files(pen: Pen) -> None:
    """What a streaming job leaves behind, in one commit."""
    pen.create()
    pen.fill(range(240), files=24)


@inhabitant("three regions, one with nine of the eleven files and almost all rows")
def skewed(pen: Pen) -> None:
    """Rows per partition: 900, 10, 10."""
    pen.create(by="region")
    pen.fill(range(900), files=9)
    pen.fill(range(900, 910), region="'us'")
    pen.fill(range(910, 920), region="'asia'")


@inhabitant("a target of 4 KiB: two files far above it, one about right, three far below")
def oversized(pen: Pen) -> None:
    """Parquet of these rows is about 70 bytes a row and 1.2 KB a file."""
    pen.create(properties={"write.target-file-size-bytes": "4096"})
    pen.fill(range(600), files=2, note=LONG_NOTES)
    pen.fill(range(600, 640), note=LONG_NOTES)
    pen.fill(range(640, 643), files=3)


@inhabitant("forty partitions of one row each")
def too_fine(pen: Pen) -> None:
    """Partitioned by the key."""
    pen.create(by="id")
    pen.fill(range(40))


@inhabitant("twelve appends, each with a manifest of its own that nothing ever merges")
def many_manifests(pen: Pen) -> None:
    """Every look at the one region opens all of them."""
    pen.create(by="region", properties={"commit.manifest-merge.enabled": "false"})
    table = pen.java
    for number in range(12):
        table.append(table.data({"id": number, "region": "eu"}, at="region=eu"), fast=True)
