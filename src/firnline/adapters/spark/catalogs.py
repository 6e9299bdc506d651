"""What a catalog of each type is to Spark: `spark.sql.catalog.NAME…`, worked out purely.

Properties the user took over from a Spark configuration are passed on as they are; what we read under names of our own
(`region`, `profile`, `role`) is said again in Iceberg's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from firnline.adapters.schemes import S3
from firnline.config import aws, embedded, endpoints
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import Bearer, Endpoint, GlueEndpoint, HiveEndpoint, OAuth2, RestEndpoint, SigV4
from firnline.config.values import CatalogSettings, Environment
from firnline.core.errors import BadInput

CATALOG = "spark.sql.catalog."
_HEADER = "header."
_DELEGATION = "X-Iceberg-Access-Delegation"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
TYPES = ("sqlite", "glue", "s3tables", "rest", "hive")
S3_FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"
# Opens each file with what its scheme asks for: S3FileIO alone could not open a file of this machine.
_ANY_FILE_IO = "org.apache.iceberg.io.ResolvingFileIO"
_ASSUME_ROLE = "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"
# Java's SDK prefers each of these to a profile, even to one it was told; Firnline itself takes the profile.
_BEFORE_PROFILE = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE")
# Said in Iceberg's own words below, or nothing to Spark.
_OURS = frozenset(
    {
        "uri",
        "warehouse",
        "region",
        "profile",
        "role",
        "tries",
        "connect-timeout",
        "request-timeout",
        "dialect",
        "location",
    }
)


@dataclass(frozen=True, slots=True)
class SparkCatalog:
    """One catalog: settings of a session, what the JVM must be started with, and variables it is started under (None:
    without this one). `shares`: some client of it takes credentials from the process.
    """

    session: Mapping[str, str]
    launch: Mapping[str, str]
    environ: Mapping[str, str | None] = field(repr=False)
    shares: bool


def spark_catalog(
    catalog: CatalogSettings, root: str | Path, *, on_s3: bool, region: str | None = None, read_only: bool = False
) -> SparkCatalog:
    """What this catalog is to Spark. Read-only, SQLite itself refuses every write through it.

    `on_s3`: its tables may lie there (`names_on_s3`). `region` is the process's, for where the catalog names none.
    """
    if catalog.type not in TYPES:
        raise BadInput(
            f"The catalog {catalog.name!r} has type {catalog.type!r}, which this version does not wire into Spark yet.",
            next_step=f"Wired: {', '.join(TYPES)}.",
        )
    key = CATALOG + catalog.name
    endpoint = endpoints.endpoint(catalog)
    reached = endpoint.aws if endpoint else aws.settings(catalog.properties, f"catalogs.{catalog.name}")
    own = _own(catalog, endpoint, root, read_only=read_only)
    _refuse_unassumable(catalog, endpoint, reached)
    if on_s3:
        own |= _s3(catalog, reached, region)
    own |= {f"table-default.{name}": value for name, value in endpoints.table_defaults(catalog).items()}
    # Headers of a REST catalog are said above as its endpoint has them: checked, and spelled one way.
    passed = {
        name: value
        for name, value in catalog.properties.items()
        if name not in _OURS and not (isinstance(endpoint, RestEndpoint) and name.startswith(_HEADER))
    }
    # A cached table would be stale as soon as PyIceberg, or another step, commits.
    settings = {**own, "cache-enabled": "false", **{name: value for name, value in passed.items() if name not in own}}
    session = {
        key: "org.apache.iceberg.spark.SparkCatalog",
        **{f"{key}.{name}": text for name, text in settings.items()},
    }
    # Of a profile Java learns by a property of the process alone.
    launch = {JAVA_OPTIONS: f"-Daws.profile={reached.profile}"} if reached.profile else {}
    return SparkCatalog(session, launch, _environ(endpoint, reached), _shares(endpoint, reached, on_s3=on_s3))


def names_on_s3(environment: Environment, locations: Iterable[str]) -> frozenset[str]:
    """Catalogs whose tables may lie in S3. `locations` are those of the namespaces that are declared: these belong to
    the first catalog.
    """
    first = next(iter(environment.catalogs), None)
    declared = tuple(locations)
    return frozenset(
        name
        for name, catalog in environment.catalogs.items()
        if stores_on_s3(catalog, declared if name == first else ())
    )


def stores_on_s3(catalog: CatalogSettings, locations: Iterable[str] = ()) -> bool:
    """Whether its tables may lie in S3, so that Spark needs the bundle that reads it. `locations` are those of its
    declared namespaces.
    """
    if catalog.type in {"glue", "s3tables"}:
        return True
    if catalog.properties.get("io-impl", "").endswith("HadoopFileIO"):
        return False
    # Without a warehouse here, a Hive Metastore puts tables into its own, and only it knows where that is.
    unknown = catalog.type == "rest" or (catalog.type == "hive" and not catalog.properties.get("warehouse"))
    return unknown or _warehouse_on_s3(catalog) or any(location.startswith(S3) for location in locations)


def _warehouse_on_s3(catalog: CatalogSettings) -> bool:
    return catalog.properties.get("warehouse", "").startswith(S3)


def _own(
    catalog: CatalogSettings,
    endpoint: Endpoint | None,
    root: str | Path,
    *,
    read_only: bool,
) -> dict[str, str]:
    match endpoint:
        case GlueEndpoint():
            warehouse = {"warehouse": endpoint.warehouse} if endpoint.warehouse else {}
            return {"type": "glue", **warehouse, **_glue_endpoint(endpoint.aws)}
        case HiveEndpoint():
            warehouse = {"warehouse": endpoint.warehouse} if endpoint.warehouse else {}
            return {"type": "hive", "uri": f"thrift://{endpoint.host}:{endpoint.port}", **warehouse}
        case RestEndpoint():
            return _rest(endpoint)
        case None:
            return _sqlite(catalog, root, read_only=read_only)


def _sqlite(catalog: CatalogSettings, root: str | Path, *, read_only: bool) -> dict[str, str]:
    place = embedded.places(catalog, root)
    # WAL lets readers go on while somebody writes; the timeout makes a second writer wait instead of failing.
    waits = f"busy_timeout={embedded.BUSY_TIMEOUT_SECONDS * 1000}"
    mode = "open_mode=1" if read_only else "journal_mode=WAL"
    return {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{place.database}?{waits}&{mode}",
        "jdbc.schema-version": "V1",
        **({"jdbc.init-catalog-tables": "false"} if read_only else {}),
        "warehouse": place.warehouse,
    }


def _rest(endpoint: RestEndpoint) -> dict[str, str]:
    settings = {"type": "rest", "uri": endpoint.uri}
    if endpoint.warehouse:
        settings["warehouse"] = endpoint.warehouse
    if isinstance(endpoint.auth, Bearer):
        settings["token"] = endpoint.auth.token
    if isinstance(endpoint.auth, OAuth2):
        settings["credential"] = endpoint.auth.credential
    headers = {name: text for name, text in endpoint.headers.items() if name.casefold() != _DELEGATION.casefold()}
    headers |= {_DELEGATION: "vended-credentials"} if endpoint.vended else {}
    settings |= {f"{_HEADER}{name}": text for name, text in headers.items()}
    if isinstance(endpoint.auth, SigV4):
        settings |= {"rest.sigv4-enabled": "true", "rest.signing-name": endpoint.auth.service}
        if endpoint.auth.region:
            settings["rest.signing-region"] = endpoint.auth.region
        if (keys := endpoint.aws.keys) is not None and not endpoint.aws.role:
            settings |= {"rest.access-key-id": keys.access, "rest.secret-access-key": keys.secret}
            settings |= {"rest.session-token": keys.token} if keys.token else {}
    if endpoint.dialect != "plain":
        settings["rest-metrics-reporting-enabled"] = "false"  # they have no such endpoint, and answer 400
    return settings


def _glue_endpoint(reached: AwsSettings) -> dict[str, str]:
    return {"glue.endpoint": reached.endpoints["glue"]} if "glue" in reached.endpoints else {}


def _s3(catalog: CatalogSettings, reached: AwsSettings, region: str | None) -> dict[str, str]:
    alone = catalog.type in {"glue", "s3tables", "rest"} or _warehouse_on_s3(catalog)
    settings = {"io-impl": catalog.properties.get("io-impl") or (S3_FILE_IO if alone else _ANY_FILE_IO)}
    if reached.region:
        settings["client.region"] = reached.region
    if reached.role:
        settings |= {"client.factory": _ASSUME_ROLE, "client.assume-role.arn": reached.role}
        settings["client.assume-role.region"] = _region_of_role(catalog, reached.region or region)
    return settings


def _region_of_role(catalog: CatalogSettings, region: str | None) -> str:
    if region:
        return region
    raise BadInput(
        f"The catalog {catalog.name!r} has a `role`, and Spark is not told in which region to assume it.",
        why="Iceberg asks the STS of a region that it must be given; it looks into no profile for one.",
        next_step="Set `region:` of the catalog, or AWS_REGION.",
    )


def _refuse_unassumable(catalog: CatalogSettings, endpoint: Endpoint | None, reached: AwsSettings) -> None:
    """Iceberg's signer of REST requests goes past the factory that assumes roles. The only class of its bundle that
    could stand there instead is the one for vended credentials; a user may bring one.
    """
    if reached.role and _signs(endpoint) and "client.credentials-provider" not in catalog.properties:
        raise BadInput(
            f"The catalog {catalog.name!r} signs its requests (SigV4) and has a `role`: Spark cannot do both.",
            why="Iceberg would sign them without assuming the role, as somebody else than Firnline.",
            next_step="Name a profile with that role: `role_arn` in ~/.aws/config, and `profile:` instead of `role:`.",
        )


def _signs(endpoint: Endpoint | None) -> bool:
    return isinstance(endpoint, RestEndpoint) and isinstance(endpoint.auth, SigV4)


def _environ(endpoint: Endpoint | None, reached: AwsSettings) -> dict[str, str | None]:
    """Iceberg's clients of Glue and of STS take credentials from the AWS chain alone. Static ones travel as variables:
    on a command line everybody could read them. Those of another login must not be mixed with them.
    """
    if reached.keys is not None and (isinstance(endpoint, GlueEndpoint) or reached.role):
        keys = reached.keys
        return {
            "AWS_ACCESS_KEY_ID": keys.access,
            "AWS_SECRET_ACCESS_KEY": keys.secret,
            "AWS_SESSION_TOKEN": keys.token,
        }
    return dict.fromkeys(_BEFORE_PROFILE) if reached.profile else {}


def _shares(endpoint: Endpoint | None, reached: AwsSettings, *, on_s3: bool) -> bool:
    if isinstance(endpoint, GlueEndpoint) or (reached.role and on_s3):
        return True
    vended = isinstance(endpoint, RestEndpoint) and endpoint.vended and not _signs(endpoint)
    return (on_s3 or _signs(endpoint)) and reached.keys is None and not vended
