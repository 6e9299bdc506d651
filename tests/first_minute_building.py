"""A gate before AWS servers that counts, and refuses as told; and the catalog of somebody who never heard of Firnline:
Iceberg tables beside Hive tables, views and links, and some that are broken each in its own way.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

import pyarrow as pa

from firnline.adapters.aws.locations import bucket_and_key
from firnline.adapters.aws.s3_files import S3Files
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.swaps import HiveSwaps
from firnline.adapters.rest.client import RestClient
from firnline.config.aws import AwsSettings, Keys
from firnline.config.endpoints import Bearer, HiveEndpoint, RestEndpoint
from firnline.core.ids import Identifier
from tests import servers
from tests.answering import Answer, Asked, answering
from tests.committing import assert_done
from tests.glue_building import ACCOUNT_HEADER, at_once, iceberg
from tests.s3_places import opened

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
UNCOMPRESSED = {"write.avro.compression-codec": "null"}
MANIFESTS = (*[1] * 9, 3)  # of one table after the other: most have had one append, some three
HOSTILE = ("'; drop table x; --", "a/b", "..%2f..%2fetc", 'say "hi"', "🐘", "$(reboot)", "x" * 255)
LINK = {"CatalogId": "210987654321", "DatabaseName": "theirs"}
# What is no Iceberg table, with its kind: how it stands in Glue.
FOREIGN: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "hive": ("other", {"TableType": "EXTERNAL_TABLE", "Parameters": {"classification": "parquet"}}),
    "delta": ("other", {"TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "DELTA"}}),
    "never_committed": ("other", {"TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "ICEBERG"}}),
    "view": ("view", {"TableType": "VIRTUAL_VIEW", "ViewExpandedText": "SELECT 1"}),
    "link": ("other", {"TargetTable": {**LINK, "Name": "t"}}),
}
_READING = ("Get", "BatchGet", "List", "Describe", "Search", "Query", "Head")
_HOP = {"connection", "content-length", "transfer-encoding", "date", "server", "keep-alive"}


@dataclass(frozen=True, slots=True)
class Call:
    """A request by its meaning. `subject` is the bucket and key, or the body of a JSON service."""

    service: str
    operation: str
    subject: str

    @property
    def writes(self) -> bool:
        """Whether it is anything but a question."""
        return not self.operation.startswith(_READING)


@dataclass
class Gate:
    """What went through. `refusal` says what is answered in the server's stead."""

    endpoint: str
    calls: list[Call] = field(default_factory=list)
    refusal: Callable[[Call], Answer | None] = lambda _: None

    def counts(self) -> Counter[str]:
        """Requests by service and operation."""
        return Counter(f"{call.service}:{call.operation}" for call in self.calls)


@contextmanager
def gate(upstream: str, account: str | None = None) -> Iterator[Gate]:
    """A gate before this server while the block lasts; with `account`, as that account of the local AWS server."""
    passed = Gate("")

    def answer(asked: Asked) -> Answer:
        call = _call(asked)
        passed.calls.append(call)
        return passed.refusal(call) or _forwarded(upstream, asked, account)

    with answering(answer) as server:
        passed.endpoint = server.endpoint
        yield passed


def denied(call: Call) -> Answer:
    """What AWS says to who has no right."""
    if call.service == "s3":
        text = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        return Answer(403, text.encode(), {"Content-Type": "application/xml"})
    body = {"__type": "AccessDeniedException", "Message": f"not authorized to perform: glue:{call.operation}"}
    return Answer(400, json.dumps(body).encode(), {"Content-Type": "application/x-amz-json-1.1"})


def no_writes(call: Call) -> Answer | None:
    """The refusal of everything that is no question."""
    return denied(call) if call.writes else None


def _call(asked: Asked) -> Call:
    target, parts = asked.headers.get("x-amz-target", ""), urlsplit(asked.target)
    subject = unquote(parts.path).lstrip("/")
    if target:
        return Call("glue", target.rpartition(".")[2], asked.body.decode())
    if "AWS4-HMAC" not in asked.headers.get("authorization", ""):
        return Call("rest", asked.method.title(), subject)
    if asked.method == "POST" and not subject:
        return Call("sts", parse_qs(asked.body.decode())["Action"][0], "")
    listing = asked.method == "GET" and "list-type" in parse_qs(parts.query)
    return Call("s3", "ListObjectsV2" if listing else f"{asked.method.title()}Object", subject)


