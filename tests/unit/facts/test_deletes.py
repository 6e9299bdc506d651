"""Deletes and what they touch, beside a reading of the specification that compares every delete with every file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.figures import NONE, UNKNOWN, Figure, at_least, at_most, exactly
from firnline.facts import deletions
from firnline.facts.deletes import DeleteLook, look_at_deletes
from firnline.facts.lines import DELETE_PATH_ID, Content, Format, Status
from firnline.facts.values import DeleteFacts, DeleteKind
from tests.unit.facts.delete_building import (
    ANYWHERE,
    EQUALITY,
    FILE,
    FILES,
    META,
    PATHS,
    VECTOR,
    Manifest,
    Truth,
    shelf,
    sighted,
    tables,
)
from tests.unit.facts.entry_building import Drawer, File, entries


def size(delete: File) -> int:
    blob = delete.content is not Content.EQUALITY_DELETES and delete.format is Format.PUFFIN
    return (delete.content_size if blob and delete.content_size is not None else delete.size) or 0


def facts(deletes: Sequence[tuple[int, File]]) -> tuple[int, int, int, int]:
    own = [file for _, file in deletes]
    return len(own), sum(map(size, own)), sum(file.records or 0 for file in own), len({file.path for file in own})


def figures(of: DeleteFacts) -> tuple[Figure, Figure, Figure, Figure]:
    return of.files, of.bytes, of.rows, of.containers


def look(*manifests: Manifest, cache: Drawer | None = None, batch: int = 5) -> DeleteLook:
    handmade, lines = shelf(manifests, batch)
    return look_at_deletes(handmade, cache or Drawer(), META, lines)


@settings(deadline=None, max_examples=70)
@given(tables(), st.integers(1, 6))
def test_all_that_deletes_do(manifests: list[Manifest], batch: int) -> None:
    """Kinds with counts, bytes, rows and containers; files touched, exact for positions and vectors and bounded by
    scope for equality; what dangles; and every partition's own: as comparing each with each finds it.
    """
    found, truth = look(*manifests, batch=batch), Truth(manifests)
    by_kind: dict[DeleteKind, list[tuple[int, File]]] = {}
    for delete in truth.deletes:
        by_kind.setdefault(truth.kind(*delete), []).append(delete)
    assert {kind: figures(each) for kind, each in found.by_kind.items()} == {
        kind: tuple(map(exactly, facts(own))) for kind, own in by_kind.items()
    }
    for kind, own in by_kind.items():
        assert found.by_kind[kind].oldest_sequence == min(file.sequence for _, file in own)
    assert figures(found.dangling) == tuple(map(exactly, facts(truth.dangling)))
    surely, maybe = ([file for file in truth.data if truth.touched(file)[at]] for at in (0, 1))
    assert found.touched == Figure(len(surely), len(maybe))
    assert found.touched_bytes == Figure(*(sum(file.size or 0 for _, file in own) for own in (surely, maybe)))
    assert (found.damage, found.tombstones + len(truth.deletes)) == ((), found.entries)
    _check_partitions(found, truth, surely, maybe)


Located = Sequence[tuple[int, File]]


def _check_partitions(found: DeleteLook, truth: Truth, surely: Located, maybe: Located) -> None:
    def by_partition(files: Located) -> Counter[str]:
        return Counter(repr((spec_id, file.partition)) for spec_id, file in files)

    deletes, low, high = by_partition(truth.deletes), by_partition(surely), by_partition(maybe)
    assert {repr(key) for key in found.partitions} == set(deletes) | set(high)
    for key, own in found.partitions.items():
        here = [one for one in truth.deletes if repr((one[0], one[1].partition)) == repr(key)]
        assert (own.files, own.bytes, own.rows) == facts(here)[:3]
        assert own.touched == Figure(low[repr(key)], high[repr(key)])
        assert found.in_partition(key) is own


def holds(figure: Figure, true: int) -> bool:
    return figure.low <= true and (figure.high is None or true <= figure.high)


@settings(deadline=None, max_examples=70)
@given(tables(faults=(None, None, "missing", "cut")))
def test_no_figure_is_wrong_for_damage(manifests: list[Manifest]) -> None:
    """Whatever manifests cannot be read, the truth of the whole table lies within every figure, and they are named;
    above all, no delete is said to dangle for sure that may apply to a file nobody could read.
    """
    found, truth = look(*manifests), Truth(manifests)
    touched = [truth.touched(file) for file in truth.data]
    assert found.touched.low <= sum(sure for sure, _ in touched)
    assert found.touched.high is None or found.touched.high >= sum(may for _, may in touched)
    for figure, true in zip(figures(found.dangling), facts(truth.dangling), strict=True):
        assert holds(figure, true)
    for kind, own in found.by_kind.items():
        true_ones = [one for one in truth.deletes if truth.kind(*one) is kind]
        for figure, true in zip(figures(own), facts(true_ones), strict=True):
            assert holds(figure, true)
    unread = {f"m{at}" for at, each in enumerate(manifests) if each.fault and each.content == "deletes"}
    if any(each.files.low for each in found.by_kind.values()):
        unread |= {f"m{at}" for at, each in enumerate(manifests) if each.fault}
    assert {each.location for each in found.damage} == unread


def test_what_cannot_be_read_is_not_nothing() -> None:
    """A table whose only delete manifest is damaged has an unknown number of deletes, of every kind."""
    found = look(Manifest("data", 0, (File(),)), Manifest("deletes", 0, (File(),), "missing"))
    assert {kind: figures(each) for kind, each in found.by_kind.items()} == dict.fromkeys(DeleteKind, (UNKNOWN,) * 4)
    assert (found.touched, found.touched_bytes) == (UNKNOWN, UNKNOWN)
    assert figures(found.dangling) == (UNKNOWN,) * 4
    assert [each.location for each in found.damage] == ["m1"]


def test_any_kind_may_be_in_what_cannot_be_read() -> None:
    """Beside deletes that were read, kinds that were not met are unknown, and those that were are lower bounds."""
    read = Manifest("deletes", 0, (File("d", content=Content.POSITION_DELETES),))
    found = look(read, Manifest("deletes", 0, (), "missing"))
    assert {kind: each.files for kind, each in found.by_kind.items()} == {
        **dict.fromkeys(DeleteKind, UNKNOWN), FILES: at_least(1),
    }  # fmt: skip


def test_damage_of_data_leaves_deletes_counted() -> None:
    """Deletes that were all read are counted exactly, whatever became of the data files they apply to."""
    delete = File("d", (), content=Content.POSITION_DELETES, sequence=5, referenced=PATHS[0])
    found = look(Manifest("data", 0, (File(PATHS[0]),), "missing"), Manifest("deletes", 0, (delete,)))
    assert found.by_kind[FILE].files == exactly(1)
    assert (found.touched, found.dangling.files) == (UNKNOWN, at_most(1))


SCOPES: list[tuple[str, DeleteKind, File, int]] = [
    ("referenced", FILE, File(referenced=PATHS[0]), 1),
    ("bounds that are one path", FILE, File(**sighted(b"p", b"p")), 1),
    ("bounds of several paths", FILES, File(**sighted(b"p", b"q")), 1),
    ("half of the bounds", FILES, File(lower={DELETE_PATH_ID: b"p"}), 1),
    ("empty bounds", FILES, File(**sighted(b"", b"")), 1),
    ("nothing said", FILES, File(), 1),
    ("a vector", VECTOR, File(format=Format.PUFFIN, referenced=PATHS[0]), 1),
    ("equality", EQUALITY, File(content=Content.EQUALITY_DELETES), 1),
    ("equality without partitions", ANYWHERE, File(content=Content.EQUALITY_DELETES), 0),
    ("equality under void fields", ANYWHERE, File(content=Content.EQUALITY_DELETES), 2),
]


@pytest.mark.parametrize(("what", "kind", "file", "spec_id"), SCOPES, ids=[what for what, *_ in SCOPES])
def test_kinds(what: str, kind: DeleteKind, file: File, spec_id: int) -> None:
    """Which kind a delete is, by what its manifest says of it."""
    partition = () if spec_id == 0 else (1,)
    content = Content.POSITION_DELETES if file.content is Content.DATA else file.content
    delete = File(
        "d", partition, content=content, format=file.format, referenced=file.referenced, lower=file.lower,
        upper=file.upper,
    )  # fmt: skip
    assert set(look(Manifest("deletes", spec_id, (delete,))).by_kind) == {kind}, what


SEQUENCES = [
    (FILE, 4, False), (FILE, 5, True), (FILE, 6, True), (VECTOR, 4, False), (VECTOR, 5, True), (FILES, 4, False),
    (FILES, 5, True), (EQUALITY, 5, False), (EQUALITY, 6, True), (ANYWHERE, 5, False), (ANYWHERE, 6, True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "sequence", "applies"), SEQUENCES)
def test_the_rule_of_sequence_numbers(kind: DeleteKind, sequence: int, applies: bool) -> None:
    """Positions and vectors apply to files not younger than they are, equality deletes to older ones only."""
    spec_id, partition = (0, ()) if kind is ANYWHERE else (1, (1,))
    more = {
        FILE: {"referenced": PATHS[0]}, VECTOR: {"referenced": PATHS[0], "format": Format.PUFFIN}, FILES: {},
        EQUALITY: {"content": Content.EQUALITY_DELETES}, ANYWHERE: {"content": Content.EQUALITY_DELETES},
    }[kind]  # fmt: skip
    delete = File(
        **{"path": "d", "partition": partition, "content": Content.POSITION_DELETES, **more}, sequence=sequence
    )
    data = Manifest("data", 1, (File(PATHS[0], (1,), sequence=5),))
    found = look(data, Manifest("deletes", spec_id, (delete,)))
    assert found.dangling.files == exactly(0 if applies else 1)
    assert found.touched.high == int(applies)


def test_a_path_is_found_in_any_partition() -> None:
    """A delete of one file finds it by its path, as Iceberg's planner does, wherever its manifest puts the delete."""
    delete = File("d", (2,), content=Content.POSITION_DELETES, sequence=5, referenced=PATHS[0])
    found = look(Manifest("data", 1, (File(PATHS[0], (1,)),)), Manifest("deletes", 3, (delete,)))
    assert (found.touched, found.dangling.files) == (exactly(1), NONE)


