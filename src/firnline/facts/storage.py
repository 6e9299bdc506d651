"""What lies under a table's locations, beside everything the table refers to.

The listing is walked page by page: memory is that of the references (`facts.references`) and of a page. A file costs
some microseconds besides the listing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from firnline.core.errors import BadInput, FirnlineError, Missing
from firnline.facts import kinds, places
from firnline.facts.entries import Texts, Truths
from firnline.facts.hashing import hash128, texts_of
from firnline.facts.lines import Status
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Blobs, Files, StoredFile
from firnline.facts.references import Referenced, locations
from firnline.facts.values import StorageFacts, Stray

YOUNG_MS = 3 * 24 * 3_600_000  # a job may write for hours before it commits, and clocks differ
PAGE_FILES = 1000  # object stores give no more at once
METADATA_READ_MAX = 200  # metadata files outside the log, looked into to learn whose they are
METADATA_BYTES_MAX = 64 << 20
NAMED_MAX = 10


@dataclass(slots=True)
class _Look:
    """A look under way. `seen` are those of the references that were listed."""

    meta: TableMeta
    referenced: Referenced
    blobs: Blobs
    young_since: int
    others: tuple[str, ...]
    reads_left: int
    seen: Truths


def look(
    meta: TableMeta,
    referenced: Referenced,
    files: Files,
    blobs: Blobs,
    *,
    now_millis: int,
    young_ms: int = YOUNG_MS,
    after: str | None = None,
    pages_max: int | None = None,
    others: Sequence[str] = (),
    metadata_read_max: int = METADATA_READ_MAX,
) -> StorageFacts:
    """What a listing of the table's locations shows, from `after` on and at most so many pages.

    `others` are the locations of other tables: files in those that lie in ours are left out, unless we refer to them.
    The references should be fresh. A file that was committed since is young, but one that was expired since seems
    missing: whoever acts on that looks once more.
    """
    seen = np.zeros(len(referenced.high), np.bool_)
    looking = _Look(meta, referenced, blobs, now_millis - young_ms, tuple(others), metadata_read_max, seen)
    found = StorageFacts(foreign=_sharing(meta, others), whole=False, damage=referenced.damage)
    for number, (location, listed, following) in enumerate(_pages(files, locations(meta), after), start=1):
        found = combined(found, _page(looking, location, listed))
        if pages_max is not None and number >= pages_max and following is not None:
            return replace(found, after=following)
    return found if after is not None else _with_missing(found, looking, files)


def combined(first: StorageFacts, second: StorageFacts) -> StorageFacts:
    """What two looks show together, the second of which went on where the first had stopped. Neither saw everything, so
    files may be missing that nobody misses.
    """
    sums = {name: getattr(first, name) + getattr(second, name) for name in _COUNTS}
    return StorageFacts(
        **sums,
        foreign=tuple(dict.fromkeys((*first.foreign, *second.foreign))),
        examples=_examples((*first.examples, *second.examples)),
        missing=(*first.missing, *second.missing),
        whole=False,
        damage=tuple(dict.fromkeys((*first.damage, *second.damage))),
        after=second.after,
    )


_COUNTS = tuple(each.name for each in fields(StorageFacts) if each.name.endswith(("_files", "_bytes", "unchecked")))


def _examples(strays: Iterable[Stray]) -> tuple[Stray, ...]:
    return tuple(sorted(strays, key=lambda stray: (-stray.size, stray.location))[:NAMED_MAX])


def _sharing(meta: TableMeta, others: Sequence[str]) -> tuple[str, ...]:
    """The other tables that have one of our locations for their own."""
    ours = {places.normal(location) for location in locations(meta)}
    return tuple(other for other in others if places.normal(other.rstrip("/")) in ours)


def _pages(
    files: Files, where: Sequence[str], after: str | None
) -> Iterator[tuple[str, tuple[StoredFile, ...], str | None]]:
    """Location, files, and after what to go on: every page from `after` on, one location after the other."""
    begin = 0 if after is None else _place_of(where, after)
    for location, then in zip(where[begin:], (*where[begin + 1 :], None), strict=True):
        page = files.list(location, after=after, limit=PAGE_FILES)
        while page.after is not None:
            yield location, page.files, page.after
            page = files.list(location, after=page.after, limit=PAGE_FILES)
        yield location, page.files, then
        after = None


def _place_of(where: Sequence[str], after: str) -> int:
    for number, location in enumerate(where):
        if places.normal(after) == places.normal(location) or places.lies_beneath(after, location):
            return number
    raise BadInput(
        f"{after} lies under no location of the table.",
        why="A listing that stopped there cannot be gone on with: the table was moved, or it was one of another table.",
        next_step="Begin the listing anew.",
    )


def _page(looking: _Look, location: str, listed: Sequence[StoredFile]) -> StorageFacts:
    """One page. Each file is of one sort: ours, left out, unknown, young or unreferenced."""
    whole = places.plain(texts_of([places.encoded(file.location) for file in listed]))
    paths = [kinds.accompanied(file.location[len(location) :].lstrip("/")) for file in listed]
    ours = _ours(looking, whole, listed, paths)
    left_out, theirs = _left_out(looking, location, whole, ours)
    written = _truths(map(kinds.is_written, paths), listed) & ~ours & ~left_out
    strange, foreign, unchecked = _strange(looking, listed, paths, written)
    written &= ~strange
    young = written & _truths((file.millis > looking.young_since for file in listed), listed)
    # Beside the table's own location anybody may keep files, and what refers to a file may be what cannot be read.
    told = places.beneath(whole, looking.meta.table_location) & (not looking.referenced.damage)
    strays = written & ~young & told
    unknown = ~(left_out | ours | strays | young)
    sizes = np.fromiter((file.size for file in listed), np.int64, len(listed))
    sums = [(int(np.count_nonzero(sort)), int(sizes[sort].sum())) for sort in (~left_out, ours, strays, young, unknown)]
    return StorageFacts(
        *sums[0], *sums[1], *sums[2], *sums[3], *sums[4],  # in the order of its fields
        foreign=(*theirs, *foreign),
        unchecked=unchecked,
        examples=_examples(_stray(listed[row]) for row in np.flatnonzero(strays).tolist()),
    )  # fmt: skip


def _truths(values: Iterable[bool], listed: Sequence[StoredFile]) -> Truths:
    return np.fromiter(values, np.bool_, len(listed))


def _stray(file: StoredFile) -> Stray:
    return Stray(file.location, file.size, file.millis)


def _ours(looking: _Look, whole: Texts, listed: Sequence[StoredFile], paths: Sequence[str]) -> Truths:
    """Which files the table refers to, by themselves or by the file they accompany."""
    at = looking.referenced.find(hash128(whole))
    looking.seen[at[at >= 0]] = True
    ours = (at >= 0) | _truths(map(kinds.is_marker, paths), listed)
    sides = [row for row, file in enumerate(listed) if not file.location.endswith(paths[row])]
    accompanied = [kinds.accompanied(listed[row].location) for row in sides]
    ours[sides] |= looking.referenced.find(places.of(accompanied)) >= 0
    return ours


def _left_out(looking: _Look, location: str, whole: Texts, ours: Truths) -> tuple[Truths, list[str]]:
    """Which files lie in other tables' locations inside this one, and in which."""
    left_out, owners = np.zeros(len(ours), np.bool_), []
    for other in looking.others:
        if places.lies_beneath(other, location):
            theirs = places.beneath(whole, other) & ~ours
            left_out |= theirs
            owners += [other] if theirs.any() else []
    return left_out, owners


