"""What a catalog of each type is to Spark, as a table of cases."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from firnline.adapters.spark import catalogs
from firnline.adapters.spark.catalogs import CATALOG, S3_FILE_IO, SparkCatalog
from firnline.adapters.spark.settings import spark_settings
from firnline.config.values import CatalogSettings, EngineSettings, Environment
from firnline.core.errors import BadInput

KEYS = {"s3.access-key-id": "id", "s3.secret-access-key": "hunter2"}
GLUE = {
    "type": "glue",
    "io-impl": S3_FILE_IO,
    "cache-enabled": "false",
    "table-default.commit.retry.num-retries": "20",
    "table-default.commit.retry.min-wait-ms": "200",
}
SIGNED = {"rest.sigv4-enabled": "true", "rest.signing-name": "s3tables", "rest.signing-region": "eu-west-1"}
ARN = "arn:aws:s3tables:eu-west-1:123456789012:bucket/lake"
ANY_FILE_IO = "org.apache.iceberg.io.ResolvingFileIO"
HADOOP = "org.apache.iceberg.hadoop.HadoopFileIO"
ROLE = "arn:aws:iam::123456789012:role/reader"
CASES: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
    ("glue", {}, GLUE),
    (
        "glue",
        {
            "region": "eu-west-1", "warehouse": "s3://b/w/", "glue.id": "123456789012", "glue.endpoint": "http://g",
            "tries": "2",
        },
        {
            **GLUE, "client.region": "eu-west-1", "warehouse": "s3://b/w", "glue.id": "123456789012",
            "glue.endpoint": "http://g",
        },
    ),
    (
        "glue",
        {"role": ROLE, "region": "eu-west-1"},
        {
            **GLUE,
            "client.region": "eu-west-1",
            "client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory",
            "client.assume-role.arn": ROLE,
            "client.assume-role.region": "eu-west-1",
        },
    ),
    ("glue", {"glue.skip-archive": "false"}, {**GLUE, "glue.skip-archive": "false"}),
    ("glue", {"table-default.commit.retry.num-retries": "7"}, {**GLUE, "table-default.commit.retry.num-retries": "7"}),
    (
        "hive",
        {"uri": "meta:9083", "warehouse": "s3://b/w", "s3.endpoint": "http://s"},
        {
            "type": "hive", "uri": "thrift://meta:9083", "warehouse": "s3://b/w", "io-impl": S3_FILE_IO,
            "s3.endpoint": "http://s", "cache-enabled": "false",
        },
    ),
    (
        "hive",
        {"uri": "thrift://meta", "warehouse": "file:///w"},
        {"type": "hive", "uri": "thrift://meta:9083", "warehouse": "file:///w", "cache-enabled": "false"},
    ),
    (
        "hive",
        {"uri": "thrift://meta", "region": "eu-west-1"},
        {
            "type": "hive", "uri": "thrift://meta:9083", "io-impl": ANY_FILE_IO, "client.region": "eu-west-1",
            "cache-enabled": "false",
        },
    ),
    (
        "hive",
        {"uri": "thrift://meta", "io-impl": "a.MyFileIO"},
        {"type": "hive", "uri": "thrift://meta:9083", "io-impl": "a.MyFileIO", "cache-enabled": "false"},
    ),
    (
        "hive",
        {"uri": "thrift://meta", "io-impl": HADOOP},
        {"type": "hive", "uri": "thrift://meta:9083", "io-impl": HADOOP, "cache-enabled": "false"},
    ),
    (
        "rest",
        {"uri": "https://c", "token": "t\n", "header.x-iceberg-access-delegation": "Vended-Credentials"},
        {
            "type": "rest", "uri": "https://c", "token": "t", "io-impl": S3_FILE_IO, "cache-enabled": "false",
            "header.X-Iceberg-Access-Delegation": "vended-credentials",
        },
    ),
    (
        "rest",
        {"uri": "https://c/v1", "token": "t", "warehouse": "w"},
        {
            "type": "rest", "uri": "https://c", "token": "t", "warehouse": "w", "io-impl": S3_FILE_IO,
            "cache-enabled": "false",
        },
    ),
    (
        "rest",
        {"uri": "https://c", **SIGNED, **KEYS},
        {
            "type": "rest", "uri": "https://c", **SIGNED, **KEYS, "io-impl": S3_FILE_IO, "cache-enabled": "false",
            "rest.access-key-id": "id", "rest.secret-access-key": "hunter2", "rest-metrics-reporting-enabled": "false",
        },
    ),
    (
        "s3tables",
        {"warehouse": ARN},
        {
            "type": "rest", "uri": "https://s3tables.eu-west-1.amazonaws.com/iceberg", "warehouse": ARN, **SIGNED,
            "rest-metrics-reporting-enabled": "false", "io-impl": S3_FILE_IO, "client.region": "eu-west-1",
            "cache-enabled": "false",
        },
    ),
]  # fmt: skip


def of(kind: str, properties: Mapping[str, str], region: str | None = None) -> SparkCatalog:
    """One catalog `lake`, alone."""
    catalog = CatalogSettings("lake", kind, properties)
    on_s3 = catalogs.stores_on_s3(catalog)
    return catalogs.spark_catalog(catalog, "/srv", on_s3=on_s3, region=region)


@pytest.mark.parametrize(("kind", "properties", "expected"), CASES)
def test_settings(kind: str, properties: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Each property once, in Iceberg's words, and nothing of ours that Iceberg does not know."""
    found = dict(of(kind, properties).session)
    key = CATALOG + "lake"
    assert found.pop(key) == "org.apache.iceberg.spark.SparkCatalog"
    assert {name.removeprefix(f"{key}."): value for name, value in found.items()} == expected


