"""Real kill -9: a process of its own applies, dies at a seeded moment, and the next one finds what it left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from firnline.adapters.local import surroundings
from firnline.core.ids import RunId
from firnline.loop.apply import settle_open
from firnline.loop.plan_file import save
from firnline.loop.values import OutcomeKind
from tests.faults import world as worlds
from tests.faults.world import Machine, Trial

pytestmark = pytest.mark.faults

IN_CI = 6
ALL = 30
SEED = 3
# Applies the saved plan like `firnline apply FILE`. With a number it kills itself before or after that call, at a point
# no other process could hit; without, it says when it begins and is killed from outside.
CHILD = """
import os, signal, sys
from pathlib import Path
from firnline.adapters.local.surroundings import surroundings
from firnline.loop.plan_file import load
from tests.faults.points import Fault
from tests.faults.world import World

def die(name):
    os.kill(os.getpid(), signal.SIGKILL)

root, at, when = sys.argv[1:]
world = World(Path(root))
machine = world.start(Fault(int(at), when, die))
machine.surroundings = surroundings()
plan = load(world.root / "plan.json", machine.registry)
print("ready", flush=True)
world.apply(machine, plan)
"""
POINTS = 220  # a few less than the plan has
NEVER = 1_000_000


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    """Every kind of step in one plan, saved to a file in the lakehouse."""
    place = worlds.folder()
    found = worlds.begin(place, worlds.PLANS["everything"])
    machine = found.world.start()
    save(found.saved / "plan.json", found.plan, machine.registry)
    machine.state.close()
    yield found
    shutil.rmtree(place)


def _kills(first: int, last: int) -> list[object]:
    return [pytest.param(number, id=f"kill {number}") for number in range(first, last)]


@pytest.mark.parametrize("number", _kills(0, IN_CI))
def test_kill(trial: Trial, number: int) -> None:
    """After a kill -9 each table is as before or as planned, settling says which, and the next apply finishes."""
    _kill(trial, number)


@pytest.mark.slow
@pytest.mark.parametrize("number", _kills(IN_CI, ALL))
def test_more_kills(trial: Trial, number: int) -> None:
    """As above, at other moments."""
    _kill(trial, number)


def _kill(trial: Trial, number: int) -> None:
    chance = random.Random(f"{SEED} {number}")
    trial.again()
    where = _killed_from_outside(trial, chance) if number % 3 == 2 else _killed_by_itself(trial, chance)
    trial.whole(where)
    machine = _survivor(trial)
    _says_which(trial, machine, where)
    trial.world.apply(machine, trial.plan)
    trial.finished(machine, where)
    machine.state.close()


def _child(trial: Trial, at: int, when: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(trial.world.root), str(at), when]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _killed_by_itself(trial: Trial, chance: random.Random) -> str:
    at, when = chance.randrange(POINTS), chance.choice(("before", "after"))
    with _child(trial, at, when) as process:
        assert process.wait() == -signal.SIGKILL
    return f"killed {when} call {at}"


def _killed_from_outside(trial: Trial, chance: random.Random) -> str:
    delay = chance.uniform(0, 0.06)  # about what the apply takes: later ones find it done, which must hold too
    with _child(trial, NEVER, "before") as process:
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
    return f"killed after {delay:.3f} s"


def _survivor(trial: Trial) -> Machine:
    """Another process, which sees for itself that the first is gone. It needs not wait for a commit to land: all it
    could have sent went through this machine's files.
    """
    machine = trial.world.start()
    machine.surroundings = replace(surroundings.surroundings(), landing_margin=surroundings.timedelta(0))
    return machine


def _says_which(trial: Trial, machine: Machine, where: str) -> None:
    """What settling says without writing, as `firnline plan` does, is what the tables say."""
    now = trial.world.shape()
    for step in trial.plan.steps:
        subject = step.body.namespace if step.kind == "namespace.change" else step.body.identifier
        for settled in settle_open(
            step.lease, machine.registry, machine.ledger, machine.surroundings.now(), by=RunId("look"), record=False
        ):
            expected = trial.planned if settled.outcome.kind is OutcomeKind.DONE else trial.before
            assert settled.outcome.kind is not OutcomeKind.UNKNOWN, f"{where}: {settled}"
            assert now.get(subject) == expected.get(subject), f"{where}: {settled}"
