"""Field ids: who keeps one, who gets a new one, and that none is given twice."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from firnline.core.types import Struct, walk
from firnline.tables import schemas
from tests.decisions import draws
from tests.decisions.drafts import struct

OLD = schemas.fresh(
    struct("id: long", "at: struct<day: date, hour: int>", "tags: list<string>", "by: map<string, int>")
).struct


def ids(of: Struct) -> dict[str, int]:
    """Ids by path."""
    return draws.described(of)


def test_a_new_table_counts_level_by_level() -> None:
    """A whole level gets its ids before what is inside it, as Iceberg's own builders do."""
    assert ids(OLD) == {
        "id": 1, "at": 2, "tags": 3, "by": 4, "at.day": 5, "at.hour": 6, "tags.element": 7, "by.key": 8, "by.value": 9,
    }  # fmt: skip
    assert schemas.fresh(struct("a: int")).last_id == 1


def test_what_keeps_its_name_and_place_keeps_its_id() -> None:
    """The same name at the same place is the same field, whatever its type, words and order."""
    declared = struct(
        "by: map<string, long>", "at: struct<hour: long, day: date, zone: string>", "new: int", "id: string"
    )
    target = schemas.assign(declared, OLD, {}, 20)
    assert ids(target.struct) == {
        "by": 4, "by.key": 8, "by.value": 9, "at": 2, "at.hour": 6, "at.day": 5, "at.zone": 22, "new": 21, "id": 1,
    }  # fmt: skip
    assert target.last_id == 22


def test_a_renamed_field_keeps_its_id_and_those_inside_it() -> None:
    """`was:` finds the old name at the same place; what is inside goes along, with its own renames."""
    declared = struct("id: long", "moment: struct<date: date, hour: int>", "tags: list<string>")
    target = schemas.assign(declared, OLD, {("moment",): "at", ("moment", "date"): "day"}, 9)
    assert (ids(target.struct)["moment"], ids(target.struct)["moment.date"], ids(target.struct)["moment.hour"]) == (
        2,
        5,
        6,
    )


def test_a_former_name_that_is_still_declared_is_no_rename() -> None:
    """A field that is declared under its own name is not taken by another one's `was:`."""
    target = schemas.assign(struct("id: long", "id2: long"), OLD, {("id2",): "id"}, 9)
    assert ids(target.struct) == {"id": 1, "id2": 10}


def test_another_kind_of_nesting_starts_anew_inside() -> None:
    """A list where a struct was keeps the column's id, and what is inside it is new."""
    target = schemas.assign(struct("at: list<int>"), OLD, {}, 9)
    assert ids(target.struct) == {"at": 2, "at.element": 10}


def test_a_dropped_name_that_comes_back_is_another_field() -> None:
    """Ids above the highest ever used: a column that comes back does not read the values it once had."""
    without = schemas.assign(struct("id: long"), OLD, {}, 9)
    again = schemas.assign(struct("id: long", "at: struct<day: date, hour: int>"), without.struct, {}, 9)
    assert min(set(ids(again.struct).values()) - {1}) == 10


def test_an_initial_default_that_is_not_declared_stays() -> None:
    """What rows from before the column read is the table's to say."""
    old = schemas.fresh(struct("id: long")).struct
    had = Struct(tuple(replace(field, initial_default=5, write_default=5) for field in old.fields))
    (field,) = schemas.assign(struct("id: long"), had, {}, 1).struct.fields
    assert (field.initial_default, field.write_default) == (5, None)


_structs = draws.structs(draws.types(3)).filter(draws.unambiguous)


@given(_structs)
def test_ids_are_all_there_and_all_different(of: Struct) -> None:
    """Every field of a new table has an id of its own, from 1 without a gap."""
    target = schemas.fresh(of)
    found = sorted(field.id or 0 for _, field in walk(target.struct))
    assert found == list(range(1, target.last_id + 1))


@given(_structs, _structs, st.integers(0, 50))
def test_no_id_is_ever_used_again(before: Struct, after: Struct, dropped: int) -> None:
    """Between any two schemas, an id is either the same field's at the same path or above every id there ever was."""
    old = schemas.fresh(before)
    last = old.last_id + dropped
    new = schemas.assign(after, old.struct, {}, last)
    known = {field.id: path for path, field in walk(old.struct)}
    taken = [field.id or 0 for _, field in walk(new.struct)]
    assert len(set(taken)) == len(taken)
    assert all((known.get(field.id) == path) if (field.id or 0) <= last else True for path, field in walk(new.struct))
    assert new.last_id == max([last, *taken])
    assert schemas.assign(after, new.struct, {}, new.last_id) == new
