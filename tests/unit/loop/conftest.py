"""A stage per test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.loop.stage import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A loop on which everything goes well until the script says otherwise."""
    made = Stage()
    yield made
    made.state.close()
