"""The seam for a reader: somebody who can read a snapshot without us."""

from __future__ import annotations

from typing import Protocol

from firnline.core.types import Field
from firnline.proof.values import Answer, ReaderName, ReadRequest


class Reader(Protocol):
    """Reads one snapshot from its metadata file, streaming, and tallies it with the one shared hash.

    Never writes, never asks the catalog, never raises for what the table is like: that is an answer. A reader holds a
    few batches at a time, so that the size of the table does not matter.
    """

    @property
    def name(self) -> ReaderName:
        """Which reader this is."""

    def cannot(self, field: Field) -> str | None:
        """Why it cannot read this column whatever is in it; None when it can. Such a column it is not asked for."""

    def read(self, request: ReadRequest) -> Answer:
        """The tally, or why there is none."""