def _forwarded(upstream: str, asked: Asked, account: str | None) -> Answer:
    connection = HTTPConnection(urlsplit(upstream).netloc, timeout=60)
    try:
        more = {} if account is None else {ACCOUNT_HEADER: account}
        sent = {name: text for name, text in asked.headers.items() if name not in {"connection", "expect"}}
        connection.request(asked.method, asked.target, asked.body, {**sent, **more})
        reply = connection.getresponse()
        body = reply.read()
        if asked.method == "HEAD":  # the length is what was asked for
            body = bytes(int(reply.getheader("Content-Length") or 0))
        kept = {name: text for name, text in reply.getheaders() if name.lower() not in _HOP}
        return Answer(reply.status, body, kept)
    finally:
        connection.close()


# ------------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class Template:
    """The files of a table that was really written, by their path below its location, without compression: another
    location of the same length makes another table of them.
    """

    location: str
    uuid: str
    files: Mapping[str, bytes]

    def copied(self, location: str) -> tuple[dict[str, bytes], str]:
        """The files of another table, and where its metadata is."""
        assert len(location) == len(self.location)
        old, new, uuid = self.location.encode(), location.encode(), str(uuid4())
        files = {
            f"{location}/{path}": data.replace(old, new).replace(self.uuid.encode(), uuid.encode())
            for path, data in self.files.items()
        }
        return files, max(path for path in files if path.endswith(".metadata.json"))


def _location(bucket: str, number: int) -> str:
    return f"s3://{bucket}/warehouse/{number:05d}"


def settings(endpoint: str, keys: Keys = servers.KEYS) -> AwsSettings:
    """How a server behind a gate is reached."""
    services = dict.fromkeys(("s3", "glue", "sts"), endpoint)
    return AwsSettings(region="us-east-1", keys=keys, endpoints=services, path_style=True)


@cache
def template(appends: int) -> Template:
    """A table with so many appends, each with a manifest of its own, as PyIceberg writes it."""
    from pyiceberg.catalog.sql import SqlCatalog

    location = _location(_bucket(), 0)
    reached = {
        "endpoint": servers.aws().endpoint,
        "region": "us-east-1",
        "access-key-id": "a",
        "secret-access-key": "b",
    }
    given = {f"s3.{name}": text for name, text in reached.items()}
    with opened(settings(servers.aws().endpoint)) as sessions:
        client, (bucket, prefix) = sessions.client("s3"), bucket_and_key(location)
        client.create_bucket(Bucket=bucket)
        catalog = SqlCatalog("making", uri="sqlite:///:memory:", warehouse=location, **given)
        catalog.create_namespace("shop")
        table = catalog.create_table("shop.orders", SCHEMA, location=location, properties=UNCOMPRESSED)
        for _ in range(appends):
            table.append(pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]}, schema=SCHEMA))
        catalog.engine.dispose()
        listed = client.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
        files = {one["Key"]: client.get_object(Bucket=bucket, Key=one["Key"])["Body"].read() for one in listed}
    short = {key.removeprefix(f"{prefix}/"): data for key, data in files.items()}
    return Template(location, str(table.metadata.table_uuid), short)


def _bucket() -> str:
    return f"lake-{secrets.token_hex(8)}"


# -------------------------------------------------------------------------------------------------- somebody's catalog


@dataclass
class Fleet:
    """200 entries of a Glue catalog nobody tidied. Names are as people write them."""

    gate: Gate
    bucket: str
    readable: dict[str, tuple[str, int]] = field(default_factory=dict)  # with their location and manifests
    broken: dict[str, str] = field(default_factory=dict)  # with what their line must say
    skipped: dict[str, str] = field(default_factory=dict)  # with their kind
    closed: str = "vault"  # a database that may not be listed

    def yaml(self) -> str:
        """The settings, as their owner would write them."""
        return project(
            f"type: glue\nregion: us-east-1\nwarehouse: s3://{self.bucket}/warehouse\n"
            f"glue.endpoint: {self.gate.endpoint}\ns3.endpoint: {self.gate.endpoint}\ns3.path-style-access: true\n"
        )


def project(catalog: str) -> str:
    """A lakehouse.yaml with an environment `prod` for looking at this catalog."""
    lines = "".join(f"        {line}\n" for line in catalog.splitlines())
    return f"version: 1\nname: shop\nenvironments:\n  prod:\n    access: read\n    catalogs:\n      lake:\n{lines}"


