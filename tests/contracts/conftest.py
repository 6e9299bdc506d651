"""The adapters of each port, by name. A new adapter adds a line here and is held to the same suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.state import State, memory_state, open_state
from firnline.loop.ports import Leases, Ledger

OPENERS: dict[str, Callable[[Path], State]] = {
    "sqlite file": lambda folder: open_state(folder / "state.db"),
    "sqlite in memory": lambda _: memory_state(),
}


@pytest.fixture(params=OPENERS)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[State]:
    """An empty state."""
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def leases(state: State) -> Leases:
    """The port `Leases`."""
    return SqliteLeases(state)


@pytest.fixture
def ledger(state: State) -> Ledger:
    """The port `Ledger`."""
    return SqliteLedger(state)
