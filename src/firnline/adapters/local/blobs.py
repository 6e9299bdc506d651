"""Reads small files of this machine: the `Blobs` port of facts for the embedded lakehouse."""

from __future__ import annotations

import os

from firnline.adapters.locations import local_path
from firnline.core.errors import Failed, Missing
from firnline.core.sizes import show_bytes

# Metadata of a table with 100,000 snapshots is about 100 MiB; what is larger is not what we think it is.
BLOB_BYTES_MAX = 512 * 1024 * 1024


class LocalBlobs:
    """`facts.ports.Blobs` over `file:` locations and plain paths."""

    def __init__(self, bytes_max: int = BLOB_BYTES_MAX) -> None:
        self._bytes_max = bytes_max

    def read(self, location: str) -> bytes:
        """The whole file. Missing when it is not there, Failed when it may not be read or is larger than the bound."""
        path = local_path(location)
        try:
            with open(path, "rb") as file:
                self._check_size(os.fstat(file.fileno()).st_size, location)
                data = file.read(self._bytes_max + 1)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Missing(
                f"There is no file {location}.",
                why="The catalog or a metadata file points to it, so the table cannot be read without it.",
                next_step="Restore it from a backup, or run `firnline doctor` to see whether the warehouse was moved.",
            ) from error
        except PermissionError as error:
            raise Failed(
                f"{location} may not be read by this user.",
                next_step=f"Give yourself read access to {path}, or run as its owner.",
            ) from error
        except OSError as error:
            raise Failed(f"{location} could not be read: {error.strerror or error}.") from error
        self._check_size(len(data), location)
        return data

    def _check_size(self, size: int, location: str) -> None:
        if size > self._bytes_max:
            raise Failed(
                f"{location} has {show_bytes(size)}, "
                f"more than the {show_bytes(self._bytes_max)} a metadata file may have.",
                why="It would have to fit into memory whole.",
            )
