"""How AWS, or a server that speaks like it, is reached: one answer for every adapter, Spark and doctor.

Keys are Iceberg's where Iceberg has one (`s3.endpoint`, `s3.path-style-access`, `glue.id`, `s3.sse.type` …), so that a
catalog's properties can be taken over from a Spark configuration as they are. `region`, `profile` and `role` are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean

SERVICES = ("s3", "glue", "dynamodb", "sts", "s3tables")
CONNECT_MILLIS = 5_000  # an endpoint on the same continent answers in milliseconds: what takes longer is not there
READ_MILLIS = 60_000
TRIES = 5
_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+){1,3}-\d{1,2}")
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,600}")
_SSE = ("none", "s3", "kms", "dsse-kms")


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of AWS that has accounts, ARNs and host names of its own."""

    name: str
    suffix: str  # of its hosts
    dual_suffix: str  # of those that also speak IPv6


_COMMERCIAL = Partition("aws", "amazonaws.com", "api.aws")
# By how the names of their regions begin; as in botocore's partitions.json, which costs an import to read.
_PARTITIONS = {
    "cn-": Partition("aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
    "us-gov-": Partition("aws-us-gov", "amazonaws.com", "api.aws"),
    "eusc-": Partition("aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu"),
    "us-iso-": Partition("aws-iso", "c2s.ic.gov", "api.aws.ic.gov"),
    "us-isob-": Partition("aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud"),
    "eu-isoe-": Partition("aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
    "us-isof-": Partition("aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov"),
}
_HOSTS = tuple(
    f".{suffix}" for each in (_COMMERCIAL, *_PARTITIONS.values()) for suffix in (each.suffix, each.dual_suffix)
)


def partition(region: str) -> Partition:
    """The partition a region is in; the commercial one when its name says nothing else."""
    return next((found for start, found in _PARTITIONS.items() if region.startswith(start)), _COMMERCIAL)


def is_of_aws(url: str) -> bool:
    """Whether this is the address of a server of AWS, such as one of a private link."""
    return (urlsplit(url).hostname or "").endswith(_HOSTS)


def address(text: str, key: str) -> str:
    """The address of a service, without a slash at its end. BadInput names the key it was given by."""
    try:
        parts = urlsplit(text)
        plain = bool(parts.hostname) and parts.port != 0 and parts.scheme in {"http", "https"}
        plain = plain and parts.path in {"", "/"} and not parts.query and not parts.fragment
    except ValueError:  # a port that is no number, a bracket too many
        plain = False
    if not plain or "@" in text:
        raise BadInput(
            f"{key}: {shown_address(text)!r} is not the address of a service.",
            next_step="Write http://HOST:PORT or https://HOST: no user, no password, no path.",
        )
    return text.rstrip("/")


def shown_address(text: str) -> str:
    """An address as a complaint quotes it: without what may be secret in it, which stands before an @ or after a ?."""
    if "@" not in text:
        return text.partition("?")[0]
    return "…" if "?" in text else "…@" + re.split("[/#]", text.rpartition("@")[2])[0]


@dataclass(frozen=True, slots=True)
class Keys:
    """Static credentials. They came through the environment and go nowhere but to the service."""

    access: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class AwsSettings:
    """Everything about reaching AWS. Without `keys` the AWS chain finds credentials: variables, profile, role."""

    region: str | None = None  # None: the chain's (AWS_REGION, the profile's)
    profile: str | None = None
    role: str | None = None  # assumed on top of what the chain finds
    external_id: str | None = None
    keys: Keys | None = None
    endpoints: Mapping[str, str] = field(default_factory=dict)  # by service; none: AWS's own
    path_style: bool = False
    connect_millis: int = CONNECT_MILLIS
    read_millis: int = READ_MILLIS
    tries: int = TRIES  # attempts of one request, the first included
    sse: str | None = None  # none | s3 | kms | dsse-kms: of what we write
    kms_key: str | None = None


def settings(properties: Mapping[str, str], at: str) -> AwsSettings:
    """What these properties (of a catalog, or of the state) say. BadInput names the key under `at`."""
    read = _Reading(properties, at)
    return AwsSettings(
        region=read.matching(("region", "client.region", "s3.region"), _REGION, "a region such as eu-west-1"),
        profile=properties.get("profile") or None,
        role=read.matching(("role", "client.assume-role.arn"), _ROLE, "the ARN of a role"),
        external_id=properties.get("client.assume-role.external-id"),
        keys=read.keys(),
        endpoints={service: url for service in SERVICES if (url := read.url(f"{service}.endpoint"))},
        path_style=read.flag("s3.path-style-access"),
        connect_millis=read.amount("connect-timeout", CONNECT_MILLIS, Unit.DURATION),
        read_millis=read.amount("request-timeout", READ_MILLIS, Unit.DURATION),
        tries=read.amount("tries", TRIES, Unit.COUNT),
        sse=read.word("s3.sse.type", _SSE),
        kms_key=properties.get("s3.sse.key") or None,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    properties: Mapping[str, str]
    at: str

    def matching(self, names: tuple[str, ...], pattern: re.Pattern[str], wanted: str) -> str | None:
        for name in names:
            if text := self.properties.get(name):
                if not pattern.fullmatch(text):
                    raise BadInput(f"{self.at}.{name}: {text!r} is not {wanted}.")
                return text
        return None

    def keys(self) -> Keys | None:
        access, secret = self.properties.get("s3.access-key-id"), self.properties.get("s3.secret-access-key")
        if not access and not secret:
            return None
        if not access or not secret:
            given, lacking = ("secret-access-key", "access-key-id")[:: -1 if access else 1]
            raise BadInput(
                f"{self.at}: s3.{given} is set and s3.{lacking} is not.",
                next_step="Set both, or none: then credentials are found as every AWS tool finds them.",
            )
        return Keys(access, secret, self.properties.get("s3.session-token") or None)

    def url(self, name: str) -> str | None:
        text = self.properties.get(name)
        return address(text, f"{self.at}.{name}") if text else None

    def flag(self, name: str) -> bool:
        return self.word(name, ("true", "false")) == "true"

    def word(self, name: str, words: tuple[str, ...]) -> str | None:
        text = self.properties.get(name)
        if text is None:
            return None
        if text.casefold() not in words:
            raise BadInput(f"{self.at}.{name}: {text!r} is none of {', '.join(words)}.",
                           next_step=did_you_mean(text, words))  # fmt: skip
        return text.casefold()

    def amount(self, name: str, default: int, unit: Unit) -> int:
        text = self.properties.get(name)
        if text is None:
            return default
        try:
            number = int(amounts.parse(int(text) if text.isdigit() and unit is Unit.COUNT else text, unit))
        except BadInput as error:
            raise BadInput(f"{self.at}.{name}: {error.what}", next_step=error.next_step) from error
        if number < 1:
            raise BadInput(f"{self.at}.{name}: {text!r} is less than the least there can be.")
        return number
