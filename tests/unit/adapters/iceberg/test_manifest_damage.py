"""Damaged manifests and lists: a named error or a value, never another exception, never a hang."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from firnline.core.errors import Failed
from firnline.facts.lines import DELETE_PATH_ID, ManifestLine, Metric, Wanted
from tests import avro_oracle
from tests.avro_oracle import Style
from tests.iceberg_files import BY_DAY, BY_REGION, Shelf, by_column, entry, entry_schema, manifest, rows
from tests.unit.adapters.iceberg.test_manifest_lists import LINE, V3, record

FLIPS = 1500  # of each file; some seconds in all
SECONDS = 120  # a hang, on a busy machine too
METRICS = frozenset({(Metric.NULLS, 1), (Metric.LOWER, 2), (Metric.LOWER, DELETE_PATH_ID)})


def small_manifest(codec: str, per_block: int, count: int = 12) -> bytes:
    """Entries with something in every field."""
    dice = random.Random(1)
    schema = entry_schema([BY_DAY, BY_REGION], 3)
    entries = [
        entry(
            schema, status=number % 3, sequence_number=4, snapshot_id=2**60, content=number % 2, record_count=number,
            partition={"at_day": number, "region": "eu"}, null_value_counts=by_column(c1=0, c2=300),
            lower_bounds=by_column(c1=b"a", c2=bytes(9)), split_offsets=[4, 2**30], equality_ids=[1, 2],
            referenced_data_file="s3://b", first_row_id=None,
        )
        for number in range(count)
    ]  # fmt: skip
    style = Style(dice, runs=per_block > 1)
    return manifest(schema, entries, codec=codec, per_block=lambda: per_block, style=style)


def small_list(codec: str) -> bytes:
    return avro_oracle.write(record(V3), [{each["name"]: LINE[each["name"]] for each in V3}] * 3, codec=codec)


def read_manifest(data: bytes) -> int:
    line = ManifestLine("m", sequence=3, snapshot=5, first_row_id=0)
    return len(rows(list(Shelf({"m": data}).manifests.entries([line], Wanted(METRICS)))))


def read_list(data: bytes) -> int:
    return len(Shelf({"m": data}).manifests.list("m"))


FILES: dict[str, tuple[Callable[[bytes], int], bytes]] = {
    "raw, few blocks": (read_manifest, small_manifest("null", 5)),
    "raw, many blocks": (read_manifest, small_manifest("null", 1, 30)),
    "deflate": (read_manifest, small_manifest("deflate", 4)),
    "snappy": (read_manifest, small_manifest("snappy", 4)),
    "zstandard": (read_manifest, small_manifest("zstandard", 1, 30)),
    "list, raw": (read_list, small_list("null")),
    "list, deflate": (read_list, small_list("deflate")),
}


def tried(reading: Callable[[bytes], int], data: bytes) -> int | None:
    """How many rows were read, or None for the error that names the file."""
    try:
        return reading(data)
    except Failed as error:
        assert error.what.startswith("m is not readable as an Iceberg manifest: "), error.what  # noqa: PT017 - of all
        return None


@pytest.mark.parametrize("name", FILES)
def test_cut_at_every_length(name: str) -> None:
    """A file cut anywhere but between two blocks is damaged; cut there, it has fewer rows."""
    reading, data = FILES[name]
    whole = reading(data)
    began = time.monotonic()
    sync = data[-16:]
    for length in range(len(data)):
        found = tried(reading, data[:length])
        if data[:length].endswith(sync):
            assert found is not None
            assert found < whole
        else:
            assert found is None
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("name", FILES)
def test_flipped_bytes(name: str) -> None:
    """A file with other bytes in it is damaged, or reads as something else: no other error, and no hang."""
    reading, data = FILES[name]
    dice = random.Random(name)
    began, refused = time.monotonic(), 0
    head = data.index(data[-16:]) + 16
    for number in range(FLIPS):
        spoilt = bytearray(data)
        first = head if number % 4 else 0  # mostly among the rows: the header is mostly the schema's words
        for _ in range(dice.choice([1, 1, 1, 4])):
            spoilt[dice.randrange(first, len(data))] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        refused += tried(reading, bytes(spoilt)) is None
    assert time.monotonic() - began < SECONDS
    assert refused > FLIPS // 10


def test_many_entries_in_no_bytes() -> None:
    """A block that claims more records than its bytes can hold is refused before anything is made for them."""
    data = small_manifest("null", 5)
    head = data.index(data[-16:]) + 16
    claim = avro_oracle.plain().number(2**60) + avro_oracle.plain().number(100) + bytes(100) + data[-16:]
    with pytest.raises(Failed, match="says it has 1,152,921,504,606,846,976 records"):
        read_manifest(data[:head] + claim)


def test_a_list_of_nothing_without_end() -> None:
    """Lists of items that take no bytes cannot be made to count for ever."""
    nothing = {"type": "record", "name": "nothing", "fields": []}
    lists = {"type": "array", "items": {"type": "array", "items": nothing}}
    schema = entry_schema()
    schema["fields"].append({"name": "odd", "type": lists})
    head = manifest(schema, [], codec="null")
    number = avro_oracle.plain().number
    usual = avro_oracle.encode(entry_schema(), entry(entry_schema()), avro_oracle.plain())
    inner = number(2**60) + number(0)
    body = usual + number(2000) + inner * 2000 + number(0)
    began = time.monotonic()
    for count in (1, 40):
        block = number(1) + number(len(body)) + body + head[-16:]
        assert read_manifest(head + block * count) == count
    assert time.monotonic() - began < SECONDS


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that becomes too large is refused."""
    from firnline.adapters.iceberg import opening

    monkeypatch.setattr(opening, "BLOCK_BYTES_MAX", 1000)
    with pytest.raises(Failed, match="larger than 1,000 bytes when decompressed"):
        read_manifest(small_manifest("deflate", 100, 100))
