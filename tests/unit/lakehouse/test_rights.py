"""The policy of an environment: its ARNs and conditions, and that a server which enforces it takes the right calls."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.exceptions import ClientError

from firnline.adapters.aws import examining
from firnline.adapters.aws.examining import Wanted
from firnline.adapters.aws.glue_pointers import GluePointers
from firnline.adapters.aws.s3_store import S3Store
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.state_table import StateTable
from firnline.config import lakehouse
from firnline.config.aws import AwsSettings, Keys
from firnline.config.endpoints import GlueEndpoint
from firnline.config.values import CatalogSettings, Environment, LakehouseSettings
from firnline.core.errors import BadInput
from firnline.lakehouse import rights
from firnline.lakehouse.rights import Place
from tests import servers

HEAD = "version: 1\nname: shop\nenvironments:\n"
PROD = (
    '  prod: {access: read, catalogs: {lake: {type: glue, region: ap-south-1, warehouse: "s3://lake-prod/warehouse"}},'
    " state: {type: dynamodb, region: ap-south-1, table: lake-state}}\n"
)
ARN = "arn:aws:s3tables:eu-west-1:123456789012:bucket/tables"


def settings(folder: Path, environment: str, more: str = "") -> LakehouseSettings:
    """A project of one environment."""
    (folder / "lakehouse.yaml").write_text(HEAD + environment + more)
    return lakehouse.load(folder, None, {})


def statements(found: rights.Policy) -> dict[str, Any]:
    """The statements by their names."""
    return {each["Sid"]: each for each in found.document["Statement"]}


def actions(found: rights.Policy) -> set[str]:
    """Everything that is allowed."""
    return {action for each in found.document["Statement"] for action in each["Action"]}


def test_statements_are_about_what_is_declared(tmp_path: Path) -> None:
    """Bucket, folder, catalog and state by their ARNs; listing below the warehouse only."""
    found = statements(rights.policy(settings(tmp_path, PROD), "look", "123456789012"))
    assert found["Bucket"]["Resource"] == ["arn:aws:s3:::lake-prod"]
    assert found["Files"]["Resource"] == ["arn:aws:s3:::lake-prod/warehouse/*"]
    assert found["Listing"]["Condition"] == {"StringLike": {"s3:prefix": ["warehouse", "warehouse/*"]}}
    assert found["State"]["Resource"] == ["arn:aws:dynamodb:ap-south-1:123456789012:table/lake-state"]
    names = ("catalog", "database/*", "table/*/*")
    assert found["Catalog"]["Resource"] == [f"arn:aws:glue:ap-south-1:123456789012:{name}" for name in names]


def test_looking_allows_no_write(tmp_path: Path) -> None:
    """Every action of `look` reads; operating allows all of them, and more."""
    here = settings(tmp_path, PROD)
    look, operate = actions(rights.policy(here, "look")), actions(rights.policy(here, "operate"))
    starts = ("Get", "List", "Describe", "Query", "BatchGet")
    assert [each for each in look if not each.partition(":")[2].startswith(starts)] == []
    assert look < operate
    assert {"s3:PutObject", "glue:UpdateTable", "dynamodb:UpdateItem"} <= operate


def test_a_policy_is_the_same_every_time(tmp_path: Path) -> None:
    """Nothing in it depends on order, time or the machine; it fits into one managed policy."""
    here = settings(tmp_path, PROD)
    first, second = (json.dumps(rights.policy(here, "operate").document) for _ in range(2))
    assert first == second
    assert len(first) < rights.POLICY_CHARACTERS_MAX


@pytest.mark.parametrize(
    ("key", "resource", "condition"),
    [
        ("arn:aws:kms:eu-west-1:1:key/k", "arn:aws:kms:eu-west-1:1:key/k", None),
        ("1234-abcd", "arn:aws:kms:ap-south-1:*:key/1234-abcd", None),
        ("alias/lake", "arn:aws:kms:ap-south-1:*:key/*", ["alias/lake"]),
        ("arn:aws:kms:ap-south-1:1:alias/lake", "arn:aws:kms:ap-south-1:*:key/*", ["alias/lake"]),
    ],
)
def test_keys(tmp_path: Path, key: str, resource: str, condition: list[str] | None) -> None:
    """A key is allowed through S3 only, by its id; an alias is a condition, since IAM knows keys by id."""
    here = settings(
        tmp_path, PROD.replace("region: ap-south-1, ware", f'region: ap-south-1, s3.sse.key: "{key}", ware')
    )
    found = statements(rights.policy(here, "operate"))["Key"]
    assert found["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert found["Resource"] == [resource]
    assert found["Condition"]["StringLike"] == {"kms:ViaService": ["s3.ap-south-1.amazonaws.com"]}
    assert found["Condition"].get("ForAnyValue:StringEquals", {}).get("kms:ResourceAliases") == condition


def test_a_table_bucket_needs_nothing_of_s3(tmp_path: Path) -> None:
    """S3 Tables checks its own actions, on the bucket and on its tables."""
    environment = f'  tables: {{catalogs: {{lake: {{type: s3tables, warehouse: "{ARN}"}}}}}}\n'
    found = rights.policy(settings(tmp_path, environment), "operate")
    assert {each.partition(":")[0] for each in actions(found)} == {"s3tables", "sts"}
    assert statements(found)["TableBucket"]["Resource"] == [ARN]
    assert statements(found)["ItsTables"]["Resource"] == [f"{ARN}/table/*"]


@pytest.mark.parametrize(("delegation", "handed_out"), [("vended-credentials", True), ("", False)])
def test_the_rest_endpoint_of_glue(tmp_path: Path, delegation: str, handed_out: bool) -> None:
    """Its operations are Glue's own actions, down to a nested catalog; handing out credentials is one more."""
    environment = (
        '  rest: {catalogs: {lake: {type: rest, uri: "https://glue.eu-west-1.amazonaws.com/iceberg", region: eu-west-1,'
        f' rest.sigv4-enabled: "true", header.X-Iceberg-Access-Delegation: "{delegation}",'
        ' warehouse: "123456789012:s3tablescatalog/b"}}}\n'
    )
    found = rights.policy(settings(tmp_path, environment), "look")
    nested = ("catalog", "catalog/s3tablescatalog", "catalog/s3tablescatalog/b")
    nested += ("database/s3tablescatalog/b/*", "table/s3tablescatalog/b/*/*")
    assert statements(found)["Catalog"]["Resource"] == [f"arn:aws:glue:eu-west-1:123456789012:{one}" for one in nested]
    assert {"glue:GetCatalog", "glue:GetTable"} <= actions(found)
    assert ("lakeformation:GetDataAccess" in actions(found)) is handed_out
    assert any("'lake' lie is not declared" in note for note in found.notes)


