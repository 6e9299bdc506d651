"""Which snapshot somebody means by `--at` or `--to`: a snapshot id, a ref or a time."""

from __future__ import annotations

import re
from datetime import datetime

from firnline.core import instants
from firnline.core.errors import BadInput
from firnline.core.suggest import nearest
from firnline.facts.meta import Snapshot, TableMeta

IDS_NAMED_MAX = 5
_DIGITS = re.compile(r"-?\d+")


def resolve(meta: TableMeta, to: str, now: datetime) -> Snapshot:
    """The snapshot meant: by id, then by the exact name of a ref, then by time.

    A time means what a reader of main saw then: the last entry of main's own log up to that moment, whether or not main
    was rolled back since. It is not the newest snapshot by age, which may lie on a branch or have been staged only.
    """
    text = to.strip()
    by_id = meta.find_snapshot(int(text)) if _DIGITS.fullmatch(text) else None
    if by_id is not None:
        return by_id
    if text in meta.refs:
        return _present(meta, meta.refs[text].snapshot, f"The ref {text!r}")
    if _DIGITS.fullmatch(text):
        raise BadInput(f"The table has no snapshot {text}.", why=_range(meta), next_step=_choices(meta, text))
    return _by_time(meta, text, now)


def _by_time(meta: TableMeta, text: str, now: datetime) -> Snapshot:
    try:
        moment = instants.parse_instant(text, now)
    except BadInput as error:
        raise BadInput(
            f"{text!r} is neither a snapshot, a ref nor a time.", why=_range(meta), next_step=_choices(meta, text)
        ) from error
    log = main_log(meta)
    if moment > now and (not log or instants.to_millis(moment) > log[-1][0]):
        raise BadInput(
            f"{text} lies in the future: it is {instants.show(now)} now.",
            why=_range(meta),
            next_step=_choices(meta, text),
        )
    then = [snapshot for millis, snapshot in log if millis <= instants.to_millis(moment)]
    if not then:
        raise BadInput(
            f"At {instants.show(moment)} main had no snapshot that is still kept.",
            why=_range(meta),
            next_step=_choices(meta, text),
        )
    return _present(meta, then[-1], f"Main's snapshot at {instants.show(moment)}")


def main_log(meta: TableMeta) -> tuple[tuple[int, int], ...]:
    """When main came to which snapshot, in milliseconds, oldest first; without a log, where it is now."""
    if meta.snapshot_log or meta.snapshot is None:
        return meta.snapshot_log
    return ((meta.snapshot.millis, meta.snapshot.id),)


def _present(meta: TableMeta, snapshot_id: int, who: str) -> Snapshot:
    found = meta.find_snapshot(snapshot_id)
    if found is None:
        raise BadInput(
            f"{who} was {snapshot_id}, which is no longer kept.",
            why=_range(meta),
            next_step=_choices(meta, str(snapshot_id)),
        )
    return found


def _range(meta: TableMeta) -> str:
    log = main_log(meta)
    if not log:
        return "No snapshot was ever published on main."
    # Milliseconds, so that what is shown can be typed: rounded down to a second it would miss that very snapshot.
    first, last = (
        instants.from_millis(millis).isoformat(timespec="milliseconds") for millis in (log[0][0], log[-1][0])
    )
    return f"Main's history reaches from {first} to {last}."


def _choices(meta: TableMeta, text: str) -> str:
    newest = sorted(meta.snapshots, key=lambda snapshot: (snapshot.sequence, snapshot.millis), reverse=True)
    ids = ", ".join(str(snapshot.id) for snapshot in newest[:IDS_NAMED_MAX])
    more = len(newest) - IDS_NAMED_MAX
    near = nearest(text, (*meta.refs, *(str(snapshot.id) for snapshot in newest)))
    parts = (
        f"Did you mean {near}?" if near else "",
        f"Refs: {', '.join(sorted(meta.refs))}." if meta.refs else "",
        f"Snapshots: {ids}{f' and {more} older' if more > 0 else ''}." if ids else "Write to the table first.",
        "A time is written 2026-11-18T09:30:00Z, or as an age such as 2h or 3d.",
    )
    return " ".join(part for part in parts if part)
