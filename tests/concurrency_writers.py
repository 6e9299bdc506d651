"""Writers of three kinds on one table, started together: Spark sessions, PyIceberg processes, and Firnline itself.

Each says of every row, or property, whether it was acknowledged, refused, or is unknown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import IO, TYPE_CHECKING, Any, Protocol

from firnline.core.ids import Identifier
from firnline.lakehouse.opening import Lakehouse
from firnline.loop.values import OutcomeKind
from tests.committing import properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
READY_SECONDS = 120.0  # a hang is a failure with a name, and not the end of the whole run
PAUSE = 0.2  # Firnline's commits are far quicker than theirs: without a pause it would win every race
TRIES_MAX = 60
_SAID_BY_ICEBERG = {"CommitStateUnknownException": "unknown", "CommitFailedException": "refused"}


@dataclass
class Report:
    """What became of the rows of one writer."""

    acknowledged: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


class Writer(Protocol):
    """Somebody who writes rows."""

    def ready(self) -> Callable[[], Report]:
        """Everything before the first write; what comes out does the writing."""


@dataclass(frozen=True, slots=True)
class SparkWriter:
    """An isolated session that inserts row by row."""

    session: SparkSession
    table: str
    ids: Sequence[int]

    def ready(self) -> Callable[[], Report]:
        """With the catalog and the table loaded."""
        assert self.session.table(self.table).columns == ["id", "writer"]
        return self._write

    def _write(self) -> Report:
        report = Report()
        for number in self.ids:
            getattr(report, self._insert(number)).append(number)
        return report

    def _insert(self, number: int) -> str:
        from firnline.adapters.spark import errors

        try:
            self.session.sql(f"INSERT INTO {self.table} VALUES ({number}, 'spark')")
        except errors.ERRORS as error:
            said = [_SAID_BY_ICEBERG[link.name] for link in errors.chain(error) if link.name in _SAID_BY_ICEBERG]
            if not said:
                raise
            return said[0]
        return "acknowledged"


@dataclass(frozen=True, slots=True)
class Appender:
    """A process of `tests.concurrency_appender`, and what it says on stderr."""

    process: subprocess.Popen[str]
    errors: IO[str]

    def tell(self, line: str) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def heard(self) -> str:
        """Its next line; when there is none, what it died of."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            self.errors.seek(0)
            raise AssertionError(self.errors.read())
        return line


@contextmanager
def appender() -> Iterator[Appender]:
    """A new process, ended with the block."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.concurrency_appender"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as process,
    ):  # fmt: skip
        try:
            yield Appender(process, errors)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class PyIcebergWriter:
    """A process that appends row by row."""

    process: Appender
    job: Mapping[str, Any]

    def ready(self) -> Callable[[], Report]:
        """With the table loaded there."""
        self.process.tell(json.dumps(self.job))
        assert self.process.heard() == "ready"
        return self._write

    def _write(self) -> Report:
        self.process.tell("go")
        return Report(**json.loads(self.process.heard()))


@dataclass
class FirnlineWriter:
    """Sets so many properties, one after the other. What is done is in `keys`, why a try was not, in `lost_races`."""

    lakehouse: Lakehouse
    table: Identifier
    count: int
    keys: list[str] = field(default_factory=list)
    lost_races: list[str] = field(default_factory=list)

    def ready(self) -> Callable[[], Report]:
        """With the catalog connected."""
        assert self.lakehouse.pointers.find(self.table) is not None
        return self._write

    def _write(self) -> Report:
        for number in range(self.count):
            self._set(f"races.{number}")
            time.sleep(PAUSE)
        return Report()

    def _set(self, key: str) -> None:
        for tries in range(TRIES_MAX):
            outcome = self.lakehouse.commits.commit(self.table, properties(**{key: "kept"}))
            if outcome.kind is OutcomeKind.DONE:
                self.keys.append(key)
                return
            assert outcome.retryable, outcome
            self.lost_races.append(outcome.detail)
            time.sleep(PAUSE * (1 + tries % 4))
        raise AssertionError(f"{key} is not in after {TRIES_MAX} tries: {self.lost_races}")


def race(writers: Sequence[Writer]) -> Report:
    """Let all write at the same time; what became of all rows. Whatever a writer raises is raised here."""
    gate = Barrier(len(writers))

    def run(writer: Writer) -> Report:
        try:
            write = writer.ready()
        except BaseException:
            gate.abort()
            raise
        gate.wait(READY_SECONDS)
        return write()

    with ThreadPoolExecutor(len(writers)) as pool:
        running = [pool.submit(run, writer) for writer in writers]
    for error in sorted(filter(None, (one.exception() for one in running)), key=_is_a_consequence):
        raise error
    reports = [one.result() for one in running]
    return Report(
        sorted(number for one in reports for number in one.acknowledged),
        sorted(number for one in reports for number in one.refused),
        sorted(number for one in reports for number in one.unknown),
    )


def _is_a_consequence(error: BaseException) -> bool:
    return isinstance(error, BrokenBarrierError)
