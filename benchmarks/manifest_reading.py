"""Our reading of manifests beside PyIceberg's `fetch_manifest_entry`: CPU per million entries. No JVM in either.

    python -m benchmarks.manifest_reading [ENTRIES]

Method: manifests as Java writes them (blocks of 64 KB, deflate, ten metric columns with counts and bounds, partitioned
by day and bucket; 20,000 entries made once, the same files read again until there are enough). Both sides read every
entry into columns: paths, sizes, counts, partitions, sequence numbers. PyIceberg builds every metrics map on the way,
ours passes over those nobody asked for; the second line of ours keeps one column's null counts and two of bounds. CPU
seconds of the process with all its threads, the best of three turns. Whether isal is installed is printed: it is half
of what ours takes. The bound on the ratio is 10, the aim 14. Both grow linearly.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.local.blobs import LocalBlobs
from firnline.facts.lines import ManifestLine, Metric, Wanted
from tests import avro_oracle
from tests.iceberg_files import BY_DAY, column, entry, entry_schema, optional

ENTRIES = 300_000
MADE = 20_000
PER_MANIFEST = 4_000
BLOCK_BYTES = 64_000
COLUMNS = range(1, 11)
TURNS = 3
BOUND = 10
KEPT = Wanted(frozenset({(Metric.NULLS, 4), (Metric.LOWER, 2), (Metric.UPPER, 2)}))


def one(schema: Any, dice: random.Random, number: int) -> dict[str, Any]:
    """An entry such as a table of events has."""
    rows, day = dice.randint(1_000, 900_000), 20_000 + number // 400
    path = f"s3://acme-lakehouse/warehouse/shop.db/events/data/ts_day={day}/user_id_bucket={number % 16}/"
    name = f"{number:05d}-{dice.randrange(10**6)}-{dice.randbytes(16).hex()}-0-00001.parquet"

    def bound(at: int) -> bytes:
        return dice.randbytes(3) + bytes(5) if at % 3 else b"customer-%07d" % dice.randrange(10**7)

    def each(of: Callable[[int], Any], columns: Any = COLUMNS) -> list[dict[str, Any]]:
        return [{"key": at, "value": of(at)} for at in columns]

    carried = number % 3 > 0
    return entry(
        schema, status=0 if carried else 1, sequence_number=number // PER_MANIFEST + 1 if carried else None,
        file_sequence_number=number // PER_MANIFEST + 1 if carried else None, snapshot_id=8_172_635_481_726_354_999,
        file_path=path + name, partition={"at_day": day, "bucket": number % 16}, record_count=rows,
        file_size_in_bytes=dice.randint(2**22, 2**29), column_sizes=each(lambda _: dice.randint(100, 2**24)),
        value_counts=each(lambda _: rows), null_value_counts=each(lambda at: 0 if at % 4 else dice.randrange(1000)),
        nan_value_counts=each(lambda _: 0, (5, 6)), lower_bounds=each(bound), upper_bounds=each(bound),
        split_offsets=[4, *([2**27] if number % 2 else [])],
    )  # fmt: skip


def prepare(folder: Path) -> list[ManifestLine]:
    """Manifests on disk, with their lines."""
    schema = entry_schema([BY_DAY, column(1001, "bucket", optional("int"))])
    dice, lines = random.Random(7), []
    for first in range(0, MADE, PER_MANIFEST):
        entries = [one(schema, dice, first + at) for at in range(PER_MANIFEST)]
        size = len(avro_oracle.encode(schema, entries[0], avro_oracle.plain()))
        per_block = -(-BLOCK_BYTES // size)
        data = avro_oracle.write(schema, entries, per_block=lambda per_block=per_block: per_block)  # type: ignore[misc]
        path = folder / f"{first}-m0.avro"
        path.write_bytes(data)
        lines.append(ManifestLine(str(path), len(data), 0, sequence=9, snapshot=7, added_files=PER_MANIFEST,
                                  existing_files=0, deleted_files=0))  # fmt: skip
    return lines


def cpu() -> float:
    """Seconds this process has used, in all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ours(lines: list[ManifestLine], wanted: Wanted) -> tuple[int, int]:
    """Entries, and their bytes."""
    manifests = IcebergManifests(LocalBlobs())
    count = size = 0
    for batch in manifests.entries(lines, wanted):
        count += len(batch)
        size += int(batch.size.sum())
    return count, size


def rivals(lines: list[ManifestLine]) -> tuple[int, int]:
    """Entries, and their bytes, by PyIceberg; columns of a manifest at a time."""
    from pyiceberg.manifest import ManifestContent, ManifestFile

    from firnline.adapters.iceberg.fileio import ReadingFileIO
    from firnline.adapters.local.files import LocalFiles

    io, count, size = ReadingFileIO(LocalFiles()), 0, 0
    for line in lines:
        manifest = ManifestFile.from_args(
            manifest_path=line.path, manifest_length=line.length, partition_spec_id=0, content=ManifestContent.DATA,
            sequence_number=line.sequence, min_sequence_number=0, added_snapshot_id=line.snapshot,
        )  # fmt: skip
        entries = manifest.fetch_manifest_entry(io, discard_deleted=False)
        columns = [
            (one.status, one.snapshot_id, one.sequence_number, one.file_sequence_number, one.data_file.content,
             one.data_file.file_path, one.data_file.file_format, one.data_file.partition, one.data_file.record_count,
             one.data_file.file_size_in_bytes, one.data_file.sort_order_id, one.data_file.equality_ids)
            for one in entries
        ]  # fmt: skip
        count += len(columns)
        size += sum(column[9] for column in columns)
    return count, size


def per_million(read: Callable[[], tuple[int, int]], wanted: tuple[int, int] | None = None) -> tuple[float, Any]:
    """CPU seconds per million entries, the best of some turns, and what was read."""
    best, found = float("inf"), (0, 0)
    for _ in range(TURNS):
        begun = cpu()
        found = read()
        best = min(best, (cpu() - begun) / found[0] * 1e6)
    assert wanted in (None, found)
    return best, found


def main() -> None:
    """Print the figures; exit 1 below the bound."""
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else ENTRIES
    with tempfile.TemporaryDirectory(prefix="firnline-bench-") as folder:
        lines = prepare(Path(folder))
        many = lines * max(1, entries // MADE)
        mine, found = per_million(lambda: ours(many, Wanted()))
        kept, _ = per_million(lambda: ours(many, KEPT), found)
        theirs, _ = per_million(lambda: rivals(many), found)
    installed = "with" if find_spec("isal") else "without"
    print(f"entries                                    {found[0]:>9,}  ({installed} isal)")
    print(f"ours, CPU seconds per million              {mine:9.2f}")
    print(f"ours with metrics of two columns           {kept:9.2f}")
    print(f"PyIceberg fetch_manifest_entry             {theirs:9.2f}")
    print(f"ratio                                      {theirs / mine:9.1f}  (bound {BOUND})")
    print(json.dumps({"entries": found[0], "ours": mine, "pyiceberg": theirs, "ratio": theirs / mine}))
    sys.exit(theirs / mine < BOUND)


if __name__ == "__main__":
    main()
