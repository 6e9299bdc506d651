"""What a service said: one file, the one before it kept beside, both bounded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NAME = "log"
BEFORE = "log.1"
_KEPT_BYTES = 4 << 20  # of the run before: enough for its last hours
_TAIL_BYTES = 64 << 10
_LINES_TOLD = 8
_TAKEN = ("address already in use", "already in use", "bindexception", "failed to bind")
_LOOK_EVERY_SECONDS = 0.25


def rotate(folder: Path) -> None:
    """Begin a new log; of the last one its end stays."""
    log = folder / NAME
    if log.is_file() and log.stat().st_size:
        (folder / BEFORE).write_bytes(_end(log, _KEPT_BYTES))
        log.unlink()


def last_words(folder: Path) -> str:
    """The last lines, without stack traces."""
    lines = _end(folder / NAME, _TAIL_BYTES).decode(errors="replace").splitlines()
    telling = [line for line in lines if line.strip() and not line.lstrip().startswith(("at ", "..."))]
    return "It said:\n" + "\n".join(telling[-_LINES_TOLD:]) if telling else "It said nothing."


def says_port_taken(folder: Path) -> bool:
    """Whether it ended because somebody else had its port."""
    said = _end(folder / NAME, _TAIL_BYTES).decode(errors="replace").casefold()
    return any(mark in said for mark in _TAKEN)


def read(folder: Path, *, follow: Callable[[], bool] | None = None) -> Iterator[str]:
    """The lines of the log; with `follow`, those to come too, for as long as it says so."""
    try:
        file = (folder / NAME).open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    with file:
        while True:
            goes_on = follow is not None and follow()
            yield from (line.rstrip("\n") for line in file)
            if not goes_on:
                return
            time.sleep(_LOOK_EVERY_SECONDS)


def _end(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read()
    except OSError:
        return b""
