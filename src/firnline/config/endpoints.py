"""Catalogs that are servers: what the properties of each type say, as typed values. No network in here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from firnline.config import aws
from firnline.config.aws import READ_MILLIS, AwsSettings
from firnline.config.values import CatalogSettings
from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean

# Which server a REST catalog is: what it can and cannot do follows from it (adapters/rest/dialects.py).
DIALECTS = ("plain", "glue", "s3tables")
HIVE_PORT = 9083
# Glue refuses a commit that another writer overtook, and 8 writers at once overtake each other more often than the four
# retries of Iceberg bear: with those, 3 of 8 give up. New tables get more, unless they say otherwise.
GLUE_TABLE_DEFAULTS = {"commit.retry.num-retries": "20", "commit.retry.min-wait-ms": "200"}
_TABLE_DEFAULT = "table-default."
# A bucket and what is in it, or a folder of another kind of storage; a web address is none, nor is a letter of a disk.
_STORE = re.compile(r"s3[an]?://[^/\s]+(/.*)?|(?!s3|https?:)[a-z][a-z0-9+.-]+:/.+", re.IGNORECASE)
_ACCOUNT = re.compile(r"\d{12}(?::[\w./:-]+)?")
_TABLE_BUCKET = re.compile(r"arn:aws[a-z-]*:s3tables:([a-z0-9-]+):(\d{12}):bucket/([a-z0-9][a-z0-9-]{1,61}[a-z0-9])")
_SERVICE = re.compile(r"(glue|s3tables)[.-]")  # how the hosts of AWS begin that speak REST
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\xa0-\xff]*")
_ADDRESS = re.compile(r"[\x21-\x7e]+")
_HEADER = "header."
_DELEGATION = "header.x-iceberg-access-delegation"
_VENDED = "vended-credentials"


@dataclass(frozen=True, slots=True)
class GlueEndpoint:
    """The Glue Data Catalog by its own API."""

    aws: AwsSettings
    warehouse: str | None = None  # where tables go whose namespace says nothing; a database may have its own location
    catalog_id: str | None = None  # `glue.id`: another account's catalog, or a nested one
    skip_archive: bool = True  # `glue.skip-archive`: UpdateTable keeps no old table version


@dataclass(frozen=True, slots=True)
class HiveEndpoint:
    """A Hive Metastore over thrift."""

    host: str
    port: int
    aws: AwsSettings
    warehouse: str | None = None
    timeout_millis: int = READ_MILLIS


@dataclass(frozen=True, slots=True)
class OAuth2:
    """Client credentials, exchanged for a token that is renewed before it ends."""

    credential: str = field(repr=False)  # `id:secret`, or a secret alone
    server_uri: str | None = None  # None: the catalog's own /v1/oauth/tokens
    scope: str = "catalog"


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token as it is."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SigV4:
    """Requests signed as AWS wants them, for one service of one region."""

    service: str
    region: str | None


@dataclass(frozen=True, slots=True)
class RestEndpoint:
    """An Iceberg REST catalog."""

    uri: str  # without a trailing slash and without /v1
    aws: AwsSettings
    auth: OAuth2 | Bearer | SigV4 | None = None
    warehouse: str | None = None  # what /v1/config is asked for
    dialect: str = "plain"
    headers: Mapping[str, str] = field(default_factory=dict)
    vended: bool = False  # ask the catalog for credentials to its files
    location: str | None = None  # where new tables go when the dialect makes the client say


Endpoint = GlueEndpoint | HiveEndpoint | RestEndpoint


@dataclass(frozen=True, slots=True)
class FilesAlone:
    """A catalog without a server whose tables may lie in S3."""

    aws: AwsSettings
    warehouse: str | None = None


def reached(catalog: CatalogSettings) -> Endpoint | FilesAlone:
    """What of a catalog is not on this machine: its server, or its files alone."""
    found = endpoint(catalog)
    return found or FilesAlone(aws.settings(catalog.properties, _at(catalog)), catalog.properties.get("warehouse"))


def endpoint(catalog: CatalogSettings) -> Endpoint | None:
    """The typed endpoint of a catalog; None for one without a server, or of a type we do not reach."""
    match catalog.type:
        case "glue":
            return _glue(catalog)
        case "hive":
            return _hive(catalog)
        case "rest":
            return _rest(catalog)
        case "s3tables":
            return _s3tables(catalog)
        case _:
            return None


def table_defaults(catalog: CatalogSettings) -> dict[str, str]:
    """Properties of new tables: Iceberg's `table-default.KEY` of the catalog, on top of what its type asks for."""
    in_glue = catalog.type == "glue" or (catalog.type == "rest" and _rest(catalog).dialect == "glue")
    ours = GLUE_TABLE_DEFAULTS if in_glue else {}
    said = {
        key.removeprefix(_TABLE_DEFAULT): value
        for key, value in catalog.properties.items()
        if key.startswith(_TABLE_DEFAULT)
    }
    return {**ours, **said}


