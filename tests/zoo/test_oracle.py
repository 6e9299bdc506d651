"""Facts of every inhabitant hold against other engines: Spark's and PyIceberg's metadata tables, and Java's planner."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from py4j.protocol import Py4JError
from pyiceberg.exceptions import ValidationError
from pyspark.errors import PySparkException

from tests.zoo import comparing, engines, looking
from tests.zoo.expected import EXPECTED
from tests.zoo.looking import Within
from tests.zoo.oracle import Facts
from tests.zoo.zoo import INHABITANTS, Zoo

pytestmark = pytest.mark.spark

NO_ENTRIES = {name for name, tables in engines.SPARK_CANNOT.items() if tables.keys() & {"data_files", "delete_files"}}
WHOLE = [name for name in INHABITANTS if name not in NO_ENTRIES]
BY_ENGINE = [(engine, name) for engine in engines.ENGINES for name in INHABITANTS]
UNABLE = [
    (engine, name, table)
    for engine, of_engine in engines.CANNOT.items()
    for name, tables in of_engine.items()
    for table in tables
    if (engine, name) not in engines.NOT_ASKED
]
FAILURES = (
    Py4JError, PySparkException, ValidationError, ImportError, LookupError, OSError, TypeError, ValueError,
)  # fmt: skip
# What is true of damaged tables and nobody promises to find out.
LOST = {"manifest_cut_between_blocks": {"partition_count": 3}}

Told = Callable[[str, str], Facts]


@pytest.fixture(scope="module")
def told(zoo: Zoo) -> Told:
    """What an engine's metadata tables say of an inhabitant, asked once."""
    return cache(lambda engine, name: engines.facts(engines.answers(engine, zoo.pen(name), name)))


def wanted(name: str) -> Facts:
    """The expected numbers, those too that facts may only bound."""
    expected = {**EXPECTED[name], **LOST.get(name, {})}
    return {path: each.number if isinstance(each, Within) else each for path, each in expected.items()}


@pytest.mark.parametrize(("engine", "name"), BY_ENGINE)
def test_engines_say_what_was_expected(told: Told, engine: str, name: str) -> None:
    """What an engine's metadata tables say is what was counted by hand: the expectations are right."""
    said, expected = told(engine, name), wanted(name)
    both = said.keys() & expected.keys()
    assert {path: said[path] for path in both} == {path: expected[path] for path in both}


@pytest.mark.parametrize(("engine", "name"), BY_ENGINE)
def test_facts_are_what_engines_say(zoo: Zoo, told: Told, engine: str, name: str) -> None:
    """Every number an engine's metadata tables give is in the facts."""
    found = list(looking.differences(looking.facts_of(zoo.lakehouse, zoo[name]), told(engine, name)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("engine", "name", "table"), UNABLE)
def test_what_engines_cannot_answer_they_still_cannot(zoo: Zoo, engine: str, name: str, table: str) -> None:
    """A metadata table that is left out fails, or says something else than is true. The day it does not, it goes in."""
    try:
        said = engines.facts({table: engines.ENGINES[engine](zoo.pen(name), table)})
    except FAILURES:
        return
    expected = wanted(name)
    assert any(said[path] != expected[path] for path in said.keys() & expected.keys())


@pytest.mark.parametrize("name", WHOLE)
def test_facts_are_what_the_entries_say(zoo: Zoo, name: str) -> None:
    """Sizes, partitions, kinds of deletes, dangling and touched files are as plain loops over the entries find them."""
    pen = zoo.pen(name)
    partitions = "partitions" not in engines.SPARK_CANNOT.get(name, {})
    facts = looking.facts_of(zoo.lakehouse, pen.identifier)
    found = list(comparing.with_oracle(facts, pen, partitions=partitions))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", WHOLE)
def test_slices_are_what_the_jvm_plans(zoo: Zoo, name: str) -> None:
    """Every live file, with the very deletes that Java's scan attaches to it."""
    found = list(comparing.with_plan(zoo.lakehouse, zoo.pen(name)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in {"many_snapshots", "never_written"}])
def test_history_is_what_the_snapshots_hold(zoo: Zoo, name: str) -> None:
    """What is live, in history, held by no ref or by one ref alone is what sets of Spark's files say."""
    found = list(comparing.with_snapshots(zoo.lakehouse, zoo.pen(name)))
    assert not found, "\n".join(found)
