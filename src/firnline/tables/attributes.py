"""Changes beside the schema and the layout: properties, format version, location, branches and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from firnline.config.engines import format_max
from firnline.config.values import Declaration, DeclaredRef
from firnline.core.ids import SnapshotId
from firnline.core.instants import show_duration
from firnline.core.keys import RESERVED_PREFIX
from firnline.facts.meta import Ref, TableMeta
from firnline.loop.values import Note
from firnline.tables.values import Change, ChangeClass, ChangeKind, Evidence, Refusal

# Engines write these by themselves when they create a table; nobody declares them, nobody misses them.
_FOREIGN = frozenset({"created-at", "owner", "comment", "write.parquet.compression-codec", "nessie.commit.id"})
_NEW_FILES_ONLY = ("write.",)


def wanted_properties(declaration: Declaration) -> dict[str, str | None]:
    """Declared properties, with owner and description as the properties catalogs know them by."""
    wanted = dict(declaration.properties)
    if declaration.owner is not None:
        wanted.setdefault("owner", declaration.owner)
    if declaration.description is not None:
        wanted.setdefault("comment", declaration.description)
    return wanted


def properties(declaration: Declaration, current: Mapping[str, str]) -> Iterator[Change]:
    """Declared properties that differ. What is set and not declared is left alone."""
    for key, value in sorted(wanted_properties(declaration).items()):
        before = current.get(key)
        if before == value:
            continue
        kind = ChangeKind.REMOVE_PROPERTY if value is None else ChangeKind.SET_PROPERTY
        detail = "for files to come; existing files stay as they are" if key.startswith(_NEW_FILES_ONLY) else ""
        yield Change(kind, key, before, value, detail=detail)


def undeclared(declaration: Declaration, meta: TableMeta) -> Iterator[Note]:
    """Properties and refs of the table that the file does not speak of."""
    wanted = wanted_properties(declaration)
    extra = sorted(
        key
        for key in meta.properties
        if key not in wanted and key not in _FOREIGN and not key.startswith(RESERVED_PREFIX)
    )
    if extra:
        yield Note(
            str(declaration.identifier),
            f"set on the table and not declared, left alone: {', '.join(extra)}. Write `NAME: null` to remove one.",
        )
    declared = {ref.name for ref in declaration.refs} | {"main"}
    refs = sorted(name for name in meta.refs if name not in declared)
    if refs:
        yield Note(str(declaration.identifier), f"branches and tags not declared, left alone: {', '.join(refs)}.")


def format_version(declaration: Declaration, meta: TableMeta, evidence: Evidence) -> Iterator[Change]:
    """Up is one-way; down is refused."""
    wanted = declaration.format_version
    if wanted is None or wanted == meta.format_version:
        return
    before, after = str(meta.format_version), str(wanted)
    if wanted < meta.format_version:
        yield Change(
            ChangeKind.DOWNGRADE_FORMAT,
            "format-version",
            before,
            after,
            classes=(ChangeClass.NEEDS_REWRITE,),
            price=evidence.total(),
            refusal=Refusal(
                "a table never goes back to an older format.", "Copy the rows into a new table of that format."
            ),
        )
        return
    broken = tuple(reader for reader in declaration.readers if format_max(reader) < wanted)
    classes = (ChangeClass.METADATA_ONLY, ChangeClass.ONE_WAY)
    detail = (
        "there is no way back; new row-level deletes are deletion vectors" if wanted == 3 else "there is no way back"
    )
    yield Change(
        ChangeKind.UPGRADE_FORMAT,
        "format-version",
        before,
        after,
        classes=(*classes, ChangeClass.BREAKS_READERS) if broken else classes,
        readers=broken,
        detail=detail,
        refusal=Refusal(
            f"{', '.join(broken)} cannot read format {wanted} (as far as we know), and there is no way back.",
            'Move these readers first, or record the decision:  accept: [{change: upgrade-format, reason: "…"}]',
            acceptable=True,
        )
        if broken
        else None,
    )


def location(declaration: Declaration, meta: TableMeta) -> Iterator[Change]:
    """New files go elsewhere; old ones stay where they are and are still the table's."""
    if declaration.location is None or declaration.location.rstrip("/") == meta.table_location:
        return
    yield Change(
        ChangeKind.MOVE_LOCATION,
        "location",
        meta.table_location,
        declaration.location.rstrip("/"),
        classes=(ChangeClass.METADATA_ONLY, ChangeClass.LAYOUT_DEBT),
        detail="files to come go there; existing files stay at the old location and still belong to the table",
    )


