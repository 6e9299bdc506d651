"""Format 3: deletion vectors, variants, and tables on their way from one format to the next."""

from __future__ import annotations

from tests.zoo.houses.deletes import BY_FILE, BY_PARTITION
from tests.zoo.pen import ON_READ, Pen
from tests.zoo.register import inhabitant


@inhabitant("twelve deletion vectors in one Puffin file")
def deletion_vectors(pen: Pen) -> None:
    """Fourteen files of ten rows; one row of each of the first twelve is gone."""
    pen.create(version=3, properties=ON_READ)
    pen.fill(range(140), files=14)
    pen.sql("DELETE FROM {t} WHERE id % 10 = 0 AND id < 120")


@inhabitant("deletion vectors that were merged with later deletes: vectors replaced in two commits")
def replaced_vectors(pen: Pen) -> None:
    """A file has one vector at a time: the second delete takes out three of four and writes them anew."""
    pen.create(by="region", version=3, properties=ON_READ)
    pen.fill(range(40), files=4)
    pen.sql("DELETE FROM {t} WHERE id % 10 = 0")
    pen.sql("DELETE FROM {t} WHERE id IN (1, 11, 21)")


@inhabitant("half-way to format 3: a position delete about several files, and vectors that took over some of them")
def half_upgraded_deletes(pen: Pen) -> None:
    """The old delete file stays: one of its files has no vector yet."""
    pen.create(by="region", properties=BY_PARTITION)
    pen.fill(range(30), files=3)
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10, 20)")
    pen.set(format_version="3")
    pen.sql("DELETE FROM {t} WHERE id IN (1, 11)")


@inhabitant("half-way to format 3: position deletes of one file each, and a vector in place of one of them")
def half_upgraded_file_deletes(pen: Pen) -> None:
    """Where a vector comes, the delete files of its data file go."""
    pen.create(by="region", properties=BY_FILE)
    pen.fill(range(30), files=3)
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10, 20)")
    pen.set(format_version="3")
    pen.sql("DELETE FROM {t} WHERE id = 1")


@inhabitant("half-way to format 3: manifests from before have no row ids, those after do")
def half_upgraded_to_3(pen: Pen) -> None:
    """Row ids are given to the old files by the first commit after the upgrade."""
    pen.create(by="region")
    pen.fill(range(10), files=2)
    pen.fill(range(10, 20), region="'us'")
    pen.set(format_version="3")
    pen.fill(range(20, 30))


@inhabitant("half-way to format 2: manifests of format 1, manifests of format 2 and a delete over both")
def half_upgraded_to_2(pen: Pen) -> None:
    """What format 1 wrote has sequence number 0."""
    pen.create(by="region", version=1)
    pen.fill(range(10), files=2)
    pen.fill(range(10, 20), region="'us'")
    pen.set(format_version="2")
    pen.set(write__delete__mode="merge-on-read", write__delete__granularity="file")
    pen.fill(range(20, 30))
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10, 20)")


@inhabitant("a variant column")
def variant(pen: Pen) -> None:
    """Documents of several shapes."""
    pen.create("id bigint, doc variant", version=3)
    document = """parse_json(concat('{"a": ', id, ', "b": ["x", 1.5, null]}'))"""
    pen.sql(f"INSERT INTO {{t}} SELECT id, {document} FROM range(0, 5, 1, 1)")
    pen.sql("INSERT INTO {t} SELECT id, parse_json('[1, 2]') FROM range(5, 6, 1, 1)")
