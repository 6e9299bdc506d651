"""Filters: the text of `--where` as a typed tree, its columns known by field id.

    where   = and { OR and }
    and     = not { AND not }
    not     = NOT not | ( where ) | test
    test    = column ( = | != | <> | < | <= | > | >= ) literal
            | column [NOT] IN ( literal { , literal } ) | column [NOT] BETWEEN literal AND literal
            | column [NOT] LIKE string | column IS [NOT] NULL | column IS [NOT] NAN
    column  = name { . name }, odd names in backticks
    literal = number | 'text' | DATE 'text' | TIMESTAMP 'text' | X'hex' | true | false

The tree has no NOT: it is pushed down to the tests, as Iceberg does before it looks at files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean
from firnline.core.types import Field, ListOf, MapOf, Path, Primitive, Struct, Type, show, show_path
from firnline.facts.literals import Token, fault, value
from firnline.facts.meta import Schema
from firnline.facts.single_values import FLOATS, Key, Value, order_key

LENGTH_MAX = 100_000
DEPTH_MAX = 50

Test: TypeAlias = Literal[
    "=", "!=", "<", "<=", ">", ">=", "in", "not in", "starts with", "not starts with",
    "is null", "is not null", "is nan", "is not nan",
]  # fmt: skip

_NEGATED: dict[Test, Test] = {
    "=": "!=", "<": ">=", "<=": ">", "in": "not in", "starts with": "not starts with",
    "is null": "is not null", "is nan": "is not nan",
}  # fmt: skip
_NEGATED |= {after: before for before, after in _NEGATED.items()}
# True of null for Iceberg, and of no null in SQL, where negations have been brought to the tests: so it is said beside.
_NOT_OF_NULL = frozenset({"!=", "not in", "not starts with"})
_COMPARISONS: dict[str, Test] = {
    "=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
_RESERVED = frozenset({"and", "or", "not", "in", "is", "like", "between", "null", "nan", "true", "false"})
_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^`.]+))\s*")
_PATH = re.compile(rf"{_PART.pattern}(?:\.{_PART.pattern})*")
_SPACE = re.compile(r"\s*")
_PIECES = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)"
    r"|(?:(?P<typed>date|timestamp)\s*|(?P<hexed>x))?'(?P<string>(?:[^']|'')*)'"
    r"|`(?P<name>(?:[^`]|``)+)`|(?P<word>[^\W\d]\w*)|(?P<sign><=|>=|<>|!=|[=<>(),.])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column a filter names. `required`: neither it nor a struct around it is ever null."""

    id: int
    path: Path
    type: Type
    required: bool


