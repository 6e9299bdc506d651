"""A fleet of real tables judged: one line each, whatever the others are like."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from firnline.adapters.local.ledger import SqliteLedger
from firnline.adapters.local.state import memory_state
from firnline.core.errors import BadInput, Failed
from firnline.core.figures import Figure, exactly
from firnline.core.ids import Identifier
from firnline.judge import judging
from firnline.judge.judging import Judgement
from firnline.judge.rulebook import ALL
from firnline.judge.values import Health, Subject
from firnline.lakehouse.judging import Fleet
from firnline.lakehouse.ledger import StatePlace
from firnline.loop.ports import Event
from tests.fleet_building import TABLES, Project, project, spoiled


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Four tables: one in order, one of small files, one never written, one in another namespace."""
    return project(tmp_path_factory.mktemp("lake") / "project")


@pytest.fixture(autouse=True)
def forgotten(lake: Project) -> None:
    """No test finds what another kept."""
    lake.forget()


def by_name(fleet: Fleet) -> dict[str, Judgement]:
    return {str(each.table): each for each in fleet.tables}


def test_every_table_is_judged_worst_first(lake: Project) -> None:
    """One judgement a table, the worst health first; of the rules, those that fired."""
    fleet = lake.open().judging.status()
    assert [(str(each.table), each.health) for each in fleet.tables] == [
        ("shop.small", Health.UNTIDY), ("other.lone", Health.HEALTHY), ("shop.calm", Health.HEALTHY),
        ("shop.empty", Health.HEALTHY),
    ]  # fmt: skip
    assert [each.rule for each in fleet.tables[0].findings] == ["small-files"]
    assert fleet.tables[1].findings == ()
    assert fleet.sights["shop.small"].figures["data files"] == 4
    assert fleet.sights["shop.empty"].figures["data files"] == 0


def test_tables_together_or_one_by_one(lake: Project) -> None:
    """However many tables are looked at together, the judgements are the same, in the same order."""
    one, four = (lake.open().judging.status(parallel=each) for each in (1, 4))
    assert one.tables == four.tables
    assert one.sights == four.sights


def test_progress_is_told(lake: Project) -> None:
    """After each table, how many are done and of how many."""
    told: list[tuple[int, int]] = []
    lake.open().judging.status(parallel=2, on_table=lambda done, whole: told.append((done, whole)))
    assert told == [(number, len(TABLES)) for number in range(1, len(TABLES) + 1)]


FUTURE = {"format-version": 4}


def _future(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), **FUTURE}).encode()


def _flipped_gzip(data: bytes) -> bytes:
    zipped = bytearray(gzip.compress(data))
    zipped[10] |= 0x06  # a kind of block there is not
    return bytes(zipped)


