"""Writes and deletes files of this machine: the `Store` port for the embedded lakehouse.

A file appears under its name whole and durable, or not at all: it is written beside, synced, and linked into place,
which fails when the name is taken. A process that is killed leaves at most a hidden `.….tmp`, never half a metadata
file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Mapping, Sequence

from firnline.adapters.locations import local_path
from firnline.core.errors import Failed, FirnlineError, Refused
from firnline.loop.store import NameTaken, Version

# Where a file system has no hard links, rename is all there is: names hold a random uuid, so nothing is overwritten.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class LocalStore:
    """`loop.store.Store` over `file:` locations and plain paths. There are no versions and no tags."""

    def put(self, location: str, data: bytes) -> None:
        """A new file, its folders made."""
        path = local_path(location)
        try:
            _write(path, data)
        except FileExistsError as error:
            if not _holds(path, data):
                raise NameTaken(f"{location} is there already, with other bytes.") from error
        except OSError as error:
            raise Failed(
                f"{location} could not be written: {error.strerror or error}.",
                next_step="Check the disk's space, and that this user may write to the folder.",
            ) from error

    def delete(self, locations: Sequence[str]) -> Mapping[str, str]:
        """Exactly these files, each with the checksum Hadoop's local file system keeps beside it."""
        left: dict[str, str] = {}
        for location in locations:
            try:
                _delete(local_path(location))
            except FileNotFoundError:
                continue
            except OSError as error:
                left[location] = error.strerror or str(error)
            except FirnlineError as error:
                left[location] = error.what
        return left

    def tidy(self, location: str, deleted: Sequence[str]) -> None:
        """The folders of these files, up to `location` itself, as far as they are empty now. Nothing is listed: a
        folder with anything in it refuses to go.
        """
        root = local_path(location).rstrip("/")
        folders: set[str] = set()
        for file in deleted:
            folder = os.path.dirname(local_path(file))
            while (folder == root or folder.startswith(root + "/")) and folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)
        for folder in sorted(folders, key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def versions(self, location: str) -> tuple[Version, ...]:
        """The file itself, which is all there is."""
        try:
            found = os.stat(local_path(location))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return (Version("", found.st_size, found.st_mtime_ns // 1_000_000, latest=True),)

    def restore(self, location: str) -> bool:
        """What is deleted here is gone."""
        local_path(location)
        return False

    def tags(self, location: str) -> Mapping[str, str]:
        """Files have no tags."""
        local_path(location)
        return {}

    def tag(self, location: str, tags: Mapping[str, str]) -> None:
        """Refused: files have no tags."""
        raise Refused(f"{location} is a file of this machine and takes no tags, such as {min(tags, default='')!r}.")


def _write(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    _make_folders(folder)
    beside = os.path.join(folder, f".{name[:100]}.{uuid.uuid4().hex}.tmp")
    try:
        with open(beside, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _publish(beside, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside)
    _sync_folder(folder)


def _publish(beside: str, path: str) -> None:
    try:
        os.link(beside, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        os.rename(beside, path)


def _holds(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(len(data) + 1) == data
    except OSError:
        return False


def _delete(path: str) -> None:
    os.unlink(path)
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, f".{name}.crc"))


def _make_folders(folder: str) -> None:
    """Make missing folders, each durable in its parent: a file in an unsynced folder is gone after a power cut."""
    missing = []
    current = folder
    while current and not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
        _sync_folder(os.path.dirname(path))


def _sync_folder(folder: str) -> None:
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a folder, and say so
            raise
    finally:
        os.close(handle)