@dataclass(frozen=True, slots=True)
class Term:
    """One test of one column."""

    column: Column
    test: Test
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class And:
    """Holds where every part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Holds where some part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """Holds everywhere or nowhere. With `reason`, that metadata cannot tell, so everything has to be kept."""

    holds: bool
    reason: str | None = None


Predicate: TypeAlias = And | Or | Term | Given


def parse(text: str, schema: Schema) -> Predicate:
    """The filter, bound to the schema. BadInput says at which column of the text it cannot be read."""
    if len(text) > LENGTH_MAX:
        raise fault(Token("end", "", LENGTH_MAX), f"it is longer than {LENGTH_MAX:,} characters.", _SHORTER)
    return _Reading(tuple(_tokens(text)), schema).whole()


def column(text: str, schema: Schema) -> Column:
    """The column of a path such as `id`, `customer.name` or one with odd names in backticks."""
    if not _PATH.fullmatch(text):
        raise BadInput(f"{text!r} is no path of a column.", next_step="Write names with dots between, odd ones in `…`.")
    parts = (quoted.replace("``", "`") or plain.strip() for quoted, plain in _PART.findall(text))
    return find(tuple(parts), schema)


def find(path: Path, schema: Schema) -> Column:
    """The column at this path, or BadInput with the nearest one there is."""
    inside: Type = schema.struct
    required, field_id = True, None
    for name in path:
        if isinstance(inside, ListOf | MapOf):
            kind = show(inside).split("<", 1)[0]
            raise BadInput(f"Nothing can be asked of {show_path(path)}: it is inside a {kind}.", next_step=_LISTS)
        field = inside.field(name) if isinstance(inside, Struct) else None
        if field is None:
            names = (show_path(known) for known in _reachable(schema.struct.fields, ()))
            near = did_you_mean(show_path(path), names)
            raise BadInput(f"The table has no column {show_path(path)}.", next_step=near)
        inside, required, field_id = field.type, required and field.required, field.id
    if field_id is None:
        raise ValueError(f"{show_path(path)} has no id: only columns of tables can be filtered")
    return Column(field_id, path, inside, required)


def terms(predicate: Predicate) -> Iterator[Term]:
    """Every test in it."""
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from terms(part)
        case Term():
            yield predicate
        case Given():
            return


def columns(predicate: Predicate) -> dict[int, Column]:
    """Every column it names, by field id."""
    return {term.column.id: term.column for term in terms(predicate)}


def reasons(predicate: Predicate) -> Iterator[str]:
    """Why parts of it narrow nothing."""
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from reasons(part)
        case Given(reason=str(reason)):
            yield reason
        case _:
            return


_SHORTER = "Split it, or ask for a range that holds all of it."
_LISTS = "Files keep no bounds for what is inside lists and maps. Leave this part out: it would narrow nothing."


def _tokens(text: str) -> Iterator[Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        found = _PIECES.match(text, at)
        if found is None:
            raise _unreadable(text, at)
        yield _token(found, at)
        at = found.end()
    yield Token("end", "", end)


def _token(found: re.Match[str], start: int) -> Token:
    kind = found.lastgroup or ""
    text = found[kind]
    if kind == "name":
        return Token(kind, text.replace("``", "`"), start)
    if kind == "string":
        kind = "hex" if found["hexed"] else (found["typed"] or kind).lower()
        text = text.replace("''", "'")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise fault(Token(kind, text, start), "this text is no valid UTF-8.")
    return Token(kind, text, start)


def _unreadable(text: str, at: int) -> BadInput:
    piece = Token("word", text[at : at + 10], at)
    match text[at]:
        case "'":
            return fault(piece, "this text has no end.", "Close it with '; a ' inside is written ''.")
        case "`":
            return fault(piece, "this name has no end.", "Close it with `; a ` inside is written ``.")
        case '"':
            return fault(piece, "double quotes mean nothing here.", "Write texts in '…' and odd names in `…`.")
        case _:
            step = "Write tests like: id >= 10 AND country IN ('DE', 'FR')"
            return fault(piece, f"{piece.text!r} cannot be read.", step)


class _Reading:
    """One pass over the tokens of a filter, by recursive descent."""

    def __init__(self, tokens: tuple[Token, ...], schema: Schema) -> None:
        self._tokens = tokens
        self._schema = schema
        self._next = 0
        self._depth = 0

    def whole(self) -> Predicate:
        predicate = self._either(negated=False)
        if self._token.kind != "end":
            raise fault(self._token, f"{self._token.text!r} is more than one filter.", "Join tests with AND or OR.")
        return predicate

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        self._next += token.kind != "end"
        return token

    def _took(self, *words: str) -> bool:
        """Whether these words stand next; then they are passed."""
        ahead = self._tokens[self._next : self._next + len(words)]
        if tuple(token.text.lower() for token in ahead if token.kind in {"word", "sign"}) != words:
            return False
        self._next += len(words)
        return True

    def _expect(self, *words: str) -> None:
        if not self._took(*words):
            raise fault(self._token, f"{' '.join(words).upper()} is missing here.")

    def _either(self, *, negated: bool) -> Predicate:
        parts = [self._every(negated=negated)]
        while self._took("or"):
            parts.append(self._every(negated=negated))
        return _joined(And if negated else Or, parts)

    def _every(self, *, negated: bool) -> Predicate:
        parts = [self._one(negated=negated)]
        while self._took("and"):
            parts.append(self._one(negated=negated))
        return _joined(Or if negated else And, parts)

    def _one(self, *, negated: bool) -> Predicate:
        opening = self._token
        if self._took("not"):
            self._deeper(opening)
            predicate = self._one(negated=not negated)
        elif self._took("("):
            self._deeper(opening)
            predicate = self._either(negated=negated)
            self._expect(")")
        else:
            return self._test(negated=negated)
        self._depth -= 1
        return predicate

    def _deeper(self, token: Token) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise fault(
                token, f"it is nested more than {DEPTH_MAX} deep.", "Take parentheses away that change nothing."
            )

    def _test(self, *, negated: bool) -> Predicate:
        column = self._column()
        sign = self._token
        if sign.kind == "sign" and sign.text in _COMPARISONS:
            self._take()
            return _term(column, _COMPARISONS[sign.text], [self._literal(column)], negated=negated)
        if self._took("is"):
            return self._state(column, negated=negated)
        negated ^= self._took("not")
        if self._took("in"):
            return _term(column, "in", self._literals(column), negated=negated)
        if self._took("between"):
            return self._between(column, negated=negated)
        if self._took("like"):
            return self._like(column, negated=negated)
        step = "After a column comes =, !=, <, <=, >, >=, IN, BETWEEN, LIKE or IS."
        raise fault(self._token, f"{show_path(column.path)} is compared with nothing.", step)

    def _column(self) -> Column:
        first = self._take()
        if first.kind != "name" and (first.kind != "word" or first.text.lower() in _RESERVED):
            found = f"{first.text!r} is none" if first.text else "the filter ends"
            raise fault(first, f"a column is expected and {found}.", "A test begins with a column: id >= 10")
        path = [first.text]
        while self._took("."):
            part = self._take()
            if part.kind not in {"name", "word"}:
                raise fault(part, "a name is missing after the dot.", "A name that is no plain word stands in `…`.")
            path.append(part.text)
        try:
            return find(tuple(path), self._schema)
        except BadInput as error:
            raise fault(first, error.what[0].lower() + error.what[1:], error.next_step) from error

    def _literal(self, column: Column) -> Value:
        token = self._take()
        if token.kind == "word" and token.text.lower() == "null":
            raise fault(token, "nothing is equal to NULL.", "Ask IS NULL or IS NOT NULL.")
        if token.kind == "word" and token.text.lower() == "nan":
            raise fault(token, "nothing is equal to NaN.", "Ask IS NAN or IS NOT NAN.")
        if token.kind == "name" or (token.kind == "word" and token.text.lower() not in _RESERVED):
            raise fault(
                token, f"{token.text!r} is no literal.", "A column is compared with a literal; texts stand in '…'."
            )
        if token.kind in {"end", "sign"}:
            raise fault(token, "a literal is missing here.", f"{show_path(column.path)} has type {show(column.type)}.")
        return value(token, column.type)

    def _literals(self, column: Column) -> list[Value]:
        self._expect("(")
        values = [self._literal(column)]
        while self._took(","):
            values.append(self._literal(column))
        self._expect(")")
        return values

    def _between(self, column: Column, *, negated: bool) -> Predicate:
        low = _term(column, ">=", [self._literal(column)], negated=negated)
        self._expect("and")
        high = _term(column, "<=", [self._literal(column)], negated=negated)
        return _joined(Or if negated else And, [low, high])

    def _state(self, column: Column, *, negated: bool) -> Predicate:
        negated ^= self._took("not")
        token = self._token
        if self._took("null"):
            return _nullness(column, null=not negated)
        self._expect("nan" if token.text.lower() == "nan" else "null")
        if not (isinstance(column.type, Primitive) and column.type.name in FLOATS):
            raise fault(token, f"{show_path(column.path)} has type {show(column.type)}: only floats can be NaN.")
        return _term(column, "is nan", [], negated=negated)

    def _like(self, column: Column, *, negated: bool) -> Predicate:
        token = self._take()
        if column.type != Primitive("string"):
            raise fault(token, f"LIKE is for texts; {show_path(column.path)} has type {show(column.type)}.")
        if token.kind != "string":
            raise fault(token, "a pattern is missing here.", "Write one like 'prefix%'.")
        prefix, wildcard, rest = _first_wildcard(token.text)
        if not wildcard:
            return _term(column, "=", [prefix], negated=negated)
        if wildcard == "%" and not rest:
            return _term(column, "starts with", [prefix], negated=negated)
        return Given(True, f"LIKE {token.text!r} narrows nothing: only patterns like 'prefix%' do")


def _first_wildcard(pattern: str) -> tuple[str, str, str]:
    """What stands before the first wildcard, the wildcard, and what follows. An escape counts as one."""
    found = re.search(r"[%_\\]", pattern)
    return (pattern, "", "") if found is None else (pattern[: found.start()], found[0], pattern[found.end() :])


def _reachable(fields: Iterable[Field], prefix: Path) -> Iterator[Path]:
    for field in fields:
        path = (*prefix, field.name)
        yield path
        if isinstance(field.type, Struct):
            yield from _reachable(field.type.fields, path)


def _nullness(column: Column, *, null: bool) -> Predicate:
    if column.required:
        return Given(not null)
    if column.type == Primitive("unknown"):  # such a column holds nothing but nulls
        return Given(null)
    return Term(column, "is null" if null else "is not null")


def _term(column: Column, test: Test, values: list[Value], *, negated: bool) -> Predicate:
    by_key: dict[Key | None, Value] = {order_key(each, column.type): each for each in values}
    if test == "in" and len(by_key) == 1:
        test = "="
    term = Term(column, _NEGATED[test] if negated else test, tuple(by_key.values()))
    if term.test not in _NOT_OF_NULL:
        return term
    there = _nullness(column, null=False)
    return term if there == Given(holds=True) else And((there, term))


def _joined(how: type[And | Or], parts: list[Predicate]) -> Predicate:
    return parts[0] if len(parts) == 1 else how(tuple(parts))
