"""Facts of every inhabitant are what was counted by hand."""

from __future__ import annotations

import pytest

from firnline.facts.values import DeleteKind
from tests.zoo import looking
from tests.zoo.expected import EXPECTED
from tests.zoo.zoo import INHABITANTS, Zoo

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("name", INHABITANTS)
def test_facts_are_what_was_expected(zoo: Zoo, name: str) -> None:
    """Firnline's facts of an inhabitant are the reviewed ones, path by path."""
    facts = looking.facts_of(zoo.lakehouse, zoo[name])
    found = list(looking.differences(facts, EXPECTED[name]))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", INHABITANTS)
def test_a_second_look_says_the_same(zoo: Zoo, name: str) -> None:
    """What was kept between two looks changes no fact."""
    first = looking.facts_of(zoo.lakehouse, zoo[name])
    assert looking.facts_of(zoo.lakehouse, zoo[name]) == first


def test_every_inhabitant_is_expected() -> None:
    """Inhabitants and expectations are the same, and there are dozens."""
    assert EXPECTED.keys() == INHABITANTS.keys()
    assert len(INHABITANTS) > 50


def test_every_kind_of_delete_is_in_the_zoo(zoo: Zoo) -> None:
    """No kind of delete is without a table that has it."""
    names = ("position_deletes_by_file", "position_deletes_by_partition", "upserted", "global_equality_deletes")
    kinds = {
        kind
        for name in (*names, "deletion_vectors")
        for kind, each in looking.facts_of(zoo.lakehouse, zoo[name]).deletes.items()
        if each.files.low
    }
    assert kinds == set(DeleteKind)
