"""Whether the files of a snapshot are what its manifests say they are: there, and of the same size.

Every reader of a damaged file reads the same damage, so agreement alone proves little. This looks at names and sizes
only, a few microseconds per file; what is inside, readers find out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from firnline.adapters.iceberg.manifests import IcebergManifests, live_files
from firnline.adapters.local.blobs import LocalBlobs
from firnline.adapters.locations import local_path
from firnline.core.errors import FirnlineError
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot
from firnline.facts.ports import Manifests


@dataclass(frozen=True, slots=True)
class Presence:
    """What is wrong with the files of a snapshot, and how many rows its manifests count.

    `rows` is None where the count says nothing about what a reader sees: with delete files, or when a writer left it
    out.
    """

    problems: tuple[str, ...]
    rows: int | None


def look(snapshot: Snapshot, manifests: Manifests | None = None) -> Presence:
    """Look at every live file of a snapshot: data files and delete files. Nothing of them is read."""
    reading = manifests or IcebergManifests(LocalBlobs())
    try:
        listed = _listed(snapshot, reading)
    except FirnlineError as error:
        return Presence((error.what,), None)
    problems = dict.fromkeys(problem for line in listed for problem in _in_manifest(line, reading))
    return Presence(tuple(problems), None if problems else _rows(listed))


def _listed(snapshot: Snapshot, manifests: Manifests) -> tuple[ManifestLine, ...]:
    if snapshot.manifest_list is not None:
        return manifests.list(snapshot.manifest_list)
    return tuple(ManifestLine(path) for path in snapshot.manifests)


def _in_manifest(line: ManifestLine, manifests: Manifests) -> Iterator[str]:
    """One manifest at a time: a damaged one hides nothing of the others."""
    if line.files == 0:
        return
    try:
        for path, size in live_files(manifests, [line]):
            yield from _wrong(path, size)
    except FirnlineError as error:
        yield error.what


def _wrong(location: str, size: int) -> Iterator[str]:
    try:
        found = os.stat(local_path(location)).st_size
    except (FileNotFoundError, NotADirectoryError):
        yield f"{location} is missing"
    except OSError as error:
        yield f"{location} cannot be looked at: {error.strerror or error}"
    except FirnlineError as error:
        yield error.what
    else:
        if size and found != size:
            yield f"{location} has {found:,} bytes where the manifest says {size:,}"


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
