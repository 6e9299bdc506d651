"""The effectful half of tables as code: observe afresh, commit once, settle. Only through ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.facts import marks, observe
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Blobs, Pointers
from firnline.loop.commits import Commits
from firnline.loop.registry import StepKind
from firnline.loop.values import Outcome, OutcomeKind, Stamp, Step
from firnline.tables import codec, vet
from firnline.tables.values import (
    CHANGE,
    CREATE,
    DROP,
    NAMESPACE,
    RENAME,
    NamespaceChange,
    TableChange,
    TableDrop,
    TableRename,
)


@dataclass(frozen=True, slots=True)
class Effects:
    """The ports these steps act through."""

    pointers: Pointers
    blobs: Blobs
    commits: Callable[[], Commits]  # called when a step commits: looking and planning connect nothing
    declared_drop: Callable[[Identifier], bool | None]

    def load(self, identifier: Identifier) -> TableMeta | None:
        """The table's metadata now, or None."""
        return observe.table(self.pointers, self.blobs, identifier)

    def fresh(self, identifier: Identifier) -> vet.FreshTable:
        """What vetting needs to know of the table."""
        pointer = self.pointers.find(identifier)
        if pointer is None:
            return vet.FreshTable(None)
        meta = observe.at(self.blobs, pointer)
        return vet.FreshTable(meta, pointer.kind, self.declared_drop(identifier))

    def names(self, body: TableRename) -> vet.FreshNames:
        """What vetting needs to know of a rename."""
        taken = self.pointers.find(body.to)
        return vet.FreshNames(self.load(body.identifier), None if taken is None else taken.kind)


def kinds(effects: Effects) -> tuple[StepKind, ...]:
    """The step kinds of this capability over these ports."""
    return (
        _changing(CHANGE, effects),
        _changing(CREATE, effects),
        StepKind(
            name=DROP,
            encode=codec.encode_drop,
            decode=codec.decode_drop,
            observe=lambda step: effects.fresh(step.body.identifier),
            vet=vet.drop,
            run=lambda step, _: _drop(effects, step.body),
            settle=lambda step, _: _settle_drop(effects, step.body, step.base),
        ),
        StepKind(
            name=RENAME,
            encode=codec.encode_rename,
            decode=codec.decode_rename,
            observe=lambda step: effects.names(step.body),
            vet=vet.rename,
            run=lambda step, _: _rename(effects, step.body),
            settle=lambda step, _: _settle_rename(effects, step.body),
        ),
        StepKind(
            name=NAMESPACE,
            encode=codec.encode_namespace,
            decode=codec.decode_namespace,
            observe=lambda step: effects.pointers.namespaces().get(step.body.namespace),
            vet=vet.namespace,
            run=lambda step, _: _namespace(effects, step.body),
            settle=lambda step, _: _settle_namespace(effects, step.body),
        ),
    )


def _changing(name: str, effects: Effects) -> StepKind:
    return StepKind(
        name=name,
        encode=codec.encode_change,
        decode=codec.decode_change,
        observe=lambda step: effects.fresh(step.body.identifier),
        vet=vet.change,
        run=lambda step, stamp: _change(effects, step.body, stamp),
        settle=lambda step, stamp: _settle_change(effects, step, stamp),
    )


def _change(effects: Effects, body: TableChange, stamp: Stamp) -> Outcome:
    return effects.commits().commit(body.identifier, marks.stamped(body.request, stamp))


def _settle_change(effects: Effects, step: Step, stamp: Stamp) -> Outcome:
    body = step.body
    assert isinstance(body, TableChange)
    return marks.settle(effects.pointers, effects.blobs, body.identifier, uuid=body.uuid, base=step.base, stamp=stamp)


def _drop(effects: Effects, body: TableDrop) -> Outcome:
    return effects.commits().drop(body.identifier, body.uuid, purge=body.purge)


def _settle_drop(effects: Effects, body: TableDrop, base: str | None) -> Outcome:
    try:
        meta = effects.load(body.identifier)
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, f"could not look: {error.what}")
    if meta is None or meta.uuid != body.uuid:
        return Outcome(OutcomeKind.DONE, f"the table is no longer in the catalog{_unpurged(body, base)}")
    return Outcome(OutcomeKind.NOT_DONE, "the table is still in the catalog", retryable=True)


def _unpurged(body: TableDrop, base: str | None) -> str:
    """Whoever lost the answer to the removal deleted nothing after it."""
    if not body.purge or base is None:
        return ""
    return f"; its files were to go with it and may still lie under {base.rsplit('/', 2)[0]}"


def _rename(effects: Effects, body: TableRename) -> Outcome:
    return effects.commits().rename(body.identifier, body.uuid, body.to)


def _settle_rename(effects: Effects, body: TableRename) -> Outcome:
    """Under the new name it was done, under the old one not. Under neither it was taken elsewhere, or went from the one
    to the other between our two looks: nobody can say.
    """
    try:
        new, old = effects.load(body.to), effects.load(body.identifier)
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, f"could not look: {error.what}")
    if new is not None and new.uuid == body.uuid:
        return Outcome(OutcomeKind.DONE, "the table has its new name", {"metadata-location": new.location})
    if old is not None and old.uuid == body.uuid:
        return Outcome(OutcomeKind.NOT_DONE, "the table still has its old name", retryable=True)
    return Outcome(OutcomeKind.UNKNOWN, f"the table is neither {body.identifier} nor {body.to}")


def _namespace(effects: Effects, body: NamespaceChange) -> Outcome:
    commits = effects.commits()
    if body.creates:
        outcome = commits.create_namespace(body.namespace, body.updates)
        if outcome.kind is not OutcomeKind.NOT_DONE or effects.pointers.namespaces().get(body.namespace) is None:
            return outcome
    # Somebody made it meanwhile: what is left is to see to its properties.
    return commits.update_namespace(body.namespace, body.updates, body.removals)


def _settle_namespace(effects: Effects, body: NamespaceChange) -> Outcome:
    try:
        now: Mapping[str, str] | None = effects.pointers.namespaces().get(body.namespace)
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, f"could not look: {error.what}")
    as_updated = now is not None and all(now.get(key) == value for key, value in body.updates.items())
    if now is not None and as_updated and not any(key in now for key in body.removals):
        return Outcome(OutcomeKind.DONE, "the namespace is as planned")
    return Outcome(OutcomeKind.NOT_DONE, "the namespace is not as planned", retryable=True)
