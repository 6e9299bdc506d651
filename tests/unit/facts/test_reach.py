"""What history, each ref and nobody keeps: against sets of files, for any graph of snapshots, read whole or in part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.figures import NONE, Figure, at_least, at_most, exactly
from firnline.facts import kept, reach
from firnline.facts.lines import Content, Format, ManifestLine, Status
from firnline.facts.meta import TableMeta
from firnline.facts.values import HistoryFacts, RefHold
from tests.facts_building import TABLE, WHERE, Line, Shelves, snapshot_of, table_of

File = tuple[str, int]


def vector(path: str, offset: int, size: int) -> Line:
    """A deletion vector in a Puffin file that is far larger."""
    return Line(
        path, 10_000, content=Content.POSITION_DELETES, format=Format.PUFFIN, content_offset=offset, content_size=size
    )


@dataclass(frozen=True, slots=True)
class World:
    """A table with everything it keeps."""

    meta: TableMeta
    lists: Mapping[str, tuple[str, ...]]
    manifests: Mapping[str, tuple[Line, ...]]

    def shelves(self, spoiled: Iterable[str] = ()) -> Shelves:
        """The port, with some files gone."""
        gone = set(spoiled)
        return Shelves(
            {location: lines for location, lines in self.lists.items() if location not in gone},
            {location: lines for location, lines in self.manifests.items() if location not in gone},
        )

    def files(self, snapshot: int) -> dict[File, int]:
        """The live files of a snapshot and their sizes."""
        lines = [line for path in self.lists[f"{TABLE}/metadata/snap-{snapshot}.avro"] for line in self.manifests[path]]
        live = [line for line in lines if line.status is not Status.DELETED]
        return {
            (line.path, line.content_offset): line.size if line.format is not Format.PUFFIN else line.content_size
            for line in live
        }


def truth(world: World) -> dict[str, tuple[int, int]]:
    """The slow, obvious way: sets of files, one snapshot after the other."""
    meta, by_id = world.meta, {snapshot.id: snapshot for snapshot in world.meta.snapshots}
    reached: set[int] = set()
    for ref in meta.refs.values():
        at = by_id.get(ref.snapshot)
        while at is not None:
            reached.add(at.id)
            at = by_id.get(at.parent) if at.parent is not None and ref.kind == "branch" else None
    of = {number: world.files(number) for number in by_id}
    sizes = {file: size for files in of.values() for file, size in files.items()}
    live = set(of[meta.current_snapshot_id]) if meta.current_snapshot_id is not None else set()
    heads = {name: set(of[ref.snapshot]) for name, ref in meta.refs.items()}
    past = {file for number in reached for file in of[number]} - live - {file for own in heads.values() for file in own}
    sorts = {
        "live": live,
        "history": past,
        "loose": set(sizes) - {file for number in reached for file in of[number]},
    }
    for name, own in heads.items():
        others = [files for other, files in heads.items() if other != name]
        sorts[f"ref {name}"] = own - {file for files in others for file in files}
    return {name: (len(files), sum(sizes[file] for file in files)) for name, files in sorts.items()}


def figures(found: HistoryFacts) -> dict[str, tuple[Figure, Figure]]:
    """The same, as the facts have it."""
    return {
        "live": (found.live_files, found.live_bytes),
        "history": (found.history_files, found.history_bytes),
        "loose": (found.loose_files, found.loose_bytes),
        **{f"ref {hold.ref}": (hold.files, hold.bytes) for hold in found.refs},
    }


def lies_in(number: int, figure: Figure) -> bool:
    return figure.low <= number and (figure.high is None or number <= figure.high)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    number = draw(st.integers(0, 9))
    status = draw(st.sampled_from(list(Status)))
    if draw(st.booleans()):
        return Line(f"{TABLE}/data/{number}.parquet", 100 + number, status)
    offset = draw(st.integers(0, 2))
    found = vector(f"{TABLE}/data/{number % 2}.puffin", offset, 1000 + 10 * (number % 2) + offset)
    return Line(**{**{name: getattr(found, name) for name in Line.__slots__}, "status": status})


@st.composite
def worlds(draw: st.DrawFn) -> World:
    count = draw(st.integers(1, 6))
    parents = st.one_of(st.none(), st.integers(1, count + 1))
    snapshots = [
        # A parent may have been expired, and is never a later snapshot.
        snapshot_of(number, None if (parent := draw(parents)) is None else parent if parent < number else 77)
        for number in range(1, count + 1)
    ]
    paths = [f"{TABLE}/metadata/m{number}.avro" for number in range(draw(st.integers(0, 5)))]
    numbers = st.integers(1, count)
    names = st.sampled_from(["b1", "b2", "b3"])
    listed = st.lists(st.sampled_from(paths), unique=True) if paths else st.just([])
    return World(
        table_of(
            snapshots,
            current=draw(st.one_of(st.none(), numbers)),
            branches=draw(st.dictionaries(names, numbers)),
            tags=draw(st.dictionaries(st.sampled_from(["t1", "t2"]), numbers)),
        ),
        {f"{TABLE}/metadata/snap-{number}.avro": tuple(draw(listed)) for number in range(1, count + 1)},
        {path: tuple(draw(st.lists(lines(), max_size=5))) for path in paths},
    )


@given(worlds())
def test_whole(world: World) -> None:
    """When everything can be read every figure is exact, and that of the sets of files."""
    found = reach.history(world.meta, world.shelves())
    expected = {name: (exactly(files), exactly(size)) for name, (files, size) in truth(world).items()}
    assert (figures(found), found.damage) == (expected, ())
    assert found.manifests == len({path for lines in world.lists.values() for path in lines})
    assert (found.manifest_bytes, found.snapshots_read) == (exactly(found.manifests), len(world.meta.snapshots))


@given(worlds(), st.data())
def test_in_part(world: World, data: st.DataObject) -> None:
    """Whatever cannot be read, it is named, and every figure still holds the truth."""
    names = [*world.lists, *world.manifests]
    spoiled = data.draw(st.lists(st.sampled_from(names), unique=True))
    found = reach.history(world.meta, world.shelves(spoiled))
    true, bounds = truth(world), figures(found)
    assert set(true) == set(bounds)
    for name, numbers in true.items():
        assert all(map(lies_in, numbers, bounds[name])), (name, numbers, bounds[name])
    told = {damage.location for damage in found.damage}
    assert told <= set(spoiled)
    assert set(spoiled) & set(world.lists) <= told


@given(worlds(), st.integers(0, 12), st.integers(1, 3))
def test_little_room(world: World, room: int, together: int) -> None:
    """Where room runs out the figures are bounds, with a word about it, and hold the truth."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "TOGETHER_MAX", together)
        found = reach.history(world.meta, world.shelves(), entries_max=room)
    for name, numbers in truth(world).items():
        assert all(map(lies_in, numbers, figures(found)[name])), name
    assert found.damage or all(figure.exact for pair in figures(found).values() for figure in pair)


