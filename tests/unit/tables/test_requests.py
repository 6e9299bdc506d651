"""What a commit request requires and does, change by change, and the codecs of step bodies."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from firnline.config.values import Declaration, DeclaredDrop
from firnline.core.errors import BadInput
from firnline.core.layout import PartitionSpec, SortOrder
from firnline.facts.meta import Schema, TableMeta
from firnline.loop.commits import CommitRequest
from firnline.tables import codec, target
from firnline.tables.difference import compare
from firnline.tables.plan import Known, Planned, Setting, path_part, plan
from firnline.tables.values import CHANGE, CREATE, DROP, NAMESPACE, Evidence, SpecFacts
from tests.decisions import drafts
from tests.decisions.drafts import UUID, accept, add, alter, branch, partition, sort, tag, without

ORDERS = drafts.declare("id: long required", "at: date", "note: string", format_version=2)
FULL = Evidence({0: SpecFacts(1, 1, 1)}, {3: 0})
UUID_HOLDS = {"type": "assert-table-uuid", "uuid": UUID}
SCHEMA_HOLDS = (
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
)
SPEC_HOLDS = (
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
)
ORDER_HOLDS = {"type": "assert-default-sort-order-id", "default-sort-order-id": 0}


def request(after: Declaration, meta: TableMeta | None = None) -> CommitRequest:
    """The request that makes the table what the file says."""
    found = compare(after, meta or drafts.table(ORDERS), FULL).request
    assert found is not None
    return found


def actions(of: CommitRequest) -> list[str]:
    """What it does, in order."""
    return [update["action"] for update in of.updates]


def at_ref(name: str, snapshot: int | None) -> dict[str, Any]:
    """The requirement that a ref is there."""
    return {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": snapshot}


@pytest.mark.parametrize(
    ("after", "requirements", "does"),
    [
        (add(ORDERS, "x: int"), SCHEMA_HOLDS, ["add-schema", "set-current-schema"]),
        (
            replace(alter(ORDERS, "note", required=True), accept=accept("require-column", "note")),
            (*SCHEMA_HOLDS, at_ref("main", 2)),
            ["add-schema", "set-current-schema"],
        ),
        (replace(ORDERS, identifier_fields=(("id",),)), SCHEMA_HOLDS, ["add-schema", "set-current-schema"]),
        (replace(ORDERS, partition=(partition("day at"),)), SPEC_HOLDS, ["add-spec", "set-default-spec"]),
        (replace(ORDERS, order=(sort("identity id"),)), (ORDER_HOLDS,), ["add-sort-order", "set-default-sort-order"]),
        (replace(ORDERS, properties={"a": "1"}), (), ["set-properties"]),
        (replace(ORDERS, location="file:///x"), (), ["set-location"]),
        (replace(ORDERS, format_version=3), (), ["upgrade-format-version"]),
        (replace(ORDERS, refs=(branch("dev"),)), (at_ref("dev", None),), ["set-snapshot-ref"]),
        (replace(ORDERS, refs=(branch("main", snapshots_min=2),)), (at_ref("main", 2),), ["set-snapshot-ref"]),
    ],
)  # fmt: skip
def test_a_change_requires_what_it_rests_on(after: Declaration, requirements: tuple[Any, ...], does: list[str]) -> None:
    """Beside the table's uuid, a request requires what its changes rest on and nothing else."""
    found = request(after)
    assert found.requirements == (UUID_HOLDS, *requirements)
    assert actions(found) == does


def test_all_changes_of_a_table_are_one_request() -> None:
    """Format, schema, spec, order, location, properties and refs go together, in an order a catalog can follow."""
    everything = replace(
        add(ORDERS, "x: variant"),
        format_version=3,
        partition=(partition("day at"),),
        order=(sort("identity id"),),
        location="file:///x/",
        properties={"a": "1", "old": None},
        refs=(tag("y25", snapshot=1), branch("dev", absent=True)),
    )
    meta = drafts.table(ORDERS, refs=(drafts.ref("dev", 1),), properties={"old": "1"})
    found = request(everything, meta)
    assert actions(found) == [
        "upgrade-format-version", "add-schema", "set-current-schema", "add-spec", "set-default-spec", "add-sort-order",
        "set-default-sort-order", "set-location", "set-properties", "remove-properties", "set-snapshot-ref",
        "remove-snapshot-ref",
    ]  # fmt: skip
    assert found.requirements == (
        UUID_HOLDS, *SCHEMA_HOLDS, *SPEC_HOLDS, ORDER_HOLDS, at_ref("y25", None), at_ref("dev", 1)
    )  # fmt: skip
    assert found.expect == {"a": None, "old": "1"}
    assert found.updates[7] == {"action": "set-location", "location": "file:///x"}


