"""Lakehouses on servers, each reached through proxies that misbehave on command, and what is true of their tables."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.iceberg.manifests import live_files
from firnline.cli import app
from firnline.config.aws import AwsSettings, Keys
from firnline.config.values import CatalogSettings, Environment, LakehouseSettings, StateSettings
from firnline.core.errors import Missing
from firnline.core.ids import Identifier
from firnline.lakehouse.opening import Lakehouse
from firnline.loop.surroundings import Surroundings
from firnline.loop.values import OutcomeKind
from tests import servers
from tests.faults.fault_proxy import Fault, Trouble, before

HASTE = {"request-timeout": "400ms", "connect-timeout": "2s", "tries": "2"}  # a stall is longer than that
PATIENCE = {"request-timeout": "60s", "connect-timeout": "10s", "tries": "5"}
FAULTY, HEALTHY = "faulty", "healthy"
COLUMNS = "columns:\n  - id: long required\n  - note: string\n"
# Three snapshots: main is at the second, the branch `ahead` at the third, the tag `old` at the first.
IDS = ((1, 2), (3, 4, 5), (6, 7, 8, 9))
_FOLDER = "0" * 16  # the template's; a copy's folder is as long, so that its name can be replaced in any file
_UUID = "00000000-0000-4000-8000-000000000000"
_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("note", pa.string())])


class Clock:
    """Time that passes only while somebody sleeps, and in which what is late arrives."""

    def __init__(self, trouble: Trouble) -> None:
        self.time = datetime(2026, 11, 19, 12, tzinfo=UTC)
        self._trouble = trouble

    def now(self) -> datetime:
        """The time."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let it pass."""
        self._trouble.landed()
        self.time += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Said:
    """What a command said: its exit code and its outcomes, none when it came to no run."""

    code: int
    run: str | None
    outcomes: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Table:
    """A fresh table: its name, where it lies, and the files it came with, by key."""

    identifier: Identifier
    uuid: str
    folder: str
    files: Mapping[str, str]  # key → etag

    @property
    def name(self) -> str:
        """As people write it."""
        return str(self.identifier)


