"""Which files which snapshots keep: what would leave if history went, and what each ref alone holds.

Every manifest is read once, and every file is held once (`facts.piles` tells the bytes). Time grows with the entries
of the distinct manifests, about a second per million besides decoding, plus the lines of all manifest lists.

What cannot be read widens the figures: it may hold files we know, which then belong elsewhere, and others besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.core.figures import Figure, total
from firnline.core.ids import SnapshotId
from firnline.facts import kept, lineage, places
from firnline.facts.entries import ABSENT, Entries, Longs, Truths
from firnline.facts.hashing import Words, hash128, numbered
from firnline.facts.lines import Content, Format, Status
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.facts.piles import Kinds, Pile, Rows, words_of
from firnline.facts.ports import Manifests
from firnline.facts.values import Damage, HistoryFacts, RefHold

# The marks of a snapshot. Those after these are of the refs, in their order: whose head it is.
_CURRENT, _REACHED, _HEADS = 1, 2, 2


def history(meta: TableMeta, manifests: Manifests, *, entries_max: int = kept.FILES_MAX) -> HistoryFacts:
    """What all snapshots hold together, and for whom.

    A branch leads to its head and to the ancestors that are kept, a tag to its snapshot. Where more than `entries_max`
    files would have to be held, manifests are left unread and told as damage: those of the oldest snapshots first.
    """
    refs = sorted(meta.refs.values(), key=lambda ref: (ref.name != "main", ref.name))
    marks = _marks(meta, refs)
    found = kept.of(_ordered(meta.snapshots, marks), manifests)
    lists_whole = not found.unread
    for lost in marks.keys() - {snapshot.id for snapshot in meta.snapshots}:
        found.unread.append(marks[lost])
        found.damage.append(Damage(meta.location, f"A ref points to snapshot {lost}, which is not there."))
    kinds = {own: number for number, own in enumerate(dict.fromkeys(found.marks))}
    kind_of = np.array([kinds[own] for own in found.marks], np.int32)
    pile = Pile(words_of(list(kinds), _HEADS + len(refs)))
    kept.fill(
        pile, found, manifests, lambda entries, first: _rows(entries, kind_of[first:]),
        files_max=entries_max, metadata_location=meta.location,
    )  # fmt: skip
    live, past, loose, *holds = _figures(_shares(pile, len(refs)), frozenset(found.unread))
    lengths = total(Figure(line.length or 0, line.length) for line in found.lines)
    return HistoryFacts(
        *live,
        *past,
        *loose,
        refs=tuple(RefHold(ref.name, *hold) for ref, hold in zip(refs, holds, strict=True)),
        manifests=len(found.lines),
        manifest_bytes=lengths if lists_whole else lengths.widened(),
        snapshots_read=found.snapshots,
        damage=tuple(found.damage),
    )


def _marks(meta: TableMeta, refs: Sequence[Ref]) -> dict[SnapshotId, int]:
    """The marks of every snapshot that something leads to, there or not."""
    by_id = lineage.of(meta).by_id
    marks: dict[SnapshotId, int] = {}
    for ref in refs:
        found = by_id.get(ref.snapshot) if ref.kind == "branch" else None
        # What was seen stops the walk: branches share most of their ancestors, and damaged metadata may go in a circle.
        while found is not None and found.id not in marks:
            marks[found.id] = _REACHED
            found = None if found.parent is None else by_id.get(found.parent)
    for number, ref in enumerate(refs):
        marks[ref.snapshot] = marks.get(ref.snapshot, 0) | _REACHED | 1 << (_HEADS + number)
    if meta.current_snapshot_id is not None:
        marks[meta.current_snapshot_id] = marks.get(meta.current_snapshot_id, 0) | _REACHED | _CURRENT
    return marks


def _ordered(snapshots: Sequence[Snapshot], marks: Mapping[SnapshotId, int]) -> list[tuple[Snapshot, int]]:
    """The current snapshot, heads, those reached, the rest; the newest first of each."""
    marked = [(snapshot, marks.get(snapshot.id, 0)) for snapshot in snapshots]
    return sorted(
        marked,
        key=lambda each: (
            each[1] & _CURRENT,
            each[1] >> _HEADS > 0,
            each[1] & _REACHED,
            each[0].sequence,
            each[0].millis,
        ),
        reverse=True,
    )


def _rows(entries: Entries, kind_of: Kinds) -> Rows:
    """The live files of a batch. A deletion vector is a file of its own, with the bytes of its blob."""
    live = np.flatnonzero(entries.status != Status.DELETED)
    high, low = hash128(places.plain(entries.path), live)
    size, offset = entries.size[live], entries.content_offset[live]
    in_puffin = (entries.format[live] == Format.PUFFIN) & (entries.content[live] == Content.POSITION_DELETES)
    vectors = np.flatnonzero(in_puffin & (offset != ABSENT))
    high[vectors], low[vectors] = numbered((high[vectors], low[vectors]), offset[vectors])
    size[vectors] = entries.content_size[live][vectors]
    return Rows(high, low, kind_of[entries.manifest[live]], size)


@dataclass(frozen=True, slots=True)
class _Share:
    """The files we know to be of one sort, and what may come to them from what could not be read."""

    files: int
    bytes: int
    sized: bool

    def figures(self, *, grows: bool, shrinks: bool = False) -> tuple[Figure, Figure]:
        """Files and bytes. It grows by files nobody knows, and shrinks by those that belong elsewhere after all."""
        return (
            Figure(0 if shrinks else self.files, None if grows else self.files),
            Figure(0 if shrinks else self.bytes, None if grows or not self.sized else self.bytes),
        )


def _shares(pile: Pile, refs: int) -> list[_Share]:
    """The files that are live, of history, loose, and held by each ref alone."""
    rows = pile.fold()
    sized, size = not (rows.size < 0).any(), np.maximum(rows.size, 0)

    def share(chosen: Truths) -> _Share:
        return _Share(int(np.count_nonzero(chosen)), int(size[chosen].sum()), sized)

    marks = pile.marks.T
    current, reached = ((marks[0] & np.uint64(mark) > 0)[rows.kind] for mark in (_CURRENT, _REACHED))
    heads, ref = _heads(pile.marks)
    heads, ref = heads[rows.kind], ref[rows.kind]
    counts, sums = np.bincount(ref[heads == 1], minlength=refs), np.zeros(refs, np.int64)
    np.add.at(sums, ref[heads == 1], size[heads == 1])
    holds = [_Share(*hold, sized) for hold in zip(counts.tolist(), sums.tolist(), strict=True)]
    return [share(current), share(reached & ~current & (heads == 0)), share(~reached), *holds]


def _heads(marks: Words) -> tuple[Longs, Longs]:
    """Of each kind, how many refs have it in their head, and which one, when it is one."""
    count, ref = np.zeros(len(marks), np.int64), np.zeros(len(marks), np.int64)
    for number, column in enumerate(marks.T):
        heads = column & ~np.uint64(_CURRENT | _REACHED) if number == 0 else column
        count += np.bitwise_count(heads)
        lowest = np.bitwise_count((heads & -heads) - np.uint64(1)).astype(np.int64)
        ref = np.where(heads > 0, 64 * number + lowest - _HEADS, ref)
    return count, ref


def _figures(shares: Sequence[_Share], unread: frozenset[int]) -> list[tuple[Figure, Figure]]:
    """The shares with their bounds, from the marks of all that could not be read."""
    live, past, loose, *holds = shares
    heads = {marks >> _HEADS for marks in unread}
    return [
        live.figures(grows=any(marks & _CURRENT for marks in unread)),
        past.figures(grows=_REACHED in unread, shrinks=any(marks > _REACHED or marks & _CURRENT for marks in unread)),
        loose.figures(
            grows=any(not marks & _REACHED for marks in unread), shrinks=any(marks & _REACHED for marks in unread)
        ),
        *(
            hold.figures(grows=1 << ref in heads, shrinks=any(each & ~(1 << ref) for each in heads))
            for ref, hold in enumerate(holds)
        ),
    ]
