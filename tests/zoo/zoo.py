"""The zoo: one embedded lakehouse project whose tables are each in some bad or odd state.

Each is made when first asked for; all of them take about a minute on one JVM. Locations are absolute, so that a copy
of the folder is no zoo: it is built where it is to be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.core.ids import Identifier
from tests.sparklake import SparkLake, spark_lake
from tests.zoo.houses import HOUSES
from tests.zoo.pen import Pen
from tests.zoo.register import INHABITANTS, NAMESPACE, Inhabitant

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse

LAKEHOUSE = """\
version: 1
name: zoo
default: local
environments:
  local:
    catalogs: {lake: {type: sqlite}}
policy: # for tables as tiny as these
  small-files.files: 10
  large-files.files: 2
  delete-debt.files: 3
  equality-deletes.files: 2
  dangling-deletes.files: 2
  old-specs.files: 2
  manifest-debt.manifests: 10
  fine-partitions.partitions: 20
  partition-skew.partitions: 3
  partition-skew.rows: 500
  history.bytes: 1 KiB
  pinned-by-refs.bytes: 1 KiB
  orphans.bytes: 1 KiB
  metadata-json.bytes: 1 MiB
"""
Arrived = Callable[[Inhabitant, float], None]


class Zoo:
    """A project folder and the tables in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._here: set[str] = set()

    @cached_property
    def lake(self) -> SparkLake:
        """Spark on the project, which is made now."""
        lake = spark_lake(self.folder)
        (self.folder / "lakehouse.yaml").write_text(LAKEHOUSE, encoding="utf-8")
        lake.sql(f"CREATE NAMESPACE IF NOT EXISTS {'.'.join(NAMESPACE)}")
        return lake

    @cached_property
    def lakehouse(self) -> Lakehouse:
        """The project as Firnline opens it."""
        from firnline.lakehouse.opening import Lakehouse

        assert self.lake.database.is_file()
        return Lakehouse.open(self.folder)

    def pen(self, name: str) -> Pen:
        """One inhabitant, made if it is not here yet."""
        one = INHABITANTS[name]
        pen = Pen(self.lake, one.identifier)
        if name not in self._here:
            one.arrive(pen)
            self._here.add(name)
        return pen

    def __getitem__(self, name: str) -> Identifier:
        return self.pen(name).identifier

    def fill(self, names: Iterable[str] = INHABITANTS, arrived: Arrived = lambda *_: None) -> None:
        """Make these, and tell of each how many seconds it took."""
        for name in names:
            begun = time.monotonic()
            self.pen(name)
            arrived(INHABITANTS[name], time.monotonic() - begun)


__all__ = ["HOUSES", "INHABITANTS", "Inhabitant", "Zoo"]
