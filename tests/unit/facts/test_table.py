"""A table observed: what is exact, what is bounded, what is read again, and in which order partitions come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from firnline.core.figures import NONE, UNKNOWN, Figure, at_least, exactly
from firnline.core.ids import Identifier
from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Field, Primitive, Struct
from firnline.facts.lines import Content, ManifestLine, Status
from firnline.facts.meta import Schema, TableMeta
from firnline.facts.table import Source, observe, thresholds
from firnline.facts.values import DeleteKind, Rhythm, TableFacts, Thresholds
from tests.facts_building import WHERE, snapshot_of, table_of
from tests.unit.facts.entry_building import Drawer, File, HandMade

NAME = Identifier(("shop",), "orders")
SIZES = Thresholds(target=1000, small_below=750, large_above=1800)
DAY = PartitionField("day", "identity", (1,), 1000)
SCHEMA = Schema(0, Struct((Field("day", Primitive("date"), id=1),)))
SNAPSHOTS = [snapshot_of(1), snapshot_of(2, 1), snapshot_of(3, 2)]
META = table_of(SNAPSHOTS, current=3, specs=(PartitionSpec((DAY,), 0),), schemas=(SCHEMA,), last_sequence_number=3)
LIST = SNAPSHOTS[-1].manifest_list or ""
POSITIONS = Content.POSITION_DELETES


def data(path: str, day: int, size: int | None = 100, sequence: int = 1, **more: object) -> File:
    return File(path, (day,), size=size, sequence=sequence, snapshot=sequence, records=10, **more)  # type: ignore[arg-type]


def line(path: str, count: int, **more: object) -> ManifestLine:
    known = ManifestLine(path, 1000, 0, added_files=count, existing_files=0, deleted_files=0)
    return replace(known, **more)  # type: ignore[arg-type]


@dataclass
class Table:
    """A table of these manifests, looked at with one cache."""

    manifests: HandMade
    cache: Drawer
    meta: TableMeta = META

    def look(self, sizes: Thresholds | None = SIZES, named_max: int = 1000) -> TableFacts:
        self.manifests.opened.clear()
        source = Source(self.meta, 1234, False, self.manifests, self.cache)
        return observe(NAME, source, sizes=sizes, named_max=named_max)


def table(*lines: ManifestLine, cut: Sequence[str] = (), **files: Sequence[File]) -> Table:
    handmade = HandMade({LIST: lines}, files, {0: (1000,)}, cut=frozenset(cut))
    return Table(handmade, Drawer())


def usual(*, cut: Sequence[str] = ()) -> Table:
    """Two manifests of data, one of deletes."""
    deletes = (File("d1", (1,), content=POSITIONS, sequence=3, referenced="a", records=2, size=50),)
    return table(
        line("m1", 3), line("m2", 2), line("m3", 1, content="deletes"),
        m1=[data("a", 1), data("b", 1), data("c", 2, 2000)], m2=[data("d", 1, 700, 2), data("e", 3, 10, 2)], m3=deletes,
        cut=cut,
    )  # fmt: skip


def test_the_whole_of_a_table() -> None:
    """Sums, specs, deletes, manifests and the metadata file, all exact."""
    found = usual().look()
    numbers = found.data
    assert [getattr(numbers, name).value for name in numbers.__slots__] == [5, 2910, 50, 4, 910, 2, 1, 2000]
    assert [(each.spec_id, each.current, each.partitions, each.files.value) for each in found.specs] == [
        (0, True, 3, 5)
    ]
    assert found.deletes[DeleteKind.POSITION_FILE].files == exactly(1)
    assert (found.touched, found.touched_bytes, found.dangling.files) == (exactly(1), exactly(100), NONE)
    assert (found.partition_count, found.partition_rows_median, found.partition_rows_most) == (3, 10, 30)
    manifests = found.manifests
    assert (manifests.data, manifests.deletes, manifests.bytes, manifests.entries, manifests.tombstones) == (
        2, 1, exactly(3000), exactly(6), NONE,
    )  # fmt: skip
    assert (found.snapshot, found.sequence, found.damage, found.metadata_location) == (3, 3, (), WHERE)
    assert (found.formats, found.sort_orders) == ({"parquet": 5}, {0: 5})
    assert found.metadata is not None
    assert found.metadata.json_bytes == 1234


def test_partitions_by_what_can_be_mended() -> None:
    """Those that merging helps most come first, then those with deletes and large files; the rest is counted."""
    whole = usual().look()
    assert [(each.name, each.removable, each.delete_files, each.large_files) for each in whole.partitions] == [
        ("day=1970-01-02", 2, 1, 0), ("day=1970-01-03", 0, 0, 1), ("day=1970-01-04", 0, 0, 0),
    ]  # fmt: skip
    assert (whole.partitions[0].touched, whole.partitions[0].delete_rows) == (exactly(1), 2)
    cut = usual().look(named_max=1)
    assert (cut.partitions, cut.partitions_left_out) == (whole.partitions[:1], 2)
    assert (cut.data, cut.partition_count) == (whole.data, 3)


def test_the_rhythm_of_a_partition() -> None:
    """Of the commits that added its files: rewrites do not count, nor those whose snapshots are gone."""
    rewrite = replace(SNAPSHOTS[1], summary={"operation": "replace"})
    files = [
        data("a", 1),
        data("b", 1, sequence=2),
        data("c", 1, sequence=3),
        data("d", 2, sequence=2),
        data("e", 3, sequence=9),
    ]
    made = table(line("m1", 5), m1=files)
    made.meta = replace(META, snapshots=(SNAPSHOTS[0], rewrite, SNAPSHOTS[2]))
    assert {each.key[1]: each.rhythm for each in made.look().partitions} == {
        (1,): Rhythm(2, 3000, 2000), (2,): Rhythm(0), (3,): Rhythm(0),
    }  # fmt: skip


def test_a_second_look_reads_nothing() -> None:
    """It says the same, to the order of everything, and opens no manifest and no list."""
    made = usual()
    first = made.look()
    assert sorted(made.manifests.opened) == ["m1", "m1", "m2", "m2", "m3"]  # data again, for what deletes touch
    made.manifests.lists = {}
    assert made.look() == first
    assert made.manifests.opened == []


def test_another_threshold_is_another_fold() -> None:
    """Which files are small is in what is kept: with other sizes data is read again, deletes are not."""
    made = usual()
    made.look()
    other = made.look(replace(SIZES, small_below=50))
    assert sorted(made.manifests.opened) == ["m1", "m2"]
    assert other.data.small_files == exactly(1)
    assert made.look(replace(SIZES, target=10, small_below=50)).data.small_files == exactly(1)
    assert made.manifests.opened == []  # the target alone is not


def test_a_changed_manifest_is_read_again() -> None:
    """One that has another length under the same name is another one."""
    made = usual()
    made.look()
    lines = made.manifests.lists[LIST]
    made.manifests.lists = {LIST: (replace(lines[0], length=999), *lines[1:])}
    made.cache.kept = {key: value for key, value in made.cache.kept.items() if "|head|" not in key}  # as in a new list
    made.look()
    assert made.manifests.opened == ["m1", "m1"]


@pytest.mark.parametrize(
    "spoil", [lambda _: b"", lambda data: data[:-1], lambda _: b"x" * 40, lambda data: data + b"x"]
)
def test_a_damaged_cache_is_read_over(spoil: object) -> None:
    """Whatever lies in the cache, the facts are those of the manifests."""
    made = usual()
    first = made.look()
    made.cache.kept = {key: spoil(value) for key, value in made.cache.kept.items()}  # type: ignore[operator]
    assert made.look() == first
    assert made.look() == first
    assert made.manifests.opened == []


def test_values_of_another_kind_in_the_cache_are_read_over() -> None:
    """What was kept of one thing under the key of another is not taken for it."""
    made = usual()
    first = made.look()
    of = {key.split("|")[1].split()[0]: value for key, value in made.cache.kept.items()}
    other = {"fold": of["deletes"], "deletes": of["targets"], "targets": of["head"], "head": of["fold"]}
    made.cache.kept = {key: other[key.split("|")[1].split()[0]] for key in made.cache.kept}
    assert made.look() == first


DAMAGE: list[tuple[str, list[Figure]]] = [
    # of data: files, removable; of deletes: files, dangling; touched
    ("m1", [at_least(2), at_least(0), exactly(1), Figure(0, 1), UNKNOWN]),
    ("m2", [at_least(3), at_least(1), exactly(1), Figure(0, 0), at_least(1)]),
    ("m3", [exactly(5), exactly(2), UNKNOWN, UNKNOWN, UNKNOWN]),
]


@pytest.mark.parametrize(("path", "figures"), DAMAGE)
def test_damage_makes_bounds_of_what_it_held(path: str, figures: list[Figure]) -> None:
    """A manifest that cannot be read is named once; figures that need it are bounds, all others stay exact."""
    found = usual(cut=[path]).look()
    assert [each.location for each in found.damage] == [path]
    deletes = found.deletes[DeleteKind.POSITION_FILE]
    told = [found.data.files, found.data.removable, deletes.files, found.dangling.files, found.touched]
    assert told == figures
    assert found.manifests.entries == exactly(6)  # the manifest list says it


def test_what_damage_adds_later_is_named() -> None:
    """A data manifest whose fold is kept, and that has gone since: files are still exact, what deletes touch is not."""
    made = usual()
    for key in [key for key in made.look() and made.cache.kept if "targets" in key]:
        del made.cache.kept[key]
    made.manifests.cut = frozenset(["m2"])
    found = made.look()
    assert (found.data.files, found.touched, found.dangling.files) == (exactly(5), at_least(1), NONE)
    assert [each.location for each in found.damage] == ["m2"]


def test_a_list_without_counts() -> None:
    """Where the manifest list says no counts, entries are those that were read; a bound when some could not be."""
    bare = {"added_files": None, "existing_files": None, "deleted_files": None}
    gone = data("z", 1, status=Status.DELETED)
    for cut, entries, tombstones in (((), exactly(4), exactly(1)), (["m2"], at_least(2), at_least(1))):
        made = table(
            line("m1", 2, **bare),
            line("m2", 2, **bare),
            m1=[data("a", 1), gone],
            m2=[data("b", 1), data("c", 1)],
            cut=cut,
        )
        found = made.look().manifests
        assert (found.entries, found.tombstones) == (entries, tombstones)


def test_sizes_nobody_told() -> None:
    """A file without a size makes bytes a bound; it may be small, or large, or one that could be merged: one each."""
    found = table(line("m1", 3), m1=[data("a", 1), data("b", 1), data("c", 1, None)]).look()
    numbers = found.data
    assert (numbers.files, numbers.bytes, numbers.rows) == (exactly(3), at_least(200), exactly(30))
    assert (numbers.small_files, numbers.large_files, numbers.removable) == (Figure(2, 3), Figure(0, 1), Figure(1, 2))
    assert (found.specs[0].bytes, found.specs[0].rows) == (at_least(200), exactly(30))
    assert found.sizes.files == 2


def test_rows_nobody_counted() -> None:
    """A file without a count of rows makes rows a bound, and no more."""
    found = table(line("m1", 2), m1=[data("a", 1), replace(data("b", 1), records=-1)]).look()
    assert (found.data.rows, found.data.bytes) == (at_least(10), exactly(200))


EMPTY = [table_of([], specs=META.specs), replace(META, current_snapshot_id=None)]


@pytest.mark.parametrize("meta", EMPTY, ids=["no snapshot", "none current"])
def test_a_table_never_written(meta: TableMeta) -> None:
    """Nothing at all, and that for sure."""
    made = table()
    made.meta = meta
    found = made.look()
    assert {getattr(found.data, name) for name in found.data.__slots__} == {NONE}
    assert (found.touched, found.manifests.entries, found.manifests.fanout, found.partitions) == (NONE, NONE, NONE, ())
    assert found.damage == ()


PROPERTIES = [
    (None, 512 << 20),
    ("1000", 1000),
    (" 1000 ", 1000),
    ("0", 512 << 20),
    ("-5", 512 << 20),
    ("1e3", 512 << 20),
]


@pytest.mark.parametrize(("said", "target"), PROPERTIES)
def test_thresholds_come_from_the_table(said: str | None, target: int) -> None:
    """Three quarters of the table's own target is small, 1.8 times it large; what is no size is not one."""
    meta = replace(META, properties={} if said is None else {"write.target-file-size-bytes": said})
    found = thresholds(meta)
    assert (found.target, found.small_below, found.large_above) == (target, int(target * 0.75), int(target * 1.8))
    made = usual()
    made.meta = meta
    assert made.look(sizes=None).thresholds == found
