"""A subject put together from what was observed and what is declared, and which columns are worth a look. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firnline.config.values import Declaration
from firnline.core.ids import SnapshotId
from firnline.core.types import walk
from firnline.facts.meta import TableMeta
from firnline.facts.values import TableFacts
from firnline.judge.policy import ResolvedPolicy
from firnline.judge.values import Consumer, Subject


def of(
    facts: TableFacts,
    meta: TableMeta,
    now_millis: int,
    policy: ResolvedPolicy,
    declaration: Declaration | None,
    needs: Mapping[str, SnapshotId] | None = None,
    **looked_at: Any,
) -> Subject:
    """The subject. `needs` are the snapshots consumers stand at, by id; `looked_at` is whatever else there is of it."""
    if declaration is None:
        return Subject(facts, meta, now_millis, policy, **looked_at)
    return Subject(
        facts,
        meta,
        now_millis,
        policy,
        file=declaration.source.file,
        readers=declaration.readers,
        personal_ids=personal_ids(meta, declaration),
        consumers=_consumers(declaration, needs or {}),
        **looked_at,
    )


def _consumers(declaration: Declaration, needs: Mapping[str, SnapshotId]) -> tuple[Consumer, ...]:
    """Those that are declared, and those that only registered themselves."""
    lags = {
        each.id: None if each.lag_max is None else int(each.lag_max.total_seconds() * 1000)
        for each in declaration.consumers
    }
    return tuple(Consumer(each, lags.get(each), needs.get(each)) for each in dict.fromkeys([*lags, *needs]))


def personal_ids(meta: TableMeta, declaration: Declaration | None) -> tuple[int, ...]:
    """The field ids of the columns under `subjects:`, as far as the table has them."""
    ids = {path: field.id for path, field in walk(meta.schema.struct)}
    found = (ids.get(path) for path in (declaration.subjects if declaration is not None else ()))
    return tuple(each for each in found if each is not None)


def filter_ids(meta: TableMeta) -> tuple[int, ...]:
    """The columns queries are expected to filter by: of partitions, of the sort order, identifiers.

    A column that partitions take as it is needs no bounds: the partition itself tells its value.
    """
    partition = [each for field in meta.spec.fields if field.transform != "void" for each in field.source_ids]
    order = [each for field in meta.order.fields if field.transform != "void" for each in field.source_ids]
    told = {field.source_ids[0] for field in meta.spec.fields if field.transform == "identity"}
    found = dict.fromkeys([*partition, *order, *meta.schema.identifier_ids])
    return tuple(each for each in found if each not in told)


def column_ids(meta: TableMeta, personal: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The columns some rule asks the metrics of."""
    return tuple(dict.fromkeys([*filter_ids(meta), *personal]))
