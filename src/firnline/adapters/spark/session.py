"""One root session per process, and an isolated one for every step.

Nothing sets a conf on the root, ours or given: what a lakehouse needs is set on each `newSession()`. So steps cannot
see each other's settings, and several projects share one JVM.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    wanted: SparkSettings,
    start: Callable[[Mapping[str, str]], launching.Start],
    cache: Path,
    given: object = None,
    jars: Iterable[str] = (),
) -> SparkRoot:
    """The process's root session for these settings. `jars` are the file names of those it must have been started with.

    `given` is checked and used as it is. Without it the session we started earlier is used again, or one is started:
    `start` is called only then, as it may have jars to fetch. A session somebody else started is never taken quietly.
    """
    if given is not None:
        root = _checked(given)
        _refuse_other_catalogs(root, wanted)
        return _with_overlay(root, wanted, cache, None)
    with _lock:
        started = _ours() or _start(wanted, start)
    if lacking := sorted(set(jars) - started.jars):
        raise Refused(
            f"The running Spark session was started without {', '.join(lacking)}.",
            why="An earlier environment of this process did not need it, and a JVM takes no more once it runs.",
            next_step="Use another process for this environment.",
        )
    return _with_overlay(started.session, wanted, cache, started)


@dataclass(frozen=True, slots=True)
class _Started:
    """A root of ours and what its JVM was started with. Spark's own answer has more in it, such as our jars."""

    session: SparkSession
    launch: Mapping[str, str]
    identity: str
    jars: frozenset[str]


_started: list[_Started] = []  # at most one


def _ours() -> _Started | None:
    active = SparkContext._active_spark_context
    if not _runs(active):
        return None
    if _started and _started[0].session.sparkContext is active:
        return _started[0]
    raise Refused(
        "This process already runs a Spark session that Firnline did not start.",
        why="Two cannot run in one process, and settings of yours would be changed.",
        next_step="Pass it: Lakehouse.open(spark=spark).",
    )


def _runs(context: SparkContext | None) -> bool:
    """Whether it was not stopped: a stopped context has no Java side."""
    return getattr(context, "_jsc", None) is not None


def _start(wanted: SparkSettings, start: Callable[[Mapping[str, str]], launching.Start]) -> _Started:
    begun = start(wanted.launch)
    root = launching.start(begun)
    loaded = frozenset(jar.name for jar in begun.jars)
    _started[:] = [_Started(root, dict(begun.conf), settings.identity(begun.conf, begun.environ), loaded)]
    return _started[0]


def stop() -> None:
    """Stop the session we started, if it runs. A given one is never stopped."""
    with _lock:
        if _started:
            _started.pop().session.stop()


def _with_overlay(root: SparkSession, wanted: SparkSettings, cache: Path, started: _Started | None) -> SparkRoot:
    """`started`: how we started it; None for a given one, whose deployment (master, memory, ports, AWS credentials) is
    its owner's business.
    """
    launching.silence()
    overlay = {key: value for key, value in wanted.launch.items() if _settable(root, key)}
    differing = _differing_for_given(root, wanted) if started is None else _differing(root, wanted, started)
    if differing:
        raise Refused(
            f"The running Spark session was started with other settings: {', '.join(sorted(differing))}.",
            why="They cannot be changed while it runs.",
            next_step="`firnline spark-conf` prints the settings to start it with."
            if started is None
            else "Use another process for this environment.",
        )
    if started is None:
        _require_iceberg(root)
    shipping.ship(root.sparkContext, shipping.package_zip(cache))
    return SparkRoot(root, {**overlay, **wanted.session}, wanted.catalogs, given=started is None)


def _settable(root: SparkSession, key: str) -> bool:
    return key.startswith("spark.sql.") and bool(root.conf.isModifiable(key))


def _differing(root: SparkSession, wanted: SparkSettings, started: _Started) -> list[str]:
    fixed = [key for key in wanted.launch if not _settable(root, key)]
    found = settings.unlike(wanted.launch, started.launch, fixed)
    # An environment that takes nothing from the process may work in one of any identity.
    if wanted.shares and settings.identity(wanted.launch, wanted.environ) != started.identity:
        found.append("AWS credentials")
    return found


def _differing_for_given(root: SparkSession, wanted: SparkSettings) -> list[str]:
    theirs = {settings.EXTENSIONS: root.sparkContext.getConf().get(settings.EXTENSIONS) or ""}
    return settings.unlike(wanted.launch, theirs, theirs)


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
