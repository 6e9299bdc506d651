"""A plan carried out, whatever made it: shown, agreed to, saved or applied, and its outcomes shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, State
from firnline.core.errors import EXIT_REFUSED

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse
    from firnline.lakehouse.plans import Preview

Save = Annotated[
    Path | None,
    typer.Option("--save", help="Do nothing; write the plan to FILE for `firnline apply FILE`.", metavar="FILE"),
]


def carry_out(state: State, lakehouse: Lakehouse, preview: Preview, *, command: str, save: Path | None = None) -> None:
    """Show the plan; with `save` write it to a file, else ask and apply it. Exits by the table of exit codes."""
    from firnline.cli import preview as previews
    from firnline.cli import results

    if state.output is not Output.JSON:
        previews.show(preview)
    if save is not None:
        save_to(lakehouse, preview, save)
        return
    if not preview.refused and not preview.plan.steps and not preview.settle:
        if state.output is Output.JSON:
            render.json({"run": None, "verdict": "done", "steps": []})
        return
    if not preview.refused and preview.plan.steps and not render.confirm("Apply this?", yes=state.yes):
        render.say("Nothing was applied.")
        raise typer.Exit(EXIT_REFUSED)
    with results.watching() as watch:
        result = lakehouse.apply(preview, command=command, on_event=watch)
    results.show(result, output=state.output)


def save_to(lakehouse: Lakehouse, preview: Preview, path: Path) -> None:
    """Write the plan to a file, and say how it is applied."""
    lakehouse.save_plan(preview, path)
    render.say(f"Saved. Apply it with: firnline apply {path}")
