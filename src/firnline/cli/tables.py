"""`firnline tables`: list, show, adopt, rename."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import applying, render, skipped
from firnline.cli.app import Output, state_of
from firnline.core import instants, sizes
from firnline.core.errors import EXIT_PARTIAL

if TYPE_CHECKING:
    from firnline.lakehouse.tables import Listing

HELP = "The tables of the catalog: list them, show one, write the files of existing ones, rename one."


def list_(ctx: typer.Context) -> None:
    """List every table of the catalog with its rows, files and size, and whether a file declares it.

    Exit 4 when a table cannot be read, or a part of the catalog may not be listed.
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    with render.progress("Reading the catalog"):
        listed = lakehouse.tables.list()
    if state.output is Output.JSON:
        render.json(listed.tables)
        _end(listed)
        return
    rows = [
        (
            entry.table,
            entry.kind,
            "yes" if entry.declared else "no",
            entry.format_version,
            _known(entry.rows, sizes.show_count),
            _known(entry.files, sizes.show_count),
            _known(entry.bytes, sizes.show_bytes),
            render.when(entry.updated),
        )
        for entry in listed.tables
        if entry.problem is None and entry.kind == "table"
    ]
    render.table(
        ("table", "kind", "declared", "format", "rows", "files", "size", "updated"),
        rows,
        right=("format", "rows", "files", "size"),
    )
    for entry in listed.tables:
        if entry.problem is not None:
            render.warn(f"{entry.table}: {entry.problem}")
    skipped.say((entry.table, entry.kind) for entry in listed.tables if entry.kind != "table")
    if not listed.tables and listed.unlisted is None:
        render.say(f"There is nothing in {lakehouse.connection.place}.")
    _end(listed)


def _end(listed: Listing) -> None:
    """Like `status`, with 4 when not everything could be seen."""
    if listed.unlisted is not None:
        render.warn(listed.unlisted)
    if listed.unlisted is not None or any(entry.problem is not None for entry in listed.tables):
        raise typer.Exit(EXIT_PARTIAL)


def _known(value: int | None, how: object) -> str:
    assert callable(how)
    return "unknown" if value is None else str(how(value))


def show(ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")]) -> None:
    """Show one table: schema, layout, properties, snapshots, size, who wrote last."""
    state = state_of(ctx)
    shown = state.lakehouse().tables.show(name)
    if state.output is Output.JSON:
        render.json(shown)
        return
    for label, value in shown.headline:
        render.out(f"{label:<12} {value}")
    render.out("")
    render.table(("id", "column", "type", "required", "doc"), shown.columns, right=("id",))
    if shown.properties:
        render.out("")
        render.table(("property", "value"), tuple(shown.properties.items()))
    if shown.snapshots:
        render.out("")
        rows = [(s.id, instants.show(s.at), s.operation, s.rows, s.files, s.writer) for s in shown.snapshots]
        render.table(("snapshot", "at", "operation", "rows", "files", "writer"), rows, right=("rows", "files"))


def adopt(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TABLE|'DB.*'", help="A table, or a glob in quotes.")],
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write the table file of existing tables. A plan right after is empty.

    Example: firnline tables adopt 'shop.*'
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    with render.progress("Reading the tables"):
        adopted = lakehouse.tables.adopt(name, force=force)
    if state.output is Output.JSON:
        render.json(adopted)
    else:
        for path in adopted.written:
            render.out(render.relative(path, lakehouse.root))
    for note in adopted.skipped:
        (render.warn if note.level == "warning" else render.say)(f"skipped {note.subject}: {note.text}")
    if not adopted.written and any(note.level == "warning" for note in adopted.skipped):
        raise typer.Exit(EXIT_PARTIAL)


def rename(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")],
    to: Annotated[str, typer.Argument(metavar="TO", help="The new NAMESPACE.TABLE, whose namespace is there.")],
    save: applying.Save = None,
) -> None:
    """Rename a table where its catalog can: its files, history and branches stay. A declared one is renamed in its file
    first.

    Example: firnline tables rename shop.orders shop.sales
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("Renaming a table")
    preview = lakehouse.tables.rename(name, to)
    applying.carry_out(state, lakehouse, preview, command="tables rename", save=save)
