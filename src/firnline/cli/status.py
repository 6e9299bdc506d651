"""`firnline status`: every table in a line, worst first; one table on a screen; what changed since an earlier look."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from firnline.cli import render, skipped
from firnline.cli.app import Output, State, state_of
from firnline.core import instants, sizes
from firnline.core.errors import EXIT_PARTIAL, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firnline.judge.judging import Cut, Judgement
    from firnline.judge.looks import Change, Sight
    from firnline.lakehouse.judging import Fleet

_GLOB = frozenset("*?[")


def status(
    ctx: typer.Context,
    tables: Annotated[
        list[str] | None, typer.Argument(help="One table in detail, or names and globs.", metavar="[TABLE]...")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="What changed since a look at least that old: 1d, 2026-11-18T09:30Z.", metavar="TIME"
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0, help="What to mend for so much money, in the prices' currency.")
    ] = None,
    parallel: Annotated[
        int | None,
        typer.Option(
            "--parallel", min=1, max=64, help="Tables looked at together: 4 on this machine, 16 elsewhere, unless said."
        ),
    ] = None,
) -> None:
    """Tell how every table is, worst first, with the reason; or one table on a screen.

    From metadata alone: no JVM is started and nothing is written but a local cache. Exit 4 when a table cannot be read
    whole.
    Example: firnline status 'shop.*' --since 1d
    """
    state = state_of(ctx)
    chosen = tables or []
    one = len(chosen) == 1 and not _GLOB & set(chosen[0])
    if since is not None:
        if chosen:
            raise BadInput("--since compares looks at the whole fleet.", next_step="Leave the tables out.")
        instants.parse_instant(since, datetime.now(UTC))  # a mistake is told before a long look
    if budget is not None and (one or since is not None):
        raise BadInput("--budget cuts a ranked fleet.", next_step="Leave out --since, and name no table or a glob.")
    if one and state.output is not Output.CSV:
        _one(state, chosen[0])
        return
    lakehouse = state.lakehouse()
    with render.counted("Looking at tables") as on_table:
        fleet = lakehouse.judging.status(chosen, parallel=parallel, on_table=on_table)
    if since is not None:
        look, changes = lakehouse.judging.since(fleet, since)
        _show_changes(state, look.millis, changes)
    else:
        _show_fleet(state, fleet, _cut(fleet, budget))
    if fleet.unlisted is not None:
        render.warn(fleet.unlisted)
    if fleet.unheard is not None:
        render.warn(f"What rests on past runs was not judged. {fleet.unheard}")
    elif not fleet.tables and not fleet.skipped:
        render.say(f"There is nothing in {lakehouse.connection.place}.")
    if fleet.unlisted is not None or any(each.health.value == "unreadable" for each in fleet.tables):
        raise typer.Exit(EXIT_PARTIAL)


def _one(state: State, name: str) -> None:
    from firnline.cli import portrait

    lakehouse = state.lakehouse()
    with render.progress(f"Looking at {name}"):
        explained = lakehouse.judging.explain(name, quick=True)
    if state.output is Output.JSON:
        render.json(portrait.as_json(explained))
    else:
        portrait.show(explained)


def _cut(fleet: Fleet, budget: float | None) -> Cut | None:
    from firnline.judge import judging

    return None if budget is None else judging.cut(fleet.tables, judging.Budget(money=budget))


def _show_fleet(state: State, fleet: Fleet, cut: Cut | None) -> None:
    if state.output is Output.JSON:
        tables = [{**render.plain(each), "figures": fleet.sights[str(each.table)].figures} for each in fleet.tables]
        beside = {"skipped": fleet.skipped, "unlisted": fleet.unlisted, "unheard": fleet.unheard, "budget": cut}
        render.json({"at": fleet.at, "tables": tables, **beside})
        return
    columns = ("table", "health", "files", "size", "rows", "deletes", "waiting/day", "mending", "why")
    rows = [_line(each, fleet.sights[str(each.table)]) for each in fleet.tables]
    render.table(columns, rows, right=("files", "size", "rows", "deletes", "waiting/day", "mending"))
    skipped.say(fleet.skipped)
    if cut is not None:
        _show_cut(cut, render.say if state.output is Output.CSV else render.out)
    worst = next((each.table for each in fleet.tables if each.findings), None)
    if state.output is Output.TABLE and worst is not None:
        render.say(f"`firnline explain {worst}` tells why, and why nothing else is wrong.")


def _line(judgement: Judgement, sight: Sight) -> tuple[object, ...]:
    def figure(name: str, how: object) -> str:
        assert callable(how)
        value = sight.figures.get(name)
        return "unknown" if value is None else str(how(value))

    return (
        judgement.table,
        judgement.health.value,
        figure("data files", sizes.show_count),
        figure("bytes", sizes.show_bytes),
        figure("rows", sizes.show_count),
        figure("deletes", sizes.show_count),
        _money(judgement.waiting.money),
        _money(judgement.acting.money),
        judgement.reason,
    )


def _money(amount: float) -> str:
    return "" if not amount else f"{amount:,.2f}" if amount >= 0.01 else "<0.01"


def _show_cut(cut: Cut, tell: Callable[[str], None]) -> None:
    tell("")
    names = ", ".join(str(each.table) for each in cut.taken) or "nothing"
    tell(f"Within the budget, for {cut.spent.money:,.2f}: {names}.")
    for each in cut.left_out:
        tell(f"Left out: {each.judgement.table}. {each.why}")


def _show_changes(state: State, millis: int, changes: Sequence[Change]) -> None:
    if state.output is Output.JSON:
        render.json({"since": instants.from_millis(millis), "changes": changes})
        return
    render.say(f"Since the look of {instants.show(instants.from_millis(millis))}:")
    if not changes and state.output is Output.TABLE:
        render.out("Nothing changed.")
        return
    rows = [
        (
            each.table,
            "new" if each.before is None else each.before.value,
            "gone" if each.after is None else each.after.value,
            ", ".join(each.began),
            ", ".join(each.ended),
            ", ".join(f"{name} {old:,} → {new:,}" for name, (old, new) in each.moved.items()),
        )
        for each in changes
    ]
    render.table(("table", "was", "is", "began", "ended", "moved"), rows)