def test_no_room() -> None:
    """Where there is no room nothing is known from above, and it is said how much was left unread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "TOGETHER_MAX", 1)
        world = world_of(table_of([snapshot_of(1)], current=1), {1: "xyz"}, x=(A, B), y=(C,), z=(A,))
        found = reach.history(world.meta, world.shelves(), entries_max=3)
        assert (found.live_files, found.damage) == (exactly(3), ())
        found = reach.history(world.meta, world.shelves(), entries_max=1)
    assert (found.live_files, found.live_bytes) == (at_least(2), at_least(21))
    assert [damage.reason for damage in found.damage] == ["2 manifests were left unread: there is room for 1 files."]


def world_of(meta: TableMeta, lists: Mapping[int, str], **manifests: tuple[Line, ...]) -> World:
    """`lists` has the manifests of each snapshot, one letter each."""
    return World(
        meta, {f"{TABLE}/metadata/snap-{number}.avro": tuple(names) for number, names in lists.items()}, manifests
    )


A, B, C = Line(f"{TABLE}/a", 1), Line(f"{TABLE}/b", 20), Line(f"{TABLE}/c", 300)


def test_a_rewrite() -> None:
    """After a compaction the new file is live, the old ones are history, and main alone keeps the new one."""
    gone = tuple(Line(line.path, line.size, Status.DELETED) for line in (A, B))
    world = world_of(
        table_of([snapshot_of(1), snapshot_of(2, 1)], current=2), {1: "x", 2: "yz"}, x=(A, B), y=(C,), z=gone
    )
    found = reach.history(world.meta, world.shelves())
    assert (found.live_files, found.live_bytes) == (exactly(1), exactly(300))
    assert (found.history_files, found.history_bytes) == (exactly(2), exactly(21))
    assert (found.loose_files, found.refs) == (NONE, (RefHold("main", exactly(1), exactly(300)),))


def test_tags_and_branches() -> None:
    """A branch leads to its ancestors, a tag to its snapshot alone; what two refs hold neither holds alone."""
    snapshots = [snapshot_of(1), snapshot_of(2, 1), snapshot_of(3, 2), snapshot_of(4, 3)]
    lists = {1: "x", 2: "xy", 3: "z", 4: "z"}
    for kind, history, loose in (("tags", NONE, exactly(1)), ("branches", exactly(1), NONE)):
        meta = table_of(snapshots, current=None, **{kind: {"old": 3}})  # type: ignore[arg-type]
        world = world_of(meta, {**lists, 2: "y"}, x=(A,), y=(A,), z=(C,))
        found = reach.history(world.meta, world.shelves())
        assert (found.history_files, found.loose_files) == (history, loose)
        assert found.refs == (RefHold("old", exactly(1), exactly(300)),)
    meta = table_of(snapshots, current=4, tags={"a": 2, "b": 1})
    world = world_of(meta, lists, x=(A,), y=(B,), z=(C,))
    assert {hold.ref: hold.bytes for hold in reach.history(world.meta, world.shelves()).refs} == {
        "main": exactly(300), "a": exactly(20), "b": exactly(0),
    }  # fmt: skip


def test_many_refs() -> None:
    """More refs than a word has bits are told apart, those with one head hold nothing alone."""
    snapshots = [snapshot_of(number) for number in range(1, 201)]
    tags = {f"t{number:03}": number for number in range(1, 201)} | {"twin": 130}
    manifests = {f"m{number}": (Line(f"{TABLE}/{number}", number),) for number in range(1, 201)}
    lists = {f"{TABLE}/metadata/snap-{number}.avro": (f"m{number}", "m1") for number in range(1, 201)}
    world = World(table_of(snapshots, tags=tags), lists, manifests)
    found = reach.history(world.meta, world.shelves())
    expected = {name: number for name, number in tags.items() if number not in {1, 130}}
    assert {hold.ref: hold.bytes.value for hold in found.refs if hold.files == exactly(1)} == expected
    assert {hold.ref for hold in found.refs if hold.files == NONE} == {"t001", "t130", "twin"}


def test_one_file_spelled_in_several_ways() -> None:
    """A file and a manifest are counted once under all their spellings."""
    spelled = [Line(f"{scheme}/w/t/a", 1) for scheme in ("file:", "file://", "", "/")]
    world = world_of(table_of([snapshot_of(1), snapshot_of(2, 1)], current=2), {1: "x", 2: "y"}, x=(*spelled,), y=(A,))
    found = reach.history(world.meta, world.shelves())
    assert (found.live_files, found.live_bytes, found.history_files) == (exactly(1), exactly(1), NONE)
    lists = {f"{TABLE}/metadata/snap-1.avro": ("file:///w/t/m", "/w/t/m", "file:/w/t/m")}
    shelves = Shelves(lists, {"file:///w/t/m": (A,)})
    found = reach.history(table_of([snapshot_of(1)], current=1), shelves)
    assert (found.manifests, shelves.reads.count("file:///w/t/m")) == (1, 1)


def test_format_1() -> None:
    """Manifests that the metadata lists in place count like listed ones; their lengths nobody knows."""
    meta = table_of([snapshot_of(1, manifests=["x"]), snapshot_of(2, 1, manifests=["x", "y"])], current=2)
    found = reach.history(meta, Shelves({}, {"x": (A,), "y": (B,)}))
    assert (found.live_files, found.manifests, found.manifest_bytes) == (exactly(2), 2, at_least(0))
    assert (found.snapshots_read, found.damage) == (2, ())


def test_each_manifest_is_read_once() -> None:
    """10,000 snapshots that share their manifests cost one read of each list and of each manifest."""
    count, width = 10_000, 20
    snapshots = [snapshot_of(number, number - 1) for number in range(1, count + 1)]
    lists = {
        f"{TABLE}/metadata/snap-{number}.avro": [f"m{max(1, number - back)}" for back in range(width)]
        for number in range(1, count + 1)
    }
    manifests = {f"m{number}": (Line(f"{TABLE}/{number}", 1),) for number in range(1, count + 1)}
    shelves = Shelves(lists, manifests, batch=1000)
    found = reach.history(table_of(snapshots, current=count), shelves)
    assert (found.live_files, found.history_files) == (exactly(width), exactly(count - width))
    assert sorted(shelves.reads) == sorted([*lists, *manifests])


PAST, HEAD = f"{TABLE}/metadata/snap-1.avro", f"{TABLE}/metadata/snap-2.avro"


@pytest.mark.parametrize(
    ("gone", "live", "history", "loose", "main", "old"),
    [
        # of:            live         history      loose        main alone   old alone
        ("x", exactly(1), at_least(1), at_most(1), exactly(1), exactly(1)),  # of history alone
        ("y", at_least(0), at_most(2), at_most(1), at_least(0), at_most(1)),  # of the current snapshot
        ("l", exactly(1), exactly(2), at_least(0), exactly(1), exactly(1)),  # of what no ref leads to
        ("t", exactly(1), at_most(2), at_most(1), at_most(1), at_least(0)),  # of a tag
    ],
)  # fmt: skip
def test_as_little_doubt_as_can_be(
    gone: str, live: Figure, history: Figure, loose: Figure, main: Figure, old: Figure
) -> None:
    """What cannot be read casts doubt on those figures only that it could change."""
    meta = table_of([snapshot_of(1), snapshot_of(2, 1), snapshot_of(3), snapshot_of(4)], current=2, tags={"old": 3})
    manifests = {"x": (A,), "z": (B,), "y": (C,), "l": (Line("l"),), "t": (Line("t"),)}
    world = world_of(meta, {1: "xz", 2: "y", 3: "t", 4: "l"}, **manifests)
    found = reach.history(meta, world.shelves(gone))
    assert (found.live_files, found.history_files, found.loose_files) == (
        live, Figure(history.low, history.high), loose,
    )  # fmt: skip
    assert [hold.files for hold in found.refs] == [main, old]
    assert [damage.location for damage in found.damage] == [gone]


def test_a_list_that_is_gone() -> None:
    """Without a manifest list nobody knows the snapshot's files, nor how large its manifests are."""
    world = world_of(table_of([snapshot_of(1), snapshot_of(2, 1)], current=2), {1: "x", 2: "y"}, x=(A,), y=(C,))
    found = reach.history(world.meta, world.shelves([HEAD]))
    assert (found.live_files, found.history_files, found.snapshots_read) == (at_least(0), at_most(1), 1)
    assert (found.manifest_bytes, found.damage[0].location) == (at_least(1), HEAD)
    assert found.damage[0].reason == f"There is no file {HEAD}."


