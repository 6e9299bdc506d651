"""What `--where` understands, what it makes of it, and what it says when it does not."""

from __future__ import annotations

import decimal
import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.errors import BadInput
from firnline.core.types import Decimal, Field, Fixed, ListOf, MapOf, Opaque, Primitive, Struct, Type
from firnline.facts.literals import Token, example, value
from firnline.facts.meta import Schema
from firnline.facts.predicates import (
    DEPTH_MAX,
    LENGTH_MAX,
    And,
    Given,
    Or,
    Predicate,
    Term,
    column,
    columns,
    parse,
    reasons,
)

D = decimal.Decimal
T = TypeVar("T")
UID = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
POINT = Struct((Field("x", Primitive("int"), id=21, required=True), Field("tag", Primitive("string"), id=22)))
SCHEMA = Schema(
    0,
    Struct(
        (
            Field("id", Primitive("long"), required=True, id=1),
            Field("n", Primitive("int"), id=2),
            Field("f", Primitive("float"), id=3),
            Field("d", Primitive("double"), id=4),
            Field("price", Decimal(9, 2), id=5),
            Field("day", Primitive("date"), id=6),
            Field("t", Primitive("time"), id=7),
            Field("ts", Primitive("timestamp"), id=8),
            Field("tz", Primitive("timestamptz"), id=9),
            Field("ns", Primitive("timestamptz_ns"), id=10),
            Field("s", Primitive("string"), id=11),
            Field("u", Primitive("uuid"), id=12),
            Field("b", Primitive("binary"), id=13),
            Field("four", Fixed(4), id=14),
            Field("flag", Primitive("boolean"), id=15),
            Field("v", Primitive("variant"), id=16),
            Field("shape", Opaque("geometry"), id=17),
            Field("gone", Primitive("unknown"), id=18),
            Field("date", Primitive("date"), id=19),
            Field("here", POINT, required=True, id=20),
            Field("there", Struct((Field("x", Primitive("int"), required=True, id=24),)), id=23),
            Field("tags", ListOf(Primitive("string"), element_id=26), id=25),
            Field("props", MapOf(Primitive("string"), Primitive("int"), key_id=28, value_id=29), id=27),
            Field("a.b", Primitive("int"), id=30),
            Field("Größe", Primitive("int"), id=31),
            Field("tick`", Primitive("int"), id=32),
            Field("and", Primitive("int"), id=33),
            Field("ns_plain", Primitive("timestamp_ns"), id=34),
        )
    ),
)


def term(text: str) -> Term:
    """The one test that a filter is."""
    found = parse(text, SCHEMA)
    assert isinstance(found, Term)
    return found


def said(predicate: Predicate) -> object:
    """A predicate in short."""
    match predicate:
        case Term(column, test, values):
            return (column.path[-1], test, *values)
        case And(parts):
            return ["and", *map(said, parts)]
        case Or(parts):
            return ["or", *map(said, parts)]
        case Given(holds):
            return holds


