"""Each error of S3 and of the AWS chain is one clear message of the right kind, and shows nothing that is secret."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.s3_store import S3Store
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.troubles import SAID_MAX, said
from firnline.config.aws import AwsSettings, Keys
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError, Missing
from tests import s3_places
from tests.answering import Answer, Asked, answering

LOCATION = "s3://lake/warehouse/t/metadata/v1.json"
SECRET = "a-secret-nobody-may-see"


def xml(code: str, message: str, **more: str) -> bytes:
    """An error as S3 writes it."""
    parts = "".join(f"<{name}>{text}</{name}>" for name, text in {"Code": code, "Message": message, **more}.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{parts}</Error>'.encode()


def settings(endpoint: str, **more: Any) -> AwsSettings:
    """Of a server that answers as it likes."""
    given = {"region": "eu-west-1", "keys": Keys("AKIA", SECRET), "endpoints": {"s3": endpoint}, "path_style": True}
    return AwsSettings(**{**given, "tries": 1, **more})


def raised_by(settings: AwsSettings, location: str = LOCATION, action: str = "read") -> FirnlineError:
    """What reading, listing or putting this raises."""
    with s3_places.opened(settings) as sessions:
        run = {
            "read": lambda: S3Files(sessions).read(location),
            "list": lambda: S3Files(sessions).list(location),
            "look": lambda: S3Files(sessions).look(location),
            "put": lambda: S3Store(sessions).put(location, b"1"),
        }[action]
        with pytest.raises(FirnlineError) as caught:
            run()
    shown = str(caught.value)
    assert SECRET not in shown
    assert "Traceback" not in shown
    assert all(line == line.strip() and line.isprintable() for line in shown.splitlines())
    assert len(shown.splitlines()) <= 3
    return caught.value


REGION = {"x-amz-bucket-region": "ap-south-1"}
KMS = "User: arn:aws:iam::1:user/a is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:x"
LF = "Insufficient Lake Formation permission(s) on orders"
IAM = "User: arn:aws:sts::123456789012:assumed-role/ci/x is not authorized to perform: s3:GetObject"
SKEW = {"RequestTime": "20261119T200000Z", "ServerTime": "2026-11-19T21:00:00Z"}
HTML = {"Content-Type": "text/html"}
CASES: dict[str, tuple[int, bytes, dict[str, str], type[FirnlineError], tuple[str, ...]]] = {
    "no file": (404, xml("NoSuchKey", "The key does not exist"), {}, Missing, (LOCATION,)),
    "no bucket": (404, xml("NoSuchBucket", "No such bucket"), {}, Missing, ("no bucket lake",)),
    "expired": (400, xml("ExpiredToken", "The token has expired"), {}, Failed, ("have ended", "s3.access-key-id")),
    "wrong key": (403, xml("InvalidAccessKeyId", "No such key"), {}, Failed, ("not accepted", "InvalidAccessKeyId")),
    "wrong secret": (403, xml("SignatureDoesNotMatch", "No match"), {}, Failed, ("not accepted", "http://127")),
    "denied": (403, xml("AccessDenied", IAM), {}, Failed, ("s3:GetObject", LOCATION, "assumed-role/ci", "iam-policy")),
    "denied, tersely": (403, xml("AccessDenied", "Access Denied"), {}, Failed, ("may not do s3:GetObject",)),
    "denied a key": (403, xml("AccessDenied", KMS), {}, Failed, ("KMS key", "kms:Decrypt", LOCATION)),
    "a key is off": (400, xml("KMS.DisabledException", "it is off"), {}, Failed, ("KMS key", "it is off")),
    "lake formation": (403, xml("AccessDenied", LF), {}, Failed, ("Lake Formation", "grant")),
    "moved": (301, xml("PermanentRedirect", "elsewhere"), REGION, BadInput, ("region ap-south-1", "eu-west-1")),
    "signed elsewhere": (
        400, xml("AuthorizationHeaderMalformed", "the region is wrong", Region="ap-south-1"), {}, BadInput,
        ("`region: ap-south-1`",),
    ),
    "skewed": (403, xml("RequestTimeTooSkewed", "too large", **SKEW), {}, Blocked, ("there 2026-11-19 21:00:00 UTC",)),
    "throttled": (503, xml("SlowDown", "Reduce your request rate"), {}, Blocked, ("fewer requests", "again")),
    "too many": (429, b"", {}, Blocked, ("fewer requests",)),
    "unwell": (500, xml("InternalError", "We are sorry"), {}, Failed, ("failed with 500", "We are sorry")),
    "a gateway": (502, b"<html>Bad gateway</html>", {}, Failed, ("502",)),
    "archived": (403, xml("InvalidObjectState", "not valid for the class"), {}, Blocked, ("archived", "lifecycle")),
    "unknown": (501, xml("NotImplemented", "no"), {}, Failed, ("does not know",)),
    "hostile": (400, xml("Odd", "a&#10;b \u202e c " + "x" * 2000), {}, Failed, ("Odd", "\ufffd", "…")),
    "no S3": (200, b"<html><body>Welcome", HTML, Failed, ("not as s3 does", "s3.endpoint")),
    "no S3, tidily": (200, b"<html><body>Welcome</body></html>", HTML, Failed, ("not as s3 does", "s3.endpoint")),
    "no S3, nothing there": (404, b"<html><body>Not found", HTML, Failed, ("not as s3 does", "s3.endpoint")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_answers(case: str) -> None:
    """What a server answers is said with the values, the reason and what to do."""
    status, body, headers, kind, fragments = CASES[case]
    action = "list" if status == 200 else "read"
    with answering(lambda _: Answer(status, body, headers)) as server:
        error = raised_by(settings(server.endpoint), action=action)
    assert type(error) is kind
    assert all(fragment in str(error) for fragment in fragments), str(error)


HEADLESS = {
    "denied": (403, {}, Failed, "s3:GetObject"),
    "elsewhere": (301, REGION, BadInput, "ap-south-1"),
    "signed elsewhere": (400, REGION, BadInput, "ap-south-1"),
    "ended": (400, {}, Failed, "credentials have ended"),
    "ended, at home": (400, {"x-amz-bucket-region": "eu-west-1"}, Failed, "`s3.access-key-id`"),
}


@pytest.mark.parametrize("case", HEADLESS)
def test_answers_without_a_body(case: str) -> None:
    """Looking at a file has no body to tell what is wrong: status and headers do."""
    status, headers, kind, fragment = HEADLESS[case]
    with answering(lambda _: Answer(status, b"", headers)) as server:
        error = raised_by(settings(server.endpoint), action="look")
    assert type(error) is kind
    assert fragment in str(error)


def test_the_region_in_effect_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket is elsewhere when it is not in the region we sign for, wherever that is said."""
    monkeypatch.setenv("AWS_REGION", "ap-south-1")
    with answering(lambda _: Answer(400, b"", REGION)) as server:
        error = raised_by(settings(server.endpoint, region=None), action="look")
    assert (type(error), "have ended" in str(error)) == (Failed, True)
    with answering(lambda _: Answer(400, b"", {"x-amz-bucket-region": "eu-west-1"})) as server:
        error = raised_by(settings(server.endpoint, region=None), action="look")
    assert "is in the region eu-west-1, and ap-south-1 was asked" in error.what


