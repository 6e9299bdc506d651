"""The first minute on a lake that knows nothing of Firnline: what is told, what it costs, and that nothing is written.

`pytest -s` prints the figures.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from firnline.cli import app
from firnline.core.errors import EXIT_DONE, EXIT_PARTIAL
from tests import servers
from tests.first_minute_building import Call, Fleet, Lake, fleet, lake, settings
from tests.s3_places import opened

SETTINGS = {"AWS_ACCESS_KEY_ID": "looks", "AWS_SECRET_ACCESS_KEY": "only", "AWS_EC2_METADATA_DISABLED": "true"}


@dataclass(frozen=True, slots=True)
class Look:
    """One `firnline status` in a process of its own."""

    code: int
    out: str
    err: str
    calls: tuple[Call, ...]

    @property
    def lines(self) -> dict[str, str]:
        """What is said of each table, by its name."""
        header, *rows = self.out.splitlines()
        at = header.index("health")
        return {row[:at].rstrip(): row[at:] for row in rows}

    def reads(self) -> Counter[str]:
        """How often each location was read below, by the folder of the table."""
        return Counter(call.subject.partition("/metadata/")[0] for call in self.calls if call.service == "s3")


@pytest.fixture(scope="module")
def found() -> Iterator[Fleet]:
    """The catalog."""
    with fleet() as made:
        yield made


@pytest.fixture(scope="module")
def root(found: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is its lakehouse.yaml."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "lakehouse.yaml").write_text(found.yaml(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def looks(found: Fleet, root: Path) -> tuple[Look, Look]:
    """The first look and the second."""
    return look(found, root, "first"), look(found, root, "second")


def look(found: Fleet, root: Path, which: str) -> Look:
    found.gate.calls.clear()
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).with_name("firnline")), "status", "--env", "prod"]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, **SETTINGS}, capture_output=True, text=True, check=False, timeout=120
    )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\n{which} look: {wall:.1f} s, {cpu:.1f} s of CPU, {dict(found.gate.counts())}")
    return Look(done.returncode, done.stdout, done.stderr, tuple(found.gate.calls))


def test_every_table_has_one_line(found: Fleet, looks: tuple[Look, Look]) -> None:
    """All 160 Iceberg tables are told of, whatever they are called and however broken they are, and nothing else is."""
    for each in looks:
        assert (sorted(each.lines), len(each.lines)) == (sorted([*found.readable, *found.broken]), 160)
        assert {each.lines[name].split()[0] for name in found.readable} == {"healthy"}


def test_each_broken_table_says_why(found: Fleet, looks: tuple[Look, Look]) -> None:
    """A table that cannot be read is called so, with its own reason, and the command says that not all was seen."""
    for each in looks:
        assert each.code == EXIT_PARTIAL
        for name, reason in found.broken.items():
            assert each.lines[name].startswith("unreadable")
            assert reason in each.lines[name]


def test_a_closed_database_is_named_once(found: Fleet, looks: tuple[Look, Look]) -> None:
    """A database that may not be listed is told with the right that is missing, and stops no other."""
    for each in looks:
        assert each.err.count(f"could not be listed: {found.closed}.") == 1
        assert each.err.count("glue:GetTables") == 2  # what was asked for, and what the server said
        assert "firnline iam-policy --for look" in each.err


def test_what_is_no_iceberg_table_is_told_briefly(found: Fleet, looks: tuple[Look, Look]) -> None:
    """Hive tables, views and links are counted by kind, and take a line each kind."""
    kinds = Counter(found.skipped.values())
    for each in looks:
        assert f"skipped: {kinds['view']} views, not Iceberg tables: legacy.t003, " in each.err
        assert f"skipped: {kinds['other']} entries of another kind, not Iceberg tables: legacy.t000, " in each.err
        assert len(each.err.splitlines()) < 10


def test_nobody_sees_a_traceback(looks: tuple[Look, Look]) -> None:
    """Nothing of this is a defect of ours, and says so."""
    for each in looks:
        assert not [word for word in ("Traceback", "defect", "Unexpected") if word in each.out + each.err]
        assert SETTINGS["AWS_SECRET_ACCESS_KEY"] not in each.err


def test_the_first_look_reads_each_file_once(found: Fleet, looks: tuple[Look, Look]) -> None:
    """Of a table its metadata, its manifest list and each of its manifests: three requests for most."""
    assert read(found, looks[0]) == {name: 2 + manifests for name, (_, manifests) in found.readable.items()}


def test_the_second_look_reads_metadata_only(found: Fleet, looks: tuple[Look, Look]) -> None:
    """Of a table that did not change, one request: whether its metadata is still there. Everything else is kept."""
    assert read(found, looks[1]) == dict.fromkeys(found.readable, 1)


def read(found: Fleet, made: Look) -> dict[str, int]:
    counts = made.reads()
    folders = {
        name: where.removeprefix("s3://").partition("/metadata/")[0] for name, (where, _) in found.readable.items()
    }
    return {name: counts[folder] for name, folder in folders.items()}


def test_the_listing_is_shared(looks: tuple[Look, Look]) -> None:
    """The catalog is asked once for its databases, and for each page of each database: never for a single table."""
    for each in looks:
        asked = Counter(call.operation for call in each.calls if call.service == "glue")
        assert asked == {"GetDatabases": 1, "GetTables": 6}  # five databases, one of them of two pages


def test_nothing_was_written(root: Path, looks: tuple[Look, Look]) -> None:
    """Three operations are all it takes, each of them reading; on this machine there is a cache, and nothing else."""
    for each in looks:
        assert {(call.service, call.operation) for call in each.calls} == {
            ("glue", "GetDatabases"), ("glue", "GetTables"), ("s3", "GetObject"),
        }  # fmt: skip
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert {name for name in files if not name.startswith(".lake/cache/")} == {"lakehouse.yaml"}


# ------------------------------------------------------------------------------------------- everything there is to see


KINDS = ("glue", "rest", pytest.param("hive", marks=pytest.mark.slow))
LOOKING = (
    "status", "explain TABLE", "tables list", "tables show TABLE", "tables adopt TABLE", "plan", "history TABLE",
    "scan-cost TABLE --where id=2", "doctor", "verify TABLE --reader duckdb --reader pyiceberg",
)  # fmt: skip
ALIKE = ("status TABLE", "ledger", "config show", "policy show TABLE", "branch list TABLE", "tag list TABLE")
Lakes = Callable[[str], tuple[Lake, Path]]
EVERYTHING = [
    *((kind, command) for kind in ("glue", "rest") for command in LOOKING),
    *(pytest.param("hive", command, marks=pytest.mark.slow) for command in LOOKING),
    *(("glue", command) for command in ALIKE),  # of these it does not matter which catalog it is
]


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lakes]:
    """A catalog of each kind, made when first asked for, whose servers refuse whatever writes; and a project on it."""
    with ExitStack() as stack:

        @cache
        def made(kind: str) -> tuple[Lake, Path]:
            found, folder = stack.enter_context(lake(kind)), tmp_path_factory.mktemp(kind)
            (folder / "lakehouse.yaml").write_text(found.yaml(), encoding="utf-8")
            return found, folder

        yield made


@pytest.mark.parametrize(("kind", "command"), EVERYTHING)
def test_looking_writes_nothing(
    lakes: Lakes, kind: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that looks ends well where every request that writes would be refused, and sends none."""
    made, folder = lakes(kind)
    run(made, folder, command.replace("TABLE", str(made.table)).split(), monkeypatch)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_duckdb_reads_where_nothing_may_be_written(
    lakes: Lakes, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows are those of the three appends."""
    made, folder = lakes(kind)
    statement = f"SELECT count(*) AS rows, sum(id) AS ids FROM {made.table}"
    run(made, folder, ["sql", statement, "--engine", "duckdb", "-o", "csv"], monkeypatch)
    assert capsys.readouterr().out.splitlines() == ["rows,ids", "9,18"]


def test_the_gates_would_have_seen_it() -> None:
    """A request that writes is refused by both servers, and told from the others."""
    with lake("glue") as made, ExitStack() as stack:
        s3, glue = (
            stack.enter_context(opened(settings(passed.endpoint))).client(service)
            for passed, service in zip(made.gates, ("s3", "glue"), strict=True)
        )
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.put_object(Bucket="lake", Key="a", Body=b"")
        with pytest.raises(ClientError, match="AccessDenied"):
            glue.delete_table(DatabaseName=made.table.namespace[0], Name=made.table.name)
        assert [[call.writes for call in passed.calls] for passed in made.gates] == [[True], [True]]


def run(made: Lake, folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    store = servers.s3()
    for name, text in {"AWS_ACCESS_KEY_ID": store.access, "AWS_SECRET_ACCESS_KEY": store.secret}.items():
        monkeypatch.setenv(name, text)
    if made.settings.startswith("type: rest"):
        monkeypatch.setenv("REST_TOKEN", servers.rest().token)
    code = app.run([*words, "--env", "prod", "-C", str(folder)])
    written = [call for passed in made.gates for call in passed.calls if call.writes]
    assert (code, written) == (EXIT_DONE, [])
