"""`firnline doctor`: is everything here that the work needs, and if not, what is the fix."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of
from firnline.core.errors import EXIT_FAILED

if TYPE_CHECKING:
    from firnline.lakehouse.checks import Check


def doctor(
    ctx: typer.Context,
    start: Annotated[bool, typer.Option("--start", help="Start Spark, too, and run a statement.")] = False,
) -> None:
    """Check Python, Java, jars, catalog, warehouse, state, clock and disk; say the fix of what is wrong.

    Without a project the machine alone is checked. With access: read nothing is written, and what could not be checked
    for it says so. Exit 1 when there is a problem. Example: firnline doctor --env prod
    """
    from firnline.lakehouse import doctor as examining
    from firnline.lakehouse.checks import PROBLEM

    state = state_of(ctx)
    with render.progress("Looking"):
        checks = examining.examine(state.project, state.env, os.environ, notify=render.progress, start=start)
    if state.output is Output.JSON:
        render.json(checks)
    elif state.output is Output.CSV:
        render.table(("check", "state", "text", "fix"), [(c.name, c.state, c.text, c.fix) for c in checks])
    else:
        _show(checks)
    if any(check.state == PROBLEM for check in checks):
        raise typer.Exit(EXIT_FAILED)


def _show(checks: tuple[Check, ...]) -> None:
    wide = max(len(check.name) for check in checks)
    for check in checks:
        first, *rest = check.text.splitlines()
        render.out(f"{check.state:<11}  {check.name:<{wide}}  {first}")
        for line in rest:
            render.out(f"{'':<11}  {'':<{wide}}  {line}")
        if check.fix:
            render.out(f"{'':<11}  {'':<{wide}}  fix: {check.fix}")
    counts = Counter(check.state for check in checks)
    render.out(", ".join(f"{count} {state}" for state, count in counts.items()) + ".")
