"""Entries of manifests: what every format writes, what is left out, what inherits."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from firnline.adapters.iceberg import batches
from firnline.core.errors import Failed, Missing
from firnline.facts.lines import DELETE_PATH_ID, Content, Format, ManifestLine, Metric, Status
from firnline.facts.ports import NOTHING_MORE
from tests.iceberg_files import (
    BY_DAY,
    BY_REGION,
    Shelf,
    by_column,
    column,
    entry,
    entry_schema,
    manifest,
    optional,
    read,
    rows,
)

ADDED, EXISTING, DELETED = Status.ADDED, Status.EXISTING, Status.DELETED


def one(schema: Any, line: ManifestLine | None = None, metrics: Any = (), **values: Any) -> dict[str, Any]:
    (found,) = read({"m": manifest(schema, [entry(schema, **values)])}, line and [line], metrics)
    return found


def test_every_field() -> None:
    """Each field of an entry of format 3 arrives in its column."""
    schema = entry_schema([BY_DAY, BY_REGION], 3)
    found = one(
        schema, status=EXISTING, snapshot_id=2**62 + 1, sequence_number=7, file_sequence_number=5, content=1,
        file_path="s3://lake/ä.puffin", file_format="puffin", partition={"at_day": 20000, "region": "eu"},
        record_count=3, file_size_in_bytes=2**40, sort_order_id=4, equality_ids=[1, 300],
        referenced_data_file="s3://lake/b.parquet", content_offset=4, content_size_in_bytes=40,
    )  # fmt: skip
    assert found == {
        "manifest": 0, "status": EXISTING, "content": Content.POSITION_DELETES, "format": Format.PUFFIN,
        "snapshot": 2**62 + 1, "sequence": 7, "file_sequence": 5, "records": 3, "size": 2**40, "sort_order": 4,
        "first_row_id": None, "content_offset": 4, "content_size": 40, "path": "s3://lake/ä.puffin",
        "referenced": "s3://lake/b.parquet", "equality_ids": (1, 300), "partition": {1000: 20000, 1001: "eu"},
        "spec_id": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "known"),
    [("PARQUET", Format.PARQUET), ("parquet", Format.PARQUET), ("Orc", Format.ORC), ("avro", Format.AVRO),
     ("PUFFIN", Format.PUFFIN), ("lance", Format.OTHER), ("", Format.OTHER), ("parquets", Format.OTHER)],
)  # fmt: skip
def test_file_formats(name: str, known: Format) -> None:
    """File formats are known in any case; others are other, not an error."""
    assert one(entry_schema(), file_format=name)["format"] == known


PARTITION_TYPES: list[tuple[Any, Any, Any]] = [
    ("int", -5, -5),
    ("long", -(2**63), -(2**63)),
    ("float", 1.5, 1.5),
    ("double", -2.25, -2.25),
    ("boolean", True, True),
    ("string", "a/ü", "a/ü"),
    ("bytes", b"\x00\xff", b"\x00\xff"),
    ({"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}, bytes(range(16)), bytes(range(16))),
    ({"type": "fixed", "name": "dec", "size": 3, "logicalType": "decimal", "precision": 5, "scale": 2}, b"\x00\x01\x02",
     b"\x00\x01\x02"),
    ({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}, 17, 17),
]  # fmt: skip


@pytest.mark.parametrize(("of", "value", "seen"), PARTITION_TYPES, ids=lambda of: str(of)[:20])
def test_partition_values(of: Any, value: Any, seen: Any) -> None:
    """A partition of each type comes back as the plain value, and null as None."""
    last = [of if isinstance(of, str) else "int", "null"]
    schema = entry_schema([column(1000, "p", optional(of)), column(1007, "q", last)])
    assert one(schema, partition={"p": value, "q": None})["partition"] == {1000: seen, 1007: None}
    assert one(schema, partition={"p": None, "q": None})["partition"] == {1000: None, 1007: None}


def test_equal_partitions_are_equal_bytes() -> None:
    """Within a batch, equal partitions of several manifests have equal bytes, and others have not."""
    schema = entry_schema([BY_DAY, BY_REGION])
    values = [{"at_day": day, "region": region} for day in (1, 300) for region in ("eu", "us", None)]
    data = manifest(schema, [entry(schema, partition=value) for value in values])
    (batch,) = Shelf({"a": data, "b": data}).manifests.entries([ManifestLine("a"), ManifestLine("b")])
    raw = [batch.partition.at(row) for row in range(12)]
    assert raw[:6] == raw[6:]
    assert len(set(raw)) == 6


def test_unpartitioned() -> None:
    """A partition of no fields, and none at all, have no values."""
    assert one(entry_schema([]))["partition"] == {}
    schema = entry_schema()
    of_file = schema["fields"][-1]["type"]
    of_file["fields"] = [each for each in of_file["fields"] if each["name"] != "partition"]
    assert one(schema)["partition"] == {}


# Whose number is null, what the list says → what holds. None: the manifest is damaged.
INHERITANCE: list[tuple[Status, int | None, int, int | str | None]] = [
    (ADDED, None, 9, 9),
    (ADDED, 4, 9, 4),
    (EXISTING, 4, 9, 4),
    (EXISTING, None, 9, "damaged"),
    (EXISTING, None, 0, 0),
    (DELETED, 4, 9, 4),
    (DELETED, None, 9, None),
    (DELETED, None, 0, 0),
]


@pytest.mark.parametrize(("status", "own", "listed", "holds"), INHERITANCE)
def test_sequence_numbers(status: Status, own: int | None, listed: int, holds: int | str | None) -> None:
    """Only added entries inherit the manifest's sequence number; manifests of sequence 0 come from format 1."""
    schema, line = entry_schema(), ManifestLine("m", sequence=listed)
    if holds == "damaged":
        with pytest.raises(Failed, match=r"m is not readable .* an existing entry has no sequence number"):
            one(schema, line, status=status, sequence_number=own)
    else:
        found = one(schema, line, status=status, sequence_number=own, file_sequence_number=own)
        assert (found["sequence"], found["file_sequence"]) == (holds, holds)


