"""Objections to a step, from fresh facts. Pure: the questions the catalog will ask, asked before anything is tried."""

from __future__ import annotations

from dataclasses import dataclass

from firnline.facts import requirements
from firnline.facts.meta import TableMeta
from firnline.loop.values import Objection, Step
from firnline.tables.values import NamespaceChange, TableChange, TableDrop, TableRename

PLAN_AGAIN = "Plan again: `firnline plan` says what is left to do."
LOOK_AGAIN = "Look at the catalog with `firnline tables list`, then give the command again."


@dataclass(frozen=True, slots=True)
class FreshTable:
    """The table as it is now. `declared_drop` is what the files in the project say of dropping it."""

    meta: TableMeta | None
    kind: str | None = None  # table, view, other; None when nothing has this name
    declared_drop: bool | None = None  # None: not declared to be dropped; else whether with purge


@dataclass(frozen=True, slots=True)
class FreshNames:
    """What has the old name and the new one now. `taken` is the kind of what has the new one, None: nothing."""

    meta: TableMeta | None
    taken: str | None


def change(step: Step, fresh: FreshTable) -> tuple[Objection, ...]:
    """Objections to `table.change` and `table.create`."""
    body = step.body
    assert isinstance(body, TableChange)
    if body.creates:
        if fresh.kind is None:
            return ()
        what = "a table" if fresh.kind == "table" else f"something else (a {fresh.kind})"
        return (Objection(f"{body.identifier} is there already: {what} of this name was made meanwhile.", PLAN_AGAIN),)
    meta = fresh.meta
    if meta is None:
        return (Objection(f"{body.identifier} is gone from the catalog.", PLAN_AGAIN),)
    return tuple(
        Objection(f"{body.identifier} drifted since the plan: {sentence}.", PLAN_AGAIN)
        for sentence in requirements.drift(body.request, meta)
    )


def drop(step: Step, fresh: FreshTable) -> tuple[Objection, ...]:
    """A drop needs the very table, and a declaration that still says so: a plan file alone drops nothing."""
    body = step.body
    assert isinstance(body, TableDrop)
    if fresh.meta is None:
        return (Objection(f"{body.identifier} is gone already.", PLAN_AGAIN),)
    found: list[Objection] = []
    if fresh.meta.uuid != body.uuid:
        found.append(Objection(f"{body.identifier} was replaced by another table since the plan.", PLAN_AGAIN))
    if fresh.declared_drop is None:
        found.append(Objection(f"No table file says that {body.identifier} is to be dropped.", PLAN_AGAIN))
    elif body.purge and not fresh.declared_drop:
        found.append(Objection(f"The file of {body.identifier} does not say `purge: true`.", PLAN_AGAIN))
    return tuple(found)


def rename(step: Step, fresh: FreshNames) -> tuple[Objection, ...]:
    """A rename needs the very table, and a name that is free."""
    body = step.body
    assert isinstance(body, TableRename)
    if fresh.meta is None:
        return (Objection(f"{body.identifier} is gone from the catalog.", LOOK_AGAIN),)
    found: list[Objection] = []
    if fresh.meta.uuid != body.uuid:
        found.append(Objection(f"{body.identifier} was replaced by another table since the plan.", LOOK_AGAIN))
    if fresh.taken is not None:
        what = "a table" if fresh.taken == "table" else f"something else (a {fresh.taken})"
        found.append(Objection(f"{body.to} is taken: {what} has this name.", LOOK_AGAIN))
    return tuple(found)


def namespace(step: Step, fresh: dict[str, str] | None) -> tuple[Objection, ...]:
    """A namespace that was made meanwhile is not made again; one that is gone is not updated."""
    body = step.body
    assert isinstance(body, NamespaceChange)
    name = ".".join(body.namespace)
    if not body.creates and fresh is None:
        return (Objection(f"The namespace {name} is gone.", PLAN_AGAIN),)
    return ()
