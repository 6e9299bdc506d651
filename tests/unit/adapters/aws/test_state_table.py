"""The state table: made, recognised, left alone by whoever only looks, and what DynamoDB's errors mean there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from firnline.adapters.aws import leases as lease_verbs
from firnline.adapters.aws import ledger as ledgers
from firnline.adapters.aws import state_table
from firnline.adapters.aws.leases import DynamoLeases
from firnline.adapters.aws.ledger import DynamoLedger
from firnline.adapters.aws.sessions import Sessions
from firnline.adapters.aws.state_table import BATCH_TRIES, SCHEMA_VERSION, TRANSACTION_TRIES, StateTable
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError, Missing
from firnline.core.ids import RunId, StepId
from firnline.loop.ports import Event, EventKind, Lease, Rank
from tests import dynamo, servers
from tests.dynamo import Canned, Fate, Proxy

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEY = "lake/8d1f"
LOOKING = {"GetItem", "BatchGetItem", "Query"}
WORKING = LOOKING | {"UpdateItem", "PutItem", "TransactWriteItems"}
MAKING = {
    "GetItem", "UpdateItem", "DescribeTable", "CreateTable", "DescribeContinuousBackups", "UpdateContinuousBackups",
}  # fmt: skip


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    """One proxy for all."""
    with dynamo.proxied() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def once(proxy: Proxy) -> Iterator[Sessions]:
    """Clients behind the proxy that send every request once."""
    sessions = dynamo.new_sessions(proxy.endpoint, tries=1)
    yield sessions
    sessions.close()


@pytest.fixture(autouse=True)
def at_once(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits, and the proxy begins with nothing to do."""
    monkeypatch.setattr(state_table, "_PAUSE_FIRST", 0.0)
    proxy.begin()


@pytest.fixture(scope="module")
def made() -> StateTable:
    """A table that is there."""
    return dynamo.new_table()


@pytest.fixture
def table(made: StateTable, once: Sessions) -> StateTable:
    """The same, behind the proxy."""
    return StateTable(once, made.name)


def client() -> Any:
    return dynamo.sessions().client("dynamodb")


def name() -> str:
    return f"state-{uuid.uuid4().hex}"


def intent(run: str = "r1", step: str = "1", /, **body: Any) -> Event:
    return Event(RunId(run), EventKind.INTENT, NOW, StepId(step), KEY, "shop.orders", body)


def ending(run: str, step: str = "1") -> Event:
    return Event(RunId(run), EventKind.OUTCOME, NOW, StepId(step), KEY, "shop.orders", {"outcome": "done"})


@pytest.mark.parametrize("bad", ["", "ab", "a b", "a/b", "täble", "a" * 256, "abc\n", "'; DROP TABLE leases"])
def test_names(once: Sessions, bad: str) -> None:
    """What no table can be called is refused before anything is asked."""
    with pytest.raises(BadInput, match="is not a name of a DynamoDB table"):
        StateTable(once, bad)


def test_made(proxy: Proxy, once: Sessions) -> None:
    """A table is made when there is work: paid by request, with backups, without index, and nothing in it lapses."""
    table = StateTable(once, name())
    table.ensure()
    assert set(proxy.seen) == MAKING
    found = client().describe_table(TableName=table.name)["Table"]
    assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert not found.get("GlobalSecondaryIndexes")
    assert not found.get("LocalSecondaryIndexes")
    backups = client().describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    lapsing = client().describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
    assert lapsing["TimeToLiveStatus"] == "DISABLED"


def test_there_already(made: StateTable, table: StateTable, proxy: Proxy) -> None:
    """A table that is there is asked for its version once, and not touched."""
    table.ensure()
    table.ensure()
    assert proxy.seen == ["GetItem"]
    assert made.look()


