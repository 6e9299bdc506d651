"""`firnline status`: a line a table, one table on a screen, and what changed between two looks."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL
from tests.fleet_building import APPENDS, TABLES, Project, project, spoiled

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Four tables: one in order, one of small files, one never written, one in another namespace."""
    return project(tmp_path_factory.mktemp("lake") / "project")


@pytest.fixture(autouse=True)
def forgotten(lake: Project) -> None:
    """No test finds what another kept."""
    lake.forget()


def lines(captured: Captured) -> list[list[str]]:
    """The cells of a table in a pipe."""
    return [line.split() for line in captured.readouterr().out.splitlines()]


def said(captured: Captured) -> Any:
    """What was said in JSON, which is strict: no NaN and no Infinity."""
    return json.loads(captured.readouterr().out, parse_constant=pytest.fail)


def test_one_line_a_table_worst_first(lake: Project, capsys: Captured) -> None:
    """Every table has its line with health, sizes and reason, the worst first; stderr names the next command."""
    assert lake.run("status") == EXIT_DONE
    printed = capsys.readouterr()
    header, *found = (line.split() for line in printed.out.splitlines())
    assert header == ["table", "health", "files", "size", "rows", "deletes", "waiting/day", "mending", "why"]
    assert [line[:2] for line in found] == [
        ["shop.small", "untidy"], ["other.lone", "healthy"], ["shop.calm", "healthy"], ["shop.empty", "healthy"],
    ]  # fmt: skip
    assert "Small files" in printed.out
    assert "`firnline explain shop.small` tells why" in printed.err


def test_nothing_wrong_is_not_hinted_at(lake: Project, capsys: Captured) -> None:
    """Where no rule fires, nobody is sent to look for a reason."""
    assert lake.run("status", "other.*") == EXIT_DONE
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("spoil", [None, b"", b"{}", b'{"format-version": 4}'], ids=["gone", "empty", "hollow", "next"])
def test_an_unreadable_table_has_a_line_and_exits_4(lake: Project, capsys: Captured, spoil: bytes | None) -> None:
    """A table whose metadata cannot be read stands first, as unreadable; others are judged, and the exit code tells."""
    with spoiled(lake.metadata("shop.calm"), spoil):
        assert lake.run("status") == EXIT_PARTIAL
    printed = capsys.readouterr()
    found = [line.split() for line in printed.out.splitlines()[1:]]
    assert found[0][:6] == ["shop.calm", "unreadable", "unknown", "unknown", "unknown", "unknown"]
    assert [line[:2] for line in found[1:]] == [
        ["shop.small", "untidy"], ["other.lone", "healthy"], ["shop.empty", "healthy"],
    ]  # fmt: skip
    assert "Traceback" not in printed.err
    assert "`firnline explain shop.small`" in printed.err


def test_a_cut_manifest_is_a_finding_and_no_error(lake: Project, capsys: Captured) -> None:
    """A table of which a manifest is damaged is judged: figures that are bounds are unknown in its line; exit 4."""
    path = lake.manifests("shop.small")[0]
    with spoiled(path, path.read_bytes()[:-30]):
        assert lake.run("status") == EXIT_PARTIAL
        assert lines(capsys)[1][:4] == ["shop.small", "unreadable", "unknown", "unknown"]
        assert lake.run("status", "shop.small") == EXIT_DONE
    printed = capsys.readouterr()
    assert "at least 3 files" in printed.out
    assert path.name in printed.err


def test_names_that_are_none(lake: Project, capsys: Captured) -> None:
    """A name or glob nothing has is a mistake; the nearest name is told."""
    for words in (["shop.smal"], ["shop.calm", "shop.smal"], ["shap.*"]):
        assert lake.run("status", *words) == EXIT_BAD_INPUT
        printed = capsys.readouterr()
        assert printed.out == ""
        assert words[-1] in printed.err
        assert "shop." in printed.err.splitlines()[-1]


def test_one_bad_table_on_its_own_is_an_error(lake: Project, capsys: Captured) -> None:
    """Asked for by name alone, a table that cannot be read fails and says why."""
    path = lake.metadata("shop.calm")
    with spoiled(path, b"{"):
        assert lake.run("status", "shop.calm") == EXIT_FAILED
    assert path.name in capsys.readouterr().err


def test_views_are_skipped_by_name(tmp_path: Path, capsys: Captured) -> None:
    """What is no Iceberg table is told on stderr and has no line."""
    other = project(tmp_path / "project", {"shop.calm": TABLES["shop.calm"]}, {})
    other.add_view("shop.recent")
    capsys.readouterr()
    assert other.run("status") == EXIT_DONE
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert "shop.recent is a view" in printed.err