@pytest.mark.parametrize(
    ("region", "start"),
    [
        ("eu-west-1", "arn:aws:"),
        ("cn-north-1", "arn:aws-cn:"),
        ("us-gov-west-1", "arn:aws-us-gov:"),
        ("us-iso-east-1", "arn:aws-iso:"),
        ("us-isob-east-1", "arn:aws-iso-b:"),
        ("eusc-de-east-1", "arn:aws-eusc:"),
    ],
)
def test_partitions(tmp_path: Path, region: str, start: str) -> None:
    """Parts of AWS that stand alone, such as China, have ARNs of their own."""
    found = rights.policy(settings(tmp_path, PROD.replace("ap-south-1", region)), "operate")
    resources = {each for one in found.document["Statement"] for each in one["Resource"]} - {"*"}
    assert all(each.startswith(start) for each in resources)


def test_places_of_namespaces_are_in_it(tmp_path: Path) -> None:
    """A namespace with a location of its own adds it; one inside another place adds nothing."""
    more = 'namespaces: {raw: {location: "s3a://lake-raw/"}, silver: {location: "s3://lake-prod/warehouse/silver"}}\n'
    found = statements(rights.policy(settings(tmp_path, PROD, more), "look"))
    assert found["Files"]["Resource"] == ["arn:aws:s3:::lake-prod/warehouse/*", "arn:aws:s3:::lake-raw/*"]
    assert "Condition" not in found["Listing2"]  # all of the bucket