def test_killed_while_making(proxy: Proxy, once: Sessions) -> None:
    """Wherever making it was cut off, the next one makes it whole."""
    for loss in (Fate.NEVER_SENT, Fate.REPLY_LOST):
        for number in range(10):
            table = StateTable(once, name())
            proxy.begin(*[Fate.PASSED] * number, loss, after=Fate.NEVER_SENT)
            try:
                table.ensure()
            except Failed:
                proxy.begin()
            else:
                break
            heir = StateTable(once, table.name)
            heir.ensure()
            assert heir.look()
            backups = client().describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]
            assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
        assert number >= len(MAKING) - 1
        proxy.begin()


def test_slow_to_be_made(proxy: Proxy, once: Sessions) -> None:
    """A table is waited for while it is being made, and so are its backups."""
    nothing, creating = Canned(200, {}), Canned(200, {"Table": {"TableStatus": "CREATING"}})
    off: dict[str, Any] = {"ContinuousBackupsDescription": {"ContinuousBackupsStatus": "DISABLED"}}
    table = StateTable(once, name())
    proxy.begin(
        nothing,  # no version
        Fate.PASSED, Fate.PASSED, creating, creating, Fate.PASSED,  # looked for, made, waited for
        Canned(200, off), dynamo.error("ContinuousBackupsUnavailableException"), Canned(200, off), Fate.PASSED,
    )  # fmt: skip
    table.ensure()
    assert table.look()


