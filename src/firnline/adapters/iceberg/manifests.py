"""Manifest lists and manifests of formats 1 to 3, read by a decoder of our own: the `Manifests` port of facts.

CPU per million entries is a few seconds, most of it to decompress; about a quarter of a millisecond per small manifest.
Two batches are in memory at a time, whatever the table's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from firnline.adapters.iceberg import lists, opening
from firnline.core.errors import Failed
from firnline.facts.lines import ManifestLine, Status, Wanted
from firnline.facts.ports import NOTHING_MORE, Blobs, Manifests

if TYPE_CHECKING:
    from firnline.facts.entries import Entries


class IcebergManifests:
    """`facts.ports.Manifests` over files that are read whole."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    def list(self, location: str) -> tuple[ManifestLine, ...]:
        """The lines of a manifest list."""
        data = opening.read(self._blobs, location)
        with opening.naming(location):
            return lists.read(data)

    def entries(self, lines: Sequence[ManifestLine], wanted: Wanted = NOTHING_MORE) -> Iterator[Entries]:
        """Every entry of these manifests, in batches of some 24 MiB of decompressed manifest."""
        from firnline.adapters.iceberg import batches  # numpy: listing does without

        return batches.read(self._blobs, lines, wanted)


def live_files(manifests: Manifests, lines: Sequence[ManifestLine]) -> Iterator[tuple[str, int]]:
    """The path and size of every live file, of data or of deletes; size 0 where the writer left it out."""
    for batch in manifests.entries(lines):
        for row in (batch.status != Status.DELETED).nonzero()[0].tolist():
            path = batch.path.at(row)
            assert path is not None
            try:
                yield path.decode("utf-8"), max(0, int(batch.size[row]))
            except UnicodeDecodeError as error:
                raise Failed(
                    f"{lines[int(batch.manifest[row])].path} names a file {path!r}, which is no text: it is damaged."
                ) from error
