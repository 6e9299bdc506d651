"""Every file a table refers to, as sorted hashes: 17 bytes each; while they are read, as many as `facts.piles` tells.

A file that only tombstones name is not referred to: no snapshot that is kept needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from firnline.config.properties import FOLDERS
from firnline.facts import kept, places
from firnline.facts.entries import Entries, Longs, Texts, Truths
from firnline.facts.hashing import Hashes, Words, hash128
from firnline.facts.lines import Status
from firnline.facts.meta import TableMeta
from firnline.facts.piles import Kinds, Pile, Rows, words_of
from firnline.facts.ports import Manifests
from firnline.facts.values import Damage

# Where writers put files, from the newest name of the property to the oldest.


@dataclass(frozen=True, slots=True)
class Referenced:
    """The places of all files a table refers to, in order. `live` are data and delete files of the current snapshot
    that lie under one of the table's locations. `current` reads that snapshot's entries once more, for names.
    """

    high: Words
    low: Words
    live: Truths
    damage: tuple[Damage, ...]
    current: Callable[[], Iterator[Entries]]

    def find(self, hashes: Hashes) -> Longs:
        """Where each of these places stands here; -1 for those that do not."""
        found = np.full(len(hashes[0]), -1, np.int64)
        wanted = np.arange(len(found))
        at = np.searchsorted(self.high, hashes[0])
        while len(wanted := wanted[at[wanted] < len(self.high)]):
            alike = self.high[at[wanted]] == hashes[0][wanted]
            equal = alike & (self.low[at[wanted]] == hashes[1][wanted])
            found[wanted[equal]] = at[wanted[equal]]
            wanted = wanted[alike & ~equal]  # half a hash may stand here more than once
            at[wanted] += 1
        return found


def locations(meta: TableMeta) -> tuple[str, ...]:
    """Where a table's files lie: its location, and where its properties send writers. None lies in another."""
    named = (meta.table_location, *(meta.properties.get(key, "") for key in FOLDERS))
    normal = {places.normal(location.rstrip("/")): location.rstrip("/") for location in reversed(named) if location}
    return tuple(
        location
        for location in reversed(normal.values())
        if not any(places.lies_beneath(location, other) for other in normal)
    )


def references(meta: TableMeta, manifests: Manifests, *, files_max: int = kept.FILES_MAX) -> Referenced:
    """What the table refers to: files of all snapshots, manifests and their lists, statistics, logged metadata.

    Where more than `files_max` files would have to be held, manifests are left unread and told as damage.
    """
    marked = [(snapshot, int(snapshot.id == meta.current_snapshot_id)) for snapshot in meta.snapshots]
    found = kept.of(marked, manifests)
    current = np.array(found.marks, np.int32)
    under = locations(meta)
    pile = Pile(words_of([0, 1], 1))
    kept.fill(
        pile, found, manifests, lambda entries, first: _rows(entries, current[first:], under),
        files_max=files_max, metadata_location=meta.location,
    )  # fmt: skip
    others = places.of([*_metadata_files(meta), *(line.path for line in found.lines)])
    pile.add(_row_of(others, np.zeros(len(others[0]), np.int32)))
    rows = pile.fold()
    return Referenced(
        rows.high,
        rows.low,
        (pile.marks[:, 0] > 0)[rows.kind],
        tuple(found.damage),
        partial(manifests.entries, [line for line, mark in zip(found.lines, found.marks, strict=True) if mark]),
    )


def _rows(entries: Entries, current: Kinds, under: Sequence[str]) -> Rows:
    live = np.flatnonzero(entries.status != Status.DELETED)
    every = places.plain(entries.path)
    paths = Texts(every.buffer, every.start[live], every.length[live])
    here = np.logical_or.reduce([places.beneath(paths, location) for location in under])
    return _row_of(hash128(paths), current[entries.manifest[live]] * here)


def _row_of(hashes: Hashes, kind: Kinds) -> Rows:
    return Rows(*hashes, kind.astype(np.int32), np.zeros(len(kind), np.int64))


def _metadata_files(meta: TableMeta) -> Iterator[str]:
    yield meta.location
    yield from (location for _, location in meta.metadata_log)
    yield from (snapshot.manifest_list for snapshot in meta.snapshots if snapshot.manifest_list is not None)
    for item in (*meta.statistics, *meta.partition_statistics):
        location = item.get("statistics-path") if isinstance(item, Mapping) else None
        if isinstance(location, str):
            yield location
