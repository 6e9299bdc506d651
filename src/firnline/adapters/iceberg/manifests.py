"""Reads manifest lists and manifests of formats 1 to 3: the `Manifests` port of facts.

PyIceberg's Avro reader is used, its table model is not: a table whose schema it cannot load (variant) has manifests
like any other. All fields are optional to us, because early writers left some out. One manifest is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyiceberg.avro.file import AvroFile
from pyiceberg.io import FileIO
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)

from firnline.adapters.iceberg.fileio import LocalFileIO
from firnline.core.errors import Failed, FirnlineError, Missing
from firnline.facts.ports import ColumnNulls, ManifestFacts

_DELETED = 2  # the entry is a tombstone: the file left the table in this manifest's snapshot
_DATA = 0

_SUMMARY = StructType(NestedField(509, "contains_null", BooleanType(), required=False))
# By field id, which is how Avro files written under older names (`added_data_files_count`) are still understood.
_LIST = Schema(
    NestedField(500, "manifest_path", StringType(), required=True),
    NestedField(501, "manifest_length", LongType(), required=True),
    NestedField(502, "partition_spec_id", IntegerType(), required=False),
    NestedField(517, "content", IntegerType(), required=False),
    NestedField(504, "added_files_count", IntegerType(), required=False),
    NestedField(505, "existing_files_count", IntegerType(), required=False),
    NestedField(512, "added_rows_count", LongType(), required=False),
    NestedField(513, "existing_rows_count", LongType(), required=False),
    # Asked for because PyIceberg cannot pass over a list, a map or a struct that nobody asks for.
    NestedField(507, "partitions", ListType(508, _SUMMARY, element_required=True), required=False),
)


def _counts(field_id: int, name: str, key: int, value: int) -> NestedField:
    return NestedField(field_id, name, MapType(key, IntegerType(), value, LongType()), required=False)


def _bounds(field_id: int, name: str, key: int, value: int) -> NestedField:
    return NestedField(field_id, name, MapType(key, IntegerType(), value, BinaryType()), required=False)


# Of no field that any partition has: specs number theirs from 1000.
_PARTITION = StructType(NestedField(999, "none", BooleanType(), required=False))
_FILE = StructType(
    NestedField(134, "content", IntegerType(), required=False),
    NestedField(100, "file_path", StringType(), required=True),
    NestedField(104, "file_size_in_bytes", LongType(), required=False),
    _counts(110, "null_value_counts", 121, 122),
    NestedField(102, "partition", _PARTITION, required=False),
    _counts(108, "column_sizes", 117, 118),
    _counts(109, "value_counts", 119, 120),
    _counts(111, "distinct_counts", 123, 124),
    _counts(137, "nan_value_counts", 138, 139),
    _bounds(125, "lower_bounds", 126, 127),
    _bounds(128, "upper_bounds", 129, 130),
    NestedField(132, "split_offsets", ListType(133, LongType(), element_required=True), required=False),
    # Of longs: PyIceberg writes them so, and an int is read as one.
    NestedField(135, "equality_ids", ListType(136, LongType(), element_required=True), required=False),
)
_ENTRY = Schema(
    NestedField(0, "status", IntegerType(), required=True), NestedField(2, "data_file", _FILE, required=True)
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A live file of a manifest."""

    path: str
    bytes: int
    is_data: bool
    nulls: Mapping[int, int] | None = None


def read_list(files: FileIO, location: str) -> tuple[ManifestFacts, ...]:
    """The lines of a manifest list."""
    return tuple(_line(*row) for row in _rows(files, location, _LIST))


def entries(files: FileIO, manifest: ManifestFacts) -> Iterator[Entry]:
    """The live files of a manifest, of data or of deletes."""
    for status, file in _rows(files, manifest.path, _ENTRY):
        if status != _DELETED:
            yield Entry(file[1], file[2] or 0, (file[0] or _DATA) == _DATA, file[3])


class PyIcebergManifests:
    """`facts.ports.Manifests` over PyIceberg's Avro reader."""

    def __init__(self, files: FileIO | None = None) -> None:
        self._files = files or LocalFileIO()

    def list(self, location: str) -> tuple[ManifestFacts, ...]:
        """The lines of a manifest list."""
        return read_list(self._files, location)

    def nulls(self, manifests: Iterable[ManifestFacts], field_ids: Iterable[int]) -> Mapping[int, ColumnNulls]:
        """Null counts from the metrics of live data files.

        Deletes are not applied: rows a delete file hides are still counted, so the true number is at most this one, and
        0 is always the truth. A file without a count for a column (metrics switched off, or written before the column
        was added) makes its number unknown. A field inside a list or map has no count of rows at all.
        """
        wanted = tuple(dict.fromkeys(field_ids))
        counts = dict.fromkeys(wanted, 0)
        without = dict.fromkeys(wanted, 0)
        for manifest in _of_data(manifests):
            for entry in entries(self._files, manifest):
                if not entry.is_data:
                    continue
                known = entry.nulls or {}
                for field_id in wanted:
                    count = known.get(field_id)
                    if count is None or count < 0:
                        without[field_id] += 1
                    else:
                        counts[field_id] += count
        return {key: ColumnNulls(None if without[key] else counts[key], without[key]) for key in wanted}

    def data_bytes(self, manifests: Iterable[ManifestFacts]) -> Mapping[int, int]:
        """Bytes of live data files per partition spec; delete files are not counted."""
        sizes: dict[int, int] = {}
        for manifest in _of_data(manifests):
            size = sum(entry.bytes for entry in entries(self._files, manifest) if entry.is_data)
            sizes[manifest.spec_id] = sizes.get(manifest.spec_id, 0) + size
        return sizes


def _of_data(manifests: Iterable[ManifestFacts]) -> Iterator[ManifestFacts]:
    # A manifest that says it has no live file has only tombstones: not worth opening.
    return (manifest for manifest in manifests if manifest.content == "data" and manifest.files != 0)


def _line(
    path: str, length: int, spec: int | None, content: int | None, added: int | None, existing: int | None,
    added_rows: int | None, existing_rows: int | None, _: object,
) -> ManifestFacts:  # fmt: skip
    return ManifestFacts(
        path=path,
        length=length,
        spec_id=spec or 0,
        content="deletes" if content else "data",
        files=None if added is None or existing is None else added + existing,
        rows=None if added_rows is None or existing_rows is None else added_rows + existing_rows,
    )


def _rows(files: FileIO, location: str, schema: Schema) -> Iterator[Any]:
    try:
        with AvroFile[Any](files.new_input(location), schema) as reader:
            yield from reader
    except FirnlineError:
        raise
    except FileNotFoundError as error:
        raise Missing(
            f"There is no file {location}.",
            why="The table's metadata points to it: the snapshots that need it cannot be read.",
            next_step="Restore it from a backup, or look for a snapshot before it with `firnline history`.",
        ) from error
    except OSError as error:
        raise Failed(f"{location} could not be read: {error.strerror or error}.") from error
    except Exception as error:  # damaged Avro ends in whatever the decoder stumbles over
        raise Failed(f"{location} is not readable as an Iceberg manifest: {type(error).__name__}: {error}.") from error