AS_VARIABLES = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_SESSION_TOKEN": None}
WITHOUT_LOGIN = {**dict.fromkeys(AS_VARIABLES), "AWS_WEB_IDENTITY_TOKEN_FILE": None}
HIVE, REST = {"uri": "meta", "warehouse": "s3://b/w"}, {"uri": "https://c"}
IN_ROLE = {"role": ROLE, "region": "eu-west-1"}
VENDED = {"header.X-Iceberg-Access-Delegation": "vended-credentials"}
# Of each: the variables of the process, and whether it takes credentials from the process.
IDENTITIES: list[tuple[str, Mapping[str, str], Mapping[str, str | None], bool]] = [
    ("glue", {}, {}, True),
    ("glue", KEYS, AS_VARIABLES, True),
    ("glue", {**KEYS, "s3.session-token": "t"}, {**AS_VARIABLES, "AWS_SESSION_TOKEN": "t"}, True),
    ("glue", {"profile": "a"}, WITHOUT_LOGIN, True),
    ("hive", HIVE, {}, True),
    ("hive", {**HIVE, "profile": "a"}, WITHOUT_LOGIN, True),
    ("hive", {**HIVE, **KEYS}, {}, False),
    ("hive", {**HIVE, **KEYS, **IN_ROLE}, AS_VARIABLES, True),
    ("hive", {"uri": "meta", "warehouse": "file:///w"}, {}, False),
    ("rest", {**REST, **KEYS}, {}, False),
    ("rest", {**REST, **KEYS, **IN_ROLE}, AS_VARIABLES, True),
    ("rest", {**REST, **VENDED}, {}, False),
    ("rest", {**REST, **VENDED, "rest.sigv4-enabled": "true"}, {}, True),
    ("rest", {**REST, "io-impl": HADOOP}, {}, False),
    ("s3tables", {"warehouse": ARN}, {}, True),
    ("s3tables", {"warehouse": ARN, **KEYS}, {}, False),
    ("sqlite", {}, {}, False),
    ("sqlite", {"warehouse": "s3://b/w"}, {}, True),
    ("sqlite", {"warehouse": "s3://b/w", **KEYS, **IN_ROLE}, AS_VARIABLES, True),
]


@pytest.mark.parametrize(("kind", "properties", "environ", "shares"), IDENTITIES)
def test_identity(kind: str, properties: Mapping[str, str], environ: Mapping[str, str | None], shares: bool) -> None:
    """Iceberg's clients of Glue and STS know no static keys: these are variables, and another login's are taken away.
    Clients that have keys of their own, or none, take nothing from the process.
    """
    found = of(kind, properties)
    assert (found.environ, found.shares) == (environ, shares)
    assert "hunter2" not in repr(found.launch)


@pytest.mark.parametrize(("own", "process", "expected"), [
    ("eu-west-1", None, "eu-west-1"),
    ("eu-west-1", "eu-west-2", "eu-west-1"),
    (None, "eu-west-2", "eu-west-2"),
    (None, None, None),
])  # fmt: skip
@pytest.mark.parametrize(("kind", "properties"), [("glue", {}), ("hive", HIVE), ("rest", REST)])
def test_a_role_has_a_region(
    kind: str, properties: Mapping[str, str], own: str | None, process: str | None, expected: str | None
) -> None:
    """Spark assumes a role in the catalog's region, else in that of the process, and is refused where there is none."""
    given = {**properties, "role": ROLE, **({"region": own} if own else {})}
    if expected:
        assert of(kind, given, process).session[f"{CATALOG}lake.client.assume-role.region"] == expected
    else:
        with pytest.raises(BadInput, match="in which region") as refused:
            of(kind, given, process)
        assert refused.value.next_step == "Set `region:` of the catalog, or AWS_REGION."


