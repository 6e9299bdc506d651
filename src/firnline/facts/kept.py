"""Everything that is kept: the manifests of all snapshots, each read once, and what cannot be read told by name.

A table with 10,000 snapshots has as many manifest lists, most of whose lines are those of the list before: time grows
with the lines, memory with the distinct manifests and (`facts.piles`) the distinct files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from firnline.core.errors import FirnlineError
from firnline.facts import places
from firnline.facts.entries import Entries
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot
from firnline.facts.piles import Pile, Rows
from firnline.facts.ports import Manifests
from firnline.facts.reading import lines_of
from firnline.facts.values import Damage

FILES_MAX = 10_000_000  # 1 GB while they are folded

# Read together, so that manifests share batches. When one of them cannot be read, all are read again one by one.
TOGETHER_MAX = 256
TOGETHER_BYTES = 64 << 20
_LENGTH_GUESSED = 8 << 20  # of a manifest that is listed without its length: what writers aim at

Make: TypeAlias = Callable[[Entries, int], Rows]  # told the number of the first manifest, from which the batch counts


@dataclass(slots=True)
class Kept:
    """The distinct manifests of some snapshots, and of each the marks of all snapshots that list it, joined by `or`.

    `unread` are the marks of everything that could not be read, lists and manifests, and `damage` says why.
    """

    lines: list[ManifestLine] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    snapshots: int = 0
    unread: list[int] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def of(snapshots: Iterable[tuple[Snapshot, int]], manifests: Manifests) -> Kept:
    """The manifests of these snapshots, in the order they are met. Each snapshot brings its marks, a set of bits."""
    kept, numbers = Kept(), dict[str, int]()
    for snapshot, marks in snapshots:
        found, damage = lines_of(manifests, snapshot)
        if damage:
            kept.unread.append(marks)
            kept.damage.extend(damage)
            continue
        kept.snapshots += 1
        for line in found:
            number = _number(numbers, line.path, len(kept.lines))
            if number == len(kept.lines):
                kept.lines.append(replace(line, partitions=None))
                kept.marks.append(0)
            kept.marks[number] |= marks
    return kept


def _number(numbers: dict[str, int], path: str, following: int) -> int:
    number = numbers.get(path)
    if number is None:
        # A manifest may be spelled in two ways.
        number = numbers[path] = numbers.setdefault(places.normal(path), following)
    return number


def fill(pile: Pile, kept: Kept, manifests: Manifests, make: Make, *, files_max: int, metadata_location: str) -> None:
    """Put the rows of every batch of entries on a pile. What is left unread is told: damaged manifests, and all that
    follow when the pile has more than so many files.
    """
    for number, following, found in _stretches(kept.lines, manifests, make):
        if isinstance(found, Damage):
            kept.unread.append(kept.marks[number])
            kept.damage.append(found)
        else:
            for rows in found:
                pile.add(rows)
        # Folding must free a good part, or every stretch from here on would fold once more.
        if len(pile) > files_max and len(pile.fold()) > files_max * 3 // 4 and following < len(kept.lines):
            kept.unread.extend(kept.marks[following:])
            left = len(kept.lines) - following
            reason = f"{left} manifests were left unread: there is room for {files_max} files."
            kept.damage.append(Damage(metadata_location, reason))
            return


def _stretches(
    lines: Sequence[ManifestLine], manifests: Manifests, make: Make
) -> Iterator[tuple[int, int, tuple[Rows, ...] | Damage]]:
    """First manifest, the one after the last, and what was made of them."""
    for first, following in _cuts(lines):
        try:
            yield first, following, _made(lines, first, following, manifests, make)
        except FirnlineError:
            for number in range(first, following):
                yield number, number + 1, _made_or_not(lines, number, manifests, make)


def _made_or_not(
    lines: Sequence[ManifestLine], number: int, manifests: Manifests, make: Make
) -> tuple[Rows, ...] | Damage:
    try:
        return _made(lines, number, number + 1, manifests, make)
    except FirnlineError as error:
        return Damage(lines[number].path, error.what)


def _made(
    lines: Sequence[ManifestLine], first: int, following: int, manifests: Manifests, make: Make
) -> tuple[Rows, ...]:
    # Held until all were read: of a stretch that fails half-way nothing must stay on the pile.
    return tuple(make(entries, first) for entries in manifests.entries(lines[first:following]))


def _cuts(lines: Sequence[ManifestLine]) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for number, line in enumerate(lines):
        length = _LENGTH_GUESSED if line.length is None else line.length
        if number > first and (number - first == TOGETHER_MAX or size + length > TOGETHER_BYTES):
            yield first, number
            first, size = number, 0
        size += length
    if len(lines) > first:
        yield first, len(lines)
