"""Catalog, object store and state that fail in every way a server or a line can, while a command writes.

Whatever is said is true: done is done once, not done is not, unknown is settled by the next command; no row is lost
or doubled; no file that a table needs is gone.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from firnline.adapters import outcomes
from firnline.lakehouse.opening import Lakehouse
from tests.faults import cloud_worlds
from tests.faults.cloud_commands import COMMANDS
from tests.faults.cloud_trials import Aim, Series
from tests.faults.cloud_worlds import World
from tests.faults.fault_proxy import KINDS, Fault

pytestmark = pytest.mark.faults

Opener = Callable[[Path], AbstractContextManager[World]]
SEED = int(os.environ.get("FIRNLINE_TEST_SEED", "20261119"))
BRIEF = [
    pytest.param(cloud_worlds.glue, 8, id="glue"),
    pytest.param(cloud_worlds.glue_and_dynamo, 6, id="glue-dynamodb"),
    pytest.param(cloud_worlds.rest, 8, id="rest", marks=pytest.mark.spark),
    pytest.param(cloud_worlds.hive, 6, id="hive", marks=pytest.mark.spark),
]
LONG = [
    pytest.param(cloud_worlds.glue, 150, id="glue"),
    pytest.param(cloud_worlds.glue_and_dynamo, 125, id="glue-dynamodb"),
    pytest.param(cloud_worlds.rest, 150, id="rest", marks=pytest.mark.spark),
    pytest.param(cloud_worlds.hive, 75, id="hive", marks=pytest.mark.spark),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked again is asked again without waiting."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    monkeypatch.setattr("firnline.adapters.aws.s3_store.AGAIN_SECONDS", 0)
    monkeypatch.setattr("firnline.adapters.aws.state_table._PAUSE_FIRST", 0)
    monkeypatch.setattr("firnline.adapters.rest.client._FIRST_PAUSE_SECONDS", 0)


@pytest.mark.parametrize(("opener", "count"), BRIEF)
def test_whatever_fails_what_is_said_is_true(
    opener: Opener, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands under random faults: every outcome is true, and the next command finishes."""
    with _series(opener, tmp_path, monkeypatch) as series:
        series.run(count)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("opener", "count"), LONG)
def test_five_hundred_trials(opener: Opener, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, five hundred times; `pytest -s` shows what they came to."""
    with _series(opener, tmp_path, monkeypatch) as series:
        series.run(count)
    for (kind, result), number in sorted(series.came.items()):
        print(f"{number:5}  {kind:<24}{result}")


def test_a_wrong_outcome_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the test: a committer that takes silence for a no, and deletes what is committed, is caught."""
    command = next(each for each in COMMANDS if each.name == "change")
    lost = next(each for each in KINDS if each.name == "dropped after")
    aim = Aim("glue", writes=True)
    with _series(cloud_worlds.glue, tmp_path, monkeypatch) as series:
        monkeypatch.setattr(outcomes, "unknown", outcomes.refused)
        with pytest.raises(AssertionError, match="a file the table needs is gone"):
            series.one(command, aim, Fault(lost, aim))


@contextmanager
def _series(opener: Opener, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Series]:
    print(f"seed {SEED}")  # shown when a trial fails
    with opener(folder / "project") as world:
        monkeypatch.setattr(Lakehouse, "open", staticmethod(world.open))
        yield Series(world, random.Random(f"{SEED} {opener.__name__}"))