def test_json_is_what_the_library_returns(lake: Project, capsys: Captured) -> None:
    """Judgements in order, with their findings and the figures of each table, which are numbers or null."""
    with spoiled(lake.metadata("shop.calm"), None):
        assert lake.run("status", "-o", "json") == EXIT_PARTIAL
        found = said(capsys)
        fleet = lake.open().judging.status()
    assert [(each["table"], each["health"], each["reason"]) for each in found["tables"]] == [
        (str(each.table), each.health, each.reason) for each in fleet.tables
    ]
    unreadable, small, *_ = found["tables"]
    assert small["figures"] == dict(fleet.sights["shop.small"].figures)
    assert unreadable["figures"] == {}
    (finding,) = small["findings"]
    assert (finding["rule"], finding["fired"], finding["work"]) == ("small-files", True, "compaction")
    saved, share = finding["measures"][:2]
    assert (saved["value"], saved["threshold"], saved["key"]) == (3, 2, "small-files.files")
    assert (share["value"], share["threshold"]) == (1.0, 0.5)


def test_json_of_one_table_has_all_its_facts(lake: Project, capsys: Captured) -> None:
    """Figures are numbers when exact, null when unknown, and bounds otherwise."""
    path = lake.manifests("shop.small")[0]
    with spoiled(path, path.read_bytes()[:-30]):
        assert lake.run("status", "shop.small", "-o", "json") == EXIT_DONE
        bounded = said(capsys)
    assert lake.run("status", "shop.small", "-o", "json") == EXIT_DONE
    whole = said(capsys)
    assert (whole["facts"]["data"]["files"], whole["facts"]["data"]["rows"]) == (4, 12)
    assert (bounded["facts"]["data"]["files"], bounded["facts"]["data"]["rows"]) == ({"at_least": 3}, {"at_least": 9})
    assert bounded["facts"]["data"]["large_files"] is None
    assert len(bounded["facts"]["damage"]) == 1
    assert whole["judgement"]["health"] == "untidy"


def test_csv_is_nothing_but_the_table(lake: Project, capsys: Captured) -> None:
    """Whatever else is told goes to stderr; one table has its line too."""
    for words, tables in ((["status", "--budget", "0.5"], 4), (["status", "shop.small"], 1)):
        assert lake.run(*words, "-o", "csv") == EXIT_DONE
        found = list(csv.reader(io.StringIO(capsys.readouterr().out)))
        assert [len(row) for row in found] == [9] * (tables + 1)
        assert found[1][:3] == ["shop.small", "untidy", "4"]


def test_a_screen_of_one_table(lake: Project, capsys: Captured) -> None:
    """Sizes, partitions, rhythm, and what is wrong."""
    assert lake.run("status", "shop.calm") == EXIT_DONE
    printed = capsys.readouterr().out
    words = dict(line.split(maxsplit=1) for line in printed.splitlines()[:8] if not line.startswith("small"))
    assert words["table"] == "shop.calm"
    assert words["health"] == "healthy"
    assert words["data"].startswith("6 files, ")
    assert words["data"].endswith("6 rows, in 4 partitions")
    assert words["deletes"] == "none"
    assert words["rhythm"].startswith("a commit every ")
    table = [line.split() for line in printed.splitlines() if line.startswith("day=")]
    assert [(line[1], line[6]) for line in table] == [("2", "1"), ("2", "1"), ("1", "0"), ("1", "0")]
    assert {line[0] for line in table[:2]} == {"day=2026-11-02", "day=2026-11-03"}
    assert printed.count("█") > 0
    assert printed.splitlines()[-1].startswith("Nothing is wrong")


def test_a_screen_of_a_table_never_written(lake: Project, capsys: Captured) -> None:
    """Nothing is nothing, and not unknown."""
    assert lake.run("status", "shop.empty") == EXIT_DONE
    printed = capsys.readouterr().out
    assert "0 files, 0 B, 0 rows" in printed
    assert "never written" in printed
    assert "unknown" not in printed


