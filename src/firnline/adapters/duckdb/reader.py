"""DuckDB as a reader of a proof: `iceberg_scan` over the metadata file itself, streamed as Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from firnline.adapters.access import StoreAccess
from firnline.adapters.duckdb import connection
from firnline.adapters.locations import local_path
from firnline.adapters.parquet import rowhash
from firnline.adapters.schemes import S3
from firnline.core.errors import BadInput, Missing
from firnline.core.types import Field, Opaque, Primitive, Struct, Type, children, show
from firnline.proof.values import Answer, CannotRead, FailedReading, NotInstalled, ReaderName, ReadRequest, Tally

if TYPE_CHECKING:
    import duckdb

ROWS_AT_A_TIME = 16_384
_REASON_MAX = 400
# What DuckDB says of things it does not do, whatever class it says it with.
_UNSUPPORTED = re.compile(
    r"not (?:yet )?(?:supported|implemented)|unsupported|unrecognized (?:primitive )?type|does not support",
    re.IGNORECASE,
)
_STATEMENT = "\n\nLINE 1:"  # what follows is our own statement again


class DuckdbReader:
    """`proof.ports.Reader` over DuckDB's own Iceberg extension."""

    name = ReaderName.DUCKDB

    def __init__(self, access: Callable[[str], StoreAccess] | None = None) -> None:
        self._access = access  # asked when a table lies in S3: credentials end

    def cannot(self, field: Field) -> str | None:
        """Types without a canonical form to compare. What DuckDB itself does not know makes the table unreadable."""
        return _cannot(field.type)

    def read(self, request: ReadRequest) -> Answer:
        """The tally, or why there is none."""
        if not request.fields.fields:
            return CannotRead("It can read none of the columns.")
        try:
            with connection.connect(stores=self._stores(request)) as opened:
                return _read(opened, self._path(request), request)
        except Missing as error:
            return NotInstalled(error.what)
        except BadInput as error:
            return CannotRead(error.what)
        except rowhash.MistypedError as error:
            return FailedReading(f"DuckDB: {error}.")

    def _stores(self, request: ReadRequest) -> Mapping[str, StoreAccess]:
        remote = self._access is not None and request.metadata_location.startswith(S3)
        return {"": self._access(request.metadata_location)} if self._access and remote else connection.NOWHERE

    def _path(self, request: ReadRequest) -> str:
        return (connection.readable if self._access else local_path)(request.metadata_location)


def _read(opened: duckdb.DuckDBPyConnection, path: str, request: ReadRequest) -> Answer:
    import duckdb
    import pyarrow as pa

    if '"' in path:
        return CannotRead("DuckDB takes a quote in the path of a file for one around a name.")
    try:
        seen = _columns(opened, path, request)
        if problem := _other_schema(seen, request.schema):
            return FailedReading(problem)
        return _tally(opened, path, request)
    # A file that breaks while batches come is told by Arrow, with DuckDB's words in it.
    except (duckdb.Error, pa.ArrowException, UnicodeDecodeError) as error:
        reason = _line(str(error))
        unsupported = isinstance(error, duckdb.NotImplementedException) or _UNSUPPORTED.search(reason)
        return CannotRead(reason) if unsupported else FailedReading(reason)


def _columns(opened: duckdb.DuckDBPyConnection, path: str, request: ReadRequest) -> tuple[str, ...]:
    statement = f"DESCRIBE SELECT * FROM {_scan(request)}"  # noqa: S608 - one of two constants
    return tuple(str(row[0]) for row in opened.execute(statement, _arguments(path, request)).fetchall())


def _tally(opened: duckdb.DuckDBPyConnection, path: str, request: ReadRequest) -> Tally:
    # By position: names may differ in case only, which DuckDB does not tell apart, and nothing needs quoting so.
    everything = ", ".join(f"c{position}" for position in range(len(request.schema.fields)))
    chosen = ", ".join(f"c{request.schema.fields.index(field)}" for field in request.fields.fields)
    statement = f"SELECT {chosen} FROM {_scan(request)} AS t({everything})"  # noqa: S608 - positions, no input
    batches = opened.execute(statement, _arguments(path, request)).to_arrow_reader(ROWS_AT_A_TIME)
    return rowhash.tally(batches, request)


def _scan(request: ReadRequest) -> str:
    return "iceberg_scan(?)" if request.snapshot is None else "iceberg_scan(?, snapshot_from_id => ?)"


def _arguments(path: str, request: ReadRequest) -> list[object]:
    return [path] if request.snapshot is None else [path, request.snapshot]


def _other_schema(seen: tuple[str, ...], schema: Struct) -> str | None:
    """Columns are taken by position, so DuckDB must see those of the schema; it numbers those it cannot tell apart."""
    wanted = tuple(field.name for field in schema.fields)
    alike = len(seen) == len(wanted) and all(
        one.casefold().startswith(other.casefold()) for one, other in zip(seen, wanted, strict=True)
    )
    return None if alike else f"DuckDB sees the columns {', '.join(seen)} where the table has {', '.join(wanted)}."


def _cannot(of: Type) -> str | None:
    match of:
        case Opaque() | Primitive("variant"):
            return f"{show(of)} has no canonical form to compare"
        case _:
            return next((why for child in children(of) if (why := _cannot(child.type))), None)


def _line(text: str) -> str:
    line = " ".join(text.split(_STATEMENT, maxsplit=1)[0].split())
    return line if len(line) <= _REASON_MAX else f"{line[:_REASON_MAX]}…"
