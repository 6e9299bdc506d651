"""What the process and the declared namespaces add to the settings of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import pytest

from firnline.adapters.spark import coordinates
from firnline.adapters.spark.catalogs import CATALOG
from firnline.adapters.spark.deploying import Target
from firnline.cli.spark_conf import Place
from firnline.config.values import CatalogSettings, Environment, LakehouseSettings, NamespaceSettings
from firnline.lakehouse.spark import Spark

ROLE = "arn:aws:iam::123456789012:role/reader"


def spark(catalog: CatalogSettings, *locations: str | None, env: Mapping[str, str] | None = None) -> Spark:
    """A lakehouse with this catalog and namespaces at these places."""
    namespaces = tuple(NamespaceSettings((f"n{number}",), place) for number, place in enumerate(locations))
    settings = LakehouseSettings("shop", "/srv", Environment("e", {"lake": catalog}), ("e",), namespaces)
    return Spark(settings, lambda _: nullcontext(), env=env or {})


@pytest.mark.parametrize(
    ("env", "region"),
    [
        ({"AWS_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-2"),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-1"),
    ],
)
def test_a_role_is_assumed_in_the_region_of_the_process(env: Mapping[str, str], region: str) -> None:
    """Without a region in the file it is that of the variables, in the order Firnline's own clients ask them."""
    found = spark(CatalogSettings("lake", "glue", {"role": ROLE}), env=env).settings.session
    assert found[f"{CATALOG}lake.client.assume-role.region"] == region
    assert f"{CATALOG}lake.client.region" not in found


@pytest.mark.parametrize(
    ("kind", "locations", "bundle"),
    [("sqlite", [None, "/far"], False), ("sqlite", [None, "s3://b/n"], True), ("glue", ["s3://b/n"], True)],
)
def test_a_namespace_in_s3_needs_the_bundle(kind: str, locations: list[str | None], bundle: bool) -> None:
    """One declared location in S3 is enough for the AWS bundle, in the same release as the runtime, and once."""
    found = spark(CatalogSettings("lake", kind), *locations)
    aws = [each for each in found.needed if each in coordinates.AWS.values()]
    assert [each.version for each in aws] == ([found.needed[0].version] if bundle else [])
    assert (f"{CATALOG}lake.io-impl" in found.settings.session) is bundle


def test_the_command_line_knows_every_target() -> None:
    """`spark-conf --for` has a list of its own, as help may load no adapter: it is the same list."""
    assert [place.value for place in Place] == [target.value for target in Target]
