"""How values become JSON, and how long work in many parts is told of."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from pathlib import Path

import pytest

from firnline.cli import render
from firnline.core.figures import UNKNOWN, Figure, at_least, at_most, exactly
from firnline.core.ids import Identifier
from firnline.judge import ranges
from firnline.judge.ranges import Range


class Word(StrEnum):
    GOOD = "well and good"


class Number(IntEnum):
    FIRST_ONE = 1


class Thing(Enum):
    A_PAIR = (1, 2)


@dataclass(frozen=True, slots=True)
class Inner:
    figure: Figure
    key: tuple[int, tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Outer:
    table: Identifier
    inside: tuple[Inner, ...]


PLAIN: list[tuple[object, object]] = [
    (exactly(7), 7),
    (UNKNOWN, None),
    (at_least(7), {"at_least": 7}),
    (at_most(7), {"at_least": 0, "at_most": 7}),
    (Figure(3, 7), {"at_least": 3, "at_most": 7}),
    (Range(0.5, 0.5), 0.5),
    (ranges.UNKNOWN, None),
    (Range(0.5, None), {"at_least": 0.5}),
    (Word.GOOD, "well and good"),
    (Number.FIRST_ONE, "first_one"),
    (Thing.A_PAIR, "a_pair"),
    (Identifier(("a", "b"), "c.d"), "a.b.`c.d`"),
    ({("a", "b"): 1, 2: exactly(3), Word.GOOD: None}, {"a.b": 1, "2": 3, "well and good": None}),
    (b"\x00\xff", "00ff"),
    ([math.nan, math.inf, -math.inf, 1.5], ["nan", "inf", "-inf", 1.5]),
    (timedelta(milliseconds=1500), 1.5),
    (datetime(2026, 11, 18, 9, 30, tzinfo=UTC), "2026-11-18T09:30:00+00:00"),
    (True, True),
    (
        Outer(Identifier(("a",), "b"), (Inner(at_least(1), (0, (None, b"\x01", math.nan))),)),
        {"table": "a.b", "inside": [{"figure": {"at_least": 1}, "key": [0, [None, "01", "nan"]]}]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "plain"), PLAIN, ids=lambda each: str(each)[:40])
def test_values_become_plain(value: object, plain: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures and ranges are numbers, bounds or null, and what JSON has no word for is text: strict readers take it."""
    assert render.plain(value) == plain
    render.json(value)
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == plain


def test_work_in_parts_is_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a log a line every few seconds says how many are done; short work says nothing, and the end is not told."""
    now = [0.0]
    monkeypatch.setattr(render.time, "monotonic", lambda: now[0])
    with render.counted("Looking") as tell:
        for done, now[0] in enumerate([1.0, 6.0, 7.0, 12.0, 18.0], 1):
            tell(done, 5)
    assert capsys.readouterr().err.splitlines() == ["Looking: 2 of 5", "Looking: 4 of 5"]


class Terminal:
    """Where a spinner would turn."""

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""


@pytest.mark.parametrize("after", [0.0, 60.0])
def test_on_a_terminal_a_spinner_counts(monkeypatch: pytest.MonkeyPatch, after: float) -> None:
    """Short work shows none; long work shows how far it is, and the spinner goes however the work ends."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(render, "PROGRESS_AFTER_SECONDS", after)

    def work() -> None:
        with render.counted("Looking") as tell:
            tell(3, 4)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert ("3 of 4" in terminal.written) is (after == 0)


def test_a_path_is_as_short_as_can_be() -> None:
    """Within the project a path is told from there."""
    assert render.relative(Path("/p/tables/a.yaml"), Path("/p")) == "tables/a.yaml"
    assert render.relative(Path("/q/a.yaml"), Path("/p")) == "/q/a.yaml"
