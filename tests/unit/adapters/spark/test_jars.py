"""The jar cache, with a program in Java's place that fetches what the test lays out."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from firnline.adapters.spark import jars
from firnline.adapters.spark.coordinates import Coordinate
from firnline.adapters.spark.jars import JarState, Place
from firnline.config.values import JarSettings
from firnline.core.errors import Failed, FirnlineError, Missing

CONTENT = b"a jar, as far as anybody here is concerned"
JAR = Coordinate("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
_PROGRAM = """#!/bin/sh
echo "$@" >> "{log}"
while [ $# -gt 0 ]; do
  case "$1" in -dependency) file="$3-$4.jar" ;; esac
  shift
done
cp "{payload}" "$file"
"""


@dataclass
class Depot:
    """A cache, and a stand-in for Java that fetches `payload`."""

    folder: Path
    settings: JarSettings = field(default_factory=JarSettings)
    said: list[str] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return Place(self.settings, self.folder, self.folder / "cache")

    @property
    def jar(self) -> Path:
        return self.place.folder / JAR.file_name

    @property
    def fetches(self) -> int:
        log = self.folder / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    @contextmanager
    def notify(self, text: str) -> Iterator[None]:
        self.said.append(text)
        yield

    def java(self, payload: bytes = CONTENT, program: str = _PROGRAM) -> Path:
        (self.folder / "payload").write_bytes(payload)
        command = self.folder / "java"
        command.write_text(program.format(log=self.folder / "log", payload=self.folder / "payload"))
        command.chmod(0o755)
        return command

    def put(self, content: bytes) -> None:
        self.jar.parent.mkdir(parents=True, exist_ok=True)
        self.jar.write_bytes(content)

    def locate(self, java: Path) -> Path:
        (found,) = jars.locate((JAR,), self.place, java, os.environ, self.notify)
        return found

    def state(self, *, remember: bool = True) -> JarState:
        (status,) = jars.look((JAR,), self.place, remember=remember)
        return status.state

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture
def depot(tmp_path: Path) -> Depot:
    return Depot(tmp_path)


def test_a_missing_jar_is_fetched_once(depot: Depot) -> None:
    """The first call fetches and says so, with the size; the second finds the jar."""
    java = depot.java()
    assert depot.locate(java) == depot.locate(java) == depot.jar
    assert depot.jar.read_bytes() == CONTENT
    assert (depot.fetches, depot.said) == (1, [f"Fetching thing 1.0 ({len(CONTENT)} B), once"])


def test_a_damaged_jar_is_thrown_away_and_fetched_again(depot: Depot) -> None:
    """In the cache, bytes with another hash are replaced by the right ones."""
    depot.put(CONTENT[:-1])
    assert depot.state() is JarState.DAMAGED
    assert depot.locate(depot.java()).read_bytes() == CONTENT


def test_wrong_bytes_are_never_kept(depot: Depot) -> None:
    """What was fetched with another hash is refused with both hashes, and leaves no jar behind."""
    with pytest.raises(Failed) as refused:
        depot.locate(depot.java(payload=b"<html>Please log in</html>"))
    assert JAR.sha256 in refused.value.what
    assert hashlib.sha256(b"<html>Please log in</html>").hexdigest() in refused.value.what
    assert [path for path in depot.files() if path.endswith(".jar")] == []


def test_offline_says_what_to_do(depot: Depot) -> None:
    """A fetch that brings nothing says why, and both ways out: a mirror, or a folder."""
    java = depot.java(program="#!/bin/sh\necho ':: UNRESOLVED DEPENDENCIES'\necho 'Server access error at url x'\n")
    with pytest.raises(Failed, match=r"Could not fetch org\.example:thing:1\.0") as refused:
        depot.locate(java)
    assert "Server access error at url x" in str(refused.value.why)
    assert "ivy_settings: FILE" in str(refused.value.next_step)
    assert "as thing-1.0.jar into a folder" in str(refused.value.next_step)


def test_nothing_of_a_failed_fetch_stays(depot: Depot) -> None:
    """The private folder of a fetch is gone afterwards, whatever happened in it."""
    java = depot.java(program="#!/bin/sh\necho half > half.part\nexit 1\n")
    with pytest.raises(Failed):
        depot.locate(java)
    assert not [path for path in depot.place.folder.iterdir() if path.name.startswith(".fetch-")]


def test_a_folder_of_the_users_is_never_fetched_into(depot: Depot) -> None:
    """With `jars.folder` a missing jar is said to be missing, and nothing is run."""
    depot.settings = JarSettings(folder="mine")
    with pytest.raises(Missing, match=r"has no thing-1\.0\.jar"):
        depot.locate(depot.java())
    assert depot.fetches == 0


def test_a_damaged_jar_of_the_users_is_refused(depot: Depot) -> None:
    """It is not loaded, and it is not ours to replace."""
    depot.settings = JarSettings(folder="mine")
    depot.put(b"other")
    with pytest.raises(Failed, match="pinned is") as refused:
        depot.locate(depot.java())
    assert refused.value.why == "It was not loaded."
    assert (depot.jar.read_bytes(), depot.fetches) == (b"other", 0)


def test_a_folder_of_the_users_serves(depot: Depot) -> None:
    """The right bytes under the right name are taken where they lie."""
    depot.settings = JarSettings(folder="mine")
    depot.put(CONTENT)
    assert depot.locate(depot.java()) == depot.folder / "mine" / "thing-1.0.jar"


def test_a_mirror_that_is_not_there_is_named(depot: Depot) -> None:
    """A wrong `jars.ivy_settings` is refused before anything is fetched."""
    depot.settings = JarSettings(ivy_settings="mirror.xml")
    with pytest.raises(Missing, match=r"mirror\.xml"):
        depot.locate(depot.java())
    assert depot.fetches == 0


def test_a_mirror_reaches_ivy(depot: Depot) -> None:
    """The Ivy settings file is handed on as an absolute path: Ivy runs in a folder of its own."""
    depot.settings = JarSettings(ivy_settings="mirror.xml")
    (depot.folder / "mirror.xml").write_text("<ivysettings/>")
    depot.locate(depot.java())
    assert f"-settings {depot.folder / 'mirror.xml'} " in (depot.folder / "log").read_text()


def test_looking_writes_nothing_when_told_so(depot: Depot) -> None:
    """Without `remember` even the note that a hash was checked is not written."""
    depot.put(CONTENT)
    before = depot.files()
    assert depot.state(remember=False) is JarState.VERIFIED
    assert depot.files() == before


def test_a_hash_is_remembered_for_these_very_bytes(depot: Depot) -> None:
    """A jar changed after its hash was checked is hashed again, though its size is the same."""
    depot.put(CONTENT)
    assert depot.state() is JarState.VERIFIED
    depot.put(CONTENT[::-1])
    assert depot.state() is JarState.DAMAGED


def test_a_broken_note_is_no_proof(depot: Depot) -> None:
    """A note that cannot be read is as good as none."""
    depot.put(b"other")
    depot.state()
    for stamp in (depot.place.cache / "stamps").glob("*"):
        stamp.write_text("{")
    assert depot.state() is JarState.DAMAGED


def test_many_at_once_fetch_once(depot: Depot) -> None:
    """Of eight that want a missing jar at the same time one fetches; the others wait and find it."""
    java, gate = depot.java(), threading.Barrier(8)

    def one(_: int) -> Path:
        gate.wait()
        return depot.locate(java)

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(one, range(8)))
    assert (found, depot.fetches) == ({depot.jar}, 1)


def test_a_fetch_without_an_end_is_given_up(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch that takes too long is given up, and says so."""
    monkeypatch.setattr(jars, "FETCH_SECONDS_MAX", 0.05)
    java = depot.java(program="#!/bin/sh\nexec tail -f /dev/null\n")
    with pytest.raises(FirnlineError) as refused:
        depot.locate(java)
    assert "longer than 0.05 seconds" in str(refused.value.why)