@dataclass
class World:
    """One kind of catalog and state."""

    root: Path
    trouble: Trouble
    lakehouses: Mapping[str, Lakehouse]
    namespace: str = field(default_factory=lambda: f"shop_{secrets.token_hex(4)}")
    number: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.clock = Clock(self.trouble)
        (self.root / "tables").mkdir()
        (self.root / "lakehouse.yaml").write_text("version: 1\nname: shop\nenvironments: {}\n")
        made = self.healthy.commits.create_namespace((self.namespace,), {})
        assert made.kind is OutcomeKind.DONE, made

    @property
    def healthy(self) -> Lakehouse:
        """The lakehouse over lines that hold."""
        return self.lakehouses[HEALTHY]

    def open(self, _: object = None, env: str | None = None, **__: object) -> Lakehouse:
        """`Lakehouse.open`, without making clients anew for each command."""
        assert env is not None
        return self.lakehouses[env]

    def declare(self, name: str, text: str | None) -> None:
        """A table file, or none."""
        path = self.root / "tables" / f"{name}.yaml"
        if text is None:
            path.unlink()
        else:
            path.write_text(f"table: {name}\n{text}")

    def renew_state(self) -> None:
        """An empty state on DynamoDB: for every transaction the local server copies all there is."""
        if not self.healthy.state.is_local:
            table = self.healthy.state.table
            if table.look():
                table._sessions.client("dynamodb").delete_table(TableName=table.name)
            table._working = False
            table.ensure()

    def run(self, env: str, *words: str, fault: Fault | None = None) -> Said:
        """A command in a process of its own, as far as leases can tell."""
        known = {one.run for one in self.healthy.runs(5)}
        name = f"here:{next(self.number)}"
        self.lakehouses[env].__dict__["surroundings"] = Surroundings(
            self.clock.now, self.clock.sleep, secrets.token_bytes, name, gone=lambda owner: not owner.endswith(name)
        )
        out, err = io.StringIO(), io.StringIO()
        self.trouble.begin(fault)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = app.run([*words, "--env", env, "-C", str(self.root), "-o", "json"])
        self.trouble.end()
        self.trouble.landed()
        text = out.getvalue() + err.getvalue()
        said = json.loads(out.getvalue()) if out.getvalue().strip().startswith("{") else {}
        outcomes = {one["step"]: one["outcome"]["kind"] for one in said.get("steps") or () if "outcome" in one}
        new = [one.run for one in self.healthy.runs(5) if one.run not in known]
        assert len(new) <= 1, new
        return Said(code, new[0] if new else None, outcomes, text)

    # ------------------------------------------------------------------------------------------------------- what is

    def metadata(self, identifier: Identifier) -> tuple[str, Any] | None:
        """Where the catalog points, and what is there; None for no table."""
        pointer = self.healthy.pointers.find(identifier)
        if pointer is None:
            return None
        location = str(pointer.metadata_location)
        return location, self._read(location)

    def versions(self, identifier: Identifier) -> list[tuple[str, Mapping[str, str]]]:
        """Location and properties of every metadata version, oldest first; none for no table."""
        found = self.metadata(identifier)
        if found is None:
            return []
        location, now = found
        older = [entry["metadata-file"] for entry in now.get("metadata-log") or ()]
        read = [(each, self._read(each).get("properties", {})) for each in older]
        return [*read, (location, now.get("properties", {}))]

    def _read(self, location: str) -> Any:
        try:
            return json.loads(self.healthy.blobs.read(location))
        except Missing as error:
            raise AssertionError(f"a file the table needs is gone: {location}") from error

    def ids(self, metadata: Mapping[str, Any], snapshot: int) -> list[int]:
        """The ids in the rows of a snapshot, read from its data files."""
        (found,) = [each for each in metadata["snapshots"] if each["snapshot-id"] == snapshot]
        manifests = self.healthy.manifests
        paths = [path for path, _ in live_files(manifests, manifests.list(found["manifest-list"]))]
        read = [pq.read_table(io.BytesIO(self.healthy.blobs.read(path)), columns=["id"]) for path in paths]
        return sorted(one for table in read for one in table["id"].to_pylist())

    def table(self) -> Table:
        """A fresh table with known rows and a history."""
        folder, uuid = secrets.token_hex(8), str(uuid4())
        files = {}
        for key, data in template().items():
            moved = data.replace(_FOLDER.encode(), folder.encode()).replace(_UUID.encode(), uuid.encode())
            name = key.replace(_FOLDER, folder)
            files[name] = store().put_object(Bucket=servers.s3().name, Key=name, Body=moved)["ETag"]
        (location,) = [f"s3://{servers.s3().name}/{key}" for key in files if key.endswith(".metadata.json")]
        identifier = Identifier((self.namespace,), f"t{next(self.number)}")
        _register(self.healthy, identifier, location)
        return Table(identifier, uuid, folder, files)

    def forget(self, identifier: Identifier) -> None:
        """The table out of the catalog, its files left: the next listing is short again."""
        found = self.metadata(identifier)
        if found is not None:
            dropped = self.healthy.commits.drop(identifier, found[1]["table-uuid"], purge=False)
            assert dropped.kind is OutcomeKind.DONE, dropped


def kept(folder: str) -> dict[str, str]:
    """What lies in a table's folder, by key."""
    answer = store().list_objects_v2(Bucket=servers.s3().name, Prefix=f"faults/{folder}/")
    assert not answer["IsTruncated"]
    return {one["Key"]: one["ETag"] for one in answer.get("Contents", ())}


def _register(lakehouse: Lakehouse, identifier: Identifier, location: str) -> None:
    connection = lakehouse.connection
    if lakehouse.settings.catalog.type == "rest":
        body = {"name": identifier.name, "metadata-location": location}
        reply = connection._rest.tell("POST", f"namespaces/{identifier.namespace[0]}/register", body=body)
        assert reply.status == 200, reply
    else:
        outcome = connection._swaps().insert(identifier, location)
        assert outcome.kind is OutcomeKind.DONE, outcome


@cache
def store() -> Any:
    """A client of S3 that no proxy stands before."""
    server = servers.s3()
    keys, endpoints = Keys(server.access, server.secret), {"s3": server.endpoint}
    return Sessions(AwsSettings(region=server.region, keys=keys, endpoints=endpoints, path_style=True)).client("s3")


