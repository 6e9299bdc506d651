"""Damaged metadata files: cut anywhere, flipped anywhere. A value or a named error, and nothing else."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest

from firnline.core.errors import FirnlineError
from firnline.facts import lineage, snapshots
from firnline.facts import meta as metadata

WHERE = "file:///w/t/metadata/00001-a.metadata.json"
FLIPS = 3000
TAGS = {"type": "list", "element-id": 3, "element": "string", "element-required": False}
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "tags", "required": False, "type": TAGS},
    ],
}
SNAPSHOT = {
    "snapshot-id": 7, "sequence-number": 1, "timestamp-ms": 1_795_000_000_000, "manifest-list": "file:///w/t/m.avro",
    "summary": {"operation": "append", "total-records": "3"}, "schema-id": 0,
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "format-version": 2, "table-uuid": "f79c3e09-677c-4bbd-a479-3f349cb785e7", "location": "file:///w/t",
    "last-sequence-number": 1, "last-updated-ms": 1_795_000_000_000, "last-column-id": 3, "schemas": [SCHEMA],
    "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": [
        {"name": "id", "transform": "bucket[4]", "source-id": 1, "field-id": 1000}]}], "default-spec-id": 0,
    "last-partition-id": 1000, "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
    "properties": {"a": "b"}, "current-snapshot-id": 7, "snapshots": [SNAPSHOT],
    "refs": {"main": {"snapshot-id": 7, "type": "branch"}}, "snapshot-log": [], "metadata-log": [],
    "statistics": [{"snapshot-id": 7, "file-size-in-bytes": 12}],
}  # fmt: skip
PLAIN = json.dumps(WHOLE).encode()


def look(data: bytes) -> None:
    """Everything metadata alone tells, or an error of ours."""
    try:
        meta = metadata.parse(data, WHERE)
        _ = meta.schema, meta.spec, meta.order, meta.snapshot
    except FirnlineError as error:
        if WHERE not in error.what:
            pytest.fail(f"{error} does not name the file")
        return
    lineage.of(meta).held()
    snapshots.facts(meta)
    snapshots.refs(meta)
    snapshots.metadata(meta, len(data), gzip=False)


@pytest.mark.parametrize("data", [PLAIN, gzip.compress(PLAIN, mtime=0)], ids=["plain", "gzip"])
def test_a_cut_file_is_an_error(data: bytes) -> None:
    """A metadata file that ends early is never taken for a whole one."""
    for length in range(len(data)):
        with pytest.raises(FirnlineError, match="not readable as Iceberg table metadata"):
            metadata.parse(data[:length], WHERE)


@pytest.mark.parametrize("data", [PLAIN, gzip.compress(PLAIN, mtime=0)], ids=["plain", "gzip"])
def test_flipped_bytes_are_a_value_or_an_error(data: bytes) -> None:
    """Whatever byte is flipped, there is a value or an error that names the file."""
    dice = random.Random(4)
    for _ in range(FLIPS):
        damaged = bytearray(data)
        for _ in range(dice.choice((1, 1, 3))):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        look(bytes(damaged))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inside for place in _places(each, (*path, key)))]


@pytest.mark.parametrize("odd", [None, -1, 2**70, "x", [], {}, [None], True, 1.5], ids=str)
def test_values_of_another_kind_are_a_value_or_an_error(odd: Any) -> None:
    """In every place of the file, a value of a kind that does not belong there is met with a value or an error."""
    for place in _places(WHOLE)[1:]:
        changed = json.loads(PLAIN)
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = odd
        look(json.dumps(changed).encode())
