"""Whom a move of a ref touches, what it does not bring back, and how long there is a way back. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta

from firnline.config.values import Declaration, DeclaredConsumer
from firnline.core import instants
from firnline.core.ids import SnapshotId
from firnline.core.types import Field, show_path, walk
from firnline.facts.lineage import Lineage
from firnline.facts.meta import Snapshot, TableMeta
from firnline.history.values import Action, Concern, Consequence, Move

AGE_PROPERTY = "history.expire.max-snapshot-age-ms"
AGE_DEFAULT_MS = 5 * 24 * 60 * 60 * 1000  # Iceberg's own
NAMES_MAX = 5


def of_rollback(
    move: Move, line: Lineage, declaration: Declaration | None, leaving: frozenset[SnapshotId], now: datetime
) -> Iterator[Consequence]:
    """What moving main means, the readers first."""
    yield _readers(declaration)
    yield from _consumers(declaration, line, leaving, now)
    if leaving:
        yield Consequence(
            Concern.STREAM,
            "a stream that has read a snapshot that leaves stops with an error at its next read: that snapshot is no "
            "ancestor of main any more. What it took from there is not taken back.",
        )
    yield from _subjects(declaration, line, leaving)
    if move.target is not None:
        yield from _schema(line.meta, line.by_id[move.target.id])
    yield from _holders(line, leaving, but="main")
    if leaving and move.origin is not None:
        yield _way_back(move, line, line.by_id[move.origin.id], now)


def of_publish(move: Move) -> Iterator[Consequence]:
    """What moving main forward along its own line means: nothing is lost, everybody sees it."""
    if move.ref.name == "main":
        yield Consequence(Concern.READER, "readers of main see the snapshots that come from their next query on.")


def of_drop(move: Move, line: Lineage, leaving: frozenset[SnapshotId], now: datetime) -> Iterator[Consequence]:
    """What dropping a ref means: its snapshots lose their hold."""
    if not leaving:
        yield Consequence(Concern.WAY_BACK, "other refs hold every snapshot of it: nothing becomes free to expire.")
        return
    yield _way_back(move, line, line.by_id[move.ref.snapshot], now)


def _readers(declaration: Declaration | None) -> Consequence:
    named = f" ({', '.join(declaration.readers)})" if declaration and declaration.readers else ""
    unknown = "" if named else " No `readers:` are declared: who they are is not known here."
    return Consequence(
        Concern.READER,
        f"readers of main{named} see the other rows from their next query on; one that runs ends on what it began "
        f"with.{unknown}",
    )


def _consumers(
    declaration: Declaration | None, line: Lineage, leaving: frozenset[SnapshotId], now: datetime
) -> Iterator[Consequence]:
    if not leaving:
        return
    for consumer in declaration.consumers if declaration is not None else ():
        yield Consequence(Concern.CONSUMER, f"{consumer.id} {_taken(consumer, line, leaving, now)}")


def _taken(consumer: DeclaredConsumer, line: Lineage, leaving: frozenset[SnapshotId], now: datetime) -> str:
    total = len(leaving)
    what = f"{total} snapshot{'s' if total != 1 else ''} that leave{'s' if total == 1 else ''}"
    if consumer.lag_max is None:
        said = f"may have taken in the {what}"
    else:
        # Within its declared lag it has read everything older than that.
        due = instants.to_millis(now - consumer.lag_max)
        sure = sum(line.by_id[snapshot].millis <= due for snapshot in leaving)
        lag = instants.show_duration(consumer.lag_max)
        said = f"has taken in {sure} of the {what}, and may have taken in the rest (its lag: {lag})"
    return f"{said}; it cannot go on from one of them, and keeps what it took. Set it back after the rollback."


def _subjects(declaration: Declaration | None, line: Lineage, leaving: frozenset[SnapshotId]) -> Iterator[Consequence]:
    if declaration is None or not declaration.subjects:
        return
    keys = ("deleted-records", "added-position-deletes", "added-equality-deletes")
    deleting = [one for one in leaving if any(line.by_id[one].summary.get(key, "0") != "0" for key in keys)]
    if deleting:
        columns = ", ".join(show_path(path) for path in declaration.subjects)
        yield Consequence(
            Concern.SUBJECT,
            f"rows that {len(deleting)} of these snapshots deleted come back, and {columns} identifies people: make "
            "sure none of them asked to be forgotten.",
        )


def _schema(meta: TableMeta, target: Snapshot) -> Iterator[Consequence]:
    """A rollback moves rows, never the schema: rows of then are read with the columns of now."""
    then = next((schema for schema in meta.schemas if schema.id == target.schema_id), None)
    if then is None or then.id == meta.current_schema_id:
        return
    old = {field.id: field for _, field in walk(then.struct)}
    new = {field.id: (show_path(path), field) for path, field in walk(meta.schema.struct)}
    added = [_added(name, field) for key, (name, field) in new.items() if key not in old]
    dropped = [show_path(path) for path, field in walk(then.struct) if field.id not in new]
    renamed = [
        f"{old[key].name} is {name}" for key, (name, field) in new.items() if key in old and old[key].name != field.name
    ]
    parts = [
        f"the schema stays as it is: {meta.current_schema_id}; the target was written under schema {then.id}.",
        f"Added since, and so without a value in its rows: {_listed(added)}." if added else "",
        f"Dropped since, and still dropped: {_listed(dropped)}." if dropped else "",
        f"Renamed since: {_listed(renamed)}." if renamed else "",
    ]
    yield Consequence(Concern.SCHEMA, " ".join(part for part in parts if part))
    required = [name for key, (name, field) in new.items() if key in old and field.required and not old[key].required]
    if required:
        yield Consequence(
            Concern.SCHEMA,
            f"{_listed(required)} became required since: rows of the target may hold nulls there, which readers trust "
            "not to be. Count them first, or make the column optional again.",
        )


def _added(name: str, field: Field) -> str:
    return f"{name} (null)" if field.initial_default is None else f"{name} ({field.initial_default!r})"


def _listed(names: list[str]) -> str:
    more = len(names) - NAMES_MAX
    return ", ".join(names[:NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def _holders(line: Lineage, leaving: frozenset[SnapshotId], *, but: str) -> Iterator[Consequence]:
    for ref in sorted(line.meta.refs.values(), key=lambda ref: ref.name):
        held = len(leaving.intersection(line.line(ref.snapshot)))
        if held and ref.name != but:
            what = "all of them" if held == len(leaving) else f"{held} of the {len(leaving)}"
            yield Consequence(Concern.REF, f"{ref.kind} {ref.name} still holds {what}.")


def _way_back(move: Move, line: Lineage, head: Snapshot, now: datetime) -> Consequence:
    """Until when the newest snapshot that leaves can be brought back, and with it everything under it."""
    meta = line.meta
    start = f"no file is deleted now; `{' && '.join(undo(move))}` brings it back"
    if meta.properties.get("gc.enabled", "").strip().lower() == "false":
        return Consequence(Concern.WAY_BACK, f"{start} at any time: gc.enabled=false keeps every snapshot.")
    if head.id in line.held(but=move.ref.name):
        return Consequence(Concern.WAY_BACK, f"{start} as long as another ref holds it.")
    age, origin = snapshot_age(meta)
    tag = f"A tag keeps it: `firnline tag create {shlex.quote(str(move.identifier))} NAME --at {head.id}`."
    try:
        deadline = instants.from_millis(head.millis) + age
    except OverflowError:
        return Consequence(Concern.WAY_BACK, f"{start}; the table's own settings ({origin}) never expire it.")
    if deadline <= now:
        return Consequence(
            Concern.WAY_BACK,
            f"{start} only until the next expiry: it is older than {instants.show_duration(age)} ({origin}). {tag}",
        )
    return Consequence(
        Concern.WAY_BACK,
        f"{start} until {instants.show(deadline)}, when an expiry by the table's own settings may delete it "
        f"({instants.show_duration(age)}, {origin}); one told a shorter age may do so before. {tag}",
    )


def snapshot_age(meta: TableMeta) -> tuple[timedelta, str]:
    """How old a snapshot that no ref holds may get, and where that is written."""
    text = meta.properties.get(AGE_PROPERTY, "").strip()
    if text.isascii() and text.isdigit():
        try:
            return timedelta(milliseconds=int(text)), AGE_PROPERTY
        except OverflowError:
            return timedelta.max, AGE_PROPERTY
    return timedelta(milliseconds=AGE_DEFAULT_MS), f"Iceberg's default of {AGE_PROPERTY}"


def undo(move: Move) -> tuple[str, ...]:
    """The commands that take the move back, to be typed as they are."""
    table, name = shlex.quote(str(move.identifier)), shlex.quote(move.ref.name)
    before = move.before
    match move.action:
        case Action.BACK | Action.FORWARD | Action.ACROSS | Action.UNRELATED:
            return () if before is None else (f"firnline rollback {table} --to {before.snapshot}",)
        case Action.CREATE:
            return (f"firnline {move.ref.kind} drop {table} {name}",)
        case Action.FAST_FORWARD if name == "main":
            return () if before is None else (f"firnline rollback {table} --to {before.snapshot}",)
        case Action.FAST_FORWARD:
            return (f"firnline branch drop {table} {name}", _create(table, name, move))
        case Action.DROP:
            return (_create(table, name, move),)


def _create(table: str, name: str, move: Move) -> str:
    ref = move.before
    assert ref is not None
    options = (
        f" --keep {instants.show_duration(timedelta(milliseconds=ref.ref_age_max_ms))}" if ref.ref_age_max_ms else "",
        f" --max-snapshot-age {instants.show_duration(timedelta(milliseconds=ref.snapshot_age_max_ms))}"
        if ref.snapshot_age_max_ms
        else "",
        f" --min-snapshots {ref.snapshots_min}" if ref.snapshots_min else "",
    )
    return f"firnline {ref.kind} create {table} {name} --at {ref.snapshot}{''.join(options)}"