@contextmanager
def fleet() -> Iterator[Fleet]:
    """Such a catalog, in an account of its own, while the block lasts."""
    account, shut = account_number(), _bucket()
    with gate(servers.aws().endpoint, account) as passed, opened(settings(servers.aws().endpoint)) as sessions:
        made = _Making(clients(sessions, account), Fleet(passed, _bucket()), shut).fleet()
        passed.refusal = lambda call: denied(call) if _is_shut(call, shut, made.closed) else None
        yield made


def account_number() -> str:
    """An account of the local AWS server that nobody else uses."""
    return f"{secrets.randbelow(10**12):012d}"


def clients(sessions: Sessions, account: str) -> tuple[Any, Any]:
    """Clients of Glue and S3 as that account."""
    made = sessions.client("glue"), sessions.client("s3")
    for client in made:
        client.meta.events.register(
            "before-sign", lambda request, **_: request.headers.add_header(ACCOUNT_HEADER, account)
        )
    return made


def _is_shut(call: Call, bucket: str, database: str) -> bool:
    if call.operation == "GetTables":
        return bool(json.loads(call.subject)["DatabaseName"] == database)
    return call.service == "s3" and call.subject.startswith(f"{bucket}/")


class _Making:
    """Fills a catalog through the clients an owner would have used."""

    def __init__(self, clients: tuple[Any, Any], fleet: Fleet, shut: str) -> None:
        self._glue, self._s3 = clients
        self._fleet = fleet
        self._shut = shut
        self._work: list[Callable[[], None]] = []
        self._number = 0

    def fleet(self) -> Fleet:
        for bucket in (self._fleet.bucket, self._shut):
            self._s3.create_bucket(Bucket=bucket)
        for database in ("bronze", "broken", "legacy", "sales", self._fleet.closed):
            self._glue.create_database(DatabaseInput={"Name": database})
        self._glue.create_database(DatabaseInput={"Name": "shared", "TargetDatabase": LINK})
        for number in range(110):  # more than a page
            self._readable("sales", f"t{number:03}")
        for name in (*HOSTILE, *(f"t{number:03}" for number in range(33))):
            self._readable("bronze", name)
        for number in range(40):
            self._foreign(f"t{number:03}", list(FOREIGN)[number % len(FOREIGN)])
        self._broken()
        for number in range(5):
            self._put(self._fleet.closed, f"t{number:03}", iceberg("s3://nobody/knows.metadata.json"))
        at_once(4, lambda first: [each() for each in self._work[first::4]])
        return self._fleet

    def _readable(self, database: str, name: str) -> None:
        manifests = MANIFESTS[self._number % len(MANIFESTS)]
        location = self._table(manifests)
        self._put(database, name, iceberg(location))
        self._fleet.readable[str(Identifier((database,), name))] = (location, manifests)

    def _foreign(self, name: str, sort: str) -> None:
        kind, entry = FOREIGN[sort]
        self._put("legacy", name, entry)
        self._fleet.skipped[f"legacy.{name}"] = kind

    def _broken(self) -> None:
        def spoiled(ending: str, data: bytes | None) -> str:
            return self._table(1, spoil=(ending, data))

        json_like = ".metadata.json"
        nowhere = f"s3://{_bucket()}/warehouse/a.metadata.json"
        for name, location, says in (
            ("metadata_gone", spoiled(json_like, None), "There is no file s3://"),
            ("metadata_empty", spoiled(json_like, b""), "is not readable as Iceberg table metadata"),
            ("metadata_page", spoiled(json_like, b"<html></html>"), "is not readable as Iceberg table metadata"),
            ("metadata_future", spoiled(json_like, b'{"format-version": 9}'), "format"),
            ("list_gone", spoiled("snap-", None), "There is no file s3://"),
            ("list_cut", spoiled("snap-", b"Obj\x01"), "snap-"),
            ("manifest_gone", spoiled("-m0.avro", None), "There is no file s3://"),
            ("bucket_denied", self._table(1, bucket=self._shut), "may not do s3:GetObject"),
            ("bucket_gone", nowhere, "There is no bucket"),
            ("elsewhere", "hdfs://namenode/warehouse/a.metadata.json", "hdfs"),
        ):
            self._put("broken", name, iceberg(location))
            self._fleet.broken[f"broken.{name}"] = says

    def _put(self, database: str, name: str, entry: Mapping[str, Any]) -> None:
        self._work.append(lambda: self._glue.create_table(DatabaseName=database, TableInput={"Name": name, **entry}))

    def _table(
        self, manifests: int, *, spoil: tuple[str, bytes | None] | None = None, bucket: str | None = None
    ) -> str:
        """The files a look may read; one of them may be replaced, or left out. The metadata location."""
        self._number += 1
        files, location = template(manifests).copied(_location(bucket or self._fleet.bucket, self._number))
        for path, data in files.items():
            if path == location or path.endswith(".avro"):
                kept = spoil[1] if spoil and spoil[0] in path else data
                if kept is not None:
                    self._work.append(self._upload(path, kept))
        return location

    def _upload(self, path: str, data: bytes) -> Callable[[], None]:
        bucket, key = bucket_and_key(path)
        return lambda: self._s3.put_object(Bucket=bucket, Key=key, Body=data)


