"""Random histories of a small table: each step is a commit, or some, of one kind. Steps that do not fit do nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.zoo.javatable import JavaTable, Row
from tests.zoo.pen import ON_READ, Pen

Step: TypeAlias = tuple[str, int, int]  # which one, and two numbers it makes its choices with
TARGET = 2_500  # bytes: of the files here some are small, some are right, some are large


@dataclass
class History:
    """A table in the making. `region` and `bucket` say what its layout has now."""

    pen: Pen
    version: int
    region: bool
    bucket: bool = False
    ids: int = 0
    columns: int = 0
    refs: int = 0

    @staticmethod
    def begin(pen: Pen, version: int, *, region: bool, fine: bool) -> History:
        """An empty table whose deletes are merged on read, where the format has delete files."""
        properties = {
            **(ON_READ if version > 1 else {}),
            "write.target-file-size-bytes": str(TARGET),
            "write.delete.granularity": "file" if fine else "partition",
        }
        pen.create("id bigint, region string, note string", by="region" if region else "", version=version,
                   properties=properties)  # fmt: skip
        return History(pen, version, region)

    def take(self, step: Step) -> None:
        """Go one step."""
        name, one, other = step
        STEPS[name](self, one, other)

    @property
    def java(self) -> JavaTable | None:
        """The table, or None while nothing was ever written to it."""
        table = self.pen.java
        return table if table.table.currentSnapshot() is not None else None


def append(on: History, one: int, other: int) -> None:
    """Up to three files of up to 121 rows in up to three regions, one of them null."""
    rows, tasks = 1 + other * 24, 1 + one % 3
    made = on.pen.lake.session.range(on.ids, on.ids + rows, 1, tasks).selectExpr(
        "id", f"element_at(array('eu', 'us', CAST(NULL AS string)), CAST(1 + (id + {one}) % 3 AS int)) AS region",
        "sha2(cast(id AS string), 256) AS note",
    )  # fmt: skip
    extra = [f"CAST(NULL AS int) AS c{number}" for number in range(on.columns)]
    on.pen.append(made.selectExpr("*", *extra))
    on.ids += rows


def delete(on: History, one: int, other: int) -> None:
    """Some rows here and there."""
    on.pen.sql(f"DELETE FROM {{t}} WHERE id % {3 + one} = {other % 3}")


def delete_region(on: History, one: int, other: int) -> None:
    """A region: where it is a partition, whole files go and leave tombstones."""
    del other
    on.pen.sql(f"DELETE FROM {{t}} WHERE region {('= ' + repr('eu'), '= ' + repr('us'), 'IS NULL')[one % 3]}")


def merge(on: History, one: int, other: int) -> None:
    """Rows that are there are changed, others are added."""
    extra = "".join(f", CAST(NULL AS int) AS c{number}" for number in range(on.columns))
    on.pen.sql(
        f"MERGE INTO {{t}} AS old USING (SELECT id, 'us' AS region, 'merged' AS note{extra} "
        f"FROM range({max(0, on.ids - one)}, {on.ids + other}, 1, 1)) AS new ON old.id = new.id "
        "WHEN MATCHED THEN UPDATE SET note = 'merged' WHEN NOT MATCHED THEN INSERT *"
    )
    on.ids += other


def delete_by_key(on: History, one: int, other: int) -> None:
    """An equality delete under the current layout; format 1 has none."""
    table = on.java
    if table is None or on.version == 1:
        return
    keys: list[Row] = [{"id": one, "region": "eu"}, {"id": one}, {"region": None}]
    place = table.place({"identity": ("eu", "us")[one % 2], "bucket[2]": other % 2})
    table.row_delta(deletes=[table.equality(keys[other % 3], at=place)])


def upsert(on: History, one: int, other: int) -> None:
    """A row and an equality delete for older ones of its key, in one commit."""
    table = on.java
    if table is None or on.version == 1:
        return
    region, bucket = ("eu", "us")[one % 2], other % 2
    place = table.place({"identity": region, "bucket[2]": bucket})
    fresh = table.data({"id": one, "region": region}, at=place)
    table.row_delta(rows=[fresh], deletes=[table.equality({"id": one}, at=place)])


def how_fine(on: History, one: int, other: int) -> None:
    """Position deletes from now on of one file each, or of a whole partition; rows gone on read or on write."""
    if on.version == 1:
        return
    granularity, mode = ("file", "partition")[one % 2], ("merge-on-read", "copy-on-write")[other % 3 // 2]
    on.pen.set(write__delete__granularity=granularity, write__delete__mode=mode)


def lay_out(on: History, one: int, other: int) -> None:
    """Another layout."""
    del other
    if one % 2:
        on.pen.sql(f"ALTER TABLE {{t}} {'DROP' if on.region else 'ADD'} PARTITION FIELD region")
        on.region = not on.region
    else:
        on.pen.sql(f"ALTER TABLE {{t}} {'DROP' if on.bucket else 'ADD'} PARTITION FIELD bucket(2, id)")
        on.bucket = not on.bucket


def add_column(on: History, one: int, other: int) -> None:
    """One more column."""
    del one, other
    on.pen.sql(f"ALTER TABLE {{t}} ADD COLUMN c{on.columns} int")
    on.columns += 1


def compact(on: History, one: int, other: int) -> None:
    """Data files, position delete files, or manifests are rewritten."""
    procedures = ("rewrite_data_files", "rewrite_position_delete_files", "rewrite_data_files", "rewrite_manifests")
    procedure = procedures[other % 4]
    chosen = "'rewrite-all', 'true'" if one % 2 else "'min-input-files', '2'"
    options = "" if procedure == "rewrite_manifests" else f", options => map({chosen})"
    if on.java is not None:
        on.pen.sql(f"CALL lake.system.{procedure}(table => '{on.pen.identifier}'{options})")


def expire(on: History, one: int, other: int) -> None:
    """All snapshots but the last one or two."""
    del other
    table = on.java
    if table is not None:
        newest = int(table.table.currentSnapshot().timestampMillis()) + 1
        table.table.expireSnapshots().expireOlderThan(newest).retainLast(1 + one % 2).commit()


def upgrade(on: History, one: int, other: int) -> None:
    """The next format version."""
    del one, other
    if on.version < 3:
        on.version += 1
        on.pen.set(format_version=str(on.version))
        on.pen.set(write__delete__mode="merge-on-read", write__merge__mode="merge-on-read")


def name_it(on: History, one: int, other: int) -> None:
    """A tag or a branch on the current snapshot; some branches go on by themselves."""
    table = on.java
    if table is None:
        return
    manage, at, name = table.table.manageSnapshots(), table.snapshot, f"ref_{on.refs}"
    (manage.createTag(name, at) if one % 2 else manage.createBranch(name, at)).commit()
    if not one % 2 and other % 2:
        table.append(table.data({"id": -1}, at=table.place({"identity": "eu", "bucket[2]": 0})), branch=name)
    on.refs += 1


def roll_back(on: History, one: int, other: int) -> None:
    """To the snapshot before, if it is kept."""
    del one, other
    table = on.java
    parent = table.table.currentSnapshot().parentId() if table else None
    if table is not None and parent is not None and table.table.snapshot(parent) is not None:
        table.table.manageSnapshots().rollbackTo(parent).commit()


STEPS: dict[str, Callable[[History, int, int], None]] = {
    step.__name__: step
    for step in (
        append, delete, delete_region, merge, delete_by_key, upsert, how_fine, lay_out, add_column, compact, expire,
        upgrade, name_it, roll_back,
    )
}  # fmt: skip
# What to draw from: deletes more often than others.
DRAWN = (*sorted(STEPS), "append", "compact", "delete", "delete", "delete", "delete_by_key", "delete_by_key")
