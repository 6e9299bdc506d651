"""A project as its user has it: lakehouse.yaml, table files, an open `Lakehouse`; and engines that look at it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firnline.adapters.duckdb import connection
from firnline.config import write
from firnline.config.values import Declaration
from firnline.core.ids import Identifier
from firnline.core.types import Struct
from firnline.facts.meta import TableMeta
from firnline.lakehouse.opening import Lakehouse
from firnline.lakehouse.plans import Preview
from firnline.loop.values import OutcomeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LAKEHOUSE = """\
version: 1
name: shop
default: local
environments:
  local:
    catalogs: {lake: {type: sqlite}}
"""


@dataclass
class Project:
    """One project folder. Tables are named one after the other, so that many tests share it."""

    folder: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @cached_property
    def lakehouse(self) -> Lakehouse:
        """The project, open."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "lakehouse.yaml").write_text(LAKEHOUSE, encoding="utf-8")
        return Lakehouse.open(self.folder)

    @cached_property
    def session(self) -> SparkSession:
        """A Spark session on the project."""
        return self.lakehouse.spark.isolated()

    def sql(self, statement: str) -> DataFrame:
        """Run a statement on Spark."""
        return self.session.sql(statement)

    def named(self, declaration: Declaration) -> Declaration:
        """The declaration under a name nobody has."""
        return replace(declaration, identifier=Identifier(("shop",), f"t{next(self.numbers)}"))

    @contextmanager
    def declared(self, declaration: Declaration) -> Iterator[None]:
        """With the table file of this declaration in the project."""
        path = self.folder / "tables" / f"{declaration.identifier.name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write.declaration(declaration), encoding="utf-8")
        try:
            yield
        finally:
            path.unlink()

    def plan(self, declaration: Declaration) -> Preview:
        """What is to be done about this one table."""
        with self.declared(declaration):
            return self.lakehouse.tables.plan([str(declaration.identifier)])

    def apply(self, declaration: Declaration) -> None:
        """Make the table what the file says; afterwards a plan is empty."""
        with self.declared(declaration):
            preview = self.lakehouse.tables.plan([str(declaration.identifier)])
            assert preview.refused == ()
            result = self.lakehouse.apply(preview, command="test")
            assert {one.outcome.kind for one in result.steps} <= {OutcomeKind.DONE}, result
            after = self.lakehouse.tables.plan([str(declaration.identifier)])
        assert after.empty, changes(after)

    def adopt(self, name: Identifier) -> None:
        """Write the file of a table, find the plan right after empty, and take the file away again."""
        adopted = self.lakehouse.tables.adopt(str(name))
        assert adopted.skipped == ()
        try:
            preview = self.lakehouse.tables.plan([str(name)])
            assert preview.empty, (changes(preview), adopted.written[0].read_text(encoding="utf-8"))
        finally:
            for path in adopted.written:
                path.unlink()

    def meta(self, name: Identifier) -> TableMeta:
        """The table's metadata."""
        return self.lakehouse.tables.load(name)

    def by_spark(self, name: Identifier) -> list[dict[str, Any]]:
        """The rows as Spark reads them. `toArrow` would fail in its last cast on null structs with required fields."""
        self.session.catalog.refreshTable(spark_name(name))
        batches = self.session.table(spark_name(name))._collect_as_arrow()
        return [row for batch in batches for row in batch.to_pylist()]

    def by_duckdb(self, name: Identifier) -> list[dict[str, Any]]:
        """The rows as DuckDB reads them."""
        with connection.connect() as duckdb:
            where = connection.quote_text(self.meta(name).location.removeprefix("file://"))
            return duckdb.sql(f"SELECT * FROM iceberg_scan({where})").to_arrow_table().to_pylist()


def changes(preview: Preview) -> list[Any]:
    """What a plan would change, for a message."""
    return [*(change for step in preview.plan.steps for change in step.body.changes), *preview.refused]


def spark_name(name: Identifier) -> str:
    """The table as Spark SQL names it."""
    return ".".join(f"`{part}`" for part in ("lake", *name.namespace, name.name))


def values_by_id(struct: Struct, row: dict[str, Any] | None) -> dict[int, Any]:
    """The values of a row by field id, through structs; lists and maps whole."""
    found: dict[int, Any] = {}
    for one in struct.fields:
        value = None if row is None else row[one.name]
        if isinstance(one.type, Struct):
            found |= values_by_id(one.type, value)
        else:
            assert one.id is not None
            found[one.id] = value
    return found
