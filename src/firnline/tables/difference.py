"""What a declaration and a table differ in: changes, and the commit request that makes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from firnline.config.values import Acceptance, Declaration
from firnline.core.layout import PartitionSpec, default_name
from firnline.core.types import Struct, show_path, walk
from firnline.facts.meta import TableMeta
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Note
from firnline.tables import attributes, columns, layouts, request, target
from firnline.tables.target import Target
from firnline.tables.values import NOTHING, Change, ChangeClass, ChangeKind, Evidence, Refusal


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes that can be made, changes that are refused, the request for the former, and what is left alone."""

    changes: tuple[Change, ...]
    request: CommitRequest | None
    notes: tuple[Note, ...] = ()

    @property
    def refused(self) -> tuple[Change, ...]:
        """Refused changes: with any, the table is not planned at all."""
        return tuple(change for change in self.changes if change.refusal is not None and change.accepted is None)


def compare(declaration: Declaration, meta: TableMeta, evidence: Evidence) -> Difference:
    """Everything that differs, by field id."""
    goal = target.of(declaration, meta)
    struct = meta.schema.struct
    context = columns.Context(
        table=str(declaration.identifier),
        format_version=goal.format_version,
        evidence=evidence,
        readers=declaration.readers + tuple(consumer.id for consumer in declaration.consumers),
        used=_used(goal, meta, evidence),
        valued=_valued(goal, meta),
    )
    found = [
        *attributes.format_version(declaration, meta, evidence),
        *columns.changes(struct, goal.schema.struct, context),
        *_identity(meta, goal),
        *_partition(meta, goal, evidence),
        *_sort(meta, goal, evidence),
        *attributes.location(declaration, meta),
        *attributes.properties(declaration, meta.properties),
    ]
    ref_changes, ref_notes = attributes.refs(declaration, meta)
    changes = tuple(_accepted(change, declaration.accept) for change in (*found, *ref_changes))
    notes = (*ref_notes, *attributes.undeclared(declaration, meta), *_stale(declaration, changes))
    difference = Difference(changes, None, notes)
    if not changes or difference.refused:
        return difference
    return replace(difference, request=request.build(declaration, meta, goal, changes))


def _used(target: Target, meta: TableMeta, evidence: Evidence) -> dict[int, str]:
    """Columns something stands on: the target layout, and older specs that still have live files."""
    used: dict[int, str] = {}
    for old in meta.specs:
        facts = evidence.specs.get(old.spec_id or 0)
        if facts is not None and facts.files != 0:
            used.update(_sources(old, f"partition spec {old.spec_id} of live files"))
    used.update(_sources(target.spec, "partition spec"))
    for key in target.order.fields:
        used.update(dict.fromkeys(key.source_ids, "the sort order"))
    used.update(dict.fromkeys(target.schema.identifier_ids, "the identifier"))
    return used


def _valued(target: Target, meta: TableMeta) -> frozenset[int]:
    """Columns in an identity or a bucket of any spec, old or new: the specification keeps a date in one a date."""
    fields = [field for spec in (*meta.specs, target.spec) for field in spec.fields]
    return frozenset(
        source for field in fields if field.transform.startswith(("identity", "bucket")) for source in field.source_ids
    )


def _sources(spec: PartitionSpec, what: str) -> dict[int, str]:
    return {source: what for field in spec.fields if field.transform != "void" for source in field.source_ids}


def names_by_id(*structs: Struct) -> dict[int, str]:
    """Column paths by field id; later structs win."""
    return {field.id: show_path(path) for struct in structs for path, field in walk(struct) if field.id is not None}


def _identity(meta: TableMeta, target: Target) -> list[Change]:
    before, after = tuple(sorted(meta.schema.identifier_ids)), target.schema.identifier_ids
    if before == after:
        return []
    names = names_by_id(meta.schema.struct, target.schema.struct)
    return [
        Change(
            ChangeKind.IDENTIFY,
            "identifier",
            ", ".join(names[i] for i in before) or None,
            ", ".join(names[i] for i in after) or None,
            detail="says what identifies a row; nothing enforces it",
        )
    ]


