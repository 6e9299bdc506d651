"""Commits requests on tables of formats 1 and 2 with PyIceberg's model: no JVM, no pyarrow, milliseconds.

PyIceberg's own `catalog.commit_table` is not called: it reads, checks, writes and swaps in one piece, so that a failure
cannot be told to lie before or after the swap; and it imports whatever Python class a table's properties name for file
access and locations. Here the same model stages the metadata and the pointer is swapped by `Swaps`.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Protocol

from firnline.adapters import outcomes, requests
from firnline.adapters.iceberg import staging
from firnline.adapters.iceberg.manifests import IcebergManifests
from firnline.adapters.iceberg.purge import reachable
from firnline.adapters.requests import Unfit
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.facts.ports import Blobs, Pointers
from firnline.loop.commits import CommitRequest
from firnline.loop.store import Store
from firnline.loop.values import Outcome, OutcomeKind

_VERSION = re.compile(r"^(\d{1,9})-")


class Swaps(Protocol):
    """The writing half of a catalog: one pointer from one metadata file to the next, atomically, in one attempt."""

    def insert(self, identifier: Identifier, location: str) -> Outcome:
        """A new table."""

    def swap(self, identifier: Identifier, old: str, new: str) -> Outcome:
        """From `old` to `new`, if it still is at `old`."""

    def remove(self, identifier: Identifier, old: str) -> Outcome:
        """Out of the catalog, if it still is at `old`."""

    def rename(self, identifier: Identifier, old: str, to: Identifier) -> Outcome:
        """Under another name, if it still is at `old`, and stays there."""

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """A new namespace."""

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Other properties."""


class PyIcebergCommits:
    """`loop.commits.Commits` for formats 1 and 2; drops, renames and namespaces for every format."""

    def __init__(self, pointers: Pointers, swaps: Swaps, blobs: Blobs, store: Store) -> None:
        self._pointers = pointers
        self._swaps = swaps
        self._blobs = blobs
        self._store = store

    def can_commit(self, meta_format_version: int | None, request: CommitRequest) -> bool:
        """Whether to send this request here: format 3 and what PyIceberg does wrongly go to the JVM. None: a new table.
        A true answer may still end in a refusal with `facts["refused"] == "round trip"`, which depends on the metadata.
        """
        return staging.why_not(meta_format_version, request) is None

    def format_version(self, identifier: Identifier) -> int | None:
        """The format of the table as it is now, None when there is none."""
        location, base = self._current(identifier)
        return None if location is None else int(base["format-version"])

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """One attempt. Changing nothing is done too, with `facts["changed"]` false and the location as it is."""
        try:
            location, base = self._current(identifier)
            if location is None and not requests.creates(request):
                return outcomes.refused(f"there is no table {identifier}")
            staged = staging.stage(request, base, location)
        except staging.Lossy as error:
            return outcomes.refused(str(error), refused=requests.ROUND_TRIP)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))
        if not staged.changed:
            return outcomes.done(location, changed=False)
        return self._publish(identifier, staged, location)

    def _publish(self, identifier: Identifier, staged: staging.Staged, old: str | None) -> Outcome:
        new = f"{staged.folder}/{_next_version(old):05d}-{uuid.uuid4()}.metadata.json"
        try:
            self._store.put(new, staged.data)
        except FirnlineError as error:
            return outcomes.refused(f"the metadata file could not be written: {error}")
        outcome = self._swaps.insert(identifier, new) if old is None else self._swaps.swap(identifier, old, new)
        if outcome.kind is OutcomeKind.NOT_DONE:
            # Proven: nobody can point to it. After an unknown outcome somebody might.
            self._store.delete((new,))
        if outcome.kind is OutcomeKind.DONE and staged.dropped:
            self._store.delete(staged.dropped)  # the table's own setting: write.metadata.delete-after-commit.enabled
        return outcome

    def drop(self, identifier: Identifier, uuid: str, *, purge: bool) -> Outcome:
        """Out of the catalog if it still is the table of this uuid. With `purge` the files its metadata reaches are
        listed first, and deleted after; a table with files elsewhere, or with `gc.enabled=false`, is not purged but
        refused.
        """
        try:
            location, base = self._own(identifier, uuid)
            doomed = reachable(base, location, IcebergManifests(self._blobs)) if purge else ()
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))
        outcome = self._swaps.remove(identifier, location)
        if outcome.kind is not OutcomeKind.DONE or not purge:
            return outcome
        left = len(self._store.delete(doomed))
        self._store.tidy(base["location"], doomed)
        detail = f"{left} of its files could not be deleted" if left else ""
        return Outcome(
            OutcomeKind.DONE, detail, {**outcome.facts, "files-deleted": len(doomed) - left, "files-left": left}
        )

    def rename(self, identifier: Identifier, uuid: str, to: Identifier) -> Outcome:
        """Under another name if it still is the table of this uuid. Its metadata is not touched."""
        try:
            location, _ = self._own(identifier, uuid)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))
        return self._swaps.rename(identifier, location, to)

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """Make a namespace; NOT_DONE when it is there already."""
        return self._swaps.create_namespace(namespace, properties)

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove namespace properties, in one transaction."""
        return self._swaps.update_namespace(namespace, updates, removals)

    def _own(self, identifier: Identifier, uuid: str) -> tuple[str, Json]:
        """The table as it is now; Unfit unless it is the one of this uuid."""
        location, base = self._current(identifier)
        if location is None:
            raise Unfit(f"there is no table {identifier}")
        if base.get("table-uuid") != uuid:
            raise Unfit(f"Requirement failed: {identifier} is another table now ({base.get('table-uuid')})")
        return location, base

    def _current(self, identifier: Identifier) -> tuple[str | None, Json]:
        pointer = self._pointers.find(identifier)
        if pointer is None:
            return None, None
        if pointer.kind != "table" or pointer.metadata_location is None:
            raise Unfit(f"{identifier} is a {pointer.kind}, not an Iceberg table")
        return pointer.metadata_location, staging.decode(self._blobs.read(pointer.metadata_location))


def _next_version(location: str | None) -> int:
    if location is None:
        return 0
    found = _VERSION.match(location.rsplit("/", 1)[-1])
    return int(found[1]) + 1 if found else 0
