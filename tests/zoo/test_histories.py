"""Random histories of a table: facts stay those of the oracle, slices stay those of Java's planner."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from firnline.core.ids import Identifier
from tests.zoo import comparing, looking
from tests.zoo.histories import DRAWN, History, Step
from tests.zoo.pen import Pen
from tests.zoo.register import NAMESPACE
from tests.zoo.zoo import Zoo

pytestmark = pytest.mark.spark

_numbers = count()
steps = st.tuples(st.sampled_from(DRAWN), st.integers(0, 5), st.integers(0, 5))
# Most histories begin with rows, for there is little to see without.
histories = st.lists(steps, min_size=4, max_size=9).map(lambda drawn: [("append", 1, 3), *drawn])
# A format version, whether it is partitioned by region, whether position deletes are of one file each.
beginnings = st.tuples(st.sampled_from((1, 2, 2, 3)), st.booleans(), st.booleans())


def live(zoo: Zoo, beginning: tuple[int, bool, bool], taken: Sequence[Step]) -> None:
    """Make a table, go step by step, and compare after each."""
    pen = Pen(zoo.lake, Identifier(NAMESPACE, f"history_{next(_numbers)}"))
    version, region, fine = beginning
    history = History.begin(pen, version, region=region, fine=fine)
    for number, step in enumerate(taken):
        history.take(step)
        facts = looking.facts_of(zoo.lakehouse, pen.identifier)
        found = [*comparing.with_oracle(facts, pen), *comparing.with_plan(zoo.lakehouse, pen)]
        assert not found, "\n".join((f"after step {number}, {step}, of {taken}:", *found))
    found = list(comparing.with_snapshots(zoo.lakehouse, pen))
    assert not found, "\n".join((f"history after {taken}:", *found))
    pen.sql("DROP TABLE {t}")


@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,  # CI sees the same few each time; others are for the slow lane
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # a shrink would run for minutes: a failure names every step it took
)
@given(beginning=beginnings, taken=histories)
def test_a_few_histories(zoo: Zoo, beginning: tuple[int, bool, bool], taken: list[Step]) -> None:
    """Whatever is done to a table, after each step its facts and slices are right."""
    live(zoo, beginning, taken)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(beginning=beginnings, taken=histories)
def test_many_histories(zoo: Zoo, beginning: tuple[int, bool, bool], taken: list[Step]) -> None:
    """As above, many and other ones each time."""
    live(zoo, beginning, taken)
