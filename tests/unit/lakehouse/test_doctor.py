"""Doctor over a project in a temporary folder, broken in one way at a time."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from firnline.adapters.local import machine
from firnline.adapters.local.java import Java, JavaSearch
from firnline.adapters.local.state import open_state
from firnline.adapters.spark import coordinates
from firnline.adapters.spark.coordinates import Coordinate
from firnline.config.values import CatalogSettings, Environment, JarSettings, LakehouseSettings
from firnline.lakehouse import doctor, embedded_checks
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check
from firnline.lakehouse.opening import Lakehouse
from tests.committing import Shelf

JAR = b"a jar"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one table, and a cache with the jars it needs."""
    small = {name: Coordinate("g", name, "1", hashlib.sha256(JAR).hexdigest(), len(JAR)) for name in ("iceberg", "db")}
    monkeypatch.setattr(coordinates, "ICEBERG", {"1.12.0": small["iceberg"]})
    monkeypatch.setattr(coordinates, "SQLITE", small["db"])
    monkeypatch.setenv("FIRNLINE_CACHE", str(tmp_path / "cache"))
    for jar in small.values():
        put(tmp_path / "cache" / "jars" / jar.file_name, JAR)
    project = tmp_path / "project"
    catalog = Shelf(project).sql_catalog()
    catalog.create_namespace("shop")
    catalog.create_table("shop.orders", pa.schema([("id", pa.int64())]))
    catalog.engine.dispose()
    return project


def put(path: Path, content: bytes = b"") -> None:
    """A file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def settings(
    folder: Path, *, access: str = "write", kind: str = "sqlite", jars: JarSettings | None = None
) -> LakehouseSettings:
    """The project's settings."""
    catalogs = {"lake": CatalogSettings("lake", kind)}
    environment = Environment("local", catalogs, access=access, jars=jars or JarSettings())
    return LakehouseSettings("shop", str(folder), environment, ("local",))


def examine(of: LakehouseSettings) -> dict[str, Check]:
    """The checks by name."""
    return {check.name: check for check in doctor.doctor(Lakehouse(of), os.environ)}


def test_a_healthy_project_is_ok(folder: Path) -> None:
    """Where all is well every check says ok, and what was found."""
    checks = examine(settings(folder))
    assert {check.state for check in checks.values()} == {OK}
    assert "1 tables" in checks["catalog lake"].text
    assert not [check for check in checks.values() if check.fix]


def test_a_project_nobody_applied_yet_is_ok(folder: Path) -> None:
    """No catalog, no warehouse and no state is how every lakehouse begins."""
    shutil.rmtree(folder)
    folder.mkdir()
    assert {check.state for check in examine(settings(folder)).values()} == {OK}


def _no_jars(folder: Path) -> None:
    shutil.rmtree(folder.parent / "cache" / "jars")


def _damaged_jar(folder: Path) -> None:
    put(folder.parent / "cache" / "jars" / "db-1.jar", b"other")


def _no_database(folder: Path) -> None:
    put(folder / ".lake" / "catalog.db", b"something else altogether")


def _other_database(folder: Path) -> None:
    (folder / ".lake" / "catalog.db").unlink()
    with sqlite3.connect(folder / ".lake" / "catalog.db") as connection:
        connection.execute("CREATE TABLE customers (id)")
    connection.close()


def _other_project(folder: Path) -> None:
    with sqlite3.connect(folder / ".lake" / "catalog.db") as connection:
        connection.execute("UPDATE iceberg_tables SET catalog_name = 'theirs'")
        connection.execute("UPDATE iceberg_namespace_properties SET catalog_name = 'theirs'")
    connection.close()


def _moved_warehouse(folder: Path) -> None:
    (folder / "warehouse").rename(folder / "moved")


def _warehouse_is_a_file(folder: Path) -> None:
    shutil.rmtree(folder / "warehouse")
    put(folder / "warehouse")


def _foreign_state(folder: Path) -> None:
    put(folder / ".lake" / "state.db", b"something else altogether")