@cache
def template() -> Mapping[str, bytes]:
    """The files of a table by key, written by PyIceberg once. Nothing in them is compressed but the rows."""
    from pyiceberg.catalog.sql import SqlCatalog

    server = servers.s3()
    catalog = SqlCatalog("template", uri="sqlite:///:memory:", **server.properties, **{"s3.region": server.region})
    catalog.create_namespace("a")
    table = catalog.create_table(
        "a.b",
        _SCHEMA,
        location=f"s3://{server.name}/faults/{_FOLDER}",
        properties={"write.avro.compression-codec": "null", "write.metadata.compression-codec": "none"},
    )
    for ids in IDS:
        table.append(pa.table({"id": ids, "note": [f"n{one}" for one in ids]}, schema=_SCHEMA))
    first, second, third = (each.snapshot_id for each in table.snapshots())
    data = json.loads(table.metadata.model_dump_json())
    data |= {"table-uuid": _UUID, "current-snapshot-id": second, "metadata-log": []}
    data["snapshot-log"] = data["snapshot-log"][:2]
    data["refs"] = {
        "main": {"snapshot-id": second, "type": "branch"},
        "ahead": {"snapshot-id": third, "type": "branch"},
        "old": {"snapshot-id": first, "type": "tag"},
    }
    catalog.engine.dispose()
    keys = [key for key in kept(_FOLDER) if not key.endswith(".metadata.json")]
    files = {key: store().get_object(Bucket=server.name, Key=key)["Body"].read() for key in keys}
    first_file = f"faults/{_FOLDER}/metadata/00000-{uuid4()}.metadata.json"
    return {**files, first_file: json.dumps(data).encode()}


# ------------------------------------------------------------------------------------------------------------ the kinds


@contextmanager
def glue(root: Path) -> Iterator[World]:
    """Glue that checks versions, and S3."""
    with _aws(root, StateSettings()) as world:
        yield world


@contextmanager
def glue_and_dynamo(root: Path) -> Iterator[World]:
    """The same, with leases and ledger on DynamoDB behind the proxy too."""
    with _aws(root, StateSettings("dynamodb", {"table": f"faults-{uuid4().hex}"})) as world:
        yield world


@contextmanager
def _aws(root: Path, state: StateSettings) -> Iterator[World]:
    trouble, account = Trouble(), {"x-moto-account-id": f"{secrets.randbelow(10**12):012}"}
    with ExitStack() as stack:
        endpoint = servers.aws().endpoint
        given = {"glue.endpoint": stack.enter_context(before(endpoint, "glue", trouble, account))}
        given["warehouse"] = f"s3://{servers.s3().name}/faults/new"
        if state.type == "dynamodb":
            keyed = {**servers.s3().properties, **state.properties}
            keyed["dynamodb.endpoint"] = stack.enter_context(before(endpoint, "dynamodb", trouble, account))
            state = StateSettings(state.type, keyed)
        yield stack.enter_context(_world(root, trouble, "glue", given, state))


@contextmanager
def rest(root: Path) -> Iterator[World]:
    """A REST catalog, and S3."""
    trouble, server = Trouble(), servers.rest()
    with ExitStack() as stack:
        given = {"uri": stack.enter_context(before(server.uri, "rest", trouble)), "token": server.token}
        yield stack.enter_context(_world(root, trouble, "rest", given))


@contextmanager
def hive(root: Path) -> Iterator[World]:
    """S3 behind a Hive Metastore, which speaks no HTTP and is reached as it is."""
    given = {"uri": servers.metastore().uri, "warehouse": f"s3://{servers.s3().name}/faults/new"}
    with _world(root, Trouble(), "hive", given) as world:
        yield world


@contextmanager
def _world(
    root: Path, trouble: Trouble, kind: str, given: Mapping[str, str], state: StateSettings | None = None
) -> Iterator[World]:
    state = state or StateSettings()
    root.mkdir()
    with before(servers.s3().endpoint, "s3", trouble) as endpoint:
        properties = {**servers.s3().properties, "s3.endpoint": endpoint, **given}
        lakehouses = {
            name: Lakehouse(
                _settings(root, name, CatalogSettings("lake", kind, {**properties, **pace}, "local"), state)
            )
            for name, pace in ((FAULTY, HASTE), (HEALTHY, PATIENCE))
        }
        yield World(root, trouble, lakehouses)
        for lakehouse in lakehouses.values():
            lakehouse.storage.sessions.close()


def _settings(root: Path, env: str, catalog: CatalogSettings, state: StateSettings) -> LakehouseSettings:
    pace = {key: text for key, text in catalog.properties.items() if key in HASTE}
    state = StateSettings(state.type, {**state.properties, **pace} if state.type == "dynamodb" else {})
    environment = Environment(env, {"lake": catalog}, state=state)
    return LakehouseSettings("shop", str(root), environment, (FAULTY, HEALTHY))
