"""The seam for changing a table: Iceberg's REST commit request, and whoever can commit one.

PyIceberg commits requests for formats 1 and 2, the JVM those that touch format 3. One contract suite covers both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from firnline.core.ids import Identifier
from firnline.core.types import Json
from firnline.loop.values import Outcome


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """`requirements` and `updates` as the REST specification writes them.

    `expect` goes beyond the specification, which has no requirement on properties: each named property must have this
    value (None: be absent) in the very metadata the commit builds on, or the request is refused as a broken
    requirement.
    """

    requirements: tuple[Json, ...]
    updates: tuple[Json, ...]
    expect: Mapping[str, str | None] = field(default_factory=dict)


class Commits(Protocol):
    """Makes one metadata commit, or none. One attempt: sending again is for the loop to decide.

    Outcomes: DONE with `facts["metadata-location"]`; NOT_DONE with `retryable` true after a lost race and false when a
    requirement no longer holds; UNKNOWN whenever the commit call itself failed in a way that does not prove either.
    """

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """Commit the request. `assert-create` among the requirements creates the table."""

    def drop(self, identifier: Identifier, uuid: str, *, purge: bool) -> Outcome:
        """Take the table out of the catalog if it still is the one of this uuid; with `purge`, delete its files."""

    def rename(self, identifier: Identifier, uuid: str, to: Identifier) -> Outcome:
        """The same table under another name, if it still is the one of this uuid; its files stay where they are.
        NOT_DONE when the new name is taken, by a view too, or its namespace is not there, or the catalog cannot.
        """

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """Make a namespace; NOT_DONE (not retryable) when it is there already."""

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove namespace properties."""
