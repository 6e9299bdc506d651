"""The Spark settings of an environment, worked out purely: what Spark is started with, and what each session is given.

Catalogs are settings of a session, not of the process: one JVM can then serve several projects, and two whose catalogs
have the same name never see each other's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from firnline.adapters.spark.catalogs import CATALOG, JAVA_OPTIONS, names_on_s3, spark_catalog
from firnline.config.values import Environment
from firnline.core.errors import BadInput

EXTENSIONS = "spark.sql.extensions"
DEFAULT_CATALOG = "spark.sql.defaultCatalog"
ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_PROFILE = re.compile(r"-Daws\.profile=(\S+)")
_Text = TypeVar("_Text", bound=str | None)
# Session-wide switches that would leak from one step into another; refused rather than reset behind the user's back.
_SESSION_WIDE = ("spark.wap.", "spark.sql.iceberg.snapshot-property.")


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """`launch` starts the JVM; `session` is set on every isolated session before its first use. `environ` are variables
    the JVM is started under (None: without this one), for what Iceberg takes from nowhere else. `shares`: some catalog
    takes AWS credentials from the process.
    """

    launch: Mapping[str, str]
    session: Mapping[str, str]
    catalogs: tuple[str, ...]
    environ: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    shares: bool = False

    @property
    def all(self) -> dict[str, str]:
        """Everything, for a Spark of the user's own, in the order people read it."""
        return {**self.launch, **self.session}


def spark_settings(
    environment: Environment, root: str | Path, *, region: str | None = None, locations: Iterable[str] = ()
) -> SparkSettings:
    """What an environment means to Spark. The user's `engine.conf` lies on top and may not contradict the catalogs.

    `region` is the process's (AWS_REGION); `locations` are those of the declared namespaces.
    """
    catalogs = environment.catalogs
    read_only = environment.access == "read"
    on_s3 = names_on_s3(environment, locations)
    found = [
        spark_catalog(catalog, root, on_s3=name in on_s3, region=region, read_only=read_only)
        for name, catalog in catalogs.items()
    ]
    session = {key: value for one in found for key, value in one.session.items()}
    if catalogs:
        session[DEFAULT_CATALOG] = next(iter(catalogs))
    conf = environment.engine.conf
    _refuse_conflicts(conf, session, tuple(catalogs), environment.engine.master)
    launch = {"spark.master": environment.engine.master, "spark.app.name": "firnline"}
    launch |= LOCAL if environment.engine.master.startswith("local") else {}
    launch |= {"spark.sql.session.timeZone": "UTC"}
    ours = _together([one.launch for one in found])
    theirs = {key: value for key, value in conf.items() if not _of_catalogs(key, tuple(catalogs))}
    launch |= ours | theirs | {key: f"{theirs[key]} {ours[key]}" for key in ours if key in theirs}
    launch[EXTENSIONS] = _with_ours(conf.get(EXTENSIONS, ""))
    variables = _together([one.environ for one in found])
    return SparkSettings(launch, session, tuple(catalogs), variables, any(one.shares for one in found))


def identity(launch: Mapping[str, str], environ: Mapping[str, str | None]) -> str:
    """As whom a process that is started so comes to AWS, as a digest: to be compared, and to show no key."""
    profile = _PROFILE.findall(launch.get(JAVA_OPTIONS, ""))[-1:]
    return hashlib.sha256(json.dumps([profile, sorted(environ.items())]).encode()).hexdigest()


def _together(parts: Sequence[Mapping[str, _Text]]) -> dict[str, _Text]:
    """What all catalogs need of the one process. Two profiles, or two sets of static keys, cannot be had in it."""
    found: dict[str, _Text] = {}
    for key, value in (item for part in parts for item in part.items()):
        if found.setdefault(key, value) != value:
            raise BadInput(
                "Two catalogs of the environment need different AWS credentials of one Spark process.",
                why="Iceberg's clients take a profile, and the keys for Glue or a role, from the process alone.",
                next_step="Give both the same profile, use `role:` for one of them, or make two environments.",
            )
    return found


# A laptop's Spark listens to this machine only, shows no web page, and cuts small data into few tasks.
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.memory": "2g",
}


def _of_catalogs(key: str, catalogs: Iterable[str]) -> bool:
    mine = [CATALOG + name for name in catalogs]
    return key == DEFAULT_CATALOG or any(key == prefix or key.startswith(f"{prefix}.") for prefix in mine)


def _refuse_conflicts(
    conf: Mapping[str, str], session: Mapping[str, str], catalogs: tuple[str, ...], master: str
) -> None:
    fixed = {"spark.sql.session.timeZone": "UTC", "spark.master": master}
    for key, value in conf.items():
        if _of_catalogs(key, catalogs) and session.get(key) != value:
            raise BadInput(
                f"engine.conf: {key} contradicts the catalog declared in `catalogs:`.",
                why="Spark would write to another place than the one everything else looks at.",
                next_step="Remove it from engine.conf, and say it in the catalog's properties.",
            )
        if key in fixed and value != fixed[key]:
            raise BadInput(
                f"engine.conf: {key} is {fixed[key]!r} here and may not be {value!r}.",
                next_step="Set `engine.master`." if key == "spark.master" else "Convert time zones in queries instead.",
            )
        if key == "spark.remote" or key.startswith(_SESSION_WIDE):
            raise BadInput(
                f"engine.conf: {key} may not be set.",
                why="Spark Connect is not supported."
                if key == "spark.remote"
                else "It holds for a whole session, so one step's writes would be taken for another's.",
                next_step="Remove it.",
            )


def _with_ours(extensions: str) -> str:
    theirs = [name.strip() for name in extensions.split(",") if name.strip()]
    return ",".join(dict.fromkeys((ICEBERG_EXTENSIONS, *theirs)))


def differing(ours: Mapping[str, str], theirs: Mapping[str, str], catalogs: Iterable[str]) -> tuple[str, ...]:
    """Keys of our catalogs that a session of the user's has otherwise; a catalog it lacks is no difference."""
    found: list[str] = []
    for name in catalogs:
        of_it = [key for key in (*ours, *theirs) if _of_catalogs(key, (name,)) and key != DEFAULT_CATALOG]
        if CATALOG + name in theirs:
            found += [key for key in dict.fromkeys(of_it) if ours.get(key) != theirs.get(key)]
    return tuple(sorted(found))


def unlike(ours: Mapping[str, str], theirs: Mapping[str, str], keys: Iterable[str]) -> list[str]:
    """Those of these keys that are not in theirs as they are in ours; of extensions, more than ours may be there."""
    return [key for key in keys if not _holds(key, ours[key], theirs.get(key))]


def _holds(key: str, value: str, theirs: str | None) -> bool:
    if key == EXTENSIONS:
        return set(value.split(",")) <= set((theirs or "").split(","))
    return theirs == value
