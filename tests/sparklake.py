"""A project in a temporary folder and Spark on it, for tests. One JVM serves every project of a test run.

Why that works: catalogs are set on isolated sessions, never on the JVM, so two projects may both call theirs `lake`.
A test process starts the JVM once (about 5 s); each project and each session after that costs milliseconds. What a JVM
must be started with, jars and variables, is that of all catalogs there are (`start_for_all`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.config import embedded
from firnline.config.values import CatalogSettings, EngineSettings, Environment, JarSettings, LakehouseSettings
from firnline.lakehouse.spark import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from firnline.adapters.spark.launching import Start

CATALOG = "lake"
ICEBERG = "FIRNLINE_TEST_ICEBERG"  # another release than the default: the cloud lane
# Between them they need every jar. The keys are those of `servers.KEYS`: Glue's client takes them from variables of the
# JVM alone.
_ALL = {
    "embedded": CatalogSettings("embedded", "sqlite"),
    "aws": CatalogSettings("aws", "glue", {"s3.access-key-id": "test", "s3.secret-access-key": "test"}),
}
_Starting = Callable[[Spark, Mapping[str, str]], "Start"]


def silent(_: str) -> AbstractContextManager[None]:
    """Progress for nobody."""
    return nullcontext()


@dataclass
class SparkLake:
    """A project folder, its settings, and one isolated session that is made on first use."""

    folder: Path
    settings: LakehouseSettings
    spark: Spark
    _session: list[SparkSession] = field(default_factory=list)

    @property
    def session(self) -> SparkSession:
        """The project's own session, the same each time."""
        if not self._session:
            self._session.append(self.spark.isolated())
        return self._session[0]

    def isolated(self) -> SparkSession:
        """One more session on this project."""
        return self.spark.isolated()

    def sql(self, statement: str) -> DataFrame:
        """Run a statement in the project's session."""
        return self.session.sql(statement)

    @property
    def database(self) -> Path:
        """The SQLite file of the catalog."""
        return self.place.database

    @property
    def place(self) -> embedded.Embedded:
        """The catalog's file and warehouse."""
        return embedded.places(self.settings.catalog, self.settings.root)


def settings_for(folder: Path, *, access: str = "write", conf: Mapping[str, str] | None = None) -> LakehouseSettings:
    """Settings of a project with one sqlite catalog `lake`, without writing any YAML."""
    catalogs = {CATALOG: CatalogSettings(CATALOG, "sqlite")}
    jars = JarSettings(iceberg=os.environ.get(ICEBERG))
    environment = Environment("local", catalogs, access=access, engine=EngineSettings(conf=dict(conf or {})), jars=jars)
    return LakehouseSettings("shop", str(folder), environment, ("local",))


def spark_lake(folder: Path, *, access: str = "write", conf: Mapping[str, str] | None = None) -> SparkLake:
    """A project in `folder` (made when missing) with Spark on it; namespaces and tables are the test's to make."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_for(folder, access=access, conf=conf)
    return SparkLake(folder, settings, Spark(settings, silent))


def start_for_all(start: _Starting) -> _Starting:
    """`Spark._start`, whatever the catalogs of the project that comes first: a JVM that runs takes no more jars."""

    def starting(spark: Spark, launch: Mapping[str, str]) -> Start:
        settings = spark._lakehouse
        wide = replace(settings, environment=replace(settings.environment, catalogs=_ALL))
        return start(Spark(wide, spark._notify, env=spark._env), launch)

    return starting