def test_a_requirement_on_a_ref_is_made_once() -> None:
    """Main is required once when both a proof and its retention rest on it."""
    after = replace(
        alter(ORDERS, "note", required=True),
        accept=accept("require-column", "note"),
        refs=(branch("main", snapshots_min=2),),
    )
    assert request(after).requirements.count(at_ref("main", 2)) == 1


def test_an_older_schema_is_used_again() -> None:
    """A schema the table had is set as current, and none is added."""
    meta = drafts.table(ORDERS)
    wider = target.of(add(ORDERS, "x: int"), meta).schema
    grown = replace(meta, schemas=(*meta.schemas, Schema(1, wider.struct)), current_schema_id=1, last_column_id=4)
    found = request(replace(without(add(ORDERS, "x: int"), "x"), accept=accept("drop-column", "x")), grown)
    assert found.updates == ({"action": "set-current-schema", "schema-id": 0},)


def test_an_older_spec_and_order_are_used_again() -> None:
    """A spec and an order the table had are set as default by their ids."""
    meta = drafts.table(
        replace(ORDERS, partition=(partition("day at"),), order=(sort("identity id"),)), older=(PartitionSpec((), 0),)
    )
    found = request(ORDERS, replace(meta, orders=(*meta.orders, SortOrder((), 0))))
    assert found.updates == (
        {"action": "set-default-spec", "spec-id": 0},
        {"action": "set-default-sort-order", "sort-order-id": 0},
    )


def test_a_new_schema_has_the_next_id_and_the_highest_column() -> None:
    """What a schema update carries is whole: ids, identifier, and the last column id, which never goes down."""
    meta = replace(drafts.table(ORDERS), last_column_id=40)
    after = replace(add(ORDERS, "x: int"), identifier_fields=(("id",),))
    update = request(after, meta).updates[0]
    assert (update["schema"]["schema-id"], update["last-column-id"]) == (1, 41)
    assert update["schema"]["identifier-field-ids"] == [1]
    assert update["schema"]["fields"][-1] == {"id": 41, "name": "x", "required": False, "type": "int"}


def test_unsorted_is_order_0() -> None:
    """Iceberg's order 0 is unsorted, and every other order counts from 1."""
    down = request(ORDERS, drafts.table(replace(ORDERS, order=(sort("identity id"),))))
    assert [update.get("sort-order-id", update.get("sort-order")) for update in down.updates] == [
        {"order-id": 0, "fields": []}, 0
    ]  # fmt: skip
    up = request(replace(ORDERS, order=(sort("identity id"),)))
    assert up.updates[0]["sort-order"]["order-id"] == 1


def planned(
    after: Declaration, known: Known, namespaces: dict[tuple[str, ...], dict[str, str]] | None = None
) -> Planned:
    """The plan for one table."""
    setting = Setting(
        "lake", "file:///w/", lambda: uuid.UUID(UUID), {("shop",): {}} if namespaces is None else namespaces, ()
    )
    return plan([after], {after.identifier: known}, setting)


def test_a_new_table_is_one_request_too() -> None:
    """A creation requires that nothing is there and carries the whole table under its chosen uuid."""
    after = replace(ORDERS, properties={"a": "1", "gone": None}, owner="ann", partition=(partition("day at"),))
    (step,) = planned(after, Known(None, None)).steps
    found: CommitRequest = step.body.request
    assert found.requirements == ({"type": "assert-create"},)
    assert actions(found) == [
        "assign-uuid", "upgrade-format-version", "add-schema", "set-current-schema", "add-spec", "set-default-spec",
        "add-sort-order", "set-default-sort-order", "set-location", "set-properties",
    ]  # fmt: skip
    by_action = {update["action"]: update for update in found.updates}
    assert by_action["assign-uuid"]["uuid"] == step.body.uuid == UUID
    assert by_action["set-location"]["location"] == "file:///w/shop/orders-11111111"
    assert by_action["set-properties"]["updates"] == {"a": "1", "owner": "ann"}
    assert by_action["add-schema"]["last-column-id"] == 3
    assert (step.kind, step.lease, step.base) == (CREATE, "lake/shop.orders", None)


def test_steps_come_in_an_order_that_works() -> None:
    """A namespace comes before the table in it, which waits for it; a change is leased by the table's uuid."""
    namespace, table = planned(ORDERS, Known(None, None), {}).steps
    assert (namespace.kind, namespace.lease, table.requires) == (NAMESPACE, "lake/namespace/shop", (namespace.id,))
    (change,) = planned(add(ORDERS, "x: int"), Known(drafts.table(ORDERS))).steps
    assert (change.kind, change.lease, change.base) == (CHANGE, f"lake/{UUID}", drafts.METADATA)
    (drop,) = planned(replace(ORDERS, drop=DeclaredDrop(False, drafts.REASON)), Known(drafts.table(ORDERS))).steps
    assert (drop.kind, drop.lease, drop.base) == (DROP, "lake/shop.orders", drafts.METADATA)


