"""Wires Spark: settings, Java, jars and the session of an open lakehouse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firnline.adapters.local import java, machine
from firnline.adapters.spark import coordinates, jars
from firnline.adapters.spark.catalogs import CATALOG
from firnline.adapters.spark.deploying import Target, deployed, dropped
from firnline.adapters.spark.jars import JarState
from firnline.adapters.spark.settings import SparkSettings, spark_settings
from firnline.config import embedded, secrets
from firnline.config.values import LakehouseSettings
from firnline.core.errors import Missing
from firnline.core.ids import Identifier
from firnline.core.types import walk
from firnline.facts.meta import TableMeta

if TYPE_CHECKING:
    from firnline.adapters.spark.launching import Start
    from firnline.adapters.spark.session import Session, SparkRoot
    from firnline.lakehouse.opening import Lakehouse

Notify = Callable[[str], AbstractContextManager[None]]


__all__ = ["Notify", "Spark", "Target", "count_nulls"]


class Spark:
    """The Spark side of a lakehouse. Nothing is started before `root` or `isolated` is asked for."""

    def __init__(
        self,
        lakehouse: LakehouseSettings,
        notify: Notify,
        *,
        given: Any = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._lakehouse = lakehouse
        self._notify = notify
        self._given = given
        self._env = os.environ if env is None else env

    @cached_property
    def settings(self) -> SparkSettings:
        """What this environment means to Spark."""
        lakehouse = self._lakehouse
        # In the order that Firnline's own clients ask them.
        region = self._env.get("AWS_REGION") or self._env.get("AWS_DEFAULT_REGION")
        return spark_settings(lakehouse.environment, lakehouse.root, region=region, locations=self._locations)

    @property
    def _locations(self) -> list[str]:
        return [each.location for each in self._lakehouse.namespaces if each.location]

    @property
    def needed(self) -> tuple[coordinates.Coordinate, ...]:
        """The jars that Spark needs for this lakehouse: the AWS bundle for the location of a namespace too."""
        return coordinates.needed(self._lakehouse.environment, self._locations)

    @cached_property
    def root(self) -> SparkRoot:
        """The process's root session, checked for this lakehouse. Work in `isolated()` ones."""
        jars.pyspark_folder()
        from firnline.adapters.spark import session

        self._prepare_catalogs()
        with self._notify("Starting Spark"):
            names = [coordinate.file_name for coordinate in self.needed]
            return session.open_root(self.settings, self._start, machine.cache_folder(self._env), self._given, names)

    def isolated(self) -> Session:
        """A session of its own for one step."""
        return self.root.isolated()

    def _prepare_catalogs(self) -> None:
        environment = self._lakehouse.environment
        for catalog in environment.catalogs.values():
            if catalog.type != "sqlite":
                continue
            database = embedded.places(catalog, self._lakehouse.root).database
            if environment.access != "read":
                database.parent.mkdir(parents=True, exist_ok=True)
            elif not database.is_file():
                raise Missing(
                    f"The catalog {catalog.name!r} is not there yet: {database}.",
                    why=f"The environment {environment.name!r} has access: read, so it is not made.",
                    next_step="Make it from an environment that may write, or set the catalog's `uri`.",
                )

    def _start(self, launch: Mapping[str, str]) -> Start:
        from firnline.adapters.spark.launching import Start

        found = self.java()
        located = jars.locate(self.needed, self.place, found.command, self._env, self._notify)
        return Start(launch, located, found.home, self.place.cache, self.settings.environ)

    @cached_property
    def place(self) -> jars.Place:
        """Where this environment's jars are."""
        settings = self._lakehouse.environment.jars
        return jars.Place(settings, Path(self._lakehouse.root), machine.cache_folder(self._env))

    def conf(self, target: Target = Target.LOCAL) -> dict[str, str]:
        """What a Spark of the user's own is started with, there. Here, jars are the files when all are here, else their
        coordinates. A secret stands as the reference it was given by, or masked.
        """
        needed = self.needed
        conf = deployed(target, self._shown(), needed)
        if target is not Target.LOCAL:
            return conf
        found = jars.look(needed, self.place, remember=self._lakehouse.environment.access != "read")
        if all(jar.state is JarState.VERIFIED for jar in found):
            key, ours = "spark.jars", [str(jar.path) for jar in found]
        else:
            key, ours = "spark.jars.packages", [str(coordinate) for coordinate in needed]
        theirs = [name for name in conf.get(key, "").split(",") if name]
        return conf | {key: ",".join((*ours, *theirs))}

    def left_out(self, target: Target) -> tuple[str, ...]:
        """Settings with credentials that a job's role makes needless, left out of `conf`."""
        return dropped(target, self._shown())

    def _shown(self) -> dict[str, str]:
        shown = {setting.key: str(setting.value) for setting in self._lakehouse.settings if setting.secret}
        return {
            key: shown.get(_setting_of(key), secrets.mask(key.rsplit(".", 1)[-1], value))
            for key, value in self.settings.all.items()
        }

    def java(self) -> java.Java:
        """The Java that Spark is run with."""
        search = java.find(self._env)
        if search.chosen is None:
            seen = "; ".join(f"{each.home} is {each.version}: {each.problem}" for each in search.passed_over)
            raise Missing(
                "No Java that Spark can run on was found.",
                why=f"Passed over: {seen}." if seen else None,
                next_step=java.HOW_TO_INSTALL,
            )
        return search.chosen


def _setting_of(key: str) -> str:
    """The setting of lakehouse.yaml that a Spark setting comes from."""
    return f"catalogs.{key.removeprefix(CATALOG)}" if key.startswith(CATALOG) else f"engine.conf.{key}"


def count_nulls(
    lakehouse: Lakehouse, identifier: Identifier, meta: TableMeta, field_ids: Iterable[int]
) -> Mapping[int, int]:
    """Nulls of these columns in the table's current snapshot, counted by Spark. Of a column that came after the
    snapshot, every row is null.
    """
    snapshot = meta.snapshot
    if snapshot is None:
        return dict.fromkeys(field_ids, 0)
    schema = next((one for one in meta.schemas if one.id == snapshot.schema_id), meta.schema)
    paths = {field.id: path for path, field in walk(schema.struct)}
    session = lakehouse.spark.isolated()
    from firnline.adapters.spark import queries

    table = (lakehouse.settings.catalog.name, *identifier.namespace, identifier.name)
    return queries.count_nulls(session, table, snapshot.id, {key: paths.get(key, ()) for key in field_ids})
