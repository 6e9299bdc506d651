"""A branch or tag in a commit request: the one wording of it, for whoever moves refs."""

from __future__ import annotations

from firnline.core.types import Json
from firnline.facts.meta import Ref


def update(ref: Ref) -> Json:
    """`set-snapshot-ref` with the retention that is set."""
    retention = {
        "max-ref-age-ms": ref.ref_age_max_ms,
        "max-snapshot-age-ms": ref.snapshot_age_max_ms,
        "min-snapshots-to-keep": ref.snapshots_min,
    }
    return {
        "action": "set-snapshot-ref",
        "ref-name": ref.name,
        "type": ref.kind,
        "snapshot-id": ref.snapshot,
        **{key: value for key, value in retention.items() if value is not None},
    }


def requirement(name: str, current: Ref | None) -> Json:
    """`assert-ref-snapshot-id`: the ref is where it is now, or is not there."""
    return {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": None if current is None else current.snapshot}
