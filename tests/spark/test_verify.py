"""`firnline verify` on real tables: what it says when all is well, and which damage it finds."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firnline.cli import app
from firnline.core.errors import BadInput
from firnline.lakehouse import verify
from firnline.lakehouse.opening import Lakehouse
from firnline.proof.values import ReaderName, Verdict, Verification
from tests import proving
from tests.sparklake import SparkLake

pytestmark = pytest.mark.spark

LIGHT = ("pyiceberg", "duckdb")


@pytest.fixture
def orders(shared_lake: SparkLake, request: pytest.FixtureRequest) -> Path:
    """A table of the test's own with 1,000 rows in one file: that file. Uncompressed, so that a flipped bit is only
    another value, and no decompressor stumbles over it.
    """
    name = table_of(request)
    shared_lake.sql("CREATE NAMESPACE IF NOT EXISTS verify")
    plain = "TBLPROPERTIES ('write.parquet.compression-codec'='uncompressed')"
    shared_lake.sql(f"CREATE TABLE {name} (id bigint, note string) USING iceberg {plain}")
    shared_lake.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, concat('note ', id) FROM range(0, 1000)")
    (file,) = [row[0] for row in shared_lake.sql(f"SELECT file_path FROM {name}.files").collect()]
    return Path(file.removeprefix("file:"))


@pytest.fixture
def verified(shared_lake: SparkLake, request: pytest.FixtureRequest) -> Callable[..., Verification]:
    """Verifies the test's own table."""
    lakehouse = Lakehouse(shared_lake.settings)

    def run(**more: Any) -> Verification:
        return lakehouse.verify(table_of(request), **more)

    return run


def table_of(request: pytest.FixtureRequest) -> str:
    return "verify." + re.sub(r"\W+", "_", request.node.name).strip("_")


def verdicts(found: Verification) -> dict[str, Verdict]:
    return {report.reader.value: report.verdict for report in found.readers}


def test_a_sound_table_agrees(verified: Callable[..., Verification], orders: Path) -> None:
    """Three readers, all rows, all columns, the rows the manifests count, and the snapshot that was read."""
    found = verified()
    assert orders.is_file()
    assert found.verdict is Verdict.AGREES
    assert verdicts(found) == dict.fromkeys(("spark", "pyiceberg", "duckdb"), Verdict.AGREES)
    assert (found.counted, found.files, found.unproven) == (1000, (), ())
    assert found.snapshot is not None
    assert {str(report.tally.whole) for report in found.readers if report.tally} != {"0" * 32}


def test_a_missing_file_is_named(verified: Callable[..., Verification], orders: Path) -> None:
    """A data file that is gone fails the proof, and its path is in the answer; no reader takes it for empty."""
    orders.unlink()
    found = verified()
    assert found.verdict is Verdict.FAILED
    assert any(orders.name in problem and "missing" in problem for problem in found.files)
    assert set(verdicts(found).values()) == {Verdict.FAILED}


def test_a_truncated_file_is_named(verified: Callable[..., Verification], orders: Path) -> None:
    """A data file that lost its end fails the proof, with both sizes said."""
    size = orders.stat().st_size
    os.truncate(orders, size - 100)
    found = verified(readers=LIGHT)
    assert found.verdict is Verdict.FAILED
    assert f"{orders.name} has {size - 100:,} bytes where the manifest says {size:,}" in " ".join(found.files)


def flip(file: Path) -> None:
    """Change one bit in the middle of the pages; size and modification time stay."""
    data, then = bytearray(file.read_bytes()), file.stat()
    data[len(data) // 4] ^= 0x10
    file.write_bytes(data)
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))


@pytest.mark.parametrize("beside", [True, False], ids=["with the checksum beside it", "without"])
def test_a_flipped_bit_is_found(verified: Callable[..., Verification], orders: Path, beside: bool) -> None:
    """Readers that check nothing agree on the wrong value; Spark finds it, by Hadoop's checksum file beside the data
    file, and without that by the checksum in the page.
    """
    before = {str(report.tally.whole) for report in verified(readers=LIGHT).readers if report.tally}
    flip(orders)
    if not beside:
        orders.with_name(f".{orders.name}.crc").unlink()
    found = verified()
    assert found.files == ()
    assert verdicts(found) == {"spark": Verdict.FAILED, "pyiceberg": Verdict.AGREES, "duckdb": Verdict.AGREES}
    assert before.isdisjoint(str(report.tally.whole) for report in found.readers if report.tally)
    assert found.verdict is Verdict.FAILED


