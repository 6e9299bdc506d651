"""What doctor asks of AWS: reading calls only, every right by name, and an answer whatever is wrong."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
import pytest

from firnline.adapters.aws import catalog_looks, examining
from firnline.adapters.aws.examining import Wanted
from firnline.adapters.aws.looks import Look
from firnline.adapters.aws.sessions import Sessions
from firnline.config import rights
from firnline.config.aws import AwsSettings, Keys
from firnline.config.endpoints import GlueEndpoint
from tests import servers
from tests.aws_faults import Fault, Front, front

REGION, BUCKET, STATE = "eu-west-1", f"examined-{uuid.uuid4().hex}", "examined"
SETTINGS = AwsSettings(region=REGION, keys=Keys("examiner", "secret"), tries=1, kms_key="k")
READING = ("Get", "List", "Head", "Describe", "Query", "BatchGetItem")
NEVER = "arn:aws:s3tables:eu-west-1:123456789012:bucket/never-made"


@contextmanager
def client(service: str, address: str, keys: Keys | None = None) -> Iterator[Any]:
    """A plain client of a server."""
    keys = keys or Keys("a", "b")
    given = {"aws_access_key_id": keys.access, "aws_secret_access_key": keys.secret}
    made = boto3.client(service, region_name=REGION, endpoint_url=address, **given)
    yield made
    made.close()


@pytest.fixture(scope="module")
def line() -> Iterator[tuple[Front, Sessions]]:
    """moto with everything it has, behind a server that answers some calls itself; and who asks it."""
    with front(servers.stock_aws().endpoint) as made, pytest.MonkeyPatch.context() as patch:
        furnish(made.address)
        patch.setenv("AWS_ENDPOINT_URL", made.address)
        sessions = Sessions(SETTINGS)
        yield made, sessions
        sessions.close()


def furnish(address: str) -> None:
    """Make a bucket with a file, a table, and a state."""
    with client("s3", address) as s3:
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        s3.put_object(Bucket=BUCKET, Key="lake/a/metadata.json", Body=b"{}")
    with client("glue", address) as glue:
        glue.create_database(DatabaseInput={"Name": "shop"})
        glue.create_table(DatabaseName="shop", TableInput={"Name": "orders"})
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in (("pk", "HASH"), ("sk", "RANGE"))]
    kinds = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
    with client("dynamodb", address) as dynamodb:
        dynamodb.create_table(
            TableName=STATE, KeySchema=keys, AttributeDefinitions=kinds, BillingMode="PAY_PER_REQUEST"
        )


@pytest.fixture
def before(line: tuple[Front, Sessions]) -> Front:
    """The server in front, with no faults yet."""
    made = line[0]
    made.answers.clear()
    made.seen.clear()
    made.ahead = timedelta()
    return made


@pytest.fixture
def examine(line: tuple[Front, Sessions]) -> Callable[..., Look]:
    """A look at everything there is, but for what is said otherwise."""
    everything = {"places": ((BUCKET, "lake"),), "glue": GlueEndpoint(SETTINGS), "state_table": STATE}
    return lambda **wanted: examining.examine(line[1], Wanted(**{**everything, **wanted}))


def test_looking_writes_nothing(before: Front, examine: Callable[..., Look]) -> None:
    """Every request of a look is one that only reads; there is no other."""
    look = examine(table_bucket=NEVER)
    assert look.denials == ()
    assert [call for call in before.seen if not call[1].startswith(READING)] == []
    assert len(before.seen) > 20


def test_trying_to_write_changes_no_state(before: Front, examine: Callable[..., Look]) -> None:
    """With `writing`, an update of an item that is not there is tried: DynamoDB checks the right, and does nothing."""
    examine(places=(), glue=None, writing=True)
    assert [call for call in before.seen if not call[1].startswith(READING)] == [("dynamodb", "UpdateItem")]
    with client("dynamodb", before.address) as dynamodb:
        assert dynamodb.scan(TableName=STATE)["Items"] == []


def test_trying_to_write_leaves_no_file() -> None:
    """With `writing`, a part for an upload that does not exist is tried: it goes nowhere, and no upload is begun."""
    real = servers.s3()
    keys = Keys(real.access, real.secret)
    folder = f"examined-{uuid.uuid4().hex}"
    with client("s3", real.endpoint, keys) as s3:
        s3.put_object(Bucket=real.name, Key=f"{folder}/a", Body=b"x")
        sessions = Sessions(AwsSettings(region=REGION, keys=keys, endpoints={"s3": real.endpoint}, path_style=True))
        (look,) = examining.examine(sessions, Wanted(((real.name, folder),), writing=True)).buckets
        sessions.close()
        assert look.written is not None
        assert look.written.known
        assert [each["Key"] for each in s3.list_objects_v2(Bucket=real.name, Prefix=folder)["Contents"]] == [
            f"{folder}/a"
        ]
        assert not s3.list_multipart_uploads(Bucket=real.name, Prefix=folder).get("Uploads")


def test_a_right_to_write_that_is_missing_is_named(before: Front, examine: Callable[..., Look]) -> None:
    """A refused part is the right to put files that is missing; no such upload, as AWS answers, that it is there."""
    before.answers["s3", "UploadPart"] = Fault("NoSuchUpload", "The specified upload does not exist.", 404)
    look = examine(glue=None, state_table=None, writing=True)
    assert look.buckets[0].written is not None
    assert look.buckets[0].written.known
    before.deny("s3", "UploadPart")
    assert [each.action for each in examine(glue=None, state_table=None, writing=True).denials] == ["s3:PutObject"]


def test_every_right_of_looking_is_tried(before: Front, examine: Callable[..., Look]) -> None:
    """Of S3, Glue and DynamoDB, each action that looking needs is asked for once."""
    examine()
    tried = {action for call in before.seen for action in rights.actions_of(*call)}
    needed = {
        right.action
        for right in rights.RIGHTS
        if right.purpose == rights.LOOK and right.service in {"s3", "glue", "dynamodb"}
    }
    assert needed <= tried


NOTHING: dict[str, Any] = {"places": (), "glue": None, "state_table": None}
ONLY: dict[str, dict[str, Any]] = {
    "s3": {"glue": None, "state_table": None},
    "kms": {"glue": None, "state_table": None},
    "glue": {"places": (), "state_table": None},
    "lakeformation": {"places": (), "state_table": None},
    "dynamodb": {"places": (), "glue": None},
    "sts": NOTHING,
}
CALLS = sorted(
    (right.service, right.operation, right.action)
    for right in rights.RIGHTS
    if right.service in ONLY
    and right.purpose in {rights.LOOK, rights.EXAMINE}
    and right.action != "kms:Decrypt"
    and right.operation not in {"HeadObject", "GetTableVersions"}  # not asked; asked of busy tables only
)


@pytest.mark.parametrize(("service", "operation", "action"), CALLS)
def test_a_missing_right_is_named(
    before: Front, examine: Callable[..., Look], service: str, operation: str, action: str
) -> None:
    """A call that is refused shows up as its IAM action, on what it was asked of, and hides nothing else."""
    before.deny(service, operation)
    look = examine(**ONLY[service])
    assert {each.action for each in look.denials} == {action}
    assert all(each.resource for each in look.denials)


def test_what_aws_names_is_believed(before: Front, examine: Callable[..., Look]) -> None:
    """A file that may be read and not decrypted lacks the key's right, not S3's."""
    said = "User: arn:aws:iam::1:user/u is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:x:1:key/k"
    before.deny("s3", "GetObject", said)
    (denial,) = examine(**ONLY["s3"]).denials
    assert denial.action == "kms:Decrypt"
    assert denial.message == said


@pytest.mark.parametrize("minutes", [-10, -3, 0, 3, 10])
def test_the_clocks_are_compared(before: Front, examine: Callable[..., Look], minutes: int) -> None:
    """How far we are ahead is what any answer, a refusal too, shows: to a few seconds."""
    before.ahead = timedelta(minutes=minutes)
    before.deny("s3", "GetBucketLocation")
    found = examine(**ONLY["s3"]).skew_seconds
    assert found is not None
    assert abs(found + minutes * 60) < 10


@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidClientTokenId", "SignatureDoesNotMatch"])
def test_bad_credentials_end_the_look(before: Front, examine: Callable[..., Look], code: str) -> None:
    """Once AWS does not take the credentials nothing more is asked, and the clock is told all the same."""
    before.answers["sts", "GetCallerIdentity"] = Fault(code, "no", 403)
    look = examine()
    assert look.caller.failed is not None
    assert before.seen == [("sts", "GetCallerIdentity")]
    assert look.skew_seconds is not None


@pytest.mark.parametrize("fault", [Fault("InternalFailure", "no", 500), Fault("Throttling", "no", 429)])
def test_an_sts_that_fails_hides_nothing(before: Front, examine: Callable[..., Look], fault: Fault) -> None:
    """Who we are is unknown then, and everything else is looked at."""
    before.answers["sts", "GetCallerIdentity"] = fault
    look = examine()
    assert look.caller.failed is not None
    assert look.buckets[0].listed.known
    assert look.glue is not None
    assert look.glue.tables.value == 1
    assert look.state is not None
    assert look.state.value == "ACTIVE"


@pytest.mark.parametrize(("role", "seen"), [(None, True), ("arn:aws:iam::123456789012:role/r", False)])
def test_a_network_without_sts(before: Front, role: str | None, *, seen: bool) -> None:
    """Where nobody listens for STS the state is seen by keys, and nothing by a role: its keys would come from there."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = f"http://127.0.0.1:{gone.getsockname()[1]}"
    endpoints = {"sts": nobody, "dynamodb": before.address}
    sessions = Sessions(replace(SETTINGS, endpoints=endpoints, role=role))
    look = examining.examine(sessions, Wanted(state_table=STATE))
    sessions.close()
    assert look.caller.failed == f"{nobody} cannot be reached."
    assert (look.state is not None) == bool(before.seen) == seen


