"""The adapters of each port, by name. A new adapter adds a line here and is held to the same suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.aws.ledger import DynamoLedger
from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.state import State, memory_state, open_state
from firnline.loop.ports import Leases, Ledger
from tests import dynamo

OPENERS: dict[str, Callable[[Path], State]] = {
    "sqlite file": lambda folder: open_state(folder / "state.db"),
    "sqlite in memory": lambda _: memory_state(),
}
STATES = [*OPENERS, "dynamodb"]


@pytest.fixture(params=OPENERS)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    """An empty state of SQLite, for what only SQLite has."""
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=STATES)
def leases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Leases]:
    """The port `Leases`, with nothing in it."""
    if request.param not in OPENERS:
        yield DynamoLeases(dynamo.new_table())
        return
    opened = OPENERS[request.param](tmp_path)
    yield SqliteLeases(opened)
    opened.close()


@pytest.fixture(params=STATES)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """The port `Ledger`, with nothing in it."""
    if request.param not in OPENERS:
        yield DynamoLedger(dynamo.new_table())
        return
    opened = OPENERS[request.param](tmp_path)
    yield SqliteLedger(opened)
    opened.close()
