"""Live files with the deletes that apply to them, beside a planner that compares every delete with every file."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.errors import Failed, Missing, Refused
from firnline.core.ids import SnapshotId
from firnline.facts.lines import Content, Format, Metric, Status
from firnline.facts.slices import Choice, FileSlice, SliceDelete, SliceFile, take
from firnline.facts.values import DeleteKind, PartitionKey
from tests.facts_building import snapshot_of, table_of
from tests.unit.facts.delete_building import META, PATHS, SPECS, VECTOR, Manifest, Truth, shelf, sighted, tables
from tests.unit.facts.entry_building import File, HandMade

LIST = snapshot_of(8).manifest_list or ""


def made(manifests: Sequence[Manifest], batch: int = 5) -> HandMade:
    handmade, lines = shelf(manifests, batch)
    return replace(handmade, lists={LIST: tuple(lines)})


def sliced(
    manifests: Sequence[Manifest], partitions: Collection[PartitionKey] | None = None,
    paths: Collection[str] | None = None, *, batch: int = 5,
) -> FileSlice:  # fmt: skip
    return take(META, made(manifests, batch), Choice.of(partitions, paths))


def as_text(spec_id: int, file: File) -> str:
    return repr((spec_id, file.partition))


def expected(truth: Truth, data: tuple[int, File]) -> tuple[object, ...]:
    """What a slice says of a data file and its deletes."""
    spec_id, file = data
    deletes = sorted(
        (one.path, truth.kind(*each), each[0], repr(one.partition), one.sequence, one.records, one.size,
         one.content_size, one.equality_ids, truth.target(one))
        for each in truth.attached(data) for one in [each[1]]
    )  # fmt: skip
    return file.path, as_text(spec_id, file), file.size, file.records, file.sequence, tuple(deletes)


def told(file: SliceFile) -> tuple[object, ...]:
    """The same of what was found."""
    deletes = sorted(
        (each.path, _scoped(each), each.spec_id, repr(each.partition[1]), each.sequence, each.records, each.size,
         each.content_size, each.equality_ids, each.referenced)
        for each in file.deletes
    )  # fmt: skip
    return file.path, repr(file.partition), file.size, file.records, file.sequence, tuple(deletes)


def _scoped(delete: SliceDelete) -> DeleteKind:
    whole = delete.kind is DeleteKind.EQUALITY and delete.spec_id in {0, 2}
    return DeleteKind.GLOBAL_EQUALITY if whole else delete.kind


@settings(deadline=None, max_examples=70)
@given(tables(), st.integers(1, 6))
def test_every_file_has_its_deletes(manifests: list[Manifest], batch: int) -> None:
    """All live files, in the order of their manifests, each with what a planner that compares everything attaches."""
    truth = Truth(manifests)
    found = sliced(manifests, batch=batch)
    assert found.snapshot == 8
    assert [told(file) for file in found.files] == [expected(truth, data) for data in truth.data]


@settings(deadline=None, max_examples=40)
@given(tables(), st.sets(st.sampled_from(PATHS)), st.data())
def test_a_choice_leaves_the_rest_out(manifests: list[Manifest], paths: set[str], data: st.DataObject) -> None:
    """By partitions, by paths and by both, the files are those of the whole slice that are chosen, deletes and all."""
    whole = sliced(manifests).files
    keys = sorted({file.partition for file in whole}, key=repr)
    chosen = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    names = {repr(key) for key in chosen}
    in_partitions = [told(file) for file in whole if repr(file.partition) in names]
    of_paths = [told(file) for file in whole if file.path in paths]
    assert [told(file) for file in sliced(manifests, chosen).files] == in_partitions
    assert [told(file) for file in sliced(manifests, None, paths).files] == of_paths
    assert [told(file) for file in sliced(manifests, chosen, paths).files] == [
        each for each in of_paths if each in in_partitions
    ]


def test_metrics_are_asked_for_where_equality_deletes_need_them() -> None:
    """Bounds and counts of their columns are read of deletes and data; else nothing but the paths of deletes."""
    position = File("d", (), content=Content.POSITION_DELETES, sequence=5)
    equality = File("e", (), content=Content.EQUALITY_DELETES, sequence=5, equality_ids=(1,))
    for delete, asked in ((position, [2, 0]), (equality, [2, 6, 4])):
        handmade = made([Manifest("data", 0, (File(PATHS[0]),)), Manifest("deletes", 0, (delete,))])
        take(META, handmade)
        assert [len(wanted.metrics) for wanted in handmade.asked] == asked
    assert {metric for metric, _ in handmade.asked[-1].metrics} == {
        Metric.LOWER, Metric.UPPER, Metric.NULLS, Metric.VALUES,
    }  # fmt: skip


def test_a_vector_stands_for_all_positions() -> None:
    """Where a file has a deletion vector, position deletes of it are left aside; equality deletes are not."""
    deletes = (
        File("p", (), content=Content.POSITION_DELETES, sequence=3, referenced=PATHS[0]),
        File("v", (), content=Content.POSITION_DELETES, sequence=4, format=Format.PUFFIN, referenced=PATHS[0],
             content_offset=4, content_size=40),
        File("e", (), content=Content.EQUALITY_DELETES, sequence=5, equality_ids=(1,)),
        File("q", (), content=Content.POSITION_DELETES, sequence=9),
    )  # fmt: skip
    first, second = sliced(
        [Manifest("data", 0, (File(PATHS[0]), File(PATHS[1]))), Manifest("deletes", 0, deletes)]
    ).files
    assert [each.path for each in first.deletes] == ["e", "v"]
    assert [each.path for each in second.deletes] == ["e", "q"]
    vector = first.deletes[1]
    assert (vector.kind, vector.content_offset, vector.content_size, vector.referenced) == (VECTOR, 4, 40, PATHS[0])


def test_what_a_writer_left_out_is_none() -> None:
    """Sizes, counts, orders and numbers nobody told are None, and never a number."""
    data = File(PATHS[0], size=None, records=None, snapshot=None, format=Format.ORC)
    delete = File("d", content=Content.POSITION_DELETES, sequence=2, size=None, records=None)
    (found,) = sliced([Manifest("data", 0, (data,)), Manifest("deletes", 0, (delete,))]).files
    assert (found.size, found.records, found.snapshot, found.sort_order, found.first_row_id, found.format) == (
        None, None, None, None, None, "orc",
    )  # fmt: skip
    assert (found.deletes[0].size, found.deletes[0].records, found.deletes[0].referenced) == (None, None, None)


def test_names_that_are_no_text() -> None:
    """A path as the file system gives it, with bytes that are no text, is chosen by that very name."""
    raw = b"data/\xff\x80.parquet"
    odd = raw.decode("utf-8", "surrogateescape")
    delete = File("d", content=Content.POSITION_DELETES, sequence=5, **sighted(raw, raw))  # type: ignore[arg-type]
    table = [Manifest("data", 0, (File(odd), File(PATHS[0]))), Manifest("deletes", 0, (delete,))]
    (found,) = sliced(table, None, [odd]).files
    assert (found.path, [each.referenced for each in found.deletes]) == (odd, [odd])


def test_paths_that_share_a_hash_are_told_apart() -> None:
    """Hashes only pass over most files quickly; which are chosen is decided by their names."""
    both = Choice.of(paths=PATHS[:2])._hashes
    choice = replace(Choice.of(paths=PATHS[:1]), _hashes=both)
    found = take(META, made([Manifest("data", 0, (File(PATHS[0]), File(PATHS[1])))]), choice)
    assert [file.path for file in found.files] == [PATHS[0]]


def test_the_partition_nan_is_found() -> None:
    """NaN is a partition like any other: chosen by whatever NaN, and its deletes apply to its files."""
    delete = File("d", (float("nan"),), content=Content.POSITION_DELETES, sequence=5)
    table = [
        Manifest("data", 1, (File(PATHS[0], (float("nan"),)), File(PATHS[1], (1,)))),
        Manifest("deletes", 1, (delete,)),
    ]
    for nan in (math.nan, float("nan"), -float("nan")):
        (found,) = sliced(table, [(1, (nan,))]).files
        assert (found.path, len(found.deletes)) == (PATHS[0], 1)


def test_too_many_files_are_refused() -> None:
    """What would not fit into memory is refused; files that are not chosen do not count."""
    table = [Manifest("data", 0, tuple(File(path) for path in PATHS))]
    assert len(take(META, made(table), Choice.of(files_max=len(PATHS))).files) == len(PATHS)
    with pytest.raises(Refused, match=r"More than 7 files") as caught:
        take(META, made(table), Choice.of(files_max=7))
    assert "partitions" in (caught.value.next_step or "")
    assert len(take(META, made(table), Choice.of(paths=PATHS[:7], files_max=7)).files) == 7


@pytest.mark.parametrize("fault", ["missing", "cut"])
@pytest.mark.parametrize("content", ["data", "deletes"])
def test_damage_fails(fault: str, content: str) -> None:
    """A slice is never of a part: a manifest that cannot be read fails it by name, whatever is chosen."""
    of = Content.DATA if content == "data" else Content.POSITION_DELETES
    table = [Manifest("data", 0, (File(PATHS[0]),)), Manifest(content, 0, (File("x", content=of),), fault)]
    for paths in (None, [PATHS[0]]):
        with pytest.raises((Failed, Missing), match="m1"):
            sliced(table, None, paths)


def test_without_a_list_it_fails() -> None:
    """A manifest list or a head that is not there, and a snapshot that was expired, are no empty slice."""
    nothing = HandMade({}, {})
    with pytest.raises(Failed, match=r"snap-8\.avro"):
        take(META, nothing)
    with pytest.raises(Failed, match="names snapshot 8 as current"):
        take(replace(META, snapshots=()), nothing)
    with pytest.raises(Missing, match="no snapshot 77"):
        take(META, nothing, snapshot=SnapshotId(77))
    assert take(table_of([], specs=SPECS), nothing) == FileSlice(None, ())


def test_another_snapshot() -> None:
    """The files of a snapshot that is kept, by its own list."""
    handmade, lines = shelf([Manifest("data", 0, (File(PATHS[0]),)), Manifest("data", 0, (File(PATHS[1]),))])
    lists = {LIST: tuple(lines), snapshot_of(3).manifest_list or "": (lines[0],)}
    found = take(META, replace(handmade, lists=lists), snapshot=SnapshotId(3))
    assert (found.snapshot, [file.path for file in found.files]) == (3, [PATHS[0]])


def test_tombstones_are_not_there() -> None:
    """Files that left the table, and deletes that did, are in no slice."""
    gone = File(PATHS[0], status=Status.DELETED)
    delete = File("d", content=Content.POSITION_DELETES, sequence=5, status=Status.DELETED)
    (found,) = sliced([Manifest("data", 0, (gone, File(PATHS[1]))), Manifest("deletes", 0, (delete,))]).files
    assert (found.path, found.deletes) == (PATHS[1], ())
