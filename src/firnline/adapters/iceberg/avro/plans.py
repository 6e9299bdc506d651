"""From a writer's schema to the steps that pass over one record, keeping the columns somebody wants.

Columns are found by field id at their place in the record, never by the writer's names. Only where a hand-made file
has no ids, well-known names stand for them. The same plan drives both decoders, `lockstep` and `scalar`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import groupby
from typing import TypeAlias

from firnline.adapters.iceberg.avro.container import Damaged
from firnline.adapters.iceberg.avro.schemas import Array, Atom, Field, Fixed, Record, Type, Union, shown

# A column is known by its field id; one of a metrics map, by the id of the map and the key.
Key: TypeAlias = int | tuple[int, int]
_NUMBERS = frozenset({"int", "long"})
_TEXTS = frozenset({"string", "bytes"})
_FIXED_SIZES = {"boolean": 1, "float": 4, "double": 8}


class Kind(Enum):
    """How a wanted field is kept."""

    NUMBER = auto()
    TEXT = auto()  # where its bytes begin and how many they are
    SPAN = auto()  # as TEXT, of the whole value as it is encoded


@dataclass(frozen=True, slots=True)
class Keyed:
    """Of a metrics map, the values of these keys."""

    keys: frozenset[int]


@dataclass(frozen=True, slots=True)
class Inside:
    """Of a record, these of its fields; `names` stand in for ids a writer left out."""

    fields: Mapping[int, Want]
    names: Mapping[str, int]


Want: TypeAlias = Kind | Keyed | Inside


@dataclass(frozen=True, slots=True)
class Number:
    """A varint."""

    column: Key | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A length and so many bytes."""

    column: Key | None = None


@dataclass(frozen=True, slots=True)
class Bytes:
    """So many bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Steps:
    """One step after the other. None at all: nothing is written."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A number, and the step it stands for."""

    branches: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Runs of items, each led by their count (or its negative, and a size in bytes), up to a count of 0."""

    item: Step
    least: int  # bytes an item takes at least


@dataclass(frozen=True, slots=True)
class Varints:
    """As Items, when an item is nothing but so many varints."""

    each: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """As Items, when an item is a varint key and a value: a number or a text. `columns` keeps the values of keys."""

    texts: bool
    columns: Mapping[int, Key] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """A step whose own bytes are kept."""

    step: Step
    column: Key


@dataclass(frozen=True, slots=True)
class Lists:
    """Optional lists of numbers nobody wants, one behind the other, as the metrics of a file are.

    `lists` has, for each, the number of the branch that is a list, and the varints of an item.
    """

    steps: tuple[Choice, ...]
    lists: tuple[tuple[int, int], ...]


Step: TypeAlias = Number | Text | Bytes | Steps | Choice | Items | Varints | Pairs | Span | Lists
NOTHING = Steps(())


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one record, the columns they fill, and the types of the spans among those."""

    step: Step
    least: int
    numbers: tuple[Key, ...]
    texts: tuple[Key, ...]
    types: Mapping[Key, Type]

    def has(self, column: Key) -> bool:
        """Whether the writer has this column at all."""
        return column in self.numbers or column in self.texts


def plan(schema: Type, want: Inside) -> Plan:
    """How to pass over one record of this schema; Damaged when a wanted field is of a type it cannot have."""
    types: dict[Key, Type] = {}
    step = _step(schema, want, None, types)
    numbers: list[Key] = []
    texts: list[Key] = []
    for column, number in _columns(step):
        found = numbers if number else texts
        if column not in found:
            found.append(column)
    return Plan(step, least(schema), tuple(numbers), tuple(texts), types)


def least(of: Type) -> int:
    """The fewest bytes a value of this type takes."""
    match of:
        case Atom(kind):
            return 0 if kind == "null" else _FIXED_SIZES.get(kind, 1)
        case Fixed(size):
            return size
        case Record(fields):
            return sum(least(inner.type) for inner in fields)
        case Union(branches):
            return 1 + min((least(branch) for branch in branches), default=0)
        case Array():
            return 1


