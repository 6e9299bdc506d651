"""Who lives in the zoo. A function that makes a table registers itself here with `@inhabitant`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firnline.core.ids import Identifier
from tests.zoo.pen import Pen

NAMESPACE = ("zoo",)
Arrive = Callable[[Pen], None]


@dataclass(frozen=True, slots=True)
class Inhabitant:
    """A table in one bad state, or an odd one. `arrive` makes it."""

    name: str
    identifier: Identifier
    what: str
    arrive: Arrive


INHABITANTS: dict[str, Inhabitant] = {}


def inhabitant(what: str, *, table: str | None = None) -> Callable[[Arrive], Arrive]:
    """Registers the function under its own name; the table has that name too, unless it is given another."""

    def register(arrive: Arrive) -> Arrive:
        name = arrive.__name__
        assert name not in INHABITANTS, f"two inhabitants are called {name}"
        INHABITANTS[name] = Inhabitant(name, Identifier(NAMESPACE, table or name), what, arrive)
        return arrive

    return register
