"""PyIceberg's FileIO over local files, without pyarrow or fsspec.

A file appears under its name whole and durable, or not at all: it is written beside, synced, and linked into place,
which fails when the name is taken. A process that is killed leaves at most a hidden `.….tmp`, never half a metadata
file.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import uuid
from collections.abc import Iterable
from types import TracebackType

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile, OutputStream
from pyiceberg.typedef import EMPTY_DICT, Properties

from firnline.adapters.locations import local_path
from firnline.core.errors import FirnlineError

# Where a file system has no hard links, rename is all there is: names hold a random uuid, so nothing is overwritten.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class LocalInput(InputFile):
    """A file to read."""

    def __len__(self) -> int:
        return os.path.getsize(local_path(self.location))

    def exists(self) -> bool:
        """Whether it is there."""
        return os.path.exists(local_path(self.location))

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002, FBT001, FBT002 - PyIceberg's signature
        """A seekable stream."""
        return open(local_path(self.location), "rb")


class StagedFile(io.BufferedWriter):
    """A file being written beside its name. `close` publishes it; leaving a `with` by an error, or being forgotten,
    does not.
    """

    def __init__(self, path: str, *, overwrite: bool) -> None:
        self._path = path
        self._overwrite = overwrite
        _make_folders(os.path.dirname(path))
        self._beside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:100]}.{uuid.uuid4().hex}.tmp")
        self._settled = False
        super().__init__(io.FileIO(self._beside, "xb"))

    def close(self) -> None:
        """Make it durable and visible. FileExistsError, and nothing published, when the name is taken."""
        if self._settled:
            return
        try:
            self.flush()
            os.fsync(self.fileno())
            super().close()
            _publish(self._beside, self._path, overwrite=self._overwrite)
            self._settled = True
        finally:
            self.abandon()
        _sync_folder(os.path.dirname(self._path))

    def abandon(self) -> None:
        """Throw it away, unless it is published already."""
        if self._settled:
            return
        self._settled = True
        with contextlib.suppress(OSError, ValueError):
            super().close()
        with contextlib.suppress(OSError):
            os.unlink(self._beside)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self) -> None:
        if hasattr(self, "_settled"):
            self.abandon()


class LocalOutput(OutputFile):
    """A file to be written."""

    def __len__(self) -> int:
        return os.path.getsize(local_path(self.location))

    def exists(self) -> bool:
        """Whether it is there already."""
        return os.path.exists(local_path(self.location))

    def to_input_file(self) -> InputFile:
        """The same file, for reading."""
        return LocalInput(self.location)

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: FBT001, FBT002 - PyIceberg's signature
        """A stream whose `close` publishes the file."""
        if not overwrite and self.exists():
            raise FileExistsError(f"{self.location} exists already")
        return StagedFile(local_path(self.location), overwrite=overwrite)


class LocalFileIO(FileIO):
    """`py-io-impl: firnline.adapters.iceberg.fileio.LocalFileIO`."""

    def __init__(self, properties: Properties = EMPTY_DICT) -> None:
        super().__init__(properties)

    def new_input(self, location: str) -> LocalInput:
        """A file to read."""
        return LocalInput(location)

    def new_output(self, location: str) -> LocalOutput:
        """A file to be written."""
        return LocalOutput(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete exactly this file, and the checksum Hadoop's local file system keeps beside it."""
        path = local_path(location if isinstance(location, str) else location.location)
        os.unlink(path)
        folder, name = os.path.split(path)
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, f".{name}.crc"))

    def delete_quietly(self, location: str) -> bool:
        """Delete a file that is no longer wanted; False when that failed. One that is gone already is deleted."""
        try:
            self.delete(location)
        except FileNotFoundError:
            return True
        except (OSError, FirnlineError):
            return False
        return True

    def remove_empty_folders(self, location: str, files: Iterable[str]) -> None:
        """The folders of these files, up to `location` itself, as far as they are empty now. Nothing is listed: a
        folder with anything in it refuses to go.
        """
        root = local_path(location).rstrip("/")
        folders: set[str] = set()
        for file in files:
            folder = os.path.dirname(local_path(file))
            while (folder == root or folder.startswith(root + "/")) and folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)
        for folder in sorted(folders, key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def _publish(beside: str, path: str, *, overwrite: bool) -> None:
    if overwrite:
        os.replace(beside, path)
        return
    try:
        os.link(beside, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        os.rename(beside, path)
    else:
        os.unlink(beside)


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