def test_a_server_of_a_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a variable says which server is asked, it is that one and that variable that are named."""
    endpoint = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
    error = raised_by(replace(settings(endpoint), endpoints={}))
    assert error.what == f"{endpoint} cannot be reached."
    assert "Check `AWS_ENDPOINT_URL`" in str(error.next_step)


def free_port() -> int:
    """A port nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def mute(*, hangs: bool) -> Iterator[str]:
    """A server that takes requests and says nothing, or hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held: list[socket.socket] = []

        def serve() -> None:
            try:
                while True:
                    connection, _ = listening.accept()
                    connection.recv(65536)
                    if hangs:
                        held.append(connection)
                    else:
                        connection.close()
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in held:
                connection.close()


def test_nobody_there() -> None:
    """An endpoint nobody listens at is named, with the setting that names it."""
    endpoint = f"http://127.0.0.1:{free_port()}"
    error = raised_by(settings(endpoint))
    assert (type(error), error.what) == (Failed, f"{endpoint} cannot be reached.")
    assert "`s3.endpoint`" in str(error.next_step)


def test_a_name_that_does_not_exist() -> None:
    """So is one whose host has no address, and a region that does not exist."""
    assert "no-such-host.invalid" in raised_by(settings("http://no-such-host.invalid")).what


def test_no_answer() -> None:
    """A server that never answers is given up after the time that is set."""
    with mute(hangs=True) as endpoint:
        error = raised_by(settings(endpoint, read_millis=200))
    assert error.what == f"{endpoint} did not answer within 0.2 s."


def test_hung_up() -> None:
    """A server that hangs up is said to have done so."""
    with mute(hangs=False) as endpoint:
        assert "closed the connection" in raised_by(settings(endpoint)).what


def test_no_tls() -> None:
    """A server that speaks no TLS where https was written."""
    with answering(lambda _: Answer()) as server:
        error = raised_by(settings(server.endpoint.replace("http:", "https:")))
    assert "does not speak TLS" in error.what


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without AWS credentials; its AWS configuration file."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path / "config"


@pytest.mark.usefixtures("bare")
def test_no_credentials() -> None:
    """Without credentials it is said how to give them, and that keys stand in no file."""
    error = raised_by(AwsSettings(region="eu-west-1", tries=1))
    assert type(error) is Missing
    assert "AWS_PROFILE" in str(error)


@pytest.mark.usefixtures("bare")
def test_no_such_profile() -> None:
    """A profile that is not there is named."""
    error = raised_by(AwsSettings(region="eu-west-1", profile="nobody", tries=1))
    assert type(error) is BadInput
    assert "'nobody'" in error.what


@pytest.mark.usefixtures("bare")
def test_no_region() -> None:
    """Without any region it is said where to set one."""
    assert "AWS_REGION" in str(raised_by(AwsSettings(keys=Keys("a", SECRET), tries=1)))


def test_sign_in_has_ended(bare: Path) -> None:
    """A sign-in that has ended is answered with the command that renews it."""
    bare.write_text(
        "[profile work]\nsso_session=corp\nsso_account_id=123456789012\nsso_role_name=dev\nregion=eu-west-1\n"
        "[sso-session corp]\nsso_region=eu-west-1\nsso_start_url=https://corp.example/start\n"
    )
    error = raised_by(AwsSettings(profile="work", tries=1))
    assert (type(error), error.next_step) == (Failed, "Sign in again: aws sso login --profile work")


@pytest.mark.parametrize("bucket", ["a b", "ab?c", "x" * 300, "a\nb", "a'--", "ü"])
@pytest.mark.parametrize("action", ["read", "list", "put"])
def test_impossible_buckets(bucket: str, action: str) -> None:
    """A bucket nobody can have is bad input before anything is sent."""
    with answering(lambda _: Answer()) as server:
        error = raised_by(settings(server.endpoint), f"s3://{bucket}/x", action)
        assert server.asked == []
    assert type(error) is BadInput


@pytest.mark.parametrize("location", ["s3:///x", "s3://", "gs://a/b", "s3:/a/b", "/a/b", "s3://a/\ud800", "s3://lake/"])
def test_no_locations(location: str) -> None:
    """What is no location of a file on S3 is bad input."""
    assert type(raised_by(settings("http://127.0.0.1:9"), location)) is BadInput


def test_a_role_that_may_not_be_assumed() -> None:
    """A role that cannot be assumed is named, and what its owner has to do."""

    def answer(asked: Asked) -> Answer:
        assert b"RoleArn=arn" in asked.body
        body = b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>"
        return Answer(403, body)

    role = "arn:aws:iam::123456789012:role/looker"
    with answering(answer) as server:
        endpoints = {"s3": server.endpoint, "sts": server.endpoint}
        error = raised_by(settings(server.endpoint, endpoints=endpoints, role=role))
    assert type(error) is Failed
    assert role in error.what
    assert "trust policy" in str(error.next_step)


@pytest.mark.parametrize(
    ("more", "fragment"),
    [
        ({"keys": Keys("test", SECRET)}, "not accepted"),
        ({"keys": Keys("nobody", SECRET)}, "InvalidAccessKeyId"),
    ],
    ids=["secret", "key"],
)
def test_a_real_server_refuses(more: dict[str, Any], fragment: str) -> None:
    """Wrong keys at a server that looks at them."""
    if fragment == "not accepted":
        more = {"keys": Keys(s3_places.weed_settings().keys.access, SECRET)}  # type: ignore[union-attr]
    assert fragment in raised_by(s3_places.weed_settings(tries=1, **more)).what


@pytest.fixture
def nobody() -> Iterator[AwsSettings]:
    """A user without any right, at a server that looks at rights meanwhile."""
    s3_places.moto()  # the bucket must be there before
    settings = s3_places.moto_settings(tries=1)
    settings = replace(settings, endpoints={**settings.endpoints, "iam": settings.endpoints["s3"]})
    with s3_places.opened(settings) as sessions:
        iam = sessions.client("iam")
        iam.create_user(UserName="nobody")
        made = iam.create_access_key(UserName="nobody")["AccessKey"]
    look_at_rights(settings, "0")
    yield replace(settings, keys=Keys(made["AccessKeyId"], made["SecretAccessKey"]))
    look_at_rights(settings, "inf")


def look_at_rights(settings: AwsSettings, after: str) -> None:
    """Have moto look at rights after so many requests."""
    connection = HTTPConnection(settings.endpoints["s3"].removeprefix("http://"))
    with closing(connection):
        connection.request("POST", "/moto-api/reset-auth", after, {"Content-Type": "text/plain"})
        assert connection.getresponse().status == 200


def test_without_rights(nobody: AwsSettings) -> None:
    """A real server that looks at rights: what is missing is named, and so is a key it does not know."""
    for action, right in (("list", "s3:ListBucket"), ("read", "s3:GetObject"), ("put", "s3:PutObject")):
        error = raised_by(nobody, "s3://lake/a/b", action)
        assert (type(error), right in error.what) == (Failed, True), error
    assert "not accepted" in raised_by(replace(nobody, keys=Keys("AKIANOBODYATALL00000", SECRET))).what


@pytest.mark.parametrize("place", [s3_places.weed, s3_places.moto], ids=["SeaweedFS", "moto"])
def test_a_real_server_without_the_bucket(place: Any) -> None:
    """A bucket that is not there is missing, for a listing as for a file."""
    sessions: Sessions = place()
    for run in (S3Files(sessions).list, S3Files(sessions).read):
        with pytest.raises(Missing, match="no bucket there-is-none"):
            run("s3://there-is-none/a/b")


def test_what_is_said() -> None:
    """A text from outside is one printable line of bounded length."""
    assert said("a\n\tb \x1b[31mc\x00") == "a b \ufffd[31mc\ufffd"
    assert len(said("x" * 5000)) == SAID_MAX