def _partition(meta: TableMeta, target: Target, evidence: Evidence) -> list[Change]:
    if layouts.effective(target.spec) == layouts.effective(meta.spec):
        return []
    names = names_by_id(meta.schema.struct, target.schema.struct)
    same = layouts.same_spec(target.spec, meta.specs)
    price = evidence.without(same.spec_id if same else None)
    before, after = layouts.show_spec(meta.spec, names), layouts.show_spec(target.spec, names)
    if before == after:  # only the names of partition fields differ
        before, after = _named(meta.spec), _named(target.spec)
    change = Change(
        ChangeKind.PARTITION,
        "partition",
        before,
        after,
        classes=(ChangeClass.METADATA_ONLY, ChangeClass.LAYOUT_DEBT)
        if price.files != 0
        else (ChangeClass.METADATA_ONLY,),
        price=price,
        detail="files to come use it; existing files keep their spec until they are rewritten"
        if price.files != 0
        else "",
    )
    clash = _name_clash(target)
    return [replace(change, refusal=clash) if clash else change]


def _named(spec: PartitionSpec) -> str:
    return ", ".join(f"{field.name} = {field.transform}" for field in spec.fields if field.transform != "void")


def _name_clash(target: Target) -> Refusal | None:
    """Iceberg refuses a partition field named like a column it is not the identity of."""
    ids = {field.name: field.id for field in target.schema.struct.fields}
    for part in target.spec.fields:
        if part.name in ids and part.transform not in {"identity", "void"}:
            return Refusal(
                f"the partition field {part.name} is named like a column.",
                f"Give it a name of its own, for example `name: {default_name(part.transform, part.name)}_part`.",
            )
    return None


def _sort(meta: TableMeta, target: Target, evidence: Evidence) -> list[Change]:
    if target.order.fields == meta.order.fields:
        return []
    names = names_by_id(meta.schema.struct, target.schema.struct)
    price = evidence.total() if target.order.fields else NOTHING  # unsorting leaves no file out of order
    debt = price.files != 0
    return [
        Change(
            ChangeKind.SORT,
            "sort",
            layouts.show_order(meta.order, names),
            layouts.show_order(target.order, names),
            classes=(ChangeClass.METADATA_ONLY, ChangeClass.LAYOUT_DEBT) if debt else (ChangeClass.METADATA_ONLY,),
            price=price,
            detail="files to come are sorted so; existing files are not" if debt else "",
        )
    ]


_ACCEPTED_AS: Mapping[ChangeKind, str] = {
    ChangeKind.DROP_COLUMN: "drop-column",
    ChangeKind.REQUIRE_COLUMN: "require-column",
    ChangeKind.UPGRADE_FORMAT: "upgrade-format",
}


def _accepted(change: Change, accept: tuple[Acceptance, ...]) -> Change:
    """The change with its recorded reason, when it is refused, acceptable, and accepted by name."""
    if change.refusal is None or not change.refusal.acceptable:
        return change
    for acceptance in accept:
        column = show_path(acceptance.column) if acceptance.column else None
        about = column == change.subject or (column is None and change.kind is ChangeKind.UPGRADE_FORMAT)
        if acceptance.change == _ACCEPTED_AS.get(change.kind) and about:
            return replace(change, accepted=acceptance.reason)
    return change


def _stale(declaration: Declaration, changes: tuple[Change, ...]) -> list[Note]:
    """Acceptances that met nothing: harmless now, a trap later, when they would wave through something new."""
    used = {(change.kind, change.subject) for change in changes if change.accepted}
    kinds = {name: kind for kind, name in _ACCEPTED_AS.items()}
    return [
        Note(
            str(declaration.identifier),
            f"`accept: {acceptance.change}"
            + (f" of {show_path(acceptance.column)}" if acceptance.column else "")
            + "` is not needed any more; take it out of the file.",
        )
        for acceptance in declaration.accept
        if acceptance.change in kinds
        and not any(
            kind is kinds[acceptance.change] and (acceptance.column is None or subject == show_path(acceptance.column))
            for kind, subject in used
        )
    ]
