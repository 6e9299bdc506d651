"""Lists and reads the files of this machine: the `Files` port of facts for the embedded lakehouse.

Folders are read one at a time, so memory holds the names on one way down the tree (about 100 bytes each), never those
of the whole tree. The walk behind a page is kept, and the next page goes on with it: every folder is read once.
"""

from __future__ import annotations

import os
import stat
import threading
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from firnline.adapters.locations import local_path
from firnline.core.errors import Failed, Missing
from firnline.facts.ports import Page, StoredFile

WALKS_MAX = 16  # kept to be gone on with: as many listings may be under way without starting anew for each page

_Walk: TypeAlias = Iterator[StoredFile]


class LocalFiles:
    """`facts.ports.Files` over `file:` locations and plain paths.

    Files come in the order of their paths' bytes, spelled as the location that was asked for. What goes away meanwhile
    is passed over. Links to folders are not followed, and links to files only where they stay under the location.
    """

    def __init__(self) -> None:
        self._walks: dict[tuple[str, str], tuple[StoredFile, _Walk]] = {}
        self._lock = threading.Lock()

    def list(self, location: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Files under it at any depth, after a location. One that is not there has none; a folder that may not be read
        is Failed, for nobody knows what is missing then.
        """
        with self._lock:
            kept = None if after is None else self._walks.pop((location, after), None)
        first, walk = ((), _walk(location, after)) if kept is None else ((kept[0],), kept[1])
        files = (*first, *islice(walk, max(1, limit) - len(first)))
        following = next(walk, None)
        if following is None:
            return Page(files, None)
        last = files[-1].location
        with self._lock:
            self._walks[location, last] = (following, walk)
            if len(self._walks) > WALKS_MAX:
                del self._walks[next(iter(self._walks))]
        return Page(files, last)

    def look(self, location: str) -> StoredFile | None:
        """The file, links followed; None for what is no file."""
        try:
            found = os.stat(local_path(location))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Failed(f"{location} cannot be looked at: {error.strerror or error}.") from error
        if not stat.S_ISREG(found.st_mode):
            return None
        return StoredFile(location, found.st_size, found.st_mtime_ns // 1_000_000)

    def part(self, location: str, start: int, length: int) -> bytes:
        """These bytes of the file."""
        try:
            with open(local_path(location), "rb") as file:
                file.seek(start)
                return file.read(length)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise Missing(f"There is no file {location}.") from error
        except OSError as error:
            raise Failed(f"{location} could not be read: {error.strerror or error}.") from error


def _walk(location: str, after: str | None) -> _Walk:
    root, spelled = os.fsencode(local_path(location)).rstrip(b"/"), location.rstrip("/")
    begin = b"" if after is None else _within(root, os.fsencode(local_path(after)))
    if begin is None:
        return
    ways = [(b"", iter(_names(root + b"/", begin)))]
    while ways:
        folder, names = ways[-1]
        name = next(names, None)
        if name is None:
            ways.pop()
        elif name.endswith(b"/"):
            path = folder + name
            rest = begin[len(path) :] if begin.startswith(path) else b""
            ways.append((path, iter(_names(root + b"/" + path, rest))))
        elif (found := _status(root, folder + name)) is not None:
            yield StoredFile(f"{spelled}/{os.fsdecode(folder + name)}", found.st_size, found.st_mtime_ns // 1_000_000)


def _within(root: bytes, after: bytes) -> bytes | None:
    """What is left of `after` beneath the root; None when everything there comes before it."""
    if after.startswith(root + b"/"):
        return after[len(root) + 1 :]
    return b"" if after < root + b"/" else None


def _names(folder: bytes, after: bytes) -> list[bytes]:
    """The names in a folder in the order of the paths they lead to, from the one on that `after` lies in or behind.

    A folder's name ends in a slash, for that is what its paths go on with: `a-b` comes before `a/c`.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(_name(entry) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _failed(folder, error) from error
    first = bisect_right(names, after)
    inside = first > 0 and names[first - 1].endswith(b"/") and after.startswith(names[first - 1])
    return names[first - inside :]


def _name(entry: os.DirEntry[bytes]) -> bytes:
    return entry.name + b"/" if entry.is_dir(follow_symlinks=False) else entry.name


def _status(root: bytes, path: bytes) -> os.stat_result | None:
    """A file's status; None for what is no file, gone, or elsewhere."""
    whole = root + b"/" + path
    try:
        found = os.lstat(whole)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failed(whole, error) from error
    if stat.S_ISLNK(found.st_mode):
        return _behind(whole, root)
    return found if stat.S_ISREG(found.st_mode) else None


def _behind(link: bytes, root: bytes) -> os.stat_result | None:
    """The status of the file a link leads to, if there is one beneath the root."""
    inside = os.path.realpath(root or b"/").rstrip(b"/") + b"/"
    try:
        found = os.stat(link) if os.path.realpath(link).startswith(inside) else None
    except OSError:  # it leads nowhere, or in a circle
        return None
    return found if found is not None and stat.S_ISREG(found.st_mode) else None


def _failed(path: bytes, error: OSError) -> Failed:
    return Failed(
        f"{os.fsdecode(path)} could not be listed: {error.strerror or error}.",
        why="Without it nobody can tell which files lie under the location.",
        next_step="Check that this user may read the folder.",
    )
