"""Whether the files of a snapshot are what its manifests say they are: there, and of the same size.

Every reader of a damaged file reads the same damage, so agreement alone proves little. This looks at names and sizes
only, a few microseconds per file of this machine, one request per file of an object store, some at a time; what is
inside, readers find out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from firnline.adapters.iceberg.manifests import live_files
from firnline.core.errors import BadInput, Blocked, Failed, FirnlineError
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot
from firnline.facts.ports import Files, Manifests

_AT_ONCE = 16  # requests to an object store under way; the files of a manifest are looked at in pieces of some more
_PIECE = 256


class Unseen(Failed):
    """A file could not be looked at: the store is too busy, or lets nobody in. That is no finding about the table."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What is wrong with the files of a snapshot, and how many rows its manifests count.

    `rows` is None where the count says nothing about what a reader sees: with delete files, or when a writer left it
    out.
    """

    problems: tuple[str, ...]
    rows: int | None


def look(snapshot: Snapshot, manifests: Manifests, files: Files) -> Presence:
    """Look at every live file of a snapshot: data files and delete files. Nothing of them is read."""
    try:
        listed = _listed(snapshot, manifests)
    except Blocked:
        raise
    except FirnlineError as error:
        return Presence((error.what,), None)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        problems = dict.fromkeys(problem for line in listed for problem in _in_manifest(line, manifests, files, pool))
    return Presence(tuple(problems), None if problems else _rows(listed))


def _listed(snapshot: Snapshot, manifests: Manifests) -> tuple[ManifestLine, ...]:
    if snapshot.manifest_list is not None:
        return manifests.list(snapshot.manifest_list)
    return tuple(ManifestLine(path) for path in snapshot.manifests)


def _in_manifest(line: ManifestLine, manifests: Manifests, files: Files, pool: ThreadPoolExecutor) -> Iterator[str]:
    """One manifest at a time: a damaged one hides nothing of the others."""
    if line.files == 0:
        return
    try:
        live = iter(live_files(manifests, [line]))
        while piece := tuple(islice(live, _PIECE)):
            yield from filter(None, pool.map(lambda one: _wrong(files, *one), piece))
    except (Blocked, Unseen):
        raise
    except FirnlineError as error:
        yield error.what


def _wrong(files: Files, location: str, size: int) -> str | None:
    try:
        found = files.look(location)
    except BadInput as error:
        return error.what
    except FirnlineError as error:
        raise Unseen(
            f"Whether {location} is there could not be found out: {error.what}",
            why="Nothing is said of the table: it may be whole.",
            next_step=error.next_step,
        ) from error
    if found is None:
        return f"{location} is missing"
    if size and found.size != size:
        return f"{location} has {found.size:,} bytes where the manifest says {size:,}"
    return None


def _rows(listed: Iterable[ManifestLine]) -> int | None:
    total = 0
    for manifest in listed:
        if manifest.content == "deletes" and manifest.files != 0:
            return None
        if manifest.content == "data":
            if manifest.rows is None:
                return None
            total += manifest.rows
    return total