def refs(declaration: Declaration, meta: TableMeta) -> tuple[list[Change], list[Note]]:
    """Branches and tags. One without a snapshot is made at the current snapshot and then follows its writers."""
    changes: list[Change] = []
    notes: list[Note] = []
    for ref in declaration.refs:
        current = meta.refs.get(ref.name)
        subject = f"{ref.kind} {ref.name}"
        if ref.absent:
            if current is not None:
                changes.append(_removal(ref, current))
        elif ref.snapshot is None and current is None and meta.current_snapshot_id is None:
            notes.append(
                Note(str(declaration.identifier), f"{subject} waits for the table's first snapshot.", level="waiting")
            )
        else:
            changes.extend(_set_ref(ref, current, meta))
    return changes, notes


def _removal(ref: DeclaredRef, current: Ref) -> Change:
    change = Change(
        ChangeKind.REMOVE_REF,
        f"{current.kind} {ref.name}",
        before=f"snapshot {current.snapshot}",
        detail="snapshots that only it holds become free to expire",
    )
    if ref.name == "main":
        return replace(change, refusal=Refusal("main is the table.", "Remove the line."))
    return change


def _set_ref(ref: DeclaredRef, current: Ref | None, meta: TableMeta) -> Iterator[Change]:
    target = target_ref(ref, current, meta)
    if target == current:
        return
    change = Change(
        ChangeKind.SET_REF,
        f"{ref.kind} {ref.name}",
        before=_describe(current) if current else None,
        after=_describe(target),
    )
    if current is not None and current.kind != ref.kind:
        change = replace(change, refusal=Refusal(f"{ref.name} is a {current.kind} already.", "Give it another name."))
    elif meta.find_snapshot(target.snapshot) is None:
        change = replace(
            change,
            refusal=Refusal(f"the table has no snapshot {target.snapshot}.", "`firnline history` lists those it has."),
        )
    elif ref.name == "main" and current is not None and target.snapshot != current.snapshot:
        change = replace(change, refusal=Refusal("moving main is a rollback.", "Use `firnline rollback TABLE --to …`."))
    yield change


def target_ref(ref: DeclaredRef, current: Ref | None, meta: TableMeta) -> Ref:
    """The ref as it is to be."""
    held = current.snapshot if current is not None else meta.current_snapshot_id
    snapshot = ref.snapshot if ref.snapshot is not None else held
    assert snapshot is not None
    return Ref(
        ref.name,
        ref.kind,
        SnapshotId(snapshot),
        _millis(ref.ref_age_max),
        _millis(ref.snapshot_age_max),
        ref.snapshots_min,
    )


def _millis(age: timedelta | None) -> int | None:
    return None if age is None else int(age.total_seconds() * 1000)


def _age(millis: int | None) -> str | None:
    return None if millis is None else show_duration(timedelta(milliseconds=millis))


def _describe(ref: Ref) -> str:
    kept = [
        f"{label} {value}"
        for label, value in (
            ("kept for", _age(ref.ref_age_max_ms)),
            ("its snapshots for", _age(ref.snapshot_age_max_ms)),
            ("snapshots at least", ref.snapshots_min),
        )
        if value is not None
    ]
    return ", ".join([f"snapshot {ref.snapshot}", *kept])