def test_the_files_own_number_may_be_unknown() -> None:
    """Writers that carried entries over without the file's own sequence number leave it unknown, as Java reads it."""
    found = one(entry_schema(), ManifestLine("m", sequence=9), status=EXISTING, sequence_number=3)
    assert (found["sequence"], found["file_sequence"]) == (3, None)


def test_format_1_has_no_sequence_numbers() -> None:
    """In a manifest without the columns all numbers are 0, also in a table that has been upgraded since."""
    found = one(entry_schema(version=1), ManifestLine("m", sequence=9), snapshot_id=5, status=EXISTING)
    assert (found["sequence"], found["file_sequence"], found["snapshot"], found["content"]) == (0, 0, 5, Content.DATA)


def test_a_manifest_that_says_it_is_of_format_1() -> None:
    """Null sequence numbers of a manifest of format 1 are 0, whatever the list says."""
    schema = entry_schema()
    data = manifest(schema, [entry(schema, status=EXISTING)], metadata={"format-version": "1"})
    (found,) = read({"m": data}, [ManifestLine("m", sequence=9)])
    assert found["sequence"] == 0


@pytest.mark.parametrize(("own", "listed", "holds"), [(None, 8, 8), (3, 8, 3), (None, None, None)])
def test_snapshots(own: int | None, listed: int | None, holds: int | None) -> None:
    """An entry without a snapshot id has that of the manifest."""
    assert one(entry_schema(), ManifestLine("m", snapshot=listed), snapshot_id=own)["snapshot"] == holds


def test_first_row_ids() -> None:
    """Live data files without a row id take the manifest's next; tombstones and those with one of their own do not."""
    schema = entry_schema(version=3)
    entries = [
        entry(schema, record_count=10, status=EXISTING, sequence_number=1),
        entry(schema, record_count=5, status=DELETED),
        entry(schema, record_count=7, first_row_id=3),
        entry(schema, record_count=20),
        entry(schema, record_count=1),
    ]
    data = manifest(schema, entries, per_block=iter((2, 0, 3)).__next__)
    found = read({"a": data, "b": data}, [ManifestLine("a", first_row_id=100), ManifestLine("b")])
    assert [each["first_row_id"] for each in found] == [100, None, 3, 110, 130, *[None] * 5]


