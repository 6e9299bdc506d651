"""Which snapshot descends from which. Pure. Parents that were expired end a line: beyond them nobody can look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from firnline.core.ids import SnapshotId
from firnline.facts import at
from firnline.facts.meta import Snapshot, TableMeta


@dataclass(frozen=True, slots=True)
class Lineage:
    """The kept snapshots of a table by id."""

    meta: TableMeta
    by_id: dict[int, Snapshot] = field(repr=False)

    def line(self, start: SnapshotId | None) -> tuple[SnapshotId, ...]:
        """The snapshot and its kept ancestors, newest first."""
        return tuple(self._walk(() if start is None else (start,)))

    def main(self) -> tuple[SnapshotId, ...]:
        """The line of main."""
        return self.line(self.meta.current_snapshot_id)

    def ever_on_main(self) -> frozenset[SnapshotId]:
        """Every kept snapshot main was at or went through, as far back as its log reaches."""
        logged = (SnapshotId(snapshot) for _, snapshot in at.main_log(self.meta))
        return frozenset(self._walk((*logged, *self.main())))

    def held(self, *, but: str | None = None) -> frozenset[SnapshotId]:
        """What the refs hold, one left out."""
        return frozenset(self._walk(ref.snapshot for ref in self.meta.refs.values() if ref.name != but))

    def led_to(self) -> frozenset[SnapshotId]:
        """What an expiry finds held: the lines of branches, and the very snapshots of tags."""
        branches = self._walk(ref.snapshot for ref in self.meta.refs.values() if ref.kind == "branch")
        tagged = (ref.snapshot for ref in self.meta.refs.values() if ref.kind != "branch")
        return frozenset((*branches, *(one for one in tagged if one in self.by_id)))

    def descends(self, snapshot: SnapshotId, ancestor: SnapshotId) -> bool:
        """Whether `ancestor` lies on the line of `snapshot`, or is it."""
        return ancestor in self.line(snapshot)

    def _walk(self, starts: Iterable[SnapshotId]) -> dict[SnapshotId, None]:
        # What was seen stops the walk: lines share most of their ancestors, and damaged metadata may go in a circle.
        seen: dict[SnapshotId, None] = {}
        for start in starts:
            found = self.by_id.get(start)
            while found is not None and found.id not in seen:
                seen[found.id] = None
                found = None if found.parent is None else self.by_id.get(found.parent)
        return seen


def of(meta: TableMeta) -> Lineage:
    """The lineage of a table."""
    return Lineage(meta, {snapshot.id: snapshot for snapshot in meta.snapshots})
