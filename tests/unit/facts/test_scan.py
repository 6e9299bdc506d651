"""What a query would open, from metadata alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from firnline.core.errors import Failed
from firnline.core.figures import UNKNOWN, Figure, at_most, exactly
from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Field, ListOf, Primitive, Struct
from firnline.facts.lines import DELETE_PATH_ID, Content, Format, ManifestLine, Metric, Status, Summary
from firnline.facts.meta import Schema, TableMeta
from firnline.facts.predicates import column, parse
from firnline.facts.scan import Portion, ScanCost, scan_cost, schema_at
from firnline.facts.single_values import encode
from tests.facts_building import snapshot_of, table_of
from tests.unit.facts.entry_building import File, HandMade

MIB = 1 << 20
WHO = Struct((Field("name", Primitive("string"), id=4), Field("age", Primitive("int"), id=5)))
SCHEMA = Schema(
    0,
    Struct(
        (
            Field("id", Primitive("long"), id=1),
            Field("day", Primitive("date"), id=2),
            Field(
                "who", Struct((Field("name", Primitive("string"), id=4), Field("age", Primitive("int"), id=5))), id=3
            ),
            Field("tags", ListOf(Primitive("string"), element_id=7), id=6),
            Field("note", Primitive("string"), id=8),
        )
    ),
)
BY_DAY = PartitionSpec((PartitionField("day", "identity", (2,), 1000),), 0)
FLAT = PartitionSpec((), 1)
IDS = {0: (1000,), 1: ()}
LIST = snapshot_of(1).manifest_list or ""


def meta(**more: object) -> TableMeta:
    """A table partitioned by day; an older spec has no partitions."""
    fields: dict[str, object] = {"schemas": (SCHEMA,), "specs": (BY_DAY, FLAT)}
    return table_of([snapshot_of(1)], current=1, **{**fields, **more})


def line(path: str, days: tuple[int, int] | None = None, **more: object) -> ManifestLine:
    """A manifest with files of these days."""
    low, high = (None, None) if days is None else (encode(day, Primitive("date")) for day in days)
    summaries = None if days is None else (Summary(contains_null=False, contains_nan=None, lower=low, upper=high),)
    fields = {"length": 1000, "spec_id": 0, "added_files": 2, "existing_files": 0, "partitions": summaries}
    return ManifestLine(path, **{**fields, **more})  # type: ignore[arg-type]


def data(path: str, day: int, low: int, high: int, **more: object) -> File:
    """A data file of a day, with ids from `low` to `high`."""
    lower, upper = ({1: encode(each, Primitive("long"))} for each in (low, high))
    made = File(path, (day,), records=10, size=MIB, values={1: 10}, nulls={1: 0}, lower=lower, upper=upper)
    return replace(made, **more)  # type: ignore[arg-type]


def delete(path: str, day: int, sequence: int, **more: object) -> File:
    """A position delete file of a day."""
    made = File(path, (day,), content=Content.POSITION_DELETES, sequence=sequence, records=3, size=500)
    return replace(made, **more)  # type: ignore[arg-type]


FILES: dict[str, Sequence[File]] = {
    "m1": [data("a", 1, 0, 9), data("b", 2, 10, 19)],
    "m2": [data("c", 2, 0, 9), data("gone", 2, 10, 19, status=Status.DELETED), data("d", 3, 10, 19)],
    "m3": [data("e", 9, 0, 9)],
}
LINES = (line("m1", (1, 2)), line("m2", (2, 3)), line("m3", (9, 9), added_files=1))


def cost(
    where: str | None,
    lines: Sequence[ManifestLine] = LINES,
    files: Mapping[str, Sequence[File]] = FILES,
    of: TableMeta | None = None,
    columns: Sequence[str] | None = None,
) -> ScanCost:
    """What the query costs."""
    chosen = None if columns is None else [column(each, SCHEMA) for each in columns]
    source = HandMade({LIST: tuple(lines)}, files, IDS, batch=2)
    return scan_cost(of or meta(), source, None if where is None else parse(where, SCHEMA), columns=chosen)


def portion(count: int, size: int) -> Portion:
    """Files and bytes that are known."""
    return Portion(exactly(count), exactly(size))


def test_each_file_is_kept_or_spared_by_one_thing() -> None:
    """Manifests by their ranges, then files by partition, then files by metrics; tombstones are no files."""
    found = cost("day = DATE '1970-01-03' AND id > 15")
    assert found.snapshot == 1
    assert found.manifests == portion(2, 2000)
    assert found.manifests_skipped == portion(1, 1000)
    assert found.files == portion(1, MIB)  # b
    assert found.skipped_by_partition == portion(2, 2 * MIB)  # a, d
    assert found.skipped_by_metrics == portion(1, MIB)  # c
    assert found.unlisted == Portion(exactly(1), UNKNOWN)  # e
    assert found.rows == at_most(10)
    assert found.deletes == portion(0, 0)


def test_without_a_filter_everything_is_opened() -> None:
    """No filter spares nothing, not even empty files."""
    files = {**FILES, "m3": [data("e", 9, 0, 9, records=0)]}
    found = cost(None, files=files)
    assert (found.manifests, found.files) == (portion(3, 3000), portion(5, 5 * MIB))
    assert found.manifests_skipped == found.skipped_by_partition == found.skipped_by_metrics == portion(0, 0)
    assert found.unlisted == portion(0, 0)
    assert found.rows == at_most(40)


def test_a_manifest_of_tombstones_is_not_opened() -> None:
    """A manifest that says it has no live file is passed over; one that does not say is opened."""
    lines = (line("m1", added_files=0, deleted_files=2), line("m2", added_files=None))
    source = HandMade({LIST: lines}, FILES, IDS)
    found = scan_cost(meta(), source, None)
    assert source.opened == ["m2"]
    assert (found.manifests, found.manifests_skipped) == (portion(1, 1000), portion(1, 1000))
    assert found.unlisted == portion(0, 0)


def test_only_metrics_of_the_filter_are_asked_for() -> None:
    """Data manifests are asked for the columns of the filter; delete manifests for the paths they name as well."""
    source = HandMade({LIST: (line("m1"), line("x", content="deletes"))}, {**FILES, "x": []}, IDS)
    scan_cost(meta(), source, parse("id = 5", SCHEMA))
    own = {(metric, 1) for metric in (Metric.VALUES, Metric.NULLS, Metric.LOWER, Metric.UPPER)}
    paths = {(Metric.LOWER, DELETE_PATH_ID), (Metric.UPPER, DELETE_PATH_ID)}
    assert [each.metrics for each in source.asked] == [own | paths, own]


def test_what_old_lists_leave_out_is_not_known() -> None:
    """Lengths and counts that are not there make figures wider; rows nobody counted are unknown."""
    lines = (line("m1", length=None), line("m3", (9, 9), added_files=None))
    found = cost("day < DATE '1970-01-03'", lines, {"m1": [data("a", 1, 0, 9, records=-1)]})
    assert found.manifests == Portion(exactly(1), UNKNOWN)
    assert found.unlisted == Portion(UNKNOWN, UNKNOWN)
    assert found.rows == UNKNOWN


# Deletes of day 2, whose data files are b (sequence 5) and c (sequence 7); what is named is a path.
DATA = {"m1": [data("a", 1, 0, 9), data("b", 2, 0, 9, sequence=5), data("c", 2, 10, 19, sequence=7)]}
EQUALITY = {"content": Content.EQUALITY_DELETES}
VECTOR = {"format": Format.PUFFIN, "content_size": 40}
PATH = {DELETE_PATH_ID: b"b"}

DELETES: list[tuple[str | None, list[File], Figure, Figure]] = [
    (None, [delete("x", 2, 5)], exactly(1), exactly(500)),
    (None, [delete("x", 2, 4)], exactly(0), exactly(0)),  # older than all
    (None, [delete("x", 3, 9)], exactly(0), exactly(0)),  # of a partition without files
    (None, [delete("x", 2, 9, status=Status.DELETED)], exactly(0), exactly(0)),
    (None, [delete("x", 2, 5, **EQUALITY)], at_most(0), at_most(0)),  # equality deletes spare their own sequence
    (None, [delete("x", 2, 6, **EQUALITY)], at_most(1), at_most(500)),
    (None, [delete("x", 2, 5, referenced="b")], exactly(1), exactly(500)),
    (None, [delete("x", 2, 5, referenced="c")], exactly(0), exactly(0)),
    (None, [delete("x", 2, 5, lower=PATH, upper=PATH)], exactly(1), exactly(500)),
    (None, [delete("x", 2, 5, referenced="nowhere")], exactly(0), exactly(0)),
    (None, [delete("v", 2, 8, referenced="c", **VECTOR)], exactly(1), exactly(40)),
    # The vector of b takes the place of its position deletes; c still has those of the partition.
    (None, [delete("v", 2, 8, referenced="b", **VECTOR), delete("x", 2, 6)], exactly(1), exactly(40)),
    (None, [delete("v", 2, 8, referenced="b", **VECTOR), delete("x", 2, 7)], exactly(2), exactly(540)),
    (None, [delete("v", 2, 8, referenced="b", **VECTOR), delete("x", 2, 7, referenced="b")], exactly(1), exactly(40)),
    ("id > 15", [delete("x", 2, 6)], exactly(0), exactly(0)),  # c is left, and younger
    ("id > 15", [delete("x", 2, 7)], exactly(1), exactly(500)),
    ("day = DATE '1970-01-02'", [delete("x", 2, 9)], exactly(0), exactly(0)),
    # An equality delete whose keys cannot pass takes no row that passes.
    ("id > 15", [data("x", 2, 0, 9, sequence=9, **EQUALITY)], exactly(0), exactly(0)),
    ("id > 15", [data("x", 2, 0, 19, sequence=9, **EQUALITY)], at_most(1), at_most(MIB)),
]  # fmt: skip


@pytest.mark.parametrize(("where", "deletes", "count", "size"), DELETES)
def test_deletes_count_where_they_apply(where: str | None, deletes: list[File], count: Figure, size: Figure) -> None:
    """A delete is fetched when it applies to a data file that is left: by partition, path and sequence number."""
    lines = (line("m1"), line("x", content="deletes"))
    found = cost(where, lines, {**DATA, "x": deletes})
    assert found.deletes == Portion(count, size)


def test_deletes_of_the_whole_table() -> None:
    """Equality deletes under a spec without partitions apply to every older file; position deletes do not."""
    lines = (line("m1"), line("x", content="deletes", spec_id=1))
    for deletes, count in (
        ([File("x", content=Content.EQUALITY_DELETES, sequence=6)], at_most(1)),
        ([File("x", content=Content.EQUALITY_DELETES, sequence=1)], at_most(0)),
        ([File("x", content=Content.POSITION_DELETES, sequence=9)], exactly(0)),
    ):
        found = cost(None, lines, {**DATA, "x": deletes})
        assert found.deletes.count == count
        assert any("Equality deletes" in each for each in found.assumptions) is not count.exact


REQUESTS: list[tuple[str | None, tuple[str, ...] | None, File, int, int]] = [
    # Metadata, list and manifest are 3; a footer, and what the columns take.
    (None, None, data("a", 1, 0, 9), 2, 2),
    (None, None, data("a", 1, 0, 9, size=128 * MIB + 1), 2, 3),  # a second row group
    (None, None, data("a", 1, 0, 9, size=0), 2, 2),
    (None, None, data("a", 1, 0, 9, format=Format.AVRO, size=999 * MIB), 1, 1),
    (None, ("id",), data("a", 1, 0, 9), 2, 2),
    (None, ("id", "day", "who.name"), data("a", 1, 0, 9), 2, 2),  # neighbours
    (None, ("id", "who.age"), data("a", 1, 0, 9), 2, 3),
    (None, ("who", "tags"), data("a", 1, 0, 9), 2, 2),
    (None, ("id", "who.age", "note"), data("a", 1, 0, 9, size=200 * MIB), 2, 7),
    (None, (), data("a", 1, 0, 9), 2, 2),
    ("id < 100", ("note",), data("a", 1, 0, 9), 1, 3),  # columns of the filter are read too
    ("id < 100", None, data("a", 1, 0, 9), 1, 2),  # all row groups may be passed over
]


@pytest.mark.parametrize(("where", "columns", "file", "low", "high"), REQUESTS)
def test_requests_are_counted_by_a_formula(
    where: str | None, columns: tuple[str, ...] | None, file: File, low: int, high: int
) -> None:
    """One each for metadata, list and manifests; per file a footer, and in each row group every run of columns."""
    found = cost(where, (line("m1"),), {"m1": [file]}, columns=columns)
    assert found.requests == Figure(3 + low, 3 + high)


def test_deletes_are_requests_too() -> None:
    """A delete file is one more request, and its manifest another."""
    lines = (line("m1"), line("x", content="deletes"))
    found = cost(None, lines, {**DATA, "x": [delete("x", 2, 9), delete("y", 2, 9, **EQUALITY)]})
    assert found.requests == Figure(4 + 6 + 1, 4 + 6 + 2)


@pytest.mark.parametrize(
    ("text", "high"),
    [("1048576", 9), ("0", 2), ("many", 2), ("-5", 2), ("", 2), ("9" * 30, 2)],
)
def test_the_size_of_row_groups_is_the_tables(text: str, high: int) -> None:
    """The table's property says how large row groups are; one that is no size is passed over."""
    of = meta(properties={"write.parquet.row-group-size-bytes": text})
    found = cost(None, (line("m1"),), {"m1": [data("a", 1, 0, 9, size=8 * MIB)]}, of=of)
    assert found.requests.high == 3 + high


