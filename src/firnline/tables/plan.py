"""Declarations and what the catalog has, into steps. Pure: ids and time come in."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from firnline.config.values import Declaration, NamespaceSettings
from firnline.core.errors import BadInput
from firnline.core.ids import Identifier, StepId
from firnline.facts.meta import TableMeta
from firnline.loop.values import Note, Step
from firnline.tables import attributes, request, target
from firnline.tables.difference import Difference, compare
from firnline.tables.values import (
    CHANGE,
    CREATE,
    DROP,
    NAMESPACE,
    Change,
    ChangeClass,
    ChangeKind,
    Evidence,
    NamespaceChange,
    Price,
    Refusal,
    TableChange,
    TableDrop,
    TableRename,
)

_UNSAFE_IN_PATH = re.compile(r"[^\w.\-]")


@dataclass(frozen=True, slots=True)
class Known:
    """What planning one table rests on. No meta: the catalog has no such table."""

    meta: TableMeta | None
    kind: str | None = "table"
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True)
class Setting:
    """What planning needs of the lakehouse: names, places, a source of uuids, the namespaces there and declared."""

    catalog: str
    warehouse: str | None
    new_uuid: Callable[[], uuid.UUID]
    namespaces: Mapping[tuple[str, ...], Mapping[str, str]]
    declared: tuple[NamespaceSettings, ...]
    assigned: bool = False  # the catalog chooses the place of a table that does not say
    defaults: Mapping[str, str] = field(default_factory=dict)  # properties of new tables that do not say


@dataclass(frozen=True, slots=True)
class Refused:
    """A change that is not planned, of which table."""

    table: str
    change: Change


@dataclass(frozen=True, slots=True)
class Planned:
    """The steps, in order, what is refused, and what is left alone."""

    steps: tuple[Step, ...]
    refused: tuple[Refused, ...]
    notes: tuple[Note, ...]


def plan(declarations: Iterable[Declaration], known: Mapping[Identifier, Known], setting: Setting) -> Planned:
    """Steps for every table that differs, namespaces first. Tables come in order of name."""
    chosen = sorted(declarations, key=lambda declaration: declaration.identifier)
    steps: list[Step] = []
    refused: list[Refused] = []
    notes: list[Note] = []
    namespaces = _namespaces(chosen, known, setting)
    for change in namespaces:
        steps.append(
            _step(steps, NAMESPACE, ".".join(change.namespace), _namespace_key(setting, change), change, None, ())
        )
    made = {step.body.namespace: step.id for step in steps if step.body.creates}
    for declaration in chosen:
        have = known[declaration.identifier]
        requires = tuple(id_ for namespace, id_ in made.items() if namespace == declaration.identifier.namespace)
        step, refusals, told = _table(declaration, have, setting, steps, requires)
        steps.extend([step] if step else [])
        refused.extend(Refused(str(declaration.identifier), change) for change in refusals)
        notes.extend(told)
    return Planned(tuple(steps), tuple(refused), tuple(notes))


def _step(
    before: list[Step],
    kind: str,
    subject: str,
    lease: str,
    body: object,
    base: str | None,
    requires: tuple[StepId, ...],
) -> Step:
    return Step(StepId(str(len(before) + 1)), kind, subject, lease, body, base, requires)


def _namespace_key(setting: Setting, change: NamespaceChange) -> str:
    return f"{setting.catalog}/namespace/{'.'.join(change.namespace)}"


def _namespaces(
    declarations: list[Declaration], known: Mapping[Identifier, Known], setting: Setting
) -> list[NamespaceChange]:
    declared = {settings.namespace: settings for settings in setting.declared}
    needed = {
        declaration.identifier.namespace
        for declaration in declarations
        if declaration.drop is None and known[declaration.identifier].kind is None
    }
    changes = []
    for namespace in sorted(needed | set(declared)):
        wanted = namespace_properties(declared.get(namespace))
        have = setting.namespaces.get(namespace)
        if have is None:
            text = ", ".join(f"{key}={value}" for key, value in wanted.items()) or None
            change = Change(ChangeKind.CREATE_NAMESPACE, ".".join(namespace), after=text)
            changes.append(NamespaceChange(namespace, True, wanted, (), (change,)))
            continue
        differing = {key: value for key, value in wanted.items() if have.get(key) != value}
        if differing:
            listed = tuple(
                Change(ChangeKind.UPDATE_NAMESPACE, key, have.get(key), value)
                for key, value in sorted(differing.items())
            )
            changes.append(NamespaceChange(namespace, False, differing, (), listed))
    return changes


def namespace_properties(settings: NamespaceSettings | None) -> dict[str, str]:
    """The catalog properties a declared namespace is to have."""
    if settings is None:
        return {}
    properties = dict(settings.properties)
    if settings.location is not None:
        properties["location"] = settings.location
    if settings.owner is not None:
        properties["owner"] = settings.owner
    return properties


def _table(
    declaration: Declaration, have: Known, setting: Setting, steps: list[Step], requires: tuple[StepId, ...]
) -> tuple[Step | None, tuple[Change, ...], tuple[Note, ...]]:
    subject = str(declaration.identifier)
    by_name = f"{setting.catalog}/{subject}"
    if have.kind is not None and have.meta is None:
        note = Note(subject, f"the catalog has a {have.kind} of this name, which is not an Iceberg table.", "warning")
        return None, (_not_a_table(subject, have.kind),), (note,)
    if declaration.drop is not None:
        dropped, refusals = _drop(declaration, have)
        step = _step(steps, DROP, subject, by_name, dropped, have.meta.location if have.meta else None, ())
        return (step if dropped and not refusals else None), refusals, ()
    if have.meta is None:
        return (
            _step(steps, CREATE, subject, by_name, _create(declaration, setting), None, requires),
            (),
            _waiting(declaration),
        )
    difference = compare(_with_defaults(declaration, have.meta, setting.defaults), have.meta, have.evidence)
    if difference.request is None:
        return None, difference.refused, difference.notes
    body = _change(declaration, have.meta, difference)
    key = f"{setting.catalog}/{have.meta.uuid}"
    return _step(steps, CHANGE, subject, key, body, have.meta.location, requires), (), difference.notes


def _with_defaults(declaration: Declaration, meta: TableMeta, defaults: Mapping[str, str]) -> Declaration:
    """What a new table got from the catalog's defaults counts as declared: nobody need be told of it."""
    kept = {key: value for key, value in defaults.items() if meta.properties.get(key) == value}
    return replace(declaration, properties={**kept, **declaration.properties})


