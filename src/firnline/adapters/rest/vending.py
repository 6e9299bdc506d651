"""Credentials to a table's files that its catalog hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from firnline.adapters.access import StoreAccess
from firnline.adapters.rest.client import texts
from firnline.adapters.rest.loading import Loaded
from firnline.config.aws import AwsSettings

_REGION_OF_NO_CLOUD = "us-east-1"  # a server that is not AWS wants some region signed and looks at none


@dataclass(frozen=True, slots=True)
class Vended:
    """Access to what lies under `prefix`. `until` None: the catalog did not say when it ends."""

    prefix: str
    access: StoreAccess
    until: datetime | None


def of(loaded: Loaded, catalog: Mapping[str, str], settings: AwsSettings) -> tuple[Vended, ...]:
    """What a table's answer vends, the narrowest prefix first: the first whose prefix a location begins with is for it.

    What the table's own configuration says stands for every prefix that says nothing else, and what the catalog's says
    below that.
    """
    base = {**catalog, **loaded.config}
    found = [
        vended
        for each in loaded.credentials
        if (vended := _vended(str(each.get("prefix", "")), {**base, **texts(each.get("config"))}, settings))
    ]
    if not found and (vended := _vended("", base, settings)):
        found.append(vended)
    return tuple(sorted(found, key=lambda each: -len(each.prefix)))


def _vended(prefix: str, config: Mapping[str, str], settings: AwsSettings) -> Vended | None:
    access, secret = config.get("s3.access-key-id"), config.get("s3.secret-access-key")
    if not access or not secret:
        return None
    region = config.get("client.region") or config.get("s3.region") or settings.region or _REGION_OF_NO_CLOUD
    path_style = config.get("s3.path-style-access")
    return Vended(
        prefix,
        StoreAccess(
            region,
            access,
            secret,
            config.get("s3.session-token"),
            config.get("s3.endpoint") or settings.endpoints.get("s3"),
            settings.path_style if path_style is None else path_style.casefold() == "true",
        ),
        _until(config.get("s3.session-token-expires-at-ms")),
    )


def _until(millis: str | None) -> datetime | None:
    if millis is None or not str(millis).isdigit():
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(millis))
