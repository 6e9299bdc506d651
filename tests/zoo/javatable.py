"""A table through Iceberg's Java classes, by py4j: files and commits that SQL cannot make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from typing import TypeAlias

    DataFile: TypeAlias = Any  # org.apache.iceberg.DataFile
    DeleteFile: TypeAlias = Any  # org.apache.iceberg.DeleteFile

Row = Mapping[str, Any]
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_files = count()


@dataclass
class JavaTable:
    """An `org.apache.iceberg.Table`. Rows are given by column name, with values as Iceberg's JSON has them."""

    session: SparkSession
    table: Any

    @staticmethod
    def load(session: SparkSession, name: str) -> JavaTable:
        """The table as the catalog has it now."""
        jvm: Any = session._jvm
        spark = jvm.org.apache.iceberg.spark.Spark3Util
        return JavaTable(session, spark.loadIcebergTable(session._jsparkSession, name))

    @property
    def jvm(self) -> Any:
        """The JVM's packages."""
        return self.session._jvm

    @property
    def iceberg(self) -> Any:
        """org.apache.iceberg."""
        return self.jvm.org.apache.iceberg

    def place(self, values: Mapping[str, object]) -> str:
        """A partition of the current layout by these values of its transforms; what is not given is null."""
        fields = json.loads(self.iceberg.PartitionSpecParser.toJson(self.table.spec()))["fields"]
        return "/".join(f"{field['name']}={values.get(field['transform'], NO_VALUE)}" for field in fields)

    def data(self, *rows: Row, at: str = "") -> DataFile:
        """A data file with these rows in the partition `at` (`region=eu/day=…`)."""
        writer = self._factory().build().newDataWriter(*self._place(at))
        return self._written(writer, (self._record(self.table.schema(), row) for row in rows)).toDataFile()

    def equality(self, *keys: Row, at: str = "") -> DeleteFile:
        """An equality delete file of these keys; their columns, inside structs too, are the ones compared."""
        names = list(_leaves(keys[0]))
        schema = self.table.schema().select(self._list(names))
        ids = self._gateway.new_array(self.jvm.int, len(names))
        for position, name in enumerate(names):
            ids[position] = self._id(name)
        factory = self._factory().equalityFieldIds(ids).equalityDeleteRowSchema(schema).build()
        writer = factory.newEqualityDeleteWriter(*self._place(at))
        return self._written(writer, (self._record(schema, key) for key in keys)).toDeleteFile()

    def positions(self, *rows: tuple[str, int], at: str = "") -> DeleteFile:
        """A position delete file; the rows in order of path and position."""
        writer = self._factory().build().newPositionDeleteWriter(*self._place(at))
        create = self.iceberg.deletes.PositionDelete.create
        return self._written(writer, (create().set(path, at_row) for path, at_row in sorted(rows))).toDeleteFile()

    def naming(self, delete: DeleteFile, about: str) -> DeleteFile:
        """The same position delete file with its data file named in field 143, and without metrics."""
        builder = self.iceberg.FileMetadata.deleteFileBuilder(self.table.spec()).ofPositionDeletes()
        builder = builder.withPath(delete.location()).withFormat("parquet").withReferencedDataFile(about)
        builder = builder.withFileSizeInBytes(delete.fileSizeInBytes()).withRecordCount(delete.recordCount())
        return builder.withPartition(delete.partition()).build()

    def append(self, *files: DataFile, fast: bool = False, branch: str | None = None, staged: str | None = None) -> int:
        """Commit data files. Staged, the snapshot is on no branch and has this id of write-audit-publish."""
        update = self.table.newFastAppend() if fast else self.table.newAppend()
        for file in files:
            update = update.appendFile(file)
        if branch:
            update = update.toBranch(branch)
        if staged:
            update = update.stageOnly().set("wap.id", staged)
        update.commit()
        return int(update.apply().snapshotId()) if staged else self.snapshot

    def row_delta(self, *, rows: Iterable[DataFile] = (), deletes: Iterable[DeleteFile] = ()) -> None:
        """Commit data files and delete files together."""
        update = self.table.newRowDelta()
        for file in rows:
            update = update.addRows(file)
        for file in deletes:
            update = update.addDeletes(file)
        update.commit()

    def rewrite(self, gone: Iterable[DataFile], come: Iterable[DataFile]) -> None:
        """Replace data files by others with the same rows, as a compaction does that takes a new sequence number."""
        update = self.table.newRewrite().validateFromSnapshot(self.snapshot)
        for file in gone:
            update = update.deleteFile(file)
        for file in come:
            update = update.addFile(file)
        update.commit()

    @property
    def snapshot(self) -> int:
        """The id of the current snapshot."""
        self.table.refresh()
        return int(self.table.currentSnapshot().snapshotId())

    @property
    def snapshots(self) -> list[int]:
        """The ids of every snapshot, oldest first."""
        self.table.refresh()
        return [int(each.snapshotId()) for each in self.table.snapshots()]

    @property
    def manifests(self) -> list[str]:
        """Where the current snapshot's manifests lie."""
        self.table.refresh()
        return [each.path() for each in self.table.currentSnapshot().allManifests(self.table.io())]

    def expire(self, *snapshots: int) -> None:
        """Expire just these."""
        update = self.table.expireSnapshots()
        for each in snapshots:
            update = update.expireSnapshotId(each)
        update.commit()

    @cached_property
    def _gateway(self) -> Any:
        return self.session.sparkContext._gateway

    def _factory(self) -> Any:
        return getattr(self.iceberg.data, "GenericFileWriterFactory$Builder")(self.table)

    def _place(self, at: str) -> tuple[Any, Any, Any]:
        spec = self.table.spec()
        partition = self.iceberg.DataFiles.data(spec, at) if at else None
        files = self.iceberg.io.OutputFileFactory.builderFor(self.table, next(_files), 0).build()
        return files.newOutputFile(spec, partition), spec, partition

    def _written(self, writer: Any, rows: Iterable[Any]) -> Any:
        for row in rows:
            writer.write(row)
        writer.close()
        return writer

    def _record(self, schema: Any, row: Row) -> Any:
        # Through JSON, as py4j would hand over a long that fits into an int as an int.
        return self.iceberg.SingleValueParser.fromJson(schema.asStruct(), json.dumps(self._by_id(row)))

    def _by_id(self, row: Row, inside: str = "") -> dict[str, Any]:
        return {
            str(self._id(inside + name)): self._by_id(value, f"{inside}{name}.")
            if isinstance(value, Mapping)
            else value
            for name, value in row.items()
        }

    def _id(self, name: str) -> int:
        return int(self.table.schema().findField(name).fieldId())

    def _list(self, values: Iterable[Any]) -> Any:
        made = self.jvm.java.util.ArrayList()
        for value in values:
            made.add(value)
        return made


def _leaves(row: Row, inside: str = "") -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{inside}{name}.")
        else:
            yield inside + name


def iterated(iterable: Any) -> Iterable[Any]:
    """The elements of a Java Iterable that is no collection."""
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()
