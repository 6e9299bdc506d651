"""Tables made by Spark, by PyIceberg, by an older hand: adopted, and a plan is empty, or refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from tests.committing import Shelf, assert_done
from tests.spark.projects import Project, changes

pytestmark = pytest.mark.spark

SPARK_TABLES = {
    "plain": "(id BIGINT, note STRING) USING iceberg",
    "format_1": "(id INT NOT NULL COMMENT 'the key', at TIMESTAMP) USING iceberg PARTITIONED BY (days(at)) "
    "TBLPROPERTIES ('format-version'='1')",
    "all_transforms": "(a INT, b STRING, c TIMESTAMP, d DATE, e TIMESTAMP_NTZ, f TIMESTAMP) USING iceberg "
    "PARTITIONED BY (bucket(16, a), truncate(4, b), hours(c), months(d), years(e), days(f), b)",
    "nested": "(id BIGINT NOT NULL, a STRUCT<b: ARRAY<STRUCT<c: INT NOT NULL COMMENT 'deep'>>, "
    "`d.e`: MAP<STRING, DECIMAL(9,2)>>, `odd name` BINARY) USING iceberg PARTITIONED BY (`odd name`) "
    "COMMENT 'nested: and odd' TBLPROPERTIES ('write.format.default'='orc', 'custom'='a: b # c', 'empty'='')",
    "variant": "(id BIGINT, doc VARIANT) USING iceberg TBLPROPERTIES ('format-version'='3')",
    "defaults": "(id BIGINT, qty INT) USING iceberg "
    "TBLPROPERTIES ('format-version'='3', 'write.delete.mode'='merge-on-read')",
}
AFTERWARDS = {
    "plain": (
        "INSERT INTO {t} VALUES (1, 'a')",
        "ALTER TABLE {t} WRITE ORDERED BY note DESC NULLS FIRST, bucket(4, id)",
    ),
    "format_1": (
        "INSERT INTO {t} VALUES (1, now())",
        "ALTER TABLE {t} DROP PARTITION FIELD days(at)",
        "ALTER TABLE {t} ADD PARTITION FIELD id AS key",
    ),
    "all_transforms": (
        "ALTER TABLE {t} DROP PARTITION FIELD bucket(16, a)",
        "ALTER TABLE {t} REPLACE PARTITION FIELD b WITH truncate(2, b) AS start",
    ),
    "nested": (
        "ALTER TABLE {t} SET IDENTIFIER FIELDS id",
        "INSERT INTO {t} VALUES (1, null, X'00')",
        "ALTER TABLE {t} CREATE TAG `y 25` RETAIN 30 DAYS",
        "ALTER TABLE {t} CREATE BRANCH dev RETAIN 7 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS",
        "ALTER TABLE {t} ADD COLUMN a.later DATE FIRST",
    ),
    "variant": ("INSERT INTO {t} SELECT 1, parse_json('{{\"a\": 1}}')",),
    "defaults": (
        "INSERT INTO {t} VALUES (1, 2), (2, 3)",
        "DELETE FROM {t} WHERE id = 1",
        "ALTER TABLE {t} RENAME COLUMN qty TO amount",
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose tables others made."""
    made = Project(tmp_path_factory.mktemp("adopt") / "project")
    made.sql("CREATE NAMESPACE lake.shop")
    return made


@pytest.mark.parametrize("name", SPARK_TABLES)
def test_a_table_of_sparks_is_adopted(project: Project, name: str) -> None:
    """A table that Spark made and changed is adopted, and the plan right after is empty."""
    table = f"lake.shop.{name}"
    project.sql(f"CREATE TABLE {table} {SPARK_TABLES[name]}")
    for statement in AFTERWARDS[name]:
        project.sql(statement.format(t=table))
    project.adopt(Identifier(("shop",), name))