UNDERSTOOD: list[tuple[str, object]] = [
    ("id = 5", ("id", "=", 5)),
    ("id=-5", ("id", "=", -5)),
    ("id>+5", ("id", ">", 5)),
    ("id <> 5", ("id", "!=", 5)),
    ("id != 5", ("id", "!=", 5)),
    ("id <= 9223372036854775807", ("id", "<=", 2**63 - 1)),
    ("n IN (3, 1, 3)", ("n", "in", 3, 1)),
    ("n in (3, 3)", ("n", "=", 3)),
    ("n NOT IN (3, 3)", ["and", ("n", "is not null"), ("n", "!=", 3)]),  # null is unequal to nothing, in SQL
    ("n not in (1, 2)", ["and", ("n", "is not null"), ("n", "not in", 1, 2)]),
    ("n BETWEEN 1 AND 3 AND id = 1", ["and", ["and", ("n", ">=", 1), ("n", "<=", 3)], ("id", "=", 1)]),
    ("n NOT BETWEEN 1 AND 3", ["or", ("n", "<", 1), ("n", ">", 3)]),
    ("n IS NULL", ("n", "is null")),
    ("n is not null", ("n", "is not null")),
    ("d IS NAN", ("d", "is nan")),
    ("d IS NOT NAN", ("d", "is not nan")),
    ("s LIKE 'ab%'", ("s", "starts with", "ab")),
    ("s NOT LIKE 'ab%'", ["and", ("s", "is not null"), ("s", "not starts with", "ab")]),
    ("s LIKE 'ab'", ("s", "=", "ab")),
    ("s LIKE 'a_b%'", True),
    ("s LIKE '%b'", True),
    ("s NOT LIKE 'a%b'", True),
    ("NOT s LIKE 'a%b'", True),
    (r"s LIKE 'a\%'", True),
    ("s = 'it''s; --'", ("s", "=", "it's; --")),
    ("s = ''", ("s", "=", "")),
    ("flag = TRUE", ("flag", "=", True)),
    ("f = 0.1", ("f", "=", 0.10000000149011612)),  # the nearest float, as Iceberg compares it
    ("d < -1.5e3", ("d", "<", -1500.0)),
    ("d = .5", ("d", "=", 0.5)),
    ("price >= 12.5", ("price", ">=", D("12.50"))),
    ("price = 125e-1", ("price", "=", D("12.50"))),
    ("price = 0e999999999", ("price", "=", D("0.00"))),
    ("day = DATE '2026-11-18'", ("day", "=", 20775)),
    ("day = '1969-12-31'", ("day", "=", -1)),
    ("date = date'1970-01-02'", ("date", "=", 1)),
    ("t < '09:30'", ("t", "<", 34_200_000_000)),
    ("ts > TIMESTAMP '1970-01-01 00:00:01.5'", ("ts", ">", 1_500_000)),
    ("ts > DATE '1970-01-02'", ("ts", ">", 86_400_000_000)),
    ("tz > '1970-01-01T02:00:00+02:00'", ("tz", ">", 0)),
    ("tz > '1970-01-01T00:00:00'", ("tz", ">", 0)),
    ("tz > '1969-12-31T23:59:59.999999Z'", ("tz", ">", -1)),
    ("ns = '1970-01-01T00:00:00.000000001Z'", ("ns", "=", 1)),
    (f"u = '{UID}'", ("u", "=", UUID(UID))),
    ("b = X'0aFF'", ("b", "=", b"\x0a\xff")),
    ("four = x'00010203'", ("four", "=", b"\x00\x01\x02\x03")),
    ("here.x = 1", ("x", "=", 1)),
    ("`here`.`x` = 1", ("x", "=", 1)),
    ("`a.b` = 1", ("a.b", "=", 1)),
    ("Größe = 1", ("Größe", "=", 1)),
    ("`tick``` = 1", ("tick`", "=", 1)),
    ("`and` = 1 AND n = 1", ["and", ("and", "=", 1), ("n", "=", 1)]),
    ("id = 1 OR n = 2 AND f = 3", ["or", ("id", "=", 1), ["and", ("n", "=", 2), ("f", "=", 3.0)]]),
    ("(id = 1 OR n = 2) AND f = 3", ["and", ["or", ("id", "=", 1), ("n", "=", 2)], ("f", "=", 3.0)]),
    ("NOT (id < 1 AND n >= 2)", ["or", ("id", ">=", 1), ("n", "<", 2)]),
    ("NOT (id = 1 OR NOT n IN (2, 3))", ["and", ("id", "!=", 1), ("n", "in", 2, 3)]),
    ("NOT NOT s LIKE 'a%'", ("s", "starts with", "a")),
    ("NOT d IS NOT NAN", ("d", "is nan")),
    ("NOT (n IS NULL)", ("n", "is not null")),
    ("id IS NULL", False),  # it is required
    ("NOT id IS NULL", True),
    ("here.x IS NOT NULL", True),
    ("here.tag IS NULL", ("tag", "is null")),
    ("there.x IS NULL", ("x", "is null")),  # required in a struct that may be null itself
    ("gone IS NULL", True),
    ("gone IS NOT NULL", False),
    ("tags IS NULL", ("tags", "is null")),
    ("v IS NOT NULL", ("v", "is not null")),
    ("\n id\t=\n 5 ", ("id", "=", 5)),
]


@pytest.mark.parametrize(("text", "meaning"), UNDERSTOOD)
def test_a_filter_is_understood(text: str, meaning: object) -> None:
    """Each form of the grammar becomes the tree it says, with values of the column's type."""
    assert said(parse(text, SCHEMA)) == meaning