def test_never_made(proxy: Proxy, once: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is never ready is given up with a word."""
    monkeypatch.setattr(state_table, "MAKING_SECONDS", 0.05)
    proxy.begin(Canned(200, {}), after=Canned(200, {"Table": {"TableStatus": "CREATING"}}))
    with pytest.raises(Blocked, match="was not ready"):
        StateTable(once, name()).ensure()


def test_a_server_without_backups(proxy: Proxy, once: Sessions) -> None:
    """A server that speaks like DynamoDB and knows no backups is good enough for what is not AWS."""
    table = StateTable(once, name())
    passed = [Fate.PASSED] * 4  # version, looked for, made, looked for again
    proxy.begin(*passed, dynamo.error("UnknownOperationException"))
    table.ensure()
    assert table.look()


def test_looking_where_nothing_is(proxy: Proxy, once: Sessions) -> None:
    """Looking where no table is sees an empty one, and asks for nothing but reading."""
    table = StateTable(once, name())
    leases, ledger = DynamoLeases(table), DynamoLedger(table)
    assert not table.look()
    assert leases.look(KEY) is None
    assert (ledger.run(RunId("r1")), ledger.run(RunId("r1"), StepId("1")), ledger.table(KEY, 3)) == ((), (), ())
    assert (ledger.runs(3), ledger.runs(3, before=RunId("r1")), ledger.open_intents(KEY)) == ((), (), ())
    assert table.get_all([("a", "b")]) == {}
    assert set(proxy.seen) <= LOOKING
    with pytest.raises(client().exceptions.ResourceNotFoundException):
        client().describe_table(TableName=table.name)


def test_gone_while_working() -> None:
    """A table that goes away while we work with it is no empty one: what is held would look free."""
    table = dynamo.new_table()
    client().delete_table(TableName=table.name)
    for ask in (
        lambda: DynamoLeases(table).look(KEY),
        lambda: DynamoLedger(table).open_intents(KEY),
        lambda: DynamoLeases(table).mark(KEY, "work"),
        lambda: DynamoLedger(table).record(intent()),
    ):
        with pytest.raises(Missing, match=table.name):
            ask()


def test_a_newer_version() -> None:
    """A table of a newer version is refused, for looking and for work."""
    table = dynamo.new_table()
    table.put(("schema", "schema"), {"version": SCHEMA_VERSION + 1})
    for ask in (table.look, StateTable(dynamo.sessions(), table.name).ensure):
        with pytest.raises(Blocked, match="written by a newer Firnline") as raised:
            ask()
        assert raised.value.next_step


def _other_keys(table: str) -> None:
    _create(table, "id", None)


def _numbers(table: str) -> None:
    _create(table, "pk", "sk", "N")


def _in_use(table: str) -> None:
    _create(table, "pk", "sk")
    client().put_item(TableName=table, Item={"pk": {"S": "order#1"}, "sk": {"S": "1"}})


def _no_version(table: str) -> None:
    _create(table, "pk", "sk")
    client().put_item(TableName=table, Item={"pk": {"S": "schema"}, "sk": {"S": "schema"}, "version": {"S": "v1"}})


def _create(table: str, partition: str, sort: str | None, kind: str = "S") -> None:
    keys = [(partition, "HASH"), (sort, "RANGE")]
    client().create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": key, "KeyType": role} for key, role in keys if key],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": kind} for key, _ in keys if key],
    )


@pytest.mark.parametrize("arrange", [_other_keys, _numbers, _in_use, _no_version])
def test_not_ours(arrange: Callable[[str], None]) -> None:
    """Somebody else's table is refused and left as it is."""
    table = StateTable(dynamo.sessions(), name())
    arrange(table.name)
    before = client().scan(TableName=table.name)["Items"]
    with pytest.raises(BadInput, match="is not Firnline's state") as raised:
        table.ensure()
    assert raised.value.next_step
    assert client().scan(TableName=table.name)["Items"] == before


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (dynamo.error("ProvisionedThroughputExceededException"), Blocked, "asks for fewer requests"),
        (dynamo.error("ThrottlingException"), Blocked, "asks for fewer requests"),
        (dynamo.error("RequestLimitExceeded"), Blocked, "asks for fewer requests"),
        (dynamo.error("AccessDeniedException", "no"), Failed, "may not do dynamodb:{right} on DynamoDB table state-"),
        (dynamo.error("UnrecognizedClientException"), Failed, "credentials were not accepted"),
        (dynamo.error("InternalServerError"), Failed, "InternalServerError"),
        (Fate.NEVER_SENT, Failed, "closed the connection"),
        (Fate.REPLY_LOST, Failed, "closed the connection"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("right", "ask"),
    [
        ("GetItem", lambda table: DynamoLeases(table).look(KEY)),
        ("UpdateItem", lambda table: DynamoLeases(table).mark(KEY, "work")),
        ("Query", lambda table: DynamoLedger(table).run(RunId("r1"))),
        ("PutItem", lambda table: table.add(("a", uuid.uuid4().hex), {}, {})),
        ("BatchGetItem", lambda table: table.get_all([("a", "b")])),
    ],
    ids=["GetItem", "UpdateItem", "Query", "TransactWriteItems", "BatchGetItem"],
)
def test_errors_in_words(
    right: str, ask: Callable[[StateTable], object], reply: Fate | Canned, kind: type[FirnlineError], words: str,
    table: StateTable, proxy: Proxy,
) -> None:  # fmt: skip
    """What DynamoDB says is told as what it means, with the right that is missing."""
    proxy.begin(after=reply)
    with pytest.raises(kind, match=words.format(right=right)):
        ask(table)


CONFLICT = dynamo.cancelled("None", "TransactionConflict")
BUSY = dynamo.cancelled("ThrottlingError", "None")


@pytest.mark.parametrize(
    ("script", "requests"),
    [([], 1), ([CONFLICT], 2), ([BUSY], 2), ([CONFLICT, BUSY, CONFLICT], 4)],
    ids=["none", "conflict", "busy", "several"],
)
def test_lost_to_others(script: list[Fate | Canned], requests: int, table: StateTable, proxy: Proxy) -> None:
    """A transaction that met others is sent again, as another one: it was not carried out."""
    proxy.begin(*script)
    assert table.add(("a", uuid.uuid4().hex), {}, {})
    assert len(proxy.seen) == requests
    assert len({asked["ClientRequestToken"] for asked in proxy.asked}) == requests


@pytest.mark.parametrize(
    ("reply", "kind", "requests"),
    [(CONFLICT, Blocked, TRANSACTION_TRIES), (dynamo.cancelled("ValidationError"), Failed, 1)],
    ids=["conflict", "invalid"],
)
def test_never_added(reply: Canned, kind: type[FirnlineError], requests: int, table: StateTable, proxy: Proxy) -> None:
    """A transaction that always meets others is given up with a word; one that is wrong is not sent again."""
    proxy.begin(after=reply)
    with pytest.raises(kind, match=table.name):
        table.add(("a", "b"), {}, {})
    assert len(proxy.seen) == requests


def test_added_once(table: StateTable, proxy: Proxy) -> None:
    """What is there is not added again, and nothing of what comes with it, whatever else went wrong in the same."""
    first, second = ("a", uuid.uuid4().hex), ("b", uuid.uuid4().hex)
    assert table.add(first, {"n": 1}, {})
    assert not table.add(first, {"n": 2}, {second: {"n": 2}})
    assert table.get_all([first, second]) == {first: {"pk": first[0], "sk": first[1], "n": 1}}
    proxy.begin(dynamo.cancelled("ConditionalCheckFailed", "TransactionConflict"))
    assert not table.add(first, {"n": 2}, {})


def test_answers_in_parts(table: StateTable, proxy: Proxy) -> None:
    """Keys DynamoDB did not come to are asked for again; one that never comes is not taken for absent."""
    keys = [("batch", uuid.uuid4().hex) for _ in range(3)]
    for key in keys:
        table.put(key, {"n": 1})
    left = {table.name: {"Keys": [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in keys], "ConsistentRead": True}}
    nothing = Canned(200, {"Responses": {}, "UnprocessedKeys": left})
    proxy.begin(nothing, nothing)
    assert set(table.get_all(keys)) == set(keys)
    proxy.begin(after=nothing)
    with pytest.raises(Blocked, match=f"gave nothing {BATCH_TRIES} times"):
        table.get_all(keys)


def test_a_body_that_lost_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that is not whole is never shown as if it were."""
    monkeypatch.setattr(ledgers, "PLAIN_MAX", 10)
    monkeypatch.setattr(ledgers, "PART_BYTES", 20)
    table = dynamo.new_table()
    DynamoLedger(table).record(intent(step={"of": "several parts", "and": list(range(40))}))
    (part, *_) = client().scan(
        TableName=table.name,
        FilterExpression="begins_with(pk, :body)",
        ExpressionAttributeValues={":body": {"S": "body#"}},
    )["Items"]
    client().delete_item(TableName=table.name, Key={"pk": part["pk"], "sk": part["sk"]})
    with pytest.raises(Failed, match="is not whole"):
        DynamoLedger(table).run(RunId("r1"))


def test_every_read_is_of_the_latest(proxy: Proxy, once: Sessions) -> None:
    """Leases and ledger ask for nothing but what is known here, never for an index, and read what was written last."""
    table = StateTable(once, dynamo.new_table().name)
    leases, ledger = DynamoLeases(table), DynamoLedger(table)
    leases.mark(KEY, "work")
    lease = leases.acquire(KEY, "me", Rank.REST, NOW, MINUTE)
    assert lease is not None
    assert leases.guard(lease, NOW, MINUTE)
    ledger.record(Event(RunId("r1"), EventKind.STARTED, NOW, body={"command": "firnline apply"}))
    ledger.record(intent(step={"large": list(range(200_000))}))
    assert len(ledger.open_intents(KEY)) == len(ledger.table(KEY, 5)) == len(ledger.runs(5)) == 1
    ledger.record(ending("r1"))
    assert len(ledger.run(RunId("r1"), StepId("1"))) == 3
    assert set(proxy.seen) == WORKING
    reads = [asked for operation, asked in zip(proxy.seen, proxy.asked, strict=True) if operation in LOOKING]
    assert all(asked.get("ConsistentRead") or "RequestItems" in asked for asked in reads)
    batches = [asked["RequestItems"][table.name] for asked in reads if "RequestItems" in asked]
    assert batches
    assert all(batch["ConsistentRead"] for batch in batches)
    assert not [asked for asked in proxy.asked if "IndexName" in asked]


def test_a_guard_that_answers_late(monkeypatch: pytest.MonkeyPatch, made: StateTable) -> None:
    """The time a guard's answer takes is not left of the lease any more."""
    leases, key = DynamoLeases(made), uuid.uuid4().hex
    lease = leases.acquire(key, "me", Rank.REST, NOW, MINUTE)
    assert lease is not None
    for seconds, held in ((0.4, True), (29.9, True), (31.0, False)):
        clock = iter((100.0, 100.0 + seconds))
        monkeypatch.setattr(lease_verbs, "time", SimpleNamespace(monotonic=clock.__next__))
        assert leases.guard(lease, NOW, MINUTE / 2) is held


def test_durable(made: StateTable) -> None:
    """What was recorded is there for others, and for whoever only looks."""
    event = intent(uuid.uuid4().hex)
    DynamoLedger(made).record(event)
    other = dynamo.new_sessions(servers.aws().endpoint)
    looking = StateTable(other, made.name)
    assert looking.look()
    assert DynamoLedger(looking).run(event.run) == (event,)
    other.close()


def test_a_verb_is_a_request(table: StateTable, proxy: Proxy) -> None:
    """A verb costs one request, and a second one only to tell a holder, or to say that more is asked for."""
    leases = DynamoLeases(table)
    held: list[Lease | None] = []
    steps: list[tuple[Callable[[], object], int]] = [
        (lambda: leases.mark(KEY, "work"), 1),
        (lambda: held.append(leases.acquire(KEY, "me", Rank.REST, NOW, MINUTE)), 1),
        (lambda: leases.acquire(KEY, "you", Rank.REST, NOW, MINUTE), 1),
        (lambda: leases.acquire(KEY, "you", Rank.FOLD, NOW, MINUTE), 2),
        (lambda: leases.renew(_held(held), NOW, MINUTE * 2), 1),
        (lambda: leases.renew(_held(held), NOW, MINUTE), 1),
        (lambda: leases.guard(_held(held), NOW, MINUTE), 1),
        (lambda: leases.complete(_held(held)), 1),
        (lambda: leases.complete(_held(held)), 1),
        (lambda: leases.park(KEY, "stop"), 1),
        (lambda: leases.unpark(KEY), 1),
        (lambda: held.append(leases.acquire(KEY, "me", Rank.ERASURE, NOW, MINUTE)), 1),
        (lambda: leases.mark(KEY, "more"), 1),
        (lambda: leases.complete(_held(held)), 2),
        (lambda: held.append(leases.acquire(KEY, "me", Rank.ERASURE, NOW, MINUTE)), 1),
        (lambda: leases.fail(_held(held), NOW, 3), 1),
        (lambda: held.append(leases.acquire(KEY, "me", Rank.ERASURE, NOW, MINUTE)), 1),
        (lambda: leases.release(_held(held)), 1),
    ]
    for number, (verb, requests) in enumerate(steps):
        proxy.begin()
        verb()
        assert len(proxy.seen) == requests, f"step {number}"


def _held(leases: list[Lease | None]) -> Lease:
    lease = leases[-1]
    assert lease is not None
    return lease


def test_what_questions_cost(proxy: Proxy, once: Sessions) -> None:
    """What is open costs two requests however much was recorded, one when nothing is; a run costs one of a list."""
    table = StateTable(once, dynamo.new_table().name)
    ledger = DynamoLedger(table)
    for number in range(12):
        ledger.record(Event(RunId(f"r{number}"), EventKind.STARTED, NOW, body={"command": "c", "steps": 1}))
        ledger.record(intent(f"r{number}"))
        ledger.record(ending(f"r{number}"))
    proxy.begin()
    assert ledger.open_intents(KEY) == ()
    assert proxy.seen == ["Query"]
    assert client().query(
        TableName=table.name, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": f"open#{KEY}"}}
    )["Count"] == 0  # fmt: skip
    ledger.record(intent("r99"))
    proxy.begin()
    assert ledger.open_intents(KEY) == (intent("r99"),)
    assert proxy.seen == ["Query", "BatchGetItem"]
    proxy.begin()
    assert len(ledger.runs(5)) == 5
    assert proxy.seen == ["Query"] * 6
    proxy.begin()
    assert len(ledger.table(KEY, 20)) == 20
    assert proxy.seen == ["Query", "BatchGetItem"]
