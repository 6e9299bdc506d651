"""Places on real S3 servers, each test with a prefix of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from firnline.adapters.aws.sessions import Sessions
from firnline.config.aws import AwsSettings, Keys
from tests import servers

_NUMBERS = itertools.count()


def weed_settings(**more: Any) -> AwsSettings:
    """SeaweedFS: lists in an order of its own, refuses wrong keys."""
    server = servers.s3()
    given = {"region": server.region, "keys": Keys(server.access, server.secret), "path_style": True}
    return AwsSettings(**{**given, "endpoints": {"s3": server.endpoint}, **more})


def moto_settings(**more: Any) -> AwsSettings:
    """moto: lists in the order of keys, as AWS does."""
    server = servers.aws()
    services = ("s3", "sts", "glue", "dynamodb")
    given = {"region": server.region, "keys": server.keys, "path_style": True}
    return AwsSettings(**{**given, "endpoints": dict.fromkeys(services, server.endpoint), **more})


@cache
def weed() -> Sessions:
    """Shared by the tests of a process."""
    return Sessions(weed_settings())


@cache
def moto() -> Sessions:
    """Shared by the tests of a process; the bucket `lake` is there."""
    sessions = Sessions(moto_settings())
    sessions.client("s3").create_bucket(Bucket="lake")
    return sessions


@cache
def versioned(sessions: Sessions) -> str:
    """A bucket there that keeps versions."""
    client, name = sessions.client("s3"), "keeping"
    client.create_bucket(Bucket=name)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return name


def prefix() -> str:
    """A prefix nobody else has."""
    return f"t{os.getpid()}-{next(_NUMBERS)}"


@contextmanager
def opened(settings: AwsSettings) -> Iterator[Sessions]:
    """Sessions of one's own, closed after."""
    sessions = Sessions(settings)
    try:
        yield sessions
    finally:
        sessions.close()