# ------------------------------------------------------------------------------------- one table in a catalog of a kind


@dataclass
class Lake:
    """A catalog with one table of three appends, on S3. The gates are before everything that speaks HTTP."""

    table: Identifier
    location: str
    gates: list[Gate]
    settings: str = ""

    def yaml(self) -> str:
        """The settings, as its owner would write them."""
        return project(f"{self.settings}s3.endpoint: {self.gates[0].endpoint}\ns3.path-style-access: true\n")

    def through(self, upstream: str, stack: ExitStack, account: str | None = None) -> str:
        """One more gate; its address."""
        passed = stack.enter_context(gate(upstream, account))
        self.gates.append(passed)
        return passed.endpoint


@contextmanager
def lake(kind: str) -> Iterator[Lake]:
    """Such a catalog while the block lasts: glue, rest or hive. From now on its gates refuse whatever writes; that of
    hive stands before S3 alone, for its metastore speaks no HTTP.
    """
    store = servers.s3()
    files, metadata = template(3).copied(_location(_bucket_there(), secrets.randbelow(10**5)))
    own = Identifier((f"shop_{secrets.token_hex(6)}",), "orders")
    with ExitStack() as stack:
        sessions = stack.enter_context(opened(settings(store.endpoint, Keys(store.access, store.secret))))
        for path, data in files.items():
            bucket, key = bucket_and_key(path)
            sessions.client("s3").put_object(Bucket=bucket, Key=key, Body=data)
        made = Lake(own, metadata, [])
        made.through(store.endpoint, stack)
        _KINDS[kind](made, sessions, stack)
        for passed in made.gates:
            passed.calls.clear()
            passed.refusal = no_writes
        yield made


@cache
def _bucket_there() -> str:
    """One for all: every bucket costs that server room it keeps free."""
    return servers.bucket(_bucket())


def _in_glue(made: Lake, _: Sessions, stack: ExitStack) -> None:
    server, account = servers.aws(), account_number()
    with opened(settings(server.endpoint)) as sessions:
        glue, _s3 = clients(sessions, account)
        glue.create_database(DatabaseInput={"Name": made.table.namespace[0]})
        entry = {"Name": made.table.name, **iceberg(made.location)}
        glue.create_table(DatabaseName=made.table.namespace[0], TableInput=entry)
    address = made.through(server.endpoint, stack, account)
    made.settings = f"type: glue\nregion: {server.region}\nglue.endpoint: {address}\n"


def _in_rest(made: Lake, sessions: Sessions, stack: ExitStack) -> None:
    server = servers.rest()
    with closing(RestClient(RestEndpoint(server.uri, sessions.settings, Bearer(server.token)))) as client:
        namespace = made.table.namespace
        assert client.tell("POST", "namespaces", body={"namespace": list(namespace)}).status == 200
        body = {"name": made.table.name, "metadata-location": made.location}
        assert client.tell("POST", f"namespaces/{namespace[0]}/register", body=body).status == 200
    made.settings = f"type: rest\nuri: {made.through(server.uri, stack)}\ntoken: ${{env:REST_TOKEN}}\n"


def _in_hive(made: Lake, sessions: Sessions, _: ExitStack) -> None:
    uri = servers.metastore().uri
    endpoint = HiveEndpoint(urlsplit(uri).hostname or "", urlsplit(uri).port or 0, sessions.settings, None)
    with closing(HiveClient(endpoint)) as client:
        swaps = HiveSwaps(client, endpoint, S3Files(sessions))
        assert_done(swaps.create_namespace(made.table.namespace, {}))
        assert_done(swaps.insert(made.table, made.location))
    made.settings = f"type: hive\nuri: {uri}\n"


_KINDS = {"glue": _in_glue, "rest": _in_rest, "hive": _in_hive}
