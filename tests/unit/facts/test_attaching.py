"""Which deletes apply to a data file: a table of cases."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import pytest

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Field, ListOf, Primitive, Struct
from firnline.facts.attaching import ColumnRange, Index, Ranges, SliceDelete
from firnline.facts.meta import Schema, TableMeta
from firnline.facts.values import DeleteKind
from tests.unit.history.test_lineage import forked

DATA, OTHER = "s3://b/t/data/1.parquet", "s3://b/t/data/2.parquet"
DAY_ONE, DAY_TWO, NOWHERE = (1, (1,)), (1, (2,)), (0, ())
POSITION_FILE, POSITION_FILES, EQUALITY, VECTOR = (
    DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES, DeleteKind.EQUALITY, DeleteKind.VECTOR,
)  # fmt: skip


def table() -> TableMeta:
    """Unpartitioned once, then by day; an optional id, a required one, and a list."""
    columns = Struct(
        (
            Field("id", Primitive("long"), id=1),
            Field("key", Primitive("long"), required=True, id=2),
            Field("tags", ListOf(Primitive("string"), element_id=4), id=3),
        )
    )
    by_day = PartitionSpec((PartitionField("day", "identity", (1,), 1000),), 1)
    specs = (PartitionSpec((), 0), by_day)
    return replace(forked(), schemas=(Schema(0, columns),), current_schema_id=0, specs=specs, default_spec_id=1)


def delete(kind: DeleteKind, sequence: int, partition: object = DAY_ONE, **more: object) -> SliceDelete:
    """A delete of this kind."""
    spec = partition[0]  # type: ignore[index]
    return SliceDelete("d", kind, "parquet", 10, 1, spec, partition, sequence, **more)  # type: ignore[arg-type]


def of(low: int | None, high: int | None, nulls: int | None = 0, values: int | None = 10) -> ColumnRange:
    """What metrics say of a column of longs."""
    lower, upper = (None if each is None else struct.pack("<q", each) for each in (low, high))
    return ColumnRange(lower, upper, nulls, values)


@dataclass(frozen=True)
class Case:
    """A delete, a data file of sequence 5 on day one, and whether the one applies to the other."""

    what: str
    delete: SliceDelete
    applies: bool
    data: Ranges | None = None


def keyed(sequence: int, ranges: Ranges, ids: tuple[int, ...] = (1,), partition: object = DAY_ONE) -> SliceDelete:
    """An equality delete."""
    return delete(EQUALITY, sequence, partition, equality_ids=ids, ranges=ranges)


YES, NO = True, False
CASES = [
    Case("positions of the partition, younger", delete(POSITION_FILES, 6), YES),
    Case("positions of the partition, of the same commit", delete(POSITION_FILES, 5), YES),
    Case("positions of the partition, older", delete(POSITION_FILES, 4), NO),
    Case("positions of another partition", delete(POSITION_FILES, 6, DAY_TWO), NO),
    Case("positions under a spec without partitions", delete(POSITION_FILES, 6, NOWHERE), NO),
    Case("positions of the very file", delete(POSITION_FILE, 5, referenced=DATA), YES),
    Case("positions of the very file, older", delete(POSITION_FILE, 4, referenced=DATA), NO),
    Case("positions of another file", delete(POSITION_FILE, 6, referenced=OTHER), NO),
    Case("a vector of the very file", delete(VECTOR, 5, referenced=DATA), YES),
    Case("a vector of another file", delete(VECTOR, 6, referenced=OTHER), NO),
    Case("keys, younger", keyed(6, {}), YES),
    Case("keys of the same commit", keyed(5, {}), NO),
    Case("keys of another partition", keyed(6, {}, partition=DAY_TWO), NO),
    Case("keys under a spec without partitions: anywhere", keyed(6, {}, partition=NOWHERE), YES),
    Case("keys that overlap", keyed(6, {1: of(3, 9)}), YES, {1: of(9, 12)}),
    Case("keys below", keyed(6, {1: of(3, 8)}), NO, {1: of(9, 12)}),
    Case("keys above", keyed(6, {1: of(13, 14)}), NO, {1: of(9, 12)}),
    Case("keys without bounds", keyed(6, {1: of(None, None)}), YES, {1: of(9, 12)}),
    Case("data without bounds", keyed(6, {1: of(3, 8)}), YES, {1: of(None, None)}),
    Case("nulls on both sides", keyed(6, {1: of(3, 8, 1)}), YES, {1: of(9, 12, 1)}),
    Case("nulls untold on both sides", keyed(6, {1: of(3, 8, None)}), YES, {1: of(9, 12, None)}),
    Case("only nulls in the data, none in the keys", keyed(6, {1: of(3, 8)}), NO, {1: of(None, None, 10)}),
    Case("only nulls in the keys, none in the data", keyed(6, {1: of(None, None, 10)}), NO, {1: of(3, 8)}),
    Case("a required column has no nulls", keyed(6, {2: of(3, 8, None)}, (2,)), NO, {2: of(9, 12, None)}),
    Case("one of two cannot match", keyed(6, {1: of(3, 9), 2: of(1, 1)}, (1, 2)), NO, {1: of(3, 9), 2: of(2, 2)}),
    Case("a column that has no bounds by its type", keyed(6, {3: of(3, 8)}, (3,)), YES, {3: of(9, 12)}),
    Case("a column nobody knows any more", keyed(6, {77: of(3, 8)}, (77,)), YES, {77: of(9, 12)}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_delete_applies_or_does_not(case: Case) -> None:
    """Scope, sequence number and bounds decide, as in Iceberg's own planner."""
    index = Index.of(table(), [case.delete])
    assert bool(index.attached(DATA, DAY_ONE, 5, case.data or {})) is case.applies


def test_a_vector_stands_for_all_positions() -> None:
    """A file with a vector has no other position deletes; equality deletes stay."""
    vector = delete(VECTOR, 7, referenced=DATA)
    keys = keyed(6, {})
    index = Index.of(table(), [delete(POSITION_FILES, 6), delete(POSITION_FILE, 6, referenced=DATA), vector, keys])
    assert set(index.attached(DATA, DAY_ONE, 5, {})) == {vector, keys}


def test_a_vector_older_than_its_file_is_none() -> None:
    """A vector whose file is younger does not hide the position deletes that apply."""
    positions = delete(POSITION_FILES, 6)
    index = Index.of(table(), [delete(VECTOR, 4, referenced=DATA), positions])
    assert index.attached(DATA, DAY_ONE, 5, {}) == (positions,)
