"""What a declaration brings to a subject, and which columns are looked at."""

from __future__ import annotations

from dataclasses import replace

from firnline.config import tables
from firnline.config.values import Declaration
from firnline.core.ids import SnapshotId
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.judge import examples, judging, policy, subjects
from firnline.judge.values import Consumer

FILE = """
table: shop.orders
columns: [{order_id: long}, {email: string}, {gone: string}]
readers: [spark, athena]
subjects: [email, gone]
consumers: [{id: feed, max-lag: 2h}, {id: slow}]
policy: {snapshots.age: 9d}
"""


def _declaration() -> Declaration:
    return tables.read(FILE.encode(), "tables/orders.yaml")[0]


def test_a_declared_table_brings_its_readers_people_and_consumers() -> None:
    """Readers, personal columns by id, consumers with their lag and where they stand, and the policy."""
    needs = {"feed": SnapshotId(7), "registered": SnapshotId(9)}
    facts, meta, declared = examples.facts(), examples.meta(), _declaration()
    resolved = policy.resolve(None, facts.identifier, declared, meta.properties)
    found = subjects.of(facts, meta, examples.NOW, resolved, declared, needs)
    assert (found.file, found.readers, found.personal_ids) == (
        "tables/orders.yaml",
        ("spark", "athena"),
        (examples.EMAIL,),
    )
    assert found.consumers == (
        Consumer("feed", 7_200_000, SnapshotId(7)),
        Consumer("slow", None, None),
        Consumer("registered", None, SnapshotId(9)),
    )
    assert found.policy.number("snapshots.age") == 9 * examples.DAY


def test_an_undeclared_table_brings_nobody() -> None:
    """Without a file there are no readers, no people and no consumers, and every rule can still be held against it."""
    facts, meta = examples.facts(), examples.meta()
    resolved = policy.resolve(None, facts.identifier, None, meta.properties)
    found = subjects.of(facts, meta, examples.NOW, resolved, None, history=examples.history())
    assert (found.file, found.readers, found.personal_ids, found.consumers) == (None, (), (), ())
    assert found.history is not None
    assert judging.judge(found)


def test_columns_of_layout_identity_and_people_are_looked_at() -> None:
    """Sources of partitions and sort keys, identifiers and personal columns; not what a partition tells, nor void."""
    spec = PartitionSpec(
        (
            PartitionField("customer", "identity", (examples.CUSTOMER,), 1000),
            PartitionField("old", "void", (examples.EMAIL,), 1001),
            PartitionField("day", "day", (examples.ORDERED_AT,), 1002),
        ),
        0,
    )
    schema = replace(examples.SCHEMA, identifier_ids=(examples.ORDER_ID,))
    order = SortOrder((SortField("identity", (examples.CUSTOMER,)), SortField("identity", (examples.ORDERED_AT,))), 1)
    meta = examples.meta(specs=(spec,), schemas=(schema,), orders=(order,))
    assert subjects.filter_ids(meta) == (examples.ORDERED_AT, examples.ORDER_ID)
    assert subjects.column_ids(meta, (examples.EMAIL,)) == (examples.ORDERED_AT, examples.ORDER_ID, examples.EMAIL)
