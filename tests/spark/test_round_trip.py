"""Declare, apply, adopt, plan, through files and the library: what is declared comes back, and the plan is empty."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.decisions import draws
from tests.spark.projects import Project

pytestmark = pytest.mark.spark
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking on a JVM takes minutes
FORMATS = (1, 2, 3)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One project for every example."""
    return Project(tmp_path_factory.mktemp("round") / "project")


def round_trip(project: Project, version: int, data: st.DataObject) -> None:
    """One declaration, there and back."""
    declaration = project.named(data.draw(draws.declarations(version)))
    project.apply(declaration)
    project.adopt(declaration.identifier)
    before = project.meta(declaration.identifier)
    after = data.draw(draws.evolutions(declaration, version))
    project.apply(after)
    project.adopt(declaration.identifier)
    kept = draws.described(before.schema.struct).values()
    assert {*draws.described(project.meta(declaration.identifier).schema.struct).values()} - {*kept} <= {
        *range(before.last_column_id + 1, project.meta(declaration.identifier).last_column_id + 1)
    }


@pytest.mark.parametrize("version", FORMATS)
@given(data=st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_a_declared_table_comes_back(project: Project, version: int, data: st.DataObject) -> None:
    """A declared table, and a random evolution of it, is applied, adopted, and planned to be as it is."""
    round_trip(project, version, data)


@pytest.mark.slow
@pytest.mark.parametrize("version", FORMATS)
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_many_declared_tables_come_back(project: Project, version: int, data: st.DataObject) -> None:
    """The same, many times."""
    round_trip(project, version, data)
