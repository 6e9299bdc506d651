"""Fixtures of the tests that start a JVM. `lake` is a fresh project per test on the one JVM of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sparklake import SparkLake, spark_lake


@pytest.fixture(scope="session")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> SparkLake:
    """One project for the whole run, for tests that only look or that use a namespace of their own."""
    return spark_lake(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def lake(tmp_path: Path) -> SparkLake:
    """A project of the test's own."""
    return spark_lake(tmp_path / "project")
