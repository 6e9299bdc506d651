"""`Lakehouse`: what the command line has, as a library, with the same names. Everything is wired when first used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firnline.config import lakehouse as lakehouse_config
from firnline.config.values import LakehouseSettings
from firnline.core.errors import Refused

if TYPE_CHECKING:
    from firnline.adapters.answers import Answer
    from firnline.core.types import Json
    from firnline.facts.ports import Blobs, Files, Manifests, Pointers
    from firnline.lakehouse.catalogs import Connection
    from firnline.lakehouse.checks import Check
    from firnline.lakehouse.facts import Facts
    from firnline.lakehouse.history import History
    from firnline.lakehouse.judging import Judging
    from firnline.lakehouse.ledger import RunShown, StatePlace
    from firnline.lakehouse.plans import Preview
    from firnline.lakehouse.spark import Spark
    from firnline.lakehouse.storage import Storage
    from firnline.lakehouse.tables import Tables
    from firnline.loop.commits import Commits
    from firnline.loop.ports import Leases, Ledger, RunSummary
    from firnline.loop.registry import Registry
    from firnline.loop.surroundings import Progress, Surroundings
    from firnline.loop.values import Plan, Result
    from firnline.proof.values import Verification

Notify = Callable[[str], AbstractContextManager[None]]


def _silent(_: str) -> AbstractContextManager[None]:
    return nullcontext()


class Lakehouse:
    """An open project. `spark` is a session of the caller's own; without it one is started when needed."""

    def __init__(self, settings: LakehouseSettings, *, spark: Any = None, notify: Notify = _silent) -> None:
        self.settings = settings
        self.given_spark = spark
        self.notify = notify  # told what is taking long: a context manager per piece of work

    @staticmethod
    def open(
        project: str | Path = ".", env: str | None = None, spark: Any = None, notify: Notify = _silent
    ) -> Lakehouse:
        """Open the project in this folder or above it, in one environment."""
        from firnline.lakehouse import stack

        settings = stack.resolved(lakehouse_config.load(Path(project), env, os.environ))
        return Lakehouse(settings, spark=spark, notify=notify)

    def in_catalog(self, name: str) -> Lakehouse:
        """The same lakehouse, looking at one of its other catalogs."""
        if name == self.settings.catalog.name:
            return self
        environment = self.settings.environment
        alone = replace(environment, catalogs={name: environment.catalogs[name]})
        return Lakehouse(replace(self.settings, environment=alone), notify=self.notify)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(self.settings.root)

    @property
    def may_write(self) -> bool:
        """False under `access: read`: nothing is written, not even state."""
        return self.settings.environment.access != "read"

    def require_write(self, what: str) -> None:
        """Refuse an effect in an environment that is for looking."""
        if not self.may_write:
            raise Refused(
                f"{what} writes, and the environment {self.settings.environment.name!r} has access: read.",
                next_step="Choose another environment with --env, or change `access` in lakehouse.yaml.",
            )

    @cached_property
    def connection(self) -> Connection:
        """The catalog, by whichever adapter stands for its type."""
        from firnline.lakehouse.catalogs import Connection

        return Connection(self)

    @property
    def pointers(self) -> Pointers:
        """The listing half of the catalog."""
        return self.connection.pointers

    @cached_property
    def storage(self) -> Storage:
        """Where files are."""
        from firnline.lakehouse.storage import Storage

        return Storage(self.settings.catalog, self.connection.vended)

    @property
    def blobs(self) -> Blobs:
        """Reads metadata files."""
        return self.storage.files

    @property
    def files(self) -> Files:
        """Lists locations, and reads parts of files."""
        return self.storage.files

    @property
    def commits(self) -> Commits:
        """Makes commits, without a JVM where that can be."""
        self.require_write("Committing")
        return self.connection.commits

    @cached_property
    def spark(self) -> Spark:
        """The Spark side; nothing starts before a session is asked for."""
        from firnline.lakehouse.spark import Spark

        return Spark(self.settings, self.notify, given=self.given_spark)

    @cached_property
    def manifests(self) -> Manifests:
        """Reads manifests."""
        from firnline.adapters.iceberg.manifests import IcebergManifests

        return IcebergManifests(self.blobs)

    @cached_property
    def registry(self) -> Registry:
        """Every step kind of every capability."""
        from firnline.lakehouse import steps

        return steps.registry(self)

    @cached_property
    def state(self) -> StatePlace:
        """Where leases and ledger lie; opened when used."""
        from firnline.lakehouse.ledger import StatePlace

        return StatePlace(self.settings, may_write=self.may_write)

    @property
    def leases(self) -> Leases:
        """Who holds what."""
        return self.state.leases

    @property
    def ledger(self) -> Ledger:
        """What was done, append-only."""
        return self.state.ledger

    @cached_property
    def surroundings(self) -> Surroundings:
        """This process: its clock, its name, its patience."""
        from firnline.adapters.local import surroundings

        return surroundings.surroundings()

    def load_plan(self, path: Path) -> Preview:
        """A saved plan, whatever made it, checked to be for this lakehouse, environment and catalog."""
        from firnline.lakehouse import plans

        return plans.load(self, path)

    def save_plan(self, preview: Preview, path: Path) -> None:
        """Write a plan to a file that `load_plan` takes. A refused plan is not saved."""
        from firnline.lakehouse import plans

        plans.save(self, preview, path)

    def apply(self, preview: Preview, *, command: str, on_event: Callable[[Progress], None] | None = None) -> Result:
        """Apply a plan, whatever made it: leased, vetted afresh, recorded."""
        from firnline.lakehouse import plans

        return plans.apply(self, preview, command=command, on_event=on_event)

    def runs(self, limit: int = 20, before: str | None = None) -> tuple[RunSummary, ...]:
        """The newest runs of the ledger."""
        from firnline.lakehouse import ledger

        return ledger.runs(self, limit, before)

    def run(self, name: str) -> RunShown:
        """One run of the ledger, event by event."""
        from firnline.lakehouse import ledger

        return ledger.run(self, name)

    def sql(self, statement: str, *, engine: str = "spark", at: str | None = None, limit: int | None = None) -> Answer:
        """Run one statement on Spark, or a reading one on DuckDB; with `at`, on the tables as they were then."""
        from firnline.lakehouse import sql

        return sql.sql(self, statement, engine=engine, at=at, limit=limit)

    def doctor(self, *, start: bool = False) -> tuple[Check, ...]:
        """Whether everything is here that the work needs; with `start`, whether Spark starts and answers."""
        from firnline.lakehouse import doctor

        return doctor.doctor(self, os.environ, start=start)

    def verify(self, name: str, *, at: str | None = None, readers: Sequence[str] = ()) -> Verification:
        """Let several readers read one snapshot, each on its own, and compare what they saw."""
        from firnline.lakehouse import verify

        return verify.verify(self, name, at=at, readers=readers)

    def plan_json(self, plan: Plan) -> Json:
        """A plan as its file has it."""
        from firnline.loop import plan_file

        return plan_file.to_json(plan, self.registry)

    @cached_property
    def tables(self) -> Tables:
        """Tables as code: plan, apply, adopt, list, show."""
        from firnline.lakehouse.tables import Tables

        return Tables(self)

    @cached_property
    def facts(self) -> Facts:
        """What each table is, from metadata alone."""
        from firnline.lakehouse.facts import Facts

        return Facts(self)

    @cached_property
    def judging(self) -> Judging:
        """What is wrong with each table, why nothing else is, and what to do first."""
        from firnline.lakehouse.judging import Judging

        return Judging(self)

    @cached_property
    def history(self) -> History:
        """Timelines, rollbacks, branches and tags."""
        from firnline.lakehouse.history import History

        return History(self)
