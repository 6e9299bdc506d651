"""A declaration written as a file reads back the same, whatever its names and words are; editors are told the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firnline.config import schema, tables, write, yaml
from firnline.config.values import (
    Acceptance,
    Declaration,
    DeclaredConsumer,
    DeclaredDrop,
    DeclaredPartition,
    DeclaredRef,
    DeclaredSort,
    Source,
)
from firnline.core.errors import BadFiles, Refused
from firnline.core.ids import Identifier
from firnline.core.types import Decimal, Field, Fixed, ListOf, MapOf, Primitive, Struct, Type
from tests.cli.broken import CASES, LAKEHOUSE, ORDERS

ODD = [
    "on",
    "no",
    "null",
    "1",
    "a b",
    "a.b",
    "x: y",
    "#",
    "ключ",
    "é",
    "`q`",
    "'",
    '"',
    "<<",
    "- a",
    "{a}",
    "name",
    "a\u2028b",
]
NAMES = st.one_of(st.sampled_from(ODD[:-1]), st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True))
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(lambda text: text.strip() != "")
ATOMS = st.one_of(
    st.sampled_from(
        [Primitive(name) for name in ("boolean", "int", "long", "double", "date", "timestamptz", "uuid", "variant")]
    ),
    st.builds(Decimal, st.integers(10, 38), st.integers(0, 10)),
    st.builds(Fixed, st.integers(1, 64)),
)


def structs(inner: st.SearchStrategy[Type], least: int = 0) -> st.SearchStrategy[Struct]:
    """Structs whose fields differ in more than case and whose dotted names do not collide."""
    field = st.builds(Field, NAMES, inner, st.booleans(), st.none() | WORDS)
    lists = st.lists(field, min_size=least, max_size=5, unique_by=lambda one: one.name.casefold())
    return lists.map(lambda fields: Struct(tuple(fields)))


TYPES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(ListOf, inner, st.booleans()), st.builds(MapOf, inner, inner, st.booleans()), structs(inner)
    ),
    max_leaves=8,
)
AGES = st.integers(1, 10**9).map(lambda millis: timedelta(milliseconds=millis))


BRANCHES = st.builds(
    DeclaredRef,
    st.from_regex(r"[a-z]{1,6}", fullmatch=True),
    st.just("branch"),
    st.none(),
    st.none() | AGES,
    st.none() | AGES,
    st.none() | st.integers(1, 9),
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "target-file-size": st.sampled_from(["128MiB", "1.5 GiB", 1048576]),
        "small-files.files": st.integers(0, 2**63 - 1),
        "small-files.share": st.floats(0, 1),
        "orphans": st.sampled_from(["on", "off"]),
        "snapshots.age": st.sampled_from(["7d", "90m"]),
    },
)
CONSUMERS = st.lists(st.builds(DeclaredConsumer, WORDS, st.none() | AGES), max_size=2, unique_by=lambda one: one.id)


@st.composite
def declarations(draw: st.DrawFn) -> Declaration:
    """A declaration of everything a file can say."""
    struct = draw(structs(TYPES, least=1))
    struct = Struct((Field("the_id", Primitive("long"), required=True), *struct.fields))
    name = draw(NAMES.filter(lambda text: not set(text) & set("/\\`") and text.strip(". ")))
    return Declaration(
        identifier=Identifier(("ns", "two.parts"), name),
        source=Source("t.yaml"),
        schema=struct,
        was={(struct.fields[-1].name,): "former"} if len(struct.fields) > 1 and draw(st.booleans()) else {},
        identifier_fields=(("the_id",),) if draw(st.booleans()) else (),
        partition=draw(st.sampled_from([(), (DeclaredPartition("bucket[8]", ("the_id",), draw(st.none() | NAMES)),)])),
        order=draw(st.sampled_from([(), (DeclaredSort("truncate[9]", ("the_id",), "desc", "nulls-first"),)])),
        properties=draw(st.dictionaries(WORDS.map(lambda text: "x." + text), st.none() | WORDS, max_size=3)),
        format_version=3,
        location=draw(st.none() | WORDS),
        refs=tuple(draw(st.lists(BRANCHES, max_size=2, unique_by=lambda one: one.name))),
        policy=draw(POLICIES),
        readers=draw(st.sampled_from([(), ("spark", "duckdb")])),
        subjects=(("the_id",),) if draw(st.booleans()) else (),
        consumers=tuple(draw(CONSUMERS)),
        owner=draw(st.none() | WORDS),
        description=draw(st.none() | WORDS),
        accept=draw(st.sampled_from([(), (Acceptance("drop-column", ("gone.by", "now"), "nobody reads it"),)])),
        drop=draw(st.sampled_from([None, DeclaredDrop(True, "it is not used")])),
    )  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(declarations())
def test_what_is_written_reads_back_the_same(declaration: Declaration) -> None:
    """Written and read, a declaration is what it was, or it is refused because no file can say it."""
    try:
        text = write.declaration(declaration)
    except Refused as error:
        if "no table file can say" in error.what:
            return
        raise
    back, _ = tables.read(text.encode(), "t.yaml")
    assert (back.schema, back.properties, back.refs) == (declaration.schema, declaration.properties, declaration.refs)
    assert back.policy == declaration.policy
    assert write.declaration(back) == text
    jsonschema.validate(plain(yaml.parse(text.encode(), "t.yaml")), schema.table())


def plain(node: yaml.Node) -> Any:
    """The node as plain JSON."""
    match node:
        case yaml.Scalar():
            return node.value
        case yaml.Listing():
            return [plain(item) for item in node.items]
        case yaml.Mapping():
            return {key: plain(entry.node) for key, entry in node.entries.items()}


def test_a_name_no_file_can_say_is_refused() -> None:
    """A control character in a column's name ends in one sentence."""
    odd = Declaration(Identifier(("a",), "b"), Source("t.yaml"), Struct((Field("a\x07", Primitive("int")),)))
    with pytest.raises(Refused, match="control character"):
        write.declaration(odd)


def _data(text: str | bytes) -> Any:
    raw = text.encode() if isinstance(text, str) else text
    return plain(yaml.parse(raw, "f"))


def test_schemas_are_schemas() -> None:
    """Both documents are valid JSON Schema, and take what is right."""
    for document in (schema.table(), schema.lakehouse()):
        jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.validate(_data(ORDERS), schema.table())
    jsonschema.validate(_data(LAKEHOUSE), schema.lakehouse())


SHAPED = [
    case.name
    for case in CASES
    if case.name
    in {
        "an unknown key", "no table name", "no columns", "an unknown reader", "a reason that is none", "misspelt keys",
        "an acceptance of nothing", "an age that is none", "a format that is not", "unknown catalog type",
        "no catalogs", "a list instead of keys",
    }
]  # fmt: skip


@pytest.mark.parametrize("name", SHAPED)
def test_an_editor_sees_what_the_reader_refuses(name: str) -> None:
    """Each mistake of shape is one to the schema as it is to the reader."""
    (case,) = [one for one in CASES if one.name == name]
    file, document = ("tables/t.yaml", schema.table())
    if "lakehouse.yaml" in case.files:
        file, document = "lakehouse.yaml", schema.lakehouse()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(_data(case.files[file]), document)


def test_the_reader_refuses_them_too() -> None:
    """None of the files of shape mistakes about tables can be read."""
    for case in CASES:
        if case.name in SHAPED and "lakehouse.yaml" not in case.files:
            text = case.files["tables/t.yaml"]
            with pytest.raises(BadFiles):
                tables.read(text.encode() if isinstance(text, str) else text, "t.yaml")
