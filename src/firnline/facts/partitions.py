"""Partitions as manifests have them and as a table has them.

A manifest encodes the values of its writer's partition fields, in their order. A table knows a partition by its spec
and the values in the order of that spec. Everything here is small: one value per partition, not per file.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from firnline.core.layout import PartitionSpec
from firnline.core.types import Json
from firnline.facts.entries import Entries, Longs
from firnline.facts.hashing import hash128
from firnline.facts.values import PartitionKey

PartitionId: TypeAlias = tuple[tuple[int, ...], tuple[object, ...]]  # ids of the partition fields, and the values


class _NegativeZero(float):
    """-0.0 as a partition value: Iceberg keeps it apart from 0.0, and Python's floats do not."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _NegativeZero)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_NegativeZero)


_NEGATIVE_ZERO = _NegativeZero(-0.0)


def distinct(values: tuple[object, ...]) -> tuple[object, ...]:
    """The same values, equal when Iceberg's are: every NaN is one object, and -0.0 is not 0.0."""
    if float not in map(type, values):
        return values
    return tuple(_distinct(each) if isinstance(each, float) else each for each in values)


def _distinct(value: float) -> float:
    if math.isnan(value):
        return math.nan
    return _NEGATIVE_ZERO if not value and math.copysign(1, value) < 0 else value


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """Which partition each row has, and the values of each partition, decoded once."""

    of_row: Longs
    values: tuple[PartitionId, ...]

    @staticmethod
    def of(entries: Entries) -> PartitionKeys:
        """The partitions of a batch."""
        high, low = hash128(entries.partition)
        _, first, of_row = np.unique(high, return_index=True, return_inverse=True)
        if not np.array_equal(low[first][of_row], low):  # two partitions share 64 bits
            both = np.stack((high, low), axis=1)
            _, first, of_row = np.unique(both, axis=0, return_index=True, return_inverse=True)
        values = tuple(
            (entries.partition_ids, entries.decode_partition(entries.partition.at(row) or b""))
            for row in first.tolist()
        )
        return PartitionKeys(of_row.astype(np.int64).reshape(-1), values)


def key_of(spec_id: int | None, partition: PartitionId, specs: Mapping[int, PartitionSpec]) -> PartitionKey:
    """The partition as the table knows it. A field its manifest does not have is null, as readers see it.

    Without a spec id (format 1, manifests listed in place) the ids of its fields tell which spec it is.
    """
    ids, values = partition
    if spec_id is None:
        spec_id = next((one for one, spec in specs.items() if ids == tuple(each.field_id for each in spec.fields)), 0)
    spec = specs.get(spec_id)
    if spec is None:
        return spec_id, distinct(values)
    by_id = dict(zip(ids, distinct(values), strict=False))
    return spec_id, tuple(by_id.get(each.field_id) if each.field_id is not None else None for each in spec.fields)


@dataclass(slots=True)
class Numbering:
    """Numbers for the partitions of a table, in the order they are met."""

    specs: Mapping[int, PartitionSpec]
    numbers: dict[PartitionKey, int] = field(default_factory=dict)

    def of(self, spec_id: int | None, partitions: Iterable[PartitionId]) -> Longs:
        """The number of each of a manifest's partitions."""
        numbers, spec = self.numbers, None if spec_id is None else self.specs.get(spec_id)
        usual = None if spec is None else tuple(each.field_id for each in spec.fields)
        found = []
        for each in partitions:
            # Nearly always a manifest has its spec's fields in their order: nothing is to be looked up then.
            key = (spec_id or 0, distinct(each[1])) if each[0] == usual else key_of(spec_id, each, self.specs)
            found.append(numbers.setdefault(key, len(numbers)))
        return np.array(found, np.int64)


def to_json(partitions: Iterable[PartitionId]) -> Json:
    """Partitions for the cache."""
    listed = list(partitions)
    ids = list(dict.fromkeys(ids for ids, _ in listed))
    return [
        [list(each) for each in ids],
        [[ids.index(key), [_plain(value) for value in values]] for key, values in listed],
    ]


def from_json(data: Json) -> tuple[PartitionId, ...]:
    """The inverse."""
    ids = [tuple(each) for each in data[0]]
    return tuple((ids[number], tuple(_value(value) for value in values)) for number, values in data[1])


def _plain(value: object) -> Json:
    """A partition value as JSON: bytes in base64 and floats by their exact text, each marked."""
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode()}
    return {"f": value.hex()} if isinstance(value, float) else value


def _value(plain: Json) -> object:
    if isinstance(plain, dict):
        return base64.b64decode(plain["b"]) if "b" in plain else float.fromhex(plain["f"])
    return plain