def _at(catalog: CatalogSettings) -> str:
    return f"catalogs.{catalog.name}"


def _glue(catalog: CatalogSettings) -> GlueEndpoint:
    given = catalog.properties
    return GlueEndpoint(
        aws.settings(given, _at(catalog)),
        _warehouse(catalog),
        _glue_id(catalog),
        _flag(catalog, "glue.skip-archive", default=True),
    )


def _glue_id(catalog: CatalogSettings) -> str | None:
    text = catalog.properties.get("glue.id", "")
    if text and not _ACCOUNT.fullmatch(text):
        raise BadInput(
            f"{_at(catalog)}.glue.id: {text!r} is not the id of a Glue catalog.",
            next_step="Write the 12 digits of the account that owns it, in quotes.",
        )
    return text or None


def _hive(catalog: CatalogSettings) -> HiveEndpoint:
    text = catalog.properties.get("uri", "")
    found = _split(text if "://" in text else f"thrift://{text}")
    named_one = found is not None and "," not in text and "@" not in text
    if not found or not named_one or found[0].scheme != "thrift" or found[0].path not in {"", "/"}:
        raise BadInput(
            f"{_at(catalog)}.uri: {aws.shown_address(text)!r} is not the address of a Hive Metastore.",
            next_step=f"Write thrift://HOST:{HIVE_PORT}. Of several, name one.",
        )
    reached = aws.settings(catalog.properties, _at(catalog))
    host, port = found[0].hostname or "", found[1] or HIVE_PORT
    return HiveEndpoint(host, port, reached, _warehouse(catalog), reached.read_millis)


def _rest(catalog: CatalogSettings) -> RestEndpoint:
    given = catalog.properties
    uri = _uri(catalog)
    reached = aws.settings(given, _at(catalog))
    auth = _auth(catalog, reached)
    return RestEndpoint(
        uri,
        reached,
        auth,
        given.get("warehouse") or None,
        _dialect(catalog, uri, auth),
        _headers(catalog),
        _vended(catalog),
        given.get("location") or None,
    )


def _s3tables(catalog: CatalogSettings) -> RestEndpoint:
    """A table bucket by the REST endpoint of S3 Tables: the ARN says everything else."""
    given = catalog.properties
    arn = given.get("warehouse", "")
    found = _TABLE_BUCKET.fullmatch(arn)
    if found is None:
        raise BadInput(
            f"{_at(catalog)}.warehouse: {arn!r} is not the ARN of a table bucket.",
            next_step="Write arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME.",
        )
    uri = _uri(catalog) if given.get("uri") else _tables_uri(found[1])
    reached = aws.settings({"region": found[1], **given}, _at(catalog))
    return RestEndpoint(uri, reached, SigV4("s3tables", found[1]), arn, "s3tables", vended=_vended(catalog))


def _tables_uri(region: str) -> str:
    return f"https://s3tables.{region}.{aws.partition(region).suffix}/iceberg"


def _uri(catalog: CatalogSettings) -> str:
    text = catalog.properties.get("uri", "")
    found = _split(text)
    web = found is not None and found[0].scheme in {"http", "https"}
    if not found or not web or found[0].query or found[0].fragment or "@" in text:
        raise BadInput(
            f"{_at(catalog)}.uri: {aws.shown_address(text)!r} is not the address of a REST catalog.",
            next_step="Write https://HOST/PATH, without /v1.",
        )
    return text.rstrip("/").removesuffix("/v1")


def _split(text: str) -> tuple[SplitResult, int | None] | None:
    """The parts of an address that names a host, and the port it says; None for any other."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:  # a port that is no number, a bracket too many
        return None
    return (parts, port) if parts.hostname and port != 0 and text.isprintable() else None


def _token_uri(catalog: CatalogSettings) -> str | None:
    """Where tokens come from: an address, or a path below the catalog's own."""
    text = catalog.properties.get("oauth2-server-uri")
    if not text:
        return None
    relative = re.match(r"//|[^/?#]*:", text) is None
    found = _split(f"http://host/{text}" if relative else text)
    web = found is not None and found[0].scheme in {"http", "https"} and not found[0].fragment
    if not web or "@" in text or not _ADDRESS.fullmatch(text):
        raise BadInput(
            f"{_at(catalog)}.oauth2-server-uri: {aws.shown_address(text)!r} is not the address of a server of tokens.",
            next_step="Write https://HOST/PATH, or a path below `uri`: no user, no password.",
        )
    return text