BROKEN: list[tuple[Callable[[Path], None], str, str, str]] = [
    (_no_jars, "jars", WARNING, "iceberg-1.jar is not here"),
    (_damaged_jar, "jars", WARNING, "db-1.jar is damaged"),
    (_no_database, "catalog lake", PROBLEM, "is not an SQLite database"),
    (_other_database, "catalog lake", PROBLEM, "catalog.db"),
    (_other_project, "catalog lake", PROBLEM, "holds the catalog 'theirs'"),
    (_moved_warehouse, "tables", PROBLEM, "1 of 1 point to metadata that is not there: shop.orders"),
    (_warehouse_is_a_file, "warehouse lake", PROBLEM, "cannot be written"),
    (_foreign_state, "state", PROBLEM, "state.db"),
]


@pytest.mark.parametrize(("breaks", "name", "state", "words"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_broken_is_found(
    folder: Path, breaks: Callable[[Path], None], name: str, state: str, words: str
) -> None:
    """Each fault is found by its own check, which says the fix."""
    breaks(folder)
    check = examine(settings(folder))[name]
    assert (check.state, words in check.text) == (state, True), check
    assert check.fix


def test_a_held_lock_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that holds the catalog is named as what it is, and looking goes on."""
    monkeypatch.setattr(embedded_checks, "LOCK_SECONDS", 0.01)
    connection = sqlite3.connect(folder / ".lake" / "catalog.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    checks = examine(settings(folder))
    connection.close()
    assert checks["catalog lake: writing"].state == WARNING
    assert "locked by another process" in checks["catalog lake: writing"].text
    assert checks["catalog lake"].state == OK


def test_a_catalog_locked_against_reading_is_a_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog that cannot even be read is found after a moment, and everything else is checked all the same."""
    monkeypatch.setattr(embedded_checks, "LOCK_SECONDS", 0.01)
    connection = sqlite3.connect(folder / ".lake" / "catalog.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN EXCLUSIVE")
    checks = examine(settings(folder))
    connection.close()
    assert checks["catalog lake"].state == PROBLEM
    assert "locked by another process" in checks["catalog lake"].text
    assert {checks[name].state for name in ("java", "jars", "state", "disk")} == {OK}


def test_a_folder_of_jars_must_hold_them(folder: Path) -> None:
    """With `jars.folder` nothing is fetched, so a missing jar is a problem."""
    check = examine(settings(folder, jars=JarSettings(folder="mine")))["jars"]
    assert (check.state, "db-1.jar is not here" in check.text) == (PROBLEM, True)


def test_a_mirror_must_be_there(folder: Path) -> None:
    """A mirror's settings file that is not there is found before anything is fetched by it."""
    _no_jars(folder)
    check = examine(settings(folder, jars=JarSettings(ivy_settings="mirror.xml")))["jars"]
    assert (check.state, "mirror.xml" in check.text) == (PROBLEM, True)


def test_an_unknown_release_is_a_problem(folder: Path) -> None:
    """A release without a pinned hash is told with the nearest."""
    check = examine(settings(folder, jars=JarSettings(iceberg="9.9")))["jars"]
    assert check.state == PROBLEM


def test_a_shared_catalog_with_local_state_is_a_problem(folder: Path) -> None:
    """Two machines would write one catalog and never know of each other; looking is allowed."""
    assert examine(settings(folder, kind="glue"))["state"].state == PROBLEM
    assert examine(settings(folder, kind="glue", access="read"))["state"].state == OK


def test_a_catalog_that_is_not_wired_was_not_checked(folder: Path) -> None:
    """What this version cannot reach is neither ok nor wrong."""
    checks = examine(settings(folder, kind="nessie"))
    assert {checks[name].state for name in ("catalog lake", "clock")} == {NOT_CHECKED}


def _tree(folder: Path) -> dict[str, tuple[int, int]]:
    found = (path for path in sorted(folder.rglob("*")))
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_access_read_writes_nothing_and_says_so(folder: Path) -> None:
    """Not a file is made or touched, in project or cache; what could not be checked for it names the reason."""
    open_state(folder / ".lake" / "state.db").close()
    before = _tree(folder.parent)
    checks = examine(settings(folder, access="read"))
    assert _tree(folder.parent) == before
    unchecked = {check.name: check.text for check in checks.values() if check.state != OK}
    assert set(unchecked) == {"catalog lake: writing", "warehouse lake"}
    assert all("access: read" in text for text in unchecked.values())


def test_access_read_needs_a_catalog(folder: Path) -> None:
    """An environment for looking makes no catalog, so one that is not there is a problem."""
    shutil.rmtree(folder)
    folder.mkdir()
    assert examine(settings(folder, access="read"))["catalog lake"].state == PROBLEM
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("ahead", "state"), [(timedelta(hours=-1), PROBLEM), (timedelta(seconds=-5), OK), (timedelta(days=1), OK)]
)
def test_a_clock_behind_the_tables_is_found(folder: Path, ahead: timedelta, state: str) -> None:
    """A table changed in what this machine takes for the future shows that its clock is behind."""
    assert doctor._clock(Lakehouse(settings(folder)), datetime.now(UTC) + ahead).state == state


def test_a_clock_that_was_never_set_is_found(folder: Path) -> None:
    """A machine that says 1970 is told so, tables or none."""
    check = doctor._clock(Lakehouse(settings(folder)), datetime(1970, 1, 2, tzinfo=UTC))
    assert (check.state, "1970" in check.text) == (PROBLEM, True)


def test_little_space_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less free than Spark may need is said with the place, each disk once."""
    monkeypatch.setattr(machine, "free_bytes", lambda _: doctor.FREE_BYTES_MIN - 1)
    check = doctor._disk((folder, folder / "not" / "there"))
    assert (check.state, check.text) == (WARNING, f"2.0 GiB free in {folder}")


PARTS = [
    ("spark", {"pyspark": "4.1.4", "pyarrow": "26", "pandas": "3"}, OK),
    ("spark", {"pyspark": "4.1.4", "pyarrow": "26", "pandas": None}, WARNING),
    ("spark", {}, WARNING),
    ("spark", {"pyspark": "3.5.1", "pyarrow": "26", "pandas": "3"}, PROBLEM),
    ("proof", dict.fromkeys(doctor.PARTS["proof"], "1.5.5"), OK),
    ("proof", {**dict.fromkeys(doctor.PARTS["proof"], "1.5.5"), "duckdb": "1.5.4"}, PROBLEM),
]


@pytest.mark.parametrize(("part", "versions", "state"), PARTS)
def test_parts_fit_together(part: str, versions: dict[str, str | None], state: str) -> None:
    """A part is whole, or named with what is missing, or in versions that do not go together."""
    assert doctor._part(part, versions.get).state == state


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10, 9), PROBLEM), ((3, 11, 0), OK), ((3, 13, 2), OK), ((3, 14, 0), PROBLEM)]
)
def test_pythons(version: tuple[int, int, int], state: str) -> None:
    """The supported Pythons, and the ones beside them."""
    assert doctor._python(version).state == state


def test_a_java_that_was_passed_over_is_named() -> None:
    """Without a usable Java, the ones that were found are told with what is wrong with them, and how to get one."""
    check = doctor._java(JavaSearch(None, (Java(Path("/opt/j25"), "25.0.1", "PATH", "Spark runs on Java 17 or 21"),)))
    assert check.state == PROBLEM
    assert "/opt/j25 is 25.0.1: Spark runs on Java 17 or 21" in check.text
    assert "openjdk-17" in str(check.fix)


def test_without_a_project_the_machine_is_checked(tmp_path: Path) -> None:
    """No lakehouse.yaml is no problem; what was not looked at is said."""
    checks = {check.name: check for check in doctor.examine(tmp_path, None, os.environ)}
    assert {"python", "java", "disk", "project", *(f"part {part}" for part in doctor.PARTS)} == set(checks)
    assert checks["project"].state == NOT_CHECKED
    assert "firnline init" in str(checks["project"].fix)


def test_a_broken_project_file_is_a_problem(tmp_path: Path) -> None:
    """A lakehouse.yaml with a mistake is a finding like the others, with file and line."""
    (tmp_path / "lakehouse.yaml").write_text("version: 1\nname: shop\nenviroments: {}\n")
    checks = {check.name: check for check in doctor.examine(tmp_path, None, os.environ)}
    assert checks["project"].state == PROBLEM
    assert "lakehouse.yaml:3" in checks["project"].text
    assert checks["python"].state == OK
