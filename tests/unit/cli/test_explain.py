"""`firnline explain` and `firnline policy show`: every rule with its numbers, every threshold with its origin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firnline.config.policies import AMOUNTS, RULES
from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE
from firnline.judge.rulebook import ALL
from tests.committing import Shelf
from tests.fleet_building import TABLES, Project, project

Captured = pytest.CaptureFixture[str]
MARKS = ("fires", "ok", "unknown")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A declared table of small files, one that is only declared, and one nobody declares that has a policy."""
    made = project(tmp_path_factory.mktemp("lake") / "project", appends={"shop.small": (0, 0, 0)})
    (made.root / "tables" / "other.later.yaml").write_text(f"table: other.later\n{TABLES['shop.empty']}")
    (made.root / "tables" / "other.lone.yaml").unlink()
    properties = {
        "firnline.small-files.files": "77", "firnline.smal-files": "off", "firnline.orphans": "off",
        "write.target-file-size-bytes": "1048576", "history.expire.max-snapshot-age-ms": "soon",
    }  # fmt: skip
    made.on_table("other.lone", lambda table: table.transaction().set_properties(**properties).commit_transaction())
    return made


@pytest.fixture(autouse=True)
def forgotten(lake: Project) -> None:
    """No test finds what another kept."""
    lake.forget()


def rules(captured: Captured) -> dict[str, tuple[str, list[str]]]:
    """Of each rule its mark and the lines below it."""
    found: dict[str, tuple[str, list[str]]] = {}
    below: list[str] = []
    for line in captured.readouterr().out.splitlines()[1:]:
        if line.startswith(MARKS):
            mark, rest = line.split(maxsplit=1)
            below = []
            name = rest.split(" ")[0].rstrip(":")
            assert name not in found
            found[name] = (mark, below)
        elif line:
            below.append(line.strip())
    return found


def place(lake: Project, file: str, begins: str) -> str:
    """The file and line that begins so."""
    lines = (lake.root / file).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.startswith(begins)]
    return f"{file}:{number}"


@pytest.mark.parametrize("words", [[], ["--quick"]], ids=["deep", "quick"])
def test_every_rule_is_told_once(lake: Project, capsys: Captured, words: list[str]) -> None:
    """What fires comes first, then what cannot be told, then the rest; each with at least one number."""
    assert lake.run("explain", "shop.small", *words) == EXIT_DONE
    found = rules(capsys)
    assert set(found) == {rule.id for rule in ALL}
    marks = [mark for mark, _ in found.values()]
    assert marks == sorted(marks, key=["fires", "unknown", "ok"].index)
    assert [name for name, (mark, _) in found.items() if mark == "fires"] == ["small-files"]
    assert all(below for _, below in found.values())


def test_both_sides_of_a_threshold_and_where_it_is_from(lake: Project, capsys: Captured) -> None:
    """A measure stands beside its threshold, with the key that sets it and the file and line that did."""
    assert lake.run("explain", "shop.small", "--quick") == EXIT_DONE
    found = rules(capsys)
    _, small = found["small-files"]
    file = place(lake, "tables/shop.small.yaml", "policy:")
    assert small[0] == f"files that merging would save: 2; fires from 2 (small-files.files, {file})"
    assert small[1] == f"share of small files: 100 %; fires from 50 % (small-files.share, {file})"
    assert any(line.startswith("next: ") for line in small)
    _, snapshots = found["snapshots"]
    assert snapshots[0].startswith("snapshots overdue after 4d: 0; fires from 100 (snapshots.overdue, default)")
    assert lake.run("policy", "show", "shop.small", "--changed") == EXIT_DONE
    assert place(lake, "lakehouse.yaml", "    policy: {snap") in capsys.readouterr().out


def test_only_what_fires(lake: Project, capsys: Captured) -> None:
    """`--fired` leaves everything else out."""
    assert lake.run("explain", "shop.small", "--fired") == EXIT_DONE
    assert set(rules(capsys)) == {"small-files"}
    assert lake.run("explain", "shop.small", "--fired", "-o", "csv") == EXIT_DONE
    header, row = capsys.readouterr().out.splitlines()
    assert header == "rule,fires,health,sentence"
    assert row.startswith("small-files,fires,untidy,")


def test_json_is_the_findings_of_the_library(lake: Project, capsys: Captured) -> None:
    """A finding for each rule; measures are numbers, bounds or null."""
    assert lake.run("explain", "shop.small", "-o", "json") == EXIT_DONE
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    findings = lake.open().judging.explain("shop.small").judgement.findings
    assert [(each["id"], each["fired"], each["sentence"]) for each in found] == [
        (each.id, each.fired, each.sentence) for each in findings
    ]
    values = [measure["value"] for each in found for measure in each["measures"]]
    assert all(value is None or isinstance(value, int | float | dict) for value in values)
    assert all(value.keys() <= {"at_least", "at_most"} for value in values if isinstance(value, dict))
    assert None in values
    assert any(isinstance(value, int) for value in values)


