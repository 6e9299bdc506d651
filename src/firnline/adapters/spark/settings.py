"""The Spark settings of an environment, worked out purely: what Spark is started with, and what each session is given.

Catalogs are settings of a session, not of the process: one JVM can then serve several projects, and two whose catalogs
have the same name never see each other's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from firnline.config import embedded
from firnline.config.values import CatalogSettings, Environment
from firnline.core.errors import BadInput

CATALOG = "spark.sql.catalog."
EXTENSIONS = "spark.sql.extensions"
DEFAULT_CATALOG = "spark.sql.defaultCatalog"
ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
WIRED = ("sqlite",)
# Session-wide switches that would leak from one step into another; refused rather than reset behind the user's back.
_SESSION_WIDE = ("spark.wap.", "spark.sql.iceberg.snapshot-property.")


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """`launch` starts the JVM; `session` is set on every isolated session before its first use."""

    launch: Mapping[str, str]
    session: Mapping[str, str]
    catalogs: tuple[str, ...]

    @property
    def all(self) -> dict[str, str]:
        """Everything, for a Spark of the user's own, in the order people read it."""
        return {**self.launch, **self.session}


def spark_settings(environment: Environment, root: str | Path) -> SparkSettings:
    """What an environment means to Spark. The user's `engine.conf` lies on top and may not contradict the catalogs."""
    catalogs = environment.catalogs
    session: dict[str, str] = {}
    for catalog in catalogs.values():
        session |= catalog_settings(catalog, root, read_only=environment.access == "read")
    if catalogs:
        session[DEFAULT_CATALOG] = next(iter(catalogs))
    conf = environment.engine.conf
    _refuse_conflicts(conf, session, tuple(catalogs), environment.engine.master)
    launch = {"spark.master": environment.engine.master, "spark.app.name": "firnline"}
    launch |= _LOCAL if environment.engine.master.startswith("local") else {}
    launch |= {"spark.sql.session.timeZone": "UTC"}
    launch |= {key: value for key, value in conf.items() if not _of_catalogs(key, tuple(catalogs))}
    launch[EXTENSIONS] = _with_ours(conf.get(EXTENSIONS, ""))
    return SparkSettings(launch, session, tuple(catalogs))


# A laptop's Spark listens to this machine only, shows no web page, and cuts small data into few tasks.
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.memory": "2g",
}


def catalog_settings(catalog: CatalogSettings, root: str | Path, *, read_only: bool = False) -> dict[str, str]:
    """`spark.sql.catalog.NAME…` of one catalog. Read-only, SQLite itself refuses every write through it."""
    if catalog.type not in WIRED:
        raise BadInput(
            f"The catalog {catalog.name!r} has type {catalog.type!r}, which this version does not wire into Spark yet.",
            next_step=f"Wired: {', '.join(WIRED)}.",
        )
    place = embedded.places(catalog, root)
    key = CATALOG + catalog.name
    # WAL lets readers go on while somebody writes; the timeout makes a second writer wait instead of failing.
    waits = f"busy_timeout={embedded.BUSY_TIMEOUT_SECONDS * 1000}"
    mode = "open_mode=1" if read_only else "journal_mode=WAL"
    return {
        key: "org.apache.iceberg.spark.SparkCatalog",
        f"{key}.type": "jdbc",
        f"{key}.uri": f"jdbc:sqlite:{place.database}?{waits}&{mode}",
        f"{key}.jdbc.schema-version": "V1",
        **({f"{key}.jdbc.init-catalog-tables": "false"} if read_only else {}),
        f"{key}.warehouse": place.warehouse,
        # A cached table would be stale as soon as PyIceberg, or another step, commits.
        f"{key}.cache-enabled": "false",
        **_passed_on(catalog, key),
    }


def _passed_on(catalog: CatalogSettings, key: str) -> dict[str, str]:
    ours = {"uri", "warehouse"}
    return {f"{key}.{name}": value for name, value in catalog.properties.items() if name not in ours}


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