SPOILT: list[tuple[Callable[[bytes], bytes | None], str]] = [
    (lambda _: None, "There is no file"),
    (lambda _: b"", "not readable as Iceberg table metadata"),
    (lambda data: data[: len(data) // 2], "not readable as Iceberg table metadata"),
    (_future, "format version 4"),
    (lambda _: b"[]", "not readable as Iceberg table metadata"),
    (lambda _: b"[" * 100_000, "not readable as Iceberg table metadata"),
    (lambda data: gzip.compress(data)[:-20], "not readable as Iceberg table metadata"),
    (_flipped_gzip, "not readable as Iceberg table metadata"),
]


@pytest.mark.parametrize(
    ("spoil", "said"),
    SPOILT,
    ids=["deleted", "empty", "cut", "of the future", "a list", "deep", "cut gzip", "flipped gzip"],
)
def test_one_bad_table_stops_no_other(lake: Project, spoil: Callable[[bytes], bytes | None], said: str) -> None:
    """A table whose metadata cannot be read is unreadable, with the reason and the file; all others are judged."""
    path = lake.metadata("shop.calm")
    with spoiled(path, spoil(path.read_bytes())):
        fleet = lake.open().judging.status()
    found = by_name(fleet)
    bad = found.pop("shop.calm")
    assert fleet.tables[0] is bad
    assert (bad.health, bad.findings) == (Health.UNREADABLE, ())
    assert said in bad.reason
    assert path.name in bad.reason
    assert {name: each.health for name, each in found.items()} == {
        "shop.small": Health.UNTIDY, "other.lone": Health.HEALTHY, "shop.empty": Health.HEALTHY,
    }  # fmt: skip


def test_a_cut_manifest_gives_bounds(lake: Project) -> None:
    """What a cut manifest held is in no number: those are bounds, a finding names the file, and nothing fails."""
    whole = lake.open().facts.table("shop.small")
    path = lake.manifests("shop.small")[0]
    lake.forget()
    with spoiled(path, path.read_bytes()[:-30]):
        lakehouse = lake.open()
        facts = lakehouse.facts.table("shop.small")
        judgement = by_name(lakehouse.judging.status())["shop.small"]
    assert (whole.data.files, facts.data.files) == (exactly(4), Figure(3, None))
    assert (whole.damage, [Path(each.location).name for each in facts.damage]) == ((), [path.name])
    assert (judgement.health, judgement.findings[0].rule) == (Health.UNREADABLE, "damage")
    assert path.name in judgement.findings[0].sentence


def test_a_missing_manifest_list_leaves_nothing_known(lake: Project) -> None:
    """Without its manifest list nothing of a table's files is known, and no number says otherwise."""
    with spoiled(lake.manifest_list("shop.small"), None):
        lakehouse = lake.open()
        facts = lakehouse.facts.table("shop.small")
        sight = lakehouse.judging.status().sights["shop.small"]
    figures = (
        facts.data.files, facts.data.bytes, facts.data.rows, facts.data.removable, facts.touched, facts.touched_bytes,
        facts.dangling.files, facts.manifests.entries, facts.manifests.tombstones, facts.manifests.bytes,
        facts.manifests.fanout,
    )  # fmt: skip
    assert [each for each in figures if not each.unknown] == []
    assert [name for name, value in sight.figures.items() if value is not None] == ["snapshots"]


def test_a_head_that_is_not_there_leaves_nothing_known(lake: Project) -> None:
    """Metadata that names a current snapshot it does not have is no empty table."""
    path = lake.metadata("shop.small")
    cut = {**json.loads(path.read_bytes()), "snapshots": []}
    with spoiled(path, json.dumps(cut).encode()):
        lakehouse = lake.open()
        facts = lakehouse.facts.table("shop.small")
        judgement = by_name(lakehouse.judging.status())["shop.small"]
    assert facts.data.files.unknown
    assert [each.location for each in facts.damage] == [facts.metadata_location]
    assert judgement.health is Health.UNREADABLE


CHOICES = [
    (("shop.*",), {"shop.calm", "shop.small", "shop.empty"}),
    (("*",), set(TABLES)),
    (("*.lone", "shop.c?lm"), {"other.lone", "shop.calm"}),
    (("shop.calm", "shop.*"), {"shop.calm", "shop.small", "shop.empty"}),
]


@pytest.mark.parametrize(("patterns", "chosen"), CHOICES, ids=[" ".join(patterns) for patterns, _ in CHOICES])
def test_names_and_globs_choose(lake: Project, patterns: tuple[str, ...], chosen: set[str]) -> None:
    """Tables of any of the patterns, each once."""
    tables = lake.open().judging.status(patterns).tables
    assert {str(each.table) for each in tables} == chosen
    assert len(tables) == len(chosen)


def test_a_name_nothing_has_is_told_with_the_nearest(lake: Project) -> None:
    """A pattern without a table is a mistake, not an empty answer."""
    with pytest.raises(BadInput, match=r"shop\.smal") as caught:
        lake.open().judging.status(["shop.calm", "shop.smal"])
    assert "'shop.small'" in (caught.value.next_step or "")


def test_views_are_skipped(tmp_path: Path) -> None:
    """What is no Iceberg table is named as skipped, and judged by nobody."""
    lake = project(tmp_path / "project", {"shop.calm": TABLES["shop.calm"]}, {})
    lake.add_view("shop.recent")
    fleet = lake.open().judging.status()
    assert [str(each.table) for each in fleet.tables] == ["shop.calm"]
    assert fleet.skipped == (("shop.recent", "view"),)
    assert set(fleet.sights) == {"shop.calm"}


def test_a_look_at_some_is_no_look_at_the_fleet(lake: Project) -> None:
    """Only a look at all tables is kept for later: of a part, everything else would seem to be gone."""
    judging = lake.open().judging
    judging.status(["shop.*"])
    with pytest.raises(BadInput):
        judging.since(judging.status(), "1d")
    judging.since(judging.status(), "1d")


@pytest.mark.parametrize("quick", [True, False])
def test_explaining_holds_every_rule(lake: Project, quick: bool) -> None:
    """Every rule has one finding, in the order of the rules, with its measures."""
    explained = lake.open().judging.explain("shop.small", quick=quick)
    findings = explained.judgement.findings
    assert [each.rule for each in findings] == [rule.id for rule in ALL]
    assert all(each.measures for each in findings)
    assert {each.table for each in findings} == {Identifier(("shop",), "small")}


def test_a_deep_look_tells_more(lake: Project) -> None:
    """History, columns and storage are looked at unless it must be quick; what rests on them can be told then."""
    judging = lake.open().judging
    quick, deep = (judging.explain("shop.small", quick=each) for each in (True, False))
    assert (quick.subject.history, quick.subject.storage, quick.subject.columns) == (None, None, ())
    assert deep.subject.history is not None
    assert deep.subject.storage is not None
    untold = {each.rule for each in quick.judgement.findings if each.fired is None}
    assert {"orphans", "history", "missing-files", "foreign-owner", "pinned-by-refs"} <= untold
    assert {each.rule for each in deep.judgement.findings if each.fired is None} == {"expiry-effect", "conflicts"}


def test_a_neighbour_in_the_location_is_seen(tmp_path: Path) -> None:
    """A file that no table wrote, and another table's metadata, are found by a deep look and by no quick one."""
    lake = project(tmp_path / "project", {"shop.small": TABLES["shop.small"]}, {"shop.small": (0,)})
    location = lake.metadata("shop.small").parent.parent
    stranger = {**json.loads(lake.metadata("shop.small").read_bytes()), "table-uuid": "0" * 36}
    (location / "metadata" / "00000-x.metadata.json").write_text(json.dumps(stranger))
    judging = lake.open().judging
    quick, deep = (judging.explain("shop.small", quick=each).judgement for each in (True, False))
    assert "foreign-owner" not in {each.rule for each in quick.findings if each.fired}
    assert {each.rule for each in deep.findings if each.fired} == {"foreign-owner"}
    assert deep.health is Health.RISKY


def test_the_facts_of_a_table(lake: Project) -> None:
    """The library's facts of a table are those of its files: each append of three rows made three of three days."""
    facts = lake.open().facts.table("shop.calm")
    assert (facts.data.files, facts.data.rows, facts.partition_count) == (exactly(6), exactly(6), 4)
    assert {each.name: (each.files, each.removable) for each in facts.partitions} == {
        "day=2026-11-01": (1, 0), "day=2026-11-02": (2, 1), "day=2026-11-03": (2, 1), "day=2026-11-04": (1, 0),
    }  # fmt: skip
    assert facts.data.removable == exactly(2)
    stored = sum(path.stat().st_size for path in lake.metadata("shop.calm").parent.parent.rglob("*.parquet"))
    assert facts.data.bytes == exactly(stored)


def test_a_slice_of_a_table(lake: Project) -> None:
    """The library's slice has the live files of the partitions asked for."""
    facts = lake.open().facts
    keys = {each.name: each.key for each in facts.table("shop.calm").partitions}
    found = facts.slice("shop.calm", partitions=[keys["day=2026-11-02"]])
    assert len(found.files) == 2
    assert {each.partition for each in found.files} == {keys["day=2026-11-02"]}
    assert facts.slice("shop.calm", paths=[found.files[0].path]).files == found.files[:1]


@pytest.mark.parametrize("which", ["list", "manifest"])
def test_a_damaged_table_is_explained(lake: Project, which: str) -> None:
    """A deep look at a table with damage tells of it, and of everything else what can be told; nothing fails."""
    path = lake.manifest_list("shop.calm") if which == "list" else lake.manifests("shop.calm")[0]
    with spoiled(path, path.read_bytes()[:-30]):
        explained = lake.open().judging.explain("shop.calm")
    findings = {each.rule: each for each in explained.judgement.findings}
    assert explained.judgement.health is Health.UNREADABLE
    assert (findings["damage"].fired, findings["column-metrics"].fired) == (True, None)
    assert path.name in findings["damage"].sentence
    assert explained.subject.columns == ()


def test_a_defect_of_ours_stops_no_other_table(lake: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a rule of ours breaks on one table, that table says so, and every other is judged."""
    real = judging.judge

    def broken(subject: Subject) -> object:
        if str(subject.facts.identifier) == "shop.calm":
            raise ZeroDivisionError("a rule of ours")
        return real(subject)

    monkeypatch.setattr(judging, "judge", broken)
    found = by_name(lake.open().judging.status())
    assert found["shop.calm"].health is Health.UNREADABLE
    assert "a rule of ours" in found["shop.calm"].reason
    assert found["shop.small"].health is Health.UNTIDY


class Deaf(SqliteLedger):
    """A ledger that cannot be asked, and counts who tries."""

    asked = 0

    def table(self, table: str, limit: int) -> tuple[Event, ...]:
        self.asked += 1
        raise Failed(f"the state is out of reach for {table} and {limit}")


def test_a_ledger_that_cannot_be_asked(lake: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs one failed question and a sentence, not one for every table, and every table is judged all the same."""
    deaf = Deaf(memory_state())
    monkeypatch.setattr(StatePlace, "looking", lambda _: deaf)
    fleet = lake.open().judging.status(parallel=1)
    assert (len(fleet.tables), deaf.asked) == (4, 1)
    assert "out of reach" in str(fleet.unheard)
    assert lake.open().judging.status().unheard is not None


def test_a_ledger_that_answers(lake: Project) -> None:
    """Where the past could be read nothing is said of it."""
    assert lake.open().judging.status().unheard is None
