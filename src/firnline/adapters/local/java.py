"""Finds a Java that can run Spark: JAVA_HOME, then PATH, then the usual folders. Looks at files; starts nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

USABLE = (17, 21)  # what Spark 4.1 supports, best first
_VERSION = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)[^"]*"', re.MULTILINE)
_FULL = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)
_MODULES = re.compile(r'^MODULES="([^"]*)"', re.MULTILINE)
# Spark's launcher adds this module on its command line; runtimes cut down with jlink lack it and exit at once.
_NEEDED_MODULE = "jdk.incubator.vector"
_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/usr/local/lib/jvm/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
_HOME_FOLDERS = (".sdkman/candidates/java/*", ".jdks/*", "Library/Java/JavaVirtualMachines/*/Contents/Home")
HOW_TO_INSTALL = (
    "Install Java 17: `apt install openjdk-17-jre-headless`, `dnf install java-17-openjdk-headless` or "
    "`brew install openjdk@17`; or point JAVA_HOME at one."
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime. `problem` says why Spark cannot use it; None when it can."""

    home: Path
    version: str
    origin: str
    problem: str | None = None

    @property
    def command(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / "java"


@dataclass(frozen=True, slots=True)
class JavaSearch:
    """The Java to use, and every one that was passed over on the way."""

    chosen: Java | None
    passed_over: tuple[Java, ...]


def find(env: Mapping[str, str], folders: Sequence[Path] | None = None) -> JavaSearch:
    """The first usable Java; among those in the usual folders 17 goes before 21.

    A JAVA_HOME that Spark cannot use is passed over, not obeyed: the machine's default Java is often newer than Spark.
    """
    named = [java for home, origin in _named(env) if (java := inspect(home, origin)) is not None]
    usual = usual_folders(env) if folders is None else folders
    found = [java for home in usual if (java := inspect(home, str(home.parent))) is not None]
    found.sort(key=lambda java: (_rank(java), str(java.home)))
    everything = _distinct((*named, *found))
    chosen = next((java for java in everything if java.problem is None), None)
    return JavaSearch(chosen, tuple(java for java in everything if java.problem is not None))


def inspect(home: Path, origin: str) -> Java | None:
    """What lies in this folder, or None when it is no Java at all."""
    command = home / "bin" / "java"
    if not command.is_file():
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Java(home, "unknown", origin, "it has no `release` file to tell its version by")
    full, major = _FULL.search(release), _VERSION.search(release)
    if full is None or major is None:
        return Java(home, "unknown", origin, "its `release` file names no version")
    return Java(home, full[1], origin, _problem(command, int(major[1]), release))


def _problem(command: Path, major: int, release: str) -> str | None:
    if major not in USABLE:
        return f"Spark runs on Java {' or '.join(map(str, USABLE))}"
    modules = _MODULES.search(release)
    if modules is not None and _NEEDED_MODULE not in modules[1].split():
        return f"it lacks the module {_NEEDED_MODULE}, which Spark's launcher asks for"
    if not os.access(command, os.X_OK):
        return "its `java` may not be executed"
    return None


def usual_folders(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where packages, version managers and IDEs put Java."""
    patterns = [*_FOLDERS, *(f"{env['HOME']}/{folder}" for folder in _HOME_FOLDERS if env.get("HOME"))]
    return tuple(path for pattern in patterns for path in sorted(Path("/").glob(pattern.lstrip("/"))))


def _named(env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"]), "JAVA_HOME"
    for folder in env.get("PATH", "").split(os.pathsep):
        program = Path(folder or ".") / "java"
        if program.is_file():
            yield program.resolve().parent.parent, "PATH"


def _rank(java: Java) -> int:
    order = [java.version.startswith(str(version)) for version in USABLE]
    return order.index(True) if any(order) else len(USABLE)


def _distinct(javas: Iterable[Java]) -> tuple[Java, ...]:
    by_home: dict[Path, Java] = {}
    for java in javas:
        by_home.setdefault(java.home.resolve(), java)
    return tuple(by_home.values())
