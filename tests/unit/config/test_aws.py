"""How AWS is reached: what the keys of a catalog mean, and what is said of wrong ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import botocore
import pytest

from firnline.config import aws
from firnline.config.aws import AwsSettings, Keys
from firnline.core.errors import BadInput

ROLE = "arn:aws:iam::123456789012:role/lake/reader"
MEANT: list[tuple[Mapping[str, str], AwsSettings]] = [
    ({}, AwsSettings()),
    ({"region": "eu-west-1"}, AwsSettings(region="eu-west-1")),
    ({"client.region": "us-gov-west-1"}, AwsSettings(region="us-gov-west-1")),
    ({"region": "eu-west-1", "client.region": "eu-west-2"}, AwsSettings(region="eu-west-1")),
    ({"profile": "me", "role": ROLE}, AwsSettings(profile="me", role=ROLE)),
    (
        {"client.assume-role.arn": ROLE, "client.assume-role.external-id": "x"},
        AwsSettings(role=ROLE, external_id="x"),
    ),
    ({"s3.access-key-id": "a", "s3.secret-access-key": "b"}, AwsSettings(keys=Keys("a", "b"))),
    (
        {"s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.session-token": "c"},
        AwsSettings(keys=Keys("a", "b", "c")),
    ),
    (
        {"s3.endpoint": "http://127.0.0.1:1/", "glue.endpoint": "https://glue", "s3.path-style-access": "TRUE"},
        AwsSettings(endpoints={"s3": "http://127.0.0.1:1", "glue": "https://glue"}, path_style=True),
    ),
    (
        {"connect-timeout": "2s", "request-timeout": "500ms", "tries": "3"},
        AwsSettings(connect_millis=2000, read_millis=500, tries=3),
    ),
    ({"s3.sse.type": "KMS", "s3.sse.key": "arn:k"}, AwsSettings(sse="kms", kms_key="arn:k")),
    ({"anything": "else"}, AwsSettings()),
]


@pytest.mark.parametrize(("properties", "meant"), MEANT)
def test_what_is_meant(properties: Mapping[str, str], meant: AwsSettings) -> None:
    """Our words and Iceberg's mean the same, ours first."""
    assert aws.settings(properties, "catalogs.lake") == meant


WRONG: list[tuple[Mapping[str, str], str]] = [
    ({"region": "Ireland"}, "catalogs.lake.region: 'Ireland' is not a region"),
    ({"region": "eu-west-1; rm"}, "is not a region"),
    ({"role": "reader"}, "'reader' is not the ARN of a role"),
    ({"s3.access-key-id": "a"}, "s3.access-key-id is set and s3.secret-access-key is not"),
    ({"s3.secret-access-key": "hunter2"}, "s3.secret-access-key is set and s3.access-key-id is not"),
    ({"s3.endpoint": "127.0.0.1:9000"}, "is not the address of a service"),
    ({"s3.endpoint": "http://me:hunter2@host"}, "catalogs.lake.s3.endpoint: '…@host' is not the address"),
    ({"s3.endpoint": "http://me:hunter2@host/path"}, "no user, no password, no path"),
    ({"s3.endpoint": "http://me:hunter2?/#@host"}, "catalogs.lake.s3.endpoint"),
    ({"s3.endpoint": "http://host?token=hunter2"}, "'http://host' is not the address"),
    ({"s3.endpoint": "http://host?token=hunter2@x"}, "catalogs.lake.s3.endpoint"),
    ({"s3.endpoint": "hunter2@host"}, "is not the address of a service"),
    ({"s3.endpoint": "http://host/path"}, "'http://host/path' is not the address"),
    ({"s3.endpoint": "http://host:many"}, "is not the address of a service"),
    ({"s3.endpoint": "http://[::1"}, "is not the address of a service"),
    ({"glue.endpoint": "ftp://x"}, "catalogs.lake.glue.endpoint"),
    ({"s3.path-style-access": "yes"}, "'yes' is none of true, false"),
    ({"s3.sse.type": "rot13"}, "'rot13' is none of none, s3, kms, dsse-kms"),
    ({"request-timeout": "soon"}, "catalogs.lake.request-timeout"),
    ({"tries": "0"}, "less than the least"),
    ({"tries": "many"}, "catalogs.lake.tries"),
]


@pytest.mark.parametrize(("properties", "said"), WRONG)
def test_what_is_wrong(properties: Mapping[str, str], said: str) -> None:
    """A wrong value is told with its key, and no secret with it."""
    with pytest.raises(BadInput) as refused:
        aws.settings(properties, "catalogs.lake")
    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("shown", [repr, str])
def test_no_secret_is_shown(shown: Any) -> None:
    """Settings that are printed by accident keep their secrets."""
    found = aws.settings(
        {"s3.access-key-id": "a", "s3.secret-access-key": "hunter2", "s3.session-token": "hunter3"}, "c"
    )
    assert "hunter" not in shown(found)


@pytest.mark.parametrize(
    ("region", "name", "suffix"),
    [
        ("eu-west-1", "aws", "amazonaws.com"),
        ("mx-central-1", "aws", "amazonaws.com"),
        ("*", "aws", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-east-1", "aws-us-gov", "amazonaws.com"),
        ("us-iso-east-1", "aws-iso", "c2s.ic.gov"),
        ("us-isob-west-1", "aws-iso-b", "sc2s.sgov.gov"),
        ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
    ],
)
def test_partitions(region: str, name: str, suffix: str) -> None:
    """The region says in which part of AWS it is."""
    assert (aws.partition(region).name, aws.partition(region).suffix) == (name, suffix)


def test_partitions_are_those_of_botocore() -> None:
    """Every partition and every region botocore knows is in our table, with the same hosts."""
    known = json.loads(Path(botocore.__file__).with_name("data").joinpath("partitions.json").read_text())["partitions"]
    for each in known:
        hosts = (each["outputs"]["dnsSuffix"], each["outputs"]["dualStackDnsSuffix"])
        for region in (name for name in each["regions"] if re.fullmatch(each["regionRegex"], name)):
            found = aws.partition(region)
            assert (found.name, found.suffix, found.dual_suffix) == (each["id"], *hosts)
        assert all(aws.is_of_aws(f"https://s3.somewhere.{host}:443/") for host in hosts)


@pytest.mark.parametrize(
    "url", ["https://amazonaws.com.example", "http://127.0.0.1:9000/s3.amazonaws.com", "http://api.aws.io"]
)
def test_servers_that_are_not_of_aws(url: str) -> None:
    """A server is AWS's by the end of its host's name, not by what its address holds."""
    assert not aws.is_of_aws(url)
