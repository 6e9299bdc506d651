from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.rest import dialects, evolution
from firnline.adapters.rest.dialects import GLUE, PLAIN, S3TABLES, Dialect
from firnline.core.ids import Identifier
from firnline.core.types import Field, ListOf, MapOf, Primitive, Struct, Type, without_ids
from firnline.tables import schemas
from tests.committing import AT, ID, NAME, SCHEMA

TOTAL = {"id": 4, "name": "total", "required": False, "type": "double"}
BASE: dict[str, Any] = {"format-version": 2, "current-schema-id": 0, "schemas": [SCHEMA]}
PROPERTIES = {"action": "set-properties", "updates": {"a": "b"}}


def schema(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"action": "add-schema", "schema": {"type": "struct", "schema-id": 1, "fields": list(fields), **more}}


@pytest.mark.parametrize(
    ("dialect", "name", "possible"),
    [
        (PLAIN, "shop.orders", True), (PLAIN, "a.b.c.orders", True), (PLAIN, "Shop.`Größe 1`", True),
        (GLUE, "shop.orders", True), (GLUE, "shop.Orders", False), (GLUE, "a.b.orders", False),
        (GLUE, "shop.größe-1", True),
        (S3TABLES, "shop.orders_2", True), (S3TABLES, "shop.Orders", False), (S3TABLES, "shop.or-ders", False),
        (S3TABLES, "shop._orders", False), (S3TABLES, "a.b.orders", False),
    ],
)  # fmt: skip
def test_names(dialect: Dialect, name: str, possible: bool) -> None:
    """Names and levels a catalog does not have are told before it is asked."""
    assert (dialects.bad_table(dialect, Identifier.parse(name)) is None) is possible


@pytest.mark.parametrize(
    ("dialect", "purge", "possible"),
    [(PLAIN, True, True), (PLAIN, False, True), (GLUE, True, False), (GLUE, False, True), (S3TABLES, True, True),
     (S3TABLES, False, False)],
)  # fmt: skip
def test_drops(dialect: Dialect, purge: bool, possible: bool) -> None:
    """Glue keeps the files of what it drops, S3 Tables never does."""
    assert (dialects.bad_drop(dialect, purge=purge) is None) is possible


@pytest.mark.parametrize(("dialect", "possible"), [(PLAIN, True), (GLUE, False), (S3TABLES, True)])
def test_renames(dialect: Dialect, possible: bool) -> None:
    """Glue's tables keep their names."""
    assert (dialects.bad_rename(dialect) is None) is possible


@pytest.mark.parametrize(
    ("dialect", "version", "location", "possible"),
    [
        (PLAIN, 1, None, True), (PLAIN, 3, "file:///x", True),
        (GLUE, 2, "s3://b/t", True), (GLUE, 2, "s3a://b/t", False), (GLUE, 2, None, False),
        (S3TABLES, 2, None, True), (S3TABLES, 3, None, True), (S3TABLES, 1, None, False),
        (S3TABLES, 2, "s3://b/t", False),
    ],
)  # fmt: skip
def test_new_tables(dialect: Dialect, version: int, location: str | None, possible: bool) -> None:
    """Where a table may lie, and in which formats, differs."""
    assert (dialects.bad_creation(dialect, version, location) is None) is possible


