"""A plan as people read it: every change with its class and price, every refusal with its way out."""

from __future__ import annotations

from collections.abc import Iterable

from firnline.cli import moves, render
from firnline.core import sizes
from firnline.core.types import Json
from firnline.history.values import Move
from firnline.lakehouse.plans import Preview
from firnline.loop.values import Note, Step
from firnline.tables.values import NOTHING, Change, ChangeClass, ChangeKind, Price, TableRename

_SIGNS = {"add": "+", "create": "+", "drop": "-", "remove": "-"}
_VERBS = {"table.create": "create", "table.change": "change, one commit", "table.drop": "drop", "namespace.change": ""}


def show(preview: Preview) -> None:
    """The whole preview to stdout; warnings about the files to stderr."""
    for warning in preview.warnings:
        render.warn(str(warning))
    for step in preview.plan.steps:
        _show_step(step)
        render.out("")
    for table in dict.fromkeys(refused.table for refused in preview.refused):
        render.out(f"{table}  (refused)")
        for refused in preview.refused:
            if refused.table == table:
                _show_change(refused.change)
        render.out("")
    _show_notes(preview.plan.report)
    render.out(_summary(preview))


def as_json(preview: Preview, plan: Json) -> Json:
    """The plan file's own JSON, with what is refused and warned beside it."""
    return {
        "plan": plan,
        "refused": [{"table": refused.table, **render.plain(refused.change)} for refused in preview.refused],
        "warnings": [str(warning) for warning in preview.warnings],
    }


def _show_step(step: Step) -> None:
    if isinstance(step.body, Move):
        moves.show(step.body)
        return
    if isinstance(step.body, TableRename):
        _show_rename(step.body)
        return
    render.out(_heading(step))
    for change in step.body.changes:
        _show_change(change)


def _show_rename(rename: TableRename) -> None:
    render.out(f"{rename.identifier}  (rename)")
    render.out(f"  ~ rename table {rename.identifier} → {rename.to}")
    render.out(f"      {ChangeClass.METADATA_ONLY}, {_broken(rename.readers)}; its files stay under {rename.location}")
    render.out(f"      whatever names {rename.identifier} fails from then on: jobs, queries, views, streams")


def _heading(step: Step) -> str:
    if step.kind == "namespace.change":
        return f"namespace {step.subject}  ({'create' if step.body.creates else 'update'})"
    return f"{step.subject}  ({_VERBS.get(step.kind, step.kind)})"


def _show_change(change: Change) -> None:
    sign = "!" if change.refusal and not change.accepted else _SIGNS.get(change.kind.split("-")[0], "~")
    render.out(f"  {sign} {sentence(change)}")
    render.out(f"      {cost(change)}")
    if change.accepted:
        render.out(f"      accepted: {change.accepted}")
    elif change.refusal:
        render.out(f"      refused: {change.refusal.reason}")
        if change.refusal.recipe:
            render.out(f"      instead: {change.refusal.recipe}")


def sentence(change: Change) -> str:
    """`add column note: string`, `set property x: a → b`."""
    verb = change.kind.replace("-", " ")
    subject = (
        "" if change.subject in {verb, "columns", "identifier", "location", "format-version"} else f" {change.subject}"
    )
    if change.kind is ChangeKind.RENAME_COLUMN:
        return f"{verb} {change.before} → {change.after}"
    if change.before is None and change.after is None:
        return f"{verb}{subject}"
    if change.before is None:
        return f"{verb}{subject}: {change.after}"
    if change.after is None:
        return f"{verb}{subject} (was {change.before})"
    return f"{verb}{subject}: {change.before} → {change.after}"


def cost(change: Change) -> str:
    """The classes with what they mean here, then the detail."""
    parts = []
    for class_ in change.classes:
        if class_ is ChangeClass.BREAKS_READERS:
            parts.append(_broken(change.readers))
        elif class_ in {ChangeClass.LAYOUT_DEBT, ChangeClass.NEEDS_REWRITE}:
            parts.append(f"{class_}: {price(change.price)}")
        else:
            parts.append(str(class_))
    line = ", ".join(parts)
    return f"{line}; {change.detail}" if change.detail else line


def _broken(readers: tuple[str, ...]) -> str:
    return f"breaks these readers: {', '.join(readers)}" if readers else "breaks readers (none declared)"


def price(of: Price) -> str:
    """`12 files, 34,000 rows, 1.2 MiB`; what is not known is said to be unknown."""
    if of == NOTHING:
        return "no files"
    files = "unknown files" if of.files is None else f"{of.files:,} file{'s' if of.files != 1 else ''}"
    rows = "unknown rows" if of.rows is None else f"{of.rows:,} row{'s' if of.rows != 1 else ''}"
    size = "unknown bytes" if of.bytes is None else sizes.show_bytes(of.bytes)
    return f"{files}, {rows}, {size}"


def _show_notes(notes: Iterable[Note]) -> None:
    for note in notes:
        mark = {"warning": "warning", "waiting": "waiting"}.get(note.level, "note")
        render.out(f"{mark}: {note.subject}: {note.text}")


def _summary(preview: Preview) -> str:
    if preview.empty:
        return "Nothing to do: it is as it should be."
    count = len(preview.plan.steps)
    parts = [f"{count} commit{'s' if count != 1 else ''} planned"] if count else []
    if preview.refused:
        parts.append(f"{len(preview.refused)} change{'s' if len(preview.refused) != 1 else ''} refused")
    return ", ".join(parts) + "."
