"""`firnline ledger`: what was done, run by run, or one run step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

if TYPE_CHECKING:
    from firnline.lakehouse.ledger import RunShown
    from firnline.loop.ports import Event

LIMIT = 20


def ledger(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="A run's id, or the beginning of it.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many runs, the newest first.")] = LIMIT,
    before: Annotated[str | None, typer.Option("--before", metavar="RUN", help="Only runs before this one.")] = None,
) -> None:
    """List the runs, or show one step by step: intents, outcomes, overrides, verdict.

    Example: firnline ledger 20261118T2255
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if run is not None:
        shown = lakehouse.run(run)
        if state.output is Output.JSON:
            render.json(shown)
        else:
            _show(shown)
        return
    runs = lakehouse.runs(limit, before)
    if state.output is Output.JSON:
        render.json(runs)
        return
    rows = [
        (one.run, render.when(one.started), one.command, one.verdict or "not ended", f"{one.done} of {one.steps}")
        for one in runs
    ]
    render.table(("run", "started", "command", "verdict", "steps done"), rows, right=("steps done",))


def _show(shown: RunShown) -> None:
    from firnline.loop.ports import EventKind

    first = shown.events[0].body
    summary = shown.summary
    render.out(f"run        {summary.run}")
    render.out(f"command    {summary.command}  (firnline {first.get('tool', 'unknown')})")
    render.out(f"where      {first.get('lakehouse')} / {first.get('environment')} / {first.get('catalog')}")
    render.out(f"by         {first.get('by', 'unknown')}")
    render.out(f"started    {render.when(summary.started)}")
    render.out(f"ended      {render.when(summary.ended) or 'not ended: it runs, or was killed'}")
    render.out(f"verdict    {summary.verdict or 'none yet'}, {summary.done} of {summary.steps} steps done")
    for override in first.get("overrides", ()):
        render.out(f"override   {override}")
    render.out("")
    rows = [
        (render.when(event.at), event.step, event.kind, event.subject, _words(event))
        for event in shown.events
        if event.kind not in {EventKind.STARTED, EventKind.ENDED}
    ]
    render.table(("at", "step", "event", "subject", "what"), rows)


def _words(event: Event) -> str:
    from firnline.loop.ports import EventKind

    body = event.body
    if event.kind is EventKind.INTENT:
        return str(body.get("kind", ""))
    tries = f" after {body['tries']} tries" if body.get("tries", 1) > 1 else ""
    by = f", found by {body['by']}" if event.kind is EventKind.SETTLED else ""
    detail = f": {body['detail']}" if body.get("detail") else ""
    return f"{body.get('outcome', 'unknown')}{tries}{by}{detail}"
