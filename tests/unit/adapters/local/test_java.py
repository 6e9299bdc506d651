"""Which Java is found, and why another one was passed over: on folders made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firnline.adapters.local import java

FULL = "java.base jdk.incubator.vector java.net.http"


def make(home: Path, version: str | None = "17.0.12", modules: str | None = FULL, *, executable: bool = True) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755 if executable else 0o644)
    if version is not None:
        lines = ['IMPLEMENTOR="somebody"', f'JAVA_VERSION="{version}"' if version else "OS_NAME=x"]
        (home / "release").write_text("\n".join(lines + ([f'MODULES="{modules}"'] if modules is not None else [])))
    return home


@pytest.mark.parametrize(
    ("version", "modules", "problem"),
    [
        ("17.0.12", FULL, None),
        ("21", FULL, None),
        ("17.0.12", None, None),
        ("1.8.0_402", None, "Spark runs on Java 17 or 21"),
        ("11.0.2", FULL, "Spark runs on Java 17 or 21"),
        ("25-ea", FULL, "Spark runs on Java 17 or 21"),
        ("17.0.1", "java.base", "it lacks the module jdk.incubator.vector"),
        ("", FULL, "its `release` file names no version"),
        (None, FULL, "it has no `release` file"),
    ],
)
def test_inspect(tmp_path: Path, version: str | None, modules: str | None, problem: str | None) -> None:
    """A runtime says by its files whether Spark can use it."""
    found = java.inspect(make(tmp_path / "jdk", version, modules), "here")
    assert found is not None
    assert (found.problem or "").startswith(problem or "")
    assert (found.problem is None) is (problem is None)
    assert found.version == (version or "unknown")
    assert found.command == tmp_path / "jdk" / "bin" / "java"


def test_no_java_at_all(tmp_path: Path) -> None:
    """A folder without the program is nothing."""
    assert java.inspect(tmp_path, "here") is None


def test_named_first(tmp_path: Path) -> None:
    """JAVA_HOME goes before PATH, and PATH before the usual folders, whatever their versions."""
    homes = [make(tmp_path / name, version) for name, version in (("home", "21"), ("path", "21"), ("usual", "17"))]
    env = {"JAVA_HOME": str(homes[0]), "PATH": f"/nowhere:{homes[1] / 'bin'}"}
    assert java.find(env, [homes[2]]).chosen == java.Java(homes[0], "21", "JAVA_HOME")
    assert java.find({"PATH": env["PATH"]}, [homes[2]]).chosen == java.Java(homes[1], "21", "PATH")
    chosen = java.find({}, [homes[2]]).chosen
    assert chosen == java.Java(homes[2], "17", str(tmp_path))


def test_passed_over(tmp_path: Path) -> None:
    """A JAVA_HOME that Spark cannot use is passed over and told of; 17 goes before 21 among the usual ones."""
    newest, old, good = make(tmp_path / "25", "25"), make(tmp_path / "21", "21.0.1"), make(tmp_path / "17", "17.0.1")
    search = java.find({"JAVA_HOME": str(newest)}, [old, good, tmp_path / "none"])
    assert search.chosen is not None
    assert search.chosen.home == good
    assert [(each.home, each.origin) for each in search.passed_over] == [(newest, "JAVA_HOME")]


def test_links(tmp_path: Path) -> None:
    """A program on the PATH is followed to where it lies, and one runtime found twice is one."""
    home = make(tmp_path / "jdk", "11")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    search = java.find({"PATH": str(tmp_path / "bin"), "JAVA_HOME": str(home)}, [home])
    assert search == java.JavaSearch(None, (java.Java(home, "11", "JAVA_HOME", "Spark runs on Java 17 or 21"),))


def test_nothing_anywhere() -> None:
    """Without any Java there is none, and none that was passed over."""
    assert java.find({}, []) == java.JavaSearch(None, ())


def test_usual_folders(tmp_path: Path) -> None:
    """Version managers keep theirs in the home folder."""
    home = make(tmp_path / ".sdkman" / "candidates" / "java" / "17.0.1-tem")
    assert home in java.usual_folders({"HOME": str(tmp_path)})
    assert home not in java.usual_folders({})
