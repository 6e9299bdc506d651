"""One table as it is now: the pointer, then the metadata file it names."""

from __future__ import annotations

from firnline.core.ids import Identifier
from firnline.facts import meta as metadata
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Blobs, Pointer, Pointers


def table(pointers: Pointers, blobs: Blobs, identifier: Identifier) -> TableMeta | None:
    """The table's metadata, or None when the catalog has no Iceberg table of this name."""
    pointer = pointers.find(identifier)
    return None if pointer is None else at(blobs, pointer)


def at(blobs: Blobs, pointer: Pointer) -> TableMeta | None:
    """The metadata a pointer names; None for what is not an Iceberg table."""
    if pointer.kind != "table" or pointer.metadata_location is None:
        return None
    return metadata.parse(blobs.read(pointer.metadata_location), pointer.metadata_location)
