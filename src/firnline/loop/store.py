"""The seam for single files: what commits, purges and clean-ups do to them. Nothing here lists or guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from firnline.core.errors import Failed


class NameTaken(Failed):
    """There is a file of this name already, and it is not the one that was to be written."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file where the place keeps them. `deleted` marks a deletion, which has no bytes."""

    id: str
    size: int
    millis: int
    latest: bool
    deleted: bool = False


class Store(Protocol):
    """Writes, deletes and marks files by their exact names."""

    def put(self, location: str, data: bytes) -> None:
        """A new file, whole and durable when this returns. NameTaken when there is one of this name with other bytes;
        Failed when it could not be written, and then there may be one all the same.
        """

    def delete(self, locations: Sequence[str]) -> Mapping[str, str]:
        """Delete exactly these. Those that could not be deleted, with the reason; one that is not there is deleted."""

    def tidy(self, location: str, deleted: Sequence[str]) -> None:
        """Remove what deleting these files left behind below a location: empty folders, where a place has folders."""

    def versions(self, location: str) -> tuple[Version, ...]:
        """Every version kept of one file, the newest first; without versions the file itself, or nothing."""

    def restore(self, location: str) -> bool:
        """Bring the newest version before its deletion back; False when there is none to bring back."""

    def tags(self, location: str) -> Mapping[str, str]:
        """The tags of a file; a place without tags has none."""

    def tag(self, location: str, tags: Mapping[str, str]) -> None:
        """Put these tags beside those it has. Refused where a place has no tags."""