def test_a_budget_takes_what_it_reaches(lake: Project, capsys: Captured) -> None:
    """What fits is named with its price; what does not fit is left out, and the reason says what is left."""
    assert lake.run("status", "--budget", "1") == EXIT_DONE
    assert "Within the budget, for 0.00: shop.small." in capsys.readouterr().out
    assert lake.run("status", "--budget", "0") == EXIT_DONE
    printed = capsys.readouterr().out
    assert "Within the budget, for 0.00: nothing." in printed
    assert "Left out: shop.small. It costs" in printed
    assert lake.run("status", "--budget", "0", "-o", "json") == EXIT_DONE
    cut = said(capsys)["budget"]
    assert ([each["judgement"]["table"] for each in cut["left_out"]], cut["taken"]) == (["shop.small"], [])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--since", "1d", "shop.*"], "--since compares looks at the whole fleet"),
        (["--since", "yesterday"], "'yesterday' is not a time"),
        (["--since", "1d", "--budget", "1"], "--budget cuts a ranked fleet"),
        (["--budget", "1", "shop.small"], "--budget cuts a ranked fleet"),
    ],
)
def test_what_says_nothing_together_is_refused(lake: Project, capsys: Captured, words: list[str], message: str) -> None:
    """A mistake is told before anything is looked at."""
    assert lake.run("status", *words) == EXIT_BAD_INPUT
    assert message in capsys.readouterr().err
    assert not (lake.root / ".lake" / "cache").exists()


# ------------------------------------------------------------------------------------------------------------- --since


def looks(lake: Project) -> list[Path]:
    return sorted((lake.root / ".lake" / "cache" / "looks").glob("*.json.gz"))


def test_the_first_look_has_none_before_it(lake: Project, capsys: Captured) -> None:
    """Without an earlier look `--since` says so and how to get one; and this look is the first."""
    assert lake.run("status", "--since", "1d") == EXIT_BAD_INPUT
    printed = capsys.readouterr()
    assert (printed.out, "No earlier look" in printed.err) == ("", True)
    assert "Run `firnline status`" in printed.err
    assert lake.run("status", "--since", "1d") == EXIT_DONE
    assert capsys.readouterr().out == "Nothing changed.\n"


def test_what_changed_between_two_looks(tmp_path: Path, capsys: Captured) -> None:
    """Rules that began and ended, figures that moved, tables that came and went; those that got worse first."""
    lake = project(tmp_path / "project", {**TABLES, "shop.gone": TABLES["shop.empty"]}, APPENDS)
    assert lake.run("status") == EXIT_DONE
    lake.append("other.lone", 1, 2)
    calm = lake.root / "tables" / "shop.calm.yaml"
    calm.write_text(f"{calm.read_text()}policy: {{small-files.files: 2}}\n")
    small = lake.root / "tables" / "shop.small.yaml"
    small.write_text(small.read_text().replace("files: 2,", "files: 9,"))
    with spoiled(lake.root / ".lake" / "catalog.db", (lake.root / ".lake" / "catalog.db").read_bytes()):
        _drop(lake, "shop.gone")
        capsys.readouterr()
        assert lake.run("status", "--since", "1d", "-o", "json") == EXIT_DONE
        found = said(capsys)["changes"]
        assert lake.run("status", "--since", "1d") == EXIT_DONE
        header, *table = capsys.readouterr().out.splitlines()
    assert [(each["table"], each["before"], each["after"], each["began"], each["ended"]) for each in found] == [
        ("shop.calm", "healthy", "untidy", ["small-files"], []),
        ("other.lone", "healthy", "healthy", [], []),
        ("shop.gone", "healthy", None, [], []),
        ("shop.small", "untidy", "healthy", [], ["small-files"]),
    ]
    assert found[1]["moved"]["data files"] == [1, 3]
    assert found[1]["commits"] is True
    assert header.split() == ["table", "was", "is", "began", "ended", "moved"]
    assert [line.split()[:3] for line in table] == [
        ["shop.calm", "healthy", "untidy"], ["other.lone", "healthy", "healthy"], ["shop.gone", "healthy", "gone"],
        ["shop.small", "untidy", "healthy"],
    ]  # fmt: skip
    assert "data files 1 → 3" in table[1]


def _drop(lake: Project, table: str) -> None:
    from tests.committing import Shelf

    catalog = Shelf(lake.root).sql_catalog()
    catalog.drop_table(table)
    catalog.engine.dispose()


