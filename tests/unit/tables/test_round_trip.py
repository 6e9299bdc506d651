"""Declare, apply, adopt, compare: any table comes back as it was declared, any evolution arrives. No YAML, no JVM."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from firnline.config.values import Declaration, Source
from firnline.core.ids import Identifier
from firnline.core.types import Field, Primitive, Struct
from firnline.facts import meta as metadata
from firnline.facts.meta import TableMeta
from firnline.loop.commits import CommitRequest
from firnline.tables import adopt
from firnline.tables import plan as planning
from firnline.tables.difference import compare
from firnline.tables.plan import Known, Setting
from firnline.tables.values import Evidence
from tests.committing import Shelf, assert_done
from tests.decisions import draws
from tests.decisions.drafts import declare, partition, sort

FORMATS = (1, 2)  # those of the committer without a JVM
examples = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """One catalog for all tables of this file."""
    made = Shelf(tmp_path_factory.mktemp("shelf"))
    assert_done(made.light.create_namespace(("shop",), {}))
    return made


NUMBERS = itertools.count()


def named(declaration: Declaration) -> Declaration:
    """The declaration under a name nobody has."""
    return replace(declaration, identifier=Identifier(("shop",), f"t{next(NUMBERS)}"))


def commit(shelf: Shelf, identifier: Identifier, request: CommitRequest) -> TableMeta:
    """The table after the request."""
    assert_done(shelf.light.commit(identifier, request))
    return metadata.parse(Path(shelf.location(identifier).removeprefix("file://")).read_bytes(), "the metadata file")


def made(shelf: Shelf, declaration: Declaration) -> TableMeta:
    """The declared table, made."""
    setting = Setting("lake", shelf.warehouse, uuid4, {("shop",): {}}, ())
    planned = planning.plan([declaration], {declaration.identifier: Known(None, None)}, setting)
    (step,) = planned.steps
    return commit(shelf, declaration.identifier, step.body.request)


def comes_back(shelf: Shelf, declaration: Declaration) -> TableMeta:
    """Make the table and adopt it: neither the declaration nor the adopted one differs from it."""
    meta = made(shelf, declaration)
    adopted = adopt.declaration(declaration.identifier, meta)
    for each in (declaration, adopted):
        assert compare(each, meta, Evidence()).changes == ()
    assert adopted.schema == declaration.schema
    assert [(part.transform, part.column) for part in adopted.partition] == [
        (part.transform, part.column) for part in declaration.partition
    ]
    assert adopted.order == declaration.order
    assert set(adopted.identifier_fields) == set(declaration.identifier_fields)
    assert (adopted.owner, adopted.description) == (declaration.owner, declaration.description)
    assert dict(adopted.properties) == dict(declaration.properties)
    return meta


@pytest.mark.parametrize("version", FORMATS)
@given(data=st.data())
@examples
def test_a_declared_table_comes_back(shelf: Shelf, version: int, data: st.DataObject) -> None:
    """Declaration → request → table → adopted declaration → no changes, for whatever may be declared."""
    comes_back(shelf, named(data.draw(draws.declarations(version))))


@pytest.mark.parametrize("version", FORMATS)
@given(data=st.data())
@examples
def test_an_evolution_arrives(shelf: Shelf, version: int, data: st.DataObject) -> None:
    """Any acceptable evolution is one request, after it nothing differs, and every kept field has the id it had."""
    before = named(data.draw(draws.declarations(version)))
    meta = made(shelf, before)
    for _ in range(2):
        after = data.draw(draws.evolutions(before, version))
        difference = compare(after, meta, Evidence())
        note(f"{difference.changes}")
        assert difference.refused == ()
        old = draws.described(meta.schema.struct)
        if difference.request is not None:
            meta = commit(shelf, after.identifier, difference.request)
        assert compare(after, meta, Evidence()).changes == ()
        new = draws.described(meta.schema.struct)
        renamed = {path for path in new if path.endswith((" 2", " 2`"))}
        assert {path: new[path] for path in new if path in old and path not in renamed} == {
            path: old[path] for path in new if path in old and path not in renamed
        }
        assert all(field_id <= max(old.values()) or field_id not in old.values() for field_id in new.values())
        assert compare(adopt.declaration(after.identifier, meta), meta, Evidence()).changes == ()
        before = replace(
            after, was={}, accept=(), properties={k: v for k, v in after.properties.items() if v is not None}
        )


WIDE = Struct(
    tuple(Field(f"Spalte {number} ä.{number}", Primitive("long"), doc=f"no. {number}") for number in range(300))
)
RESERVED = Struct(tuple(Field(name, Primitive("string")) for name in draws.ODD_NAMES if "." not in name))


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("struct", [WIDE, RESERVED], ids=["300 columns", "odd names"])
def test_wide_and_odd_tables_come_back(shelf: Shelf, version: int, struct: Struct) -> None:
    """300 columns with dots in their names, and names no engine would choose, come back and evolve by a column."""
    declaration = named(Declaration(Identifier(("shop",), "wide"), Source("wide.yaml"), struct, format_version=version))
    meta = comes_back(shelf, declaration)
    more = replace(declaration, schema=Struct((*struct.fields, Field("one more", Primitive("int")))))
    request = compare(more, meta, Evidence()).request
    assert request is not None
    after = commit(shelf, declaration.identifier, request)
    assert compare(more, after, Evidence()).changes == ()
    assert after.last_column_id == len(struct.fields) + 1


@pytest.mark.parametrize("version", FORMATS)
def test_layouts_go_there_and_back(shelf: Shelf, version: int) -> None:
    """Partitions and orders that come, change, go and come again reuse specs and orders and never differ afterwards."""
    plain = named(declare("id: long", "at: date", format_version=version))
    day, both = (partition("day at"),), (partition("day at"), partition("bucket[8] id"))
    stages = [
        replace(plain, partition=day, order=(sort("identity id"),)),
        replace(plain, partition=both, order=(sort("identity id", "desc"),)),
        plain,
        replace(plain, partition=both),
        replace(plain, partition=day, order=(sort("identity id"),)),
    ]
    meta = made(shelf, plain)
    for stage in stages:
        request = compare(stage, meta, Evidence()).request
        assert request is not None
        meta = commit(shelf, plain.identifier, request)
        assert compare(stage, meta, Evidence()).changes == ()
        adopted = adopt.declaration(plain.identifier, meta)
        assert [part.column for part in adopted.partition] == [part.column for part in stage.partition]
    assert len(meta.orders) == 3  # unsorted, ascending, descending: the last stage took the second again
    ids = {(field.source_ids, field.transform): field.field_id for field in meta.spec.fields}
    # Format 1 numbers without gaps and never takes a void field back, as Iceberg's own builder does not.
    assert ids[((2,), "day")] == (1002 if version == 1 else 1000)
    assert [field.transform for field in meta.spec.fields] == (
        ["void", "void", "day", "void"] if version == 1 else ["day"]
    )
