"""`firnline local`: real servers on this machine, without Docker. Up, status, logs, down, compose."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

if TYPE_CHECKING:
    from firnline.lakehouse.stack import ServiceShown

HELP = "Servers of your own on this machine, on loopback only: s3, hive, rest, glue, dynamodb."
_NAMES = typer.Argument(metavar="[NAME]...", help="s3, hive, rest, glue or dynamodb.")


def up(ctx: typer.Context, names: Annotated[list[str] | None, _NAMES] = None) -> None:
    """Start services, and those they stand on. Without a name: s3, and what the environment says `services: local` of.

    What runs already is left as it is. Data, ports and keys are kept under .lake/services from one start to the next.
    Example: firnline local up hive
    """
    from firnline.lakehouse import stack

    state = state_of(ctx)
    _show(stack.up(state.project, state.env, names or (), os.environ, render.progress), state.output)


def status(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One service, with all there is to say.")] = None,
) -> None:
    """Show which services run and where; of one, also its files and how it differs from what it stands for.

    Example: firnline local status glue
    """
    from firnline.lakehouse import stack

    state = state_of(ctx)
    found = stack.status(state.project, name, os.environ, render.progress)
    if name is None or state.output is not Output.TABLE:
        _show(found, state.output)
    else:
        _show_one(found[0])


def logs(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="s3, hive, rest, glue or dynamodb.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it ends, or Ctrl-C.")] = False,
) -> None:
    """Print what a service said since it was started."""
    from firnline.lakehouse import stack

    state = state_of(ctx)
    lines = stack.logs(state.project, name, os.environ, render.progress, follow=follow)
    if state.output is Output.JSON and not follow:
        render.json(list(lines))
        return
    for line in lines:
        render.out(line)


def down(ctx: typer.Context, names: Annotated[list[str] | None, _NAMES] = None) -> None:
    """Stop services; without a name, all. Their data stays."""
    from firnline.lakehouse import stack

    state = state_of(ctx)
    stopped = stack.down(state.project, names or (), os.environ, render.progress)
    if state.output is Output.JSON:
        render.json({"stopped": stopped})
        return
    for name in stopped:
        render.out(f"stopped  {name}")
    if not stopped:
        render.say("Nothing ran.")


def compose(
    ctx: typer.Context,
    cluster: Annotated[bool, typer.Option("--cluster", help="With a Spark master and two workers.")] = False,
) -> None:
    """Print a docker-compose file of the same stack. It holds no credentials: they come from an .env beside it.

    Example: firnline local compose > compose.yaml
    """
    from firnline.lakehouse import stack

    text = stack.compose(cluster=cluster)
    if state_of(ctx).output is Output.JSON:
        render.json({"compose": text})
    else:
        render.out(text.rstrip("\n"))


def _show(services: tuple[ServiceShown, ...], output: Output) -> None:
    if output is Output.JSON:
        render.json(services)
        return
    rows = [(each.name, each.state, each.endpoint, each.pid, each.about) for each in services]
    render.table(("service", "state", "endpoint", "pid", "what"), rows, right=("pid",))


def _show_one(service: ServiceShown) -> None:
    lines = (
        ("service", f"{service.name}: {service.about}"),
        ("state", service.state),
        ("endpoint", service.endpoint),
        ("pid", service.pid),
        ("started", service.started),
        ("log", service.log),
        ("data", service.data),
        ("settings", service.file if service.endpoint else None),
    )
    for label, value in lines:
        if value is not None:
            render.out(f"{label:<9} {value}")
    if service.properties:
        render.out("")
        render.table(("property", "value"), tuple(service.properties.items()))
    render.out("")
    for limit in service.limits:
        render.out(f"- {limit}")
