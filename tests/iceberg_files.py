"""Manifests and manifest lists made by hand with the slow writer, in memory, for the tests of the decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.core.errors import Missing
from firnline.facts.entries import ABSENT, Entries, Texts
from firnline.facts.lines import ManifestLine, Metric, Wanted
from tests import avro_oracle

BY_DAY = {"name": "at_day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None, "field-id": 1000}
BY_REGION = {"name": "region", "type": ["null", "string"], "default": None, "field-id": 1001}


@dataclass
class Shelf:
    """Files by their names: the port `Blobs`."""

    files: dict[str, bytes] = field(default_factory=dict)

    def read(self, location: str) -> bytes:
        if location not in self.files:
            raise Missing(f"There is no file {location}.")
        return self.files[location]

    @property
    def manifests(self) -> IcebergManifests:
        return IcebergManifests(self)


def column(field_id: int | None, name: str, of: Any, **more: Any) -> dict[str, Any]:
    ids = {} if field_id is None else {"field-id": field_id}
    return {"name": name, "type": of, **ids, **more}


def optional(of: Any) -> Any:
    return ["null", of]


def metrics(field_id: int, name: str, key: int, value: int, of: str) -> dict[str, Any]:
    """A map by column id as Iceberg puts it into Avro: a list of records."""
    item = {
        "type": "record",
        "name": f"k{key}_v{value}",
        "fields": [column(key, "key", "int"), column(value, "value", of)],
    }
    return column(field_id, name, optional({"type": "array", "items": item, "logicalType": "map"}), default=None)


METRICS = (
    metrics(108, "column_sizes", 117, 118, "long"),
    metrics(109, "value_counts", 119, 120, "long"),
    metrics(110, "null_value_counts", 121, 122, "long"),
    metrics(137, "nan_value_counts", 138, 139, "long"),
    metrics(125, "lower_bounds", 126, 127, "bytes"),
    metrics(128, "upper_bounds", 129, 130, "bytes"),
)


def file_fields(partition: Sequence[dict[str, Any]], version: int) -> list[dict[str, Any]]:
    """The fields of a file as Java writes them."""
    fields = [
        column(100, "file_path", "string"),
        column(101, "file_format", "string"),
        column(102, "partition", {"type": "record", "name": "r102", "fields": list(partition)}),
        column(103, "record_count", "long"),
        column(104, "file_size_in_bytes", "long"),
        *METRICS,
        column(131, "key_metadata", optional("bytes")),
        column(132, "split_offsets", optional({"type": "array", "items": "long", "element-id": 133})),
        column(140, "sort_order_id", optional("int")),
    ]
    if version == 1:
        fields.insert(5, column(105, "block_size_in_bytes", "long"))
        return fields
    fields.insert(0, column(134, "content", "int"))
    fields.append(column(135, "equality_ids", optional({"type": "array", "items": "int", "element-id": 136})))
    fields.append(column(143, "referenced_data_file", optional("string")))
    if version > 2:
        fields += [
            column(142, "first_row_id", optional("long")),
            column(144, "content_offset", optional("long")),
            column(145, "content_size_in_bytes", optional("long")),
        ]
    return fields


def entry_schema(partition: Sequence[dict[str, Any]] = (BY_DAY,), version: int = 2) -> dict[str, Any]:
    """The schema of a manifest as Java writes it."""
    file = {"type": "record", "name": "r2", "fields": file_fields(partition, version)}
    own = [column(0, "status", "int"), column(1, "snapshot_id", optional("long") if version > 1 else "long")]
    if version > 1:
        own += [column(3, "sequence_number", optional("long")), column(4, "file_sequence_number", optional("long"))]
    return {"type": "record", "name": "manifest_entry", "fields": [*own, column(2, "data_file", file)]}


_OF_ENTRY = {"status": 1, "snapshot_id": None, "sequence_number": None, "file_sequence_number": None}
_OF_FILE = {
    "content": 0, "file_path": "s3://lake/t/data/a.parquet", "file_format": "PARQUET", "record_count": 10,
    "file_size_in_bytes": 1000, "block_size_in_bytes": 67108864, "sort_order_id": 0,
}  # fmt: skip


def entry(schema: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """An entry of this schema with these values, by the names Java gives them; the rest is null or something usual."""
    of_file = next(each["type"] for each in schema["fields"] if each["name"] == "data_file")
    nothing: dict[str, Any] = {"fields": []}
    partition = next((each["type"] for each in of_file["fields"] if each["name"] == "partition"), nothing)
    given = {**_OF_ENTRY, **_OF_FILE, "partition": {each["name"]: None for each in partition["fields"]}, **values}
    file = {each["name"]: given.get(each["name"]) for each in of_file["fields"]}
    own = {each["name"]: given.get(each["name"]) for each in schema["fields"] if each["name"] != "data_file"}
    return {**own, "data_file": file}


def by_column(**values: object) -> list[dict[str, object]]:
    """A metrics map: `by_column(c4=0)`."""
    return [{"key": int(name[1:]), "value": value} for name, value in values.items()]


def manifest(schema: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], **more: Any) -> bytes:
    """A manifest of these entries."""
    return avro_oracle.write(schema, entries, **more)


def look(of: Texts, row: int) -> str | None:
    raw = of.at(row)
    return None if raw is None else raw.decode("utf-8", "replace")


NUMBERS = (
    "manifest", "status", "content", "format", "snapshot", "sequence", "file_sequence", "records", "size", "sort_order",
    "first_row_id", "content_offset", "content_size",
)  # fmt: skip


def rows(batches: Sequence[Entries]) -> list[dict[Any, Any]]:
    """Every entry as a plain dictionary, None for null, in the order of the manifests."""
    found = [_row(batch, row) for batch in batches for row in range(len(batch))]
    return sorted(found, key=lambda one: one["manifest"])


def _row(batch: Entries, row: int) -> dict[Any, Any]:
    numbers: dict[Any, Any] = {name: _number(getattr(batch, name)[row]) for name in NUMBERS}
    ids = batch.equality_ids.at(row)
    partition = batch.partition.at(row)
    assert partition is not None
    return {
        **numbers,
        "path": look(batch.path, row),
        "referenced": look(batch.referenced, row),
        "equality_ids": None if ids is None else batch.decode_ids(ids),
        "partition": dict(zip(batch.partition_ids, batch.decode_partition(partition), strict=True)),
        "spec_id": batch.spec_id,
        **{key: _number(values[row]) for key, values in batch.counts.items()},
        **{key: values.at(row) for key, values in batch.bounds.items()},
    }


def _number(value: Any) -> int | None:
    return None if value == ABSENT else int(value)


def read(
    files: Mapping[str, bytes],
    lines: Sequence[ManifestLine] | None = None,
    metrics: Sequence[tuple[Metric, int]] = (),
    through: Callable[[Shelf], IcebergManifests] = lambda shelf: shelf.manifests,
) -> list[dict[Any, Any]]:
    """What the port says of these manifests, each line by line."""
    chosen = [ManifestLine(path) for path in files] if lines is None else lines
    return rows(list(through(Shelf(dict(files))).entries(chosen, Wanted(frozenset(metrics)))))
