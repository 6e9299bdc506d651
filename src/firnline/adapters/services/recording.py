"""Between a request and its journal entry: what is kept of one, and how an entry is told to moto again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.glue.models import glue_backends
from werkzeug.test import EnvironBuilder, run_wsgi_app

from firnline.adapters.services.journal import Entry, Json

_READING = ("Get", "List", "Describe", "BatchGet", "Query", "Scan", "Search", "Check", "TransactGet", "StartQuery")
_GLUE_TABLE = ("Table", "Partition", "ColumnStatistics")


def record(app: Any, target: str, region: str, body: Json, answer: Json) -> list[Entry]:
    """The entries of a request that went well; none when it only read."""
    action = target.rsplit(".", 1)[-1]
    if action.startswith(_READING):
        return []
    at = datetime.now(UTC).isoformat()
    if target.startswith("DynamoDB"):
        return list(_dynamodb(app, target, region, at, body))
    return list(_glue(target, region, at, body, answer))


def _glue(target: str, region: str, at: str, body: Json, answer: Json) -> Iterator[Entry]:
    action, database = target.rsplit(".", 1)[-1], body.get("DatabaseName")
    if action == "BatchDeleteTable":
        failed = {str(error.get("TableName", "")).lower() for error in answer.get("Errors", ())}
        for name in body["TablesToDelete"]:
            if name.lower() not in failed:
                one = {"DatabaseName": database, "Name": name}
                yield from _glue("AWSGlue.DeleteTable", region, at, one, {})
        return
    version: str | None = None
    forgets: tuple[str, ...] = ()
    if "Database" in action:
        named = [body.get("Name") or body.get("DatabaseInput", {}).get("Name")]
    elif any(word in action for word in _GLUE_TABLE):
        named = [database, body.get("TableName") or body.get("Name") or body.get("TableInput", {}).get("Name")]
    else:
        named = [action]
    names = [str(name).lower() for name in named]
    if action == "UpdateTable":
        now = _glue_table(region, *names)._current_version
        version, forgets = str(now), (str(now - 1),) if body.get("SkipArchive") else ()
    subject = ("glue", region, *names)
    yield Entry(target, region, _moment(action, subject) or at, subject, body, version, forgets)


def _dynamodb(app: Any, target: str, region: str, at: str, body: Json) -> Iterator[Entry]:
    touched = list(_touched(target.rsplit(".", 1)[-1], body))
    version = target.rsplit(".", 1)[0]
    for table, attributes in touched:
        key, item = _image(app, target, region, table, attributes)
        subject = ("dynamodb", region, table, json.dumps(key, sort_keys=True))
        if item is None:
            yield Entry(f"{version}.DeleteItem", region, at, subject, {"TableName": table, "Key": key})
        else:
            yield Entry(f"{version}.PutItem", region, at, subject, {"TableName": table, "Item": item})
    if not touched:
        table = _table_name(body.get("TableName") or body.get("ResourceArn") or "")
        yield Entry(target, region, at, ("dynamodb", region, table), body)


def _touched(action: str, body: Json) -> Iterator[tuple[str, Json]]:
    """The items a write may have changed: their tables, and attributes among which are those of the key."""
    if action in {"PutItem", "UpdateItem", "DeleteItem"}:
        yield _table_name(body["TableName"]), body.get("Item") or body["Key"]
    elif action == "BatchWriteItem":
        for table, requests in body["RequestItems"].items():
            for request in requests:
                put = request.get("PutRequest")
                yield _table_name(table), put["Item"] if put else request["DeleteRequest"]["Key"]
    elif action == "TransactWriteItems":
        for item in body["TransactItems"]:
            for kind, request in item.items():
                if kind != "ConditionCheck":
                    yield _table_name(request["TableName"]), request.get("Item") or request["Key"]


def _image(app: Any, target: str, region: str, table: str, attributes: Json) -> tuple[Json, Json | None]:
    """The key among these attributes, and the item as it is now."""
    backend: Any = dynamodb_backends[DEFAULT_ACCOUNT_ID][region]
    found = backend.get_table(table)
    key = {name: attributes[name] for name in (found.hash_key_attr, found.range_key_attr) if name}
    asked = {"TableName": table, "Key": key, "ConsistentRead": True}
    answer = _ask(app, f"{target.rsplit('.', 1)[0]}.GetItem", region, "dynamodb", asked)
    return key, json.loads(answer).get("Item")


def _table_name(name: str) -> str:
    """A table may be named by its ARN."""
    return name.split(":table/", 1)[-1].split("/", 1)[0]


def tell(app: Any, entry: Entry) -> None:
    """Let moto do what this entry says, and make versions and times what they were."""
    if entry.version is not None:
        # Updates that were left out counted, too.
        _glue_table(entry.region, *entry.subject[2:])._current_version = int(entry.version) - 1
    _ask(app, entry.target, entry.region, entry.subject[0], entry.body)
    if entry.subject[0] == "glue":
        _mend(entry)


def _ask(app: Any, target: str, region: str, service: str, body: Json) -> bytes:
    """The answer of moto to a request of ours, which has to go well."""
    scope = f"journal/20000101/{region}/{service}/aws4_request"
    request = EnvironBuilder(
        method="POST",
        data=json.dumps(body),
        content_type="application/x-amz-json-1.1",
        headers=[
            ("X-Amz-Target", target),
            ("Authorization", f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"),
        ],
    )
    reply, status, _ = run_wsgi_app(app, request.get_environ(), buffered=True)
    answer = b"".join(reply)
    if not status.startswith("200"):
        raise RuntimeError(f"{target} of the journal does not fit: {status} {answer.decode(errors='replace')[:500]}")
    return answer


def _mend(entry: Entry) -> None:
    timed = _timed(entry.action, entry.subject)
    if timed is not None:
        setattr(*timed, datetime.fromisoformat(entry.at).replace(tzinfo=None))
    if entry.forgets:
        versions = _glue_table(entry.region, *entry.subject[2:]).versions
        for version in entry.forgets:
            versions.pop(version, None)


def _moment(action: str, subject: tuple[str, ...]) -> str | None:
    """When Glue says it was done, to the microsecond that it will say again."""
    timed = _timed(action, subject)
    return None if timed is None else str(getattr(*timed).isoformat())


def _timed(action: str, subject: tuple[str, ...]) -> tuple[Any, str] | None:
    """What of Glue this action gives a time, and under which name."""
    _, region, *names = subject
    if action == "CreateDatabase":
        backend: Any = glue_backends[DEFAULT_ACCOUNT_ID][region]
        return backend.get_database(names[0]), "created_time"
    times = {"CreateTable": "created_time", "UpdateTable": "updated_time"}
    return (_glue_table(region, *names), times[action]) if action in times else None


def _glue_table(region: str, database: str, name: str) -> Any:
    backend: Any = glue_backends[DEFAULT_ACCOUNT_ID][region]
    return backend.get_table(database, name)