@pytest.mark.parametrize(
    ("kind", "properties"),
    [("rest", {**REST, **SIGNED}), ("rest", {**REST, **SIGNED, **KEYS}), ("s3tables", {"warehouse": ARN})],
)
def test_signed_requests_assume_no_role(kind: str, properties: Mapping[str, str]) -> None:
    """Iceberg would sign as whoever started Spark: a role is refused, unless the user brings a class that assumes it.
    Then the keys behind the role sign nothing.
    """
    with pytest.raises(BadInput, match="SigV4") as refused:
        of(kind, {**properties, **IN_ROLE})
    assert "`role_arn`" in str(refused.value.next_step)
    brought = of(kind, {**properties, **IN_ROLE, "client.credentials-provider": "a.Provider"}).session
    assert brought[f"{CATALOG}lake.client.credentials-provider"] == "a.Provider"
    assert f"{CATALOG}lake.rest.access-key-id" not in brought


@pytest.mark.parametrize("properties", [{}, {"profile": "a"}], ids=["chain", "profile"])
def test_signing_without_a_role_is_wired(properties: Mapping[str, str]) -> None:
    """Requests are signed with what the process has."""
    assert of("s3tables", {"warehouse": ARN, **properties}).shares


PLACES: list[tuple[str, Mapping[str, str], list[str], str | None]] = [
    ("sqlite", {}, [], None),
    ("sqlite", {}, ["/srv/far", "gs://b/n"], None),
    ("sqlite", {}, ["/srv/far", "s3a://b/n"], ANY_FILE_IO),
    ("sqlite", {"warehouse": "s3n://b/w"}, ["s3://b/n"], S3_FILE_IO),
    ("hive", {"uri": "meta"}, [], ANY_FILE_IO),
    ("hive", {"uri": "meta", "warehouse": "file:///w"}, [], None),
    ("hive", {"uri": "meta", "warehouse": "file:///w"}, ["s3://b/n"], ANY_FILE_IO),
    ("hive", {"uri": "meta", "warehouse": "s3://b/w"}, [], S3_FILE_IO),
]


@pytest.mark.parametrize(("kind", "properties", "locations", "expected"), PLACES)
def test_where_tables_may_lie(
    kind: str, properties: Mapping[str, str], locations: list[str], expected: str | None
) -> None:
    """Where only some tables may lie in S3, or nobody can say, each file is opened by its own scheme. A declared
    namespace is one of the first catalog.
    """
    found = {name: CatalogSettings(name, kind, properties) for name in ("lake", "second")}
    made = spark_settings(Environment("e", found), "/srv", locations=locations).session
    assert made.get(f"{CATALOG}lake.io-impl") == expected
    alone = spark_settings(Environment("e", found), "/srv").session
    assert made.get(f"{CATALOG}second.io-impl") == alone.get(f"{CATALOG}second.io-impl")


def environment(*properties: Mapping[str, str], conf: Mapping[str, str] | None = None) -> Environment:
    """Glue catalogs with these properties."""
    found = {f"lake{number}": CatalogSettings(f"lake{number}", "glue", each) for number, each in enumerate(properties)}
    return Environment("e", found, engine=EngineSettings(conf=conf or {}))


def test_two_catalogs_side_by_side() -> None:
    """Two catalogs are two sets of settings in one session; the first is the default."""
    session = spark_settings(environment({"region": "eu-west-1"}, {"region": "eu-west-2"}), "/srv").session
    assert (session[f"{CATALOG}lake0.client.region"], session[f"{CATALOG}lake1.client.region"]) == (
        "eu-west-1",
        "eu-west-2",
    )
    assert session["spark.sql.defaultCatalog"] == "lake0"


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ({"profile": "a"}, {"profile": "a"}, True),
        ({"profile": "a"}, {}, True),
        ({"profile": "a"}, {"profile": "b"}, False),
        (KEYS, {**KEYS, "s3.access-key-id": "other"}, False),
        ({"role": ROLE, "region": "eu-west-1"}, {"profile": "a"}, True),
        (KEYS, {"profile": "a"}, False),
        (KEYS, KEYS, True),
    ],
)
def test_one_process_has_one_profile(one: Mapping[str, str], other: Mapping[str, str], fits: bool) -> None:
    """What only the process can have, two catalogs cannot have differently."""
    if fits:
        spark_settings(environment(one, other), "/srv")
    else:
        with pytest.raises(BadInput, match="different AWS credentials"):
            spark_settings(environment(one, other), "/srv")


def test_the_profile_stands_beside_the_users_options() -> None:
    """Options of the user's for the JVM are kept."""
    made = spark_settings(environment({"profile": "a"}, conf={"spark.driver.extraJavaOptions": "-Xss4m"}), "/srv")
    assert made.launch["spark.driver.extraJavaOptions"] == "-Xss4m -Daws.profile=a"
