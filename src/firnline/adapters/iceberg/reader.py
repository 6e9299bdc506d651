"""PyIceberg as a reader of a proof: its planning and its projection, file by file, without a catalog.

Its `to_arrow_batch_reader` is not called: it selects columns by name, and it lets every file of the table be decoded
ahead of whoever reads, all batches in memory. The table is not loaded by `StaticTable` either, which opens files with
whatever Python class the table's own properties name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyiceberg.exceptions import ResolveError
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, _read_all_delete_files
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import DataScan

from firnline.adapters.iceberg.fileio import ReadingFileIO
from firnline.adapters.parquet import rowhash
from firnline.core.types import Field, ListOf, MapOf, Opaque, Primitive, Struct, children, show
from firnline.facts.ports import Files
from firnline.proof.values import Answer, CannotRead, FailedReading, ReaderName, ReadRequest

if TYPE_CHECKING:
    import pyarrow as pa

_REASON_MAX = 400
# What PyIceberg says of things it does not do, with whatever exception.
_UNSUPPORTED = re.compile(r"not (?:yet )?support|unsupported|not ?(?:yet )?implemented", re.IGNORECASE)
# A complaint of pydantic's about the metadata, for the part of it a person can use.
_COMPLAINT = re.compile(r"Value error, (.*?) \[type=")
_NULL_LOST = "PyIceberg reads a null {} as an empty one"


class PyIcebergReader:
    """`proof.ports.Reader` over PyIceberg's Arrow scan."""

    name = ReaderName.PYICEBERG

    def __init__(self, files: Files) -> None:
        self._files = ReadingFileIO(files)

    def cannot(self, field: Field) -> str | None:
        """Types without a canonical form to compare, and what PyIceberg 0.12 is known to read wrongly."""
        return _cannot(field)

    def read(self, request: ReadRequest) -> Answer:
        """The tally, or why there is none."""
        if not request.fields.fields:
            return CannotRead("It can read none of the columns.")
        try:
            return rowhash.tally(_batches(self._files, request), request)
        except ResolveError as error:
            return CannotRead(_line(error))
        except Exception as error:  # noqa: BLE001 - damaged files end in whatever a decoder stumbles over
            reason = _line(error)
            unsupported = _UNSUPPORTED.search(f"{type(error).__name__}: {reason}")
            return CannotRead(reason) if unsupported else FailedReading(reason)


def _batches(files: ReadingFileIO, request: ReadRequest) -> Iterator[pa.RecordBatch]:
    metadata = FromInputFile.table_metadata(files.new_input(request.metadata_location))
    scan = DataScan(table_metadata=metadata, io=files, snapshot_id=request.snapshot)
    arrow = ArrowScan(metadata, files, _projected(scan.projection(), request), AlwaysTrue())
    for task in scan.plan_files():
        # One file and its deletes at a time, batch by batch: the public way decodes whole files.
        yield from arrow._record_batches_from_scan_tasks_and_deletes([task], _read_all_delete_files(files, [task]))


def _projected(schema: Schema, request: ReadRequest) -> Schema:
    wanted = [field.id for field in request.fields.fields]
    fields = {field.field_id: field for field in schema.fields}
    if lacking := [str(one) for one in wanted if one not in fields]:
        raise ValueError(f"PyIceberg sees no columns with the field ids {', '.join(lacking)}")
    return Schema(*(fields[one] for one in wanted if one is not None))


def _cannot(field: Field) -> str | None:
    match field.type:
        case Opaque() | Primitive("variant"):
            return f"{show(field.type)} has no canonical form to compare"
        # Its projection rebuilds lists of structs and maps to structs from their offsets, which know no nulls.
        case ListOf(Struct()) if not field.required:
            return _NULL_LOST.format("list of structs")
        case MapOf(_, Struct()) if not field.required:
            return _NULL_LOST.format("map to structs")
        case _:
            return next((why for child in children(field.type) if (why := _cannot(child))), None)


def _line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if complaint := _COMPLAINT.search(text):
        return f"PyIceberg does not load the table: {complaint[1]}."
    return text if len(text) <= _REASON_MAX else f"{text[:_REASON_MAX]}…"