def test_assumptions_are_spelled_out() -> None:
    """The value itself says how requests are counted, and which part of the filter narrows nothing."""
    found = cost("note LIKE '%x' AND note LIKE '%x' AND id = 1")
    text = "\n".join(found.assumptions)
    for said in ("metadata file", "footer", "128.0 MiB", "cached"):
        assert said in text
    assert text.count("'%x'") == 1


def test_a_table_without_a_snapshot_costs_its_metadata() -> None:
    """Nothing was ever written: one request, and nothing else."""
    found = scan_cost(table_of([]), HandMade({}, {}), None)
    assert found.requests == exactly(1)
    assert (found.snapshot, found.files, found.rows) == (None, portion(0, 0), at_most(0))


def test_manifests_listed_in_place() -> None:
    """Format 1 without a manifest list: its manifests are opened, and no list is fetched."""
    of = table_of([snapshot_of(1, manifests=["m1"])], current=1, schemas=(SCHEMA,), specs=(BY_DAY,))
    found = scan_cost(of, HandMade({}, FILES, {0: (1000,)}), parse("day = DATE '1970-01-02'", SCHEMA))
    assert (found.files, found.requests.low) == (portion(1, MIB), 1 + 1 + 1)


def test_another_snapshot_is_costed_on_demand() -> None:
    """A snapshot that is given is read in place of the current one, with the columns it had."""
    narrow = Schema(7, Struct((Field("note", Primitive("string"), id=8), Field("id", Primitive("long"), id=1))))
    old = replace(snapshot_of(2), schema_id=7)
    of = replace(meta(schemas=(SCHEMA, narrow)), snapshots=(snapshot_of(1), old))
    assert [schema_at(of, each) for each in (old, of.snapshot, None, snapshot_of(3))] == [narrow, *[SCHEMA] * 3]
    source = HandMade({old.manifest_list or "": LINES[:1]}, FILES, IDS)
    found = scan_cost(of, source, None, snapshot=old, columns=[column("id", narrow), column("note", narrow)])
    assert (found.snapshot, found.files) == (2, portion(2, 2 * MIB))
    assert found.requests == exactly(3 + 4)


