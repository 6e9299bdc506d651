"""Brings the pinned jars onto this machine, once, and lets nothing else be loaded in their place.

The fetching is done by the Ivy that ships inside pyspark, run as `java -jar`: no registry address is written anywhere
in this project, and no shell is involved.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from firnline.adapters.local import locks, machine
from firnline.adapters.spark.coordinates import Coordinate
from firnline.config.values import JarSettings
from firnline.core import sizes
from firnline.core.errors import Failed, Missing

Notify = Callable[[str], AbstractContextManager[None]]
FETCH_SECONDS_MAX = 900  # a slow line takes minutes for 50 MB; longer than this, nobody is at the other end
_HASH_CHUNK_BYTES = 1 << 20
_TALK_LINES_MAX = 4


class JarState(StrEnum):
    """What is known of a jar without fetching it."""

    VERIFIED = "verified"  # its hash was checked, now or for these very bytes before
    ABSENT = "absent"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class JarStatus:
    """One jar and where it is looked for."""

    coordinate: Coordinate
    path: Path
    state: JarState
    found: str | None = None  # the sha256 of a damaged one


@dataclass(frozen=True, slots=True)
class Place:
    """Where jars are looked for and put: the user's folder when one is set, else the cache."""

    settings: JarSettings
    root: Path  # relative paths in the settings are taken from here
    cache: Path

    @property
    def folder(self) -> Path:
        """The folder the jars lie in."""
        return self.root / self.settings.folder if self.settings.folder else self.cache / "jars"

    @property
    def ivy_settings(self) -> Path | None:
        """The Ivy settings file that names a mirror."""
        return self.root / self.settings.ivy_settings if self.settings.ivy_settings else None


def pyspark_folder() -> Path:
    """The folder of the installed pyspark, found without importing it."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise Missing(
            "Running on Spark needs the part 'spark', which is not installed.",
            next_step="Install it: pip install 'firnline[spark]'.",
        )
    return Path(spec.submodule_search_locations[0])


def look(wanted: Sequence[Coordinate], place: Place, *, remember: bool = True) -> tuple[JarStatus, ...]:
    """The state of each jar; nothing is fetched, and with `remember` false nothing at all is written."""
    return tuple(_look(coordinate, place, remember=remember) for coordinate in wanted)


def locate(
    wanted: Sequence[Coordinate], place: Place, java: Path, env: Mapping[str, str], notify: Notify
) -> tuple[Path, ...]:
    """The verified jars, fetched when they are not there.

    A damaged jar in the cache is thrown away and fetched again; in a folder of the user's it is refused: it is not
    ours to replace.
    """
    return tuple(_locate(coordinate, place, java, env, notify) for coordinate in wanted)


def _locate(coordinate: Coordinate, place: Place, java: Path, env: Mapping[str, str], notify: Notify) -> Path:
    status = _look(coordinate, place, remember=True)
    if status.state is JarState.VERIFIED:
        return status.path
    if place.settings.folder:
        raise _refusal(status)
    # One process fetches, the others wait for it and find the jar there.
    with locks.held(place.folder / f".{coordinate.file_name}.lock"):
        status = _look(coordinate, place, remember=True)
        if status.state is not JarState.VERIFIED:
            status.path.unlink(missing_ok=True)
            size = sizes.show_bytes(coordinate.bytes)
            with notify(f"Fetching {coordinate.name} {coordinate.version} ({size}), once"):
                _fetch(coordinate, place, java, env)
    return status.path


def _look(coordinate: Coordinate, place: Place, *, remember: bool) -> JarStatus:
    path = place.folder / coordinate.file_name
    if not path.is_file():
        return JarStatus(coordinate, path, JarState.ABSENT)
    stat = path.stat()
    stamp = {"sha256": coordinate.sha256, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    stamp_path = _stamp_path(path, place)
    if _read_stamp(stamp_path) == stamp:
        return JarStatus(coordinate, path, JarState.VERIFIED)
    found = sha256_of(path)
    if found != coordinate.sha256:
        return JarStatus(coordinate, path, JarState.DAMAGED, found)
    if remember:
        machine.write_once(stamp_path, json.dumps(stamp).encode())
    return JarStatus(coordinate, path, JarState.VERIFIED)


def sha256_of(path: Path) -> str:
    """The hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _stamp_path(jar: Path, place: Place) -> Path:
    # In the cache even for a user's folder, which may be read-only; keyed by the whole path.
    key = hashlib.sha256(str(jar.absolute()).encode()).hexdigest()[:16]
    return place.cache / "stamps" / f"{jar.name}.{key}.json"