def test_without_credentials_nothing_is_asked(before: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody signs is not sent."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    sessions = Sessions(AwsSettings(region=REGION, tries=1))
    look = examining.examine(sessions, Wanted(((BUCKET, "lake"),)))
    sessions.close()
    assert look.caller.failed is not None
    assert look.caller.failed.startswith("There are no AWS credentials.")
    assert (look.buckets, before.seen) == ((), [])


def test_a_bucket_that_is_not_there_is_asked_once(before: Front, examine: Callable[..., Look]) -> None:
    """Nothing is asked of a bucket that does not exist."""
    look = examine(places=(("never-made-bucket", "lake"),), glue=None, state_table=None)
    assert look.buckets[0].region.failed == "There is no bucket never-made-bucket."
    assert len(before.seen) == 2


def test_other_servers_are_shown_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an endpoint of one's own, services of AWS that have none there are not asked."""
    upstream = servers.stock_aws().endpoint
    with front(upstream) as amazon, front(upstream) as own:
        monkeypatch.setenv("AWS_ENDPOINT_URL", amazon.address)
        endpoints = {"s3": own.address, "glue": own.address, "dynamodb": own.address}
        settings = AwsSettings(region=REGION, keys=SETTINGS.keys, tries=1, endpoints=endpoints, kms_key="k")
        sessions = Sessions(settings)
        look = examining.examine(sessions, Wanted(((BUCKET, "lake"),), GlueEndpoint(settings), state_table=STATE))
        sessions.close()
        assert amazon.seen == []
        assert own.seen
    assert not look.of_aws
    assert look.glue is not None
    assert not look.glue.lake_formation.known


def busy(version: int, *, registered: bool = False) -> dict[str, Any]:
    """A page with one table at this version."""
    table = {"Name": "busy", "DatabaseName": "shop", "VersionId": str(version)}
    return {"TableList": [table | {"IsRegisteredWithLakeFormation": registered}]}


def test_versions_are_counted_within_bounds(before: Front, examine: Callable[..., Look]) -> None:
    """Of a busy table at most so many pages are asked for; what is told is at least, and at most."""
    before.answers["glue", "GetTables"] = busy(95_000, registered=True)
    before.answers["glue", "GetTableVersions"] = {"TableVersions": [{}] * 100, "NextToken": "more"}
    glue = examine(**ONLY["glue"]).glue
    assert glue is not None
    (versions,) = glue.most
    assert (versions.table, versions.made, versions.kept.value, versions.more) == ("shop.busy", 95_001, 300, True)
    assert before.seen.count(("glue", "GetTableVersions")) == catalog_looks.VERSION_PAGES_MAX
    assert glue.registered == ("shop.busy",)


def test_a_catalog_that_is_not_there_is_said(before: Front, examine: Callable[..., Look]) -> None:
    """A wrong `glue.id` is told as one."""
    before.answers["glue", "GetDatabases"] = Fault("EntityNotFoundException", "Catalog not found.", 400)
    glue = examine(**ONLY["glue"]).glue
    assert glue is not None
    assert glue.tables.failed == "There is no such catalog."


def test_an_endless_catalog_is_bounded(before: Front, examine: Callable[..., Look]) -> None:
    """However many pages of tables there are, so many are read, and the look says it is not whole."""
    before.answers["glue", "GetTables"] = busy(1) | {"NextToken": "more"}
    glue = examine(**ONLY["glue"]).glue
    assert glue is not None
    assert not glue.whole
    assert before.seen.count(("glue", "GetTables")) == catalog_looks.PAGES_MAX


def test_a_quiet_table_is_not_counted(before: Front, examine: Callable[..., Look]) -> None:
    """Versions are numbered: a low number needs no counting."""
    before.answers["glue", "GetTables"] = busy(catalog_looks.VERSIONS_OF_INTEREST - 2)
    examine(**ONLY["glue"])
    assert ("glue", "GetTableVersions") not in before.seen
