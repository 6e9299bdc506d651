"""What running and settling a drop, a rename or a namespace comes to, with ports that answer as told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from firnline.core.errors import Failed
from firnline.core.ids import Identifier, RunId, StepId
from firnline.facts.ports import Pointer
from firnline.loop.commits import CommitRequest
from firnline.loop.registry import Registry
from firnline.loop.values import Outcome, OutcomeKind, Stamp, Step
from firnline.tables import run
from firnline.tables.run import Effects
from firnline.tables.values import DROP, NAMESPACE, RENAME, NamespaceChange, TableDrop, TableRename
from tests.decisions.drafts import ORDERS
from tests.unit.facts.test_marks import chain

DONE, NOT_DONE, UNKNOWN = OutcomeKind.DONE, OutcomeKind.NOT_DONE, OutcomeKind.UNKNOWN
STAMP = Stamp(RunId("r"), StepId("1"))
UUID = chain({}).files["v0"]["table-uuid"]
MADE = Outcome(DONE)
TAKEN = Outcome(NOT_DONE, "it is there")


@dataclass
class Ports:
    """A catalog and a committer at once. `made` is what making a namespace comes to, `calls` what was asked."""

    table: Any = field(default_factory=lambda: chain({}))
    at: Identifier = ORDERS
    known: Mapping[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)
    made: Outcome = MADE
    locked: bool = False
    calls: list[str] = field(default_factory=list)

    def find(self, identifier: Identifier) -> Pointer | None:
        if self.locked:
            raise Failed("the catalog is locked")
        found: Pointer | None = self.table.find(ORDERS)
        return found if identifier == self.at else None

    def list(self, namespace: tuple[str, ...] | None = None) -> Iterator[Pointer]:
        del namespace
        return iter(())

    def namespaces(self) -> Mapping[tuple[str, ...], Mapping[str, str]]:
        if self.locked:
            raise Failed("the catalog is locked")
        return self.known

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        self.calls.append(f"commit {identifier} {len(request.updates)}")
        return Outcome(DONE)

    def drop(self, identifier: Identifier, uuid: str, *, purge: bool) -> Outcome:
        self.calls.append(f"drop {identifier} {uuid == UUID} {purge}")
        return Outcome(DONE)

    def rename(self, identifier: Identifier, uuid: str, to: Identifier) -> Outcome:
        self.calls.append(f"rename {identifier} {uuid == UUID} {to}")
        return Outcome(DONE)

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        self.calls.append(f"create {'.'.join(namespace)} {dict(properties)}")
        return self.made

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        self.calls.append(f"update {'.'.join(namespace)} {dict(updates)} {removals}")
        return Outcome(DONE)


def registry(ports: Ports) -> Registry:
    """The step kinds over these ports."""
    return Registry(run.kinds(Effects(ports, ports.table, lambda: ports, lambda _: None)))


def dropping(*, purge: bool = False) -> Step:
    """A step that drops the table."""
    return Step(StepId("1"), DROP, "shop.orders", "k", TableDrop(ORDERS, UUID, purge, ()))


SALES = Identifier(("shop",), "sales")
RENAMING = Step(StepId("1"), RENAME, "shop.orders", "k", TableRename(ORDERS, UUID, SALES, "file:///t", ("etl",)))


def naming(*, creates: bool, updates: Mapping[str, str], removals: tuple[str, ...] = ()) -> Step:
    """A step on a namespace."""
    return Step(StepId("1"), NAMESPACE, "shop", "k", NamespaceChange(("shop",), creates, updates, removals, ()))


@pytest.mark.parametrize("purge", [False, True])
def test_a_drop_names_the_very_table(purge: bool) -> None:
    """A drop is asked for by uuid, and purges only when it says so."""
    ports = Ports()
    assert registry(ports).kind(DROP).run(dropping(purge=purge), STAMP).kind is DONE
    assert ports.calls == [f"drop shop.orders True {purge}"]


@pytest.mark.parametrize(
    ("ports", "kind", "retryable"),
    [
        (Ports(table=chain({}, uuid="another")), DONE, False),
        (Ports(), NOT_DONE, True),
        (Ports(locked=True), UNKNOWN, False),
    ],
)
def test_a_drop_is_settled_by_looking(ports: Ports, kind: OutcomeKind, retryable: bool) -> None:
    """The table gone, or another one of its name, is done; there still is not done; a locked catalog is unknown."""
    found = registry(ports).kind(DROP).settle(dropping(), STAMP)
    assert (found.kind, found.retryable) == (kind, retryable)


@pytest.mark.parametrize(("purge", "left"), [(True, "may still lie under s3://b/shop/orders"), (False, None)])
def test_files_of_a_drop_nobody_heard_the_end_of(purge: bool, left: str | None) -> None:
    """A purge whose answer was lost deleted nothing: where its files may still lie is said."""
    step = replace(dropping(purge=purge), base="s3://b/shop/orders/metadata/3.metadata.json")
    found = registry(Ports(table=chain({}, uuid="another"))).kind(DROP).settle(step, STAMP)
    assert found.kind is DONE
    assert (left is None and "lie" not in found.detail) or str(left) in found.detail


def test_a_rename_names_the_very_table() -> None:
    """A rename is asked for by uuid, and its body is what it was after being written to a plan file and read back."""
    ports = Ports()
    kind = registry(ports).kind(RENAME)
    assert kind.run(RENAMING, STAMP).kind is DONE
    assert ports.calls == ["rename shop.orders True shop.sales"]
    assert kind.decode(kind.encode(RENAMING.body)) == RENAMING.body


@pytest.mark.parametrize(
    ("ports", "kind", "retryable"),
    [
        (Ports(at=SALES), DONE, False),
        (Ports(), NOT_DONE, True),
        (Ports(at=SALES, table=chain({}, uuid="another")), UNKNOWN, False),
        (Ports(table=chain({}, uuid="another")), UNKNOWN, False),
        (Ports(at=Identifier(("shop",), "third")), UNKNOWN, False),
        (Ports(locked=True), UNKNOWN, False),
    ],
)
def test_a_rename_is_settled_by_looking(ports: Ports, kind: OutcomeKind, retryable: bool) -> None:
    """The table under its new name is done, under its old one not done; under neither nobody can say."""
    found = registry(ports).kind(RENAME).settle(RENAMING, STAMP)
    assert (found.kind, found.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("step", "ports", "calls"),
    [
        (naming(creates=True, updates={"a": "1"}), Ports(), ["create shop {'a': '1'}"]),
        (
            naming(creates=True, updates={"a": "1"}),
            Ports(made=TAKEN, known={("shop",): {}}),
            ["create shop {'a': '1'}", "update shop {'a': '1'} ()"],
        ),
        (naming(creates=True, updates={}), Ports(made=TAKEN), ["create shop {}"]),
        (
            naming(creates=True, updates={}),
            Ports(made=Outcome(UNKNOWN), known={("shop",): {}}),
            ["create shop {}"],
        ),
        (naming(creates=False, updates={"a": "1"}, removals=("b",)), Ports(), ["update shop {'a': '1'} ('b',)"]),
    ],
)
def test_a_namespace_somebody_made_meanwhile_is_brought_up_to_date(step: Step, ports: Ports, calls: list[str]) -> None:
    """Made meanwhile, its properties are seen to; an unknown outcome is left alone."""
    registry(ports).kind(NAMESPACE).run(step, STAMP)
    assert ports.calls == calls


@pytest.mark.parametrize(
    ("ports", "kind"),
    [
        (Ports(known={("shop",): {"a": "1", "c": "3"}}), DONE),
        (Ports(known={("shop",): {"a": "2"}}), NOT_DONE),
        (Ports(known={("shop",): {"a": "1", "b": "2"}}), NOT_DONE),
        (Ports(), NOT_DONE),
        (Ports(locked=True), UNKNOWN),
    ],
)
def test_a_namespace_is_settled_by_its_properties(ports: Ports, kind: OutcomeKind) -> None:
    """Done when every update is there and every removal is gone."""
    step = naming(creates=False, updates={"a": "1"}, removals=("b",))
    found = registry(ports).kind(NAMESPACE).settle(step, STAMP)
    assert (found.kind, found.retryable) == (kind, kind is NOT_DONE)
