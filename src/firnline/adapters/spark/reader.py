"""Spark as a reader of a proof: Iceberg's own scan of the metadata file, hashed on the executors.

The table is read from its metadata file by path, so the catalog and its current pointer have no say in it. Each task
sends back one row: the tally of what it read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from firnline.adapters.parquet import rowhash
from firnline.adapters.schemes import S3
from firnline.adapters.spark import errors
from firnline.adapters.spark.catalogs import CATALOG, S3_FILE_IO
from firnline.adapters.spark.session import active
from firnline.adapters.spark.settings import DEFAULT_CATALOG
from firnline.core.errors import Missing
from firnline.core.types import Field, Json, Opaque, Primitive, Type, children, show
from firnline.proof.values import (
    Answer,
    CannotRead,
    ColumnTally,
    FailedReading,
    NotInstalled,
    ReaderName,
    ReadRequest,
    Sum,
    Tally,
)

if TYPE_CHECKING:
    import pyarrow as pa

_HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"
# Writers put a checksum into every page, and readers check it only when told to.
_VERIFIES = "parquet.page.verify-checksum.enabled"
_SETTINGS = {"spark.sql.caseSensitive": "true"}
_UNSUPPORTED = frozenset({"UnsupportedOperationException", "SparkUnsupportedOperationException"})
_DOING = "reading the snapshot"


class SparkReader:
    """`proof.ports.Reader` over Iceberg's Spark source. A session is asked for when something is to be read."""

    name = ReaderName.SPARK

    def __init__(self, session: Callable[[], SparkSession]) -> None:
        self._session = session

    def cannot(self, field: Field) -> str | None:
        """Types without a canonical form to compare. What Spark itself does not know makes the table unreadable."""
        return _cannot(field.type)

    def read(self, request: ReadRequest) -> Answer:
        """The tally, or why there is none."""
        if not request.fields.fields:
            return CannotRead("It can read none of the columns.")
        try:
            session = self._session()
        except Missing as error:
            return NotInstalled(error.what)
        try:
            return _read(session, request)
        except errors.ERRORS as error:
            return _why_not(error)


def _read(session: SparkSession, request: ReadRequest) -> Answer:
    for key, value in _SETTINGS.items():
        session.conf.set(key, value)
    frame = _frame(session, request)
    wanted = [field.name for field in request.schema.fields]
    if frame.columns != wanted:
        return FailedReading(f"Spark sees the columns {', '.join(frame.columns)} where there are {', '.join(wanted)}.")
    rows = _chosen(frame, request).mapInArrow(partial(_tally_part, request), "tally string").collect()
    parts = (_unpacked(json.loads(row[0])) for row in rows)
    return reduce(add, parts, Tally.zero(tuple(field.id for field in request.fields.fields if field.id is not None)))


def _frame(session: SparkSession, request: ReadRequest) -> DataFrame:
    """The snapshot as Iceberg's Spark source has it, from the metadata file alone: no catalog is asked, and nothing
    else of it can be reached.
    """
    jvm: Any = session._jvm
    static = jvm.org.apache.iceberg.StaticTableOperations(request.metadata_location, _file_io(session, request))
    table = jvm.org.apache.iceberg.BaseTable(static, request.metadata_location)
    sources = jvm.org.apache.iceberg.spark.source.SparkTable
    travels = jvm.org.apache.iceberg.spark.TimeTravel
    at = request.snapshot
    source = sources(table) if at is None else sources.create(table, travels.version(str(at)))
    nothing = jvm.scala.Option.empty()
    relations = jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
    relation = relations.create(source, nothing, nothing)
    datasets = getattr(jvm, "org.apache.spark.sql.classic.Dataset")
    with active(session):
        return DataFrame(datasets.ofRows(session._jsparkSession, relation), session)


def _file_io(session: SparkSession, request: ReadRequest) -> Any:
    """What opens the files: that of the session's own catalog for an object store, Hadoop's for this machine."""
    jvm: Any = session._jvm
    hadoop = session._jsparkSession.sessionState().newHadoopConf()
    hadoop.set(_VERIFIES, "true")
    key = f"{CATALOG}{session.conf.get(DEFAULT_CATALOG, 'spark_catalog')}."
    properties = {name.removeprefix(key): text for name, text in session.conf.getAll.items() if name.startswith(key)}
    remote = request.metadata_location.startswith(S3)
    implementation = properties.get("io-impl", S3_FILE_IO) if remote else _HADOOP_IO
    return jvm.org.apache.iceberg.CatalogUtil.loadFileIO(implementation, properties, hadoop)


def _chosen(frame: DataFrame, request: ReadRequest) -> DataFrame:
    """The columns asked for, by position: then no name needs quoting."""
    names = [f"c{position}" for position in range(len(request.schema.fields))]
    chosen = [f"c{request.schema.fields.index(field)}" for field in request.fields.fields]
    return frame.toDF(*names).select(*chosen)


def _tally_part(request: ReadRequest, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What one task of an executor sends back."""
    import pyarrow as pa

    found = rowhash.tally(batches, request)
    yield pa.RecordBatch.from_pydict({"tally": [json.dumps(_packed(found))]})


def _packed(tally: Tally) -> Json:
    columns = [[key, one.nulls, one.nans, one.sum.high, one.sum.low] for key, one in tally.columns.items()]
    whole, shared = tally.whole, tally.shared
    return [tally.rows, columns, [whole.high, whole.low], [shared.high, shared.low]]


def _unpacked(data: Json) -> Tally:
    rows, columns, whole, shared = data
    tallies = {key: ColumnTally(nulls, nans, Sum(high, low)) for key, nulls, nans, high, low in columns}
    return Tally(rows, tallies, Sum(*whole), Sum(*shared))


def _cannot(of: Type) -> str | None:
    match of:
        case Opaque() | Primitive("variant"):
            return f"{show(of)} has no canonical form to compare"
        case _:
            return next((why for child in children(of) if (why := _cannot(child.type))), None)


def _why_not(error: Any) -> CannotRead | FailedReading:
    if errors.is_gone(error):
        return FailedReading(errors.fold(_DOING, error).what)
    links = errors.chain(error)
    unsupported = next((link for link in links if link.name in _UNSUPPORTED), None)
    if unsupported is not None:
        return CannotRead(errors.line(unsupported))
    return FailedReading(errors.fold(_DOING, error).what)
