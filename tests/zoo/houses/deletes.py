"""Delete files of format 2: by position for one file and for several, by equality, and those that hit nothing."""

from __future__ import annotations

from tests.zoo.javatable import JavaTable, Row
from tests.zoo.pen import ON_READ, Pen
from tests.zoo.register import inhabitant

BY_FILE = {**ON_READ, "write.delete.granularity": "file"}
BY_PARTITION = {**ON_READ, "write.delete.granularity": "partition"}


def row(number: int, region: str = "eu") -> Row:
    """One row of the usual columns, without a time."""
    return {"id": number, "region": region, "note": f"n{number}"}


@inhabitant("six files, four of them with a position delete file of their own")
def position_deletes_by_file(pen: Pen) -> None:
    """Rows 0, 10, 20 and 30 are gone, and 31 too."""
    pen.create(by="region", properties=BY_FILE)
    pen.fill(range(60), files=6)
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10, 20, 30, 31)")


@inhabitant("one position delete file about three of four files; one file came after it")
def position_deletes_by_partition(pen: Pen) -> None:
    """By metadata alone it may be about every file of its partition that is not younger: four of five there."""
    pen.create(by="region", properties=BY_PARTITION)
    pen.fill(range(40), files=4)
    pen.fill(range(40, 50), region="'us'")
    pen.sql("DELETE FROM {t} WHERE id IN (0, 10, 20, 21)")
    pen.fill(range(50, 60))


def _two_files(pen: Pen) -> tuple[JavaTable, str]:
    """A table of two files in one partition, and where the first of them lies."""
    pen.create(by="region")
    table = pen.java
    first, second = (table.data(row(number), row(number + 1), at="region=eu") for number in (0, 2))
    table.append(first, second)
    return table, first.location()


@inhabitant("a position delete about one file that says so by the bounds of its paths only, as Spark writes it")
def position_delete_by_bounds(pen: Pen) -> None:
    """The field for the referenced data file is null; lower and upper bound of the path are equal."""
    table, first = _two_files(pen)
    table.row_delta(deletes=[table.positions((first, 1), at="region=eu")])


@inhabitant("a position delete about one file that names it in the field for that, and has no bounds")
def position_delete_by_field(pen: Pen) -> None:
    """As a writer may do that knows the newer field and keeps no metrics."""
    table, first = _two_files(pen)
    table.row_delta(deletes=[table.naming(table.positions((first, 1), at="region=eu"), first)])


@inhabitant("equality deletes in one of two partitions; a file written after them is not touched")
def equality_deletes(pen: Pen) -> None:
    """As Flink writes them: two delete files by key."""
    pen.create(by="region")
    table = pen.java
    table.append(
        table.data(row(1), row(2), at="region=eu"),
        table.data(row(3), row(4), at="region=eu"),
        table.data(row(5, "us"), at="region=us"),
    )
    table.row_delta(deletes=[table.equality({"id": 1}, {"id": 3}, at="region=eu")])
    table.row_delta(deletes=[table.equality({"id": 2, "note": "n2"}, at="region=eu")])
    table.append(table.data(row(6), at="region=eu"))


@inhabitant("an equality delete of an unpartitioned table")
def equality_deletes_unpartitioned(pen: Pen) -> None:
    """Without partitions every equality delete is about the whole table."""
    pen.create()
    table = pen.java
    table.append(table.data(row(1)), table.data(row(2)))
    table.row_delta(deletes=[table.equality({"id": 1})])


@inhabitant("an equality delete written without a partition over files that have one: it is about all of them")
def global_equality_deletes(pen: Pen) -> None:
    """The layout was given up, so the delete has an unpartitioned spec; files of the old layout are older than it."""
    pen.create(by="region")
    table = pen.java
    table.append(table.data(row(1), at="region=eu"), table.data(row(2, "us"), at="region=us"))
    pen.sql("ALTER TABLE {t} DROP PARTITION FIELD region")
    table = pen.java
    table.row_delta(deletes=[table.equality({"id": 1}, {"id": 2})])
    table.append(table.data(row(3)))


@inhabitant("an upsert: in one commit new rows, an equality delete for older ones, a position delete for its own")
def upserted(pen: Pen) -> None:
    """A position delete applies to files of its own commit, an equality delete does not."""
    pen.create(by="region")
    table = pen.java
    table.append(table.data(row(1), row(2), at="region=eu"))
    fresh = table.data(row(1), row(1), at="region=eu")
    other = table.data(row(9, "us"), at="region=us")
    table.row_delta(
        rows=[fresh, other],
        deletes=[
            table.equality({"id": 1}, at="region=eu"),
            table.positions((fresh.location(), 0), at="region=eu"),
            table.equality({"id": 9}, at="region=us"),  # nothing in us is older than it
        ],
    )


@inhabitant("deletes that outlived their files: by position for one and for two files, and by equality; one still hits")
def dangling_deletes(pen: Pen) -> None:
    """The files of eu were compacted after the deletes, which nobody took out."""
    pen.create(by="region")
    table = pen.java
    first, second, third = (
        table.data(row(1), row(2), at="region=eu"),
        table.data(row(3), row(4), at="region=eu"),
        table.data(row(5, "us"), row(6, "us"), at="region=us"),
    )
    table.append(first, second, third)
    table.row_delta(
        deletes=[
            table.positions((first.location(), 0), at="region=eu"),
            table.positions((first.location(), 1), (second.location(), 0), at="region=eu"),
            table.equality({"id": 4}, at="region=eu"),
            table.equality({"id": 5}, at="region=us"),
        ]
    )
    table.rewrite([first, second], [table.data(row(7), at="region=eu")])


@inhabitant("position deletes in ORC and in Avro, over data files in ORC and Avro")
def deletes_in_other_formats(pen: Pen) -> None:
    """In Avro a delete file has no bounds, so that nothing says it is about one file only: it counts as one of many."""
    pen.create(by="region", properties={**BY_FILE, "write.format.default": "orc"})
    pen.fill(range(20), files=2)
    pen.sql("DELETE FROM {t} WHERE id = 3")
    pen.set(write__format__default="avro")
    pen.fill(range(20, 30))
    pen.sql("DELETE FROM {t} WHERE id IN (13, 23)")
