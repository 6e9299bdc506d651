"""How commands speak: data to stdout, talk to stderr. Tables on a terminal, plain aligned text in a pipe."""

from __future__ import annotations

import contextlib
import csv
import json as jsonlib
import math
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firnline.core import errors, figures, instants
from firnline.core.figures import Figure
from firnline.core.ids import Identifier

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PROGRESS_AFTER_SECONDS = 2.0
PROGRESS_EVERY_SECONDS = 5.0  # a line in a log, where nothing can be overwritten
_speech: dict[str, Any] = {"csv": False, "json_log": False, "run": None}


def configure(*, output: str, json_log: bool) -> None:
    """Set once per command, before it speaks."""
    _speech.update(csv=output == "csv", json_log=json_log, run=None)


def set_run(run: str) -> None:
    """From now on every line of a JSON log carries this run id."""
    _speech["run"] = run


def _talk(level: str, text: str) -> None:
    if _speech["json_log"]:
        line = {"level": level, "message": text, **({"run": _speech["run"]} if _speech["run"] else {})}
        print(jsonlib.dumps(line, ensure_ascii=False), file=sys.stderr, flush=True)
    else:
        prefix = {"warning": "warning: ", "error": "error: "}.get(level, "")
        print(f"{prefix}{text}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """One line of talk."""
    _talk("info", text)


def warn(text: str) -> None:
    """One line the user should not miss."""
    _talk("warning", text)


def error(problem: errors.FirnlineError) -> None:
    """What, why and the next step."""
    parts = [problem.what, *(part for part in (problem.why, problem.next_step) if part)]
    _talk("error", "\n       ".join("\n".join(parts).splitlines()))


def bug(problem: BaseException, environ: Mapping[str, str]) -> None:
    """Two lines on the screen and everything else in a file: a bug of ours, never of the user's input."""
    import firnline

    text = "".join(traceback.format_exception(problem))
    with tempfile.NamedTemporaryFile("w", prefix="firnline-bug-", suffix=".log", delete=False) as report:
        report.write(f"firnline {firnline.__version__}, Python {sys.version}\n\n{text}")
    _talk("error", f"Unexpected: {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}")
    _talk("info", f"This is a defect of Firnline. The details are in {report.name}.")
    if environ.get("FIRNLINE_DEBUG"):
        print(text, file=sys.stderr)


def out(text: str) -> None:
    """A line of data as it is."""
    print(text)


def json(value: object) -> None:
    """The value the library returns, as JSON."""
    print(jsonlib.dumps(plain(value), indent=2, ensure_ascii=False, default=str))


def plain(value: object) -> Any:
    """Dataclasses, figures, ranges, tuples, enums and times as JSON has them; units as people write them."""
    if isinstance(value, Figure):
        return figures.plain(value)
    if isinstance(value, Identifier):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name.lower()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    return value


def _plain_fields(value: DataclassInstance) -> Any:
    from firnline.judge import ranges  # here: `--help` loads no room

    if isinstance(value, ranges.Range):
        return ranges.plain(value)
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def _key(key: object) -> str:
    return ".".join(map(str, key)) if isinstance(key, tuple) else str(key)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, right: Sequence[str] = ()
) -> None:
    """Rows to stdout: a table on a terminal, aligned text in a pipe, CSV when that was asked for."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if _speech["csv"]:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(cells)
    elif sys.stdout.isatty():
        _rich_table(columns, cells, title, right)
    else:
        _plain_table(columns, cells, title, right)


def _rich_table(columns: Sequence[str], cells: list[list[str]], title: str | None, right: Sequence[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        grid.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in cells:
        grid.add_row(*(Text(cell) for cell in row))
    Console().print(grid)


def _plain_table(columns: Sequence[str], cells: list[list[str]], title: str | None, right: Sequence[str]) -> None:
    if title:
        print(title)
    lines = [list(columns), *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        padded = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        print("  ".join(padded).rstrip())


@contextlib.contextmanager
def progress(text: str) -> Iterator[None]:
    """Say what is taking time, once it has taken two seconds; a spinner on a terminal, one line elsewhere."""
    if _speech["json_log"] or not sys.stderr.isatty():
        timer = threading.Timer(PROGRESS_AFTER_SECONDS, say, (f"{text} …",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{text} …")
    timer = threading.Timer(PROGRESS_AFTER_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join(0.2)
        status.stop()


@contextlib.contextmanager
def counted(text: str) -> Iterator[Callable[[int, int], None]]:
    """Like `progress`, for work in many equal parts: hand what comes out how many are done, and of how many."""
    if _speech["json_log"] or not sys.stderr.isatty():
        told = [time.monotonic()]

        def tell(done: int, total: int) -> None:
            if time.monotonic() - told[0] >= PROGRESS_EVERY_SECONDS and done < total:
                told[0] = time.monotonic()
                say(f"{text}: {done:,} of {total:,}")

        yield tell
        return
    from rich.console import Console

    status, began = Console(stderr=True).status(f"{text} …"), time.monotonic()

    def show(done: int, total: int) -> None:
        if time.monotonic() - began >= PROGRESS_AFTER_SECONDS:
            status.start()
            status.update(f"{text}: {done:,} of {total:,} …")

    try:
        yield show
    finally:
        status.stop()


def confirm(question: str, *, yes: bool) -> bool:
    """Ask on a terminal; without one, only `--yes` says yes."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise errors.BadInput(
            "This needs a yes, and there is no terminal to ask on.", next_step="Look at the plan, then pass --yes."
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def when(instant: datetime | None) -> str:
    """A time in a cell."""
    return "" if instant is None else instants.show(instant)


def relative(path: Path, root: Path) -> str:
    """A path as short as it can be said."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
