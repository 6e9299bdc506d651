"""Partition specs and sort orders: several live ones, nulls, sources that went away."""

from __future__ import annotations

from tests.zoo.houses.deletes import BY_PARTITION
from tests.zoo.pen import Pen
from tests.zoo.register import inhabitant


@inhabitant("four files by day, two by region: the layout was changed and the old files were left")
def two_specs(pen: Pen) -> None:
    """Specs 0 and 1 are live, 1 is current."""
    pen.create(by="days(at)")
    for day in range(1, 5):
        pen.fill(range(10), day=f"2026-11-{day:02d}")
    pen.sql("ALTER TABLE {t} REPLACE PARTITION FIELD days(at) WITH region")
    pen.fill(range(10), region="IF(id < 5, 'eu', 'us')")


@inhabitant("files without partitions, by bucket and month, and by region: three layouts are live")
def three_specs(pen: Pen) -> None:
    """Spec 0 is unpartitioned; 2 is current."""
    pen.create()
    pen.fill(range(30), files=3)
    pen.sql("ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)", "ALTER TABLE {t} ADD PARTITION FIELD months(at)")
    pen.fill(range(5, 6))
    pen.sql(
        "ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)",
        "ALTER TABLE {t} REPLACE PARTITION FIELD months(at) WITH region",
    )
    pen.fill(range(10), region="IF(id < 5, 'eu', 'us')")


@inhabitant("rows whose region, and rows whose region and day, are null")
def null_partitions(pen: Pen) -> None:
    """Null is a partition value like any other: four partitions, one of them all null."""
    pen.create(by="region, days(at)")
    pen.fill(range(6), files=2, region="IF(id % 2 = 0, 'eu', NULL)")
    pen.sql(
        "INSERT INTO {t} VALUES (6, NULL, NULL, 'nothing')",
        "INSERT INTO {t} VALUES (7, 'eu', NULL, 'no day')",
    )


@inhabitant("a format 1 table whose region is no longer partitioned by: the field stays as a void one")
def void_transform(pen: Pen) -> None:
    """Format 1 never takes a field out of a spec."""
    pen.create(by="region, days(at)", version=1)
    pen.fill(range(4), region="IF(id < 2, 'eu', 'us')")
    pen.sql("ALTER TABLE {t} DROP PARTITION FIELD region")
    pen.fill(range(4, 8), region="IF(id < 6, 'eu', 'us')")


@inhabitant("the column an old layout partitioned by is gone from the schema")
def dropped_source(pen: Pen) -> None:
    """Its files are still live under spec 0, whose source id no schema names as current."""
    pen.create(by="region")
    pen.fill(range(4), region="IF(id < 2, 'eu', 'us')")
    pen.sql("ALTER TABLE {t} DROP PARTITION FIELD region")
    pen.edit(_without_region)
    pen.sql("INSERT INTO {t} SELECT id, TIMESTAMP'2026-11-02 00:00:00', 'n' FROM range(4, 8, 1, 1)")


def _without_region(metadata: dict) -> None:  # type: ignore[type-arg]
    newest = next(each for each in metadata["schemas"] if each["schema-id"] == metadata["current-schema-id"])
    fields = [field for field in newest["fields"] if field["name"] != "region"]
    schema = {**newest, "schema-id": newest["schema-id"] + 1, "fields": fields}
    metadata["schemas"].append(schema)
    metadata["current-schema-id"] = schema["schema-id"]


TYPES = """
    b boolean, i int, n bigint, f float, d double, dec decimal(9,2), wide decimal(38,10), day date, at timestamp,
    local timestamp_ntz, s string, bin binary
"""
FIELDS = """
    b, i, n, f, d, dec, wide, day, at, local, s, bin, bucket(8, wide), truncate(10, n), truncate(2, s),
    truncate(5, dec), years(day), months(at), hours(local), bucket(4, bin)
"""


@inhabitant("partitioned by every type and transform there is, with odd values and with nothing but nulls")
def every_partition_type(pen: Pen) -> None:
    """Three partitions: before 1970 and negative, of which there are two files, ordinary, and null throughout."""
    odd = """(true, -1, -9223372036854775808, float('-0.0'), double('-1.5'), -1.25, -12345678901234567890.0123456789,
         DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1900-01-01 00:00:00', '', X'')"""
    pen.create(TYPES, by=FIELDS)
    pen.sql(f"INSERT INTO {{t}} VALUES {odd}")
    pen.sql(
        f"""INSERT INTO {{t}} VALUES {odd},
        (false, 7, 7, 1.5, 2.5, 1234567.89, 1, DATE'2026-11-18', TIMESTAMP'2026-11-18 09:30:00',
         TIMESTAMP_NTZ'2026-11-18 09:30:00', 'a/b=c&é', X'00FF10'),
        (null, null, null, null, null, null, null, null, null, null, null, null)"""
    )


@inhabitant("partitioned by a double: not a number, both zeros and infinity, each in two manifests, and with deletes")
def float_partitions(pen: Pen) -> None:
    """Four partitions: zero below nothing is not zero, and what is no number is itself again in the next manifest."""
    # Spark sorts both zeros as one: files stay open side by side, or it would come back to one that is closed.
    pen.create("id bigint, d double", by="d", properties={**BY_PARTITION, "write.spark.fanout.enabled": "true"})
    values = ("NaN", "-0.0", "0.0", "infinity")
    for first in (0, 4):
        rows = [
            f"({first + n}, double('{value}')), ({first + n + 100}, double('{value}'))"
            for n, value in enumerate(values)
        ]
        pen.sql(f"INSERT INTO {{t}} VALUES {', '.join(rows)}")
    pen.sql("DELETE FROM {t} WHERE id IN (0, 4, 1, 5)")


@inhabitant("three files written before the table had a sort order, two after")
def half_sorted(pen: Pen) -> None:
    """Old files keep the order they were written under: none."""
    pen.create()
    pen.fill(range(30), files=3)
    pen.sql("ALTER TABLE {t} WRITE LOCALLY ORDERED BY at DESC, id")
    pen.fill(range(20), files=2)
