"""History, wired: timelines, rollbacks, branches and tags, each move a plan like any other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from firnline.config.values import Declaration
from firnline.core.errors import BadInput
from firnline.core.ids import Identifier
from firnline.facts import at as points
from firnline.facts.meta import Snapshot, TableMeta
from firnline.history import plan, refs, timeline
from firnline.history.refs import Retention
from firnline.history.values import Move, RefLine, Timeline
from firnline.lakehouse import ledger, plans
from firnline.lakehouse.plans import Preview
from firnline.loop.values import Note

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse


class History:
    """`Lakehouse.history`."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse

    def timeline(self, name: str, limit: int | None = None) -> Timeline:
        """The snapshots of a table, newest first."""
        identifier = Identifier.parse(name)
        return timeline.timeline(identifier, self._lakehouse.tables.load(identifier), limit)

    def refs(self, name: str, kind: str) -> tuple[RefLine, ...]:
        """The branches, or the tags, of a table."""
        return timeline.ref_lines(self._lakehouse.tables.load(name), kind)

    def rollback(self, name: str, to: str, *, accept: str | None = None) -> Preview:
        """A plan that moves main to a snapshot, a ref or a time. Empty when it is there already."""
        identifier, meta = self._table(name)
        now = datetime.now(UTC)
        declaration = self._declaration(identifier)
        target = points.resolve(meta, to, now)
        move = plan.rollback(identifier, meta, target, declaration=declaration, now=now, accepted=accept)
        return self._preview(meta, move, ())

    def create_ref(self, name: str, ref: str, kind: str, *, at: str | None, retention: Retention) -> Preview:
        """A plan that makes a branch or tag, at the current snapshot unless another is named."""
        identifier, meta = self._table(name)
        move = refs.create(identifier, meta, ref, kind, _point(identifier, meta, at), retention)
        return self._preview(meta, move, () if move is None else self._declared_otherwise(move))

    def drop_ref(self, name: str, ref: str, kind: str) -> Preview:
        """A plan that drops a branch or tag."""
        identifier, meta = self._table(name)
        move = refs.drop(identifier, meta, ref, kind, datetime.now(UTC))
        return self._preview(meta, move, self._declared_otherwise(move))

    def forward_branch(self, name: str, branch: str, *, to: str) -> Preview:
        """A plan that moves a branch along its own line. Empty when it is there already."""
        identifier, meta = self._table(name)
        target = points.resolve(meta, to, datetime.now(UTC))
        return self._preview(meta, refs.forward(identifier, meta, branch, target), ())

    def _table(self, name: str) -> tuple[Identifier, TableMeta]:
        identifier = Identifier.parse(name)
        return identifier, self._lakehouse.tables.load(identifier)

    def _declaration(self, identifier: Identifier) -> Declaration | None:
        declared = self._lakehouse.tables.declared().declarations
        return next((one for one in declared if one.identifier == identifier), None)

    def _declared_otherwise(self, move: Move) -> tuple[Note, ...]:
        return refs.declared_otherwise(move, self._declaration(move.identifier))

    def _preview(self, meta: TableMeta, move: Move | None, notes: Iterable[Note]) -> Preview:
        catalog = self._lakehouse.settings.catalog.name
        steps = () if move is None else (plan.step(move, catalog, meta),)
        cut_off = ledger.unsettled(self._lakehouse, (f"{catalog}/{meta.uuid}",))
        told = tuple(Note(one.subject, str(one)) for one in cut_off)
        settle = tuple(dict.fromkeys(one.table for one in cut_off))
        return Preview(plans.new(self._lakehouse, steps, (*told, *notes)), settle=settle)


def _point(identifier: Identifier, meta: TableMeta, at: str | None) -> Snapshot:
    if at is not None:
        return points.resolve(meta, at, datetime.now(UTC))
    if meta.snapshot is None:
        raise BadInput(
            f"{identifier} has no snapshot on main yet, and a ref names one.", next_step="Write to the table first."
        )
    return meta.snapshot
