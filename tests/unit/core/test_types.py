"""The type algebra: text, JSON and shape, there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.config import typetext
from firnline.core import types
from firnline.core.types import Decimal, Field, Fixed, ListOf, MapOf, Opaque, Primitive, Struct, Type
from firnline.tables import schemas
from tests.decisions import draws
from tests.decisions.drafts import struct

NESTED = struct("id: long required", "a: struct<b: list<int>, c: map<string, struct<d: date required>>>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((name, Primitive(name)) for name in types.PRIMITIVES),
        (" Long ", Primitive("long")),
        ("decimal(9,2)", Decimal(9, 2)),
        ("DECIMAL( 38 , 38 )", Decimal(38, 38)),
        ("decimal(1,0)", Decimal(1, 0)),
        ("fixed[16]", Fixed(16)),
        ("fixed( 3 )", Fixed(3)),
        ("geometry", Opaque("geometry(OGC:CRS84)")),
        ("Geometry( EPSG:3857 )", Opaque("geometry(EPSG:3857)")),
        ("geography", Opaque("geography(OGC:CRS84, spherical)")),
        ("geography(OGC:CRS84,vincenty)", Opaque("geography(OGC:CRS84, vincenty)")),
        ("geography(OGC:CRS84, vincenty)", Opaque("geography(OGC:CRS84, vincenty)")),
    ],
)
def test_an_atom_is_read(text: str, expected: Type) -> None:
    """Every type without an inside is read from its text, in any case and with spaces."""
    assert types.parse_atom(text) == expected


@pytest.mark.parametrize(
    "text", ["bigint", "decimal", "decimal(39,2)", "decimal(0,0)", "decimal(2,3)", "fixed[0]", "fixed", "list<int>", ""]
)
def test_what_is_no_atom_is_none(text: str) -> None:
    """A text that is no type of Iceberg, or breaks its bounds, is None."""
    assert types.parse_atom(text) is None


@given(draws.atoms(3))
def test_atoms_survive_text(of: Type) -> None:
    """What `show` writes, `parse_atom` and metadata read as the same type."""
    assert types.parse_atom(types.show(of)) == of
    assert types.from_json(types.to_json(of)) == of


@given(draws.structs(draws.types(3)))
def test_types_survive_json(of: Struct) -> None:
    """Any type with its ids is the same after being written as metadata and read back."""
    with_ids = schemas.fresh(of).struct
    assert types.struct_from_json(types.to_json(with_ids)) == with_ids


_plain = st.recursive(
    draws.atoms(2),
    lambda of: st.one_of(
        st.builds(ListOf, of),
        st.builds(MapOf, of, of),
        st.builds(lambda a, b: Struct((Field("a", a), Field("b", b))), of, of),
    ),
    max_leaves=6,
)


@given(_plain)
def test_shown_types_can_be_typed(of: Type) -> None:
    """What people are shown of a nested type can be written into a table file again."""
    assert typetext.parse(types.show(of)) == (of, False)


def test_defaults_and_words_survive_json() -> None:
    """Docs and defaults of a field are kept, and what is absent is not written."""
    full = Field("qty", Primitive("int"), True, "how many", 3, 0, 1)
    data = types.field_to_json(full)
    assert data == {
        "id": 3,
        "name": "qty",
        "required": True,
        "type": "int",
        "doc": "how many",
        "initial-default": 0,
        "write-default": 1,
    }
    assert types.struct_from_json({"fields": [data]}).fields == (full,)
    assert set(types.field_to_json(Field("x", Primitive("int"), id=1))) == {"id", "name", "required", "type"}


@pytest.mark.parametrize("data", ["interval", "decimal(99,1)", {"type": "union", "of": []}, {"type": None}, {}])
def test_unknown_types_stay_text(data: Any) -> None:
    """A type of a later format is kept as text instead of failing the whole table."""
    found = types.from_json(data)
    assert isinstance(found, Opaque)
    assert found.text == (data if isinstance(data, str) else str(data.get("type")))


def test_walk_gives_parents_first() -> None:
    """Walking a struct gives each path once, a parent before what is in it."""
    paths = [types.show_path(path) for path, _ in types.walk(NESTED)]
    assert paths == [
        "id", "a", "a.b", "a.b.element", "a.c", "a.c.key", "a.c.value", "a.c.value.d"
    ]  # fmt: skip


@given(draws.structs(draws.types(3)))
def test_insides_come_and_go(of: Struct) -> None:
    """`with_children` of a type's own children is the type, and `without_ids` undoes the giving of ids."""
    for _, field in types.walk(of):
        assert types.with_children(field.type, types.children(field.type)) == field.type
    assert types.without_ids(schemas.fresh(of).struct) == of


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (struct("a: long"), None),
        (struct("a: timestamp_ns"), "timestamp_ns"),
        (struct("a: list<map<string, variant>>"), "variant"),
        (Struct((Field("g", Opaque("geometry(OGC:CRS84)")),)), "geometry"),
        (ListOf(Primitive("unknown")), "unknown"),
        (MapOf(Primitive("string"), Primitive("int")), None),
    ],
)
def test_what_needs_format_3_is_found(of: Type, found: str | None) -> None:
    """The first type that older formats do not have is named, however deep it lies."""
    assert types.needs_v3(of) == found


def test_a_path_with_dots_stands_in_backticks() -> None:
    """A part with a dot in it is shown in backticks, so that two paths never look alike."""
    assert types.show_path(("a.b", "c", "")) == "`a.b`.c.``"


@given(st.lists(st.text(min_size=1).filter(lambda text: "`" not in text), min_size=1, max_size=4))
def test_shown_paths_are_told_apart(parts: list[str]) -> None:
    """Two different paths without backticks are shown differently."""
    assert types.show_path(tuple(parts)) != types.show_path((".".join(parts), "x"))


def test_a_struct_finds_its_fields_by_exact_name() -> None:
    """Names of fields are told apart by case."""
    of = struct("Id: long", "id: int")
    assert of.field("id") == Field("id", Primitive("int"))
    assert of.field("ID") is None