def test_a_ref_to_nowhere() -> None:
    """A ref whose snapshot is not there is told, and what it would hold is unknown."""
    world = world_of(table_of([snapshot_of(1)], current=1, tags={"lost": 5}), {1: "x"}, x=(A,))
    found = reach.history(world.meta, world.shelves())
    assert [(hold.ref, hold.files) for hold in found.refs] == [("main", at_most(1)), ("lost", at_least(0))]
    assert [(one.location, "snapshot 5" in one.reason) for one in found.damage] == [(WHERE, True)]
    assert found.live_files == exactly(1)


def test_sizes_that_are_not_told() -> None:
    """Without a file's size bytes are known from below; how many files there are is not in doubt."""
    world = world_of(table_of([snapshot_of(1)], current=1), {1: "x"}, x=(A, Line(f"{TABLE}/d", -(2**63))))
    found = reach.history(world.meta, world.shelves())
    assert (found.live_files, found.live_bytes) == (exactly(2), at_least(1))


def test_one_bad_manifest_among_many() -> None:
    """The manifests read together with a bad one are all there, and none of their files twice."""
    names = [f"m{number}" for number in range(600)]
    manifests = {name: tuple(Line(f"{TABLE}/{name}/{part}", 1) for part in range(3)) for name in names}
    lists = {f"{TABLE}/metadata/snap-1.avro": [ManifestLine(name, length=1 << 20) for name in names]}
    del manifests["m300"]
    found = reach.history(table_of([snapshot_of(1)], current=1), Shelves(lists, manifests, batch=100))
    assert (found.live_files, found.live_bytes) == (at_least(599 * 3), at_least(599 * 3))
    assert [damage.location for damage in found.damage] == ["m300"]


def test_parents_in_a_circle() -> None:
    """Damaged metadata whose parents go in a circle is walked once."""
    meta = table_of([snapshot_of(1, 2), snapshot_of(2, 1)], current=2)
    world = world_of(meta, {1: "x", 2: "y"}, x=(A,), y=(B,))
    assert reach.history(meta, world.shelves()).history_files == exactly(1)


def test_no_snapshot() -> None:
    """A table that never had a snapshot keeps nothing."""
    assert reach.history(table_of([]), Shelves({}, {})) == HistoryFacts()