def test_row_ids_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest in several batches counts its row ids on, and its order is kept."""
    monkeypatch.setattr(batches, "PIECE_BYTES", 1)
    schema = entry_schema(version=3)
    entries = [entry(schema, record_count=number, file_path=f"f{number}") for number in range(1, 30)]
    shelf = Shelf({"m": manifest(schema, entries, per_block=lambda: 4)})
    found = list(batches.read(shelf, [ManifestLine("m", first_row_id=0)], NOTHING_MORE, batch_bytes=300))
    assert len(found) > 1
    assert [each["first_row_id"] for each in rows(found)] == [sum(range(n)) for n in range(1, 30)]
    assert [each["path"] for each in rows(found)] == [f"f{number}" for number in range(1, 30)]


def test_metrics() -> None:
    """Of the metrics only those asked for are kept, and absent where a file has none."""
    schema = entry_schema()
    asked = [
        (Metric.VALUES, 4), (Metric.NULLS, 4), (Metric.NULLS, 200), (Metric.NANS, 2), (Metric.LOWER, 4),
        (Metric.UPPER, 4),
    ]  # fmt: skip
    first = entry(
        schema, value_counts=by_column(c1=5, c4=6), null_value_counts=by_column(c4=0, c200=2**40),
        column_sizes=by_column(c4=9), lower_bounds=by_column(c4=b"", c5=b"x"),
        upper_bounds=by_column(c5=b"y", c4=struct.pack("<q", -1)),
    )  # fmt: skip
    second = entry(schema, null_value_counts=by_column(c4=-1), lower_bounds=[])
    found = read({"m": manifest(schema, [first, second])}, metrics=asked)
    assert [[each[key] for key in asked] for each in found] == [
        [6, 0, 2**40, None, b"", b"\xff" * 8], [None] * 6,
    ]  # fmt: skip


def test_paths_of_position_deletes() -> None:
    """Bounds of the path column are read from delete manifests; data manifests have none."""
    asked = [(Metric.LOWER, DELETE_PATH_ID), (Metric.UPPER, DELETE_PATH_ID)]
    schema = entry_schema()
    data = manifest(schema, [entry(schema, content=1, lower_bounds=[{"key": DELETE_PATH_ID, "value": b"s3://a"}])])
    lines = [ManifestLine("m", content="deletes"), ManifestLine("m")]
    found = read({"m": data}, lines, asked)
    assert [[each[key] for key in asked] for each in found] == [[b"s3://a", None], [None, None]]
    said = manifest(schema, [entry(schema, content=1, lower_bounds=[{"key": DELETE_PATH_ID, "value": b"s3://a"}])],
                    metadata={"content": "deletes"})  # fmt: skip
    assert read({"m": said}, metrics=asked)[0][asked[0]] == b"s3://a"


def test_manifests_listed_in_place() -> None:
    """Of a manifest whose line is a path only, the spec is what its own header says, or unknown."""
    schema = entry_schema(version=1)
    entries = [entry(schema, snapshot_id=1)]
    files = {
        "said": manifest(schema, entries, metadata={"partition-spec-id": "3"}),
        "silent": manifest(schema, entries),
        "odd": manifest(schema, entries, metadata={"partition-spec-id": "9" * 5000}),
    }
    found = read(files)
    assert [each["spec_id"] for each in found] == [3, None, None]
    assert read({"said": files["said"]}, [ManifestLine("said", spec_id=7)])[0]["spec_id"] == 7


def test_unknown_numbers() -> None:
    """Sizes and counts below zero, which some writers use for what they do not know, are unknown."""
    found = one(entry_schema(), record_count=-1, file_size_in_bytes=-1)
    assert (found["records"], found["size"]) == (None, None)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"status": 3}, "an entry has an unknown status"),
    ({"status": -1}, "an entry has an unknown status"),
    ({"content": 3}, "an entry has an unknown content"),
]


@pytest.mark.parametrize(("values", "words"), WRONG)
def test_values_that_cannot_be(values: dict[str, Any], words: str) -> None:
    """An entry that says what no format knows is damage, and its own manifest is named among many."""
    schema = entry_schema()
    good, bad = manifest(schema, [entry(schema)]), manifest(schema, [entry(schema, **values)])
    with pytest.raises(Failed, match=f"bad is not readable as an Iceberg manifest: {words}"):
        read({"good": good, "bad": bad, "last": good})


SCHEMAS_WRONG: list[tuple[Any, str]] = [
    ({"type": "record", "name": "e", "fields": [column(0, "status", "int")]}, "its entries have no path"),
    ({"type": "record", "name": "e", "fields": [column(0, "status", "string")]}, "its field 0 is of type string"),
    ({"type": "record", "name": "e", "fields": [column(2, "data_file", "int")]}, "its field 2 is of type int"),
    ("int", "its rows are no records"),
    (entry_schema([BY_DAY, {"name": "x", "type": "strange"}]), "names a type 'strange'"),
]


@pytest.mark.parametrize(("schema", "words"), SCHEMAS_WRONG)
def test_schemas_of_something_else(schema: Any, words: str) -> None:
    """An Avro file that is no manifest is refused with what it lacks."""
    one_row = b"\x02\x02\x00" + bytes(range(16))
    with pytest.raises(Failed, match=words):
        read({"m": manifest(schema, [], codec="null") + one_row})


NULLS = {"type": "array", "items": "null"}
TYPES_WRONG: list[tuple[str, Any, Any, str]] = [
    ("partition", "int", 1, "its partition is of type int"),
    ("partition", {"type": "record", "name": "p", "fields": [column(1000, "x", NULLS)]}, {"x": [None] * 99},
     "its partition field 'x' is of type array"),
    ("equality_ids", optional("int"), 1, "its equality ids are no list of numbers"),
    ("equality_ids", optional(NULLS), [None] * 99, "its equality ids are no list of numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "of", "value", "words"), TYPES_WRONG)
def test_partitions_and_ids_of_another_type(name: str, of: Any, value: Any, words: str) -> None:
    """A partition that is no record of single values, and ids that are no list, are refused and not misread."""
    schema = entry_schema()
    usual = entry(schema)
    fields = schema["fields"][-1]["type"]["fields"]
    place = next(at for at, each in enumerate(fields) if each["name"] == name)
    fields[place] = {**fields[place], "type": of}
    data = manifest(schema, [{**usual, "data_file": {**usual["data_file"], name: value}}])
    with pytest.raises(Failed, match=words):
        read({"m": data})


def test_missing_manifest() -> None:
    """A manifest that is not there is Missing, with what that means."""
    with pytest.raises(Missing, match="There is no file gone") as raised:
        read({}, [ManifestLine("gone")])
    assert "firnline history" in str(raised.value)


def test_counts_are_compared_with_the_list() -> None:
    """A manifest cut between two blocks reads like a whole one: its entries are counted against the list."""
    schema = entry_schema()
    entries = [entry(schema) for _ in range(6)]
    whole = manifest(schema, entries, per_block=lambda: 2)
    cut = whole[: whole.rindex(bytes(range(16)), 0, len(whole) - 16) + 16]
    counts = {"added_files": 4, "existing_files": 1, "deleted_files": 1}
    assert len(read({"m": whole}, [ManifestLine("m", **counts)])) == 6
    with pytest.raises(Failed, match="it has 4 entries where the manifest list says 6"):
        read({"m": cut}, [ManifestLine("m", **counts)])
    with pytest.raises(Failed, match=f"it has {len(cut):,} bytes where the manifest list says {len(whole):,}"):
        read({"m": cut}, [ManifestLine("m", length=len(whole))])
    assert len(read({"m": cut})) == 4


def test_encrypted() -> None:
    """A manifest with key metadata in the list that is not readable is called encrypted; a readable one is read."""
    schema = entry_schema()
    line = ManifestLine("m", encrypted=True)
    with pytest.raises(Failed, match="m is encrypted, and Firnline has no keys") as raised:
        read({"m": b"AGS1" + bytes(100)}, [line])
    assert "key management" in str(raised.value)
    assert len(read({"m": manifest(schema, [entry(schema)])}, [line])) == 1


def test_nothing_to_read() -> None:
    """No manifests, and a manifest without entries, have no entries."""
    assert read({}) == []
    assert read({"m": manifest(entry_schema(), [])}) == []
