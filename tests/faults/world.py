"""A small embedded lakehouse in one folder, a plan of every kind of step for it, and what must hold after any fault."""

from __future__ import annotations

import itertools
import json
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from firnline.adapters.iceberg.commits import PyIcebergCommits
from firnline.adapters.local import store
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.local.catalog import SqliteCatalog
from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.pointers import SqlitePointers
from firnline.adapters.local.state import State, open_state
from firnline.adapters.local.store import LocalStore
from firnline.config.values import Declaration, DeclaredDrop, DeclaredPartition, DeclaredSort, Source
from firnline.core import keys
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier, RunId
from firnline.core.types import Field, ListOf, Primitive, Struct
from firnline.facts import observe
from firnline.loop import records
from firnline.loop.apply import apply
from firnline.loop.commits import CommitRequest
from firnline.loop.registry import Registry
from firnline.loop.surroundings import Surroundings
from firnline.loop.values import OutcomeKind, Plan, Result, Step
from firnline.tables import plan as planning
from firnline.tables import renaming
from firnline.tables import run as steps
from firnline.tables.plan import Known, Setting
from tests.faults.points import Fault, Killed, Probe, ProbedCatalog, ProbedConnection, ProbedOs, StalePointers

CATALOG = "lake"
_SHM = Path("/dev/shm")  # noqa: S108 -- syncing is what these tests wait for; in memory it costs nothing
_SOURCE = Source("tables/t.yaml")
_LONG, _TEXT, _TIME = Primitive("long"), Primitive("string"), Primitive("timestamptz")
_COLUMNS = (Field("id", _LONG, required=True), Field("note", _TEXT), Field("at", _TIME), Field("tags", ListOf(_TEXT)))

ORDERS = Identifier(("shop",), "orders")
OLD = Identifier(("shop",), "old")
BASE = (
    Declaration(ORDERS, _SOURCE, Struct(_COLUMNS), properties={"shade": "blue", "stays": "yes"}),
    Declaration(OLD, _SOURCE, Struct(_COLUMNS[:2])),
)
CHANGED = replace(
    BASE[0],
    schema=Struct((*_COLUMNS[:1], Field("remark", _TEXT), *_COLUMNS[2:], Field("amount", _LONG))),
    was={("remark",): "note"},
    partition=(DeclaredPartition("day", ("at",)),),
    order=(DeclaredSort("identity", ("id",), "asc", "nulls-first"),),
    properties={"shade": "green", "stays": "yes", "new": "1"},
)


@dataclass(frozen=True)
class Renamed:
    """A table to be renamed: no declaration asks for it."""

    identifier: Identifier
    to: Identifier


RENAMED = Renamed(ORDERS, Identifier(("shop",), "sales"))
DROPPED = replace(BASE[1], drop=DeclaredDrop(purge=False, reason="nobody reads it"))
PURGED = replace(BASE[1], drop=DeclaredDrop(purge=True, reason="nobody may read it"))
NEW = tuple(
    Declaration(
        Identifier(("lab",), name), _SOURCE, Struct(_COLUMNS), partition=(DeclaredPartition("bucket[4]", ("id",)),)
    )
    for name in ("first", "second")
)
Wanted = Iterable[Declaration | Renamed]
PLANS: dict[str, tuple[Declaration | Renamed, ...]] = {
    "change": (CHANGED,),
    "drop": (DROPPED,),
    "purge": (PURGED,),
    "create": NEW,
    "rename": (RENAMED,),
    "everything": (CHANGED, PURGED, *NEW),
}


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 19, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class Machine:
    """One process on the lakehouse: its own connections, its own name, its own fault."""

    name: str
    state: State
    leases: Any
    ledger: Any
    registry: Registry
    surroundings: Surroundings
    opened: list[sqlite3.Connection]

    def bury(self) -> None:
        """What the kernel does for a process that is no more."""
        for connection in self.opened:
            connection.close()