def _read_stamp(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _fetch(coordinate: Coordinate, place: Place, java: Path, env: Mapping[str, str]) -> None:
    work = Path(tempfile.mkdtemp(dir=place.folder, prefix=".fetch-"))
    try:
        talk = _run_ivy(_ivy_command(coordinate, place, java), work, env)
        fetched = work / coordinate.file_name
        if not fetched.is_file():
            raise _not_fetched(coordinate, talk)
        found = sha256_of(fetched)
        if found != coordinate.sha256:
            raise _wrong_bytes(coordinate, found)
        os.replace(fetched, place.folder / coordinate.file_name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _look(coordinate, place, remember=True)


def _ivy_command(coordinate: Coordinate, place: Place, java: Path) -> list[str]:
    ivy = sorted((pyspark_folder() / "jars").glob("ivy-*.jar"))
    if not ivy:
        raise Missing(
            "This pyspark has no Ivy in its jars folder to fetch with.",
            next_step=how_offline(coordinate),
        )
    mirror = place.ivy_settings
    if mirror is not None and not mirror.is_file():
        raise Missing(
            f"jars.ivy_settings names {str(mirror)!r}, which is not there.",
            next_step="Correct the path; it is taken from the folder of lakehouse.yaml.",
        )
    settings = ["-settings", str(mirror.absolute())] if mirror is not None else []
    dependency = ["-dependency", coordinate.group, coordinate.name, coordinate.version]
    # Patterns are relative, to the private folder Ivy runs in: brackets in the user's paths mean nothing to it then.
    where = ["-cache", "ivy", "-retrieve", "[artifact]-[revision].[ext]"]
    return [str(java), "-jar", str(ivy[-1]), *settings, *where, *dependency, "-notransitive", "-types", "jar"]


def _run_ivy(command: list[str], work: Path, env: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=work,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCH_SECONDS_MAX,
            check=False,  # Ivy exits 0 for much that went wrong: the file itself tells
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {FETCH_SECONDS_MAX} seconds"
    return (done.stdout + done.stderr).decode(errors="replace")


def _not_fetched(coordinate: Coordinate, talk: str) -> Failed:
    marks = ("Exception", "not found", "UNRESOLVED", "timed out", "refused", "longer than", "FAILED", "Server access")
    lines = [line.strip(" :\t") for line in talk.splitlines() if any(mark in line for mark in marks)]
    why = "; ".join(dict.fromkeys(lines[:_TALK_LINES_MAX])) or "Ivy did not say why."
    return Failed(f"Could not fetch {coordinate}.", why=why, next_step=how_offline(coordinate))


def _wrong_bytes(coordinate: Coordinate, found: str) -> Failed:
    return Failed(
        f"What was fetched as {coordinate} is not that file: its sha256 is {found}, pinned is {coordinate.sha256}.",
        why="It was thrown away and nothing of it was loaded. A broken download, a proxy's error page, or worse.",
        next_step=how_offline(coordinate),
    )


def _refusal(status: JarStatus) -> Failed | Missing:
    folder, name = status.path.parent, status.path.name
    if status.state is JarState.ABSENT:
        return Missing(
            f"The folder {str(folder)!r} has no {name}.",
            next_step=f"Put {status.coordinate} there under that name, or remove `jars.folder` to have it fetched.",
        )
    return Failed(
        f"{status.path} is not {status.coordinate}: "
        f"its sha256 is {status.found}, pinned is {status.coordinate.sha256}.",
        why="It was not loaded.",
        next_step="Replace the file with the released one, or remove `jars.folder` to have it fetched.",
    )


def how_offline(coordinate: Coordinate) -> str:
    """What to do on a machine that cannot reach a registry."""
    return (
        "Behind a mirror: name an Ivy settings file with `jars: {ivy_settings: FILE}` in lakehouse.yaml. Without a "
        f"network: fetch {coordinate} elsewhere, put it as {coordinate.file_name} into a folder and name that with "
        "`jars: {folder: DIR}`."
    )
