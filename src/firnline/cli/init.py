"""`firnline init`: a small project to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of


def init(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where; made when it is not there.")] = Path(),
    stack: Annotated[
        str,
        typer.Option(
            metavar="NAME[,…]", help="Environments on servers of this machine too: hive, rest, glue, s3, dynamodb."
        ),
    ] = "",
) -> None:
    """Write a small project to begin with: lakehouse.yaml, a first table file, .gitignore.

    Nothing that is there is changed.
    Example: firnline init my-lakehouse --stack hive,s3
    """
    from firnline.lakehouse import starting

    state = state_of(ctx)
    names = [name.strip() for name in stack.split(",") if name.strip()]
    started = starting.start(folder, names)
    if state.output is Output.JSON:
        render.json({"root": str(started.root), "written": list(started.written), "kept": list(started.kept)})
        return
    for name in started.written:
        render.out(f"{folder / name}")
    for name in started.kept:
        render.say(f"{folder / name} is there already and was left as it is.")
    go_there = "" if folder == Path() else f"cd {folder} && "
    up = f"firnline local up {' '.join(names)} && " if names else ""
    render.say(f"Next: {go_there}{up}firnline plan")