def test_a_list_that_cannot_be_read_fails() -> None:
    """A cost without its manifests would be a guess: it is refused, and the file named."""
    with pytest.raises(Failed, match=r"snap-1\.avro"):
        scan_cost(meta(), HandMade({}, {}), None)


def test_batches_do_not_change_the_cost() -> None:
    """However entries are cut into batches, the cost is the same."""
    lines = (*LINES, line("x", content="deletes"))
    files = {**FILES, "x": [delete("x", 2, 9), delete("y", 1, 9, referenced="a"), delete("z", 9, 9)]}
    where = parse("day <= DATE '1970-01-03' AND id >= 0", SCHEMA)
    found = [scan_cost(meta(), HandMade({LIST: lines}, files, IDS, batch=size), where) for size in (1, 2, 100)]
    assert found[0] == found[1] == found[2]
    assert found[0].deletes == portion(2, 1000)


def test_sizes_nobody_told_make_bounds() -> None:
    """Files whose writer left their size out are counted, and bytes and requests are told from below."""
    files = {**FILES, "m1": [data("a", 1, 0, 9, size=None), data("b", 2, 10, 19)], "x": [delete("p", 2, 5, size=None)]}
    found = cost(None, (*LINES, line("x", content="deletes", added_files=1)), files)
    assert found.files == Portion(exactly(5), Figure(4 * MIB, None))
    assert found.deletes == Portion(exactly(1), UNKNOWN)
    assert found.requests.high is None


def test_a_delete_of_one_file_is_found_by_its_path() -> None:
    """Wherever its manifest puts it, a delete of one file applies to the file of that path."""
    elsewhere = delete("p", 9, 5, referenced="b")
    lines = (*LINES, line("x", content="deletes", added_files=1))
    assert cost(None, lines, {**FILES, "x": [elsewhere]}).deletes == portion(1, 500)


def test_a_head_that_is_not_there_is_an_error() -> None:
    """Metadata that names a current snapshot it does not have is damaged, and no empty table."""
    with pytest.raises(Failed, match="does not have it"):
        cost(None, of=replace(meta(), snapshots=()))
