"""Objections to steps of tables as code, from fresh facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firnline.config.values import DeclaredDrop
from firnline.core.ids import Identifier, StepId, TableUuid
from firnline.facts.meta import TableMeta
from firnline.loop.values import Objection, Step
from firnline.tables import vet
from firnline.tables.plan import Known, overrides
from firnline.tables.values import CHANGE, CREATE, DROP, NAMESPACE, RENAME, NamespaceChange, TableDrop, TableRename
from firnline.tables.vet import FreshNames, FreshTable
from tests.decisions import drafts
from tests.decisions.drafts import snapshot
from tests.unit.tables.test_requests import ORDERS, planned

META = drafts.table(ORDERS)
GROWN = replace(META, snapshots=(*META.snapshots, snapshot(3, 2)))
CHANGED = planned(replace(drafts.add(ORDERS, "x: int"), properties={"a": "1"}), Known(META)).steps[0]
CREATED = planned(ORDERS, Known(None, None)).steps[0]


def fresh(meta: TableMeta | None = META, kind: str | None = "table", *, drop: bool | None = None) -> FreshTable:
    """The table as it is now."""
    return FreshTable(meta, kind, drop)


def said(objections: tuple[Objection, ...]) -> str:
    """Every reason; each with the way on."""
    assert all(one.next_step == vet.PLAN_AGAIN for one in objections)
    return "; ".join(one.reason for one in objections)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (fresh(), ""),
        (fresh(GROWN), ""),  # a newer snapshot alone is no drift
        (fresh(replace(META, properties={"b": "2"})), ""),  # nor is a property nobody touches
        (fresh(None, None), "is gone from the catalog"),
        (fresh(replace(META, uuid=TableUuid("x"))), "drifted since the plan: table uuid (it was replaced"),
        (fresh(replace(META, current_schema_id=4)), "current schema was 0 and is 4"),
        (fresh(replace(META, last_column_id=9)), "last column id was 3 and is 9"),
        (fresh(replace(META, properties={"a": "0"})), "the property a is '0' now and was None when planned"),
    ],
)
def test_a_change_is_held_against_the_table(now: FreshTable, words: str) -> None:
    """A change objects to what it rests on being different, and to nothing else."""
    found = said(vet.change(CHANGED, now))
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (fresh(None, None), ""),
        (fresh(), "is there already: a table of this name"),
        (fresh(None, "view"), "something else (a view)"),
    ],
)
def test_a_creation_needs_a_free_name(now: FreshTable, words: str) -> None:
    """Whatever has the name by now, the creation does not run."""
    found = said(vet.change(CREATED, now))
    assert words in found
    assert bool(found) == bool(words)


def dropping(*, purge: bool) -> Step:
    """A step that drops the table."""
    return Step(StepId("1"), DROP, "shop.orders", "k", TableDrop(drafts.ORDERS, drafts.UUID, purge, ()))


@pytest.mark.parametrize(
    ("purge", "now", "words"),
    [
        (False, fresh(drop=False), ""),
        (True, fresh(drop=True), ""),
        (False, fresh(drop=True), ""),
        (True, fresh(drop=False), "does not say `purge: true`"),
        (False, fresh(drop=None), "No table file says that shop.orders is to be dropped"),
        (False, fresh(None, None), "is gone already"),
        (False, fresh(replace(META, uuid=TableUuid("x")), drop=False), "was replaced by another table"),
    ],
)
def test_a_plan_file_alone_drops_nothing(purge: bool, now: FreshTable, words: str) -> None:
    """A drop needs the very table and a file in the project that says so, with purge when it purges."""
    found = said(vet.drop(dropping(purge=purge), now))
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (FreshNames(META, None), ""),
        (FreshNames(GROWN, None), ""),
        (FreshNames(None, None), "shop.orders is gone from the catalog."),
        (FreshNames(replace(META, uuid=TableUuid("x")), None), "was replaced by another table"),
        (FreshNames(META, "table"), "shop.sales is taken: a table has this name."),
        (FreshNames(META, "view"), "something else (a view)"),
    ],
)
def test_a_rename_needs_the_table_and_a_free_name(now: FreshNames, words: str) -> None:
    """A rename runs on the very table it was planned for, to a name nothing has by now."""
    body = TableRename(drafts.ORDERS, drafts.UUID, Identifier(("shop",), "sales"), "file:///t")
    found = vet.rename(Step(StepId("1"), RENAME, "shop.orders", "k", body), now)
    assert all(one.next_step == vet.LOOK_AGAIN for one in found)
    assert words in " ".join(one.reason for one in found)
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("creates", "now", "words"),
    [(True, None, ""), (True, {}, ""), (False, {"a": "1"}, ""), (False, None, "The namespace a.b is gone.")],
)
def test_a_namespace_that_is_gone_is_not_updated(creates: bool, now: dict[str, str] | None, words: str) -> None:
    """One that was made meanwhile is no objection; one that is gone is."""
    body = NamespaceChange(("a", "b"), creates, {}, (), ())
    assert said(vet.namespace(Step(StepId("1"), NAMESPACE, "a.b", "k", body), now)) == words


def test_a_recorded_acceptance_goes_to_the_ledger() -> None:
    """Every accepted change of a plan is one sentence with its reason; what needed none is silent."""
    dropped = replace(
        drafts.without(ORDERS, "note"), accept=drafts.accept("drop-column", "note"), properties={"a": "1"}
    )
    steps: list[Any] = [*planned(dropped, Known(META)).steps]
    steps += planned(replace(ORDERS, drop=DeclaredDrop(True, "replaced by the new shop")), Known(META)).steps
    assert overrides(steps) == (
        f"shop.orders: drop-column note accepted: {drafts.REASON}",
        "shop.orders: drop-table shop.orders accepted: replaced by the new shop",
    )
    assert {step.kind for step in steps} == {CHANGE, DROP}
    body = TableRename(drafts.ORDERS, drafts.UUID, Identifier(("shop",), "sales"), "file:///t")
    assert overrides([Step(StepId("1"), RENAME, "shop.orders", "k", body)]) == ()
    assert CREATED.kind == CREATE
