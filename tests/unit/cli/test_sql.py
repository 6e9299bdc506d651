"""How `firnline sql` shows values, and streams them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from firnline.adapters.answers import Answer, Column
from firnline.cli import app
from firnline.cli import sql as face
from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_REFUSED
from firnline.lakehouse.opening import Lakehouse

YAML = "version: 1\nname: shop\nenvironments: {local: {catalogs: {lake: {type: sqlite}}}}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project to run in."""
    (tmp_path / "lakehouse.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def duckdb(*words: str) -> int:
    """The exit code of a statement on DuckDB."""
    return app.run(["sql", "--engine", "duckdb", *words])


CELLS: list[tuple[object, str]] = [
    (None, "NULL"),
    ("NULL", "'NULL'"),
    ("", "''"),
    ("text", "text"),
    ("a\nb\x1b[31m", r"a\nb\x1b[31m"),
    (1.5, "1.5"),
    (float("nan"), "nan"),
    (float("-inf"), "-Infinity"),
    (True, "true"),
    (Decimal("1E+3"), "1000"),
    (Decimal("1.50"), "1.50"),
    (b"\x00\xff", "00ff"),
    (date(2026, 1, 2), "2026-01-02"),
    (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
    (datetime(2026, 1, 2, 3, 4, 5, 600), "2026-01-02T03:04:05.000600"),
    ([1, None, "x"], '[1, null, "x"]'),
    ({"a": {"b": Decimal("1.0")}, date(2026, 1, 1): b"\x01"}, '{"a": {"b": "1.0"}, "2026-01-01": "01"}'),
    ("grüße \N{GRINNING FACE}", "grüße \N{GRINNING FACE}"),
]


@pytest.mark.parametrize(("value", "shown"), CELLS, ids=[shown for _, shown in CELLS])
def test_cells(value: object, shown: str) -> None:
    """A value stands on one line, null is told from text, and nothing in it reaches the terminal as a command."""
    assert face.cell(value) == shown


def test_a_pipe_gets_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal a table is plain text, numbers to the right."""
    assert duckdb("SELECT 7 AS n, 'x' AS s UNION ALL SELECT 1234, NULL ORDER BY n") == EXIT_DONE
    assert capsys.readouterr().out == "   n  s\n   7  x\n1234  NULL\n"


def test_a_table_is_cut_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The view of a large answer is bounded, and stderr says what gives the rest."""
    assert duckdb("FROM range(101)") == EXIT_DONE
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1 + face.ROWS_SHOWN_MAX
    assert "Only the first 100 rows" in printed.err
    assert duckdb("FROM range(100)") == EXIT_DONE
    assert capsys.readouterr().err == ""


def test_a_limit_is_obeyed_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """Who asks for so many rows gets them, more than a table shows by itself too."""
    assert duckdb("FROM range(500)", "--limit", "150") == EXIT_DONE
    printed = capsys.readouterr()
    assert (len(printed.out.splitlines()), printed.err) == (151, "")


def test_csv_is_whole_and_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Commas, quotes and line ends survive; nothing at all is null, and quotes around nothing are an empty text."""
    statement = """SELECT 'a,"b"' || chr(10) || 'c' AS "x,y", NULL AS n, '' AS e FROM range(150)"""
    assert duckdb(statement, "-o", "csv") == EXIT_DONE
    printed = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(printed))) == [["x,y", "n", "e"], *([['a,"b"\nc', "", ""]] * 150)]
    assert printed.splitlines()[-1] == 'c",,""'


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has what the library returns: columns with types, snapshots, rows."""
    assert duckdb("SELECT 1 AS a, 1.5 AS b UNION ALL SELECT 2, NULL", "-o", "json") == EXIT_DONE
    assert json.loads(capsys.readouterr().out) == {
        "columns": [{"name": "a", "type": "INTEGER"}, {"name": "b", "type": "DECIMAL(2,1)"}],
        "snapshots": {},
        "rows": [[1, "1.5"], [2, None]],
    }


def test_json_without_rows_is_one_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty answer is an empty list."""
    assert duckdb("SELECT 1 AS a LIMIT 0", "-o", "json") == EXIT_DONE
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_rows_are_written_as_they_come(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV does not wait for the last row: an answer of any size passes through."""
    printed: list[int] = []

    def rows() -> Iterator[tuple[object, ...]]:
        for number in range(3):
            yield (number,)
            printed.append(len(capsys.readouterr().out.splitlines()))

    answer = Answer((Column("n", "INT"),), rows())
    monkeypatch.setattr(Lakehouse, "sql", lambda *_, **__: answer)
    assert app.run(["sql", "SELECT 1", "-o", "csv"]) == EXIT_DONE
    assert printed == [2, 1, 1]


def test_a_command_says_that_it_is_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What has no columns has no output; the word is talk."""
    monkeypatch.setattr(Lakehouse, "sql", lambda *_, **__: Answer((), iter(())))
    assert app.run(["sql", "CREATE TABLE x"]) == EXIT_DONE
    assert capsys.readouterr() == ("", "Done.\n")


def test_a_statement_from_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`-` reads the statement from stdin."""
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 42 AS x"))
    assert duckdb("-") == EXIT_DONE
    assert capsys.readouterr().out == " x\n42\n"


@pytest.mark.parametrize(
    ("statement", "code"),
    [("SELEC", EXIT_BAD_INPUT), ("", EXIT_BAD_INPUT), ("DROP TABLE a.b", EXIT_REFUSED), ("FROM a.b", EXIT_BAD_INPUT)],
)
def test_exit_codes(statement: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake exits 2, a refusal 3, both with a message and nothing on stdout."""
    assert duckdb(statement) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert "Traceback" not in printed.err
