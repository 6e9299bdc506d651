"""The DynamoDB table that holds leases and ledger of an environment: made, recognised, asked. The only module that
talks to it.

One table, paid by request, keys `pk` and `sk`. Every read is strongly consistent and comes from the table itself: there
is no index, no scan, and nothing in it ever lapses by itself. What is where:

| pk           | sk            | item |
|--------------|---------------|------|
| `schema`     | `schema`      | the version of this layout |
| `order`      | `order`       | how far events are counted; see `DynamoLedger` |
| `lease#KEY`  | `lease`       | everything about one lease key |
| `run#RUN`    | `STEP#KIND`   | an event; run-wide ones have an empty STEP |
| `body#HASH`  | number        | a part of a body too large for one item |
| `runs`       | order         | which runs there are |
| `table#KEY`  | order         | which events a table has |
| `open#KEY`   | `STEP#RUN`    | an intent that may still be open |
"""

from __future__ import annotations

import re
import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError

from firnline.adapters.aws import troubles
from firnline.adapters.aws.items import PARTITION_KEY, SORT_KEY, Key, Plain, filled, from_item, to_item, to_key
from firnline.adapters.aws.sessions import Sessions
from firnline.core.errors import BadInput, Blocked, Failed

SCHEMA_VERSION = 1
MAKING_SECONDS = 120.0  # AWS makes a table in ten to thirty seconds, and its backups some seconds later
TRANSACTION_TRIES = 10  # lost to other writers in a row: their transactions last milliseconds
BATCH_TRIES = 8
BATCH_KEYS_MAX = 100  # of one BatchGetItem
_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_SCHEMA: Key = ("schema", "schema")
_SHAPE = [(PARTITION_KEY, "HASH", "S"), (SORT_KEY, "RANGE", "S")]
_PAUSE_FIRST = 0.05
_PAUSE_MAX = 2.0
_OVERTAKEN = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "ThrottlingException"}
)
_RIGHTS = {"TransactWriteItems": "PutItem"}  # IAM asks for the rights of what is in it
_dice = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update came to: the item after it, or, where its condition did not hold, the item as it stands."""

    done: bool
    item: Mapping[str, Any] | None


class StateTable:
    """The table by its name. `look` before looking, `ensure` before work; any number of threads."""

    def __init__(self, sessions: Sessions, name: str) -> None:
        if not _TABLE_NAME.fullmatch(name):
            raise BadInput(
                f"{troubles.said(name)!r} is not a name of a DynamoDB table.",
                next_step="Write 3 to 255 letters, digits, dots, dashes and underscores.",
            )
        self._sessions = sessions
        self.name = name
        self._working = False
        self._lock = threading.Lock()

    def look(self) -> bool:
        """Whether it is there and ours. Nothing is made; a table that is not there reads as an empty one."""
        request = {"TableName": self.name, "Key": to_key(_SCHEMA), "ConsistentRead": True}
        answer = self._ask("GetItem", request, tolerated="ValidationException", absent_is_empty=True)
        if "Error" in answer:  # its keys are others
            raise self._not_ours()
        if "Item" not in answer:
            return False
        version = from_item(answer["Item"]).get("version")
        if not isinstance(version, int):
            raise self._not_ours()
        if version > SCHEMA_VERSION:
            raise Blocked(
                f"The DynamoDB table {self.name} was written by a newer Firnline (state schema {version}; "
                f"this one knows up to {SCHEMA_VERSION}).",
                why="An older version could misread leases that a newer one holds.",
                next_step="Upgrade Firnline here too.",
            )
        return True

    def ensure(self) -> None:
        """Make it when it is not there. Killed anywhere, or done by two at once, the next call goes on from there."""
        with self._lock:
            if not self._working and not self.look():
                self._make()
            self._working = True

    # ------------------------------------------------------------------------------------------------------- reading

    def get(self, key: Key, *names: str) -> dict[str, Any] | None:
        """One item, or of it the attributes of these names."""
        projected = filled({}, ProjectionExpression=", ".join(f"#{name}" for name in names))
        answer = self._read("GetItem", Key=to_key(key), ConsistentRead=True, **projected)
        return from_item(answer["Item"]) if "Item" in answer else None

    def get_all(self, keys: Sequence[Key]) -> dict[Key, dict[str, Any]]:
        """The items of these keys that are there."""
        found: dict[Key, dict[str, Any]] = {}
        for start in range(0, len(keys), BATCH_KEYS_MAX):
            left, number = [to_key(key) for key in keys[start : start + BATCH_KEYS_MAX]], 0
            while left:
                request = {"RequestItems": {self.name: {"Keys": left, "ConsistentRead": True}}}
                answer = self._ask("BatchGetItem", request, absent_is_empty=True)
                items = [from_item(item) for item in answer.get("Responses", {}).get(self.name, [])]
                found |= {(item[PARTITION_KEY], item[SORT_KEY]): item for item in items}
                left = answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
                if left and not items:  # some, and not all: the answer was full. None: too much is asked of the table
                    number += 1
                    if number == BATCH_TRIES:
                        raise self._overrun(f"gave nothing {BATCH_TRIES} times in a row")
                    _pause(number)
        return found

    def query(
        self, partition: str, *, prefix: str = "", below: str = "", newest: int | None = None, names: Sequence[str] = ()
    ) -> Iterator[dict[str, Any]]:
        """The items of a partition in the order of their sort keys, or the last `newest` of them, backwards.

        Only those whose sort key begins with `prefix`, or lies below `below`.
        """
        condition = f"#{PARTITION_KEY} = :pk"
        condition += f" AND begins_with(#{SORT_KEY}, :prefix)" if prefix else ""
        condition += f" AND #{SORT_KEY} < :below" if below else ""
        request = filled(
            {"pk": partition, "prefix": prefix, "below": below},
            KeyConditionExpression=condition,
            ProjectionExpression=", ".join(f"#{name}" for name in names),
        )
        left = newest
        while left is None or left > 0:
            limit = {} if left is None else {"Limit": left}
            answer = self._read("Query", ConsistentRead=True, ScanIndexForward=newest is None, **request, **limit)
            items = answer.get("Items", [])
            yield from map(from_item, items)
            if "LastEvaluatedKey" not in answer:
                return
            left = None if left is None else left - len(items)
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    # ------------------------------------------------------------------------------------------------------- writing

    def update(self, key: Key, change: str, values: Mapping[str, Plain], condition: str | None = None) -> Updated:
        """One item changed, atomically, when the condition holds. An item that is not there is begun."""
        request = {"TableName": self.name, "Key": to_key(key), "ReturnValues": "ALL_NEW"}
        request |= filled(values, UpdateExpression=change, ConditionExpression=condition)
        if condition is not None:
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        answer = self._ask("UpdateItem", request, tolerated="ConditionalCheckFailedException")
        item = answer.get("Item" if "Error" in answer else "Attributes")
        return Updated("Error" not in answer, from_item(item) if item else None)

    def put(self, key: Key, values: Mapping[str, Plain]) -> None:
        """One item, whatever stood there: for what can only ever be the same."""
        self._ask("PutItem", {"TableName": self.name, "Item": to_item(key, values)})

    def add(self, first: Key, values: Mapping[str, Plain], more: Mapping[Key, Mapping[str, Plain] | None]) -> bool:
        """`first` added, and with it `more` put (or, where None, deleted), all or nothing. False when `first` is there.

        A reply that was lost is asked for again with the same token: within ten minutes DynamoDB answers the second
        time what it did the first. A server that forgot, or knows no tokens, answers False.
        """
        table = {"TableName": self.name}
        absent = filled({}, ConditionExpression=f"attribute_not_exists(#{PARTITION_KEY})")
        actions: list[dict[str, Any]] = [{"Put": {**table, "Item": to_item(first, values), **absent}}]
        for key, item in more.items():
            if item is None:
                actions.append({"Delete": {**table, "Key": to_key(key)}})
            else:
                actions.append({"Put": {**table, "Item": to_item(key, item)}})
        for number in range(TRANSACTION_TRIES):
            request = {"TransactItems": actions, "ClientRequestToken": str(uuid.uuid4())}
            answer = self._ask("TransactWriteItems", request, tolerated="TransactionCanceledException")
            if "Error" not in answer:
                return True
            why = {reason.get("Code") for reason in answer.get("CancellationReasons", [])}
            if "ConditionalCheckFailed" in why:  # the only condition is that of `first`
                return False
            if not why & _OVERTAKEN:
                said = troubles.said(answer["Error"].get("Message", ""))
                raise Failed(f"The DynamoDB table {self.name} refused an event: {said}.")
            _pause(number)
        raise self._overrun(f"was written by others at the same moment {TRANSACTION_TRIES} times in a row")

    # -------------------------------------------------------------------------------------------------------- making

    def _make(self) -> None:
        table = self._ready()
        keys = {key["AttributeName"]: key["KeyType"] for key in table["KeySchema"]}
        kinds = {kind["AttributeName"]: kind["AttributeType"] for kind in table["AttributeDefinitions"]}
        ours = [(name, keys.get(name), kinds.get(name)) for name in keys] == _SHAPE
        if not ours or (table.get("ItemCount") and not self.look()):
            raise self._not_ours()
        self._protect()
        # Last: until it stands, whoever comes next begins with the first line of this again.
        absent = f"attribute_not_exists(#{PARTITION_KEY})"
        self.update(_SCHEMA, "SET #version = :version", {"version": SCHEMA_VERSION}, absent)
        self.look()

    def _ready(self) -> dict[str, Any]:
        """The table's description once it can be used, made when there is none."""
        for _ in _patiently():
            table: dict[str, Any] | None = self._read("DescribeTable").get("Table")
            if table is None:
                request = {
                    "TableName": self.name,
                    "BillingMode": "PAY_PER_REQUEST",
                    "KeySchema": [{"AttributeName": name, "KeyType": role} for name, role, _ in _SHAPE],
                    "AttributeDefinitions": [
                        {"AttributeName": name, "AttributeType": kind} for name, _, kind in _SHAPE
                    ],
                }
                self._ask("CreateTable", request, tolerated="ResourceInUseException")  # somebody else was faster
            elif table["TableStatus"] in {"ACTIVE", "UPDATING"}:
                return table
        raise self._overrun(f"was not ready {MAKING_SECONDS:.0f} seconds after it was made")

    def _protect(self) -> None:
        """Point-in-time recovery on. A server that never heard of it is no AWS, and has nothing to recover from."""
        table: dict[str, Any] = {"TableName": self.name}
        for _ in _patiently():
            answer = self._ask("DescribeContinuousBackups", table, tolerated="UnknownOperationException")
            backups = answer.get("ContinuousBackupsDescription", {}).get("PointInTimeRecoveryDescription", {})
            if "Error" in answer or backups.get("PointInTimeRecoveryStatus") == "ENABLED":
                return
            request = table | {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
            answer = self._ask("UpdateContinuousBackups", request, tolerated="ContinuousBackupsUnavailableException")
            if "Error" not in answer:
                return
        raise self._overrun(f"could not be given backups for {MAKING_SECONDS:.0f} seconds after it was made")

    # -------------------------------------------------------------------------------------------------------- asking

    def _read(self, operation: str, **request: Any) -> dict[str, Any]:
        return self._ask(operation, {"TableName": self.name, **request}, absent_is_empty=True)

    def _ask(
        self, operation: str, request: Mapping[str, Any], *, tolerated: str = "", absent_is_empty: bool = False
    ) -> dict[str, Any]:
        """The answer; one with an `Error` for the error `tolerated`, an empty one where no table may be."""
        with self._sessions.asking(f"dynamodb:{_RIGHTS.get(operation, operation)}", f"DynamoDB table {self.name}"):
            client = self._sessions.client("dynamodb")
            try:
                answer: dict[str, Any] = getattr(client, xform_name(operation))(**request)
            except ClientError as error:
                code = troubles.code(error)
                # Once we work with it, a table that went away is no empty one: what is held would look free.
                if code == "ResourceNotFoundException" and absent_is_empty and not self._working:
                    return {}
                if code != tolerated:
                    raise
                return dict(error.response)
            return answer

    def _not_ours(self) -> BadInput:
        return BadInput(
            f"The DynamoDB table {self.name} is not Firnline's state.",
            why=f"Ours begins empty, has the keys {PARTITION_KEY} and {SORT_KEY}, both texts, and knows its version.",
            next_step="Give the environment's `state` a table of its own; it is made when it is not there.",
        )

    def _overrun(self, what: str) -> Blocked:
        return Blocked(f"The DynamoDB table {self.name} {what}.", next_step="Run the same command again in a minute.")


def _pause(number: int) -> None:
    # Whoever lost together must not come back together.
    time.sleep(min(_PAUSE_FIRST * 2**number, _PAUSE_MAX) * _dice.uniform(0.3, 1.0))


def _patiently() -> Iterator[None]:
    deadline, number = time.monotonic() + MAKING_SECONDS, 0
    while time.monotonic() < deadline:
        yield
        _pause(number)
        number += 1
