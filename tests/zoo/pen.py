"""The place where one table of the zoo is made: Spark SQL, Iceberg's Java classes, and edits of files by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from firnline.core.ids import Identifier
from tests.committing import Shelf, assert_done
from tests.sparklake import CATALOG, SparkLake
from tests.zoo.javatable import JavaTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What most inhabitants hold: enough to be partitioned in every usual way.
COLUMNS = "id bigint, region string, at timestamp, note string"
# One task writes one file per partition, and nothing is shuffled before: the number of files is what the test says.
# Said for each write, not by the table: such properties would be a bad state of their own.
PLAIN = {"distribution-mode": "none", "fanout-enabled": "true"}
ON_READ = {f"write.{verb}.mode": "merge-on-read" for verb in ("delete", "update", "merge")}
DAY = "2026-11-01"


@dataclass(frozen=True, slots=True)
class Pen:
    """One table to be."""

    lake: SparkLake
    identifier: Identifier

    @property
    def name(self) -> str:
        """The table as Spark SQL names it."""
        return ".".join(f"`{part}`" for part in (CATALOG, *self.identifier.namespace, self.identifier.name))

    def create(
        self, columns: str = COLUMNS, *, by: str = "", version: int = 2, properties: Mapping[str, str] | None = None
    ) -> None:
        """An empty table."""
        wanted = {"format-version": str(version), **(properties or {})}
        listed = ", ".join(f"'{key}'='{value}'" for key, value in wanted.items())
        partitioned = f"PARTITIONED BY ({by})" if by else ""
        self.lake.sql(f"CREATE TABLE {self.name} ({columns}) USING iceberg {partitioned} TBLPROPERTIES ({listed})")

    def sql(self, *statements: str) -> DataFrame:
        """Run statements, with the table's name for `{t}`; what the last one answers."""
        answers = [self.lake.sql(statement.replace("{t}", self.name)) for statement in statements]
        return answers[-1]

    def fill(
        self, ids: range, *, files: int = 1, region: str = "'eu'", day: str = DAY, note: str = "concat('n', id)"
    ) -> None:
        """Append rows with these ids in one commit. Region and note are SQL; each of `files` tasks writes its own."""
        made = self.lake.session.range(ids.start, ids.stop, 1, files).selectExpr(
            "id",
            f"CAST({region} AS string) AS region",
            f"TIMESTAMP'{day} 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id) AS at",
            f"CAST({note} AS string) AS note",
        )
        self.append(made)

    def append(self, rows: DataFrame) -> None:
        """Commit rows as they lie in Spark's partitions."""
        rows.writeTo(self.name).options(**PLAIN).append()

    def set(self, **properties: str) -> None:
        """Set table properties; `_` stands for `-` and `__` for a dot."""
        plain = {key.replace("__", ".").replace("_", "-"): value for key, value in properties.items()}
        listed = ", ".join(f"'{key}'='{value}'" for key, value in plain.items())
        self.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({listed})")

    @property
    def java(self) -> JavaTable:
        """The table as Java has it now. Loaded anew each time: it knows of no commit that comes after."""
        return JavaTable.load(self.lake.session, self.name)

    @property
    def shelf(self) -> Shelf:
        """The catalog without a JVM."""
        return Shelf(self.lake.folder)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata the catalog points to, compressed or not."""
        data = local(self.shelf.location(self.identifier)).read_bytes()
        found: dict[str, Any] = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        return found

    @property
    def folder(self) -> Path:
        """Where the table lies."""
        return local(self.metadata["location"])

    def edit(self, change: Callable[[Any], None]) -> None:
        """Change the table's metadata by hand and point the catalog to the result."""
        before = self.shelf.location(self.identifier)
        data = self.metadata
        data["metadata-log"].append({"timestamp-ms": data["last-updated-ms"], "metadata-file": before})
        change(data)
        after = f"{before.rsplit('/', 1)[0]}/{next_version(before):05d}-{uuid4()}.metadata.json"
        local(after).write_text(json.dumps(data), encoding="utf-8")
        assert_done(self.shelf.swaps.swap(self.identifier, before, after))

    def damage(self, location: str, change: Callable[[bytes], bytes]) -> None:
        """Change the bytes of a file, and let no checksum beside it tell."""
        path = local(location)
        path.write_bytes(change(path.read_bytes()))
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def local(location: str) -> Path:
    """The file or folder of a `file:` location."""
    return Path(location.removeprefix("file://").removeprefix("file:"))


def next_version(location: str) -> int:
    """The number the next metadata file has."""
    return int(location.rsplit("/", 1)[1].split("-", 1)[0]) + 1