def test_nan_partitions_meet() -> None:
    """A delete in the partition NaN applies to the files of the partition NaN."""
    delete = File("d", (float("nan"),), content=Content.POSITION_DELETES, sequence=5)
    found = look(Manifest("data", 1, (File(PATHS[0], (float("nan"),)),)), Manifest("deletes", 1, (delete,)))
    assert (found.touched, found.dangling.files) == (exactly(1), NONE)


UNTOLD = [
    ({"size": None}, ("bytes",)), ({"records": None}, ("rows",)), ({"size": 2**62, "records": -1}, ("bytes", "rows")),
    ({"size": None, "content_size": 5, "format": Format.PUFFIN}, ()),
]  # fmt: skip


@pytest.mark.parametrize(("said", "lacking"), UNTOLD)
def test_what_nobody_told_is_not_known(said: Mapping[str, object], lacking: Sequence[str]) -> None:
    """A size or count that is missing, negative or absurd makes its sum a bound, and no other figure."""
    whole = File("d1", (), content=Content.POSITION_DELETES, sequence=5, size=5, records=5, referenced=PATHS[0])
    odd = File(**{"path": "d2", "content": Content.POSITION_DELETES, "sequence": 5, "records": 5, **said})
    found = look(Manifest("data", 0, (File(PATHS[0], size=None),)), Manifest("deletes", 0, (whole, odd)))
    sums = [found.by_kind[kind] for kind in found.by_kind]
    for name in ("files", "bytes", "rows", "containers"):
        assert all(getattr(each, name).exact for each in sums) is (name not in lacking), name
    assert (found.touched, found.touched_bytes) == (exactly(1), UNKNOWN)