# Text, the column of it that is named, and a part of what is said.
COMPLAINTS: list[tuple[str, int, str]] = [
    ("", 1, "a column is expected and the filter ends"),
    ("   ", 1, "a column is expected"),
    ("id", 3, "compared with nothing"),
    ("id =", 5, "a literal is missing here"),
    ("id = 5 n = 3", 8, "'n' is more than one filter"),
    ("id = 5)", 7, "')' is more than one filter"),
    ("(id = 5", 8, ") is missing here"),
    ("id IN 5", 7, "( is missing here"),
    ("id IN ()", 8, "a literal is missing here"),
    ("id IN (1 2)", 10, ") is missing here"),
    ("id BETWEEN 1, 2", 13, "AND is missing here"),
    ("id IS 5", 7, "NULL is missing here"),
    ("id = 'abc'", 6, "'abc' is no long"),
    ("id = 5.0", 6, "it is no whole number"),
    ("n = 3000000000", 5, "it is out of range"),
    (f"id = {'9' * 101}", 6, "at most 100 digits"),
    ("id = 12abc", 6, "'12abc' cannot be read"),
    ("d = 1e999", 5, "it is out of range"),
    ("f = 1e300", 5, "is no float"),
    ("price = 1.234", 9, "more than 2 digits behind the point"),
    ("price = 1e7", 9, "it is out of range"),
    ("price = 1e999999999", 9, "it is out of range"),
    ("price = 1e-999999999", 9, "it is out of range"),
    ("day = DATE '2026-02-30'", 7, "'2026-02-30' is no date: day is out of range"),
    ("day = '20261118'", 7, "is no date"),
    ("day = 20775", 7, "is no date"),
    ("day = TIMESTAMP '2026-11-18T00:00:00'", 7, "is no date"),
    ("t = '24:00'", 5, "a day has no such time"),
    ("ts = '2026-11-18T09:30:00Z'", 6, "the column has no time zone"),
    ("ts = '2026-11-18T09:30:00.0000001'", 6, "keeps 6 digits of a second"),
    ("tz = '2026-11-18T09:30:00+19:00'", 6, "there is no such time zone"),
    ("ns = '2300-01-01T00:00:00Z'", 6, "it is out of range"),
    ("u = 'f79c3e09'", 5, "is no uuid"),
    ("b = 'text'", 5, "'text' is no binary"),
    ("b = X'0'", 5, "is no binary"),
    ("four = X'00'", 8, "is no fixed[4]: it has 1 bytes"),
    ("flag = 1", 8, "1 is no boolean"),
    ("flag = and", 8, "and is no boolean"),
    ("s = 5", 5, "5 is no string"),
    ("s = DATE '2026-11-18'", 5, "is no string"),
    ('s = "x"', 5, "double quotes mean nothing here"),
    ("s = 'x", 5, "this text has no end"),
    ("`x = 1", 1, "this name has no end"),
    ("s LIKE 5", 8, "a pattern is missing here"),
    ("n LIKE 'a%'", 8, "LIKE is for texts; n has type int"),
    ("n IS NAN", 6, "n has type int: only floats can be NaN"),
    ("n = NULL", 5, "nothing is equal to NULL"),
    ("d = NaN", 5, "nothing is equal to NaN"),
    ("n = id", 5, "'id' is no literal"),
    ("n = `id`", 5, "'id' is no literal"),
    ("5 < n", 1, "a column is expected and '5' is none"),
    ("and = 1", 1, "a column is expected and 'and' is none"),
    ("n NOT 5", 7, "compared with nothing"),
    ("ids = 1", 1, "the table has no column ids"),
    ("ID = 1", 1, "the table has no column ID"),
    ("n = 1 AND here.y = 1", 11, "the table has no column here.y"),
    ("id.x = 1", 1, "the table has no column id.x"),
    ("a.b = 1", 1, "the table has no column a.b"),
    ("here. = 1", 7, "a name is missing after the dot"),
    ("tags.element = 'x'", 1, "asked of tags.element: it is inside a list"),
    ("props.key = 'x'", 1, "asked of props.key: it is inside a map"),
    ("here = 1", 8, "cannot be compared"),
    ("tags = 'x'", 8, "cannot be compared"),
    ("v = 1", 5, "values of variant cannot be compared"),
    ("shape = 1", 9, "values of geometry cannot be compared"),
    ("gone = 1", 8, "values of unknown cannot be compared"),
    ("n = 1; DROP TABLE x", 6, "'; DROP TAB' cannot be read"),
    ("f(n) = 1", 2, "f is compared with nothing"),
    ("s = '\udc80'", 5, "no valid UTF-8"),
    ("n % 2 = 0", 3, "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "problem"), COMPLAINTS)
def test_what_is_not_understood_is_named(text: str, at: int, problem: str) -> None:
    """A filter that cannot be read says at which column of the text, and why."""
    with pytest.raises(BadInput) as caught:
        parse(text, SCHEMA)
    assert caught.value.what.startswith(f"The filter, column {at}: ")
    assert problem in caught.value.what


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("day = 5", "DATE '2026-11-18'"),
        ("price = 'x'", "1.25"),
        ("u = 5", UID),
        ("here.tog = 'x'", "here.tag"),
        ("a.b = 1", "`a.b`"),
        ("n = NULL", "IS NULL"),
        ("tags.element = 'x'", "no bounds for what is inside lists and maps"),
    ],
)
def test_a_complaint_has_a_next_step(text: str, step: str) -> None:
    """Each complaint says what to write instead: an example of the type, or the nearest column."""
    with pytest.raises(BadInput) as caught:
        parse(text, SCHEMA)
    assert caught.value.next_step is not None
    assert step in caught.value.next_step