def _step(of: Type, want: Want | None, column: Key | None, types: dict[Key, Type]) -> Step:
    if isinstance(of, Union):
        return Choice(tuple(_branch(branch, want, column, types) for branch in of.branches))
    match want:
        case Kind.SPAN:
            assert column is not None
            if types.setdefault(column, of) != of:
                raise Damaged(f"its field {column} is of several types")
            return Span(_passed_over(of), column)
        case Inside():
            return _record(of, want, column, types)
        case Keyed(keys):
            return _keyed(of, keys, column)
        case Kind.NUMBER | Kind.TEXT:
            if not (isinstance(of, Atom) and of.kind in (_NUMBERS if want is Kind.NUMBER else _TEXTS)):
                raise Damaged(f"its field {column} is of type {shown(of)}")
            return Number(column) if want is Kind.NUMBER else Text(column)
        case None:
            return _passed_over(of)


def _branch(of: Type, want: Want | None, column: Key | None, types: dict[Key, Type]) -> Step:
    return NOTHING if of == Atom("null") else _step(of, want, column, types)


def _record(of: Type, want: Inside, column: Key | None, types: dict[Key, Type]) -> Step:
    if not isinstance(of, Record):
        raise Damaged(f"its field {column} is of type {shown(of)}" if column is not None else "its rows are no records")
    steps = []
    seen: set[int] = set()
    for inner in of.fields:
        field_id = identity(inner, want.names)
        wanted = None if field_id is None else want.fields.get(field_id)
        if wanted is not None and field_id is not None:
            if field_id in seen:
                raise Damaged(f"its schema has the field {field_id} twice")
            seen.add(field_id)
        steps.append(_step(inner.type, wanted, field_id, types))
    return Steps(_neighbours_together(steps))


def _neighbours_together(steps: list[Step]) -> tuple[Step, ...]:
    """The same steps, with lists nobody wants that stand side by side as one."""
    found: list[Step] = []
    for listed, group in groupby(steps, lambda step: _list_of(step) is not None):
        some = list(group)
        lists = [of for of in map(_list_of, some) if of is not None]
        choices = [step for step in some if isinstance(step, Choice)]
        found += [Lists(tuple(choices), tuple(lists))] if listed and len(some) > 1 else some
    return tuple(found)


def _list_of(step: Step) -> tuple[int, int] | None:
    """The branch that is a list of numbers and the numbers of an item, when the step is an optional one."""
    match step:
        case Choice((Steps(()), Varints(each))):
            return 1, each
        case Choice((Varints(each), Steps(()))):
            return 0, each
        case _:
            return None


def identity(of: Field, names: Mapping[str, int]) -> int | None:
    """The id of a field, or what its name stands for when it has none."""
    return names.get(of.name) if of.id is None else of.id


def _keyed(of: Type, keys: frozenset[int], column: Key | None) -> Step:
    step = _passed_over(of)
    assert isinstance(column, int)
    match of:
        case Array(Record((Field(type=Atom(kind)), Field(type=Atom(value))))) if kind in _NUMBERS and (
            value in _NUMBERS or value in _TEXTS
        ):
            return Pairs(value in _TEXTS, {key: (column, key) for key in keys})
        case _:  # some other way to write a map: its metrics stay unknown
            return step


def _passed_over(of: Type) -> Step:
    match of:
        case Atom("null"):
            return NOTHING
        case Atom(kind):
            if kind in _NUMBERS:
                return Number()
            return Text() if kind in _TEXTS else Bytes(_FIXED_SIZES[kind])
        case Fixed(size):
            return Bytes(size)
        case Record(fields):
            return Steps(tuple(_passed_over(inner.type) for inner in fields))
        case Union(branches):
            return Choice(tuple(_passed_over(branch) for branch in branches))
        case Array(items):
            return _items(items)


def _items(items: Type) -> Step:
    item = _passed_over(items)
    match item:
        case Number():
            return Varints(1)
        case Steps(steps) if steps and all(step == Number() for step in steps):
            return Varints(len(steps))
        case Steps((Number(), Text())):
            return Pairs(texts=True)
        case _:
            return Items(item, least(items))


def _columns(step: Step) -> Iterator[tuple[Key, bool]]:
    match step:
        case Number(column) if column is not None:
            yield column, True
        case Text(column) if column is not None:
            yield column, False
        case Span(_, column):
            yield column, False
        case Steps(steps) | Choice(steps):
            for inner in steps:
                yield from _columns(inner)
        case Pairs(texts, columns):
            for column in columns.values():
                yield column, not texts
        case _:
            pass
