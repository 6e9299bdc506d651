"""How AWS is reached: nothing before it must be, one client for all, credentials that are renewed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from firnline.adapters.aws.sessions import Sessions
from firnline.config.aws import AwsSettings, Keys
from firnline.core.errors import BadInput
from tests import s3_places
from tests.answering import Answer, Asked, answering

KEYS = Keys("AKIA", "the-secret", "the-token")
ROLE = "arn:aws:iam::123456789012:role/looker"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without AWS settings; its configuration file."""
    names = ("PROFILE", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION", "DEFAULT_REGION", "ENDPOINT_URL")
    for name in (f"AWS_{name}" for name in names):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path / "config"


def test_light() -> None:
    """Sessions are made without botocore: opening a lakehouse does not pay for it."""
    code = (
        "import sys\nfrom firnline.adapters.aws.sessions import Sessions\n"
        "from firnline.config.aws import AwsSettings\nSessions(AwsSettings())\n"
        "sys.exit('botocore' in sys.modules or 'boto3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_client() -> None:
    """Threads that ask for a client at once get one; another number of tries is another client."""
    with s3_places.opened(AwsSettings("eu-west-1", keys=KEYS)) as sessions:
        with ThreadPoolExecutor(12) as pool:
            clients = list(pool.map(lambda _: sessions.client("s3"), range(12)))
        assert len(set(map(id, clients))) == 1
        once = sessions.client("s3", tries=1)
        assert once is not clients[0]
        assert once is sessions.client("s3", tries=1)
        assert once.meta.config.retries["total_max_attempts"] == 1


def test_as_set() -> None:
    """Endpoint, path style, timeouts and tries are those of the settings."""
    settings = AwsSettings(
        "eu-west-1", keys=KEYS, endpoints={"s3": "http://127.0.0.1:9"}, path_style=True, connect_millis=1500,
        read_millis=2500, tries=7,
    )  # fmt: skip
    with s3_places.opened(settings) as sessions:
        config = sessions.client("s3").meta.config
        assert sessions.client("s3").meta.endpoint_url == "http://127.0.0.1:9"
        assert sessions.client("glue").meta.endpoint_url == "https://glue.eu-west-1.amazonaws.com"
        assert (config.connect_timeout, config.read_timeout) == (1.5, 2.5)
        assert config.s3["addressing_style"] == "path"
        assert config.retries["total_max_attempts"] == 7


def test_access() -> None:
    """An engine with its own client gets everything it needs, and nothing of it is shown by accident."""
    settings = AwsSettings("eu-west-1", keys=KEYS, endpoints={"s3": "http://127.0.0.1:9"}, path_style=True)
    with s3_places.opened(settings) as sessions:
        found = sessions.access()
    assert (found.region, found.access, found.secret, found.token) == ("eu-west-1", "AKIA", "the-secret", "the-token")
    assert (found.endpoint, found.path_style) == ("http://127.0.0.1:9", True)
    assert "the-secret" not in f"{found!r} {settings!r}"
    assert "the-token" not in f"{found!r} {settings!r}"


def test_the_chain(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without keys of its own an environment has those the machine gives it; a profile it names comes first."""
    machine.write_text("[profile work]\naws_access_key_id=of-work\naws_secret_access_key=s\nregion=eu-north-1\n")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-machine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    assert Sessions(AwsSettings("eu-west-1")).access().access == "of-the-machine"
    assert Sessions(AwsSettings("eu-west-1", profile="work")).access().access == "of-work"
    assert Sessions(AwsSettings(profile="work")).region() == "eu-north-1"


REGIONS: dict[str, tuple[AwsSettings, dict[str, str], str]] = {
    "set": (AwsSettings("eu-west-1"), {"AWS_REGION": "eu-west-2"}, "eu-west-1"),
    "AWS_REGION": (AwsSettings(), {"AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "eu-west-3"}, "eu-west-2"),
    "AWS_DEFAULT_REGION": (AwsSettings(), {"AWS_DEFAULT_REGION": "eu-west-3"}, "eu-west-3"),
    "no cloud": (AwsSettings(endpoints={"s3": "http://127.0.0.1:9"}), {}, "us-east-1"),
}


@pytest.mark.parametrize("case", REGIONS)
def test_regions(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The region is the settings', else the machine's, else any where no AWS is asked."""
    settings, variables, expected = REGIONS[case]
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert Sessions(settings).region() == expected


@pytest.mark.parametrize("endpoints", [{}, {"s3": "https://bucket.vpce-1.s3.eu-west-1.vpce.amazonaws.com"}])
def test_no_region(endpoints: dict[str, str]) -> None:
    """Where AWS is asked there must be one."""
    with pytest.raises(BadInput, match="No AWS region"):
        Sessions(AwsSettings(endpoints=endpoints)).region()


WHOLE = {"AWS_ENDPOINT_URL": "http://127.0.0.1:8"}
OWN = AwsSettings("eu-west-1", keys=KEYS, endpoints={"s3": "http://127.0.0.1:9"})
AWSS = AwsSettings("eu-west-1", keys=KEYS)
PRIVATE = "https://vpce-1.s3.eu-west-1.vpce.amazonaws.com"
SERVERS: dict[str, tuple[AwsSettings, dict[str, str], str | None, bool, bool]] = {
    "AWS": (AWSS, {}, None, True, True),
    "one of one's own": (OWN, {}, "http://127.0.0.1:9", False, False),
    "one of one's own, by a variable": (AWSS, {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:7/"}, "http://127.0.0.1:7",
                                        False, False),
    "with an STS": (OWN, {"AWS_ENDPOINT_URL_STS": "http://127.0.0.1:6"}, "http://127.0.0.1:9", False, True),
    "one for all of AWS": (AWSS, WHOLE, "http://127.0.0.1:8", True, True),
    "one for all, beside one's own": (OWN, WHOLE, "http://127.0.0.1:9", False, False),
    "the settings first": (OWN, {"AWS_ENDPOINT_URL_S3": PRIVATE}, "http://127.0.0.1:9", False, False),
    "a private link": (AWSS, {"AWS_ENDPOINT_URL_S3": PRIVATE}, PRIVATE, True, True),
    "variables that are to be ignored": (AWSS, {**WHOLE, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, None, True,
                                         True),
}  # fmt: skip


@pytest.mark.parametrize("case", SERVERS)
def test_which_server_is_asked(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own client and an engine's ask the same S3 server; STS sees keys of one's own only where it is named."""
    settings, variables, endpoint, of_aws, sts_too = SERVERS[case]
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with s3_places.opened(settings) as sessions:
        assert sessions.access().endpoint == sessions.endpoint("s3") == endpoint
        asked = sessions.client("s3").meta.endpoint_url
        assert asked == (endpoint or "https://s3.eu-west-1.amazonaws.com")
        assert (sessions.of_aws, sessions.may_ask("sts")) == (of_aws, sts_too)
        whole = "AWS_ENDPOINT_URL" in variables and endpoint is not None
        checks = "when_supported" if of_aws and not whole else "when_required"
        assert sessions.client("s3").meta.config.request_checksum_calculation == checks


def test_a_server_of_the_profile(machine: Path) -> None:
    """A profile may name servers, for one service or for all; the nearer one is asked."""
    machine.write_text(
        "[profile work]\nregion=eu-west-1\nservices=ours\nendpoint_url=http://127.0.0.1:5\n"
        "[services ours]\ns3 =\n  endpoint_url = http://127.0.0.1:4\n"
    )
    with s3_places.opened(AwsSettings(profile="work", keys=KEYS)) as sessions:
        found = {service: sessions.endpoint(service) for service in ("s3", "glue")}
        asked = {service: sessions.client(service).meta.endpoint_url for service in found}
    assert found == asked == {"s3": "http://127.0.0.1:4", "glue": "http://127.0.0.1:5"}


def test_a_password_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address with a password in it is refused, and not shown."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://me:hunter2@127.0.0.1:9")
    with pytest.raises(BadInput, match="AWS_ENDPOINT_URL") as refused:
        Sessions(AWSS).access()
    assert "hunter2" not in str(refused.value)


def test_models_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sessions there are, in however many threads, each file of botocore's is parsed once."""
    from botocore import loaders

    parsed: list[str] = []
    real = loaders.JSONFileLoader.load_file

    def load_file(self: Any, path: str) -> Any:
        parsed.append(path)
        return real(self, path)

    with s3_places.opened(AWSS) as first:
        first.client("dynamodb")
    monkeypatch.setattr(loaders.JSONFileLoader, "load_file", load_file)
    made = [Sessions(replace(AWSS, role=role)) for role in (None, ROLE) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        clients = list(pool.map(lambda sessions: sessions.client("dynamodb"), made))
    for sessions in made:
        sessions.close()
    assert len(set(map(id, clients))) == len(made)
    assert [path for path in parsed if "dynamodb" in path or "endpoints" in path] == []


def sts(asked: list[dict[str, list[str]]], lasts: timedelta) -> Any:
    """An STS that numbers the credentials it gives out."""

    def answer(request: Asked) -> Answer:
        asked.append(parse_qs(request.body.decode()))
        ends = (datetime.now(UTC) + lasts).strftime("%Y-%m-%dT%H:%M:%SZ")
        parts = f"<AccessKeyId>K{len(asked)}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
        body = (
            f"<AssumeRoleResponse><AssumeRoleResult><Credentials>{parts}<SessionToken>t</SessionToken>"
            f"<Expiration>{ends}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
        )
        return Answer(body=body.encode())

    return answer


@pytest.mark.parametrize(
    ("lasts", "expected"), [(timedelta(hours=1), ["K1", "K1"]), (timedelta(minutes=5), ["K1", "K2"])]
)
def test_a_role(lasts: timedelta, expected: list[str]) -> None:
    """A role is assumed at the first use, with the external id, kept while it lasts, and assumed again in time."""
    asked: list[dict[str, list[str]]] = []
    with answering(sts(asked, lasts)) as server:
        settings = AwsSettings(
            "eu-west-1", role=ROLE, external_id="x-1", keys=KEYS, endpoints={"sts": server.endpoint}, tries=1
        )
        with s3_places.opened(settings) as sessions:
            assert asked == []
            assert [sessions.access().access for _ in expected] == expected
    assert asked[0]["RoleArn"] == [ROLE]
    assert asked[0]["ExternalId"] == ["x-1"]
    assert asked[0]["RoleSessionName"] == ["firnline"]


def test_a_role_at_a_server() -> None:
    """Clients use the role, as a server with an STS sees it."""
    role = {"role": "arn:aws:iam::123456789012:role/looker"}
    with s3_places.opened(s3_places.moto_settings(**role)) as sessions:
        found = sessions.client("sts").get_caller_identity()
    assert found["Account"] == "123456789012"
    assert ":assumed-role/looker/firnline" in found["Arn"]


def status(endpoint: str, target: str, headers: Mapping[str, str]) -> int:
    """What a server says to a request whose target is sent byte for byte."""
    connection = HTTPConnection(endpoint.removeprefix("http://"))
    with closing(connection):
        connection.request("GET", target, headers=dict(headers))
        return connection.getresponse().status


@pytest.mark.parametrize(
    "target", ["/lake", "/lake?location", "/lake?list-type=2&prefix=a%2Fb%20c%1F&max-keys=1", "/lake?prefix=~%C3%BC"]
)
def test_signatures(target: str) -> None:
    """A server that checks signatures takes ours, whatever the query, and none for another query."""
    with s3_places.opened(s3_places.weed_settings()) as sessions:
        endpoint = sessions.settings.endpoints["s3"]
        headers = sessions.signer("s3")("GET", endpoint + target, {"Connection": "close", "Accept": "*/*"}, b"")
    assert "Connection" not in headers
    assert status(endpoint, target, headers) == 200
    assert status(endpoint, f"{target}{'&' if '?' in target else '?'}delimiter=x", headers) == 403


def test_signed_for_a_service() -> None:
    """A signature is for a service of a region, and carries the token."""
    with s3_places.opened(AwsSettings("eu-west-1", keys=KEYS)) as sessions:
        headers = sessions.signer("glue", "ap-south-1")("POST", "https://glue.x/a", {"Content-Type": "a/b"}, b"{}")
    assert "/ap-south-1/glue/aws4_request" in headers["Authorization"]
    assert headers["X-Amz-Security-Token"] == "the-token"
    assert headers["Content-Type"] == "a/b"


def test_closed() -> None:
    """Sessions that were closed open again."""
    with s3_places.opened(s3_places.moto_settings()) as sessions:
        first = sessions.client("s3")
        sessions.close()
        assert sessions.client("s3") is not first
        assert sessions.client("s3").list_buckets()["ResponseMetadata"]["HTTPStatusCode"] == 200
