"""What doctor makes of what it sees on AWS: decision tables, and the whole way against a server that has each state."""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from firnline.adapters.aws.looks import (
    BucketLook,
    Caller,
    Denial,
    Encryption,
    Events,
    GlueLook,
    LakeFormation,
    Said,
    Versions,
)
from firnline.adapters.aws.looks import LifecycleRule as Rule
from firnline.adapters.aws.looks import PolicyStatement as Statement
from firnline.config.aws import AwsSettings
from firnline.config.endpoints import GlueEndpoint
from firnline.lakehouse import cloud_buckets, cloud_checks, cloud_lifecycle, cloud_policies
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check
from firnline.lakehouse.cloud_buckets import Ours
from firnline.lakehouse.cloud_lifecycle import DOUBT, HARM
from firnline.lakehouse.cloud_policies import ALWAYS, READING, SOMETIMES, UNENCRYPTED, WRITING, Us
from firnline.lakehouse.opening import Lakehouse
from tests import servers
from tests.aws_faults import Fault, Front, front

REGION = "eu-west-1"
AGE: Mapping[str, Any] = {"id": "old", "enabled": True, "expires": "after 30 days"}
DELETES = {"s3.delete.tags.gone": "yes"}
WRITES = {"s3.write.tags.team": "shop", "s3.write.tags.kind": "lake"}


@pytest.mark.parametrize(
    ("rule", "properties", "weight"),
    [
        (Rule(**AGE), {}, HARM),  # an empty filter is all of the bucket
        (Rule(**AGE, prefix="lake/"), {}, HARM),
        (Rule(**AGE, prefix="lake"), {}, HARM),
        (Rule(**AGE, prefix="la"), {}, HARM),  # a prefix is no folder
        (Rule(**AGE, prefix="lake/tmp/"), {}, HARM),
        (Rule(**AGE, prefix="lakes"), {}, None),
        (Rule(**AGE, prefix="logs/"), {}, None),
        (replace(Rule(**AGE), enabled=False), {}, None),
        (Rule("delete markers", enabled=True), {}, None),  # ExpiredObjectDeleteMarker alone
        (Rule("noncurrent", enabled=True, noncurrent_expires="after 1 days"), {}, None),
        (Rule("uploads", enabled=True, aborts_days=1), {}, None),
        (Rule(**AGE, larger=1_000_000), {}, HARM),
        (Rule(**AGE, smaller=1_000_000), {}, HARM),
        (Rule(**AGE, larger=10, smaller=11), {}, None),  # no size is both
        (Rule(**AGE, larger=10, smaller=12), {}, HARM),
        (Rule(**AGE, tags={"gone": "yes"}), DELETES, None),  # what S3FileIO marks instead of deleting
        (Rule(**AGE, tags={"gone": "no"}), DELETES, DOUBT),
        (Rule(**AGE, tags={"team": "shop"}), WRITES, HARM),
        (Rule(**AGE, tags={"team": "shop", "kind": "lake"}), WRITES, HARM),
        (Rule(**AGE, tags={"team": "shop", "kind": "other"}), WRITES, DOUBT),  # both must be there
        (Rule(**AGE, tags={"iceberg.table": "t"}), {}, HARM),
        (Rule(**AGE, tags={"temporary": "1"}), {}, DOUBT),
        (Rule("cold", enabled=True, moves=(("GLACIER", "after 90 days"),)), {}, HARM),
        (Rule("cold", enabled=True, moves=(("DEEP_ARCHIVE", "on 2027-01-01"),)), {}, HARM),
        (Rule("cool", enabled=True, moves=(("STANDARD_IA", "after 30 days"),)), {}, DOUBT),
        (Rule("cool", enabled=True, moves=(("GLACIER_IR", "after 30 days"),)), {}, DOUBT),
        (Rule("tiers", enabled=True, moves=(("INTELLIGENT_TIERING", "after 0 days"),)), {}, None),
    ],
)
def test_lifecycle_rules(rule: Rule, properties: Mapping[str, str], weight: str | None) -> None:
    """A rule harms tables when it takes current files under their folder, whoever they belong to."""
    found = [each.weight for each in cloud_lifecycle.effects(rule, "lake", properties)]
    assert found == ([] if weight is None else [weight])


