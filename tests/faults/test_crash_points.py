"""Every point at which a process can die, be interrupted, or be lied to, one after the other, on real files.

A point is one call of a port, one SQL statement, or one call of the operating system that changes something. Each is
struck before and after it did its work; then another process comes and applies the plan again.
"""

from __future__ import annotations

import errno
import itertools
import random
import sqlite3
from collections.abc import Callable, Sequence

import pytest

from firnline.core.errors import Failed
from firnline.core.ids import Identifier
from firnline.loop.ports import EventKind
from tests.faults import world as worlds
from tests.faults.points import Fault, Killed
from tests.faults.world import Machine, Strike, Trial, run_through

pytestmark = pytest.mark.faults
Trials = Callable[[str], Trial]

POINTS_MIN = 2_000  # that CI visits
SINGLE = ("change", "drop", "purge", "create", "rename")
WHEN = ("before", "after")


def _failure(name: str) -> Exception:
    """The error this kind of call fails with."""
    room = name.split(".", 1)[0]
    if room in {"statedb", "catalogdb"}:
        return sqlite3.OperationalError("disk I/O error")
    if room in {"os", "files"}:
        return OSError(errno.EIO, "Input/output error")
    if room in {"commits", "swaps"}:
        return ConnectionError("the reply never came")
    return Failed(f"{name} did not answer.")


STRIKES: dict[str, Strike] = {"killed": Killed, "failing": _failure, "interrupted": KeyboardInterrupt}
IN_CI = [(plan, strike) for strike in STRIKES for plan in (worlds.PLANS if strike == "killed" else SINGLE)]
LONGER = [(plan, strike) for strike in STRIKES for plan in worlds.PLANS if (plan, strike) not in IN_CI]
CASES = [*IN_CI, *(pytest.param(*case, marks=pytest.mark.slow) for case in LONGER)]


def _points(trial: Trial) -> list[str]:
    """Every point of an apply that nothing happens to."""
    fault = Fault()
    trial.again()
    machine, _ = run_through(trial, fault)
    machine.state.close()
    return fault.calls


def _finish(trial: Trial, where: str, others: dict[Identifier, list[str]] | None = None) -> None:
    """Another process applies the plan, and everything is as it is to be."""
    machine = trial.world.start()
    trial.world.apply(machine, trial.plan)
    trial.finished(machine, where, others=others)
    machine.state.close()


@pytest.mark.parametrize(("plan", "strike"), CASES)
def test_every_point(trials: Trials, plan: str, strike: str) -> None:
    """Struck anywhere, each table is as before or as planned, and the next apply finishes, each step done once."""
    trial = trials(plan)
    for at, when in itertools.product(range(len(_points(trial))), WHEN):
        trial.again()
        fault = Fault(at, when, STRIKES[strike])
        machine, _ = run_through(trial, fault)
        assert fault.struck, f"call {at} was never made"
        trial.world.kill(machine)
        trial.whole(fault.struck)
        _finish(trial, fault.struck)


def test_there_are_thousands(trials: Trials) -> None:
    """CI visits at least two thousand points."""
    counts = {plan: len(WHEN) * len(_points(trials(plan))) for plan in worlds.PLANS}
    assert sum(counts[plan] for plan, _ in IN_CI) >= POINTS_MIN, counts


@pytest.mark.parametrize("plan", SINGLE)
def test_two_kills(trials: Trials, plan: str, request: pytest.FixtureRequest) -> None:
    """Killed anywhere, and killed again anywhere while finishing: the third process still finds its way."""
    _two_kills(trials(plan), random.Random(request.node.name).sample)


@pytest.mark.slow
@pytest.mark.parametrize("plan", SINGLE[:3])
def test_two_kills_everywhere(trials: Trials, plan: str) -> None:
    """As above, at every pair of points."""
    _two_kills(trials(plan), lambda pairs, _: pairs)


