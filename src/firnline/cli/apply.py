"""`firnline apply`: make the catalog as declared, one atomic commit per table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firnline.cli import applying, render
from firnline.cli.app import state_of


def apply(
    ctx: typer.Context,
    plan: Annotated[
        Path | None, typer.Argument(help="A plan saved with --save; without one, plan now.", metavar="[PLAN]")
    ] = None,
    tables: Annotated[list[str] | None, typer.Option("--table", "-t", help="Only this table; may be repeated.")] = None,
) -> None:
    """Plan and apply, or apply a saved plan. Every table changes in one commit or not at all.

    A saved plan is input, not authority: it is vetted against the tables as they are now. Example: firnline apply --yes
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    lakehouse.require_write("Applying a plan")
    if plan is not None:
        preview = lakehouse.load_plan(plan)
    else:
        with render.progress("Comparing declarations and catalog"):
            preview = lakehouse.tables.plan(tables or ())
    applying.carry_out(state, lakehouse, preview, command="apply")