def _headers(catalog: CatalogSettings) -> dict[str, str]:
    found = {}
    for key in (key for key in catalog.properties if key.startswith(_HEADER)):
        name = key.removeprefix(_HEADER)
        if not _HEADER_NAME.fullmatch(name):
            raise BadInput(
                f"{_at(catalog)}: {key!r} names no header.",
                next_step="Write header.NAME, with a name of letters, digits and dashes.",
            )
        found[name] = _sendable(catalog, key)
    return found


def _sendable(catalog: CatalogSettings, key: str) -> str:
    """A property that goes into a request, without the end of line that a file of one secret has. It may be secret, so
    a complaint names its key alone.
    """
    text = re.sub(r"\r?\n\Z", "", catalog.properties[key])
    if not _HEADER_VALUE.fullmatch(text):
        raise BadInput(
            f"{_at(catalog)}.{key}: holds a character that cannot be sent, such as an end of line.",
            next_step="Look where its value comes from: one line of letters, digits and signs is wanted.",
        )
    return text


def _auth(catalog: CatalogSettings, reached: AwsSettings) -> OAuth2 | Bearer | SigV4 | None:
    given, at = catalog.properties, _at(catalog)
    kind = given.get("rest.auth.type", "").casefold()
    signs = _flag(catalog, "rest.sigv4-enabled", default=kind == "sigv4")
    ways = [
        name for name, there in (("token", "token" in given), ("credential", "credential" in given), ("SigV4", signs))
        if there
    ]  # fmt: skip
    if len(ways) > 1:
        raise BadInput(f"{at}: {' and '.join(ways)} are set.", next_step="Keep one way to sign in.")
    if signs:
        # Iceberg's own default would be execute-api, which Glue and S3 Tables answer with 403.
        service = given.get("rest.signing-name") or _service_of(given.get("uri", "")) or "execute-api"
        return SigV4(service, given.get("rest.signing-region") or reached.region)
    if "token" in given:
        return Bearer(_sendable(catalog, "token"))
    if "credential" in given:
        scope = _sendable(catalog, "scope") if "scope" in given else "catalog"
        return OAuth2(_sendable(catalog, "credential"), _token_uri(catalog), scope)
    return None


def _service_of(uri: str) -> str | None:
    found = _SERVICE.match(urlsplit(uri).hostname or "")
    return found[1] if found and aws.is_of_aws(uri) else None


def _dialect(catalog: CatalogSettings, uri: str, auth: OAuth2 | Bearer | SigV4 | None) -> str:
    said = catalog.properties.get("dialect")
    if said is not None and said not in DIALECTS:
        raise BadInput(f"{_at(catalog)}.dialect: {said!r} is none of {', '.join(DIALECTS)}.",
                       next_step=did_you_mean(said, DIALECTS))  # fmt: skip
    signed = auth.service if isinstance(auth, SigV4) and auth.service in DIALECTS else None
    return said or signed or _service_of(uri) or "plain"


def _vended(catalog: CatalogSettings) -> bool:
    """Whether the catalog is to give credentials to its files: of the ways it may be asked for, the one we know."""
    given = {key: text for key, text in catalog.properties.items() if key.casefold() == _DELEGATION}
    ways = {way.strip().casefold() for text in given.values() for way in text.split(",")} - {""}
    if ways and _VENDED not in ways:
        raise BadInput(
            f"{_at(catalog)}.{next(iter(given))}: {', '.join(sorted(ways))!r} is not a way Firnline reads files.",
            next_step=f"Write {_VENDED}, or leave it out and use credentials of your own.",
        )
    return _VENDED in ways


def _warehouse(catalog: CatalogSettings) -> str | None:
    text = catalog.properties.get("warehouse", "")
    if text and not _STORE.fullmatch(text):
        raise BadInput(
            f"{_at(catalog)}.warehouse: {text!r} is not a place for tables.",
            next_step="Write s3://BUCKET/FOLDER.",
        )
    return text.rstrip("/") or None


def _flag(catalog: CatalogSettings, name: str, *, default: bool) -> bool:
    text = catalog.properties.get(name, str(default)).casefold()
    if text not in {"true", "false"}:
        raise BadInput(f"{_at(catalog)}.{name}: {text!r} is neither true nor false.")
    return text == "true"
