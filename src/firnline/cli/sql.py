"""`firnline sql`: one statement, its answer as a table, CSV or JSON."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firnline.cli import render
from firnline.cli.app import Output, state_of

if TYPE_CHECKING:
    from firnline.lakehouse.sql import Answer

# A table is for looking at: a whole one would take minutes and a screen of megabytes. CSV and JSON are never cut.
ROWS_SHOWN_MAX = 100
_NULL = "NULL"
_NUMBERS = ("tinyint", "smallint", "int", "integer", "bigint", "hugeint", "float", "double", "decimal", "utinyint")


class Engine(StrEnum):
    """What runs the statement."""

    SPARK = "spark"
    DUCKDB = "duckdb"


def sql(
    ctx: typer.Context,
    statement: Annotated[str, typer.Argument(help="The statement; - reads it from stdin.", metavar="STATEMENT|-")],
    engine: Annotated[Engine, typer.Option("--engine", help="duckdb only reads, and starts no JVM.")] = Engine.SPARK,
    at: Annotated[
        str | None, typer.Option("--at", help="Read every table as it was then.", metavar="SNAPSHOT|TIME|REF")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=0, help=f"At most N rows; a table shows {ROWS_SHOWN_MAX} unless said.", metavar="N"
        ),
    ] = None,
) -> None:
    """Run one SQL statement on Spark, or a reading one on DuckDB.

    Example: firnline sql "SELECT count(*) FROM shop.orders" --at 2d --engine duckdb
    """
    state = state_of(ctx)
    text = sys.stdin.read() if statement == "-" else statement
    cut = state.output is Output.TABLE and limit is None
    asked = ROWS_SHOWN_MAX + 1 if cut else limit
    answer = state.lakehouse().sql(text, engine=engine.value, at=at, limit=asked)
    for table, snapshot in answer.snapshots.items():
        render.say(f"{table} as of snapshot {snapshot}")
    match state.output:
        case Output.JSON:
            _show_json(answer)
        case Output.CSV:
            _show_csv(answer)
        case Output.TABLE:
            _show_table(answer, ROWS_SHOWN_MAX if cut else None)


def _show_table(answer: Answer, shown_max: int | None) -> None:
    with render.progress("Reading the rows"):
        rows = list(answer.rows)
    if not answer.columns:
        render.say("Done.")
        return
    shown = rows[:shown_max]
    numbers = [column.name for column in answer.columns if column.type.lower().split("(")[0] in _NUMBERS]
    render.table([column.name for column in answer.columns], [list(map(cell, row)) for row in shown], right=numbers)
    if len(shown) < len(rows):
        render.warn(f"Only the first {len(shown)} rows are shown. --limit N shows more; -o csv and -o json give all.")


def _show_csv(answer: Answer) -> None:
    if not answer.columns:
        return
    render.out(",".join(_quoted(column.name) for column in answer.columns))
    for row in _awaited(answer.rows):
        render.out(",".join("" if value is None else _quoted(_text(value)) for value in row))


def _show_json(answer: Answer) -> None:
    """One document, row by row: `{"columns": …, "snapshots": …, "rows": […]}`."""
    head = {"columns": render.plain(answer.columns), "snapshots": dict(answer.snapshots)}
    render.out(json.dumps(head, ensure_ascii=False)[:-1] + ', "rows": [')
    before = ""
    for row in _awaited(answer.rows):
        line = json.dumps([_plain(value) for value in row], ensure_ascii=False)
        if before:
            render.out(f"{before},")
        before = line
    if before:
        render.out(before)
    render.out("]}")


def _awaited(rows: Iterator[tuple[object, ...]]) -> Iterable[tuple[object, ...]]:
    """The rows, with the wait for the first of them told."""
    with render.progress("Reading the rows"):
        first = list(itertools.islice(rows, 1))
    return itertools.chain(first, rows)


def cell(value: object) -> str:
    """A value in a table: on one line, and null told from the text NULL."""
    if value is None:
        return _NULL
    text = _text(value)
    if isinstance(value, str) and (text == _NULL or not text):
        return f"'{text}'"
    # What moves the cursor, or colours the terminal, is shown and not done.
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _text(value: object) -> str:
    plain = _plain(value)
    if isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _plain(value: object) -> Any:
    """A value as JSON has it: decimals as text, lest a reader makes floats of them; bytes in hexadecimal digits."""
    match value:
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case float() if not math.isfinite(value):
            return str(value) if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        case Mapping():
            return {_text(key): _plain(item) for key, item in value.items()}
        case str() | None | bool() | int() | float():
            return value
        case Sequence():
            return [_plain(item) for item in value]
        case _:
            return str(value)


def _quoted(text: str) -> str:
    """A CSV cell; empty text is quoted, so that nothing at all is null."""
    special = not text or any(char in text for char in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if special else text
