"""Leases and the ledger of an environment, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.config.values import LakehouseSettings
from firnline.core.errors import BadInput, Missing, Refused
from firnline.core.ids import RunId
from firnline.core.suggest import did_you_mean
from firnline.loop import intents
from firnline.loop.intents import Settled
from firnline.loop.ports import Event, RunSummary
from firnline.loop.records import summarise

if TYPE_CHECKING:
    from firnline.adapters.aws.state_table import StateTable
    from firnline.adapters.local.state import State
    from firnline.lakehouse.opening import Lakehouse
    from firnline.loop.ports import Leases, Ledger

STATE = ".lake/state.db"
TABLE = "firnline"  # of a dynamodb state that does not say
WIRED = ("sqlite", "dynamodb")
RUNS_SUGGESTED = 50


@dataclass(frozen=True, slots=True)
class RunShown:
    """One run, event by event."""

    summary: RunSummary
    events: tuple[Event, ...]


class StatePlace:
    """The state of an environment, opened on first use: for looking, or for work."""

    def __init__(self, settings: LakehouseSettings, *, may_write: bool) -> None:
        self._settings = settings
        self._may_write = may_write
        self._looked: State | None = None

    @property
    def path(self) -> Path | None:
        """The file it is, where it is one."""
        state = self._settings.environment.state
        if state.type not in WIRED:
            raise Missing(
                f"The state is of type {state.type}, which this version of Firnline does not reach yet.",
                why=f"Wired so far: {', '.join(WIRED)}.",
                next_step="Choose another environment with --env.",
            )
        if state.type != "sqlite":
            return None
        return Path(self._settings.root) / state.properties.get("path", STATE)

    @property
    def is_local(self) -> bool:
        """Whether other machines know nothing of it."""
        return self.path is not None

    @cached_property
    def table(self) -> StateTable:
        """The DynamoDB table it is, where it is one. Nothing is asked or made yet."""
        from firnline.adapters.aws.sessions import Sessions
        from firnline.adapters.aws.state_table import StateTable
        from firnline.config import aws

        state = self._settings.environment.state
        return StateTable(Sessions(aws.settings(state.properties, "state")), state.properties.get("table", TABLE))

    def looking(self) -> Ledger:
        """What was done, for looking: nothing is made, nothing is locked. Opened anew each time, for others write
        meanwhile.
        """
        if self.path is None:
            table = self.table
            from firnline.adapters.aws.ledger import DynamoLedger

            return DynamoLedger(table)
        from firnline.adapters.local import state
        from firnline.adapters.local.ledger import SqliteLedger

        if "_file" in self.__dict__:
            return SqliteLedger(self._file)
        if self._looked is not None:
            self._looked.close()
        self._looked = state.look_at_state(self.path)
        return SqliteLedger(self._looked)

    @cached_property
    def leases(self) -> Leases:
        """Who holds what; made when it is not there."""
        if self.is_local:
            from firnline.adapters.local.leases import SqliteLeases

            return SqliteLeases(self._file)
        table = self._made
        from firnline.adapters.aws.leases import DynamoLeases

        return DynamoLeases(table)

    @cached_property
    def ledger(self) -> Ledger:
        """What was done, for adding to it; made when it is not there."""
        if self.is_local:
            from firnline.adapters.local.ledger import SqliteLedger

            return SqliteLedger(self._file)
        table = self._made
        from firnline.adapters.aws.ledger import DynamoLedger

        return DynamoLedger(table)

    @cached_property
    def _file(self) -> State:
        from firnline.adapters.local import state

        self._require_write()
        assert self.path is not None
        if self._settings.catalog.shared:
            raise Refused(
                f"The catalog {self._settings.catalog.name!r} is shared, and leases and ledger are merely local.",
                why="Two machines could work on one table at once and never know of each other.",
                next_step="Look with `access: read`, or give the environment a shared state: "
                "`state: {type: dynamodb, table: firnline}`.",
            )
        return state.open_state(self.path)

    @cached_property
    def _made(self) -> StateTable:
        self._require_write()
        self.table.ensure()
        return self.table

    def _require_write(self) -> None:
        if not self._may_write:
            raise Refused("The environment has access: read; its state is not written.", next_step="Use another --env.")


def runs(lakehouse: Lakehouse, limit: int, before: str | None = None) -> tuple[RunSummary, ...]:
    """The newest runs."""
    return lakehouse.state.looking().runs(limit, None if before is None else RunId(before))


def run(lakehouse: Lakehouse, name: str) -> RunShown:
    """One run, found by its id or the beginning of it."""
    looked = lakehouse.state.looking()
    known = [summary.run for summary in looked.runs(RUNS_SUGGESTED)]
    matching = [known_run for known_run in known if known_run.startswith(name)] or [RunId(name)]
    if RunId(name) in matching:
        matching = [RunId(name)]
    if len(matching) > 1:
        raise BadInput(f"{name!r} begins {len(matching)} runs.", next_step=f"Say which: {', '.join(matching[:5])}.")
    events = looked.run(matching[0])
    if not events:
        raise BadInput(f"The ledger has no run {name!r}.", next_step=did_you_mean(name, known) if known else None)
    return RunShown(summarise(events), events)


def unsettled(lakehouse: Lakehouse, keys: Iterable[str]) -> tuple[Settled, ...]:
    """Where runs were cut off on these lease keys, and what became of it. Looks, and records nothing."""
    looked, now = lakehouse.state.looking(), datetime.now(UTC)
    found: list[Settled] = []
    for key in keys:
        found += intents.settle_open(key, lakehouse.registry, looked, now, by=RunId("look"), record=False)
    return tuple(found)
