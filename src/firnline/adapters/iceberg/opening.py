"""Opens manifests and manifest lists: bytes, header and blocks, checked against what is known of the file.

Whatever is wrong with a file becomes an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from firnline.adapters.iceberg.avro import container
from firnline.adapters.iceberg.avro.codecs import inflater
from firnline.adapters.iceberg.avro.container import Block, Damaged, Header
from firnline.core.errors import BadInput, Failed, Missing
from firnline.facts.lines import ManifestLine
from firnline.facts.ports import Blobs

# As large as a whole file may be: what inflates to more than that is no manifest. Writers make blocks of 64 KiB.
BLOCK_BYTES_MAX = 512 * 1024 * 1024
_RESTORE = "Restore it from a backup, or look for a snapshot before it with `firnline history`."


@dataclass(frozen=True, slots=True)
class Opened:
    """A file with its blocks, still compressed."""

    data: bytes
    header: Header
    blocks: tuple[Block, ...]

    @property
    def records(self) -> int:
        """How many records the blocks say they have."""
        return sum(block.count for block in self.blocks)

    def inflated(self, block: Block) -> bytes:
        """What the block holds."""
        data = self.data[block.start : block.start + block.size]
        return inflater(self.header.codec)(data, BLOCK_BYTES_MAX)


@contextmanager
def naming(location: str, *, encrypted: bool = False) -> Iterator[None]:
    """Damage found within is this file's."""
    try:
        yield
    except Damaged as error:
        raise unreadable(location, error.reason, encrypted=encrypted) from error


def unreadable(location: str, reason: str, *, encrypted: bool = False) -> Failed:
    """The error for a damaged file."""
    if encrypted:
        return Failed(
            f"{location} is encrypted, and Firnline has no keys.",
            why="The manifest list has key metadata for it, and it is not readable without.",
            next_step="Look at this table with an engine that has the table's key management configured.",
        )
    return Failed(
        f"{location} is not readable as an Iceberg manifest: {reason}.",
        why="The snapshots that need it cannot be read.",
        next_step=_RESTORE,
    )


def read(blobs: Blobs, location: str) -> bytes:
    """The bytes; Missing with what that means when the file is not there."""
    try:
        return blobs.read(location)
    except BadInput as error:  # nobody typed it: it stands in metadata
        raise Failed(error.what, why=error.why, next_step=error.next_step) from error
    except Missing as error:
        raise Missing(
            error.what,
            why="The table's metadata points to it: the snapshots that need it cannot be read.",
            next_step=_RESTORE,
        ) from error


def opened(data: bytes) -> Opened:
    """The header and blocks of these bytes."""
    header = container.read_header(data)
    inflater(header.codec)  # before anything is believed of an unknown codec
    return Opened(data, header, tuple(container.blocks(data, header)))


def check_whole(found: Opened, line: ManifestLine) -> None:
    """Damaged when a manifest is not what the manifest list says: cut between two blocks it reads like a whole one."""
    if line.entries is not None and line.entries != found.records:
        raise Damaged(f"it has {found.records:,} entries where the manifest list says {line.entries:,}")
    if line.entries is None and line.length is not None and line.length != len(found.data):
        raise Damaged(f"it has {len(found.data):,} bytes where the manifest list says {line.length:,}")
