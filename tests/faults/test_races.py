"""Apply while others write: another writer in a process of its own, and a second operator with the same plan."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from firnline.adapters.local import surroundings
from firnline.loop import records
from firnline.loop.ports import EventKind
from firnline.loop.values import Result
from tests.faults import world as worlds
from tests.faults.world import OLD, ORDERS, Machine, Trial

pytestmark = pytest.mark.faults

TRIALS = 200
TWO_OPERATORS = 20
APPLIES_MAX = 20  # of a plan whose every try loses: eight per apply


@pytest.fixture
def trial() -> Iterator[Trial]:
    """A change of one table and the drop of another, to be applied while somebody writes to both."""
    place = worlds.folder()
    yield worlds.begin(place, (worlds.CHANGED, worlds.DROPPED))
    shutil.rmtree(place)


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[str]]:
    """The other writer's process."""
    command = [sys.executable, "-m", "tests.faults.other_writer"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def _hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_racing_writer(trial: Trial, writer: subprocess.Popen[str]) -> None:
    """200 times: no table is ever half applied, and no acknowledged commit of the other writer is ever lost."""
    tries: list[int] = []
    commits = 0
    for number in range(TRIALS):
        world = trial.again()
        stop = world.root.with_name("stop")
        stop.unlink(missing_ok=True)
        _say(writer, str(world.root))
        assert _hear(writer) == "on"
        where = f"trial {number}"
        for _ in range(APPLIES_MAX):
            machine = world.start()
            result = world.apply(machine, trial.plan)
            trial.whole(where)
            tries += [
                event.body["tries"] for event in machine.ledger.run(result.run) if event.kind is EventKind.OUTCOME
            ]
            if records.verdict(result.steps) is records.Verdict.DONE:
                break
            machine.state.close()
        stop.touch()
        written = json.loads(_hear(writer))
        trial.finished(machine, where, others={ORDERS: written[str(ORDERS)]})
        assert world.pointers.find(OLD) is None, where
        machine.state.close()
        commits += len(written[str(ORDERS)])
    assert max(tries) > 1, "no apply ever lost a race: nothing was tested"
    assert commits > TRIALS, "the other writer hardly ever wrote"


def test_two_operators(trial: Trial) -> None:
    """Two that apply one plan at once do every step once between them, and neither fails for it."""
    for number in range(TWO_OPERATORS):
        world = trial.again()
        machines = [_live(world.start()) for _ in range(2)]
        together = threading.Barrier(2)
        results: list[Result] = []

        def go(machine: Machine) -> None:
            together.wait()  # noqa: B023 -- joined within the turn of the loop
            results.append(trial.world.apply(machine, trial.plan))  # noqa: B023 -- joined within the turn of the loop

        threads = [threading.Thread(target=go, args=(machine,)) for machine in machines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [records.verdict(result.steps) for result in results] == [records.Verdict.DONE] * 2, results
        trial.finished(machines[0], f"trial {number}")
        for machine in machines:
            machine.state.close()


def _live(machine: Machine) -> Machine:
    """With this process's clock: a lease of the other is waited for, not slept through."""
    machine.surroundings = replace(
        machine.surroundings, now=surroundings.surroundings().now, sleep=surroundings.time.sleep
    )
    return machine
