"""`firnline config`: every setting with its source; the schemas for editors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

HELP = "Settings and where each comes from; JSON schemas for editors."


class Which(StrEnum):
    """Of which file."""

    TABLE = "table"
    LAKEHOUSE = "lakehouse"


def show(ctx: typer.Context) -> None:
    """Print every setting of the environment with its value and where it came from. Secrets are masked.

    Example: firnline config show --env prod
    """
    state = state_of(ctx)
    settings = state.lakehouse().settings.settings
    if state.output is Output.JSON:
        render.json(settings)
        return
    render.table(("setting", "value", "from"), [(one.key, one.value, one.origin) for one in settings])


def schema(
    ctx: typer.Context,
    which: Annotated[Which, typer.Argument(help="The file it is for.")] = Which.TABLE,
) -> None:
    """Print the JSON schema of table files, or of lakehouse.yaml, for your editor.

    Example: firnline config schema table > table.schema.json
    """
    state_of(ctx)
    from firnline.config import schema as schemas

    render.json(schemas.table() if which is Which.TABLE else schemas.lakehouse())
