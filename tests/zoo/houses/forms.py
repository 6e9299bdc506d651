"""File formats, metrics, names, and other writers."""

from __future__ import annotations

from tests.zoo.pen import Pen
from tests.zoo.register import inhabitant


@inhabitant("a table of format 1")
def format_1(pen: Pen) -> None:
    """No sequence numbers; one region deleted."""
    pen.create(by="region", version=1)
    pen.fill(range(20), files=2)
    pen.fill(range(20, 30), region="'us'")
    pen.sql("DELETE FROM {t} WHERE region = 'us'")


@inhabitant("data files in ORC")
def orc(pen: Pen) -> None:
    """Null counts and bounds from ORC's own statistics."""
    pen.create(properties={"write.format.default": "orc"})
    pen.fill(range(20), files=2)


@inhabitant("data files in Avro, of which writers know few metrics")
def avro(pen: Pen) -> None:
    """Counted, and hardly anything else."""
    pen.create(properties={"write.format.default": "avro"})
    pen.fill(range(20), files=2)


@inhabitant("Parquet, ORC and Avro in one table")
def mixed_formats(pen: Pen) -> None:
    """Each append under another default."""
    pen.create(by="region")
    for number, form in enumerate(("parquet", "orc", "avro", "parquet")):
        pen.set(write__format__default=form)
        pen.fill(range(number * 10, number * 10 + 10))


@inhabitant("manifests compressed in every way Iceberg knows")
def manifest_codecs(pen: Pen) -> None:
    """One manifest of each codec."""
    pen.create()
    for number, codec in enumerate(("gzip", "snappy", "zstd", "uncompressed")):
        pen.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.manifest.compression-codec'='{codec}')")
        pen.fill(range(number, number + 1))


@inhabitant("150 columns: the last fifty have no metrics")
def wide(pen: Pen) -> None:
    """Iceberg keeps metrics of the first hundred unless told otherwise."""
    pen.create(", ".join(f"c{number:03d} int" for number in range(150)))
    pen.sql(f"INSERT INTO {{t}} VALUES ({', '.join(map(str, range(150)))})")
    pen.sql(f"INSERT INTO {{t}} VALUES ({', '.join(['NULL'] * 150)})")


@inhabitant("counts and bounds of some columns were switched off, others are cut to four characters")
def few_metrics(pen: Pen) -> None:
    """`id` has counts, `region` nothing, `note` four characters."""
    modes = {"id": "counts", "region": "none", "note": "truncate(4)"}
    pen.create(properties={f"write.metadata.metrics.column.{name}": mode for name, mode in modes.items()})
    pen.fill(range(20), files=2, note="'personal data'")


@inhabitant("dots, slashes, spaces and accents in the names of table, columns and partitions", table="odd näme.x y")
def odd_names(pen: Pen) -> None:
    """Only names."""
    pen.create("`wei rd` int, `d.o.t` struct<`a.b`: int>, `née` string, `part.of` string", by="`part.of`, `née`")
    pen.sql(
        "INSERT INTO {t} VALUES (1, named_struct('a.b', 1), 'ü/ö', 'a=b&c%2F d'), (2, NULL, '数据', ''), "
        "(3, NULL, NULL, 'null')"
    )


@inhabitant("written by PyIceberg: created, appended to, overwritten, evolved")
def by_pyiceberg(pen: Pen) -> None:
    """Another hand: a block per manifest entry, other summaries, no sort order ids."""
    import pyarrow as pa
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import DayTransform, IdentityTransform
    from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

    schema = Schema(
        NestedField(1, "id", LongType()),
        NestedField(2, "region", StringType()),
        NestedField(3, "at", TimestamptzType()),
    )
    spec = PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "region"), PartitionField(3, 1001, DayTransform(), "at_day")
    )
    name = (*pen.identifier.namespace, pen.identifier.name)
    table = pen.shelf.sql_catalog().create_table(name, schema, partition_spec=spec)

    def rows(*ids: int, region: str) -> pa.Table:
        made = [{"id": each, "region": region, "at": f"2026-11-{each + 1:02d}T12:00:00+00:00"} for each in ids]
        plain = pa.schema({"id": pa.int64(), "region": pa.string(), "at": pa.string()})
        strings = pa.Table.from_pylist(made, schema=plain)
        moments = strings["at"].cast(pa.timestamp("us", tz="UTC"))
        return strings.set_column(2, "at", moments)

    table.append(rows(0, 1, 2, region="eu"))
    table.append(rows(3, 4, region="us"))
    table.delete("id = 4")
    with table.update_schema() as update:
        update.add_column("note", LongType())
    table.append(rows(5, region="eu"))
