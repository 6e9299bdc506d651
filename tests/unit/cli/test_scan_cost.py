"""`firnline scan-cost`, from the filter typed to the numbers printed."""

from __future__ import annotations

import json

import pytest

from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED
from tests.fleet_building import TABLES, Project, project, spoiled

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A table partitioned by day, of two commits: six files of a row each, two of them of 2 November."""
    return project(
        tmp_path_factory.mktemp("lake") / "project", {"shop.calm": TABLES["shop.calm"]}, {"shop.calm": (0, 1)}
    )


def cells(captured: Captured) -> dict[str, str]:
    """Counts by what is counted."""
    lines = captured.readouterr().out.splitlines()[1:]
    return {line[:32].strip(): line[32:].strip().split("  ")[0] for line in lines}


FILTERS = [
    ([], ("2", "6", "0")),
    (["--where", "day = DATE '2026-11-02'"], ("2", "2", "4")),
    (["--where", "day = '2026-11-01'"], ("1", "1", "2")),
    (["--where", "day in ('2026-11-01', '2026-11-04') and id > 1"], ("2", "1", "4")),
    (["--where", "day > '2030-01-01'"], ("0", "0", "0")),
]


@pytest.mark.parametrize(("words", "counts"), FILTERS, ids=[" ".join(words) or "all" for words, _ in FILTERS])
def test_what_a_filter_leaves(lake: Project, capsys: Captured, words: list[str], counts: tuple[str, str, str]) -> None:
    """Manifests opened, data files read and those spared by their partition are those of the filter."""
    assert lake.run("scan-cost", "shop.calm", *words) == EXIT_DONE
    found = cells(capsys)
    assert (found["manifests opened"], found["data files read"], found["spared by partition"]) == counts


def test_json_is_what_the_library_returns(lake: Project, capsys: Captured) -> None:
    """Counts, bytes and bounds as the library has them, with what they rest on."""
    where = "day = '2026-11-02'"
    assert lake.run("scan-cost", "shop.calm", "--where", where, "--column", "id", "-o", "json") == EXIT_DONE
    found = json.loads(capsys.readouterr().out)
    cost = lake.open().facts.scan_cost("shop.calm", where, columns=["id"])
    assert found["files"] == {"count": 2, "bytes": cost.files.bytes.value}
    assert found["rows"] == {"at_least": 0, "at_most": 2}
    assert found["requests"] == {"at_least": cost.requests.low, "at_most": cost.requests.high}
    assert found["snapshot"] == cost.snapshot
    assert found["assumptions"] == list(cost.assumptions)


def test_columns_cost_requests(lake: Project, capsys: Captured) -> None:
    """A query of one column asks for less than one of all; a name may be given more than once."""

    def most(*words: str) -> int:
        assert lake.run("scan-cost", "shop.calm", "-o", "json", *words) == EXIT_DONE
        requests = json.loads(capsys.readouterr().out)["requests"]
        return int(requests["at_most"] if isinstance(requests, dict) else requests)

    assert most("--column", "id", "--column", "day") > most("--column", "id")
    assert most() >= most("--column", "id")


def test_an_older_snapshot(lake: Project, capsys: Captured) -> None:
    """`--at` looks at the table as it was."""
    snapshots = json.loads(lake.metadata("shop.calm").read_bytes())["snapshots"]
    first = min(snapshots, key=lambda each: each["sequence-number"])["snapshot-id"]
    assert lake.run("scan-cost", "shop.calm", "--at", str(first)) == EXIT_DONE
    assert cells(capsys)["data files read"] == "3"


MISTAKES = [
    (["--where", "day ="], "column 6"),
    (["--where", "dy = '2026-11-02'"], "'day'"),
    (["--where", "day = 'soon'"], "soon"),
    (["--where", "id = 'x'"], "x"),
    (["--where", "("], "column"),
    (["--where", ""], ""),
    (["--column", "nme"], "'name'"),
    (["--at", "never"], "never"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_a_mistake_is_told_with_its_place(lake: Project, capsys: Captured, words: list[str], said: str) -> None:
    """A filter that cannot be read, a column and a snapshot there is not: exit 2, a message, and nothing printed."""
    assert lake.run("scan-cost", "shop.calm", *words) == EXIT_BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert said in printed.err
    assert "Traceback" not in printed.err


def test_damage_fails(lake: Project, capsys: Captured) -> None:
    """A cost is never of a part: a manifest that cannot be read fails it by name."""
    path = lake.manifests("shop.calm")[0]
    with spoiled(path, path.read_bytes()[:-30]):
        assert lake.run("scan-cost", "shop.calm") == EXIT_FAILED
    assert path.name in capsys.readouterr().err


def test_a_filter_that_spares_nothing_is_told(lake: Project, capsys: Captured) -> None:
    """Where neither partitions nor bounds help, a line says so."""
    assert lake.run("scan-cost", "shop.calm", "--where", "id > 0") == EXIT_DONE
    assert "The filter spares nothing" in capsys.readouterr().err