@pytest.mark.parametrize("verb", [["explain"], ["policy", "show"], ["scan-cost"], ["status"]], ids=" ".join)
def test_a_table_that_is_not_there(lake: Project, capsys: Captured, verb: list[str]) -> None:
    """An unknown name is a mistake, told with the nearest; so is what is no name."""
    assert lake.run(*verb, "shop.smal") == EXIT_BAD_INPUT
    assert "'shop.small'" in capsys.readouterr().err
    assert lake.run(*verb, "small") == EXIT_BAD_INPUT
    assert "a table needs a namespace" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------- policy show


def policy(lake: Project, captured: Captured, table: str, *words: str) -> tuple[dict[str, Any], str]:
    """Values by key, and what was said beside."""
    assert lake.run("policy", "show", table, "-o", "json", *words) == EXIT_DONE
    printed = captured.readouterr()
    return {each["key"]: each for each in json.loads(printed.out)}, printed.err


def test_every_key_has_a_value_and_an_origin(lake: Project, capsys: Captured) -> None:
    """Every switch and every threshold there is, with the layer that set it: default, lakehouse, namespace, file."""
    found, _ = policy(lake, capsys, "shop.small")
    assert set(found) == {*RULES, *AMOUNTS}
    origins = {key: each["origin"] for key, each in found.items() if each["origin"] != "default"}
    assert origins == {
        "snapshots.age": place(lake, "lakehouse.yaml", "    policy: {snap"),
        "small-files.files": place(lake, "tables/shop.small.yaml", "policy:"),
        "small-files.share": place(lake, "tables/shop.small.yaml", "policy:"),
    }
    assert (found["snapshots.age"]["value"], found["snapshots.age"]["unit"]) == (4 * 86_400_000, "duration")
    changed, _ = policy(lake, capsys, "shop.small", "--changed")
    assert set(changed) == set(origins)


def test_a_table_without_a_file_may_carry_its_policy(lake: Project, capsys: Captured) -> None:
    """Properties set it; what is none of ours is named with the nearest key, and counts for nothing."""
    found, said = policy(lake, capsys, "other.lone")
    assert {key: (each["value"], each["origin"]) for key, each in found.items() if each["origin"] != "default"} == {
        "small-files.share": (0.25, place(lake, "lakehouse.yaml", "  small-files.share")),
        "small-files.files": (77, "property firnline.small-files.files"),
        "orphans": (False, "property firnline.orphans"),
        "target-file-size": (1_048_576, "property write.target-file-size-bytes"),
    }
    assert "ignored: firnline.smal-files" in said
    assert "firnline.small-files?" in said
    assert "ignored: history.expire.max-snapshot-age-ms: 'soon' is no whole number." in said


def test_a_switched_off_rule_says_who_did_it(lake: Project, capsys: Captured) -> None:
    """A rule that is off does not fire, and names the property that switched it off."""
    assert lake.run("explain", "other.lone") == EXIT_DONE
    printed = capsys.readouterr().out
    assert "ok       orphans: Switched off by property firnline.orphans." in printed


def test_a_table_that_is_only_declared_has_a_policy(lake: Project, capsys: Captured) -> None:
    """Before it exists one can see what it will be held against; nothing else can be told of it."""
    found, _ = policy(lake, capsys, "other.later")
    assert found["small-files.share"]["value"] == 0.25
    assert lake.run("explain", "other.later") == EXIT_BAD_INPUT


def test_a_size_no_file_can_have(lake: Project, capsys: Captured) -> None:
    """A property may say any number: a target beyond all bounds makes every file small, and nothing fails."""
    catalog = Shelf(lake.root).sql_catalog()
    table = catalog.create_table("other.odd", catalog.load_table("shop.small").schema())
    for _ in range(3):
        table.append(catalog.load_table("shop.small").scan().to_arrow())
    table.transaction().set_properties(**{"write.target-file-size-bytes": "9" * 30}).commit_transaction()
    catalog.engine.dispose()
    assert lake.run("status", "other.odd", "-o", "json") == EXIT_DONE
    data = json.loads(capsys.readouterr().out)["facts"]["data"]
    assert (data["files"], data["small_files"], data["removable"]) == (3, 3, 2)
    assert lake.run("status", "other.odd") == lake.run("explain", "other.odd") == EXIT_DONE
