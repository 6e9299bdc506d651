"""Manifest lists of every format, by ids and by the names they had over time."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from firnline.core.errors import Failed, Missing
from firnline.facts.lines import ManifestLine, Summary
from tests import avro_oracle
from tests.iceberg_files import Shelf, column, optional

SUMMARY = {
    "type": "record", "name": "r508", "fields": [
        column(509, "contains_null", "boolean"), column(518, "contains_nan", optional("boolean")),
        column(510, "lower_bound", optional("bytes")), column(511, "upper_bound", optional("bytes")),
    ],
}  # fmt: skip
PARTITIONS = column(507, "partitions", optional({"type": "array", "items": SUMMARY, "element-id": 508}))
V1 = [
    column(500, "manifest_path", "string"), column(501, "manifest_length", "long"),
    column(502, "partition_spec_id", "int"), column(503, "added_snapshot_id", optional("long")),
    column(504, "added_data_files_count", optional("int")), column(505, "existing_data_files_count", optional("int")),
    column(506, "deleted_data_files_count", optional("int")), PARTITIONS,
    column(512, "added_rows_count", optional("long")), column(513, "existing_rows_count", optional("long")),
    column(514, "deleted_rows_count", optional("long")),
]  # fmt: skip
V2 = [
    *V1[:3], column(517, "content", "int"), column(515, "sequence_number", "long"),
    column(516, "min_sequence_number", "long"), column(503, "added_snapshot_id", "long"),
    column(504, "added_files_count", "int"), column(505, "existing_files_count", "int"),
    column(506, "deleted_files_count", "int"), column(512, "added_rows_count", "long"),
    column(513, "existing_rows_count", "long"), column(514, "deleted_rows_count", "long"), PARTITIONS,
    column(519, "key_metadata", optional("bytes")),
]  # fmt: skip
V3 = [*V2, column(520, "first_row_id", optional("long"))]
LINE = {
    "manifest_path": "s3://lake/ü.avro", "manifest_length": 7000, "partition_spec_id": 3, "content": 1,
    "sequence_number": 12, "min_sequence_number": 4, "added_snapshot_id": 2**62 + 3, "added_files_count": 1,
    "existing_files_count": 2, "deleted_files_count": 3, "added_rows_count": 10, "existing_rows_count": 2**40,
    "deleted_rows_count": 30, "first_row_id": 1000, "key_metadata": None,
    "added_data_files_count": 1, "existing_data_files_count": 2, "deleted_data_files_count": 3,
    "partitions": [
        {"contains_null": True, "contains_nan": None, "lower_bound": b"a", "upper_bound": None},
        {"contains_null": False, "contains_nan": False, "lower_bound": b"", "upper_bound": b"\xff"},
    ],
}  # fmt: skip
SUMMARIES = (Summary(contains_null=True, contains_nan=None, lower=b"a", upper=None),
             Summary(contains_null=False, contains_nan=False, lower=b"", upper=b"\xff"))  # fmt: skip
READ = ManifestLine(
    "s3://lake/ü.avro", 7000, 3, "deletes", 12, 4, 2**62 + 3, 1, 2, 3, 10, 2**40, 30, 1000, SUMMARIES, encrypted=False
)


def record(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": "manifest_file", "fields": fields}


def read(data: bytes) -> tuple[ManifestLine, ...]:
    return Shelf({"list": data}).manifests.list("list")


def written(fields: list[dict[str, Any]], *changes: dict[str, Any], **more: Any) -> bytes:
    lines = [{each["name"]: {**LINE, **change}[each["name"]] for each in fields} for change in changes or ({},)]
    return avro_oracle.write(record(fields), lines, **more)


def test_format_3() -> None:
    """Every field of a line arrives."""
    assert read(written(V3)) == (READ,)


def test_format_2_has_no_row_ids() -> None:
    """What a format does not have is absent."""
    from dataclasses import replace

    assert read(written(V2)) == (replace(READ, first_row_id=None),)


def test_format_1() -> None:
    """A list of format 1 is of data, of sequence 0, and may leave counts out."""
    (line,) = read(written(V1))
    assert (line.content, line.sequence, line.sequence_min, line.files, line.entries) == ("data", 0, 0, 3, 6)
    nothing = dict.fromkeys(("added_data_files_count", "added_rows_count", "partitions", "added_snapshot_id"))
    (line,) = read(written(V1, nothing))
    assert (line.added_files, line.files, line.rows, line.partitions, line.snapshot) == (None,) * 5


def without_ids(of: Any) -> Any:
    """The schema as somebody writes it who knows names only."""
    if isinstance(of, list):
        return [without_ids(each) for each in of]
    if isinstance(of, dict):
        return {key: without_ids(value) for key, value in of.items() if not key.endswith("-id")}
    return of


@pytest.mark.parametrize("fields", [V1, V3], ids=["first names", "present names"])
def test_names_stand_in_for_ids(fields: list[dict[str, Any]]) -> None:
    """Without field ids, the names of either time are understood."""
    (line,) = read(written(without_ids(fields)))
    assert (line.path, line.entries, line.partitions) == (READ.path, 6, SUMMARIES)


def test_ids_win_over_names() -> None:
    """A field is what its id says, whatever it is called."""
    swapped = [{**each, "name": "existing_files_count" if each["field-id"] == 504 else "added_files_count"}
               if each["field-id"] in {504, 505} else each for each in V2]  # fmt: skip
    (line,) = read(written(swapped, {"existing_files_count": 8, "added_files_count": 9}))
    assert (line.added_files, line.existing_files) == (8, 9)


def test_numbers_below_zero_are_unknown() -> None:
    """Some writers say -1 for what they do not know."""
    (line,) = read(written(V3, {"added_files_count": -1, "manifest_length": -1, "first_row_id": -1}))
    assert (line.added_files, line.length, line.first_row_id) == (None, None, None)


def test_encrypted() -> None:
    """A line with key metadata is of an encrypted manifest, whatever type its writer gave the key."""
    assert read(written(V3, {"key_metadata": b"key"}))[0].encrypted
    other = [*V2[:-1], column(519, "key_metadata", {"type": "fixed", "name": "k", "size": 3})]
    assert read(written(other, {"key_metadata": b"key"}))[0].encrypted


@pytest.mark.parametrize("codec", avro_oracle.CODECS)
def test_many_lines(codec: str) -> None:
    """Lines keep their order over many blocks, in every codec."""
    changes = [{"manifest_path": f"m{number}"} for number in range(200)]
    lines = read(written(V2, *changes, codec=codec, per_block=lambda: 7))
    assert [line.path for line in lines] == [change["manifest_path"] for change in changes]


def test_empty_list() -> None:
    """A snapshot may have no manifests."""
    assert read(avro_oracle.write(record(V2), [])) == ()


WRONG: list[tuple[bytes, str]] = [
    (b"", "it is empty"),
    (b"{}", "does not begin as an Avro file"),
    (avro_oracle.write("long", [1]), "its rows are no records"),
    (avro_oracle.write(record(V2[1:3]), []), "its lines have no path"),
    (written([column(500, "manifest_path", optional("string"))], {"manifest_path": None}), "a line has no path"),
    (written([column(500, "manifest_path", "bytes")], {"manifest_path": b"\xff"}), "is no text"),
    (written(V2, {"content": 2}), "content 2, which is neither"),
    (written([*V2[:1], column(507, "partitions", "int")], {"partitions": 1}), "are no list of records"),
    (written(V2, per_block=lambda: 1)[:-20], "cut off"),
]


@pytest.mark.parametrize(("data", "words"), WRONG)
def test_damaged_lists(data: bytes, words: str) -> None:
    """What is no manifest list is refused by name and reason."""
    with pytest.raises(Failed, match=f"list is not readable as an Iceberg manifest: .*{words}"):
        read(data)


def test_missing_list() -> None:
    """A list that is not there is Missing, with what that means."""
    with pytest.raises(Missing, match="There is no file list") as raised:
        Shelf().manifests.list("list")
    assert "the snapshots that need it" in str(raised.value)


def test_listing_is_light(tmp_path: Any) -> None:
    """Reading a manifest list loads neither numpy nor any library of Iceberg, Arrow or Spark."""
    (tmp_path / "list.avro").write_bytes(written(V3))
    program = (
        "import sys\n"
        "from firnline.adapters.iceberg.manifests import IcebergManifests\n"
        "from firnline.adapters.local.blobs import LocalBlobs\n"
        f"assert IcebergManifests(LocalBlobs()).list({str(tmp_path / 'list.avro')!r})[0].entries == 6\n"
        "heavy = ('numpy', 'pyiceberg', 'pyarrow', 'pyspark', 'zstandard')\n"
        "print(*[name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout.split()) == (0, []), run.stderr
