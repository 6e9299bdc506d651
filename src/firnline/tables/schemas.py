"""The target schema: the declared shape with the table's field ids, new ids where there were none.

A field is the same field when its name is the same at the same place, or when the declaration says `was:` the old
name. Everything after this step compares by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from firnline.core.types import Field, ListOf, MapOf, Path, Struct, Type, children, with_children


@dataclass(frozen=True, slots=True)
class Target:
    """A schema with every id set, and the highest id in use."""

    struct: Struct
    last_id: int


def assign(declared: Struct, current: Struct, was: Mapping[Path, str], last_id: int) -> Target:
    """Give the declared struct the ids of the fields it matches, and fresh ids above `last_id` to the others."""
    matched = Struct(_match_fields(declared.fields, current.fields, was, ()))
    counter = _Counter(last_id)
    return Target(Struct(_fresh(matched.fields, counter)), counter.last)


def fresh(declared: Struct) -> Target:
    """Ids for a new table, in the order Iceberg's own builders give them: a whole level before the insides."""
    return assign(declared, Struct(()), {}, 0)


class _Counter:
    def __init__(self, last: int) -> None:
        self.last = last

    def next(self) -> int:
        self.last += 1
        return self.last


def _match_fields(
    declared: tuple[Field, ...], current: tuple[Field, ...], was: Mapping[Path, str], prefix: Path
) -> tuple[Field, ...]:
    by_name = {field.name: field for field in current}
    declared_names = {field.name for field in declared}
    matched: list[Field] = []
    for field in declared:
        path = (*prefix, field.name)
        old = by_name.get(field.name)
        former = was.get(path)
        if old is None and former is not None and former not in declared_names:
            old = by_name.get(former)
        matched.append(_match(field, old, was, path))
    return tuple(matched)


def _match(field: Field, old: Field | None, was: Mapping[Path, str], path: Path) -> Field:
    if old is None:
        return field
    # An initial default belongs to the moment the column was added; a declaration without one keeps the table's.
    initial = old.initial_default if field.initial_default is None else field.initial_default
    return replace(field, id=old.id, type=_match_type(field.type, old.type, was, path), initial_default=initial)


def _match_type(declared: Type, current: Type, was: Mapping[Path, str], path: Path) -> Type:
    match declared, current:
        case Struct(), Struct():
            return Struct(_match_fields(declared.fields, current.fields, was, path))
        case (ListOf(), ListOf()) | (MapOf(), MapOf()):
            inside = _match_fields(children(declared), children(current), was, path)
            return with_children(declared, inside)
        case _:
            return declared


def _fresh(fields: tuple[Field, ...], counter: _Counter) -> tuple[Field, ...]:
    level = [field if field.id is not None else replace(field, id=counter.next()) for field in fields]
    return tuple(
        replace(field, type=with_children(field.type, _fresh(children(field.type), counter))) for field in level
    )
