"""Filters on rows turned into filters on partitions: whatever row passes the one, its partition passes the other.

As Iceberg's inclusive projection has it. A test that says nothing about a partition becomes one that always holds.
"""

from __future__ import annotations

import decimal

from firnline.core.layout import PartitionField, PartitionSpec, parse_transform
from firnline.core.types import Decimal, Primitive
from firnline.facts import transforms
from firnline.facts.predicates import And, Column, Given, Or, Predicate, Term, Test
from firnline.facts.single_values import Value, scaled, unscaled
from firnline.facts.transforms import Function

ANYTHING = Given(True)
_NULLNESS = frozenset({"is null", "is not null"})
_PERIODS = frozenset({"year", "month", "day", "hour"})


def project(predicate: Predicate, spec: PartitionSpec, moved: frozenset[int] = frozenset()) -> Predicate:
    """The filter on partitions of this spec; its columns have the ids of the partition fields.

    `moved` are columns whose values no longer mean what partitions written before say: those narrow nothing.
    """
    match predicate:
        case And(parts):
            return And(tuple(project(part, spec, moved) for part in parts))
        case Or(parts):
            return Or(tuple(project(part, spec, moved) for part in parts))
        case Given():
            return predicate
        case Term():
            own = [] if predicate.column.id in moved else spec.fields
            parts = tuple(_projected(field, predicate) for field in own if field.source_ids == (predicate.column.id,))
            return And(parts) if parts else ANYTHING


def _projected(field: PartitionField, term: Term) -> Predicate:
    source = term.column.type
    function = transforms.function(field.transform, source)
    result = transforms.result_type(field.transform, source)
    parsed = parse_transform(field.transform)
    if function is None or result is None or parsed is None or field.field_id is None or parsed[0] == "void":
        return ANYTHING
    target = Column(field.field_id, (field.name,), result, required=False)
    if parsed[0] == "identity" or term.test in _NULLNESS:
        return Term(target, term.test, term.values)
    if term.test in {"=", "in"}:
        return _one_of(target, [function(value) for value in term.values], early=_early(parsed[0], source))
    if parsed[0] == "bucket":
        return ANYTHING
    if parsed[0] in _PERIODS:
        return _in_period(target, term, function, early=_early(parsed[0], source))
    if isinstance(source, Primitive) and source.name in {"string", "binary"}:
        return _cut(target, term, parsed[1] or 1)
    return _rounded(target, term, function)


def _one_of(target: Column, values: list[Value | None], *, early: bool) -> Term:
    found = dict.fromkeys(value for value in values if value is not None)
    if early:
        found |= dict.fromkeys(value + 1 for value in found if isinstance(value, int) and value < 0)
    return Term(target, "=" if len(found) == 1 else "in", tuple(found))


def _early(word: str, source: object) -> bool:
    # Iceberg 0.10 and before put times before 1970 one period too late: both are looked at.
    return word in _PERIODS and not (word == "day" and source == Primitive("date"))


def _closed(term: Term) -> tuple[Test, Value] | None:
    """The same test with its end included, for types whose values have neighbours; None for one without an order."""
    (value,) = term.values if len(term.values) == 1 else (None,)
    if value is None or term.test not in {"<", "<=", ">", ">="}:
        return None
    step = {"<": -1, ">": 1}.get(term.test, 0)
    test: Test = "<=" if term.test in {"<", "<="} else ">="
    if isinstance(value, decimal.Decimal) and isinstance(term.column.type, Decimal):
        scale = term.column.type.scale
        return test, scaled(unscaled(value, scale) + step, scale)
    return (test, value + step) if isinstance(value, int) else None


def _in_period(target: Column, term: Term, function: Function, *, early: bool) -> Predicate:
    closed = _closed(term)
    if closed is None:
        return ANYTHING
    end = function(closed[1])
    assert isinstance(end, int)
    late = early and closed[0] == "<=" and end < 0
    return Term(target, closed[0], (end + late,))


def _rounded(target: Column, term: Term, function: Function) -> Predicate:
    """For numbers cut to multiples. Those next to the smallest int are cut below it and go on from the largest one."""
    closed = _closed(term)
    if closed is None:
        return ANYTHING
    test, value = closed
    end = function(value)
    if end is None:
        return ANYTHING
    rounded = Term(target, test, (end,))
    around = _around(term, function)
    if around is None:
        return rounded
    if test == "<=":
        return Or((rounded, Term(target, ">=", (around,))))
    return ANYTHING if end == around else rounded


def _around(term: Term, function: Function) -> int | None:
    """Where the smallest value of the type ends up, if not below itself."""
    match term.column.type:
        case Primitive("int" | "long" as name):
            end = function(-(1 << (31 if name == "int" else 63)))
            return end if isinstance(end, int) and end > 0 else None
        case _:
            return None


def _cut(target: Column, term: Term, width: int) -> Predicate:
    """For strings and bytes cut to their first so many."""
    value = term.values[0]
    assert isinstance(value, str | bytes)
    match term.test:
        case "<" | "<=":
            return Term(target, "<=", (value[:width],))
        case ">" | ">=":
            return Term(target, ">=", (value[:width],))
        case "starts with" if len(value) == width:
            return Term(target, "=", (value,))
        case "starts with":
            return Term(target, "starts with", (value[:width],))
        case "not starts with" if len(value) < width:
            return Term(target, "not starts with", (value,))
        case "not starts with" if len(value) == width:
            return Term(target, "!=", (value,))
        case _:
            return ANYTHING