@dataclass
class World:
    """The lakehouse. `reset` puts its folder back to the beginning, at the same paths: metadata names its own files."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    dead: set[str] = field(default_factory=set)
    number: itertools.count = field(default_factory=itertools.count)

    @property
    def pointers(self) -> SqlitePointers:
        return SqlitePointers(str(self.root / "catalog.db"), CATALOG)

    def start(
        self,
        fault: Fault | None = None,
        *,
        stale_at: int | None = None,
        drops: Iterable[Declaration] = (DROPPED, PURGED),
    ) -> Machine:
        fault = fault or Fault()
        name = f"here:{next(self.number)}"
        state = open_state(self.root / "state.db")
        opened = [state._connection]
        state._connection = ProbedConnection(state._connection, "statedb", fault)  # type: ignore[assignment]
        inner: Any = self.pointers if stale_at is None else StalePointers(self.pointers, stale_at)
        pointers = Probe(inner, "pointers", fault)
        blobs = Probe(LocalBlobs(), "blobs", fault)
        catalog = Probe(ProbedCatalog(str(self.root / "catalog.db"), CATALOG, fault, opened), "swaps", fault)
        files: Any = Probe(LocalStore(), "files", fault)
        commits = Probe(PyIcebergCommits(pointers, catalog, blobs, files), "commits", fault)
        purges = {one.identifier: one.drop.purge for one in drops if one.drop is not None}
        effects = steps.Effects(pointers, blobs, lambda: commits, purges.get)  # type: ignore[arg-type]
        store.os = ProbedOs(fault)  # type: ignore[assignment]  # put back by the fixture `world`
        chance = itertools.count()
        around = Surroundings(
            now=self.clock.now,
            sleep=self.clock.sleep,
            entropy=lambda size: next(chance).to_bytes(8, "big")[-size:].rjust(size, b"\x00"),
            owner=name,
            gone=lambda owner: owner.rsplit(" ", 1)[-1] in self.dead,
        )
        leases, ledger = SqliteLeases(state), SqliteLedger(state)
        registry = Registry(steps.kinds(effects))
        return Machine(
            name, state, Probe(leases, "leases", fault), Probe(ledger, "ledger", fault), registry, around, opened
        )

    def apply(self, machine: Machine, plan: Plan) -> Result:
        return apply(
            plan, machine.registry, machine.leases, machine.ledger, machine.surroundings, command="firnline apply"
        )

    def kill(self, machine: Machine) -> None:
        self.dead.add(machine.name)
        machine.bury()

    def write_beside(self, identifier: Identifier, key: str) -> bool:
        """Another writer commits a property of its own, whatever we are in the middle of."""
        swaps = SqliteCatalog(str(self.root / "catalog.db"), CATALOG)
        request = CommitRequest((), ({"action": "set-properties", "updates": {key: "kept"}},))
        light = PyIcebergCommits(self.pointers, swaps, LocalBlobs(), LocalStore())
        return light.commit(identifier, request).kind is OutcomeKind.DONE

    def plan(self, wanted: Wanted, run: str) -> Plan:
        known = {}
        renames = [self._rename(one) for one in wanted if isinstance(one, Renamed)]
        declarations = [one for one in wanted if isinstance(one, Declaration)]
        for one in declarations:
            pointer = self.pointers.find(one.identifier)
            meta = observe.at(LocalBlobs(), pointer) if pointer else None
            known[one.identifier] = Known(meta, pointer.kind if pointer else None)
        ids = (uuid.UUID(int=number + 1, version=4) for number in itertools.count())
        setting = Setting(CATALOG, f"file://{self.root}/warehouse", lambda: next(ids), self.pointers.namespaces(), ())
        planned = planning.plan(declarations, known, setting)
        assert not planned.refused, planned.refused
        steps = (*planned.steps, *renames)
        return Plan(RunId(run), "test", "shop", "local", CATALOG, self.clock.now(), steps)

    def _rename(self, one: Renamed) -> Step:
        meta = observe.table(self.pointers, LocalBlobs(), one.identifier)
        assert meta is not None
        return renaming.plan(one.identifier, meta, one.to, {}, catalog=CATALOG, taken=None, homeless=False)

    def metadata(self, identifier: Identifier) -> dict[str, Any] | None:
        """The table's whole metadata; what every commit changes by itself, our marks and the other writer's aside."""
        pointer = self.pointers.find(identifier)
        if pointer is None or pointer.metadata_location is None:
            return None
        data = json.loads(LocalBlobs().read(pointer.metadata_location))
        data["properties"] = {
            key: value for key, value in data["properties"].items() if not key.startswith(("firnline.", "other."))
        }
        return {key: value for key, value in data.items() if key not in {"last-updated-ms", "metadata-log"}}

    def versions(self, identifier: Identifier) -> list[dict[str, str]]:
        """The properties of every metadata version of the table, oldest first."""
        pointer = self.pointers.find(identifier)
        if pointer is None or pointer.metadata_location is None:
            return []
        now = json.loads(LocalBlobs().read(pointer.metadata_location))
        older = [json.loads(LocalBlobs().read(entry["metadata-file"])) for entry in now["metadata-log"]]
        return [version["properties"] for version in (*older, now)]

    def shape(self) -> dict[Any, Any]:
        """Everything a plan can change."""
        tables = {pointer.identifier: self.metadata(pointer.identifier) for pointer in self.pointers.list()}
        return {**tables, **{name: dict(values) for name, values in self.pointers.namespaces().items()}}


@dataclass
class Trial:
    """A plan on the lakehouse as it was made: before, planned, and how to begin again."""

    world: World
    plan: Plan
    before: dict[Any, Any]
    planned: dict[Any, Any]
    saved: Path

    def again(self) -> World:
        shutil.rmtree(self.world.root)
        shutil.copytree(self.saved, self.world.root)
        self.world.clock = Clock()
        self.world.dead = set()
        return self.world

    def whole(self, where: str) -> None:
        """Each table and namespace is as before or as planned, never between."""
        now = self.world.shape()
        for subject in {*self.before, *self.planned, *now}:
            state = now.get(subject)
            assert state in (self.before.get(subject), self.planned.get(subject)), f"{where}: {subject} is {state}"

    def finished(self, machine: Machine, where: str, *, others: dict[Identifier, list[str]] | None = None) -> None:
        """Everything is done exactly once, recorded, and nothing of anybody is lost or left open."""
        others = others or {}
        now = self.world.shape()
        assert now == self.planned, f"{where}: {now} is not {self.planned}"
        done: dict[str, int] = {}
        for number in itertools.count(1):
            run = self.plan.run if number == 1 else RunId(f"{self.plan.run}.{number}")
            events = machine.ledger.run(run)
            if not events:
                break
            for step, outcome in records.step_outcomes(events).items():
                if outcome.kind is OutcomeKind.DONE and "already" not in outcome.facts:
                    done[step] = done.get(step, 0) + 1
        assert done == {step.id: 1 for step in self.plan.steps}, f"{where}: done by these many runs: {done}"
        for step in self.plan.steps:
            assert not machine.ledger.open_intents(step.lease), f"{where}: {step.subject} has an open intent"
            item = machine.leases.look(step.lease)
            assert item is not None, f"{where}: {step.subject} was never leased"
            assert item.owner is None, f"{where}: {step.subject} is still held by {item}"
            if step.kind in {"table.change", "table.create"}:
                self._once(step.body.identifier, step.id, where, others.get(step.body.identifier, []))
            if step.kind == "table.rename":
                self._kept(step.body.to, where, others.get(step.body.identifier, []))

    def _once(self, identifier: Identifier, step: str, where: str, others: list[str]) -> None:
        versions = self.world.versions(identifier)
        marks = [(p.get(keys.RUN, ""), p.get(keys.STEP)) for p in versions]
        ours = {mark for mark in marks if mark[0].startswith(self.plan.run) and mark[1] == step}
        assert len(ours) == 1, f"{where}: {identifier} carries {ours}"
        made = 2 if identifier in self.before else 1
        assert len(versions) == made + len(others), f"{where}: {identifier} has {len(versions)} versions"
        self._kept(identifier, where, others)

    def _kept(self, identifier: Identifier, where: str, others: list[str]) -> None:
        for key in others:
            now = self.world.versions(identifier)[-1]
            assert now.get(key) == "kept", f"{where}: {identifier} lost {key}, another writer's commit"


def folder() -> Path:
    """A new folder, in memory where the machine has that."""
    return Path(tempfile.mkdtemp(prefix="firnline-crash-", dir=_SHM if _SHM.is_dir() else None))


def begin(place: Path, wanted: Wanted) -> Trial:
    """The base tables made, the plan for what is wanted, and what it comes to without any fault."""
    root, saved = place / "lake", place / "saved"
    root.mkdir()
    world = World(root)
    machine = world.start()
    assert records.verdict(world.apply(machine, world.plan(BASE, "base")).steps) is records.Verdict.DONE
    machine.state.close()
    plan = world.plan(tuple(wanted), "trial")
    shutil.copytree(root, saved)
    before = world.shape()
    machine = world.start()
    assert records.verdict(world.apply(machine, plan).steps) is records.Verdict.DONE
    planned = world.shape()
    machine.state.close()
    return Trial(world, plan, before, planned, saved)


def run_through(trial: Trial, fault: Fault, *, stale_at: int | None = None) -> tuple[Machine, Result | None]:
    """One apply under a fault; no result when it was killed, interrupted, or ended by an error of ours."""
    machine = trial.world.start(fault, stale_at=stale_at)
    try:
        return machine, trial.world.apply(machine, trial.plan)
    except (Killed, KeyboardInterrupt, FirnlineError):
        return machine, None


Strike = Callable[[str], BaseException]