def test_damaged_looks_are_passed_over(lake: Project, capsys: Captured) -> None:
    """A look that cannot be read, or is none, is as if it had never been kept."""
    assert lake.run("status") == EXIT_DONE
    (whole,) = looks(lake)
    moment = int(whole.name.split(".")[0])
    damaged = [
        b"", b"no gzip", whole.read_bytes()[:-9], b"\x1f\x8b\x08\x00" + b"\xff" * 20, gzip.compress(b"[]"),
        gzip.compress(b'{"millis": 1, "tables": {"a.b": ["well", [], {}, 1]}}'),
        gzip.compress(b'{"millis": 1, "tables": {"a.b": ["healthy", [], {"bytes": "many"}, 1]}}'),
        gzip.compress(b'{"millis": 1, "tables": {"a.b": ["healthy", [], [], 1]}}'), gzip.compress(b"[" * 100_000),
    ]  # fmt: skip
    for number, data in enumerate(damaged, 1):
        whole.with_name(f"{moment + number - 100}.json.gz").write_bytes(data)
    capsys.readouterr()
    assert lake.run("status", "--since", "0s") == EXIT_DONE
    assert capsys.readouterr().out == "Nothing changed.\n"


def test_looks_are_pruned(lake: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many looks are kept: the newest."""
    from firnline.adapters.local import looks as local

    monkeypatch.setattr(local.LocalLooks.__init__, "__kwdefaults__", {"kept_max": 2})
    seen = []
    for _ in range(4):
        assert lake.run("status") == EXIT_DONE
        seen.append(looks(lake)[-1])
    assert looks(lake) == seen[-2:]
    assert {path.name for path in (lake.root / ".lake" / "cache" / "looks").iterdir()} == {
        path.name for path in seen[-2:]
    }


# ------------------------------------------------------------------------------------------------------- access: read

COMMANDS = [
    ["status"],
    ["status", "shop.small"],
    ["status", "shop.*", "--parallel", "1"],
    ["explain", "shop.small"],
    ["explain", "shop.small", "--quick"],
    ["policy", "show", "shop.small"],
    ["scan-cost", "shop.calm", "--where", "day = '2026-11-02'"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("env", ["local", "looking"])
def test_nothing_is_written_but_the_cache(lake: Project, words: list[str], env: str) -> None:
    """Every file of the project is byte for byte what it was, and no other is there, outside of .lake/cache."""
    before = lake.tree()
    assert lake.run(*words, env=env) == EXIT_DONE
    assert lake.tree() == before


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_cache_that_cannot_be_is_done_without(lake: Project, capsys: Captured, words: list[str]) -> None:
    """Where the cache's folder is a file, every look works, says the same, and leaves the file alone."""
    assert lake.run(*words, env="looking") == EXIT_DONE
    with_cache = capsys.readouterr().out
    lake.forget()
    blocking = lake.root / ".lake" / "cache"
    blocking.write_text("in the way")
    blocking.parent.chmod(0o555)  # this alone does not keep root out
    try:
        for _ in range(2):
            assert lake.run(*words, env="looking") == EXIT_DONE
            assert capsys.readouterr().out == with_cache
    finally:
        blocking.parent.chmod(0o755)
    assert blocking.read_text() == "in the way"


def test_a_look_reads_each_manifest_once(lake: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What manifests fold to is kept: a second look, by another process too, opens none that the first opened."""
    from firnline.adapters.iceberg.manifests import IcebergManifests

    opened: list[str] = []
    entries = IcebergManifests.entries

    def counting(self: IcebergManifests, chosen: Any, *wanted: Any) -> Any:
        opened.extend(line.path for line in chosen)
        return entries(self, chosen, *wanted)

    monkeypatch.setattr(IcebergManifests, "entries", counting)
    assert lake.run("status") == EXIT_DONE
    assert len(opened) == len(set(opened)) == sum(map(len, APPENDS.values()))
    opened.clear()
    assert lake.run("status") == EXIT_DONE
    assert opened == []
    (lake.root / ".lake" / "cache" / "facts.db").write_bytes(b"no database")
    assert lake.run("status") == EXIT_DONE
    assert len(opened) == sum(map(len, APPENDS.values()))


def test_progress_is_told_in_a_log(lake: Project, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A long look says how far it is, on stderr only."""
    from firnline.cli import render

    monkeypatch.setattr(render, "PROGRESS_EVERY_SECONDS", 0.0)
    assert lake.run("status") == EXIT_DONE
    printed = capsys.readouterr()
    assert "Looking at tables: 1 of 4" in printed.err
    assert "4 of 4" not in printed.err
    assert "Looking at" not in printed.out


def test_no_state_is_made_by_looking(tmp_path: Path) -> None:
    """Where nobody has applied anything of late, a look makes no ledger, whatever the environment may."""
    lake = project(tmp_path / "project", {"shop.calm": TABLES["shop.calm"]}, {})
    (lake.root / ".lake" / "state.db").unlink()
    before = lake.tree()
    for words in COMMANDS[0], ["explain", "shop.calm"]:
        assert lake.run(*words) == EXIT_DONE
    assert lake.tree() == before
