"""Jars by the Ivy that ships in pyspark: no Spark is started, a JVM of a second is."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from firnline.adapters.local import java, machine
from firnline.adapters.spark import jars
from firnline.adapters.spark.coordinates import SQLITE
from firnline.adapters.spark.jars import JarState, Place
from firnline.config.values import JarSettings
from firnline.core.errors import Failed
from tests.sparklake import silent

pytestmark = pytest.mark.spark
MIRROR = """<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers>
    <filesystem name="mirror" m2compatible="true">
      <artifact pattern="{folder}/[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"/>
    </filesystem>
  </resolvers>
</ivysettings>
"""


def command() -> Path:
    """The Java there is."""
    chosen = java.find(os.environ).chosen
    assert chosen is not None
    return chosen.command


def place(folder: Path, ivy_settings: str | None = None) -> Place:
    """An empty cache of the test's own."""
    return Place(JarSettings(ivy_settings=ivy_settings), folder, folder / "cache [1]")


def locate(where: Place, coordinate: object = SQLITE) -> Path:
    """The verified jar."""
    (found,) = jars.locate((coordinate,), where, command(), os.environ, silent)  # type: ignore[arg-type]
    return found


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirror in a folder, with the driver in it as it lies in the user's cache after the first Spark test."""
    ordinary = Place(JarSettings(), tmp_path, machine.cache_folder(os.environ))
    folder = tmp_path / "mirror" / SQLITE.group.replace(".", "/") / SQLITE.name / SQLITE.version
    folder.mkdir(parents=True)
    shutil.copy(locate(ordinary), folder / SQLITE.file_name)
    (tmp_path / "mirror.xml").write_text(MIRROR.format(folder=tmp_path / "mirror"))
    return folder / SQLITE.file_name


def test_a_damaged_jar_is_fetched_again(tmp_path: Path) -> None:
    """By the ordinary route, without any setting: a damaged jar is thrown away and the released one is there."""
    where = place(tmp_path)
    where.folder.mkdir(parents=True)
    (where.folder / SQLITE.file_name).write_bytes(b"half a jar")
    assert jars.sha256_of(locate(where)) == SQLITE.sha256
    assert [status.state for status in jars.look((SQLITE,), where)] == [JarState.VERIFIED]


@pytest.mark.usefixtures("mirror")
def test_a_mirror_serves(tmp_path: Path) -> None:
    """With `jars.ivy_settings` the jar comes from the mirror it names, whatever characters the cache's path has."""
    where = place(tmp_path, "mirror.xml")
    assert jars.sha256_of(locate(where)) == SQLITE.sha256
    assert [path.name for path in where.folder.iterdir() if path.suffix == ".jar"] == [SQLITE.file_name]


def test_a_mirror_with_other_bytes_is_refused(tmp_path: Path, mirror: Path) -> None:
    """A mirror is not trusted: what it gives must have the pinned hash."""
    mirror.write_bytes(mirror.read_bytes()[:-1])
    with pytest.raises(Failed, match="is not that file"):
        locate(place(tmp_path, "mirror.xml"))


def test_a_mirror_without_the_jar_says_so(tmp_path: Path, mirror: Path) -> None:
    """What Ivy says of an artifact it cannot find is folded into one sentence, with both ways out."""
    mirror.unlink()
    with pytest.raises(Failed, match="Could not fetch") as failed:
        locate(place(tmp_path, "mirror.xml"))
    assert "not found" in str(failed.value.why)
    assert "jars: {folder: DIR}" in str(failed.value.next_step)


@pytest.mark.usefixtures("mirror")
def test_a_broken_mirror_file_says_so(tmp_path: Path) -> None:
    """Settings that Ivy cannot read end in a message, not in a traceback."""
    (tmp_path / "mirror.xml").write_text("<ivysettings>")
    with pytest.raises(Failed, match="Could not fetch"):
        locate(place(tmp_path, "mirror.xml"))


@pytest.mark.usefixtures("mirror")
def test_another_release_is_another_file(tmp_path: Path) -> None:
    """A release the mirror does not have is not taken for the one it has."""
    with pytest.raises(Failed, match=r"sqlite-jdbc:0\.0\.1"):
        locate(place(tmp_path, "mirror.xml"), replace(SQLITE, version="0.0.1"))
