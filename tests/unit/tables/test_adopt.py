"""A table back to a declaration, beside what the round trips show: what has no name, what is nobody's to declare."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from firnline.config.values import DeclaredPartition
from firnline.core.errors import Refused
from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.facts.meta import TableMeta
from firnline.tables import adopt
from firnline.tables.difference import compare
from firnline.tables.values import Evidence
from tests.decisions import drafts
from tests.decisions.drafts import branch, partition, ref, sort, tag

PLAIN = drafts.declare("id: long required", "at: date", "place: struct<city: string required> required")
FULL = replace(
    PLAIN,
    identifier_fields=(("id",), ("place", "city")),
    partition=(partition("day at"), partition("bucket[8] id", "own")),
    order=(sort("truncate[2] place.city", "desc"),),
    properties={"a": "1"},
    format_version=2,
    owner="ann",
    description="Orders of the shop.",
)


def adopted(meta: TableMeta) -> object:
    """What adopting it gives, less where it was written."""
    return replace(adopt.declaration(drafts.ORDERS, meta), source=PLAIN.source)


def test_everything_declared_comes_back() -> None:
    """A table made from a file adopts as that file: names where they are own, owner and description as such."""
    assert adopted(drafts.table(FULL)) == FULL


@pytest.mark.parametrize("key", ["firnline.run", "firnline.step"])
def test_marks_are_nobodys_to_declare(key: str) -> None:
    """What Firnline leaves in the properties is not adopted."""
    assert adopted(drafts.table(FULL, properties={key: "x"})) == FULL


def test_refs_come_back_with_their_retention() -> None:
    """A tag holds its snapshot, a branch follows its writers, and main is declared when it has a retention."""
    meta = drafts.table(
        PLAIN,
        refs=(
            ref("y25", 1, "tag", ref_age_max_ms=86_400_000),
            ref("dev", 1, snapshot_age_max_ms=5, snapshots_min=2),
            ref("main", 2, snapshots_min=10),
        ),
    )
    found = adopt.declaration(drafts.ORDERS, meta)
    assert found.refs == (
        branch("dev", snapshot_age_max=timedelta(milliseconds=5), snapshots_min=2),
        branch("main", snapshots_min=10),
        tag("y25", snapshot=1, ref_age_max=timedelta(days=1)),
    )
    assert compare(found, meta, Evidence()).changes == ()
    assert adopt.declaration(drafts.ORDERS, drafts.table(PLAIN)).refs == ()


def test_void_partitions_are_left_out() -> None:
    """What format 1 keeps as void is no partition."""
    spec = PartitionSpec((PartitionField("x", "void", (99,), 1000), PartitionField("at_day", "day", (2,), 1001)), 0)
    meta = drafts.table(replace(PLAIN, format_version=1), specs=(spec,))
    found = adopt.declaration(drafts.ORDERS, meta)
    assert found.partition == (DeclaredPartition("day", ("at",)),)
    assert compare(found, meta, Evidence()).changes == ()


@pytest.mark.parametrize(
    ("layout", "what"),
    [
        ({"specs": (PartitionSpec((PartitionField("x", "identity", (99,), 1000),), 0),)}, "a partition over a column"),
        ({"specs": (PartitionSpec((PartitionField("x", "zorder", (1, 2), 1000),), 0),)}, "a partition over a column"),
        ({"orders": (SortOrder((SortField("identity", (99,)),), 0),)}, "a sort key over a column"),
    ],
)
def test_a_layout_over_a_column_that_is_gone_is_refused(layout: dict[str, Any], what: str) -> None:
    """A declaration names columns; what has none cannot be declared, and the message says what to change first."""
    with pytest.raises(Refused, match=what) as caught:
        adopt.declaration(drafts.ORDERS, drafts.table(PLAIN, **layout))
    assert caught.value.next_step == "Change the table's layout first, with the engine that made it."
