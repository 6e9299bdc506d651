"""Which adapter stands for which catalog. The one place that chooses."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from firnline.config import embedded, endpoints
from firnline.config.endpoints import GlueEndpoint, HiveEndpoint, RestEndpoint
from firnline.config.values import CatalogSettings
from firnline.core.errors import BadInput, Missing, Partial
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.lakehouse import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from firnline.adapters.access import StoreAccess
    from firnline.adapters.hive.client import HiveClient
    from firnline.adapters.iceberg.commits import Swaps
    from firnline.adapters.rest.client import RestClient
    from firnline.adapters.routing import Heavy
    from firnline.facts.ports import Pointer, Pointers
    from firnline.lakehouse.opening import Lakehouse
    from firnline.loop.commits import Commits

WIRED = ("sqlite", "glue", "s3tables", "rest", "hive")


def require_wired(catalog: CatalogSettings) -> None:
    """Say plainly when a catalog is understood and not reachable yet."""
    if catalog.type not in WIRED:
        raise Missing(
            f"The catalog {catalog.name!r} is of type {catalog.type}, "
            "which this version of Firnline does not reach yet.",
            why=f"Wired so far: {', '.join(WIRED)}. The settings were read and are kept as they are.",
            next_step="Choose an environment with one of those (--env), or wait for the version that wires it.",
        )


class Connection:
    """The catalog of an open lakehouse, reached when it is first asked something."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        require_wired(lakehouse.settings.catalog)
        self._lakehouse = lakehouse
        self._catalog = lakehouse.settings.catalog
        self._endpoint = endpoints.endpoint(self._catalog)

    @property
    def place(self) -> str:
        """Where was looked, in words: of an empty catalog it is the only thing that tells of a wrong region."""
        match self._endpoint:
            case GlueEndpoint(catalog_id=number):
                region = self._lakehouse.storage.sessions.region()
                return f"the Glue catalog {number or 'of this account'} in {region}"
            case RestEndpoint(uri=uri):
                return f"the REST catalog at {uri}"
            case HiveEndpoint(host=host, port=port):
                return f"the metastore at {host}:{port}"
            case None:
                return f"the catalog {self._catalog.name!r}"

    @property
    def warehouse(self) -> str | None:
        """Where tables go that do not say; None where the catalog chooses, or nothing is known."""
        match self._endpoint:
            case GlueEndpoint() | HiveEndpoint():
                return self._endpoint.warehouse
            case RestEndpoint():
                return self._endpoint.location
            case None:
                return embedded.places(self._catalog, self._lakehouse.settings.root).warehouse

    @property
    def assigns_locations(self) -> bool:
        """Whether the catalog itself knows where a new table goes."""
        return isinstance(self._endpoint, RestEndpoint) and self._endpoint.dialect != "glue"

    @property
    def keeps_names(self) -> str | None:
        """Why this catalog cannot rename a table; None where it can."""
        match self._endpoint:
            case GlueEndpoint():
                from firnline.adapters.aws.glue_swaps import NO_RENAMES

                return NO_RENAMES
            case RestEndpoint(dialect=dialect):
                from firnline.adapters.rest import dialects

                return dialects.bad_rename(dialects.DIALECTS[dialect])
            case _:
                return None

    @property
    def vended(self) -> Callable[[str], StoreAccess] | None:
        """What opens a location, where the catalog hands out credentials to its files."""
        if not isinstance(self._endpoint, RestEndpoint) or not self._endpoint.vended:
            return None
        from firnline.adapters.rest.pointers import RestPointers

        assert isinstance(self.pointers, RestPointers)
        return self.pointers.vault.access

    @cached_property
    def pointers(self) -> Pointers:
        """The listing half."""
        match self._endpoint:
            case GlueEndpoint() as endpoint:
                sessions = self._lakehouse.storage.sessions
                from firnline.adapters.aws.glue_pointers import GluePointers

                return GluePointers(sessions, endpoint, self._catalog.name)
            case HiveEndpoint() as endpoint:
                client = self._hive
                from firnline.adapters.hive.pointers import HivePointers

                return HivePointers(client)
            case RestEndpoint():
                from firnline.adapters.rest.pointers import RestPointers

                return RestPointers(self._rest)
            case None:
                from firnline.adapters.local.pointers import SqlitePointers

                place = embedded.places(self._catalog, self._lakehouse.settings.root)
                return SqlitePointers(str(place.database), self._catalog.name)

    @cached_property
    def commits(self) -> Commits:
        """The committing half: formats 1 and 2 without a JVM; format 3, and what PyIceberg would harm, through one. A
        REST catalog takes every format as it is.
        """
        if isinstance(self._endpoint, RestEndpoint):
            from firnline.adapters.rest.commits import RestCommits

            return RestCommits(self._rest)
        from firnline.adapters.iceberg.commits import PyIcebergCommits
        from firnline.adapters.routing import RoutedCommits

        light = PyIcebergCommits(
            self._lakehouse.pointers, self._swaps(), self._lakehouse.blobs, self._lakehouse.storage.files
        )
        return RoutedCommits(light, lambda: _through_jvm(self._lakehouse))

    def _swaps(self) -> Swaps:
        match self._endpoint:
            case GlueEndpoint() as endpoint:
                from firnline.adapters.aws.glue_swaps import GlueSwaps

                return GlueSwaps(self._lakehouse.storage.sessions, endpoint, self._lakehouse.blobs)
            case HiveEndpoint() as endpoint:
                from firnline.adapters.hive.swaps import HiveSwaps

                return HiveSwaps(self._hive, endpoint, self._lakehouse.blobs)
            case _:
                from firnline.adapters.local.catalog import SqliteCatalog

                place = embedded.places(self._catalog, self._lakehouse.settings.root)
                place.database.parent.mkdir(parents=True, exist_ok=True)
                return SqliteCatalog(str(place.database), self._catalog.name)

    @cached_property
    def _rest(self) -> RestClient:
        from firnline.adapters.rest.client import RestClient
        from firnline.config.endpoints import SigV4

        endpoint = self._endpoint
        assert isinstance(endpoint, RestEndpoint)
        signs = endpoint.auth if isinstance(endpoint.auth, SigV4) else None
        signer = self._lakehouse.storage.sessions.signer(signs.service, signs.region) if signs else None
        return RestClient(endpoint, signer)

    @cached_property
    def _hive(self) -> HiveClient:
        parts.require("thrift", "hive", "A Hive Metastore")
        from firnline.adapters.hive.client import HiveClient

        assert isinstance(self._endpoint, HiveEndpoint)
        return HiveClient(self._endpoint)


