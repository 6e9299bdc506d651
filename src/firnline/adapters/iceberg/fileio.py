"""PyIceberg's FileIO over the `Files` port, for reading only: no pyarrow file systems, no fsspec, and no class that a
table's own properties name.
"""

from __future__ import annotations

import io
import os

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile
from pyiceberg.typedef import EMPTY_DICT, Properties

from firnline.core.errors import Missing
from firnline.facts.ports import Files

# One request to an object store costs as much as some megabytes: what is read next is mostly what lies next.
AHEAD_BYTES = 1 << 20


class ReadingFileIO(FileIO):
    """Reads whatever `files` can; writes and deletes nothing."""

    def __init__(self, files: Files, properties: Properties = EMPTY_DICT) -> None:
        super().__init__(properties)
        self._files = files

    def new_input(self, location: str) -> FilesInput:
        """A file to read."""
        return FilesInput(self._files, location)

    def new_output(self, location: str) -> OutputFile:
        """Not from here."""
        raise PermissionError(f"{location} is not written by a reader")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Not from here."""
        raise PermissionError(f"{location} is not deleted by a reader")


class FilesInput(InputFile):
    """A file to read."""

    def __init__(self, files: Files, location: str) -> None:
        super().__init__(location)
        self._files = files

    def __len__(self) -> int:
        found = self._files.look(self.location)
        if found is None:
            raise FileNotFoundError(self.location)
        return found.size

    def exists(self) -> bool:
        """Whether it is there."""
        return self._files.look(self.location) is not None

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002, FBT001, FBT002 - PyIceberg's signature
        """A seekable stream."""
        return io.BufferedReader(FileParts(self._files, self.location, len(self)), AHEAD_BYTES)


class FileParts(io.RawIOBase):
    """A file as a raw stream of parts, each fetched when it is read."""

    def __init__(self, files: Files, location: str, size: int) -> None:
        super().__init__()
        self._files, self._location, self._size, self._at = files, location, size, 0

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def seekable(self) -> bool:
        """Any part can be asked for."""
        return True

    def tell(self) -> int:
        """Where the next part begins."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go there; nothing is fetched."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if begin + offset < 0:
            raise ValueError(f"{offset} lies before the file begins")
        self._at = begin + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the file goes."""
        wanted = min(len(buffer), max(0, self._size - self._at))
        if not wanted:
            return 0
        try:
            data = self._files.part(self._location, self._at, wanted)
        except Missing as error:
            raise FileNotFoundError(self._location) from error
        if len(data) != wanted:
            raise OSError(f"{self._location} ended {wanted - len(data):,} bytes early")
        buffer[:wanted] = data
        self._at += wanted
        return wanted
