"""What manifests give, from the cache or read, one value per manifest. What cannot be read is told, not hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from firnline.core.errors import FirnlineError
from firnline.facts.entries import Entries
from firnline.facts.lines import ManifestLine, Wanted
from firnline.facts.ports import NOTHING_MORE, Cache, Manifests
from firnline.facts.values import Damage

T = TypeVar("T")
FORM = 1  # of what is kept: a cache written by another version is not read


@dataclass(frozen=True, slots=True)
class Harvest(Generic[T]):
    """Something a manifest gives: how it is made of entries, joined when a manifest came in parts, and kept."""

    name: str
    make: Callable[[Entries], Iterator[tuple[int, T]]]
    join: Callable[[Sequence[T]], T]
    to_bytes: Callable[[T], bytes]
    from_bytes: Callable[[bytes], T | None]
    wanted: Wanted = NOTHING_MORE


@dataclass(frozen=True, slots=True)
class Gathered(Generic[T]):
    """One value for each manifest that could be read, by its place among the lines and in their order."""

    values: Mapping[int, T]
    damage: tuple[Damage, ...]
    read: int  # how many were not in the cache


def gather(manifests: Manifests, cache: Cache, lines: Sequence[ManifestLine], harvest: Harvest[T]) -> Gathered[T]:
    """Every manifest's value. Manifests never change: path, length and sequence number name what is in one for ever."""
    keys = {at: key for at, line in enumerate(lines) if (key := _key(harvest.name, line)) is not None}
    kept = cache.get(list(keys.values()))
    values: dict[int, T] = {}
    for at, key in keys.items():
        value = _unpacked(harvest, kept.get(key))
        if value is not None:
            values[at] = value
    missing = [at for at in range(len(lines)) if at not in values]
    fresh, damage = _read(manifests, lines, missing, harvest)
    cache.put({keys[at]: harvest.to_bytes(value) for at, value in fresh.items() if at in keys})
    return Gathered(dict(sorted((values | fresh).items())), damage, len(missing))


def _unpacked(harvest: Harvest[T], data: bytes | None) -> T | None:
    try:
        return None if data is None else harvest.from_bytes(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):  # whole bytes of another shape
        return None


def _key(name: str, line: ManifestLine) -> str | None:
    # A format 1 table may list manifests in place, without lengths: nothing says then that one is still what it was.
    return None if line.length is None else f"{FORM}|{name}|{line.path}|{line.length}|{line.sequence}|{line.snapshot}"


def _read(
    manifests: Manifests, lines: Sequence[ManifestLine], missing: Sequence[int], harvest: Harvest[T]
) -> tuple[dict[int, T], tuple[Damage, ...]]:
    try:
        return _harvested(manifests, lines, missing, harvest), ()
    except FirnlineError:
        pass  # one of them cannot be read; which, only reading them one by one tells
    values: dict[int, T] = {}
    damage: list[Damage] = []
    for at in missing:
        try:
            values |= _harvested(manifests, lines, [at], harvest)
        except FirnlineError as error:
            damage.append(Damage(lines[at].path, error.what))
    return values, tuple(damage)


def _harvested(
    manifests: Manifests, lines: Sequence[ManifestLine], chosen: Sequence[int], harvest: Harvest[T]
) -> dict[int, T]:
    parts: dict[int, list[T]] = {}
    for entries in manifests.entries([lines[at] for at in chosen], harvest.wanted):
        for number, part in harvest.make(entries):
            parts.setdefault(chosen[number], []).append(part)
    return {at: harvest.join(own) for at, own in parts.items()}
