"""`firnline policy`: the thresholds a table is held against, and where each comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

HELP = "The policy of tables: every threshold and where it comes from."


def show(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")],
    changed: Annotated[bool, typer.Option("--changed", help="Only what differs from the defaults.")] = False,
) -> None:
    """Print every policy value of a table with its origin: default, property, lakehouse.yaml, namespace, table file.

    Example: firnline policy show shop.orders --changed
    """
    state = state_of(ctx)
    policy = state.lakehouse().judging.policy(table)
    values = [each for each in policy.values.values() if not changed or each.origin != "default"]
    if state.output is Output.JSON:
        render.json(values)
    else:
        render.table(("key", "value", "from"), [(each.key, each.shown, each.origin) for each in values])
    for ignored in policy.ignored:
        render.warn(f"ignored: {ignored}")
