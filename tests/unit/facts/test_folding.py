"""What a manifest folds to, beside a slow count of its entries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.facts import folding
from firnline.facts.entries import ABSENT
from firnline.facts.folding import COMMITS_KEPT_MAX, EDGES, NUMBER_MAX, Fold
from firnline.facts.lines import Format, Status
from firnline.facts.values import Thresholds
from tests.unit.facts.entry_building import File, entries

SIZES = Thresholds(target=1000, small_below=750, large_above=1800)
IDS = (1000, 1001)
VALUES = [None, 1, 2, 1.5, math.nan, -math.inf, b"\x00\xff", "é/=", True]
TOLD = st.sampled_from([0, 1, 2, 99, 749, 750, 751, 1000, 1800, 1801, 2**40, NUMBER_MAX])
NUMBERS = TOLD | st.integers(0, 3000) | st.sampled_from([None, -1, NUMBER_MAX + 1, 2**63 - 1])
FILES = st.builds(
    File,
    path=st.just("f"),
    partition=st.tuples(st.sampled_from(VALUES), st.sampled_from([None, 1])),
    status=st.sampled_from(Status),
    format=st.sampled_from(Format),
    sequence=st.integers(0, 9),
    snapshot=st.integers(1, 9) | st.none(),
    records=NUMBERS,
    size=NUMBERS,
    sort_order=st.sampled_from([None, 0, 1, 7]),
)
MANIFESTS = st.lists(FILES, max_size=25)


def told(number: int | None) -> bool:
    return number is not None and 0 <= number <= NUMBER_MAX


def folds(files: Sequence[File], manifests: Sequence[int] | int = 0, sizes: Thresholds = SIZES) -> dict[int, Fold]:
    return dict(folding.fold(entries(files, ids=IDS, manifest=manifests), sizes))


def content(of: Fold) -> Mapping[str, Any]:
    """A fold as plain values, without the order of anything, and with partitions met twice put together."""
    sums: dict[str, list[int]] = {}
    for place, *numbers, least, most in of.groups.tolist():
        *before, before_least, before_most = sums.get(repr(of.partitions[place]), [*[0] * len(numbers), least, most])
        added = [one + other for one, other in zip(before, numbers, strict=True)]
        sums[repr(of.partitions[place])] = [*added, min(before_least, least), max(before_most, most)]
    return {
        "partitions": sums, "commits": {(repr(of.partitions[place]), *rest) for place, *rest in of.commits.tolist()},
        "sizes": _added(of.sizes), "formats": _added(of.formats), "orders": _added(of.orders),
        "numbers": (of.least, of.most, of.unsized, of.uncounted, of.tombstones, of.entries),
    }  # fmt: skip


def _added(columns: np.ndarray) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for key, *numbers in columns.tolist():
        found.update({(key, at): number for at, number in enumerate(numbers)})
    return found


def counted(files: Sequence[File]) -> Mapping[str, Any]:
    """The same by counting, one entry after the other."""
    live = [file for file in files if file.status is not Status.DELETED]
    known = [file.size for file in live if told(file.size)]
    sums, commits = {}, set()
    for file in live:
        size, rows = (number if told(number) else 0 for number in (file.size, file.records))
        small, large = told(file.size) and size < 750, size > 1800
        key = repr((IDS, file.partition))
        *before, least, most = sums.get(key, [0] * 7 + [file.sequence] * 2)
        own = (1, size, rows, small, size * small, large, size * large)
        added = [one + other for one, other in zip(before, own, strict=True)]
        sums[key] = [*added, min(least, file.sequence), max(most, file.sequence)]
        commits.add((key, file.sequence, ABSENT if file.snapshot is None else file.snapshot))
    sizes = Counter((int(np.flatnonzero(size >= EDGES)[-1]), 0) for size in known)
    for size in known:
        sizes[int(np.flatnonzero(size >= EDGES)[-1]), 1] += size
    return {
        "partitions": sums, "commits": commits, "sizes": sizes,
        "formats": Counter((int(file.format), 0) for file in live),
        "orders": Counter((file.sort_order or 0, 0) for file in live),
        "numbers": (
            min(known, default=0), max(known, default=0), len(live) - len(known),
            sum(not told(file.records) for file in live), len(files) - len(live), len(files),
        ),
    }  # fmt: skip


@settings(deadline=None)
@given(st.lists(MANIFESTS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_fold_is_what_counting_finds(manifests: list[list[File]], chance: Any) -> None:
    """Of each manifest of a batch, in whatever order its entries come: sums by partition, sizes, formats, orders."""
    rows = [(number, file) for number, files in enumerate(manifests) for file in files]
    chance.shuffle(rows)
    found = folds([file for _, file in rows], [number for number, _ in rows])
    assert set(found) == {number for number, _ in rows}
    for number, fold in found.items():
        assert content(fold) == counted(manifests[number])


@settings(deadline=None)
@given(st.lists(FILES, min_size=1, max_size=40), st.integers(1, 10))
def test_parts_are_the_whole(files: list[File], size: int) -> None:
    """A manifest that comes in parts, of whatever size, folds to what it folds to at once."""
    parts = [folds(files[first : first + size])[0] for first in range(0, len(files), size)]
    assert content(folding.merged(parts)) == content(folds(files)[0]) == counted(files)


@settings(deadline=None)
@given(st.lists(FILES, min_size=1, max_size=20))
def test_what_is_kept_comes_back(files: list[File]) -> None:
    """Bytes of a fold are the same fold again: values of every type, NaN and nothing too."""
    whole = folds(files)[0]
    back = folding.from_bytes(folding.to_bytes(whole))
    assert back is not None
    assert repr(back.partitions) == repr(whole.partitions)
    assert content(back) == content(whole)


WHOLE = folding.to_bytes(folds([File(partition=("é", 1)), File(partition=(None, 2), size=5)])[0])


@pytest.mark.parametrize("at", range(0, len(WHOLE), 3))
def test_damaged_bytes_are_no_fold(at: int) -> None:
    """Bytes that were cut are nothing; of flipped ones comes nothing or what was put in."""
    flipped = WHOLE[:at] + bytes([WHOLE[at] ^ 0x5A]) + WHOLE[at + 1 :]
    assert folding.from_bytes(WHOLE[:at]) is None
    found, whole = folding.from_bytes(flipped), folding.from_bytes(WHOLE)
    assert whole is not None
    assert found is None or content(found) == content(whole)


def test_a_batch_of_nothing_folds_to_nothing() -> None:
    """No entries, no folds; tombstones only fold to no partitions."""
    assert folds([]) == {}
    gone = folds([File(status=Status.DELETED, partition=(1, 1))] * 3)[0]
    assert (gone.partitions, len(gone.groups), gone.tombstones, gone.entries) == ((), 0, 3, 3)


SMALL_OR_LARGE = [(0, 1, 0), (749, 1, 0), (750, 0, 0), (1800, 0, 0), (1801, 0, 1), (None, 0, 0), (2**63 - 1, 0, 0)]


@pytest.mark.parametrize(("size", "small", "large"), SMALL_OR_LARGE)
def test_small_and_large(size: int | None, small: int, large: int) -> None:
    """Below one bound is small, above the other large; a size nobody told, or nobody can have, is neither."""
    (row,) = folds([File(partition=(1, 1), size=size)])[0].groups.tolist()
    assert (row[folding.Group.SMALL_FILES], row[folding.Group.LARGE_FILES]) == (small, large)


def test_the_newest_commits_are_kept() -> None:
    """Of many commits in a partition those with the highest sequence numbers are kept; unknown ones are the oldest."""
    files = [File(partition=(1, 1), sequence=number, snapshot=100 + number) for number in range(40)]
    unknown = [replace(files[0], file_sequence=ABSENT, snapshot=number) for number in range(1000, 1040)]
    kept = folds([*unknown, *files, *files])[0].commits.tolist()
    assert kept == [[0, number, 100 + number] for number in range(39, 39 - COMMITS_KEPT_MAX, -1)]


def test_without_numbers_every_commit_is_kept() -> None:
    """Format 1 numbers none: which are the newest only the metadata can tell."""
    files = [File(partition=(1, 1), sequence=0, snapshot=number) for number in range(40)]
    assert {row[2] for row in folds(files)[0].commits.tolist()} == set(range(40))


def test_edges_hold_every_size() -> None:
    """Bins grow by at most a quarter of a doubling, and a byte at a time where that is less."""
    edges = EDGES.tolist()
    assert edges[:3] == [0, 1, 2]
    assert edges[-1] > NUMBER_MAX
    for floor, ceiling in pairwise(edge for edge in edges if edge <= NUMBER_MAX):
        assert floor < ceiling <= max(floor + 1, math.ceil(floor * 2**0.25) + 1)
