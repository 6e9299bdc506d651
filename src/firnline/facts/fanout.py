"""How many data manifests a look at one partition opens: those whose ranges in the manifest list cover it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from firnline.core.figures import NONE, UNKNOWN, Figure, exactly
from firnline.core.layout import PartitionSpec
from firnline.core.types import Fixed, Primitive, Type
from firnline.facts import single_values
from firnline.facts.entries import Longs, Truths
from firnline.facts.lines import ManifestLine, Summary
from firnline.facts.transforms import result_type
from firnline.facts.values import PartitionKey

PARTITIONS_MAX = 1000  # evenly spread ones tell as much as all of them
SHARE = 0.95


def fanout(
    lines: Sequence[ManifestLine], keys: Sequence[PartitionKey], specs: Mapping[int, PartitionSpec],
    types: Mapping[int, Type],
) -> Figure:  # fmt: skip
    """The 95th percentile over partitions. Unknown when a manifest list has no ranges; bounded when some lack them."""
    if not keys:
        return NONE
    chosen = keys[:: -(-len(keys) // PARTITIONS_MAX)]
    counts: list[int] = []
    told = [line for line in lines if _ranged(line, specs)]
    without = len(lines) - len(told)
    for spec_id in {spec for spec, _ in chosen}:
        values = [values for spec, values in chosen if spec == spec_id]
        own = [line for line in told if line.spec_id == spec_id]
        counts += _covering(own, values, specs.get(spec_id, PartitionSpec()), types).tolist()
    most = int(np.quantile(np.array(counts), SHARE, method="higher"))
    if not without:
        return exactly(most)
    return UNKNOWN if without == len(lines) else Figure(most, most + without)


def _ranged(line: ManifestLine, specs: Mapping[int, PartitionSpec]) -> bool:
    """Whether it tells which partitions it may hold. Without partitions there is nothing to tell."""
    spec = None if line.spec_id is None else specs.get(line.spec_id)
    return spec is not None and (line.partitions is not None or not spec.fields)


def _covering(
    lines: Sequence[ManifestLine], values: Sequence[tuple[object, ...]], spec: PartitionSpec, types: Mapping[int, Type]
) -> Longs:
    covers = np.ones((len(values), len(lines)), bool)
    for position, field in enumerate(spec.fields):
        source = types.get(field.source_ids[0])
        of = None if source is None else result_type(field.transform, source)
        if of is None:
            continue  # nobody can tell ranges of an unknown transform apart: every manifest may hold every partition
        summaries = [_at(line.partitions, position) for line in lines]
        covers &= _covered([each[position] for each in values], summaries, of)
    counts: Longs = covers.sum(axis=1)
    return counts


def _at(summaries: tuple[Summary, ...] | None, position: int) -> Summary | None:
    return summaries[position] if summaries is not None and position < len(summaries) else None


def _covered(values: Sequence[object], summaries: Sequence[Summary | None], of: Type) -> Truths:
    """For each value and each manifest, whether the manifest's range holds the value."""
    own = [_key(single_values.from_partition(value, of), of) for value in values]
    nan = [isinstance(value, float) and math.isnan(value) for value in values]
    lower = [None if each is None or each.lower is None else _bound(each.lower, of) for each in summaries]
    upper = [None if each is None or each.upper is None else _bound(each.upper, of) for each in summaries]
    ranks = _ranks((*own, *lower, *upper))
    value = np.array([-1 if each is None else ranks[each] for each in own])[:, None]
    low = np.array([len(ranks) if each is None else ranks[each] for each in lower])
    high = np.array([-1 if each is None else ranks[each] for each in upper])
    inside = (low <= value) & (value <= high)
    nulls = np.array([each is None or each.contains_null for each in summaries], bool)
    nans = np.array([each is None or each.contains_nan is not False for each in summaries], bool)
    untold = np.array([_untold(*each) for each in zip(summaries, lower, upper, strict=True)], bool)
    is_null = np.array([each is None for each in values], bool)[:, None]
    # A value without an order, which is a damaged one, may be in any manifest.
    odd = np.array([key is None and each is not None for key, each in zip(own, values, strict=True)], bool)[:, None]
    found: Truths = np.where(is_null, nulls, np.where(np.array(nan, bool)[:, None], nans, inside | untold | odd))
    return found


def _untold(summary: Summary | None, lower: single_values.Key | None, upper: single_values.Key | None) -> bool:
    """Whether a summary does not tell its range: it is not there, or a bound of it is not readable."""
    if summary is None:
        return True
    return (lower is None and summary.lower is not None) or (upper is None and summary.upper is not None)


def _key(value: single_values.Value | None, of: Type) -> single_values.Key | None:
    key = None if value is None else single_values.order_key(value, of)
    in_bytes = isinstance(of, Fixed) or (isinstance(of, Primitive) and of.name in {"string", "binary", "uuid"})
    return key if isinstance(key, bytes) is in_bytes else None  # a manifest may hold values of another type


def _bound(data: bytes, of: Type) -> single_values.Key | None:
    return _key(single_values.decode(data, of), of)


def _ranks(keys: Iterable[single_values.Key | None]) -> dict[single_values.Key, int]:
    distinct = {key for key in keys if key is not None}
    return {key: rank for rank, key in enumerate(sorted(distinct))}  # all are numbers, or all are bytes
