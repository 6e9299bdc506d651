"""Tables with deletes made up by Hypothesis, and what the specification says of them, comparing each with each."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from hypothesis import strategies as st

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.core.types import Field, Primitive, Struct
from firnline.facts.lines import DELETE_PATH_ID, Content, Format, ManifestLine, Status
from firnline.facts.meta import Schema
from firnline.facts.values import DeleteKind
from tests.facts_building import snapshot_of, table_of
from tests.unit.facts.entry_building import File, HandMade

DAY, GONE = PartitionField("day", "identity", (1,), 1000), PartitionField("day", "void", (1,), 1000)
SPECS = (PartitionSpec((), 0), PartitionSpec((DAY,), 1), PartitionSpec((GONE,), 2), PartitionSpec((DAY,), 3))
IDS = {0: (), 1: (1000,), 2: (1000,), 3: (1000,)}
COLUMNS = Struct((Field("id", Primitive("long"), id=1), Field("name", Primitive("string"), required=True, id=2)))
META = table_of([snapshot_of(number) for number in (3, 5, 8)], current=8, specs=SPECS, schemas=(Schema(0, COLUMNS),))
PATHS = [f"data/{number}.parquet" for number in range(8)]
FILE, FILES, EQUALITY, ANYWHERE, VECTOR = (
    DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES, DeleteKind.EQUALITY, DeleteKind.GLOBAL_EQUALITY,
    DeleteKind.VECTOR,
)  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """A manifest, and what is the matter with it."""

    content: str
    spec_id: int
    files: tuple[File, ...]
    fault: str | None = None  # missing, cut

    @property
    def live(self) -> Iterator[tuple[int, File]]:
        return ((self.spec_id, file) for file in self.files if file.status is not Status.DELETED)


@dataclass
class Truth:
    """Every delete held against every data file, as the specification has it."""

    manifests: Sequence[Manifest]
    deletes: list[tuple[int, File]] = field(init=False)
    data: list[tuple[int, File]] = field(init=False)

    def __post_init__(self) -> None:
        self.deletes = list(chain.from_iterable(each.live for each in self.manifests if each.content == "deletes"))
        self.data = list(chain.from_iterable(each.live for each in self.manifests if each.content == "data"))

    def kind(self, spec_id: int, delete: File) -> DeleteKind:
        if delete.content is Content.EQUALITY_DELETES:
            return ANYWHERE if spec_id in {0, 2} else EQUALITY
        if delete.format is Format.PUFFIN:
            return VECTOR
        return FILE if self.target(delete) is not None else FILES

    def target(self, delete: File) -> str | None:
        if delete.referenced is not None:
            return delete.referenced
        lower, upper = delete.lower.get(DELETE_PATH_ID), delete.upper.get(DELETE_PATH_ID)
        return lower.decode() if lower is not None and lower == upper else None

    def applies(self, delete: tuple[int, File], data: tuple[int, File]) -> bool:
        (spec_id, one), (of, file) = delete, data
        here = (spec_id, repr(one.partition)) == (of, repr(file.partition))
        match self.kind(spec_id, one):
            case DeleteKind.POSITION_FILE | DeleteKind.VECTOR:
                return self.target(one) == file.path and file.sequence <= one.sequence
            case DeleteKind.POSITION_FILES:
                return here and file.sequence <= one.sequence
            case DeleteKind.EQUALITY:
                return here and file.sequence < one.sequence
            case _:
                return file.sequence < one.sequence

    def touched(self, data: tuple[int, File]) -> tuple[bool, bool]:
        """Whether a delete surely applies to it, and whether one may."""
        kinds = {self.kind(*delete) for delete in self.deletes if self.applies(delete, data)}
        return bool(kinds - {EQUALITY, ANYWHERE}), bool(kinds)

    def attached(self, data: tuple[int, File]) -> list[tuple[int, File]]:
        """The deletes a planner attaches: a vector stands for all positions, bounds may rule equality out."""
        found = [one for one in self.deletes if self.applies(one, data) and may_match(one[1], data[1])]
        positions = {FILE, FILES} if any(self.kind(*one) is VECTOR for one in found) else set()
        return [one for one in found if self.kind(*one) not in positions]

    @property
    def dangling(self) -> list[tuple[int, File]]:
        return [one for one in self.deletes if not any(self.applies(one, file) for file in self.data)]


def may_match(delete: File, data: File) -> bool:
    """Whether, by their metrics, some row of the data may be one an equality delete is about."""
    return all(_may_match(delete, data, column) for column in delete.equality_ids)


def _may_match(delete: File, data: File, column: int) -> bool:
    nulls = [(file.nulls.get(column), file.values.get(column)) for file in (delete, data)]
    if column == 1:  # the other is required
        may, only = [null != 0 for null, _ in nulls], [null is not None and null == count for null, count in nulls]
        if all(may):
            return True
        if (only[0] and not may[1]) or (only[1] and not may[0]):
            return False
    ends = [(file.lower.get(column), file.upper.get(column)) for file in (delete, data)]
    if None in chain.from_iterable(ends):
        return True
    (low, high), (least, most) = (map(_value, own) for own in ends)
    return low <= most and least <= high  # type: ignore[operator]


def _value(bound: bytes | None) -> object:
    assert bound is not None
    return struct.unpack("<q", bound)[0] if len(bound) == 8 else bound


def shelf(manifests: Sequence[Manifest], batch: int = 5) -> tuple[HandMade, list[ManifestLine]]:
    lines = [
        ManifestLine(f"m{at}", length=at, spec_id=each.spec_id, content=each.content)
        for at, each in enumerate(manifests)
    ]
    there = {f"m{at}": each.files for at, each in enumerate(manifests) if each.fault != "missing"}
    cut = frozenset(f"m{at}" for at, each in enumerate(manifests) if each.fault == "cut")
    return HandMade({}, there, IDS, batch, cut), lines


STATUSES = st.sampled_from([Status.ADDED, Status.EXISTING, Status.ADDED, Status.DELETED])
SPEC_IDS = st.sampled_from([0, 1, 1, 2, 3])


def partitions(spec_id: int) -> st.SearchStrategy[tuple[object, ...]]:
    match spec_id:
        case 0:
            return st.just(())
        case 2:
            return st.just((None,))
        case _:
            return st.tuples(st.sampled_from([1, 2, None, 0.0, -0.0]) | st.builds(float, st.just("nan")))


def sighted(path: bytes, other: bytes) -> dict[str, Mapping[int, bytes]]:
    return {"lower": {DELETE_PATH_ID: path}, "upper": {DELETE_PATH_ID: other}}


@st.composite
def metrics(draw: st.DrawFn) -> dict[str, dict[int, object]]:
    """What a writer kept of the two columns, or some of it."""
    found: dict[str, dict[int, object]] = {"lower": {}, "upper": {}, "nulls": {}, "values": {}}
    for column in draw(st.sampled_from([(), (1,), (2,), (1, 2), (1, 2)])):
        low, high = sorted(draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
        for name, value in (("lower", low), ("upper", high)):
            if draw(st.integers(0, 4)):
                found[name][column] = struct.pack("<q", value) if column == 1 else b"abcdef"[value : value + 1]
        found["nulls"][column] = draw(st.sampled_from([0, 0, 2, 5]))
        if draw(st.booleans()):
            found["values"][column] = 5
    return found


@st.composite
def delete_files(draw: st.DrawFn, spec_id: int) -> File:
    path, kept = draw(st.sampled_from(PATHS)), draw(metrics())
    more = draw(
        st.sampled_from(
            [
                {"referenced": path}, {}, sighted(path.encode(), path.encode()), sighted(b"data/0", b"data/9"),
                *({"content": Content.EQUALITY_DELETES, "equality_ids": ids, **kept} for ids in ((1,), (2,), (2, 1))),
                {"format": Format.PUFFIN, "referenced": path, "content_size": 7, "content_offset": 4},
            ]
        )
    )  # fmt: skip
    return File(
        **{
            "path": draw(st.sampled_from(["d1", "d2", "d3"])), "partition": draw(partitions(spec_id)),
            "status": draw(STATUSES), "content": Content.POSITION_DELETES, "sequence": draw(st.integers(1, 9)),
            "records": draw(st.integers(0, 9)), "size": draw(st.integers(0, 99)), **more,
        }
    )  # fmt: skip


@st.composite
def tables(draw: st.DrawFn, faults: Sequence[str | None] = (None,)) -> list[Manifest]:
    """Some manifests of data files, each path once, and some of deletes."""
    paths = iter(draw(st.permutations(PATHS)))
    found: list[Manifest] = []
    for _ in range(draw(st.integers(0, 3))):
        spec_id = draw(SPEC_IDS)
        files = tuple(
            File(
                path, draw(partitions(spec_id)), draw(STATUSES), sequence=draw(st.integers(1, 9)), size=10 + at,
                **draw(metrics()),
            )
            for at, path in zip(range(draw(st.integers(1, 3))), paths, strict=False)
        )  # fmt: skip
        found.append(Manifest("data", spec_id, files, draw(st.sampled_from(faults))))
    for _ in range(draw(st.integers(0, 3))):
        spec_id = draw(SPEC_IDS)
        files = tuple(draw(st.lists(delete_files(spec_id), min_size=1, max_size=4)))
        found.append(Manifest("deletes", spec_id, files, draw(st.sampled_from(faults))))
    return draw(st.permutations([each for each in _one_vector_each(found) if each.files]))


def _one_vector_each(manifests: Sequence[Manifest]) -> Iterator[Manifest]:
    """As the specification has it: a data file has one deletion vector at most."""
    met: set[str | None] = set()
    for manifest in manifests:
        kept = []
        for file in manifest.files:
            vector = file.format is Format.PUFFIN and file.status is not Status.DELETED
            if not (vector and file.referenced in met):
                kept.append(file)
                met |= {file.referenced} if vector else set()
        yield replace(manifest, files=tuple(kept))
