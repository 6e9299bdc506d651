"""Starts the JVM with everything it says going to a log file: nothing of it reaches the user's terminal.

A JVM that does not start is reported with what it said, so silence never hides a failure.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from firnline.adapters.local import machine
from firnline.adapters.spark.catalogs import JAVA_OPTIONS
from firnline.core.errors import Failed

LOGS_KEPT = 20
_TAIL_LINES = 12
_LOG4J = b"""rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""
# pyspark logs every error it raises, stack and all, to stderr; we fold the error instead (errors.py).
_PYSPARK_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_BANNERS = ("WARNING: Using incubator", "Using Spark's default", "Setting default log level", "To adjust logging")


@dataclass(frozen=True, slots=True)
class Start:
    """What a JVM is started with."""

    conf: Mapping[str, str]
    jars: Sequence[Path]
    java_home: Path
    cache: Path
    environ: Mapping[str, str | None] = field(default_factory=dict, repr=False)  # None: without this variable


def start(wanted: Start) -> SparkSession:
    """A new root session in a new JVM, or Failed with the JVM's own last words."""
    silence()
    log_path = _log_path(wanted.cache)
    conf = SparkConf(loadDefaults=False)
    for key, value in _conf(wanted).items():
        conf.set(key, value)
    with log_path.open("ab") as log, _environment(_variables(wanted)):
        try:
            return _start(conf, log)
        except (PySparkException, Py4JError, OSError, ValueError) as error:
            raise _failure(error, log_path, wanted) from error


def _start(conf: SparkConf, log: BinaryIO) -> SparkSession:
    gateway = launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
    try:
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except BaseException:
        # A JVM without a context would linger, and the next try would be given this one.
        SparkContext._gateway = None
        SparkContext._jvm = None
        gateway.shutdown()
        gateway.proc.stdin.close()
        raise


def silence() -> None:
    """Keep pyspark's own error log off stderr."""
    for name in _PYSPARK_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _conf(wanted: Start) -> dict[str, str]:
    log4j = machine.write_once(wanted.cache / "log4j2.properties", _LOG4J)
    conf = dict(wanted.conf)
    jars = [str(jar) for jar in wanted.jars] + [jar for jar in conf.get("spark.jars", "").split(",") if jar]
    options = conf.get(JAVA_OPTIONS, "")
    if "log4j2.configurationFile" not in options:
        options = f"{options} -Dlog4j2.configurationFile={log4j.as_uri()}".strip()
    return conf | {"spark.jars": ",".join(jars), JAVA_OPTIONS: options}


def _variables(wanted: Start) -> dict[str, str | None]:
    # Workers must run this very Python: the one called python3 on the PATH is often another version.
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return {**wanted.environ, "JAVA_HOME": str(wanted.java_home), "PYSPARK_PYTHON": python}


@contextlib.contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """The JVM and pyspark take these from the environment only; they are put back as they were."""
    before = {key: os.environ.get(key) for key in changes}
    _change(changes)
    try:
        yield
    finally:
        _change(before)


def _change(variables: Mapping[str, str | None]) -> None:
    for key, value in variables.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value


def _log_path(cache: Path) -> Path:
    folder = cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("spark-*.log"))[: -LOGS_KEPT + 1]:
        old.unlink(missing_ok=True)
    return folder / f"spark-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}.log"


def _failure(error: Exception, log_path: Path, wanted: Start) -> Failed:
    lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line for line in lines if line.strip() and not line.lstrip().startswith(("at ", "...", *_BANNERS))]
    said = "\n".join(telling[-_TAIL_LINES:]) or str(error).splitlines()[0]
    return Failed(
        f"Spark did not start with the Java in {wanted.java_home}.",
        why=f"It said:\n{said}",
        next_step=f"Run `firnline doctor`. All it said is in {log_path}.",
    )