def _strange(
    looking: _Look, listed: Sequence[StoredFile], paths: Sequence[str], chosen: Truths
) -> tuple[Truths, list[str], int]:
    """Which metadata files are not known to be ours, those of another table, and how many nobody looked into."""
    strange, foreign, unchecked = np.zeros(len(listed), np.bool_), [], 0
    for row in np.flatnonzero(chosen).tolist():
        file = listed[row]
        if not kinds.is_metadata(paths[row]):
            continue
        if not kinds.is_metadata(file.location):
            strange[row] = True  # the checksum of a metadata file
        elif looking.reads_left <= 0 or file.size > METADATA_BYTES_MAX:
            strange[row], unchecked = True, unchecked + 1
        elif not _is_own(looking, file.location):
            strange[row] = True
            foreign.append(file.location)
    return strange, foreign, unchecked


def _is_own(looking: _Look, location: str) -> bool:
    looking.reads_left -= 1
    try:
        return kinds.is_own(looking.meta, looking.blobs.read(location))
    except Missing:  # cleaned away since it was listed
        return True
    except FirnlineError:
        return False


def _with_missing(found: StorageFacts, looking: _Look, files: Files) -> StorageFacts:
    """With the live files that were not listed. A few are looked for once more, by name: a folder that is reached by a
    link is not listed, and what it holds is not missing.
    """
    gone = looking.referenced.live & ~looking.seen
    count = int(np.count_nonzero(gone))
    names = _names(looking.referenced, gone) if count else []
    missing = tuple(name for name in names if not _shown(files, name))
    certain = len(missing) == min(count, NAMED_MAX)
    return replace(
        found,
        missing=missing,
        missing_files=count if certain else len(missing),
        whole=certain and not looking.referenced.damage,
    )


def _shown(files: Files, location: str) -> bool:
    page = files.list(location.rpartition("/")[0], after=location[:-1], limit=PAGE_FILES)
    return any(file.location == location for file in page.files)


def _names(referenced: Referenced, wanted: Truths) -> list[str]:
    """The locations of a few of these live files."""
    names: dict[str, None] = {}
    try:
        for entries in referenced.current():
            at = referenced.find(hash128(places.plain(entries.path)))
            for row in np.flatnonzero((at >= 0) & wanted[at] & (entries.status != Status.DELETED)).tolist():
                names[(entries.path.at(row) or b"").decode("utf-8", "surrogateescape")] = None
                if len(names) == NAMED_MAX:
                    return sorted(names)
    except FirnlineError:
        pass  # it was readable a moment ago: the table has moved on, and nothing is certain
    return sorted(names)
