"""The zoo, built once per run and table by table as tests ask for them."""

from __future__ import annotations

import pytest

from tests.zoo.zoo import Zoo


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """One project; an inhabitant is made when a test first names it."""
    return Zoo(tmp_path_factory.mktemp("zoo") / "project")