def _two_kills(trial: Trial, sample: Callable[[list[tuple[int, int]], int], Sequence[tuple[int, int]]]) -> None:
    count = len(_points(trial))
    pairs = list(itertools.product(range(count), range(count + 20)))  # settling makes the second walk longer
    for number, (first, second) in enumerate(sample(pairs, 100)):
        trial.again()
        when = (WHEN[number % 2], WHEN[number // 2 % 2])
        faults = (Fault(first, when[0]), Fault(second, when[1]))
        for fault in faults:
            machine, _ = run_through(trial, fault)
            trial.world.kill(machine)
            trial.whole(f"{[fault.struck for fault in faults]}")
        _finish(trial, f"{[fault.struck for fault in faults]}")


@pytest.mark.parametrize("plan", ["change", "drop", "purge", "rename"])
def test_another_writer_in_between(trials: Trials, plan: str) -> None:
    """A commit of somebody else right before any point is neither lost nor in the way."""
    trial = trials(plan)
    subject = trial.plan.steps[0].body.identifier
    written = 0
    for at, name in enumerate(_points(trial)):
        if name.startswith("catalogdb.") and name != "catalogdb.PRAGMA":
            continue  # the catalog is locked: the other writer waits, and comes at another point
        trial.again()
        fault = Fault()
        wrote: list[bool] = []

        def beside(wrote: list[bool] = wrote) -> None:
            wrote.append(trial.world.write_beside(subject, "other.beside"))

        fault.meanwhile[at] = beside
        machine, _ = run_through(trial, fault)
        others = {subject: ["other.beside"] if wrote == [True] else []}
        trial.finished(machine, f"written beside before {name} (call {at})", others=others)
        machine.state.close()
        written += wrote == [True]
    assert written > len(_points(trial)) / 4, "the other writer hardly ever came"


@pytest.mark.parametrize("when", WHEN)
def test_another_writer_before_the_next_apply(trials: Trials, when: str) -> None:
    """Somebody's commit on top of a killed run's does not hide it: what was done is found and not done again."""
    trial = trials("change")
    for at in range(len(_points(trial))):
        trial.again()
        fault = Fault(at, when)
        machine, _ = run_through(trial, fault)
        trial.world.kill(machine)
        machine = trial.world.start()
        keys = [f"other.{number}" for number in range(3)]
        assert all(trial.world.write_beside(worlds.ORDERS, key) for key in keys)
        trial.world.apply(machine, trial.plan)
        trial.finished(machine, f"{fault.struck}", others={worlds.ORDERS: keys})
        machine.state.close()


@pytest.mark.parametrize("lost_reply", [False, True])
def test_stale_reads(trials: Trials, lost_reply: bool) -> None:
    """A catalog that once answers with what was true before costs a try, never a commit or a second one."""
    trial = trials("change")
    points = _points(trial)
    lies = 0
    for stale_at, at in itertools.product(range(8), [at for at, name in enumerate(points) if name == "pointers.find"]):
        trial.again()
        fault = Fault(points.index("commits.commit"), "after", _failure) if lost_reply else Fault()
        others: list[str] = []

        def beside(others: list[str] = others) -> None:
            assert trial.world.write_beside(worlds.ORDERS, "other.beside")
            others.append("other.beside")

        fault.meanwhile[at] = beside
        machine, _ = run_through(trial, fault, stale_at=stale_at)
        trial.world.kill(machine)
        trial.whole(f"stale at {stale_at}, written beside at {at}")
        lies += _lied(machine)
        _finish(trial, f"stale at {stale_at}, written beside at {at}", {worlds.ORDERS: others})
    assert lies, "no read was ever stale"


def _lied(machine: Machine) -> bool:
    effects = machine.registry.kind("table.change").observe.__closure__
    return any(cell.cell_contents.pointers._target.lied for cell in effects or ())


@pytest.mark.parametrize("plan", SINGLE)
def test_an_interruption_ends_the_run(trials: Trials, plan: str) -> None:
    """Ctrl-C before, while or after anything is tried goes on to the caller, and the ledger says how the run ended."""
    trial = trials(plan)
    for at, when in itertools.product(range(len(_points(trial))), WHEN):
        trial.again()
        fault = Fault(
            at, when, KeyboardInterrupt, watch=lambda name: name.split(".")[0] in {"commits", "pointers", "blobs"}
        )
        machine, result = run_through(trial, fault)
        if fault.struck is None:
            machine.state.close()
            return
        assert result is None, f"{fault.struck}: the interruption was swallowed"
        (end,) = [event for event in machine.ledger.run(trial.plan.run) if event.kind is EventKind.ENDED]
        assert end.body["verdict"] == "interrupted", fault.struck
        trial.world.kill(machine)