def test_names_are_no_patterns(tmp_path: Path) -> None:
    """What IAM would take for a wildcard or a variable stands for itself."""
    found = statements(rights.policy(settings(tmp_path, PROD.replace("/warehouse", "/a*b?$c")), "look"))
    assert found["Files"]["Resource"] == ["arn:aws:s3:::lake-prod/a${*}b${?}${$}c/*"]
    assert found["Listing"]["Condition"]["StringLike"]["s3:prefix"][0] == "a${*}b${?}${$}c"


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("s3://b-1/a/b", Place("b-1", "a/b")),
        ("s3a://b-1/a/", Place("b-1", "a")),
        ("s3n://b-1", Place("b-1", "")),
        ("s3://Old_Bucket/a", Place("Old_Bucket", "a")),
        ("s3://*/a", None),
        ("gs://b-1/a", None),
        ("/warehouse", None),
        (None, None),
    ],
)
def test_places(location: str | None, place: Place | None) -> None:
    """Only locations of S3 are places."""
    assert rights.place(location) == place


def test_an_environment_without_aws_is_said(tmp_path: Path) -> None:
    """There is no policy of nothing."""
    with pytest.raises(BadInput, match="Nothing of the environment 'local' is on AWS"):
        rights.policy(settings(tmp_path, "  local: {catalogs: {lake: {type: sqlite}}}\n"), "look")


# ------------------------------------------------------------------------------------------ held against a server


REGION = "ap-south-1"


@pytest.fixture(scope="module")
def enforcing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Sessions]]:
    """moto with IAM in force, and two users: each may do what the policy of its name allows. Of conditions, and of ARNs
    of other services than S3, moto knows nothing: they are left out.
    """
    address = servers._aws("enforcing", "--stock").endpoint
    here = settings(tmp_path_factory.mktemp("project"), PROD)
    keys = dict(_users(address, here))
    _enforce(address)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", address)
        made = {name: Sessions(AwsSettings(region=REGION, keys=each, tries=1)) for name, each in keys.items()}
        yield made
        for sessions in made.values():
            sessions.close()


def _enforce(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("POST", "/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"})
    assert connection.getresponse().status == 200
    connection.close()


def _users(address: str, here: LakehouseSettings) -> Iterator[tuple[str, Keys]]:
    given = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "endpoint_url": address, "region_name": REGION}
    s3, glue, iam = (boto3.client(service, **given) for service in ("s3", "glue", "iam"))
    s3.create_bucket(Bucket="lake-prod", CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket="lake-prod", Key="warehouse/a", Body=b"a")
    s3.put_object(Bucket="lake-prod", Key="private/a", Body=b"a")
    glue.create_database(DatabaseInput={"Name": "shop"})
    glue.create_table(DatabaseName="shop", TableInput={"Name": "orders"})
    for purpose in ("look", "operate"):
        document = rights.policy(here, purpose, "123456789012").document
        iam.create_user(UserName=purpose)
        iam.put_user_policy(UserName=purpose, PolicyName="p", PolicyDocument=json.dumps(_simple(document)))
        key = iam.create_access_key(UserName=purpose)["AccessKey"]
        yield purpose, Keys(key["AccessKeyId"], key["SecretAccessKey"])
    for client in (s3, glue, iam):
        client.close()


