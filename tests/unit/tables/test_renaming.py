"""Renames as they are planned: what is broken by one, and what stands in its way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firnline.core.errors import Refused
from firnline.core.ids import Identifier
from firnline.tables import renaming
from firnline.tables.values import TableRename
from tests.decisions import drafts
from tests.unit.tables.test_requests import ORDERS

META = drafts.table(ORDERS)
SALES = Identifier(("shop",), "sales")
FREE: dict[str, Any] = {"meta": META, "declared": {}, "taken": None, "homeless": False}


def planned(**more: Any) -> Any:
    """The step, with these circumstances."""
    given = FREE | more
    return renaming.plan(drafts.ORDERS, given.pop("meta"), SALES, given.pop("declared"), catalog="lake", **given)


def test_a_rename_is_one_step_of_the_table() -> None:
    """The step is leased by the table's uuid, so that a rename and a change of one table never meet."""
    step = planned()
    assert (step.subject, step.lease, step.base) == ("shop.orders", f"lake/{META.uuid}", META.location)
    assert step.body == TableRename(drafts.ORDERS, drafts.UUID, SALES, META.table_location)


def test_declared_readers_are_named() -> None:
    """Readers that the file of the new name declares are those the rename breaks."""
    ours = replace(ORDERS, identifier=SALES, readers=("dashboard", "etl"))
    assert planned(declared={SALES: ours}).body.readers == ("dashboard", "etl")


@pytest.mark.parametrize(
    ("circumstances", "words"),
    [
        ({"declared": {drafts.ORDERS: ORDERS}}, f"is declared in {ORDERS.source.file}"),
        ({"taken": "a view"}, "shop.orders cannot become shop.sales: a view has this name."),
        ({"homeless": True}, "there is no namespace shop."),
        ({"meta": replace(META, uuid=None)}, "has no uuid"),
    ],
    ids=["declared", "taken", "no namespace", "no uuid"],
)
def test_what_stands_in_the_way(circumstances: dict[str, Any], words: str) -> None:
    """What a rename would collide with, or leave for the next apply to make anew, refuses it with the way out."""
    with pytest.raises(Refused) as refusal:
        planned(**circumstances)
    assert words in refusal.value.what
    assert refusal.value.next_step
