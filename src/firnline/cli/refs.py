"""`firnline branch` and `firnline tag`: list, create, drop; and a branch moved forward."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import applying, render
from firnline.cli.app import Output, state_of
from firnline.cli.history import Table
from firnline.core import instants

if TYPE_CHECKING:
    from firnline.history.refs import Retention

BRANCH_HELP = "Branches of a table: list, create, drop, move forward."
TAG_HELP = "Tags of a table: list, create, drop."
Name = Annotated[str, typer.Argument(metavar="NAME", help="The branch or tag.")]
At = Annotated[
    str | None, typer.Option("--at", metavar="SNAPSHOT|TIME|REF", help="Where it is made; main's snapshot unless said.")
]
Keep = Annotated[
    str | None, typer.Option("--keep", metavar="AGE", help="How long it lives: 90d. For ever unless said.")
]


def list_branches(ctx: typer.Context, name: Table) -> None:
    """List the branches: where each is, its rows, and how far it is ahead of main and behind it."""
    _list(ctx, name, "branch")


def list_tags(ctx: typer.Context, name: Table) -> None:
    """List the tags: where each is, its rows, and when an expiry drops it."""
    _list(ctx, name, "tag")


def create_branch(
    ctx: typer.Context,
    name: Table,
    branch: Name,
    at: At = None,
    keep: Keep = None,
    max_snapshot_age: Annotated[
        str | None, typer.Option("--max-snapshot-age", metavar="AGE", help="Expiry keeps its snapshots that long.")
    ] = None,
    min_snapshots: Annotated[
        int | None, typer.Option("--min-snapshots", min=1, help="Expiry keeps at least so many of its snapshots.")
    ] = None,
    save: applying.Save = None,
) -> None:
    """Create a branch. Readers name it as TABLE.branch_NAME in Spark.

    Example: firnline branch create shop.orders nightly --keep 30d
    """
    retention = _retention(keep, max_snapshot_age, min_snapshots)
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("Changing a ref")
    preview = lakehouse.history.create_ref(name, branch, "branch", at=at, retention=retention)
    applying.carry_out(state, lakehouse, preview, command="branch create", save=save)


def create_tag(
    ctx: typer.Context, name: Table, tag: Name, at: At = None, keep: Keep = None, save: applying.Save = None
) -> None:
    """Create a tag: a name for a snapshot, which keeps it from expiring.

    Example: firnline tag create shop.orders before-migration --keep 90d
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("Changing a ref")
    preview = lakehouse.history.create_ref(name, tag, "tag", at=at, retention=_retention(keep))
    applying.carry_out(state, lakehouse, preview, command="tag create", save=save)


def drop_branch(ctx: typer.Context, name: Table, branch: Name, save: applying.Save = None) -> None:
    """Drop a branch. Snapshots that only it holds become free to expire; until then they can be brought back."""
    _drop(ctx, name, branch, "branch", save)


def drop_tag(ctx: typer.Context, name: Table, tag: Name, save: applying.Save = None) -> None:
    """Drop a tag. Snapshots that only it holds become free to expire; until then they can be brought back."""
    _drop(ctx, name, tag, "tag", save)


def forward(
    ctx: typer.Context,
    name: Table,
    branch: Name,
    to: Annotated[str, typer.Option("--to", metavar="SNAPSHOT|TIME|REF", help="Where it is to go.")],
    save: applying.Save = None,
) -> None:
    """Move a branch forward along its own line: nothing it has is ever lost. With main, this publishes another branch.

    Example: firnline branch forward shop.orders main --to audited
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("Changing a ref")
    preview = lakehouse.history.forward_branch(name, branch, to=to)
    applying.carry_out(state, lakehouse, preview, command="branch forward", save=save)


def _list(ctx: typer.Context, name: str, kind: str) -> None:
    state = state_of(ctx)
    lines = state.lakehouse().history.refs(name, kind)
    if state.output is Output.JSON:
        render.json(lines)
        return
    rows = [
        (
            line.ref.name,
            line.ref.snapshot,
            render.when(line.at),
            "unknown" if line.rows is None else f"{line.rows:,}",
            line.ahead,
            line.behind,
            render.when(line.expires) or "never",
        )
        for line in lines
    ]
    columns = (kind, "snapshot", "at", "rows", "ahead", "behind", "expires")
    render.table(columns, rows, right=("rows", "ahead", "behind"))


def _drop(ctx: typer.Context, name: str, ref: str, kind: str, save: applying.Save) -> None:
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    if save is None:
        lakehouse.require_write("Changing a ref")
    preview = lakehouse.history.drop_ref(name, ref, kind)
    applying.carry_out(state, lakehouse, preview, command=f"{kind} drop", save=save)


def _retention(keep: str | None, snapshot_age: str | None = None, snapshots: int | None = None) -> Retention:
    from firnline.history.refs import Retention

    return Retention(_age(keep), _age(snapshot_age), snapshots)


def _age(text: str | None) -> timedelta | None:
    return None if text is None else instants.parse_duration(text)
