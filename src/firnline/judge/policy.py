"""A table's policy: every value of every key, and where it came from. Pure.

Layers, weakest first: the default; an Iceberg property where the key has one; lakehouse.yaml; its namespaces, outermost
first; the table's file. A table without a file may carry `firnline.KEY` properties instead of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from firnline.config import amounts, policies
from firnline.config.amounts import Unit
from firnline.config.policies import AMOUNTS, OFF, ON, RULES, TABLE_KEYS
from firnline.config.project import FILE
from firnline.config.values import Declaration, LakehouseSettings
from firnline.core import keys
from firnline.core.errors import BadInput
from firnline.core.ids import Identifier, join_name
from firnline.core.suggest import nearest
from firnline.core.types import Json
from firnline.facts.values import Thresholds

_PREFIX = keys.RESERVED_PREFIX
_MARKS = frozenset({keys.RUN, keys.STEP})
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """A value in force. `unit` None: a switch, whose value is whether the rule is held against the table."""

    key: str
    value: float
    unit: Unit | None
    origin: str

    @property
    def shown(self) -> str:
        """The value as people read it."""
        if self.unit is None:
            return ON if self.value else OFF
        return amounts.show(self.value, self.unit)


@dataclass(frozen=True, slots=True)
class ResolvedPolicy:
    """Every key with its value. `ignored` says of properties that look like a policy why they are none."""

    values: Mapping[str, PolicyValue]
    ignored: tuple[str, ...] = field(default=())

    def number(self, key: str) -> float:
        """The value of an amount: bytes, milliseconds, a count, a share."""
        return self.values[key].value

    def whole(self, key: str) -> int:
        """The same, of what is counted in whole numbers."""
        return int(self.values[key].value)

    def off(self, rule: str) -> str | None:
        """Where the rule is switched off, or None."""
        switch = self.values[rule]
        return None if switch.value else switch.origin


def resolve(
    settings: LakehouseSettings | None,
    identifier: Identifier,
    declaration: Declaration | None,
    properties: Mapping[str, str],
) -> ResolvedPolicy:
    """The policy of one table."""
    ignored: list[str] = []
    layers = [_defaults(), _of_iceberg(properties, ignored), _of_lakehouse(settings, identifier)]
    if declaration is None:
        layers.append(_of_table(properties, ignored))
    else:
        layers.append(_of_declaration(declaration))
        ignored += [f"{key}: {declaration.source.file} declares the table." for key in _ours(properties)]
    values = {value.key: value for layer in layers for value in layer}
    return ResolvedPolicy(values, tuple(ignored))


def file_sizes(policy: ResolvedPolicy) -> Thresholds:
    """Which sizes are too small and too large, as facts are asked for them."""
    target = policy.whole("target-file-size")
    small, large = policy.number("small-file-share"), policy.number("large-file-times")
    return Thresholds(target, small_below=int(target * small), large_above=int(target * large))


def _defaults() -> Iterator[PolicyValue]:
    for key in TABLE_KEYS:
        yield PolicyValue(key.name, key.number, key.unit, DEFAULT)
    for rule, thresholds in RULES.items():
        yield PolicyValue(rule, True, None, DEFAULT)
        for key in thresholds:
            yield PolicyValue(policies.full_name(rule, key), key.number, key.unit, DEFAULT)


def _of_iceberg(properties: Mapping[str, str], ignored: list[str]) -> Iterator[PolicyValue]:
    """What Iceberg's own properties say of a key: whole numbers, of bytes or milliseconds."""
    for name, key in AMOUNTS.items():
        text = properties.get(key.table_property or "")
        if text is None:
            continue
        if text.strip().isascii() and text.strip().isdigit():
            yield PolicyValue(name, int(text), key.unit, f"property {key.table_property}")
        else:
            ignored.append(f"{key.table_property}: {text[:60]!r} is no whole number.")


def _of_lakehouse(settings: LakehouseSettings | None, identifier: Identifier) -> Iterator[PolicyValue]:
    if settings is None:
        return
    origins = {setting.key: setting.origin for setting in settings.settings}
    yield from _values("policy", settings.policy, origins)
    around = [one for one in settings.namespaces if one.namespace == identifier.namespace[: len(one.namespace)]]
    for namespace in sorted(around, key=lambda one: len(one.namespace)):
        yield from _values(f"namespaces.{join_name(namespace.namespace)}.policy", namespace.policy, origins)


def _of_declaration(declaration: Declaration) -> Iterator[PolicyValue]:
    source = declaration.source
    lines = {f"policy.{key}": source.line(f"policy.{key}", "policy") for key in declaration.policy}
    return _values("policy", declaration.policy, {key: f"{source.file}:{line}" for key, line in lines.items()})


def _values(at: str, policy: Mapping[str, Json], origins: Mapping[str, str]) -> Iterator[PolicyValue]:
    """The values of one layer. What is no policy was refused when its file was read."""
    for key, written in policy.items():
        origin = origins.get(f"{at}.{key}", FILE)
        if key in RULES:
            yield PolicyValue(key, written == ON, None, origin)
        else:
            unit = AMOUNTS[key].unit
            yield PolicyValue(key, amounts.parse(written, unit), unit, origin)


def _of_table(properties: Mapping[str, str], ignored: list[str]) -> Iterator[PolicyValue]:
    """`firnline.small-files.files` and the like. Others wrote them: what is wrong is said, and counts for nothing."""
    for name in _ours(properties):
        key, text, origin = name.removeprefix(_PREFIX), properties[name], f"property {name}"
        if key in RULES and text.strip() in {ON, OFF}:
            yield PolicyValue(key, text.strip() == ON, None, origin)
        elif key in RULES:
            ignored.append(f"{name}: {text[:60]!r} is neither on nor off.")
        elif key in AMOUNTS:
            unit = AMOUNTS[key].unit
            try:
                yield PolicyValue(key, amounts.parse_text(text, unit), unit, origin)
            except BadInput as error:
                ignored.append(f"{name}: {error.what}")
        else:
            near = nearest(key, (*RULES, *AMOUNTS))
            ignored.append(f"{name}: no policy has this key.{f' Did you mean {_PREFIX}{near}?' if near else ''}")


def _ours(properties: Mapping[str, str]) -> list[str]:
    return sorted(name for name in properties if name.startswith(_PREFIX) and name not in _MARKS)
