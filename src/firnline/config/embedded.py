"""Where an embedded (`type: sqlite`) catalog lives: one answer for every engine and doctor, so that they share it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from firnline.config.values import CatalogSettings
from firnline.core.errors import BadInput

DATABASE = ".lake/catalog.db"
WAREHOUSE = "warehouse"
# Both engines wait this long for a writer of the other: JDBC by `busy_timeout`, SQLAlchemy by `timeout`.
BUSY_TIMEOUT_SECONDS = 30
# They end a JDBC URL's path, or are decoded in one engine's reading of a URI and kept in the other's.
_UNSAFE = frozenset("?#%")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The catalog's file and the warehouse as a URI without a trailing slash."""

    database: Path
    warehouse: str


def places(catalog: CatalogSettings, root: str | Path) -> Embedded:
    """The file and warehouse of a sqlite catalog: `uri` and `warehouse` of its properties, from the project's folder.

    A warehouse URI is written without percent-encoding: Hadoop keeps paths as they are, and a table's location must
    read the same in both engines.
    """
    database = _path(catalog.properties.get("uri", DATABASE).removeprefix("sqlite:///"), root)
    warehouse = catalog.properties.get("warehouse", WAREHOUSE)
    if "://" not in warehouse or warehouse.startswith("file://"):
        warehouse = "file://" + str(_path(warehouse.removeprefix("file://"), root))
    return Embedded(database, warehouse.rstrip("/"))


def warehouse_folder(place: Embedded) -> Path | None:
    """The warehouse as a local folder, or None when it is an object store."""
    return Path(place.warehouse.removeprefix("file://")) if place.warehouse.startswith("file://") else None


def _path(text: str, root: str | Path) -> Path:
    path = (Path(root) / Path(text).expanduser()).absolute()
    found = sorted(_UNSAFE & set(str(path)))
    if found:
        raise BadInput(
            f"The path {str(path)!r} has the character {found[0]!r}.",
            why="Spark and PyIceberg would read such a path differently, and each would make a catalog of its own.",
            next_step="Move the project, or set the catalog's `uri` and `warehouse` to paths without ?, # and %.",
        )
    return path
