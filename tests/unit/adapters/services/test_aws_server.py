"""Our AWS server, asked over the wire: strict where Iceberg's clients rest on it, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from firnline.adapters.services import addresses, asking, processes
from firnline.adapters.services.processes import Process
from firnline.config.aws import Keys
from tests import servers

KEYS = Keys("ours", "secret")


def client(service: str, endpoint: str, keys: Keys = servers.KEYS) -> Any:
    """A client that asks once: a retry would hide what was answered."""
    once = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=keys.access,
        aws_secret_access_key=keys.secret,
        config=once,
    )


def refusal(call: Any, **given: Any) -> str:
    """The code the call is refused with."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    return str(caught.value.response["Error"]["Code"])


@dataclass
class Kept:
    """A server with a journal, that can be killed and started again."""

    folder: Path
    port: int = 0
    process: Process | None = None

    def start(self) -> None:
        self.port = addresses.ports(self.folder / "ports.json", ("main",))["main"]
        options = [
            "--port",
            str(self.port),
            "--services",
            "glue,dynamodb,sts",
            "--journal",
            str(self.folder / "journal"),
        ]
        self.process = processes.start(
            [sys.executable, "-m", "firnline.adapters.services.aws_server", *options],
            folder=self.folder,
            log=self.folder / "log",
            pid_file=self.folder / "pid",
            env={**os.environ, "FIRNLINE_LOCAL_ACCESS_KEY": KEYS.access},
        )
        headers = asking.signed(self.port, "POST", "/", KEYS, "glue", target="AWSGlue.GetDatabases", body=b"{}")
        while asking.status(self.port, "POST", "/", headers, b"{}") != 200:
            assert not processes.is_gone(self.process), (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        assert self.process is not None
        processes.stop(self.process)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.stop()

    def client(self, service: str) -> Any:
        return client(service, f"http://{addresses.HOST}:{self.port}", KEYS)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """One that runs."""
    server = Kept(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def glue() -> Any:
    """Strict Glue, in memory."""
    return client("glue", servers.aws().endpoint)


@pytest.fixture
def database(glue: Any) -> str:
    """A database of the test's own."""
    name = f"d{uuid4().hex[:8]}"
    glue.create_database(DatabaseInput={"Name": name})
    return name


def race(endpoint: str, database: str) -> tuple[int, int]:
    """Sixteen at once update the same version: how many were told it is done, and which version came of it."""
    glue = client("glue", endpoint)
    glue.create_table(DatabaseName=database, TableInput={"Name": "t"})
    version = glue.get_table(DatabaseName=database, Name="t")["Table"]["VersionId"]

    def update(number: int) -> bool:
        try:
            glue.update_table(
                DatabaseName=database, TableInput={"Name": "t", "Parameters": {"by": str(number)}}, VersionId=version
            )
        except ClientError as error:
            assert error.response["Error"]["Code"] == "ConcurrentModificationException"  # noqa: PT017
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(update, range(16)))
    after = glue.get_table(DatabaseName=database, Name="t")["Table"]["VersionId"]
    return done, int(after) - int(version)


def test_one_of_many_commits_wins(database: str) -> None:
    """Of sixteen updates of one version one is done, and fifteen are told they came too late."""
    assert race(servers.aws().endpoint, database) == (1, 1)


def test_stock_moto_lets_everybody_win() -> None:
    """The test of that test: without strictness all sixteen are told it is done."""
    endpoint, name = servers.stock_aws().endpoint, f"d{uuid4().hex[:8]}"
    client("glue", endpoint).create_database(DatabaseInput={"Name": name})
    assert race(endpoint, name)[0] == 16


def test_without_a_version_the_last_writer_wins(glue: Any, database: str) -> None:
    """UpdateTable without a VersionId is never refused."""
    glue.create_table(DatabaseName=database, TableInput={"Name": "t"})
    for number in range(3):
        glue.update_table(DatabaseName=database, TableInput={"Name": "t", "Description": str(number)})
    assert glue.get_table(DatabaseName=database, Name="t")["Table"]["Description"] == "2"


@pytest.mark.parametrize(("skip", "count"), [(True, 1), (False, 4)])
def test_versions_are_archived_unless_skipped(glue: Any, database: str, skip: bool, count: int) -> None:
    """With SkipArchive only the current version of a table is there, else all."""
    glue.create_table(DatabaseName=database, TableInput={"Name": "t"})
    for _ in range(3):
        glue.update_table(DatabaseName=database, TableInput={"Name": "t"}, SkipArchive=skip)
    assert len(glue.get_table_versions(DatabaseName=database, TableName="t")["TableVersions"]) == count


def test_lists_come_in_pages(glue: Any, database: str) -> None:
    """GetTables gives at most 100 tables at once, fewer when asked for fewer, each once, by name."""
    names = [f"t{number:03}" for number in range(103)]
    for name in names:
        glue.create_table(DatabaseName=database, TableInput={"Name": name})
    first = glue.get_tables(DatabaseName=database)
    assert len(first["TableList"]) == 100
    pages = list(glue.get_paginator("get_tables").paginate(DatabaseName=database, PaginationConfig={"PageSize": 40}))
    assert [len(page["TableList"]) for page in pages] == [40, 40, 23]
    assert [table["Name"] for page in pages for table in page["TableList"]] == names
    assert refusal(glue.get_tables, DatabaseName=database, NextToken="?") == "InvalidInputException"


def test_a_page_is_right_whatever_goes_between(glue: Any, database: str) -> None:
    """Tables dropped and made between two pages neither hide nor double others."""
    for name in "abcdef":
        glue.create_table(DatabaseName=database, TableInput={"Name": name})
    page = glue.get_tables(DatabaseName=database, MaxResults=3)
    glue.delete_table(DatabaseName=database, Name="b")
    glue.delete_table(DatabaseName=database, Name="c")
    glue.create_table(DatabaseName=database, TableInput={"Name": "cc"})
    rest = glue.get_tables(DatabaseName=database, NextToken=page["NextToken"])
    assert [table["Name"] for table in rest["TableList"]] == ["cc", "d", "e", "f"]


def test_names_are_folded(glue: Any, database: str) -> None:
    """As on AWS, a name is found in any case and given back in lower case; making it again is refused."""
    glue.create_table(DatabaseName=database.upper(), TableInput={"Name": "Orders"})
    assert glue.get_table(DatabaseName=database, Name="ORDERS")["Table"]["Name"] == "orders"
    again = {"DatabaseName": database, "TableInput": {"Name": "orders"}}
    assert refusal(glue.create_table, **again) == "AlreadyExistsException"


def everything(server: Kept) -> Any:
    """All that Glue and DynamoDB would tell a client."""
    glue, dynamodb = server.client("glue"), server.client("dynamodb")
    tables = [
        (
            glue.get_table(DatabaseName="shop", Name=table["Name"])["Table"],
            glue.get_table_versions(DatabaseName="shop", TableName=table["Name"])["TableVersions"],
            glue.get_partitions(DatabaseName="shop", TableName=table["Name"])["Partitions"],
        )
        for table in glue.get_tables(DatabaseName="shop")["TableList"]
    ]
    for _, _, partitions in tables:
        for partition in partitions:
            del partition["CreationTime"]
    items = dynamodb.scan(TableName="state")["Items"]
    return glue.get_databases()["DatabaseList"], tables, sorted(items, key=lambda item: item["id"]["S"])


def test_what_was_acknowledged_survives_a_kill(kept: Kept) -> None:
    """After kill -9 and a start, twice, everything is as it was told: rows, versions, times, items."""
    glue, dynamodb = kept.client("glue"), kept.client("dynamodb")
    glue.create_database(DatabaseInput={"Name": "Shop", "LocationUri": "s3://lake/shop"})
    for name in ("a", "b", "c"):
        glue.create_table(DatabaseName="shop", TableInput={"Name": name, "Parameters": {"at": "0"}})
    for number in range(1, 5):
        given = {"Name": "a", "Parameters": {"at": str(number)}}
        glue.update_table(DatabaseName="shop", TableInput=given, VersionId=str(number), SkipArchive=number != 3)
    glue.create_partition(DatabaseName="shop", TableName="b", PartitionInput={"Values": ["1"]})
    glue.batch_delete_table(DatabaseName="shop", TablesToDelete=["C", "none"])
    keys = {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}
    schema = {"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}
    dynamodb.create_table(TableName="state", **keys, **schema)
    adding = {"UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    for _ in range(3):
        dynamodb.update_item(TableName="state", Key={"id": {"S": "counted"}}, **adding)
    put = {"TableName": "state", "Item": {"id": {"S": "put"}, "map": {"M": {"x": {"B": b"\x00\xff"}}}}}
    dynamodb.transact_write_items(TransactItems=[{"Put": put}])
    dynamodb.batch_write_item(RequestItems={"state": [{"PutRequest": {"Item": {"id": {"S": "gone"}}}}]})
    dynamodb.delete_item(TableName="state", Key={"id": {"S": "gone"}})
    before = everything(kept)
    assert [item["id"]["S"] for item in before[2]] == ["counted", "put"]
    for _ in range(2):
        kept.kill()
        kept.start()
        assert everything(kept) == before


def test_it_answers_who_has_the_key_and_for_what_it_has(kept: Kept) -> None:
    """Another access key is refused, and so is a service whose state would be lost."""
    endpoint = f"http://{addresses.HOST}:{kept.port}"
    assert refusal(client("glue", endpoint, Keys("x", "y")).get_databases) == "UnrecognizedClientException"
    assert refusal(kept.client("s3").list_buckets) == "NotImplemented"


def test_a_write_that_cannot_be_kept_is_not_acknowledged(kept: Kept) -> None:
    """When the journal takes no more, the server ends without an answer, and does not know of the write afterwards."""
    assert kept.process is not None
    resource.prlimit(kept.process.pid, resource.RLIMIT_FSIZE, (0, 0))  # none of its files may grow: its disk is full
    with pytest.raises(BotoCoreError, match=r"onnection|closed"):
        kept.client("glue").create_database(DatabaseInput={"Name": "shop"})
    kept.stop()
    kept.start()
    assert kept.client("glue").get_databases()["DatabaseList"] == []


def test_no_acknowledged_write_is_lost_in_the_middle_of_many(kept: Kept) -> None:
    """Killed while four clients write as fast as they can, it has every write that any of them was told is done."""
    kept.client("dynamodb").create_table(
        TableName="state",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    acknowledged: list[str] = []

    def write(writer: int) -> None:
        dynamodb = kept.client("dynamodb")
        for number in range(10_000):
            item = {"id": {"S": f"{writer}-{number}"}}
            try:
                dynamodb.put_item(TableName="state", Item=item)
            except (BotoCoreError, ClientError):
                return
            acknowledged.append(f"{writer}-{number}")

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, writer) for writer in range(4)]
        while len(acknowledged) < 100:
            time.sleep(0.01)
        kept.kill()
        for each in writing:
            each.result()
    kept.start()
    pages = kept.client("dynamodb").get_paginator("scan").paginate(TableName="state")
    found = {item["id"]["S"] for page in pages for item in page["Items"]}
    assert set(acknowledged) <= found
    assert len(found) <= len(acknowledged) + 4  # at most one each was done and not told
