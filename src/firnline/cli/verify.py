"""`firnline verify`: one snapshot, read by several readers and compared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of
from firnline.core import sizes
from firnline.core.errors import EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL
from firnline.proof.values import ColumnTally, Difference, ReaderReport, Tally, Verdict, Verification

_EXITS = {
    Verdict.AGREES: EXIT_DONE,
    Verdict.DISAGREES: EXIT_FAILED,
    Verdict.FAILED: EXIT_FAILED,
    Verdict.UNPROVEN: EXIT_PARTIAL,
}


def verify(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="NAMESPACE.TABLE")],
    at: Annotated[
        str | None, typer.Option("--at", help="A snapshot, time, branch or tag; now otherwise.", metavar="POINT")
    ] = None,
    reader: Annotated[
        list[str] | None, typer.Option("--reader", help="Only this one: spark, pyiceberg or duckdb.", metavar="NAME")
    ] = None,
) -> None:
    """Let Spark, PyIceberg and DuckDB read the same snapshot and compare every value they saw.

    Exit 1 when they disagree or a file is damaged, 4 when fewer than two could read. Example: firnline verify
    shop.orders --at 2h
    """
    state = state_of(ctx)
    verified = state.lakehouse().verify(table, at=at, readers=reader or ())
    if state.output is Output.JSON:
        render.json(_as_json(verified))
    else:
        _show(verified, talk=render.say if state.output is Output.CSV else render.out)
    if code := _EXITS[verified.verdict]:
        raise typer.Exit(code)


def _show(verified: Verification, talk: Any) -> None:
    render.table(
        ("reader", "verdict", "rows", "seconds", "row hash", "said"),
        [_line(report) for report in verified.readers],
        right=("rows", "seconds"),
    )
    for difference in verified.differences:
        talk(_difference(difference))
    for problem in verified.files:
        talk(f"damage: {problem}")
    if verified.unproven:
        talk(f"not compared: {', '.join(verified.unproven)}")
    talk(_sentence(verified))


def _line(report: ReaderReport) -> tuple[object, ...]:
    left_out = "; ".join(f"left out {name}: {why}" for name, why in report.left_out.items())
    tally = report.tally
    return (
        report.reader,
        report.verdict,
        None if tally is None else sizes.show_count(tally.rows),
        None if tally is None else f"{report.seconds:.1f}",
        None if tally is None else tally.shared,
        report.reason or left_out,
    )


def _difference(difference: Difference) -> str:
    place = f" in {difference.column}" if difference.column is not None else ""
    seen = ", ".join(f"{reader} saw {value}" for reader, value in difference.seen.items())
    return f"differs: {difference.kind}{place}: {seen}"


def _sentence(verified: Verification) -> str:
    where = f"snapshot {verified.snapshot}" if verified.snapshot is not None else "no snapshot yet"
    of = f"{verified.table} ({where})"
    named = {
        verdict: _listed([report.reader for report in verified.readers if report.verdict is verdict])
        for verdict in Verdict
    }
    match verified.verdict:
        case Verdict.AGREES:
            total = len(verified.columns)
            compared = total - len(verified.unproven)
            return f"{of}: {named[Verdict.AGREES]} agree on every row and on {compared} of {total} columns."
        case Verdict.DISAGREES:
            against = f"; {named[Verdict.AGREES]} agree with each other" if named[Verdict.AGREES] else ""
            return f"{of}: {named[Verdict.DISAGREES]} disagree{against}."
        case Verdict.FAILED if verified.files:
            return f"{of}: its files are not what its manifests say. Restore them, or roll the table back."
        case Verdict.FAILED:
            return f"{of}: {named[Verdict.FAILED]} could not read it to the end."
        case _:
            return f"{of}: unproven, as fewer than two readers could read the same columns."


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _as_json(verified: Verification) -> dict[str, Any]:
    """As the library returns it, sums as text: 64-bit numbers do not survive every JSON parser."""
    plain: dict[str, Any] = render.plain(verified)
    for shown, report in zip(plain["readers"], verified.readers, strict=True):
        shown["tally"] = None if report.tally is None else _tally_json(report.tally)
    return plain


def _tally_json(tally: Tally) -> dict[str, Any]:
    columns = {str(key): _column_json(one) for key, one in tally.columns.items()}
    return {"rows": tally.rows, "whole": str(tally.whole), "shared": str(tally.shared), "columns": columns}


def _column_json(one: ColumnTally) -> dict[str, Any]:
    return {"nulls": one.nulls, "nans": one.nans, "sum": str(one.sum)}
