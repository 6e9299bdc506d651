"""Random evolutions of tables with rows: what Spark wrote before, Spark and DuckDB read after, value by value."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from firnline.config.values import Declaration
from firnline.core.types import Decimal, Field, ListOf, MapOf, Primitive, Struct, Type, children
from tests.decisions import draws
from tests.decisions.drafts import add, declare, partition, rename, retype, sort
from tests.spark.projects import Project, spark_name, values_by_id

pytestmark = pytest.mark.spark
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking on a JVM takes minutes

# What both engines write and read; the others are held by the round trips, which need no rows.
NAMES = ("boolean", "int", "long", "float", "double", "string", "binary", "date", "timestamp", "timestamptz")
ATOMS = st.sampled_from([*map(Primitive, NAMES), Decimal(9, 2), Decimal(20, 0)])
KEY = Field("row key", Primitive("int"), True)
_DAY = dt.datetime(2026, 11, 18, 9, 30, 0, 123456)
_VALUES: dict[str, Any] = {
    "boolean": True,
    "int": 7,
    "long": 2**40,
    "float": 0.5,
    "double": 0.1,
    "string": "é 🦆",
    "binary": b"\x00\xff",
    "date": dt.date(1969, 12, 31),
    "timestamp": _DAY,
    "timestamptz": _DAY.replace(tzinfo=dt.UTC),
}


def value(of: Type, dice: random.Random, *, required: bool) -> Any:
    """Some value of this type, null now and then."""
    if not required and dice.random() < 0.3:
        return None
    match of:
        case Struct():
            return tuple(value(one.type, dice, required=one.required) for one in of.fields)
        case ListOf():
            return [value(of.element, dice, required=of.element_required) for _ in range(dice.randrange(3))]
        case MapOf() if children(of.key):
            return {}  # a dict has no such keys
        case MapOf():  # of one entry at most: engines order entries as they like
            key = value(of.key, dice, required=True)
            return {key: value(of.value, dice, required=of.value_required)} if dice.random() < 0.8 else {}
        case Decimal():
            return decimal.Decimal(dice.randrange(10**of.precision)).scaleb(-of.scale)
        case Primitive():
            return _VALUES[of.name]
        case _:
            raise AssertionError(of)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One project for every example."""
    return Project(tmp_path_factory.mktemp("evolution") / "project")


def insert(project: Project, declaration: Declaration, keys: range) -> None:
    """Rows with these keys, written by Spark."""
    name = spark_name(declaration.identifier)
    project.session.catalog.refreshTable(name)
    schema, dice = project.session.table(name).schema, random.Random(keys.start)
    columns = declaration.schema.fields
    rows = [
        tuple(key if one.name == KEY.name else value(one.type, dice, required=one.required) for one in columns)
        for key in keys
    ]
    project.session.createDataFrame(rows, schema).coalesce(1).writeTo(name).append()


def read(project: Project, declaration: Declaration, by: str) -> dict[int, dict[int, Any]]:
    """Values by row key and field id, as one engine reads them."""
    struct = project.meta(declaration.identifier).schema.struct
    rows = {"spark": project.by_spark, "duckdb": project.by_duckdb}[by](declaration.identifier)
    found = {row[KEY.name]: values_by_id(struct, row) for row in rows}
    assert len(found) == len(rows)
    return found


def same(before: dict[int, dict[int, Any]], after: dict[int, dict[int, Any]]) -> None:
    """Every row of before is there after, with the same values in every column that was kept."""
    assert set(before) <= set(after)
    for key, values in before.items():
        kept = values.keys() & after[key].keys()
        assert {column: after[key][column] for column in kept} == {column: values[column] for column in kept}
        new = after[key].keys() - values.keys()
        assert all(after[key][column] is None for column in new)


