"""`firnline scan-cost`: what a query would open, before anybody runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of
from firnline.core import figures
from firnline.core.sizes import show_bytes, show_count

if TYPE_CHECKING:
    from firnline.facts.scan import Portion, ScanCost


def scan_cost(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")],
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            help="The rows wanted: \"day >= DATE '2026-11-18' AND country IN ('DE','FR')\". Everything unless said.",
            metavar="FILTER",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="A column the query reads; may be repeated. All unless said.", metavar="COLUMN"),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", help="Another snapshot than the current one.", metavar="SNAPSHOT|TIME|REF")
    ] = None,
) -> None:
    """Tell which files, bytes and requests a query would take, from metadata alone.

    Example: firnline scan-cost shop.orders --where "day = DATE '2026-11-18' AND id > 1500"
    """
    state = state_of(ctx)
    with render.progress(f"Reading the manifests of {table}"):
        found = state.lakehouse().facts.scan_cost(table, where, columns=column or (), at=at)
    if state.output is Output.JSON:
        render.json(found)
        return
    rows = [
        _row("manifests opened", found.manifests),
        _row("manifests skipped by their ranges", found.manifests_skipped),
        _row("data files read", found.files),
        _row("  spared in manifests not opened", found.unlisted),
        _row("  spared by partition", found.skipped_by_partition),
        _row("  spared by metrics", found.skipped_by_metrics),
        _row("delete files read", found.deletes),
        ("rows", figures.show(found.rows, show_count), ""),
        ("requests", figures.show(found.requests, show_count), ""),
    ]
    render.table(("what", "count", "bytes"), rows, right=("count", "bytes"))
    if state.output is Output.TABLE:
        _tell(found, filtered=where is not None)


def _row(name: str, portion: Portion) -> tuple[str, str, str]:
    return name, figures.show(portion.count, show_count), figures.show(portion.bytes, show_bytes)


def _tell(found: ScanCost, *, filtered: bool) -> None:
    spared = (found.unlisted, found.skipped_by_partition, found.skipped_by_metrics)
    if filtered and found.files.count.low and not any(each.count.low for each in spared):
        render.say("The filter spares nothing: neither partitions nor bounds tell its columns apart.")
    for each in found.assumptions:
        render.say(f"note: {each}")
