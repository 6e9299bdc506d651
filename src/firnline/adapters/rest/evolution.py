"""Schemas beside each other: which kinds of change lie between two, and which ids a catalog gives the columns of a new
table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firnline.core.types import Field, Json, ListOf, MapOf, Struct, children, struct_from_json, walk, with_children


def kinds(base: Json, updates: tuple[Json, ...]) -> tuple[str, ...]:
    """The kinds of change these updates make to the current schema of this metadata."""
    added = [update["schema"] for update in updates if update.get("action") == "add-schema"]
    if not added:
        return ()
    old = current(base)
    found = set(_kinds(struct_from_json(old), struct_from_json(added[-1])))
    if sorted(old.get("identifier-field-ids") or ()) != sorted(added[-1].get("identifier-field-ids") or ()):
        found.add("other identifier fields")
    return tuple(sorted(found))


def current(metadata: Json) -> Json:
    """The current schema of metadata of any format."""
    wanted = metadata.get("current-schema-id")
    schemas = metadata.get("schemas") or [metadata["schema"]]
    return next((each for each in schemas if each.get("schema-id") == wanted), schemas[-1])


def _kinds(old: Struct, new: Struct) -> Iterator[str]:
    before = {field.id: field for _, field in walk(old)}
    after = {field.id: field for _, field in walk(new)}
    if after.keys() - before.keys():
        yield "new columns"
    if before.keys() - after.keys():
        yield "dropped columns"
    if [each for each in before if each in after] != [each for each in after if each in before]:
        yield "another order of columns"
    for each, field in before.items():
        if each in after:
            yield from _differences(field, after[each])


def _differences(old: Field, new: Field) -> Iterator[str]:
    if old.name != new.name:
        yield "renamed columns"
    if old.required != new.required:
        yield "columns required or no longer so"
    if old.doc != new.doc:
        yield "other comments"
    if (old.initial_default, old.write_default) != (new.initial_default, new.write_default):
        yield "other defaults"
    # What lies inside a struct, list or map is a field of its own here.
    nested = isinstance(old.type, Struct | ListOf | MapOf) and type(old.type) is type(new.type)
    if not nested and old.type != new.type:
        yield "other types"


def numbered(struct: Struct) -> Struct:
    """The same columns with the ids a catalog gives them when it makes a table: a whole level before the insides."""
    counter = iter(range(1, sum(1 for _ in walk(struct)) + 1))

    def level(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        given = [replace(field, id=next(counter)) for field in fields]
        return tuple(replace(field, type=with_children(field.type, level(children(field.type)))) for field in given)

    return Struct(level(struct.fields))
