"""Snapshots as lines, newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from firnline.core import instants, keys
from firnline.core.ids import Identifier, SnapshotId
from firnline.facts import lineage, summaries
from firnline.facts.lineage import Lineage
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.history.values import Entry, RefLine, Span, Standing, Timeline

LISTED_MAX = 200  # snapshots a plan names one by one: beyond that nobody reads them, and the count says enough


def timeline(identifier: Identifier, meta: TableMeta, limit: int | None) -> Timeline:
    """Every kept snapshot, or the newest `limit` of them."""
    newest = in_order(meta.snapshots)
    return Timeline(str(identifier), len(newest), _entries(lineage.of(meta), newest[:limit]))


def in_order(snapshots: Iterable[Snapshot]) -> list[Snapshot]:
    """Newest first: by sequence number, for clocks of writers differ; by time where format 1 has no such number."""
    return sorted(snapshots, key=lambda snapshot: (snapshot.sequence, snapshot.millis, snapshot.id), reverse=True)


def span(line: Lineage, ids: Iterable[SnapshotId]) -> Span:
    """These snapshots, the newest listed."""
    chosen = in_order(line.by_id[snapshot] for snapshot in ids)
    return Span(len(chosen), _entries(line, chosen[:LISTED_MAX]))


def entry(line: Lineage, snapshot: SnapshotId) -> Entry:
    """One snapshot."""
    return _entries(line, (line.by_id[snapshot],))[0]


def _entries(line: Lineage, snapshots: Iterable[Snapshot]) -> tuple[Entry, ...]:
    main, ever, held = frozenset(line.main()), line.ever_on_main(), line.held()
    refs: dict[SnapshotId, list[str]] = {}
    for ref in sorted(line.meta.refs.values(), key=lambda ref: ref.name):
        refs.setdefault(ref.snapshot, []).append(ref.name)

    def standing(snapshot: SnapshotId) -> Standing:
        if snapshot in main:
            return Standing.ON_MAIN
        if snapshot in ever:
            return Standing.ROLLED_BACK
        return Standing.ON_ANOTHER_REF if snapshot in held else Standing.ON_NO_REF

    return tuple(_entry(one, tuple(refs.get(one.id, ())), standing(one.id)) for one in snapshots)


def _entry(snapshot: Snapshot, refs: tuple[str, ...], standing: Standing) -> Entry:
    added, deleted = _changed(snapshot)
    return Entry(
        id=snapshot.id,
        at=instants.from_millis(snapshot.millis),
        operation=snapshot.operation,
        added=added,
        deleted=deleted,
        rows=summaries.count(snapshot, "total-records"),
        deletes=_sum(snapshot, "total-position-deletes", "total-equality-deletes"),
        files=summaries.count(snapshot, "total-data-files"),
        writer=summaries.writer(snapshot),
        run=snapshot.summary.get(keys.RUN),
        refs=refs,
        standing=standing,
    )


def _changed(snapshot: Snapshot) -> tuple[int | None, int | None]:
    """Rows added and deleted. Iceberg leaves out counts of zero; a summary without totals counts nothing at all."""
    if summaries.count(snapshot, "total-records") is None:
        return summaries.count(snapshot, "added-records"), summaries.count(snapshot, "deleted-records")
    added = summaries.count(snapshot, "added-records") or 0
    if summaries.count(snapshot, "added-equality-deletes"):
        return added, None
    # Rows go with their file, or by a position delete. A rewrite that folds deletes drops the rows they hid, which were
    # deleted before.
    gone = summaries.count(snapshot, "deleted-records") or 0
    hidden = summaries.count(snapshot, "added-position-deletes") or 0
    folded = summaries.count(snapshot, "removed-position-deletes") or 0
    return added, max(0, gone + hidden - folded)


def _sum(snapshot: Snapshot, *names: str) -> int | None:
    counts = [summaries.count(snapshot, name) for name in names]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def ref_lines(meta: TableMeta, kind: str) -> tuple[RefLine, ...]:
    """The branches, or the tags, in order of name, main first."""
    line = lineage.of(meta)
    main = frozenset(line.main())
    chosen = sorted(
        (ref for ref in meta.refs.values() if ref.kind == kind), key=lambda ref: (ref.name != "main", ref.name)
    )
    return tuple(_ref_line(ref, line, main) for ref in chosen if ref.snapshot in line.by_id)


def _ref_line(ref: Ref, line: Lineage, main: frozenset[SnapshotId]) -> RefLine:
    snapshot, own = line.by_id[ref.snapshot], frozenset(line.line(ref.snapshot))
    return RefLine(
        ref=ref,
        at=instants.from_millis(snapshot.millis),
        rows=summaries.count(snapshot, "total-records"),
        ahead=len(own - main),
        behind=len(main - own),
        expires=expires(ref, snapshot),
    )


def expires(ref: Ref, snapshot: Snapshot) -> datetime | None:
    """From when on an expiry drops the ref. Iceberg counts a ref's age from its snapshot, not from when it was made."""
    if ref.ref_age_max_ms is None or ref.name == "main":
        return None
    try:
        return instants.from_millis(snapshot.millis) + timedelta(milliseconds=ref.ref_age_max_ms)
    except OverflowError:
        return None
