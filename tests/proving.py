"""Lets readers read one metadata file and compares them, without a catalog: for the tests of readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from firnline.core.ids import SnapshotId
from firnline.facts import meta
from firnline.proof import compare
from firnline.proof.compare import Reading, Subject
from firnline.proof.ports import Reader
from firnline.proof.values import ReaderName, ReaderReport, Verification


def prove(readers: Iterable[Reader], location: str, snapshot: int | None = None) -> Verification:
    """What these readers see of a metadata file, at its current snapshot or at another."""
    found = meta.parse(Path(location.removeprefix("file:")).read_bytes(), location)
    schema = found.schema
    if snapshot is not None:
        then = found.find_snapshot(snapshot)
        assert then is not None
        schema = next(one for one in found.schemas if one.id == then.schema_id)
    at = None if snapshot is None else SnapshotId(snapshot)
    subject = Subject("shop.orders", location, at, schema.id, schema.struct)
    named = {reader.name: reader for reader in readers}
    asked = compare.ask(subject, {name: reader.cannot for name, reader in named.items()})
    readings = {
        name: Reading(reader.read(asked[name].request), asked[name].left_out, 0.0) for name, reader in named.items()
    }
    return compare.conclude(subject, readings)


def by_reader(verified: Verification) -> Mapping[ReaderName, ReaderReport]:
    """The report of each reader."""
    return {report.reader: report for report in verified.readers}


def edited(location: str, target: Path, change: Callable[[Any], None]) -> str:
    """A copy of a metadata file with something else in it; the files it points to stay where they are."""
    data = json.loads(Path(location.removeprefix("file:")).read_bytes())
    change(data)
    target.write_text(json.dumps(data), encoding="utf-8")
    return f"file:{target}"


def with_column(name: str, of: Any, **more: Any) -> Callable[[Any], None]:
    """Adds a column that no file has, to every schema."""

    def change(data: Any) -> None:
        for schema in data["schemas"]:
            schema["fields"].append({"id": 900, "name": name, "required": False, "type": of, **more})
        data["last-column-id"] = 1000

    return change


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write a data file anew, with other rows and the same schema, checksum beside it or not."""
    table = change(pq.read_table(path, partitioning=None))
    pq.write_table(table, path)
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
