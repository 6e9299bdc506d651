"""One root session per process, and an isolated one for every step.

Nothing sets a conf on the root, ours or given: what a lakehouse needs is set on each `newSession()`. So steps cannot
see each other's settings, and several projects share one JVM.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from firnline.adapters.spark import launching, settings, shipping
from firnline.adapters.spark.settings import SparkSettings
from firnline.core.errors import BadInput, Missing, Refused

Session: TypeAlias = SparkSession  # so that the composition root can name one without importing pyspark
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class SparkRoot:
    """The root session and what every isolated session gets on top. `given`: it is the caller's, and stays running."""

    session: SparkSession
    overlay: Mapping[str, str]
    catalogs: tuple[str, ...]
    given: bool

    def isolated(self) -> SparkSession:
        """A session of its own: own settings, own catalogs, own temporary views; the same JVM and cluster."""
        return isolated(self)


def isolated(root: SparkRoot) -> SparkSession:
    """A new session with the lakehouse's settings, set before any catalog is loaded in it."""
    session = root.session.newSession()
    for key, value in root.overlay.items():
        session.conf.set(key, value)
    return session


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make the session the one of this thread. Spark takes settings from the thread's *active* session when it loads a
    catalog or parses a statement, whichever session is asked for it.
    """
    sessions = getattr(session._jvm, "org.apache.spark.sql.classic.SparkSession")
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def open_root(
    wanted: SparkSettings, start: Callable[[Mapping[str, str]], launching.Start], cache: Path, given: object = None
) -> SparkRoot:
    """The process's root session for these settings.

    `given` is checked and used as it is. Without it the session we started earlier is used again, or one is started:
    `start` is called only then, as it may have jars to fetch. A session somebody else started is never taken quietly.
    """
    if given is not None:
        root = _checked(given)
        _refuse_other_catalogs(root, wanted)
        return _with_overlay(root, wanted, cache, given=True)
    with _lock:
        root = _ours() or _start(wanted, start)
    return _with_overlay(root, wanted, cache, given=False)


_started: list[SparkSession] = []  # at most one: the root we started


def _ours() -> SparkSession | None:
    active = SparkContext._active_spark_context
    if not _runs(active):
        return None
    if _started and _started[0].sparkContext is active:
        return _started[0]
    raise Refused(
        "This process already runs a Spark session that Firnline did not start.",
        why="Two cannot run in one process, and settings of yours would be changed.",
        next_step="Pass it: Lakehouse.open(spark=spark).",
    )


def _runs(context: SparkContext | None) -> bool:
    """Whether it was not stopped: a stopped context has no Java side."""
    return getattr(context, "_jsc", None) is not None


def _start(wanted: SparkSettings, start: Callable[[Mapping[str, str]], launching.Start]) -> SparkSession:
    root = launching.start(start(wanted.launch))
    _started[:] = [root]
    return root


def stop() -> None:
    """Stop the session we started, if it runs. A given one is never stopped."""
    with _lock:
        if _started:
            _started.pop().stop()


def _with_overlay(root: SparkSession, wanted: SparkSettings, cache: Path, *, given: bool) -> SparkRoot:
    launching.silence()
    overlay = {key: value for key, value in wanted.launch.items() if _settable(root, key)}
    differing = [key for key, value in wanted.launch.items() if not _agrees(root, key, value, given=given)]
    if differing:
        raise Refused(
            f"The running Spark session was started with other settings: {', '.join(sorted(differing))}.",
            why="They cannot be changed while it runs.",
            next_step="`firnline spark-conf` prints the settings to start it with."
            if given
            else "Use another process for this environment.",
        )
    if given:
        _require_iceberg(root)
    shipping.ship(root.sparkContext, shipping.package_zip(cache))
    return SparkRoot(root, {**overlay, **wanted.session}, wanted.catalogs, given)


def _settable(root: SparkSession, key: str) -> bool:
    return key.startswith("spark.sql.") and bool(root.conf.isModifiable(key))


def _agrees(root: SparkSession, key: str, value: str, *, given: bool) -> bool:
    if _settable(root, key):
        return True
    theirs = root.sparkContext.getConf().get(key)
    if key == settings.EXTENSIONS:
        return set(value.split(",")) <= set((theirs or "").split(","))
    # How a given session is deployed (master, memory, ports) is its owner's business.
    return given or theirs == value


def _checked(given: object) -> SparkSession:
    if type(given).__module__.startswith("pyspark.sql.connect"):
        raise BadInput(
            "The given session is a Spark Connect session, which is not supported.",
            why="Commits go through Iceberg's Java classes, and Spark Connect gives no access to its JVM.",
            next_step="Pass a classic session: SparkSession.builder.config('spark.api.mode', 'classic').getOrCreate().",
        )
    if not isinstance(given, SparkSession):
        raise BadInput(f"`spark` must be a SparkSession, not {type(given).__name__}.")
    if not _runs(given.sparkContext):
        raise BadInput("The given Spark session was stopped.", next_step="Pass one that runs.")
    return given


def _refuse_other_catalogs(root: SparkSession, wanted: SparkSettings) -> None:
    # getAll is a property in classic sessions: every setting of the session, the process's included.
    theirs: dict[str, Any] = dict(root.conf.getAll)
    found = settings.differing(wanted.session, theirs, wanted.catalogs)
    if found:
        raise Refused(
            "The given Spark session has another catalog under the same name; "
            f"these settings differ: {', '.join(found)}.",
            why="Spark would write to another place than the one plans and checks look at.",
            next_step="Start it with what `firnline spark-conf` prints, or leave that catalog out of it.",
        )


def _require_iceberg(root: SparkSession) -> None:
    try:
        root._jvm.org.apache.iceberg.IcebergBuild.version()  # type: ignore[union-attr]
    except (Py4JError, TypeError) as error:
        raise Missing(
            "The given Spark session has no Iceberg on its class path.",
            next_step="Start it with what `firnline spark-conf --format submit` prints.",
        ) from error
