"""Branches and tags made, dropped and moved forward, decided. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from firnline.config.values import Declaration
from firnline.core.errors import BadInput, Refused
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.facts import lineage
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.history import consequences, timeline
from firnline.history.values import Action, Move
from firnline.loop.values import Note

NAME_LENGTH_MAX = 255


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a ref and its snapshots live; None: the table's own settings."""

    ref_age_max: timedelta | None = None
    snapshot_age_max: timedelta | None = None
    snapshots_min: int | None = None


def create(
    identifier: Identifier, meta: TableMeta, name: str, kind: str, at: Snapshot, retention: Retention
) -> Move | None:
    """A new branch or tag, or None when that very ref is there. BadInput when the name is taken by another."""
    _check_name(name)
    if kind == "tag" and (retention.snapshot_age_max or retention.snapshots_min):
        raise BadInput("A tag holds one snapshot.", next_step="Only --keep goes with a tag.")
    ref = Ref(
        name, kind, at.id, _millis(retention.ref_age_max), _millis(retention.snapshot_age_max), retention.snapshots_min
    )
    known = meta.refs.get(name)
    if known == ref:
        return None
    if known is not None:
        raise BadInput(
            f"{identifier} has a {known.kind} {name!r} already, at snapshot {known.snapshot}.",
            next_step=f"Choose another name, or drop it first: firnline {known.kind} drop {identifier} {name}",
        )
    target = timeline.entry(lineage.of(meta), at.id)
    return Move(identifier, str(meta.uuid), Action.CREATE, before=None, after=ref, target=target)


def drop(identifier: Identifier, meta: TableMeta, name: str, kind: str, now: datetime) -> Move:
    """A branch or tag away. What only it held becomes free to expire."""
    ref = _existing(identifier, meta, name, kind)
    if name == "main":
        raise Refused(
            "main is the table itself and cannot be dropped.", next_step="Drop the table in its file: `drop:`."
        )
    line = lineage.of(meta)
    leaving = frozenset(line.line(ref.snapshot)) - line.held(but=name)
    move = Move(
        identifier=identifier,
        uuid=str(meta.uuid),
        action=Action.DROP,
        before=ref,
        after=None,
        origin=timeline.entry(line, ref.snapshot) if ref.snapshot in line.by_id else None,
        leaving=timeline.span(line, leaving),
    )
    return replace(move, consequences=tuple(consequences.of_drop(move, line, leaving, now)))


def forward(identifier: Identifier, meta: TableMeta, name: str, target: Snapshot) -> Move | None:
    """A branch along its own line to a later snapshot, or None when it is there: nothing it has is ever lost."""
    ref = _existing(identifier, meta, name, "branch")
    if ref.snapshot == target.id:
        return None
    line = lineage.of(meta)
    if not line.descends(target.id, ref.snapshot):
        raise Refused(
            f"Snapshot {target.id} does not follow on {name}, which is at {ref.snapshot}.",
            why=f"{name} was written to since they parted; moving it there would lose those snapshots.",
            next_step="Write the rows again on top of it, or roll back: `firnline rollback` says what would be lost.",
        )
    move = Move(
        identifier=identifier,
        uuid=str(meta.uuid),
        action=Action.FAST_FORWARD,
        before=ref,
        after=replace(ref, snapshot=target.id),
        origin=timeline.entry(line, ref.snapshot),
        target=timeline.entry(line, target.id),
        returning=timeline.span(line, frozenset(line.line(target.id)) - frozenset(line.line(ref.snapshot))),
    )
    return replace(move, consequences=tuple(consequences.of_publish(move)))


def declared_otherwise(move: Move, declaration: Declaration | None) -> tuple[Note, ...]:
    """What the table's file says of this ref, when the next `firnline apply` would see it differently."""
    declared = {ref.name: ref for ref in declaration.refs} if declaration is not None else {}
    found = declared.get(move.ref.name)
    subject, what = str(move.identifier), f"{move.ref.kind} {move.ref.name}"
    if found is None or found.absent is (move.after is None):
        return ()
    if move.after is None:
        return (Note(subject, f"its file declares {what}: the next `firnline apply` makes it again.", "warning"),)
    return (Note(subject, f"its file says that {what} is to go: the next `firnline apply` drops it.", "warning"),)


def _existing(identifier: Identifier, meta: TableMeta, name: str, kind: str) -> Ref:
    ref = meta.refs.get(name)
    if ref is not None and ref.kind == kind:
        return ref
    if ref is not None:
        raise BadInput(
            f"{name!r} of {identifier} is a {ref.kind}, not a {kind}.", next_step=f"Use `firnline {ref.kind}`."
        )
    known = [other.name for other in meta.refs.values() if other.kind == kind]
    raise BadInput(f"{identifier} has no {kind} {name!r}.", next_step=did_you_mean(name, known) or None)


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > NAME_LENGTH_MAX:
        raise BadInput(
            f"{name[:60]!r} cannot be the name of a ref.",
            next_step=f"1 to {NAME_LENGTH_MAX} characters that can be seen, no space at either end.",
        )
    if name.lstrip("-").isdigit():
        raise BadInput(
            f"{name!r} reads like a snapshot id.", next_step="Add a letter, so that --at can tell them apart."
        )


def _millis(age: timedelta | None) -> int | None:
    return None if age is None else age // timedelta(milliseconds=1)