@pytest.mark.parametrize(
    ("part", "path"),
    [("orders", "orders"), ("a b/c", "a_b_c"), ("größe", "größe"), ("..", "_"), (".hidden", "hidden"), ("", "_")],
)
def test_a_name_becomes_a_folder_that_stays_where_it_belongs(part: str, path: str) -> None:
    """A part of a name as a folder has no slash, no space and no dot in front."""
    assert path_part(part) == path


BODIES: list[tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = [
    (
        codec.encode_change,
        codec.decode_change,
        planned(add(ORDERS, "x: int"), Known(drafts.table(ORDERS))).steps[0].body,
    ),
    (
        codec.encode_drop,
        codec.decode_drop,
        planned(replace(ORDERS, drop=DeclaredDrop(True, drafts.REASON)), Known(drafts.table(ORDERS))).steps[0].body,
    ),
    (codec.encode_namespace, codec.decode_namespace, planned(ORDERS, Known(None, None), {}).steps[0].body),
]


@pytest.mark.parametrize(("encode", "decode", "body"), BODIES)
def test_bodies_survive_the_plan_file(encode: Callable[[Any], Any], decode: Callable[[Any], Any], body: Any) -> None:
    """A body is the same after being written as JSON text and read back."""
    assert decode(json.loads(json.dumps(encode(body)))) == body


@pytest.mark.parametrize(("encode", "decode", "body"), BODIES)
def test_a_mangled_body_is_refused(encode: Callable[[Any], Any], decode: Callable[[Any], Any], body: Any) -> None:
    """With any key missing, or of another kind, a body raises what the codec's contract says and is never half read."""
    whole = json.loads(json.dumps(encode(body)))
    for key in whole:
        for mangled in ({k: v for k, v in whole.items() if k != key}, {**whole, key: 7}, {**whole, key: [7]}):
            with pytest.raises((KeyError, TypeError, ValueError, BadInput)):
                decode(mangled)


@pytest.mark.parametrize(
    ("body", "mangled"),
    [
        (2, {"namespace": "shop"}),
        (2, {"removals": "owner"}),
        (2, {"updates": {"a": 1}}),
        (0, {"changes": [{"kind": "add-column", "subject": "x", "price": {}, "readers": "trino"}]}),
        (0, {"changes": [{"kind": "add-column", "subject": "x", "price": {}, "classes": ["free"]}]}),
        (0, {"changes": [{"kind": "add-rows", "subject": "x", "price": {}}]}),
        (0, {"changes": [{"kind": "add-column", "subject": "x", "price": {"files": "many"}}]}),
        (0, {"request": {"requirements": [{}], "updates": [], "expect": {}}}),
        (0, {"request": {"requirements": [], "updates": [{"action": 1}], "expect": {}}}),
        (0, {"table": "orders"}),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(body: int, mangled: dict[str, Any]) -> None:
    """A text is no list of texts, a number no text, and an unknown word no kind and no class."""
    encode, decode, value = BODIES[body]
    with pytest.raises((KeyError, TypeError, ValueError, BadInput)):
        decode({**encode(value), **mangled})


DEFAULTS = {"commit.retry.num-retries": "20", "owner-team": "lake"}


def test_defaults_of_the_catalog() -> None:
    """A new table gets the catalog's defaults under what its file says, and no later plan speaks of them."""
    after = replace(ORDERS, properties={"owner-team": "mine"})
    (step,) = plan([after], {after.identifier: Known(None, None)}, setting_of(defaults=DEFAULTS)).steps
    by_action = {update["action"]: update for update in step.body.request.updates}
    made = by_action["set-properties"]["updates"]
    assert made == {"commit.retry.num-retries": "20", "owner-team": "mine"}
    later = Known(drafts.table(after, properties=made))
    silent = plan([after], {after.identifier: later}, setting_of(defaults=DEFAULTS))
    assert (silent.steps, silent.notes) == ((), ())
    told = plan([after], {after.identifier: later}, setting_of())
    assert "commit.retry.num-retries" in told.notes[0].text


def test_a_place_the_catalog_chooses() -> None:
    """Without a warehouse the catalog chooses where it can, and else the table's place must be said."""
    chosen = plan([ORDERS], {ORDERS.identifier: Known(None, None)}, setting_of(warehouse=None, assigned=True))
    (step,) = chosen.steps
    assert "set-location" not in actions(step.body.request)
    assert step.body.changes[0].detail == "at a place the catalog chooses"
    with pytest.raises(BadInput, match=r"Nothing says where shop\.orders is to lie"):
        plan([ORDERS], {ORDERS.identifier: Known(None, None)}, setting_of(warehouse=None))


def setting_of(**changed: object) -> Setting:
    """A lakehouse whose catalog has these ways."""
    plain = Setting("lake", "file:///w", lambda: uuid.UUID(UUID), {("shop",): {}}, ())
    return replace(plain, **changed)  # type: ignore[arg-type]
