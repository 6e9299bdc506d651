"""What manifests give, read once and kept: what is asked again, what is read again, and what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.facts.entries import Entries
from firnline.facts.gathering import Gathered, Harvest, gather
from firnline.facts.lines import ManifestLine, Metric, Wanted
from tests.unit.facts.entry_building import Drawer, File, HandMade

WANTED = Wanted(frozenset({(Metric.NULLS, 4)}))


def _paths(entries: Entries) -> Iterator[tuple[int, bytes]]:
    """The paths of each manifest, in order."""
    numbers = entries.manifest.tolist()
    for number in dict.fromkeys(numbers):
        yield number, b"".join(entries.path.at(row) or b"" for row, of in enumerate(numbers) if of == number)


def _whole(data: bytes) -> bytes | None:
    return data[5:] if data.startswith(b"kept ") else None


HARVEST = Harvest("paths", _paths, b"".join, lambda paths: b"kept " + paths, _whole, WANTED)


def line(number: int, **more: object) -> ManifestLine:
    return ManifestLine(
        f"m{number}", **{"length": 100 + number, "spec_id": 0, "sequence": number, "snapshot": 7, **more}
    )  # type: ignore[arg-type]


def shelf(count: int, *, batch: int = 4, missing: Sequence[int] = (), cut: Sequence[int] = ()) -> HandMade:
    """Manifests of one file more each."""
    files = {f"m{at}": [File(f"{at}{each};") for each in range(at + 1)] for at in range(count) if at not in missing}
    return HandMade({}, files, batch=batch, cut=frozenset(f"m{at}" for at in cut))


def paths(number: int) -> bytes:
    return b"".join(f"{number}{each};".encode() for each in range(number + 1))


LINES = [line(number) for number in range(5)]
ALL = {number: paths(number) for number in range(5)}


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_every_manifest_gives_its_own(batch: int) -> None:
    """However manifests are spread over batches, each has one value, by its place among the lines."""
    made = shelf(5, batch=batch)
    found = gather(made, Drawer(), LINES, HARVEST)
    assert found == Gathered(ALL, (), 5)
    assert made.asked == [WANTED]


def test_a_second_look_reads_what_is_new() -> None:
    """What was kept is not read again; a manifest that is new is, and it alone."""
    made, cache = shelf(5), Drawer()
    gather(made, cache, LINES[:4], HARVEST)
    made.opened.clear()
    found = gather(made, cache, LINES, HARVEST)
    assert (found, made.opened) == (Gathered(ALL, (), 1), ["m4"])
    made.opened.clear()
    assert gather(made, cache, LINES, HARVEST) == Gathered(ALL, (), 0)
    assert made.opened == []


def test_the_order_of_lines_does_not_matter() -> None:
    """A manifest is known by itself, not by its place."""
    made, cache = shelf(5), Drawer()
    gather(made, cache, LINES, HARVEST)
    found = gather(made, cache, LINES[::-1], HARVEST)
    assert (found.values, found.read) == ({4 - number: value for number, value in ALL.items()}, 0)


OTHERS: list[tuple[str, Callable[[Harvest[bytes], ManifestLine], tuple[Harvest[bytes], ManifestLine]]]] = [
    ("another harvest", lambda harvest, line: (replace(harvest, name="others"), line)),
    ("another length", lambda harvest, line: (harvest, replace(line, length=1))),
    ("another sequence number", lambda harvest, line: (harvest, replace(line, sequence=99))),
    ("another snapshot", lambda harvest, line: (harvest, replace(line, snapshot=99))),
    ("no length", lambda harvest, line: (harvest, replace(line, length=None))),
]


@pytest.mark.parametrize(("what", "change"), OTHERS, ids=[what for what, _ in OTHERS])
def test_what_is_read_again(what: str, change: Callable[..., tuple[Harvest[bytes], ManifestLine]]) -> None:
    """Only the same manifest, by path, length, sequence number and snapshot, for the same purpose, is not read."""
    made, cache = shelf(5), Drawer()
    gather(made, cache, LINES, HARVEST)
    harvest, changed = change(HARVEST, LINES[3])
    found = gather(made, cache, [changed], harvest)
    assert (found.values, found.read) == ({0: paths(3)}, 1), what


def test_a_manifest_without_length_is_never_kept() -> None:
    """Format 1 may list manifests in place, without lengths: nothing says later that one is what it was."""
    made, cache = shelf(2), Drawer()
    for _ in range(2):
        assert gather(made, cache, [line(1, length=None)], HARVEST).read == 1
    assert cache.kept == {}


def _raising(data: bytes, *, error: type[Exception]) -> bytes | None:
    if data == b"odd":
        raise error
    return _whole(data)


@pytest.mark.parametrize("damage", [b"", b"odd", b"nothing of ours"])
@pytest.mark.parametrize("error", [KeyError, TypeError, ValueError, IndexError, AttributeError])
def test_damaged_values_are_read_again(damage: bytes, error: type[Exception]) -> None:
    """What is in the cache and is not what was put there is as if it were not there, and is mended."""
    harvest = replace(HARVEST, from_bytes=partial(_raising, error=error))
    made, cache = shelf(5), Drawer()
    gather(made, cache, LINES, harvest)
    key = next(key for key in cache.kept if "m3" in key)
    cache.kept[key] = damage
    assert gather(made, cache, LINES, harvest) == Gathered(ALL, (), 1)
    assert gather(made, cache, LINES, harvest) == Gathered(ALL, (), 0)


@settings(deadline=None)
@given(
    st.sets(st.integers(0, 7), max_size=3),
    st.sets(st.integers(0, 7), max_size=3),
    st.sets(st.integers(0, 7)),
    st.integers(1, 9),
)
def test_damage_is_named_and_hides_nothing_else(missing: set[int], cut: set[int], before: set[int], batch: int) -> None:
    """Of all manifests those that cannot be read are named with the reason, nothing they held is in any value, not even
    of one that ends in damage; all others are as ever, whatever of them was kept before.
    """
    lines = [line(number) for number in range(8)]
    cache = Drawer()
    gather(shelf(8), cache, [lines[at] for at in sorted(before - missing - cut)], HARVEST)
    found = gather(shelf(8, batch=batch, missing=list(missing), cut=list(cut - missing)), cache, lines, HARVEST)
    bad = missing | cut
    assert found.values == {at: paths(at) for at in range(8) if at not in bad}
    assert [each.location for each in found.damage] == [f"m{at}" for at in sorted(bad)]
    assert all(each.location in each.reason for each in found.damage)
    again = gather(shelf(8), cache, lines, HARVEST)
    assert (set(again.values), again.read) == (set(range(8)), len(bad))


class Refusing:
    """A cache that keeps nothing."""

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        assert len(keys) == len(set(keys))
        return {}

    def put(self, values: Mapping[str, bytes]) -> None:
        assert all(isinstance(value, bytes) for value in values.values())


def test_a_cache_may_keep_nothing() -> None:
    """Without a cache every look reads everything, and says the same."""
    for _ in range(2):
        assert gather(shelf(5), Refusing(), LINES, HARVEST) == Gathered(ALL, (), 5)
    assert gather(shelf(0), Refusing(), [], HARVEST) == Gathered({}, (), 0)