def listed(lakehouse: Lakehouse) -> tuple[tuple[Pointer, ...], Partial | None]:
    """Every entry of the catalog that may be listed, and what to say of the namespaces that may not."""
    found: list[Pointer] = []
    pointers = iter(lakehouse.pointers.list())
    try:
        while (pointer := next(pointers, None)) is not None:  # one by one: what came before the end counts
            found.append(pointer)
    except Partial as error:
        return tuple(found), error
    return tuple(found), None


def entry(lakehouse: Lakehouse, name: str | Identifier) -> Pointer:
    """The catalog's entry of an Iceberg table; BadInput with the nearest name when there is none."""
    identifier = Identifier.parse(name) if isinstance(name, str) else name
    pointer = lakehouse.pointers.find(identifier)
    if pointer is None:
        known = [str(each.identifier) for each in listed(lakehouse)[0]]
        raise BadInput(
            f"There is no table {identifier} in the catalog {lakehouse.settings.catalog.name!r}.",
            next_step=did_you_mean(str(identifier), known) or "`firnline apply` creates what is declared.",
        )
    if pointer.kind != "table" or pointer.metadata_location is None:
        raise BadInput(f"{identifier} is {kind_of(pointer)}, not an Iceberg table.")
    return pointer


def kind_of(pointer: Pointer) -> str:
    """What an entry is that is no Iceberg table, in words."""
    return "a view" if pointer.kind == "view" else "an entry of another kind"


def _through_jvm(lakehouse: Lakehouse) -> Heavy:
    from firnline.adapters.spark.commits import SparkCommits

    return SparkCommits(lakehouse.spark.isolated(), lakehouse.settings.catalog.name)