COMPARED = [field for field in SCHEMA.struct.fields if example(field.type) is not None]


@pytest.mark.parametrize("field", COMPARED, ids=[field.name for field in COMPARED])
def test_the_example_of_a_type_is_one(field: Field) -> None:
    """What a complaint shows as an example can be read."""
    assert parse(f"`{field.name.replace('`', '``')}` = {example(field.type)}", SCHEMA)


def test_a_column_knows_where_it_is() -> None:
    """A test carries the field id, the path and the type of its column, and whether it can be null."""
    found = term("here.x = 1").column
    assert (found.id, found.path, found.type, found.required) == (21, ("here", "x"), Primitive("int"), True)
    assert not term("there.x = 1").column.required
    assert set(columns(parse("id = 1 AND (n = 2 OR NOT id > 3)", SCHEMA))) == {1, 2}


@pytest.mark.parametrize(
    ("text", "field_id"),
    [
        ("id", 1),
        (" here.x ", 21),
        ("`here`.tag", 22),
        ("`a.b`", 30),
        ("Größe", 31),
        ("`tick```", 32),
        ("and", 33),
        ("tags", 25),
    ],
)
def test_a_path_names_a_column(text: str, field_id: int) -> None:
    """A path by itself is a column; words that mean something in a filter mean nothing here."""
    assert column(text, SCHEMA).id == field_id


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no path"), ("a..b", "no path"), ("`a", "no path"), ("ids", "no column ids"), ("props.key", "inside a map")],
)
def test_a_path_that_names_none_is_refused(text: str, problem: str) -> None:
    """What is no path, or names nothing that can be read by itself, is bad input with a next step."""
    with pytest.raises(BadInput, match=problem) as caught:
        column(text, SCHEMA)
    assert caught.value.next_step


def test_what_narrows_nothing_says_why() -> None:
    """A pattern that no bounds can be held against is kept as a reason for people."""
    assert "'%x'" in next(reasons(parse("n = 1 AND s LIKE '%x'", SCHEMA)))
    assert not list(reasons(parse("n = 1", SCHEMA)))


@pytest.mark.parametrize("opening", ["(", "NOT ", "NOT ("])
def test_depth_is_bounded(opening: str) -> None:
    """Nesting is refused beyond a bound, long before Python's own."""
    within = DEPTH_MAX // (("(" in opening) + ("NOT" in opening))
    closing = ")" if "(" in opening else ""
    assert parse(opening * within + "n = 1" + closing * within, SCHEMA)
    with pytest.raises(BadInput, match="nested more than"):
        parse(opening * (DEPTH_MAX + 1) + "n = 1" + closing * (DEPTH_MAX + 1), SCHEMA)


def test_length_is_bounded() -> None:
    """A filter beyond the bound is refused unread; one up to it is read in the time of one pass."""
    with pytest.raises(BadInput, match="longer than 100,000 characters"):
        parse("x" * (LENGTH_MAX + 1), SCHEMA)
    numbers = ",".join(str(number) for number in range(15_000))
    before = time.process_time()
    assert len(term(f"id IN ({numbers})").values) == 15_000
    parse(" OR ".join(["n = 1"] * 10_000), SCHEMA)
    assert time.process_time() - before < 5


@given(st.text(st.sampled_from("(),.='`\"x%\\ 019-+eE<>!nidNOTANDORINLIKEBETWEENISNULLdate"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever is typed becomes a tree or a named complaint, nothing else."""
    found = _tried(lambda: parse(text, SCHEMA))
    assert not isinstance(found, BadInput) or found.what.startswith("The filter, column ")


def _tried(read: Callable[[], T]) -> T | BadInput:
    try:
        return read()
    except BadInput as error:
        return error


LITERALS: list[tuple[Type, st.SearchStrategy[str]]] = [
    (of, st.text(st.sampled_from("0123456789-+:. TZe'\u0661"), max_size=35))
    for of in (Primitive("date"), Primitive("time"), Primitive("timestamptz_ns"), Decimal(38, 5), Primitive("long"))
]


@given(st.data(), st.sampled_from(LITERALS), st.sampled_from(["string", "number", "date", "timestamp", "hex", "word"]))
def test_any_literal_is_a_value_or_refused(
    data: st.DataObject, drawn: tuple[Type, st.SearchStrategy[str]], kind: str
) -> None:
    """A literal of any kind is a value of the type or a complaint that shows one."""
    of, written = drawn
    token = Token(kind, data.draw(written), 0)
    found = _tried(lambda: value(token, of))
    assert isinstance(found, int | D) or (isinstance(found, BadInput) and found.next_step)