def _simple(document: Mapping[str, Any]) -> dict[str, Any]:
    def plain(statement: Mapping[str, Any]) -> dict[str, Any]:
        arns = statement["Resource"]
        buckets = [arn.partition("/")[0] for arn in arns]  # what a batch of deletions is checked against
        ours = all(arn.startswith("arn:aws:s3:::") for arn in arns)
        return {**statement, "Resource": [*arns, *buckets] if ours else "*", "Condition": {}}

    return {**document, "Statement": [plain(each) for each in document["Statement"]]}


def test_the_looking_user_may_look(enforcing: Mapping[str, Sessions]) -> None:
    """Everything doctor asks, and a listing of the catalog, is let by."""
    sessions = enforcing["look"]
    glue = GlueEndpoint(sessions.settings)
    look = examining.examine(sessions, Wanted((("lake-prod", "warehouse"),), glue, state_table="lake-state"))
    assert look.denials == ()
    assert look.buckets[0].read is not None
    assert look.buckets[0].read.known
    assert [str(each.identifier) for each in GluePointers(sessions, glue, "lake").list()] == ["shop.orders"]


@pytest.mark.parametrize(
    ("service", "call", "given"),
    [
        ("s3", "put_object", {"Bucket": "lake-prod", "Key": "warehouse/b", "Body": b"b"}),
        ("s3", "delete_object", {"Bucket": "lake-prod", "Key": "warehouse/a"}),
        ("s3", "get_object", {"Bucket": "lake-prod", "Key": "private/a"}),
        ("glue", "delete_table", {"DatabaseName": "shop", "Name": "orders"}),
        ("glue", "update_table", {"DatabaseName": "shop", "TableInput": {"Name": "orders"}}),
        ("dynamodb", "put_item", {"TableName": "lake-state", "Item": {"pk": {"S": "a"}}}),
    ],
)
def test_the_looking_user_may_not_write(
    enforcing: Mapping[str, Sessions], service: str, call: str, given: Mapping[str, Any]
) -> None:
    """Writing is refused, and so is reading elsewhere in the bucket."""
    with pytest.raises(ClientError, match="AccessDenied"):
        getattr(enforcing["look"].client(service), call)(**given)


def test_the_operating_user_may_work(enforcing: Mapping[str, Sessions]) -> None:
    """Files come, are marked and go; the state is made and written."""
    sessions = enforcing["operate"]
    store, location = S3Store(sessions), "s3://lake-prod/warehouse/new"
    store.put(location, b"new")
    store.tag(location, {"kept": "no"})
    assert store.tags(location) == {"kept": "no"}
    assert store.versions(location)
    assert store.delete([location, "s3://lake-prod/warehouse/other"]) == {}
    table = StateTable(sessions, "lake-state")
    table.ensure()
    assert table.update(("a", "b"), "SET #c = :c", {"c": 1}).done
    sessions.client("glue").update_table(DatabaseName="shop", TableInput={"Name": "orders"})


def test_an_embedded_catalog_with_its_tables_in_s3() -> None:
    """A catalog without a server needs the rights of its files, and of nothing else."""
    lake = CatalogSettings("lake", "sqlite", {"warehouse": "s3://kv-prod/warehouse", "region": "eu-west-1"})
    made = rights.policy(LakehouseSettings("shop", "/srv", Environment("prod", {"lake": lake}), ("prod",)), "look")
    actions = {action for each in made.document["Statement"] for action in each["Action"]}
    assert "s3:GetObject" in actions
    assert not {action for action in actions if action.startswith(("glue:", "dynamodb:"))}
    assert "arn:aws:s3:::kv-prod/warehouse/*" in json.dumps(made.document)


def test_nowhere_else_to_go() -> None:
    """Where nothing is on AWS another environment is named, and never the one that was asked for."""
    here = Environment("local", {"lake": CatalogSettings("lake", "sqlite")})
    for names, step in ((("local",), None), (("local", "prod"), "Choose another one with --env: prod.")):
        with pytest.raises(BadInput) as refused:
            rights.policy(LakehouseSettings("shop", "/srv", here, names), "look")
        assert refused.value.next_step == step