AGES = [
    (3, exactly(3000)),
    (5, exactly(5000)),
    (4, at_most(5000)),
    (1, at_most(3000)),
    (8, exactly(8000)),
    (9, UNKNOWN),
]


@pytest.mark.parametrize(("sequence", "age"), AGES)
def test_how_old_the_oldest_is(sequence: int, age: Figure) -> None:
    """The commit's own time while its snapshot is kept; else it was before the next one that is; else nobody knows."""
    deletes = [
        File(f"d{each}", content=Content.POSITION_DELETES, sequence=each) for each in (sequence, sequence + 1, 20)
    ]
    found = look(Manifest("deletes", 0, tuple(deletes))).by_kind[FILES]
    assert (found.oldest_sequence, found.oldest_millis) == (sequence, age)


def test_without_deletes_no_data_manifest_is_read() -> None:
    """A table without deletes costs nothing here; one that has only tombstones of them costs its delete manifests."""
    data = Manifest("data", 0, (File(),))
    gone = Manifest("deletes", 0, (File("d", status=Status.DELETED, content=Content.POSITION_DELETES),))
    for manifests, opened in (([data], []), ([data, gone], ["m1"])):
        handmade, lines = shelf(manifests)
        found = look_at_deletes(handmade, Drawer(), META, lines)
        assert (handmade.opened, found.touched, dict(found.by_kind)) == (opened, NONE, {})


@settings(deadline=None, max_examples=30)
@given(tables())
def test_a_second_look_reads_nothing(manifests: list[Manifest]) -> None:
    """What was kept says the same as what was read, NaN partitions too."""
    cache = Drawer()
    first = look(*manifests, cache=cache)
    handmade, lines = shelf(manifests)
    again = look_at_deletes(handmade, cache, META, lines)
    assert handmade.opened == []
    assert repr(again) == repr(first)


WHOLE = deletions.to_bytes(dict(deletions.deletes(entries([File("d", (1,))] * 2, ids=(1000,))))[0])
TARGETS = deletions.targets_to_bytes(dict(deletions.targets(entries([File("f", (math.nan,))], ids=(1000,))))[0])


@pytest.mark.parametrize("cut", range(0, min(len(WHOLE), len(TARGETS)), 5))
def test_damaged_bytes_are_nothing(cut: int) -> None:
    """Bytes that end early, and those of the other kind, are neither deletes nor data files."""
    assert deletions.from_bytes(WHOLE[:cut]) is None
    assert deletions.targets_from_bytes(TARGETS[:cut]) is None
    assert deletions.targets_from_bytes(WHOLE) is None


def test_only_what_a_manifest_has_is_kept_of_it() -> None:
    """A batch has partitions of many manifests; each takes its own with it, and no others."""
    files = [File(f"f{number}", (number,)) for number in range(50)]
    batch = entries(files, ids=(1000,), manifest=list(range(50)))
    assert [len(each.partitions) for _, each in deletions.targets(batch)] == [1] * 50
    assert [len(each.partitions) for _, each in deletions.deletes(batch)] == [1] * 50