@pytest.mark.parametrize(
    ("dialect", "update", "size", "possible"),
    [
        (PLAIN, PROPERTIES, 10**9, True),
        (GLUE, PROPERTIES, 20_000_000, True), (GLUE, PROPERTIES, 20_000_001, False),
        (S3TABLES, PROPERTIES, 20_000_001, True), (S3TABLES, PROPERTIES, 50_000_001, False),
        (GLUE, {"action": "remove-snapshots", "snapshot-ids": [1]}, 30_000_000, True),
        (GLUE, {"action": "set-location", "location": "s3a://b/t"}, 0, False),
        (GLUE, {"action": "set-location", "location": "s3://b/t"}, 0, True),
        (S3TABLES, {"action": "set-location", "location": "s3://b/t"}, 0, False),
        (S3TABLES, {"action": "upgrade-format-version", "format-version": 3}, 0, True),
        (S3TABLES, {"action": "upgrade-format-version", "format-version": 4}, 0, False),
        (S3TABLES, schema(ID, NAME, AT, TOTAL), 0, True),
        (S3TABLES, schema({**ID, "required": False}, NAME, AT), 0, True),
        (S3TABLES, schema({**ID, "required": False}, NAME, AT, TOTAL), 0, False),
        (PLAIN, schema({**ID, "required": False}, NAME, AT, TOTAL), 0, True),
    ],
)  # fmt: skip
def test_changes(dialect: Dialect, update: dict[str, Any], size: int, possible: bool) -> None:
    """A change a catalog would refuse is refused here; one that makes metadata smaller never for its size."""
    assert (dialects.bad_change(dialect, (update,), BASE, size) is None) is possible


@pytest.mark.parametrize(
    ("update", "kinds"),
    [
        (schema(ID, NAME, AT), ()),
        (schema(ID, NAME, AT, TOTAL), ("new columns",)),
        (schema(ID, AT), ("dropped columns",)),
        (schema(NAME, ID, AT), ("another order of columns",)),
        (schema(ID, {**NAME, "name": "label"}, AT), ("renamed columns",)),
        (schema(ID, {**NAME, "doc": "who"}, AT), ("other comments",)),
        (schema(ID, {**NAME, "write-default": "?"}, AT), ("other defaults",)),
        (schema({**ID, "type": "double"}, NAME, AT), ("other types",)),
        (schema({**ID, "required": False}, NAME, AT), ("columns required or no longer so",)),
        (schema(ID, NAME, AT, **{"identifier-field-ids": [1]}), ("other identifier fields",)),
        (schema(ID, {**NAME, "name": "label"}, TOTAL), ("dropped columns", "new columns", "renamed columns")),
        (PROPERTIES, ()),
    ],
)
def test_kinds_of_schema_change(update: dict[str, Any], kinds: tuple[str, ...]) -> None:
    """Schemas are compared by field id, and every kind of difference has its name."""
    assert evolution.kinds(BASE, (update,)) == kinds


def test_other_namespace_rules() -> None:
    """S3 Tables keeps the owner of a namespace, and changes nothing of one."""
    assert dialects.bad_namespace_properties(S3TABLES, {"owner": "ann"}) is None
    assert dialects.bad_namespace_properties(S3TABLES, {"owner": "ann", "note": "x"}) is not None
    assert dialects.bad_namespace_properties(GLUE, {"note": "x"}) is None
    assert dialects.bad_namespace_update(S3TABLES) is not None
    assert dialects.bad_namespace_update(GLUE) is None
    assert dialects.bad_namespace(PLAIN, ()) is not None
    assert dialects.bad_namespace(PLAIN, ("a", "")) is not None


LEAVES = st.sampled_from([Primitive("long"), Primitive("string")])


def structs(inside: st.SearchStrategy[Type]) -> st.SearchStrategy[Struct]:
    fields = st.lists(inside, min_size=1, max_size=4)
    return fields.map(lambda types: Struct(tuple(Field(f"f{at}", each) for at, each in enumerate(types))))


TYPES: st.SearchStrategy[Type] = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        structs(inside),
        inside.map(lambda each: ListOf(each, False)),
        st.tuples(inside, inside).map(lambda pair: MapOf(pair[0], pair[1], False)),
    ),
    max_leaves=8,
)


@given(structs(TYPES))
def test_numbers_of_a_new_table(struct: Struct) -> None:
    """The ids a catalog gives a new table are the ids our plans give it, whatever is nested in what."""
    planned = schemas.fresh(struct).struct
    assert evolution.numbered(planned) == planned
    assert evolution.numbered(without_ids(struct)) == planned  # type: ignore[arg-type]
