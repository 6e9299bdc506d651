"""A trial: one command, one fault, and then what was said is held against what is true."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from firnline.core import keys
from firnline.core.ids import Identifier, RunId
from firnline.loop import records
from firnline.loop.ports import Event
from firnline.loop.values import OutcomeKind
from firnline.tables.values import NAMESPACE
from tests.faults.cloud_commands import COMMANDS, Command
from tests.faults.cloud_worlds import FAULTY, HEALTHY, Said, Table, World, kept
from tests.faults.fault_proxy import KINDS, Asked, Fault

_NOT_DONE = {OutcomeKind.NOT_DONE.value, OutcomeKind.SKIPPED.value}
_TO_THE_END = None
_EXIT_OF_DONE = 0


@dataclass(frozen=True, slots=True)
class Aim:
    """Which requests a fault is for."""

    service: str
    writes: bool

    def __call__(self, asked: Asked) -> bool:
        """Whether this is one."""
        return asked.service == self.service and asked.writes is self.writes


@dataclass
class Series:
    """Trials on one world, one after the other. `came` counts what the faults came to, by their kinds."""

    world: World
    dice: random.Random
    came: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: dict[tuple[str, Aim], int] = field(default_factory=dict)

    def run(self, count: int) -> None:
        """So many trials in which the fault struck."""
        done = 0
        while done < count:
            done += self.trial()

    def trial(self) -> bool:
        """One trial, drawn; False when nothing was struck."""
        return self.one(*self._drawn())

    def one(self, command: Command, aim: Aim, fault: Fault) -> bool:
        """This trial; False when nothing was struck."""
        trial = Trial(self.world, command)
        trial.begin()
        trial.first = self.world.run(FAULTY, *trial.words(), fault=fault)
        struck = tuple(self.world.trouble.struck)
        self.asked[command.name, aim] = max(1, sum(map(aim, self.world.trouble.seen)))
        times = "everything" if fault.spreads else fault.times or "all"
        where = f"{command.name}; {fault.kind.name}, from request {fault.first}, {times}: {struck}"
        try:
            came = trial.judge()
        except AssertionError as error:
            raise AssertionError(f"{where}\n{trial.first}\n{error}") from error
        trial.clear()
        if struck:
            self.came[fault.kind.name, came] += 1
        return bool(struck)

    def _drawn(self) -> tuple[Command, Aim, Fault]:
        command = self.dice.choice(COMMANDS)
        services = self.services()
        aim = Aim(self.dice.choice(services), writes=self.dice.random() < 0.7)
        first = self.dice.randint(1, self.asked.get((command.name, aim), 1))
        times = self.dice.choice((1, 1, 2, _TO_THE_END))
        spreads = self.dice.random() < 0.3  # an outage: settling, which looks, fails too
        return command, aim, Fault(self.dice.choice(KINDS), aim, first, times, spreads)

    def services(self) -> list[str]:
        """What can be struck: the catalog twice as often as anything else."""
        settings = self.world.healthy.settings
        catalog = {"glue": ["glue"], "rest": ["rest"]}.get(settings.catalog.type, [])
        state = ["dynamodb"] if settings.environment.state.type == "dynamodb" else []
        return [*catalog, *catalog, "s3", *state]


@dataclass
class Trial:
    """A command on a table of its own."""

    world: World
    command: Command
    first: Said = field(init=False)

    def begin(self) -> None:
        """The table, and what is declared."""
        self.world.renew_state()
        self.table: Table | None = None
        if self.command.creates:
            namespace = f"new_{secrets.token_hex(4)}"
            self.identifier, self.base = Identifier((namespace,), "orders"), None
        else:
            self.table = self.world.table()
            self.identifier = self.table.identifier
            self.base = self.world.metadata(self.identifier)
            assert self.base is not None
        self.world.declare(str(self.identifier), self.command.declared)

    def words(self) -> list[str]:
        """What is typed."""
        log = self.base[1]["snapshots"] if self.base else []
        oldest = str(min(log, key=lambda each: int(each["sequence-number"]))["snapshot-id"]) if log else ""
        return [{"TABLE": str(self.identifier), "SNAPSHOT": oldest}.get(word, word) for word in self.command.words]

    def judge(self) -> str:
        """What it came to; AssertionError where anything said is not true, or anything is lost."""
        said, there = self._recorded(), self._there()
        true = {step: self._namespace_there() if kind == NAMESPACE else there for step, kind in self._kinds().items()}
        self._check_word(said, true, there=there)
        self._check_rows(done=there)
        after = self._finish(there=there)
        self._check_settled(self._recorded(), true, after)
        if not said:
            return "nothing tried"
        if OutcomeKind.UNKNOWN.value in said.values():
            return f"unknown, then {'done' if there else 'not done'}"
        return "done" if there else "not done"

    def clear(self) -> None:
        """Leave the catalog as short as it was."""
        self.world.forget(self.identifier)
        self.world.declare(str(self.identifier), None)

    # --------------------------------------------------------------------------------------------------- what is true

    def _recorded(self) -> dict[str, str]:
        """The outcome of each step in the ledger."""
        return {str(step): outcome.kind.value for step, outcome in records.step_outcomes(self._events()).items()}

    def _kinds(self) -> dict[str, str]:
        return {str(event.step): str(event.body["kind"]) for event in self._events() if event.step is not None}

    def _events(self) -> Sequence[Event]:
        return self.world.healthy.ledger.run(RunId(self.first.run)) if self.first.run else ()

    def _there(self) -> bool:
        found = self.world.metadata(self.identifier)
        return self.command.there(None if found is None else found[1])

    def _new(self) -> list[Mapping[str, str]]:
        """The properties of every version since the base."""
        versions = self.world.versions(self.identifier)
        locations = [location for location, _ in versions]
        start = 0 if self.base is None else locations.index(self.base[0]) + 1
        return [properties for _, properties in versions[start:]]

    def _check_word(self, said: Mapping[str, str], true: Mapping[str, bool], *, there: bool) -> None:
        """Done is there, exactly once; not done is not; what was printed is what is in the ledger."""
        for step, kind in self.first.outcomes.items():
            assert said.get(step) == kind, f"printed {self.first.outcomes}, recorded {said}"
        if self.first.code == _EXIT_OF_DONE:
            assert said, "it said that there was nothing to do"
            assert set(said.values()) == {OutcomeKind.DONE.value}, said
        assert said or not there, "nothing is recorded, and it is there"
        for step, outcome in said.items():
            if outcome != OutcomeKind.UNKNOWN.value:
                assert (outcome == OutcomeKind.DONE.value) is true[step], f"step {step} is said to be {outcome}"
        if not self.command.drops:
            assert len(self._new()) == there, f"{len(self._new())} new versions"

    def _namespace_there(self) -> bool:
        return self.identifier.namespace in self.world.healthy.pointers.namespaces()

    def _check_rows(self, *, done: bool) -> None:
        """Every row is there once, and so is every file of a table that was not purged."""
        found = self.world.metadata(self.identifier)
        if self.table is not None and not (self.command.purges and found is None):
            left = kept(self.table.folder)
            assert left.items() >= self.table.files.items(), f"lost {self.table.files.items() - left.items()}"
        if found is None:
            self._check_purge()
            return
        metadata: Any = found[1]
        current = metadata.get("current-snapshot-id")
        if self.base is not None:
            before = {each["snapshot-id"]: each["manifest-list"] for each in self.base[1]["snapshots"]}
            assert {each["snapshot-id"]: each["manifest-list"] for each in metadata["snapshots"]} == before
        rows = [] if current in {None, -1} else self.world.ids(metadata, current)
        assert rows == list(self.command.rows if done else COMMANDS[1].rows), rows

    def _check_purge(self) -> None:
        """No file is said to be deleted that is there."""
        outcomes = records.step_outcomes(self._events()).values()
        said = [outcome.facts["files-left"] for outcome in outcomes if "files-left" in outcome.facts]
        if said and self.table is not None:
            left = kept(self.table.folder).keys() & self.table.files.keys()
            assert len(left) <= said[-1], f"{len(left)} files are left, and {said[-1]} were said to be"

    # -------------------------------------------------------------------------------------------- and what comes then

    def _finish(self, *, there: bool) -> Said:
        """The same once more, over lines that hold."""
        name = str(self.identifier)
        after = self.world.run(HEALTHY, "apply", "--yes", "-t", name)
        assert after.code == _EXIT_OF_DONE, after
        if not there and not self.command.applies:
            again = self.world.run(HEALTHY, *self.words())
            assert again.code == _EXIT_OF_DONE, again
        assert self._there(), f"without a fault it was not done: {after}"
        self._check_rows(done=True)
        looked = self.world.run(HEALTHY, "plan", name, "--expect-empty")
        assert looked.code == _EXIT_OF_DONE, looked
        return after

    def _check_settled(self, settled: Mapping[str, str], true: Mapping[str, bool], after: Said) -> None:
        """What was unknown is known now, and true; nothing was done twice."""
        for step, outcome in settled.items():
            assert outcome != OutcomeKind.UNKNOWN.value, f"step {step} is still unknown after {after}"
            assert (outcome == OutcomeKind.DONE.value) is true[step], f"step {step} was settled as {outcome}"
        if not self.command.drops:
            made = self._new()
            assert len(made) == 1, f"{len(made)} versions for one change"
            assert made[0].get(keys.RUN), "it carries no mark"