def _not_a_table(subject: str, kind: str) -> Change:
    return Change(
        ChangeKind.CREATE_TABLE,
        subject,
        refusal=Refusal(f"the catalog has a {kind} of this name.", "Choose another name, or remove it."),
    )


def _change(declaration: Declaration, meta: TableMeta, difference: Difference) -> TableChange:
    assert difference.request is not None
    return TableChange(declaration.identifier, str(meta.uuid), difference.changes, difference.request)


def _create(declaration: Declaration, setting: Setting) -> TableChange:
    goal = target.new_table(declaration)
    new_uuid = setting.new_uuid()
    place = declaration.location or default_location(declaration.identifier, new_uuid, setting)
    wanted = {**setting.defaults, **attributes.wanted_properties(declaration)}
    properties = {key: value for key, value in wanted.items() if value is not None}
    count = len(declaration.schema.fields)
    change = Change(
        ChangeKind.CREATE_TABLE,
        str(declaration.identifier),
        after=f"{count} column{'s' if count != 1 else ''}, format {goal.format_version}",
        detail=f"at {place}" if place else "at a place the catalog chooses",
    )
    body = request.create(goal, str(new_uuid), place, properties)
    return TableChange(declaration.identifier, str(new_uuid), (change,), body, creates=True)


def default_location(identifier: Identifier, new_uuid: uuid.UUID, setting: Setting) -> str | None:
    """Under the namespace's location or the warehouse, with a piece of the uuid; None where the catalog chooses.

    The piece keeps a table apart from one of the same name that was dropped and whose files still lie there: without it
    the two would share a folder, and cleaning up after one would delete the other.
    """
    declared = next((item for item in setting.declared if item.namespace == identifier.namespace), None)
    known = setting.namespaces.get(identifier.namespace, {}).get("location")
    base = (declared.location if declared else None) or known
    if base is None and setting.warehouse is None:
        if setting.assigned:
            return None
        raise BadInput(
            f"Nothing says where {identifier} is to lie: the catalog {setting.catalog!r} has no `warehouse`, "
            f"the namespace no location and the table file no `location`.",
            next_step="Set one of them.",
        )
    if base is None:
        assert setting.warehouse is not None
        base = "/".join([setting.warehouse.rstrip("/"), *(path_part(part) for part in identifier.namespace)])
    return f"{base.rstrip('/')}/{path_part(identifier.name)}-{new_uuid.hex[:8]}"


def path_part(part: str) -> str:
    """A part of a name as a folder or file name."""
    return _UNSAFE_IN_PATH.sub("_", part).lstrip(".") or "_"


def _waiting(declaration: Declaration) -> tuple[Note, ...]:
    return tuple(
        Note(
            str(declaration.identifier), f"{ref.kind} {ref.name} waits for the table's first snapshot.", level="waiting"
        )
        for ref in declaration.refs
        if not ref.absent and ref.name != "main"
    )


def _drop(declaration: Declaration, have: Known) -> tuple[TableDrop | None, tuple[Change, ...]]:
    drop, meta = declaration.drop, have.meta
    if meta is None or drop is None:
        return None, ()
    price: Price = have.evidence.total()
    change = Change(
        ChangeKind.DROP_TABLE,
        str(declaration.identifier),
        classes=(ChangeClass.ONE_WAY, ChangeClass.BREAKS_READERS) if drop.purge else (ChangeClass.BREAKS_READERS,),
        price=price,
        readers=declaration.readers,
        detail="its files are deleted with it: nothing brings them back"
        if drop.purge
        else f"its files stay under {meta.table_location}; register {meta.location} to bring it back",
        accepted=drop.reason,
    )
    if declaration.protect:
        reason = Refusal("the table is protected.", "Take `protect: true` out of the file, in a change of its own.")
        return None, (
            Change(ChangeKind.DROP_TABLE, change.subject, classes=change.classes, price=price, refusal=reason),
        )
    return TableDrop(declaration.identifier, str(meta.uuid), drop.purge, (change,)), ()


def overrides(steps: Iterable[Step]) -> tuple[str, ...]:
    """Every recorded acceptance in these steps, as sentences for the ledger."""
    return tuple(
        f"{step.subject}: {change.kind} {change.subject} accepted: {change.accepted}"
        for step in steps
        if not isinstance(step.body, TableRename)
        for change in step.body.changes
        if change.accepted
    )
