from __future__ import annotations

import re

import pytest

from firnline.adapters.spark import coordinates
from firnline.config.values import CatalogSettings, Environment, JarSettings
from firnline.core.errors import BadInput


def environment(kind: str = "sqlite", iceberg: str | None = None) -> Environment:
    """One catalog of a type."""
    return Environment("local", {"lake": CatalogSettings("lake", kind)}, jars=JarSettings(iceberg=iceberg))


def test_the_newest_release_is_the_default() -> None:
    """Without `jars.iceberg` the newest pinned release is taken, with the driver the embedded catalog needs."""
    runtime, driver = coordinates.needed(environment())
    assert (runtime.version, driver.name) == ("1.12.0", "sqlite-jdbc")


def test_the_release_of_the_cloud_can_be_chosen() -> None:
    """`jars.iceberg: 1.11.0` is what EMR and Glue bring."""
    assert coordinates.needed(environment(iceberg="1.11.0"))[0] is coordinates.ICEBERG["1.11.0"]


RUNTIME, BUNDLE, DRIVER = "iceberg-spark-runtime-4.1_2.13", "iceberg-aws-bundle", "sqlite-jdbc"


@pytest.mark.parametrize(
    ("kind", "properties", "jars"),
    [
        ("sqlite", {}, [RUNTIME, DRIVER]),
        ("sqlite", {"warehouse": "s3://lake/w"}, [RUNTIME, BUNDLE, DRIVER]),
        ("glue", {}, [RUNTIME, BUNDLE]),
        ("s3tables", {}, [RUNTIME, BUNDLE]),
        ("rest", {"uri": "https://catalog"}, [RUNTIME, BUNDLE]),
        ("rest", {"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}, [RUNTIME]),
        ("hive", {"warehouse": "file:///w"}, [RUNTIME]),
        ("hive", {"warehouse": "s3a://lake/w"}, [RUNTIME, BUNDLE]),
    ],
)
def test_only_what_a_catalog_needs(kind: str, properties: dict[str, str], jars: list[str]) -> None:
    """The SQLite driver is fetched for an embedded catalog, and the AWS bundle where tables may lie in S3."""
    found = coordinates.needed(Environment("e", {"lake": CatalogSettings("lake", kind, properties)}))
    assert [jar.name for jar in found] == jars
    assert {jar.version for jar in found if jar.name != DRIVER} == {"1.12.0"}


def test_an_unknown_release_is_refused_with_the_nearest() -> None:
    """A release without a pinned hash is never loaded."""
    with pytest.raises(BadInput, match="not a release") as refused:
        coordinates.needed(environment(iceberg="1.12.1"))
    assert refused.value.next_step == "Did you mean '1.12.0'?"


@pytest.mark.parametrize("jar", [coordinates.SQLITE, *coordinates.ICEBERG.values(), *coordinates.AWS.values()], ids=str)
def test_every_jar_is_pinned(jar: coordinates.Coordinate) -> None:
    """Each coordinate has a whole sha256, a size, and the file name Ivy gives it."""
    assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)
    assert jar.bytes > 1_000_000
    assert jar.file_name == f"{jar.name}-{jar.version}.jar"


def test_pins_differ() -> None:
    """No two releases share a hash: a copied line would let one jar pass as the other."""
    pins = [jar.sha256 for jar in (coordinates.SQLITE, *coordinates.ICEBERG.values(), *coordinates.AWS.values())]
    assert len(set(pins)) == len(pins)