def evolve(project: Project, stages: list[Declaration]) -> None:
    """Each stage is applied to a table with rows of every stage before it."""
    project.apply(stages[0])
    for number, (now, after) in enumerate(itertools.pairwise(stages)):
        insert(project, now, range(10 * number, 10 * number + 5))
        before = {by: read(project, now, by) for by in ("spark", "duckdb")}
        assert before["spark"] == before["duckdb"]
        project.apply(after)
        for by, rows in before.items():
            same(rows, read(project, after, by))
    insert(project, stages[-1], range(1000, 1003))
    assert read(project, stages[-1], "spark") == read(project, stages[-1], "duckdb")


def keyed(declaration: Declaration) -> Declaration:
    """With a column that tells rows apart."""
    return replace(declaration, schema=Struct((KEY, *declaration.schema.fields)))


def settled(declaration: Declaration) -> Declaration:
    """The same file a commit later: what was renamed, accepted or removed is done."""
    kept = {key: text for key, text in declaration.properties.items() if text is not None}
    return replace(declaration, was={}, accept=(), properties=kept)


def random_stages(data: st.DataObject, project: Project, version: int) -> list[Declaration]:
    """A declaration and two evolutions of it."""
    first = data.draw(
        draws.declarations(version, ATOMS, ("identity", "bucket[16]", "truncate[4]")).filter(
            lambda one: all(field.name.casefold() != KEY.name for field in one.schema.fields)
        )
    )
    stages = [project.named(replace(first, partition=(), order=()))]
    for _ in range(2):
        plain = settled(stages[-1])
        evolved = data.draw(draws.evolutions(plain, version, ATOMS))
        stages.append(evolved)
    return [keyed(one) for one in stages]


@pytest.mark.parametrize("version", [2, 3])
@given(data=st.data())
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_old_rows_stay_readable(project: Project, version: int, data: st.DataObject) -> None:
    """After random evolutions both engines read every row written before with the values it had."""
    evolve(project, random_stages(data, project, version))


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2, 3])
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
def test_old_rows_stay_readable_many_times(project: Project, version: int, data: st.DataObject) -> None:
    """The same, many times."""
    evolve(project, random_stages(data, project, version))


@pytest.mark.parametrize("version", [pytest.param(1, marks=pytest.mark.slow), 2, 3])
def test_one_table_through_every_kind_of_change(project: Project, version: int) -> None:
    """Renames, wider types, layouts that come and go, and new columns, on rows of every stage."""
    start = project.named(
        declare(
            "row key: int required", "id: int", "price: decimal(9,2)", "at: timestamptz", "region: string",
            "place: struct<city: string, zip: int>", "lines: list<struct<sku: string, qty: int>>",
            format_version=version,
        )
    )  # fmt: skip
    day = (partition("day at"), partition("identity region"))
    wider = retype(retype(start, "id", "long"), "price", "decimal(18,2)")
    renamed = rename(rename(settled(wider), "region", "area"), "place.zip", "post code")
    evolve(
        project,
        [
            start,
            replace(wider, partition=day, order=(sort("identity id"),)),
            replace(renamed, partition=(partition("day at"), partition("identity area")), order=(sort("identity id"),)),
            replace(
                settled(retype(add(renamed, "gift: boolean", 1), "place.post code", "long")),
                partition=(partition("bucket[4] id"),),
            ),
            settled(retype(add(renamed, "gift: boolean"), "place.post code", "long")),
        ],
    )


def test_a_default_is_what_older_rows_read(project: Project) -> None:
    """In format 3 rows from before a column read its initial default, in both engines."""
    start = project.named(declare("row key: int required", format_version=3))
    project.apply(start)
    insert(project, start, range(3))
    more = Field("qty", Primitive("int"), True, None, None, 5, 6)
    after = replace(start, schema=Struct((*start.schema.fields, more)))
    project.apply(after)
    for by in ("spark", "duckdb"):
        assert read(project, after, by) == {key: {1: key, 2: 5} for key in range(3)}