def test_a_table_of_pyicebergs_is_adopted(project: Project) -> None:
    """A table that PyIceberg made, wrote to and changed is adopted, and the plan right after is empty."""
    import pyarrow as pa
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.sorting import SortField, SortOrder
    from pyiceberg.transforms import DayTransform, IdentityTransform
    from pyiceberg.types import (
        FixedType,
        IntegerType,
        ListType,
        LongType,
        NestedField,
        TimestamptzType,
        TimeType,
        UUIDType,
    )

    schema = Schema(
        NestedField(10, "id", LongType(), required=True),
        NestedField(20, "at", TimestamptzType(), doc="when"),
        NestedField(30, "tags", ListType(31, IntegerType(), element_required=False)),
        NestedField(40, "clock", TimeType()),
        NestedField(50, "who", UUIDType()),
        NestedField(60, "code", FixedType(3)),
        identifier_field_ids=[10],
    )
    catalog = Shelf(project.folder).sql_catalog()
    table = catalog.create_table(
        "shop.from_python",
        schema,
        partition_spec=PartitionSpec(PartitionField(20, 1000, DayTransform(), "own_day")),
        sort_order=SortOrder(SortField(10, IdentityTransform())),
        properties={"write.target-file-size-bytes": "1048576"},
    )
    table.append(pa.Table.from_pylist([{"id": 1}], schema=table.schema().as_arrow()))
    with table.update_schema() as update:
        update.add_column("note", LongType())
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    project.adopt(Identifier(("shop",), "from_python"))


def test_a_table_whose_partition_source_was_dropped_is_refused(project: Project) -> None:
    """A layout over a column that has no name any more cannot be declared: it is skipped, with what to do."""
    project.sql("CREATE TABLE lake.shop.orphaned (id BIGINT, region STRING) USING iceberg PARTITIONED BY (region)")
    name, shelf = Identifier(("shop",), "orphaned"), Shelf(project.folder)
    raw = shelf.metadata(name)
    for schema in raw["schemas"]:
        schema["fields"] = [field for field in schema["fields"] if field["name"] != "region"]
    location = shelf.location(name)
    edited = location.replace(".metadata.json", f"-{uuid4()}.metadata.json")
    Path(edited.removeprefix("file:")).write_text(json.dumps(raw), encoding="utf-8")
    assert_done(shelf.swaps.swap(name, location, edited))
    adopted = project.lakehouse.tables.adopt("shop.orphaned")
    assert adopted.written == ()
    assert [note.text for note in adopted.skipped] == [
        "shop.orphaned has a partition over a column that the current schema does not have."
    ]
    with pytest.raises(FirnlineError, match="No table matches"):
        project.lakehouse.tables.adopt("shop.nothing*")


@pytest.fixture
def views(project: Project) -> Iterator[str]:
    """A namespace with a table and a view."""
    project.sql("CREATE NAMESPACE lake.mixed")
    project.sql("CREATE TABLE lake.mixed.orders (id BIGINT) USING iceberg")
    project.sql("CREATE VIEW lake.mixed.big AS SELECT id FROM lake.mixed.orders WHERE id > 10")
    yield "mixed.*"
    for path in (project.folder / "tables").rglob("*.yaml"):
        path.unlink()


def test_a_namespace_is_adopted_with_its_views_left_out(project: Project, views: str) -> None:
    """A glob adopts every table, says of a view that it is skipped, and of a table that it is declared already."""
    adopted = project.lakehouse.tables.adopt(views)
    assert [path.name for path in adopted.written] == ["orders.yaml"]
    assert [(note.subject, note.text) for note in adopted.skipped] == [
        ("mixed.big", "a view, not an Iceberg table: skipped.")
    ]
    preview = project.lakehouse.tables.plan(["mixed.orders"])
    assert preview.empty, changes(preview)
    again = project.lakehouse.tables.adopt("mixed.orders")
    assert (again.written, [note.text for note in again.skipped]) == ((), ["declared already"])
