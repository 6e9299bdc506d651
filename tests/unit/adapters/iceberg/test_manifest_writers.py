"""Manifests shaped as other writers make them: other names, orders and unions, fewer fields, blocks of every size."""

from __future__ import annotations

import random
from typing import Any

import pytest

from firnline.facts.lines import Content, Format, ManifestLine, Metric
from tests.avro_oracle import Style
from tests.iceberg_files import BY_DAY, METRICS, by_column, column, entry, entry_schema, manifest, optional, read

NULLS = (Metric.NULLS, 1)
EXPECTED = {
    "status": 1, "content": Content.DATA, "format": Format.PARQUET, "path": "s3://lake/t/data/a.parquet",
    "records": 10, "size": 1000, "partition": {1000: 5},
}  # fmt: skip
VALUES = {"partition": {"at_day": 5}, "snapshot_id": 3}


def file_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the file, to change them."""
    fields: list[dict[str, Any]] = schema["fields"][-1]["type"]["fields"]
    return fields


def null_last(of: Any) -> Any:
    """The schema with every optional type the other way round."""
    if isinstance(of, list):
        inside = [null_last(each) for each in of]
        return inside[::-1] if inside[0] == "null" else inside
    return {key: null_last(value) for key, value in of.items()} if isinstance(of, dict) else of


def test_optional_the_other_way_round() -> None:
    """Null may be the last branch, and split offsets may be left out."""
    schema = null_last(entry_schema())
    fields = file_of(schema)
    fields[:] = [each for each in fields if each["name"] != "split_offsets"]
    data = manifest(schema, [entry(schema, **VALUES, null_value_counts=by_column(c1=4))])
    (found,) = read({"m": data}, metrics=[NULLS])
    assert found.items() >= EXPECTED.items()
    assert (found[NULLS], found["sort_order"], found["equality_ids"]) == (4, 0, None)


def renamed(of: Any) -> Any:
    """The schema with other names everywhere: ids alone say what is what."""
    if isinstance(of, dict):
        inner = {key: renamed(value) for key, value in of.items()}
        return {**inner, "name": f"other_{of['name']}"} if "field-id" in of else inner
    return [renamed(each) for each in of] if isinstance(of, list) else of


def values_renamed(of: Any) -> Any:
    if isinstance(of, dict):
        return {f"other_{key}": values_renamed(value) for key, value in of.items()}
    return [values_renamed(each) for each in of] if isinstance(of, list) else of


def test_other_names() -> None:
    """Names mean nothing where there are ids."""
    schema = entry_schema()
    data = manifest(renamed(schema), [values_renamed(entry(schema, **VALUES, null_value_counts=by_column(c1=4)))])
    (found,) = read({"m": data}, metrics=[NULLS])
    assert found.items() >= {**EXPECTED, NULLS: 4}.items()


def without_ids(of: Any) -> Any:
    if isinstance(of, dict):
        return {key: without_ids(value) for key, value in of.items() if not key.endswith("-id")}
    return [without_ids(each) for each in of] if isinstance(of, list) else of


def test_no_ids() -> None:
    """Where a file has no ids, the names of the specification stand in, and partition fields count from 1000."""
    schema = without_ids(entry_schema())
    data = manifest(schema, [entry(schema, **VALUES, null_value_counts=by_column(c1=4))])
    (found,) = read({"m": data}, metrics=[NULLS])
    assert found.items() >= {**EXPECTED, NULLS: 4}.items()


def test_little_more_than_paths() -> None:
    """A writer that keeps no metrics and leaves out what it may: everything else is absent."""
    partition = column(102, "partition", {"type": "record", "name": "p", "fields": [BY_DAY]})
    fields = [column(134, "content", "int"), column(100, "file_path", "string"), column(101, "file_format", "string"),
              partition, column(103, "record_count", "long"), column(104, "file_size_in_bytes", "long")]  # fmt: skip
    own = [column(0, "status", "int"), column(1, "snapshot_id", optional("long"))]
    own += [column(3, "sequence_number", optional("long")), column(4, "file_sequence_number", optional("long"))]
    file = {"type": "record", "name": "data_file", "fields": fields}
    schema = {"type": "record", "name": "manifest_entry", "fields": [*own, column(2, "data_file", file)]}
    data = manifest(schema, [entry(schema, **VALUES)], codec="null")
    (found,) = read({"m": data}, [ManifestLine("m", sequence=6, spec_id=2)], [NULLS, (Metric.LOWER, 1)])
    assert found == {
        **EXPECTED, "manifest": 0, "snapshot": 3, "sequence": 6, "file_sequence": 6, "sort_order": None,
        "first_row_id": None, "content_offset": None, "content_size": None, "referenced": None, "equality_ids": None,
        "spec_id": 2, NULLS: None, (Metric.LOWER, 1): None,
    }  # fmt: skip


def test_format_1_with_what_it_once_had() -> None:
    """Old fields of format 1 that nobody needs are passed over, wherever they stand."""
    schema = entry_schema(version=1)
    file_of(schema)[4:4] = [
        column(106, "file_ordinal", optional("int")),
        column(107, "sort_columns", optional({"type": "array", "items": "int", "element-id": 112})),
    ]
    file_of(schema).append(column(111, "distinct_counts", METRICS[0]["type"]))
    old = {"file_ordinal": 7, "sort_columns": [1, 2], "distinct_counts": by_column(c1=9), "column_sizes": []}
    data = manifest(schema, [entry(schema, **VALUES, **old)], metadata={"partition-spec-id": "1"})
    (found,) = read({"m": data})
    assert found.items() >= {**EXPECTED, "sequence": 0, "file_sequence": 0, "spec_id": 1, "snapshot": 3}.items()


def test_metrics_written_some_other_way() -> None:
    """Metrics in a shape no specification has are unknown, and what follows them is read."""
    schema = entry_schema()
    place = next(at for at, each in enumerate(file_of(schema)) if each.get("field-id") == 110)
    file_of(schema)[place] = column(110, "null_value_counts", optional({"type": "map", "values": "long"}))
    data = manifest(schema, [entry(schema, **VALUES, null_value_counts={"1": 4}, value_counts=by_column(c1=5))])
    (found,) = read({"m": data}, metrics=[NULLS, (Metric.VALUES, 1)])
    assert found.items() >= {**EXPECTED, NULLS: None, (Metric.VALUES, 1): 5, "sort_order": 0}.items()


@pytest.mark.parametrize("per_block", [1, 3, 40, 1000])
@pytest.mark.parametrize("runs", [False, True])
def test_blocks_of_every_size(per_block: int, runs: bool) -> None:
    """One entry in a block, as PyIceberg writes them, or all in one: the same entries in the same order."""
    schema = entry_schema()
    entries = [
        entry(schema, partition={"at_day": number % 7}, file_path=f"f{number}", record_count=number,
              null_value_counts=by_column(c1=number, c2=0), split_offsets=[4] * (number % 5))
        for number in range(150)
    ]  # fmt: skip
    style = Style(random.Random(per_block), runs=runs)
    data = manifest(schema, entries, per_block=lambda: per_block, style=style)
    found = read({"a": data, "b": data}, metrics=[NULLS])
    assert [(each["manifest"], each["path"], each["records"], each[NULLS], each["partition"]) for each in found] == [
        (number // 150, f"f{number % 150}", number % 150, number % 150, {1000: number % 150 % 7})
        for number in range(300)
    ]


def test_schemas_do_not_mix() -> None:
    """Manifests of several schemas and specs at once: each entry with its own partition fields and spec."""
    by_day, by_none = entry_schema(), entry_schema([])
    day, none = manifest(by_day, [entry(by_day, **VALUES)]), manifest(by_none, [entry(by_none)])
    lines = [ManifestLine(path, spec_id=spec) for path, spec in (("day", 1), ("none", 0), ("day", 2), ("none", 0))]
    found = read({"day": day, "none": none}, lines)
    assert [(each["manifest"], each["spec_id"], each["partition"]) for each in found] == [
        (0, 1, {1000: 5}), (1, 0, {}), (2, 2, {1000: 5}), (3, 0, {}),
    ]  # fmt: skip
