"""`firnline history` and `firnline rollback`: what a table was, and how it gets back there."""

from __future__ import annotations

from typing import Annotated

import typer

from firnline.cli import applying, render
from firnline.cli.app import Output, state_of

LIMIT = 20
Table = Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")]


def history(
    ctx: typer.Context,
    name: Table,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, the newest first.")] = LIMIT,
    everything: Annotated[bool, typer.Option("--all", help="Every snapshot that is kept.")] = False,
) -> None:
    """List the snapshots of a table: operation, rows, files, writer, run, refs.

    Example: firnline history shop.orders --limit 5
    """
    from firnline.history.values import Standing

    state = state_of(ctx)
    timeline = state.lakehouse().history.timeline(name, None if everything else limit)
    if state.output is Output.JSON:
        render.json(timeline)
        return
    rows = [
        (
            entry.id,
            render.when(entry.at),
            entry.operation,
            _count(entry.added),
            _count(entry.deleted),
            _count(entry.rows),
            _count(entry.files),
            entry.writer,
            ", ".join(entry.refs) if entry.standing is Standing.ON_MAIN else "; ".join((*entry.refs, entry.standing)),
        )
        for entry in timeline.entries
    ]
    columns = ("snapshot", "at", "operation", "added", "deleted", "rows", "files", "writer", "refs")
    render.table(columns, rows, right=("added", "deleted", "rows", "files"))
    if timeline.total > len(timeline.entries):
        render.say(f"{timeline.total - len(timeline.entries):,} older snapshots are not shown: --all lists them.")


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def rollback(
    ctx: typer.Context,
    name: Table,
    to: Annotated[str, typer.Option("--to", metavar="SNAPSHOT|TIME|REF", help="Where main is to go.")],
    accept: Annotated[
        str | None,
        typer.Option("--accept", metavar="REASON", help="Why main may go to a snapshot it never was at; recorded."),
    ] = None,
    save: applying.Save = None,
) -> None:
    """Move main back to a snapshot, a ref or a time. Says first what leaves, whom it touches, and how to undo it.

    No file is deleted: until the snapshots that left expire there is a way back. A time means what readers saw then.
    Example: firnline rollback shop.orders --to 2h
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("A rollback")
    preview = lakehouse.history.rollback(name, to, accept=accept)
    applying.carry_out(state, lakehouse, preview, command="rollback", save=save)
