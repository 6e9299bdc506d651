"""The folds of a table put together, beside sums over its files."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.layout import PartitionField, PartitionSpec
from firnline.facts import folding
from firnline.facts.folding import Fold, Group
from firnline.facts.lines import Format, ManifestLine, Status
from firnline.facts.totals import Totals, totals
from firnline.facts.values import PartitionKey, Sizes, Thresholds
from tests.unit.facts.entry_building import File, entries

SIZES = Thresholds(target=1000, small_below=750, large_above=1800)
DAY, REGION = PartitionField("day", "identity", (1,), 1000), PartitionField("region", "identity", (2,), 1001)
SPECS = {0: PartitionSpec((), 0), 1: PartitionSpec((DAY,), 1), 2: PartitionSpec((REGION, DAY), 2)}
# What its writer knew of: a manifest may be older than a field, have its fields in another order, or of no spec kept.
IDS: Sequence[tuple[int, tuple[int, ...]]] = [
    (0, ()),
    (1, (1000,)),
    (2, (1000, 1001)),
    (2, (1001, 1000)),
    (2, (1000,)),
    (9, (7,)),
]
VALUES = st.sampled_from([None, 1, 2, "x", 0.0, -0.0, b"\xff"]) | st.builds(float, st.just("nan"))


@st.composite
def manifests(draw: st.DrawFn) -> tuple[int, tuple[int, ...], list[File]]:
    """A manifest: its spec, the partition fields it has, and its files."""
    spec_id, ids = draw(st.sampled_from(IDS))
    partition = st.tuples(*[VALUES] * len(ids))
    file = st.builds(
        File,
        partition=partition,
        status=st.sampled_from(Status),
        format=st.sampled_from(Format),
        sequence=st.integers(1, 30),
        records=st.integers(0, 50) | st.none(),
        size=st.integers(0, 2500) | st.none(),
        sort_order=st.sampled_from([None, 0, 3]),
    )
    return spec_id, ids, draw(st.lists(file, max_size=12))


TABLES = st.lists(manifests(), max_size=6)
Manifest = tuple[int, tuple[int, ...], list[File]]


def put_together(table: Sequence[Manifest], sizes: Thresholds = SIZES) -> Totals:
    lines = [ManifestLine(str(at), spec_id=spec_id) for at, (spec_id, _, _) in enumerate(table)]
    folds: dict[int, Fold] = {
        at: fold for at, (_, ids, files) in enumerate(table) for _, fold in folding.fold(entries(files, ids=ids), sizes)
    }
    return totals(lines, folds, SPECS, sizes)


def key(spec_id: int, ids: Sequence[int], values: Sequence[object]) -> str:
    """A partition as the table knows it, null where the manifest has no such field. As text, for NaN is no NaN."""
    by_id = dict(zip(ids, values, strict=True))
    fields = SPECS[spec_id].fields if spec_id in SPECS else ()
    return repr((spec_id, tuple(by_id.get(field.field_id) for field in fields) if spec_id in SPECS else tuple(values)))


def live(table: Sequence[Manifest]) -> dict[str, list[File]]:
    """The live files of each partition."""
    found: dict[str, list[File]] = defaultdict(list)
    for spec_id, ids, files in table:
        for file in files:
            if file.status is not Status.DELETED:
                found[key(spec_id, ids, file.partition)].append(file)
    return found


def removable(files: Sequence[File], sizes: Thresholds = SIZES) -> int:
    """How many files would be fewer if the small ones were merged, by the definition."""
    small = [file.size for file in files if file.size is not None and file.size < sizes.small_below]
    return max(0, len(small) - max(1, math.ceil(sum(small) / sizes.target)))


@settings(deadline=None, max_examples=40)
@given(TABLES)
def test_sums_are_those_of_the_files(table: list[Manifest]) -> None:
    """By partition, over several manifests and specs: files, bytes, rows, small and large ones, sequence numbers."""
    found, expected = put_together(table), live(table)
    assert sorted(map(repr, found.keys)) == sorted(expected)
    for at, name in enumerate(map(repr, found.keys)):
        files = expected[name]
        small = [file.size for file in files if file.size is not None and file.size < SIZES.small_below]
        large = [file.size for file in files if file.size is not None and file.size > SIZES.large_above]
        assert found.sums[at].tolist() == [
            len(files), sum(file.size or 0 for file in files), sum(file.records or 0 for file in files),
            len(small), sum(small), len(large), sum(large),
            min(file.sequence for file in files), max(file.sequence for file in files),
        ]  # fmt: skip
        assert int(found.removable[at]) == removable(files)
    everything = [file for files in expected.values() for file in files]
    assert found.whole(Group.FILES) == len(everything)
    assert (found.unsized, found.uncounted) == (
        sum(file.size is None for file in everything), sum(file.records is None for file in everything),
    )  # fmt: skip
    assert found.entries == sum(len(files) for _, _, files in table)
    assert found.tombstones == found.entries - len(everything)
    assert sum(found.formats.values()) == sum(found.orders.values()) == len(everything)


@settings(deadline=None, max_examples=40)
@given(TABLES)
def test_commits_are_those_of_their_partition(table: list[Manifest]) -> None:
    """Every partition has its commits, the newest first, and they lie together in the order of the partitions."""
    found, expected = put_together(table), live(table)
    numbers = found.commits[:, 0]
    assert (np.diff(numbers) >= 0).all()
    for at, name in enumerate(map(repr, found.keys)):
        own = found.commits[numbers == at, 1].tolist()
        assert own == sorted(own, reverse=True)
        newest = sorted({file.sequence for file in expected[name]}, reverse=True)
        assert list(dict.fromkeys(own))[: folding.COMMITS_KEPT_MAX] == newest[: folding.COMMITS_KEPT_MAX]


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**45), min_size=1, max_size=60), st.floats(0, 1))
def test_a_quantile_holds_the_true_one(sizes: list[int], share: float) -> None:
    """The smallest size with that share of the files at or below it lies in the figure, and never far from its ends."""
    files = [File(path=str(at), size=size) for at, size in enumerate(sizes)]
    of = put_together([(0, (), files)]).sizes
    true = sorted(sizes)[max(0, math.ceil(share * len(sizes)) - 1)]
    found = of.quantile(share)
    assert found.high is not None
    assert found.low <= true <= found.high
    assert found.high <= max(found.low + 1, found.low * 2**0.25 + 1)
    assert (of.least, of.most, of.files) == (min(sizes), max(sizes), len(sizes))
    assert all(each.floor <= each.bytes / each.files < each.ceiling for each in of.bins)


def test_nothing_at_all() -> None:
    """A table without manifests, and one whose files are all gone again, have no partitions, sizes or quantiles."""
    gone = [File(status=Status.DELETED)]
    for table in ([], [(0, (), gone)], [(1, (1000,), [replace(gone[0], partition=(1,))])]):
        found = put_together(table)
        assert (found.keys, found.whole(Group.FILES), found.sizes, found.formats) == ((), 0, Sizes(), {})
        assert found.sizes.quantile(0.5).value == 0


REMOVABLE: list[tuple[str, Mapping[int, list[int]], int]] = [
    ("nothing small", {1: [800, 900, 2000]}, 0),
    ("one small file has nothing to be merged with", {1: [10, 1000]}, 0),
    ("two small ones become one", {1: [10, 20]}, 1),
    ("as many as fill two files become two", {1: [700, 700]}, 0),
    ("not across partitions", {1: [10], 2: [10], 3: [10]}, 0),
    ("each partition for itself", {1: [10] * 5, 2: [700, 200, 200]}, 4 + 1),
    ("exactly the target is one file", {1: [500, 500]}, 1),
    ("a byte more is two", {1: [500, 501]}, 0),
    ("empty files are small", {1: [0, 0, 0]}, 2),
]


@pytest.mark.parametrize(("what", "partitions", "expected"), REMOVABLE, ids=[what for what, _, _ in REMOVABLE])
def test_what_merging_would_save(what: str, partitions: Mapping[int, list[int]], expected: int) -> None:
    """The sum over partitions of the small files less the files their bytes fill, at least one: never below nothing."""
    files = [File(partition=(day,), size=size) for day, sizes in partitions.items() for size in sizes]
    assert int(put_together([(1, (1000,), files)]).removable.sum()) == expected, what


def test_a_target_beyond_all_numbers() -> None:
    """Properties may say any size; everything is small then, and becomes one file a partition."""
    huge = Thresholds(target=10**40, small_below=10**39, large_above=10**41)
    found = put_together([(0, (), [File(size=5)] * 4)], huge)
    assert (int(found.removable.sum()), found.whole(Group.SMALL_FILES)) == (3, 4)


def test_nan_is_one_partition() -> None:
    """NaN in two manifests, and read twice from the cache, is one partition: its files can be merged."""
    table: list[Manifest] = [(1, (1000,), [File(partition=(float("nan"),), size=10)]) for _ in range(3)]
    found = put_together(table)
    assert (len(found.keys), int(found.removable.sum())) == (1, 2)


NAMELESS: list[tuple[tuple[int, ...], int]] = [((), 0), ((1000,), 1), ((1001, 1000), 2), ((5,), 0)]


@pytest.mark.parametrize(("ids", "spec_id"), NAMELESS)
def test_without_a_spec_its_fields_tell(ids: tuple[int, ...], spec_id: int) -> None:
    """Manifests that format 1 lists in place say no spec: the one with these fields is theirs, else the first."""
    files = [File(partition=(1,) * len(ids))]
    ((_, fold),) = folding.fold(entries(files, ids=ids), SIZES)
    (found,) = totals([ManifestLine("m")], {0: fold}, SPECS, SIZES).keys
    expected: PartitionKey = (spec_id, (1,) * len(SPECS[spec_id].fields))
    assert found == expected