def test_of_a_whole_bucket_every_prefix_is_inside() -> None:
    """Where the warehouse is the bucket, a rule for any folder of it takes tables."""
    assert cloud_lifecycle.reaches(Rule(**AGE, prefix="logs/"), "")


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (Rule("all", enabled=True, noncurrent_expires="after 7 days"), True),
        (Rule("all", enabled=True, noncurrent_expires="after 7 days", prefix="lake"), True),
        (Rule("part", enabled=True, noncurrent_expires="after 7 days", prefix="lake/shop/"), False),
        (Rule("off", enabled=False, noncurrent_expires="after 7 days"), False),
        (Rule("tagged", enabled=True, noncurrent_expires="after 7 days", tags={"a": "b"}), False),
        (Rule(**AGE), False),
    ],
)
def test_old_versions_go_by_a_rule_for_all(rule: Rule, kept: bool) -> None:
    """Only an enabled rule for every file under the folder keeps old versions from staying."""
    assert cloud_lifecycle.keeps_no_old_versions((rule,), "lake") is kept


ACCOUNT = "123456789012"
ARN = f"arn:aws:sts::{ACCOUNT}:assumed-role/lake-reader/session"
US = Us("b", "lake", ACCOUNT, ARN, (*READING, *WRITING))
DENY = Statement("deny", "Deny", ("*",), ("s3:*",), ("arn:aws:s3:::b", "arn:aws:s3:::b/*"), {})


def only_if(operator: str, key: str, *values: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """A condition."""
    return {operator: {key: values}}


@pytest.mark.parametrize(
    ("statement", "us", "kind"),
    [
        (DENY, US, ALWAYS),
        (replace(DENY, effect="Allow"), US, None),
        (replace(DENY, condition=only_if("Bool", "aws:SecureTransport", "false")), US, None),
        (replace(DENY, condition=only_if("NumericLessThan", "s3:TlsVersion", "1.2")), US, None),
        (replace(DENY, condition=only_if("StringNotEquals", "aws:SourceVpce", "vpce-1")), US, SOMETIMES),
        (replace(DENY, actions=("s3:PutBucketPolicy",)), US, None),
        (replace(DENY, actions=("s3:Get*",)), US, ALWAYS),
        (replace(DENY, actions=("s3:get*",)), US, ALWAYS),  # case does not count
        (replace(DENY, actions=("!s3:Get*", "!s3:Put*", "!s3:List*", "!s3:Delete*")), US, None),
        (replace(DENY, actions=("!s3:Get*",)), US, ALWAYS),
        (replace(DENY, principals=("arn:aws:iam::999999999999:root",)), US, None),
        (replace(DENY, principals=(f"arn:aws:iam::{ACCOUNT}:root",)), US, ALWAYS),
        (replace(DENY, principals=(f"arn:aws:iam::{ACCOUNT}:role/lake-reader",)), US, ALWAYS),
        (replace(DENY, principals=(f"arn:aws:iam::{ACCOUNT}:role/other",)), US, None),
        (replace(DENY, principals=(f"!arn:aws:iam::{ACCOUNT}:role/lake-reader",)), US, None),
        (replace(DENY, principals=(f"!arn:aws:iam::{ACCOUNT}:role/other",)), US, ALWAYS),
        (replace(DENY, resources=("arn:aws:s3:::b/private/*",)), US, None),
        (replace(DENY, resources=("arn:aws:s3:::b/lake/shop/*",)), US, ALWAYS),
        (replace(DENY, resources=("!arn:aws:s3:::b/lake/*",)), US, None),
        (replace(DENY, resources=("!arn:aws:s3:::b/public/*",)), US, ALWAYS),
        (DENY, replace(US, actions=READING, shown=frozenset(READING)), None),  # it is seen to work
        (DENY, replace(US, shown=frozenset(READING)), ALWAYS),
    ],
)
def test_bucket_policies(statement: Statement, us: Us, kind: str | None) -> None:
    """A statement is in the way when it refuses us something we need and have not just seen to work."""
    assert [each.kind for each in cloud_policies.refusals((statement,), us)] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("sse", "kind"), [(None, UNENCRYPTED), ("s3", UNENCRYPTED), ("kms", None), ("dsse-kms", UNENCRYPTED)]
)
def test_a_policy_that_wants_encryption(sse: str | None, kind: str | None) -> None:
    """What must come encrypted is in the way of a writer that does not say so."""
    wants = only_if("StringNotEquals", "s3:x-amz-server-side-encryption", "aws:kms")
    statement = replace(DENY, actions=("s3:PutObject",), condition=wants)
    found = [each.kind for each in cloud_policies.refusals((statement,), replace(US, sse=sse))]
    assert found == ([] if kind is None else [kind])


