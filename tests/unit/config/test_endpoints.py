"""Catalogs that are servers: what their properties mean, as decision tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from firnline.config import endpoints
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import Bearer, GlueEndpoint, HiveEndpoint, OAuth2, RestEndpoint, SigV4
from firnline.config.values import CatalogSettings
from firnline.core.errors import BadInput

HERE = AwsSettings(region="eu-west-1")
URI = "https://catalog.example/api"
GLUE = "https://glue.eu-west-1.amazonaws.com/iceberg"
TABLES = "https://s3tables.eu-west-1.amazonaws.com/iceberg"
ARN = "arn:aws:s3tables:eu-west-1:123456789012:bucket/lake"
SIGNED = {"rest.sigv4-enabled": "true", "region": "eu-west-1"}
MEANT: list[tuple[str, Mapping[str, str], endpoints.Endpoint | None]] = [
    ("sqlite", {}, None),
    ("nessie", {}, None),
    ("glue", {}, GlueEndpoint(AwsSettings())),
    (
        "glue",
        {"region": "eu-west-1", "warehouse": "s3://b/w/", "glue.id": "123456789012", "glue.skip-archive": "false"},
        GlueEndpoint(HERE, "s3://b/w", "123456789012", skip_archive=False),
    ),
    ("hive", {"uri": "thrift://meta:9084"}, HiveEndpoint("meta", 9084, AwsSettings())),
    ("hive", {"uri": "thrift://meta", "warehouse": "s3://b/w"}, HiveEndpoint("meta", 9083, AwsSettings(), "s3://b/w")),
    ("hive", {"uri": "meta:9083"}, HiveEndpoint("meta", 9083, AwsSettings())),
    ("rest", {"uri": URI}, RestEndpoint(URI, AwsSettings())),
    ("rest", {"uri": f"{URI}/v1/"}, RestEndpoint(URI, AwsSettings())),
    ("rest", {"uri": URI, "token": "t"}, RestEndpoint(URI, AwsSettings(), Bearer("t"))),
    ("rest", {"uri": URI, "credential": "i:s"}, RestEndpoint(URI, AwsSettings(), OAuth2("i:s"))),
    (
        "rest",
        {"uri": URI, "credential": "i:s", "oauth2-server-uri": "https://login/token", "scope": "all"},
        RestEndpoint(URI, AwsSettings(), OAuth2("i:s", "https://login/token", "all")),
    ),
    (
        "rest",
        {"uri": URI, "header.X-Tenant": "a", "header.X-Iceberg-Access-Delegation": "vended-credentials"},
        RestEndpoint(
            URI,
            AwsSettings(),
            headers={"X-Tenant": "a", "X-Iceberg-Access-Delegation": "vended-credentials"},
            vended=True,
        ),
    ),
    (
        "rest",
        {"uri": URI, "header.x-iceberg-access-delegation": "Vended-Credentials, remote-signing"},
        RestEndpoint(
            URI,
            AwsSettings(),
            headers={"x-iceberg-access-delegation": "Vended-Credentials, remote-signing"},
            vended=True,
        ),
    ),
    (
        "rest",
        {"uri": URI, "token": "t\n", "header.X-Api-Key": "é\r\n"},
        RestEndpoint(URI, AwsSettings(), Bearer("t"), headers={"X-Api-Key": "é"}),
    ),
    ("rest", {"uri": URI, "credential": "i:s\n"}, RestEndpoint(URI, AwsSettings(), OAuth2("i:s"))),
    (
        "rest",
        {"uri": URI, "credential": "i:s", "oauth2-server-uri": "realm/token", "scope": "a b"},
        RestEndpoint(URI, AwsSettings(), OAuth2("i:s", "realm/token", "a b")),
    ),
    (
        "rest",
        {"uri": URI, "credential": "i:s", "oauth2-server-uri": "https://login/token?p=policy"},
        RestEndpoint(URI, AwsSettings(), OAuth2("i:s", "https://login/token?p=policy")),
    ),
    ("rest", {"uri": URI, **SIGNED}, RestEndpoint(URI, HERE, SigV4("execute-api", "eu-west-1"))),
    (
        "rest",
        {"uri": GLUE, "warehouse": "123456789012", **SIGNED},
        RestEndpoint(GLUE, HERE, SigV4("glue", "eu-west-1"), "123456789012", "glue"),
    ),
    (
        "rest",
        {
            "uri": "http://127.0.0.1:1",
            "rest.signing-name": "s3tables",
            "rest.auth.type": "sigv4",
            "region": "eu-west-1",
        },
        RestEndpoint("http://127.0.0.1:1", HERE, SigV4("s3tables", "eu-west-1"), dialect="s3tables"),
    ),
    ("rest", {"uri": URI, "dialect": "glue"}, RestEndpoint(URI, AwsSettings(), dialect="glue")),
    (
        "s3tables",
        {"warehouse": ARN},
        RestEndpoint(TABLES, HERE, SigV4("s3tables", "eu-west-1"), ARN, "s3tables"),
    ),
]


@pytest.mark.parametrize(("kind", "properties", "meant"), MEANT)
def test_what_is_meant(kind: str, properties: Mapping[str, str], meant: endpoints.Endpoint | None) -> None:
    """The properties of each type, as Spark configurations have them, become one typed value."""
    assert endpoints.endpoint(CatalogSettings("lake", kind, properties)) == meant


WRONG: list[tuple[str, Mapping[str, str], str]] = [
    ("hive", {}, "is not the address of a Hive Metastore"),
    ("hive", {"uri": "http://meta:9083"}, "is not the address of a Hive Metastore"),
    ("hive", {"uri": "thrift://a:1,thrift://b:1"}, "is not the address of a Hive Metastore"),
    ("hive", {"uri": "thrift://a:99999"}, "is not the address of a Hive Metastore"),
    ("rest", {}, "is not the address of a REST catalog"),
    ("rest", {"uri": "catalog.example"}, "is not the address of a REST catalog"),
    ("rest", {"uri": "https://me:hunter2@catalog.example"}, "'…@catalog.example' is not the address of a REST catalog"),
    ("hive", {"uri": "thrift://me:hunter2@meta:9083"}, "'…@meta:9083' is not the address of a Hive Metastore"),
    ("rest", {"uri": f"{URI}?a=hunter2"}, "is not the address of a REST catalog"),
    ("rest", {"uri": f"{URI}?a=b"}, "is not the address of a REST catalog"),
    ("rest", {"uri": "http://h:abc"}, "catalogs.lake.uri: 'http://h:abc' is not the address of a REST catalog"),
    ("rest", {"uri": "http://h:0"}, "is not the address of a REST catalog"),
    ("rest", {"uri": "http://[::1"}, "is not the address of a REST catalog"),
    ("rest", {"uri": f"{URI}\n"}, "is not the address of a REST catalog"),
    ("s3tables", {"warehouse": ARN, "uri": "http://[::1"}, "is not the address of a REST catalog"),
    ("hive", {"uri": "thrift://[::1"}, "'thrift://[::1' is not the address of a Hive Metastore"),
    ("hive", {"uri": "thrift://h:0"}, "is not the address of a Hive Metastore"),
    ("rest", {"uri": URI, "token": "hunter2\n\n"}, "catalogs.lake.token: holds a character that cannot be sent"),
    ("rest", {"uri": URI, "token": "hunter2\r\nX: y"}, "catalogs.lake.token: holds a character"),
    ("rest", {"uri": URI, "token": "hunter2☃"}, "catalogs.lake.token: holds a character"),
    ("rest", {"uri": URI, "credential": "i:hunter2\x00"}, "catalogs.lake.credential: holds a character"),
    ("rest", {"uri": URI, "credential": "i:s", "scope": "a\udc80"}, "catalogs.lake.scope: holds a character"),
    ("rest", {"uri": URI, "header.X-Api-Key": "hunter2\nX: y"}, "catalogs.lake.header.X-Api-Key: holds a character"),
    ("rest", {"uri": URI, "header.X Api": "hunter2"}, "'header.X Api' names no header"),
    ("rest", {"uri": URI, "header.": "hunter2"}, "'header.' names no header"),
    *(
        ("rest", {"uri": URI, "credential": "i:s", "oauth2-server-uri": address}, "oauth2-server-uri: ")
        for address in (
            "https://me:hunter2@login.example/token",
            "ftp://login.example/token",
            "https:///token",
            "https://h:abc/t",
            "//login.example/token",
            "http://[::1",
            "https://login/é",
            "a b",
            "https://login/t#x",
        )
    ),
    ("rest", {"uri": URI, "header.X-Iceberg-Access-Delegation": "remote-signing"}, "'remote-signing' is not a way"),
    ("rest", {"uri": URI, "header.x-iceberg-access-delegation": "vended"}, "'vended' is not a way"),
    ("rest", {"uri": URI, "token": "hunter2", "credential": "hunter3"}, "token and credential are set"),
    ("rest", {"uri": URI, "token": "hunter2", **SIGNED}, "token and SigV4 are set"),
    ("rest", {"uri": URI, "dialect": "klingon"}, "'klingon' is none of plain, glue, s3tables"),
    ("rest", {"uri": URI, "rest.sigv4-enabled": "perhaps"}, "neither true nor false"),
    ("s3tables", {"warehouse": "s3://bucket"}, "is not the ARN of a table bucket"),
    ("s3tables", {}, "is not the ARN of a table bucket"),
    ("glue", {"glue.skip-archive": "1"}, "neither true nor false"),
]


@pytest.mark.parametrize(("kind", "properties", "said"), WRONG)
def test_what_is_wrong(kind: str, properties: Mapping[str, str], said: str) -> None:
    """A wrong value is one clear message that names the catalog, and no secret stands in it."""
    with pytest.raises(BadInput) as refused:
        endpoints.endpoint(CatalogSettings("lake", kind, properties))
    assert said in str(refused.value)
    assert "catalogs.lake" in str(refused.value)
    assert "hunter" not in str(refused.value)


@pytest.mark.parametrize(("kind", "properties"), [(kind, properties) for kind, properties, _ in MEANT])
def test_no_secret_is_shown(kind: str, properties: Mapping[str, str]) -> None:
    """An endpoint that is printed by accident keeps token and credential."""
    shown = repr(endpoints.endpoint(CatalogSettings("lake", kind, properties)))
    assert "i:s" not in shown
    assert "token=" not in shown


def test_defaults_of_new_tables() -> None:
    """Glue's tables retry more, and what the catalog says lies on top; other types have what they say."""
    said = {"table-default.commit.retry.num-retries": "9", "table-default.owner": "me", "owner": "you"}
    assert endpoints.table_defaults(CatalogSettings("lake", "glue", said)) == {
        "commit.retry.num-retries": "9",
        "commit.retry.min-wait-ms": "200",
        "owner": "me",
    }
    assert endpoints.table_defaults(CatalogSettings("lake", "hive", {})) == {}


