"""What a key may hold, as values: one description from which files are read *and* the JSON schemas are made.

A shape says what is allowed; `reading` holds a node against it; `schema` prints it for editors. Because both start from
the same tables they cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from firnline.config.amounts import Unit
from firnline.config.yaml import Node


@dataclass(frozen=True, slots=True)
class Text:
    """A string. `choices` closes the set; `what` names it in messages."""

    what: str = "text"
    choices: tuple[str, ...] = ()
    length_min: int = 0


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number within bounds."""

    least: int = 0
    most: int = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Truth:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Duration:
    """`90m`, `12h`, `7d`."""


@dataclass(frozen=True, slots=True)
class Written:
    """Any scalar, kept as the text that was written: properties are strings. With `nullable`, null removes."""

    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """Any scalar, kept as its node: its meaning depends on a neighbour."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in some unit, kept as it was written: `128MiB`, `7d`, 0.2. What it is, `amounts` says."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class Each:
    """A list of one shape."""

    item: Shape
    length_min: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping whose keys the user chooses. `name` describes them; with `nullable`, null is a value too."""

    value: Shape
    name: str = "NAME"
    nullable: bool = False
    length_min: int = 0
    length_max: int | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a record. `also` lists keys that may stand in for a required one."""

    shape: Shape
    doc: str
    required: bool = False
    nullable: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping of fixed keys; others are refused. Under `others`, keys the user chooses are allowed besides.

    With `too_many` keys to list in a complaint, that text says where to find them.
    """

    name: str
    keys: Mapping[str, Key]
    others: Shape | None = None
    too_many: str | None = None


@dataclass(frozen=True, slots=True)
class Either:
    """One of several shapes. `choose` picks by the node, so that complaints speak of the one that was meant."""

    options: tuple[Shape, ...]
    choose: Callable[[Node], int | None]
    what: str


@dataclass(frozen=True, slots=True)
class Later:
    """A shape that contains itself, by name."""

    name: str
    known: Mapping[str, Shape] = field(repr=False, hash=False, compare=False)

    def shape(self) -> Shape:
        """The shape meant."""
        return self.known[self.name]


Shape: TypeAlias = Text | Number | Truth | Duration | Amount | Written | Leaf | Each | Named | Record | Either | Later
