"""When an expiry by the policy's age would take which snapshot. Pure. One walk over the kept snapshots per branch.

It is Iceberg's own rule: a branch keeps its newest snapshots by number and age, a tag keeps its one, refs go at their
own age, and what no branch leads to goes by age alone.
"""

from __future__ import annotations

import math

from firnline.core.ids import SnapshotId
from firnline.facts import lineage
from firnline.facts.meta import Ref, TableMeta
from firnline.judge.policy import ResolvedPolicy
from firnline.judge.values import Subject

_LEAST = "history.expire.min-snapshots-to-keep"
_REF_AGE = "history.expire.max-ref-age-ms"


def leaves(meta: TableMeta, policy: ResolvedPolicy) -> dict[SnapshotId, float]:
    """By snapshot, the moment from which an expiry takes it; infinity for what none takes as things are."""
    line = lineage.of(meta)
    age = policy.number("snapshots.age")
    until: dict[SnapshotId, float] = {}
    for ref in meta.refs.values():
        end = _ends(ref, meta)
        held = line.line(ref.snapshot)
        least = ref.snapshots_min or _number(meta, _LEAST) or 1
        own = age if ref.snapshot_age_max_ms is None else ref.snapshot_age_max_ms
        for position, snapshot in enumerate(held[:1] if ref.kind == "tag" else held):
            millis = line.by_id[snapshot].millis
            kept = math.inf if ref.kind == "tag" or position < least else millis + own
            # When the ref goes first, the snapshot stands alone from then on.
            until[snapshot] = max(until.get(snapshot, 0), kept if kept <= end else max(end, millis + age))
    return {each.id: until.get(each.id, each.millis + age) for each in meta.snapshots}


def _ends(ref: Ref, meta: TableMeta) -> float:
    found = meta.find_snapshot(ref.snapshot)
    most = ref.ref_age_max_ms if ref.ref_age_max_ms is not None else _number(meta, _REF_AGE)
    return math.inf if ref.name == "main" or most is None or found is None else found.millis + most


def _number(meta: TableMeta, key: str) -> int | None:
    text = meta.properties.get(key, "").strip()
    return int(text) if text.isascii() and text.isdigit() else None


def overdue(subject: Subject) -> tuple[SnapshotId, ...]:
    """The snapshots an expiry now would take, oldest first."""
    until = leaves(subject.meta, subject.policy)
    millis = {snapshot.id: snapshot.millis for snapshot in subject.meta.snapshots}
    due = [snapshot for snapshot, moment in until.items() if moment <= subject.now_millis]
    return tuple(sorted(due, key=lambda snapshot: (millis[snapshot], snapshot)))