@pytest.mark.parametrize(
    ("kind", "properties", "retries"),
    [
        ("rest", {"uri": GLUE, **SIGNED}, True),
        ("rest", {"uri": URI, "dialect": "glue"}, True),
        ("rest", {"uri": URI}, False),
        ("s3tables", {"warehouse": ARN}, False),
    ],
)
def test_defaults_of_new_tables_by_rest(kind: str, properties: Mapping[str, str], *, retries: bool) -> None:
    """Glue is Glue by its REST door, too."""
    expected = endpoints.GLUE_TABLE_DEFAULTS if retries else {}
    assert endpoints.table_defaults(CatalogSettings("lake", kind, properties)) == expected


@pytest.mark.parametrize(
    ("region", "partition", "suffix"),
    [("cn-north-1", "aws-cn", "amazonaws.com.cn"), ("eusc-de-east-1", "aws-eusc", "amazonaws.eu")],
)
def test_hosts_of_other_partitions(region: str, partition: str, suffix: str) -> None:
    """The host of a table bucket is in the partition of its region, and known again for what it is."""
    arn = f"arn:{partition}:s3tables:{region}:123456789012:bucket/lake"
    found = endpoints.endpoint(CatalogSettings("lake", "s3tables", {"warehouse": arn}))
    assert isinstance(found, RestEndpoint)
    assert found.uri == f"https://s3tables.{region}.{suffix}/iceberg"
    glue = {"uri": f"https://glue.{region}.{suffix}/iceberg", **SIGNED}
    again = endpoints.endpoint(CatalogSettings("lake", "rest", glue))
    assert isinstance(again, RestEndpoint)
    assert (again.auth, again.dialect) == (SigV4("glue", "eu-west-1"), "glue")
