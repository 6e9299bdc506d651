"""Catalogs that many write to at once, on the servers of the tests; to Firnline and Spark, and to PyIceberg."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.services.values import BUCKET
from firnline.config import aws, embedded
from firnline.config.endpoints import GLUE_TABLE_DEFAULTS
from firnline.config.values import CatalogSettings
from firnline.lakehouse.opening import Lakehouse
from tests import servers
from tests.sparklake import settings_for

CATALOGS = ("sqlite", "glue", "hive", "rest")
STOCK = "stock"
# As Firnline gives them to tables in Glue; and nobody sleeps for a minute after many lost races.
RETRIES = {**GLUE_TABLE_DEFAULTS, "commit.retry.max-wait-ms": "2000"}


def lakehouse(folder: Path, *names: str) -> Lakehouse:
    """A lakehouse with these catalogs in one environment, each with a warehouse nobody else uses."""
    settings = settings_for(folder)
    catalogs = {name: _SETTINGS[name]() for name in names}
    return Lakehouse(replace(settings, environment=replace(settings.environment, catalogs=catalogs)))


def _sqlite() -> CatalogSettings:
    return CatalogSettings("sqlite", "sqlite")


def _glue(name: str, server: servers.Aws) -> CatalogSettings:
    properties = {
        "glue.endpoint": server.endpoint,
        "s3.endpoint": server.endpoint,
        "s3.path-style-access": "true",
        # Those the JVM of the tests was started with: Java's client for Glue takes no others.
        "s3.access-key-id": server.keys.access,
        "s3.secret-access-key": server.keys.secret,
        "region": server.region,
        "warehouse": _warehouse(),
    }
    with closing(Sessions(aws.settings(properties, name))) as sessions:
        sessions.client("s3").create_bucket(Bucket=BUCKET)
    return CatalogSettings(name, "glue", properties)


def _hive() -> CatalogSettings:
    own = {
        "uri": servers.metastore().uri,
        "warehouse": _warehouse(),
        # Java looks at a lock that is taken less and less often, in the end every five seconds.
        "hadoop.iceberg.hive.lock-check-max-wait-ms": "500",
    }
    return CatalogSettings("hive", "hive", {**servers.s3().properties, **own})


def _rest() -> CatalogSettings:
    server = servers.rest()
    return CatalogSettings("rest", "rest", {**servers.s3().properties, "uri": server.uri, "token": server.token})


def _warehouse() -> str:
    return f"s3://{BUCKET}/races-{uuid4().hex}"


_SETTINGS: Mapping[str, Callable[[], CatalogSettings]] = {
    "sqlite": _sqlite,
    "glue": lambda: _glue("glue", servers.aws()),
    "hive": _hive,
    "rest": _rest,
    STOCK: lambda: _glue(STOCK, servers.stock_aws()),
}


def to_pyiceberg(catalog: CatalogSettings, root: Path) -> dict[str, str]:
    """The same catalog, as PyIceberg's own `load_catalog` takes it."""
    given = dict(catalog.properties)
    if catalog.type == "sqlite":
        place = embedded.places(catalog, root)
        uri = f"sqlite:///{place.database}?timeout={embedded.BUSY_TIMEOUT_SECONDS}"
        return {"type": "sql", "uri": uri, "warehouse": place.warehouse}
    keys = {
        "client.region": given["region"],
        "client.access-key-id": given["s3.access-key-id"],
        "client.secret-access-key": given["s3.secret-access-key"],
    }
    return {**given, **keys, "type": catalog.type, **(_IN_A_QUEUE if catalog.type == "hive" else {})}


# PyIceberg waits two seconds after its first look at a lock that is taken, twice that after the second, and gives up at
# the fourth. And its own word for a timestamp with a zone is one that Hive 2.3 cannot read again.
_IN_A_QUEUE = {
    "lock-check-max-wait-time": "0.1",
    "lock-check-min-wait-time": "0.02",
    "lock-check-retries": "600",
    "hive.hive2-compatible": "true",
}
