"""Target specs and orders, by field id and by what a table already has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firnline.core.layout import PartitionField, PartitionSpec, SortField, SortOrder
from firnline.tables import layouts, schemas
from tests.decisions.drafts import partition, sort, struct

STRUCT = schemas.fresh(struct("id: long", "at: date", "place: struct<city: string>")).struct
DAY, BUCKET = PartitionField("at_day", "day", (2,), 1000), PartitionField("b", "bucket[8]", (1,), 1001)
NONE = PartitionSpec((), 0)


def spec(
    *declared: str,
    current: PartitionSpec = NONE,
    older: tuple[PartitionSpec, ...] = (),
    version: int = 2,
    last: int = 999,
) -> tuple[PartitionField, ...]:
    """The target's fields."""
    parts = tuple(partition(text) for text in declared)
    return layouts.spec(parts, STRUCT, current, older, format_version=version, last_partition_id=last).fields


def test_new_fields_count_on_from_the_last() -> None:
    """A field nobody had gets the next id and Iceberg's own name."""
    assert spec("day at", "identity place.city", last=1004) == (
        PartitionField("at_day", "day", (2,), 1005),
        PartitionField("city", "identity", (4,), 1006),
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_field_keeps_the_id_it_has(version: int) -> None:
    """A field of the same source and transform is the same field, name and all."""
    current = PartitionSpec((replace(DAY, name="own name"),), 1)
    assert spec("day at", "bucket[8] id", current=current, version=version, last=1000) == (
        *current.fields,
        replace(BUCKET, name="id_bucket"),
    )


def test_a_field_of_an_older_spec_comes_back_with_its_id() -> None:
    """From format 2 on a field that was dropped takes its id and its name again, so that old partitions match."""
    older = (PartitionSpec((DAY, BUCKET), 0),)
    assert spec("bucket[8] id", current=NONE, older=older, last=1001) == (BUCKET,)


def test_a_declared_name_wins() -> None:
    """A name in the file renames the field and keeps its id."""
    declared = (partition("day at", "own"),)
    found = layouts.spec(declared, STRUCT, PartitionSpec((DAY,), 0), (), format_version=2, last_partition_id=1000)
    assert found.fields == (replace(DAY, name="own"),)


def test_format_1_keeps_every_field_in_its_place() -> None:
    """Format 1 turns what is no longer declared into void, never reorders, and adds at the end."""
    found = spec("identity place.city", "bucket[8] id", current=PartitionSpec((DAY, BUCKET), 0), version=1, last=1001)
    assert found == (
        replace(DAY, transform="void"),
        replace(BUCKET, name="b"),
        PartitionField("city", "identity", (4,), 1002),
    )


def test_format_1_moves_a_void_field_out_of_the_way() -> None:
    """A void field gives up its name when a new field needs it."""
    found = spec(
        "day at", current=PartitionSpec((replace(BUCKET, name="at_day", field_id=1000),), 0), version=1, last=1000
    )
    assert [(field.name, field.transform, field.field_id) for field in found] == [
        ("at_day_1000", "void", 1000), ("at_day", "day", 1001)
    ]  # fmt: skip


def test_void_fields_do_nothing() -> None:
    """Two specs that differ in void fields alone have the same effect, and a rename has another."""
    voided = PartitionSpec((replace(BUCKET, transform="void"), DAY), 3)
    assert layouts.effective(voided) == layouts.effective(PartitionSpec((DAY,), 0))
    assert layouts.effective(PartitionSpec((replace(DAY, name="x"),))) != layouts.effective(PartitionSpec((DAY,)))


def test_an_existing_spec_is_found_by_all_it_says() -> None:
    """A spec is used again when names, transforms, sources and ids are those of the target."""
    known = (NONE, PartitionSpec((DAY,), 1), PartitionSpec((DAY, BUCKET), 2))
    assert layouts.same_spec(PartitionSpec((DAY, BUCKET)), known) is known[2]
    assert layouts.same_spec(PartitionSpec(()), known) is NONE
    assert layouts.same_spec(PartitionSpec((BUCKET, DAY)), known) is None
    assert layouts.same_spec(PartitionSpec((replace(DAY, field_id=1005),)), known) is None


def test_an_existing_order_is_found() -> None:
    """An order is used again when its keys are the target's."""
    down = layouts.order((sort("identity id", "desc"),), STRUCT)
    assert down.fields == (SortField("identity", (1,), "desc", "nulls-last"),)
    known = (SortOrder((), 0), SortOrder(down.fields, 4))
    assert layouts.same_order(down, known) is known[1]
    assert layouts.same_order(layouts.order((sort("identity id"),), STRUCT), known) is None


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ((), "unpartitioned"),
        ((DAY, BUCKET), "day(at), bucket(8, id)"),
        ((replace(BUCKET, transform="identity"),), "id"),
        ((replace(DAY, transform="void"),), "unpartitioned"),
        ((replace(DAY, source_ids=(77,)),), "day(#77)"),
    ],
)
def test_specs_are_shown_as_they_are_written(fields: tuple[PartitionField, ...], shown: str) -> None:
    """A spec is shown by names, and by number where the name is gone."""
    assert layouts.show_spec(PartitionSpec(fields), {1: "id", 2: "at"}) == shown


def test_orders_are_shown_as_they_are_written() -> None:
    """Each key with its direction and its nulls."""
    order = layouts.order((sort("day at"), sort("identity id", "desc")), STRUCT)
    assert layouts.show_order(order, {1: "id", 2: "at"}) == "day(at) asc nulls-first, id desc nulls-last"
    assert layouts.show_order(SortOrder(()), {}) == "unsorted"
