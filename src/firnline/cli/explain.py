"""`firnline explain`: every rule held against one table, with the numbers on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

if TYPE_CHECKING:
    from firnline.judge.values import Finding, Measure
    from firnline.lakehouse.judging import Explained

_MARKS = {True: "fires", False: "ok", None: "unknown"}


def explain(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what `status` looks at: not history, columns and stored files.")
    ] = False,
    fired: Annotated[bool, typer.Option("--fired", help="Only the rules that fire.")] = False,
) -> None:
    """Tell of every rule whether it fires, its numbers and thresholds, and when it would at the present rhythm.

    Nothing is written but a local cache. `firnline policy show TABLE` tells where each threshold comes from.
    Example: firnline explain shop.orders --fired
    """
    state = state_of(ctx)
    lakehouse = state.lakehouse()
    with render.progress(f"Looking at {table}"):
        explained = lakehouse.judging.explain(table, quick=quick)
    findings = [each for each in explained.judgement.findings if each.fired or not fired]
    if state.output is Output.JSON:
        render.json(findings)
    elif state.output is Output.CSV:
        rows = [(each.rule, _MARKS[each.fired], each.health.value, each.sentence) for each in findings]
        render.table(("rule", "fires", "health", "sentence"), rows)
    else:
        _show(explained, findings)


def _show(explained: Explained, findings: list[Finding]) -> None:
    judgement = explained.judgement
    render.out(f"{judgement.table} is {judgement.health.value}. {judgement.reason}")
    for each in sorted(findings, key=lambda one: ({True: 0, None: 1, False: 2}[one.fired], -one.health.rank)):
        render.out("")
        _finding(each, explained)


def _finding(each: Finding, explained: Explained) -> None:
    health = f" ({each.health.value})" if each.fired else ""
    render.out(f"{_MARKS[each.fired]:<8} {each.rule}{health}: {each.sentence}")
    for measure in each.measures:
        render.out(f"         {measure.name}: {_measure(measure, explained)}")
    if each.partitions:
        render.out(f"         in {', '.join(each.partitions)}")
    if each.waiting.money or each.acting.money:
        currency = explained.subject.prices.currency
        render.out(
            f"         waiting costs {_money(each.waiting.money)} {currency} a day, "
            f"mending {_money(each.acting.money)} {currency} once"
        )
    if each.when is not None:
        render.out(f"         would fire {_soon(each.when.in_millis)}: {each.when.why}")
    if each.next_step:
        render.out(f"         next: {each.next_step}")


def _measure(measure: Measure, explained: Explained) -> str:
    from firnline.config import amounts
    from firnline.judge import ranges

    shown = ranges.show(measure.value, measure.unit)
    if measure.threshold is None:
        return shown
    side = "from" if measure.above else "below"
    origin = ""
    if measure.key is not None:
        origin = f" ({measure.key}, {explained.subject.policy.values[measure.key].origin})"
    return f"{shown}; fires {side} {amounts.show(measure.threshold, measure.unit)}{origin}"


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 0.01 or not amount else "under 0.01"


def _soon(millis: int) -> str:
    from firnline.config import amounts
    from firnline.config.amounts import Unit

    return f"in {amounts.show(millis, Unit.DURATION)}"