def test_a_file_with_another_value_is_found(verified: Callable[..., Verification], orders: Path) -> None:
    """A sound file of other content in the place of a data file is told by its size, though readers agree on it."""

    def change(rows: pa.Table) -> pa.Table:
        values = ["forged", *rows.column("note").to_pylist()[1:]]
        return rows.set_column(1, rows.schema.field(1), pa.array(values, rows.schema.field(1).type))

    proving.rewrite(orders, change)
    found = verified(readers=LIGHT)
    assert set(verdicts(found).values()) == {Verdict.AGREES}
    assert found.verdict is Verdict.FAILED
    assert orders.name in found.files[0]


def test_rows_that_went_missing_are_counted(
    verified: Callable[..., Verification], orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were even the size the same, fewer rows than the manifests count would still be told."""
    from firnline.adapters.iceberg import presence

    monkeypatch.setattr(presence, "_wrong", lambda *_: None)
    proving.rewrite(orders, lambda rows: rows.slice(1))
    found = verified(readers=LIGHT)
    assert found.verdict is Verdict.FAILED
    assert found.files == tuple(f"{name} read 999 rows where the manifests count 1,000" for name in LIGHT)


def test_an_older_snapshot_is_verified(
    verified: Callable[..., Verification], orders: Path, shared_lake: SparkLake, request: pytest.FixtureRequest
) -> None:
    """`at` names a snapshot, and that one is read, with the rows it had."""
    first = verified(readers=LIGHT).snapshot
    shared_lake.sql(f"DELETE FROM {table_of(request)} WHERE id < 10")
    assert orders.is_file()
    found = verified(at=str(first))
    assert (found.snapshot, found.verdict, found.counted) == (first, Verdict.AGREES, 1000)
    assert {report.tally.rows for report in verified().readers if report.tally} == {990}


def test_what_is_not_installed_is_a_line(
    verified: Callable[..., Verification], orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader whose library is not there is missing, with the part to install; the others go on."""
    look = verify.find_spec
    monkeypatch.setattr(verify, "find_spec", lambda name: None if name in {"pyspark", "duckdb"} else look(name))
    found = verified()
    assert orders.is_file()
    assert verdicts(found) == {"spark": Verdict.MISSING, "pyiceberg": Verdict.UNPROVEN, "duckdb": Verdict.MISSING}
    assert [report.reason for report in found.readers if report.verdict is Verdict.MISSING] == [
        "pyspark is not installed: pip install 'firnline[spark]'",
        "duckdb is not installed: pip install 'firnline[proof]'",
    ]
    assert found.verdict is Verdict.UNPROVEN


def test_readers_are_chosen_by_name(verified: Callable[..., Verification], orders: Path) -> None:
    """Only the readers named are asked, in the order they are always shown; a misspelt one is refused with the right
    word.
    """
    assert orders.is_file()
    assert [report.reader for report in verified(readers=("duckdb", "pyiceberg")).readers] == [
        ReaderName.PYICEBERG,
        ReaderName.DUCKDB,
    ]
    with pytest.raises(BadInput, match="'duckdbb' is no reader") as refused:
        verified(readers=("duckdbb",))
    assert "duckdb" in (refused.value.next_step or "")


@pytest.fixture
def command(
    shared_lake: SparkLake, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process, so that one JVM serves it too."""
    monkeypatch.setattr(app.State, "lakehouse", lambda _: Lakehouse(shared_lake.settings))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["verify", *arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_command_says_who_agrees(
    command: Callable[..., tuple[int, str, str]], orders: Path, request: pytest.FixtureRequest
) -> None:
    """A table of readers, one sentence, exit 0; as JSON the same value with sums as text."""
    code, out, _ = command(table_of(request), "--reader", "pyiceberg", "--reader", "duckdb")
    assert orders.is_file()
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["reader", "verdict", "rows", "seconds", "row", "hash", "said"]
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["pyiceberg", "agrees", "1,000"],
        ["duckdb", "agrees", "1,000"],
    ]
    assert lines[-1].endswith("pyiceberg and duckdb agree on every row and on 2 of 2 columns.")
    code, out, _ = command(table_of(request), "--reader", "pyiceberg", "--reader", "duckdb", "-o", "json")
    shown = json.loads(out)
    assert (code, shown["verdict"], shown["counted"]) == (0, "agrees", 1000)
    assert len({one["tally"]["whole"] for one in shown["readers"]}) == 1
    assert len(shown["readers"][0]["tally"]["columns"]["1"]["sum"]) == 32


def test_the_command_names_the_damage(
    command: Callable[..., tuple[int, str, str]], orders: Path, request: pytest.FixtureRequest
) -> None:
    """A damaged table ends with 1 and the file named; one reader alone proves nothing and ends with 4."""
    code, out, _ = command(table_of(request), "--reader", "duckdb")
    assert code == 4
    assert "unproven" in out.splitlines()[-1]
    orders.unlink()
    code, out, _ = command(table_of(request), "--reader", "duckdb")
    assert code == 1
    assert f"damage: file:{orders} is missing" in out