FIT = BucketLook(
    "b", "lake", Said(REGION), Said(cloud_buckets.SWITCHES), Said("Enabled"), Said(Encryption("AES256")), {},
    Said(Events(event_bridge=True, others=0, existing='{"EventBridgeConfiguration": {}}')),
    Said((Rule("versions", enabled=True, noncurrent_expires="after 14 days"),)), Said(()), Said(True), Said(True),
)  # fmt: skip
OURS = Ours(REGION, of_aws=True, may_write=True, properties={}, caller=Caller(ACCOUNT, ARN))
PUBLIC = Statement("open", "Allow", ("*",), ("s3:GetObject",), ("arn:aws:s3:::b/*",), {})


def judged(look: BucketLook, ours: Ours = OURS) -> dict[str, Check]:
    """The checks that are not simply fine, by their names."""
    return {each.name.partition(": ")[2]: each for each in cloud_buckets.checks(look, ours) if each.state != OK}


def test_a_fit_bucket_has_no_finding() -> None:
    """Blocked, versioned with an end, encrypted, told of, and with nothing that deletes."""
    assert judged(FIT) == {}


@pytest.mark.parametrize(
    ("changed", "name", "state", "fix"),
    [
        ({"region": Said("us-east-1")}, "", PROBLEM, "Set `region: us-east-1`"),
        ({"block": Said(("BlockPublicAcls",))}, "public access", WARNING, "put-public-access-block --bucket b"),
        ({"block": Said(denied="s3:GetBucketPublicAccessBlock")}, "public access", NOT_CHECKED, "iam-policy"),
        ({"block": Said(), "policy": Said((PUBLIC,))}, "public access", PROBLEM, "put-public-access-block"),
        ({"versioning": Said()}, "versioning", WARNING, "put-bucket-versioning --bucket b"),
        ({"versioning": Said("Suspended")}, "versioning", WARNING, "Status=Enabled"),
        ({"lifecycle": Said()}, "versioning", WARNING, "NoncurrentVersionExpiration"),
        ({"lifecycle": Said((Rule(**AGE),)), "versioning": Said()}, "lifecycle", PROBLEM, "get-bucket-lifecycle"),
        ({"lifecycle": Said(denied="s3:GetLifecycleConfiguration")}, "lifecycle", NOT_CHECKED, "iam-policy"),
        ({"encryption": Said()}, "encryption", WARNING, "put-bucket-encryption --bucket b"),
        ({"keys": {"k": Said("Disabled")}}, "encryption", PROBLEM, "aws kms enable-key --key-id k"),
        ({"keys": {"k": Said("PendingDeletion")}}, "encryption", PROBLEM, "aws kms cancel-key-deletion --key-id k"),
        ({"keys": {"k": Said()}}, "encryption", PROBLEM, "aws kms describe-key --key-id k"),
        ({"keys": {"k": Said(denied="kms:DescribeKey")}, "read": None}, "encryption", NOT_CHECKED, "iam-policy"),
        ({"policy": Said((DENY,))}, "policy", PROBLEM, "Have its owner"),
        ({"events": Said(denied="s3:GetBucketNotification")}, "events", NOT_CHECKED, "iam-policy"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_bucket(changed: Mapping[str, Any], name: str, state: str, fix: str) -> None:
    """Each fault is found, with its weight and what to type."""
    check = judged(replace(FIT, **changed))[name]
    assert check.state == state
    assert fix in (check.fix or "")


def test_a_bucket_of_ones_own_server_is_its_owners_affair() -> None:
    """Away from AWS only what breaks tables is told: lifecycle rules, and refusals."""
    bare = BucketLook("b", "lake", Said(), listed=Said(True), lifecycle=Said((Rule(**AGE),)))
    assert list(judged(bare, replace(OURS, of_aws=False))) == ["lifecycle"]


def test_a_key_that_was_just_used_needs_no_asking() -> None:
    """Where a file was read, the key it is encrypted with can be used, whether it may be described or not."""
    assert judged(replace(FIT, keys={"k": Said(denied="kms:DescribeKey")})) == {}


def test_the_event_command_keeps_what_is_there() -> None:
    """A put of the notification configuration replaces it: the fix has every receiver there is, and ours."""
    there = {"QueueConfigurations": [{"Id": "it's", "QueueArn": "arn:aws:sqs:x:1:q", "Events": ["s3:ObjectCreated:*"]}]}
    look = replace(FIT, events=Said(Events(event_bridge=False, others=1, existing=json.dumps(there))))
    check = judged(look)["events"]
    assert check.fix is not None
    words = shlex.split(check.fix.partition(" This put")[0])
    assert words[:3] == ["aws", "s3api", "put-bucket-notification-configuration"]
    assert json.loads(words[-1]) == {**there, "EventBridgeConfiguration": {}}
    assert judged(look, replace(OURS, may_write=False)) == {}


GLUE = GlueEndpoint(AwsSettings())
QUIET = GlueLook(Said(3), lake_formation=Said(LakeFormation(iam_alone=True, admins=())))
FULL = Versions("shop.t", 95_000, Said(300), more=True)


def of_glue(look: GlueLook, endpoint: GlueEndpoint = GLUE, grants: tuple[Denial, ...] = ()) -> list[tuple[str, str]]:
    """What is not simply fine: the check and its state."""
    found = cloud_checks.of_glue("glue lake", look, endpoint, grants)
    return [(each.name.partition(": ")[2], each.state) for each in found if each.state != OK]


@pytest.mark.parametrize(
    ("look", "endpoint", "expected"),
    [
        (QUIET, GLUE, []),
        (replace(QUIET, most=(FULL,)), GLUE, [("versions", PROBLEM)]),
        (replace(QUIET, most=(replace(FULL, made=60_000),)), GLUE, [("versions", WARNING)]),
        (replace(QUIET, most=(replace(FULL, made=49_000),)), GLUE, []),
        (replace(QUIET, most=(replace(FULL, more=False, kept=Said(3)),)), GLUE, []),  # numbered high, kept few
        (replace(QUIET, most=(replace(FULL, kept=Said(denied="x"), more=False),)), GLUE, [("versions", NOT_CHECKED)]),
        (replace(QUIET, made=600_000, most=(replace(FULL, made=40_000),)), GLUE, [("versions", WARNING)]),
        (QUIET, replace(GLUE, skip_archive=False), [("versions", WARNING)]),
        (replace(QUIET, registered=("shop.t",)), GLUE, [("lake formation", WARNING)]),
        (
            replace(QUIET, lake_formation=Said(LakeFormation(iam_alone=False, admins=()))),
            GLUE,
            [("lake formation", WARNING)],
        ),
        (replace(QUIET, lake_formation=Said(denied="x")), GLUE, [("lake formation", NOT_CHECKED)]),
        (replace(QUIET, refused=("closed",)), GLUE, [("", WARNING)]),
        (replace(QUIET, tables=Said(failed="down")), GLUE, [("", PROBLEM)]),
    ],
)
def test_what_is_wrong_with_a_glue_catalog(
    look: GlueLook, endpoint: GlueEndpoint, expected: list[tuple[str, str]]
) -> None:
    """Versions near the limit, or on their way there; Lake Formation beside IAM; databases that may not be listed."""
    assert of_glue(look, endpoint) == expected


def test_a_refusal_of_lake_formation_is_none_of_iam() -> None:
    """It is a problem of its own, whose fix is a grant."""
    refusal = Denial("glue:GetTable", "the table shop.t", "Insufficient Lake Formation permission(s): Describe on t")
    assert of_glue(QUIET, grants=(refusal,)) == [("lake formation", PROBLEM)]


# ------------------------------------------------------------------------------------------------------ the whole way


YAML = """
version: 1
name: shop
environments:
  prod:
    access: {access}
    catalogs:
      lake:
        {{type: glue, region: {region}, warehouse: "s3://{bucket}/lake", tries: "1",
         s3.access-key-id: "${{env:THE_ID}}", s3.secret-access-key: "${{env:THE_KEY}}"}}
    state: {{type: dynamodb, region: {region}, s3.access-key-id: "${{env:THE_ID}}", tries: "1",
             s3.secret-access-key: "${{env:THE_KEY}}"}}
"""
SECRET = "hunter2-and-more"


@pytest.fixture(scope="module")
def made() -> Iterator[Front]:
    """moto behind a server that answers some calls itself; every service of AWS is found there."""
    with front(servers.stock_aws().endpoint) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", server.address)
        patch.setenv("THE_ID", "examiner")
        patch.setenv("THE_KEY", SECRET)
        yield server


@pytest.fixture
def before(made: Front) -> Front:
    """The server in front, with no faults yet."""
    made.answers.clear()
    made.seen.clear()
    made.ahead = timedelta()
    return made


@pytest.fixture
def s3(made: Front) -> Iterator[Any]:
    """A plain client of it, to put buckets into a state."""
    given = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    client = boto3.client("s3", region_name=REGION, endpoint_url=made.address, **given)
    yield client
    client.close()


@pytest.fixture
def bucket(s3: Any) -> str:
    """A new bucket."""
    name = f"checked-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return name


def test_a_state_that_is_there_is_asked(tmp_path: Path, before: Front) -> None:
    """One that is there is told with its region; its rights are asked for on it."""
    dynamodb = boto3.client(
        "dynamodb", region_name=REGION, endpoint_url=before.address, aws_access_key_id="a", aws_secret_access_key="b"
    )
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in (("pk", "HASH"), ("sk", "RANGE"))]
    kinds = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
    dynamodb.create_table(TableName="kept", KeySchema=keys, AttributeDefinitions=kinds, BillingMode="PAY_PER_REQUEST")
    dynamodb.close()
    text = YAML.format(access="write", region=REGION, bucket="b").replace(
        "type: dynamodb,", "type: dynamodb, table: kept,"
    )
    (tmp_path / "lakehouse.yaml").write_text(text)
    before.deny("dynamodb", "UpdateItem")
    state, rights = cloud_checks.state_checks(Lakehouse.open(tmp_path))
    assert (state.state, state.text) == (OK, f"DynamoDB, ACTIVE, in {REGION}")
    assert rights.text == "Missing: dynamodb:UpdateItem on DynamoDB table kept."


@pytest.fixture
def looked(tmp_path: Path, before: Front, bucket: str) -> Callable[..., dict[str, Check]]:
    """The checks of a project whose warehouse is that bucket, by name."""
    before.seen.clear()

    def look(access: str = "read", region: str = REGION) -> dict[str, Check]:
        (tmp_path / "lakehouse.yaml").write_text(YAML.format(access=access, region=region, bucket=bucket))
        lakehouse = Lakehouse.open(tmp_path)
        checks = [*cloud_checks.checks(lakehouse), *cloud_checks.state_checks(lakehouse)]
        lakehouse.storage.sessions.close()
        assert SECRET not in str(checks)
        return {each.name.replace(bucket, "B"): each for each in checks}

    return look


def test_region_and_account_are_shown(looked: Callable[..., dict[str, Check]], before: Front) -> None:
    """Whose credentials these are and where they are used comes first; the secret never."""
    found = looked()
    first = next(iter(found.values()))
    assert first.name == "aws lake"
    assert f"account {before.account}, region eu-west-1, as arn:aws:" in first.text


def test_states_of_a_bucket_are_told(
    looked: Callable[..., dict[str, Check]], before: Front, s3: Any, bucket: str
) -> None:
    """What a bucket is set to, by its own API, is what doctor says."""
    found = looked()
    assert found["bucket B: lifecycle"].text == "no rules"
    assert found["bucket B: versioning"].state == WARNING
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.put_public_access_block(
        Bucket=bucket, PublicAccessBlockConfiguration=dict.fromkeys(cloud_buckets.SWITCHES, True)
    )
    expire = {"Status": "Enabled", "Expiration": {"Days": 30}}
    both = {"Prefix": "lake/", "Tags": [{"Key": "tmp", "Value": "1"}], "ObjectSizeGreaterThan": 5}
    rules = [
        {"ID": "tagged", "Filter": {"And": both}, **expire},
        {"ID": "legacy", "Prefix": "lake/shop/", **expire},
        {"ID": "elsewhere", "Filter": {"Prefix": "logs/"}, **expire},
        {"ID": "old", "Filter": {}, "Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": 3}},
    ]
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": f"arn:aws:s3:::{bucket}/*"}
    tls = deny | {"Sid": "tls", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [tls]}))
    xml = "<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>"
    before.answers["s3", "GetBucketNotificationConfiguration"] = xml.encode()  # moto keeps it and does not tell
    found = looked()
    assert found["bucket B: versioning"].text == "on"
    assert found["bucket B: public access"].text == "blocked"
    assert found["bucket B: policy"].text == "refuses nothing we need"
    assert found["bucket B: events"].text == "EventBridge"
    lifecycle = found["bucket B: lifecycle"]
    assert lifecycle.state == PROBLEM
    assert "'legacy' deletes files under lake/shop/ after 30 days" in lifecycle.text


def test_a_bucket_elsewhere_is_told(looked: Callable[..., dict[str, Check]]) -> None:
    """Its region is not ours: every other engine would fail."""
    check = looked(region="eu-central-1")["bucket B"]
    assert check.state == PROBLEM
    assert check.fix == f"Set `region: {REGION}` of the catalog."


def test_a_bucket_that_is_gone_is_the_only_thing_told_of_it(
    looked: Callable[..., dict[str, Check]], s3: Any, bucket: str
) -> None:
    """Of a bucket that does not exist there is nothing else to say, and rights on it are not known."""
    s3.delete_bucket(Bucket=bucket)
    found = looked()
    assert [(name, found[name].state) for name in found if name.startswith("bucket")] == [("bucket B", PROBLEM)]
    assert found["rights lake"].state == NOT_CHECKED


def test_missing_rights_are_named(looked: Callable[..., dict[str, Check]], before: Front) -> None:
    """Those that looking needs are a problem, with the command that writes the policy; the others a warning."""
    before.deny("s3", "GetBucketPolicy")
    rights = looked()["rights lake"]
    assert (rights.state, rights.text.count("s3:")) == (WARNING, 2)
    before.deny("glue", "GetDatabases")
    rights = looked()["rights lake"]
    assert rights.state == PROBLEM
    assert "glue:GetDatabases on the databases of the catalog" in rights.text
    assert rights.fix == "Attach what `firnline iam-policy --env prod --for look` prints."


def test_a_skewed_clock_is_told(looked: Callable[..., dict[str, Check]], before: Front) -> None:
    """From a minute on it is a warning, from five minutes on the reason why nothing works."""
    assert looked()["aws lake: clock"].state == OK
    before.ahead = timedelta(minutes=2)
    assert looked()["aws lake: clock"].state == WARNING
    before.ahead = timedelta(minutes=-20)
    before.answers["sts", "GetCallerIdentity"] = Fault("SignatureDoesNotMatch", "Signature expired: now")
    found = looked()
    assert list(found)[:2] == ["aws lake", "aws lake: clock"]
    assert found["aws lake"].state == PROBLEM
    assert "ahead of the servers" in found["aws lake: clock"].text


def test_lake_formation_in_the_way(looked: Callable[..., dict[str, Check]], before: Front) -> None:
    """A refusal of Lake Formation is told as one, and not as a missing right of IAM."""
    said = "Insufficient Lake Formation permission(s): Required Describe on Catalog"
    before.answers["glue", "GetDatabases"] = Fault("AccessDeniedException", said, 400)
    found = looked()
    assert found["glue lake: lake formation"].state == PROBLEM
    assert found["rights lake"].state == OK


def test_a_state_that_is_not_there_is_no_fault(looked: Callable[..., dict[str, Check]]) -> None:
    """The first run makes it; with access: read nothing does."""
    assert looked(access="write")["state firnline"].text.endswith("the first run makes it.")
    check = looked(access="read")["state firnline"]
    assert (check.state, check.text.endswith("does not make it.")) == (OK, True)


def test_nothing_is_asked_of_an_environment_without_aws(tmp_path: Path, before: Front) -> None:
    """An embedded catalog has nothing to check here."""
    text = "version: 1\nname: shop\nenvironments: {local: {catalogs: {lake: {type: sqlite}}}}\n"
    (tmp_path / "lakehouse.yaml").write_text(text)
    lakehouse = Lakehouse.open(tmp_path)
    assert [*cloud_checks.checks(lakehouse), *cloud_checks.state_checks(lakehouse)] == []
    assert before.seen == []
