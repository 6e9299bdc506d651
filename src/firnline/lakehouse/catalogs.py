"""Which adapter stands for which catalog. The only catalog wired so far is the embedded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firnline.config import embedded
from firnline.config.values import CatalogSettings, LakehouseSettings
from firnline.core.errors import BadInput, Missing
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean

if TYPE_CHECKING:
    from firnline.adapters.routing import Heavy
    from firnline.facts.ports import Blobs, Files, Manifests, Pointer, Pointers
    from firnline.lakehouse.opening import Lakehouse
    from firnline.loop.commits import Commits

WIRED = ("sqlite",)


def require_wired(catalog: CatalogSettings) -> None:
    """Say plainly when a catalog is understood and not reachable yet."""
    if catalog.type not in WIRED:
        raise Missing(
            f"The catalog {catalog.name!r} is of type {catalog.type}, "
            "which this version of Firnline does not reach yet.",
            why=f"Wired so far: {', '.join(WIRED)}. The settings were read and are kept as they are.",
            next_step="Choose an environment with a sqlite catalog (--env), or wait for the version that wires it.",
        )


def pointers(settings: LakehouseSettings) -> Pointers:
    """The listing half of the catalog."""
    from firnline.adapters.local.pointers import SqlitePointers

    require_wired(settings.catalog)
    return SqlitePointers(str(embedded.places(settings.catalog, settings.root).database), settings.catalog.name)


def entry(lakehouse: Lakehouse, name: str | Identifier) -> Pointer:
    """The catalog's entry of an Iceberg table; BadInput with the nearest name when there is none."""
    identifier = Identifier.parse(name) if isinstance(name, str) else name
    pointer = lakehouse.pointers.find(identifier)
    if pointer is None:
        known = [str(each.identifier) for each in lakehouse.pointers.list()]
        raise BadInput(
            f"There is no table {identifier} in the catalog {lakehouse.settings.catalog.name!r}.",
            next_step=did_you_mean(str(identifier), known) or "`firnline apply` creates what is declared.",
        )
    if pointer.kind != "table" or pointer.metadata_location is None:
        raise BadInput(f"{identifier} is a {pointer.kind}, not an Iceberg table.")
    return pointer


def blobs(settings: LakehouseSettings) -> Blobs:
    """Reads metadata files."""
    from firnline.adapters.local.blobs import LocalBlobs

    require_wired(settings.catalog)
    return LocalBlobs()


def files(settings: LakehouseSettings) -> Files:
    """Lists what lies under a location."""
    from firnline.adapters.local.files import LocalFiles

    require_wired(settings.catalog)
    return LocalFiles()


def manifests(settings: LakehouseSettings) -> Manifests:
    """Reads manifests."""
    from firnline.adapters.iceberg.manifests import IcebergManifests

    return IcebergManifests(blobs(settings))


def commits(lakehouse: Lakehouse) -> Commits:
    """Formats 1 and 2 without a JVM; format 3, and what PyIceberg would harm, through one."""
    from firnline.adapters.iceberg.commits import PyIcebergCommits
    from firnline.adapters.local.catalog import SqliteCatalog
    from firnline.adapters.routing import RoutedCommits

    settings = lakehouse.settings
    require_wired(settings.catalog)
    place = embedded.places(settings.catalog, settings.root)
    place.database.parent.mkdir(parents=True, exist_ok=True)
    swaps = SqliteCatalog(str(place.database), settings.catalog.name)
    light = PyIcebergCommits(lakehouse.pointers, swaps, lakehouse.blobs)
    return RoutedCommits(light, lambda: _through_jvm(lakehouse))


def _through_jvm(lakehouse: Lakehouse) -> Heavy:
    from firnline.adapters.spark.commits import SparkCommits

    return SparkCommits(lakehouse.spark.isolated(), lakehouse.settings.catalog.name)
