"""`firnline plan`: what would change, and at what price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firnline.cli import applying, render
from firnline.cli.app import Output, state_of
from firnline.core.errors import EXIT_REFUSED


def plan(
    ctx: typer.Context,
    tables: Annotated[
        list[str] | None, typer.Argument(help="Only these tables; `db.*` works.", metavar="[TABLE]...")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the plan to FILE for `firnline apply FILE`.", metavar="FILE")
    ] = None,
    expect_empty: Annotated[
        bool, typer.Option("--expect-empty", help="Exit 3 unless there is nothing to do; for CI.")
    ] = False,
    count: Annotated[bool, typer.Option("--count", help="Let Spark count nulls where metrics cannot tell.")] = False,
) -> None:
    """Compare the declared tables with the catalog and show every change with its class and price.

    Nothing is changed. Exit 3 when a change is refused. Example: firnline plan shop.orders --save orders.plan
    """
    from firnline.cli import preview as previews

    state = state_of(ctx)
    lakehouse = state.lakehouse()
    with render.progress("Comparing declarations and catalog"):
        found = lakehouse.tables.plan(tables or (), count=count)
    if state.output is Output.JSON:
        render.json(previews.as_json(found, lakehouse.plan_json(found.plan)))
    else:
        previews.show(found)
    if save is not None:
        applying.save_to(lakehouse, found, save)
    if found.refused or (expect_empty and not found.empty):
        raise typer.Exit(EXIT_REFUSED)
