"""Changes between the current and the target schema, compared by field id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from firnline.core.types import Field, MapOf, Path, Primitive, Struct, children, show, show_path, walk
from firnline.tables import promotion
from firnline.tables.values import NOTHING, Change, ChangeClass, ChangeKind, Evidence, Refusal


@dataclass(frozen=True, slots=True)
class Context:
    """What the rules need beside the two schemas."""

    table: str
    format_version: int
    evidence: Evidence
    readers: tuple[str, ...]
    used: dict[int, str]  # field id → what still stands on the column: `partition spec 0`, `sort order 1`
    valued: frozenset[int]  # columns some partition of which, old or new, holds values that go with their type


@dataclass(frozen=True, slots=True)
class _Place:
    path: Path
    field: Field
    parent: int | None
    in_key: bool  # inside the key of a map, which may never change


def changes(current: Struct, target: Struct, context: Context) -> tuple[Change, ...]:
    """Every change of columns, in the order of the declaration; dropped ones last."""
    old, new = _places(current), _places(target)
    found: list[Change] = []
    for field_id, place in new.items():
        if field_id not in old:
            if place.parent is None or place.parent in old:
                found.append(_added(place, context))
        else:
            found.extend(_altered(old[field_id], place, context))
    for field_id, place in old.items():
        if field_id not in new and (place.parent is None or place.parent in new):
            found.append(_dropped(place, context, target))
    return (*found, *_moves(current, target))


def _places(struct: Struct) -> dict[int, _Place]:
    places: dict[int, _Place] = {}

    def visit(field: Field, prefix: Path, parent: int | None, *, in_key: bool) -> None:
        assert field.id is not None
        path = (*prefix, field.name)
        places[field.id] = _Place(path, field, parent, in_key)
        for child in children(field.type):
            visit(child, path, field.id, in_key=in_key or (isinstance(field.type, MapOf) and child.name == "key"))

    for field in struct.fields:
        visit(field, (), None, in_key=False)
    return places


def _added(place: _Place, context: Context) -> Change:
    field = place.field
    change = Change(ChangeKind.ADD_COLUMN, show_path(place.path), after=_describe(field))
    if place.in_key:
        return replace(change, refusal=Refusal("the key of a map may not change: equal keys would stop being equal."))
    if field.initial_default is not None:
        return replace(change, detail="existing rows read the default; no file is touched")
    if field.required and context.evidence.specs and _has_rows(context.evidence):
        return replace(
            change,
            price=context.evidence.total(),
            refusal=Refusal(
                "existing rows have no value for it, and it may not be null.",
                "Add it without `required`, backfill it, then make it required; or, in format 3, give it a default.",
            ),
        )
    return replace(change, detail="existing rows read null")


def _has_rows(evidence: Evidence) -> bool:
    return any(facts.files is None or facts.files > 0 for facts in evidence.specs.values())


def _dropped(place: _Place, context: Context, target: Struct) -> Change:
    path = show_path(place.path)
    change = Change(
        ChangeKind.DROP_COLUMN,
        path,
        before=_describe(place.field),
        classes=(ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_READERS, ChangeClass.BREAKS_TIME_TRAVEL),
        price=context.evidence.total(),
        readers=context.readers,
        detail="the values stay in the files, and no later schema can read them again, not even under the same name",
    )
    if place.in_key:
        return replace(change, refusal=Refusal("the key of a map may not change: equal keys would stop being equal."))
    below = {field.id for _, field in walk(Struct((place.field,)))}
    standing = sorted({context.used[field_id] for field_id in below if field_id in context.used})
    if standing:
        return replace(change, refusal=Refusal(f"{' and '.join(standing)} stands on it.", _free_it(standing)))
    twin = next((p for p, _ in walk(target) if show_path(p).casefold() == path.casefold()), None)
    hint = f" To rename it instead, write `was: {place.path[-1]}` at column {show_path(twin)}." if twin else ""
    return replace(
        change,
        refusal=Refusal(
            "the column is in the table and not in the declaration; dropping it cannot be undone by adding it again.",
            _accept("drop-column", path) + hint,
            acceptable=True,
        ),
    )


def _free_it(standing: list[str]) -> str:
    if any(what.startswith("partition spec") for what in standing):
        return "Declare a partition without it, then rewrite the files of the older spec, then drop the column."
    return "Declare the table without that use of the column first."


def _accept(change: str, column: str) -> str:
    return f'Record the decision in the file:  accept: [{{change: {change}, column: {column}, reason: "…"}}]'


def _describe(field: Field) -> str:
    return show(field.type) + (" required" if field.required else "")


def _altered(before: _Place, after: _Place, context: Context) -> Iterator[Change]:
    old, new, path = before.field, after.field, show_path(after.path)
    if before.path[-1] != after.path[-1]:
        yield Change(
            ChangeKind.RENAME_COLUMN,
            path,
            before=show_path(before.path),
            after=path,
            classes=(ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_READERS),
            readers=context.readers,
            detail=f"field id {old.id} stays; readers that name the column {show_path(before.path)} fail",
        )
    if type(old.type) is not type(new.type) or (not children(old.type) and old.type != new.type):
        yield _retyped(before, after, context)
    if old.required != new.required:
        yield (
            _required(after, context)
            if new.required
            else Change(ChangeKind.RELAX_COLUMN, path, "required", "optional", detail="readers may now meet nulls")
        )
    if (old.doc or None) != (new.doc or None):
        yield Change(ChangeKind.DOCUMENT_COLUMN, path, old.doc, new.doc)
    if old.initial_default != new.initial_default:
        yield Change(
            ChangeKind.DEFAULT_COLUMN,
            path,
            str(old.initial_default),
            str(new.initial_default),
            refusal=Refusal(
                "the initial default is what rows written before the column read; it may never change.",
                "Change `write-default` instead, which is for rows to come.",
            ),
        )
    if old.write_default != new.write_default:
        yield Change(
            ChangeKind.DEFAULT_COLUMN,
            path,
            _text(old.write_default),
            _text(new.write_default),
            detail="for rows to come",
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _retyped(before: _Place, after: _Place, context: Context) -> Change:
    old, new, path = before.field.type, after.field.type, show_path(after.path)
    change = Change(
        ChangeKind.WIDEN_COLUMN, path, show(old), show(new), detail="files keep the old type and are read as the new"
    )
    if after.in_key:
        return replace(change, refusal=Refusal("the key of a map may not change: equal keys would stop being equal."))
    widens = promotion.allowed(old, new, context.format_version)
    splits = widens and old == Primitive("date") and after.field.id in context.valued
    if widens and not splits:
        return change
    kind = replace(
        change, kind=ChangeKind.CHANGE_TYPE, classes=(ChangeClass.NEEDS_REWRITE,), price=context.evidence.total()
    )
    recipe = promotion.recipe(context.table, path, new)
    if splits:
        reason = f"a partition holds its values, and those of {show(new)} are others: old files would not be found."
        return replace(kind, detail="", refusal=Refusal(reason, recipe))
    if promotion.narrows(old, new):
        return replace(
            kind, detail="", refusal=Refusal("a narrower type may not hold the values that are there.", recipe)
        )
    if promotion.allowed(old, new, 3):
        return replace(kind, detail="", refusal=Refusal("this widening needs format version 3.", recipe))
    return replace(kind, detail="", refusal=Refusal(f"Iceberg does not turn {show(old)} into {show(new)}.", recipe))


def _required(place: _Place, context: Context) -> Change:
    path, field = show_path(place.path), place.field
    change = Change(
        ChangeKind.REQUIRE_COLUMN,
        path,
        "optional",
        "required",
        classes=(ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_TIME_TRAVEL),
        price=NOTHING,
        detail="writers that leave it null fail from now on; older snapshots may hold nulls",
    )
    if place.parent is not None:
        return replace(change, refusal=Refusal("null counts cannot prove a nested field.", "Leave it optional."))
    assert field.id is not None
    nulls = context.evidence.nulls.get(field.id, None if _has_rows(context.evidence) else 0)
    how = "a count" if context.evidence.counted else "the metrics of every live file"
    if nulls is None:
        return replace(
            change,
            refusal=Refusal(
                "whether it holds nulls is unknown: some file has no null count for it.",
                "Let it be counted: run the same plan with --count.",
            ),
        )
    if nulls:
        return replace(
            change,
            refusal=Refusal(
                f"{nulls:,} rows are null in it, says {how}.",
                f"Backfill them first (UPDATE {context.table} SET {path} = … WHERE {path} IS NULL), then plan again.",
            ),
        )
    return replace(
        change,
        detail=f"{change.detail}; no nulls now, says {how}",
        refusal=Refusal("it makes writers fail.", _accept("require-column", path), acceptable=True),
    )


def _moves(current: Struct, target: Struct) -> Iterator[Change]:
    for path, before, after in _structs(current, target):
        kept = {field.id for field in after.fields} & {field.id for field in before.fields}
        was = [field.id for field in before.fields if field.id in kept]
        now = [field.id for field in after.fields if field.id in kept]
        added_in_between = [field.id in kept for field in after.fields] != sorted(
            (field.id in kept for field in after.fields), reverse=True
        )
        if was != now or added_in_between:
            yield Change(ChangeKind.MOVE_COLUMNS, show_path(path) or "columns", *_where_they_differ(before, after))


def _where_they_differ(before: Struct, after: Struct) -> tuple[str, str]:
    """Both orders, from the last column they agree on to the next one: of 300 columns nobody reads all."""
    names = {field.id: field.name for struct in (before, after) for field in struct.fields}
    old, new = [field.id for field in before.fields], [field.id for field in after.fields]
    shortest = min(len(old), len(new))
    start = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    end = next((at for at in range(shortest - start) if old[-1 - at] != new[-1 - at]), shortest - start)
    first = max(0, start - 1)

    def show(ids: list[int | None]) -> str:
        last = len(ids) - max(0, end - 1)
        shown = ", ".join(names[each] for each in ids[first:last])
        return f"{'… ' if first else ''}{shown}{' …' if last < len(ids) else ''}"

    return show(old), show(new)


def _structs(current: Struct, target: Struct) -> Iterator[tuple[Path, Struct, Struct]]:
    yield (), current, target
    old = {field.id: field for _, field in walk(current)}
    for path, field in walk(target):
        before = old.get(field.id)
        if before is not None and isinstance(before.type, Struct) and isinstance(field.type, Struct):
            yield path, before.type, field.type
