"""Who commits what: the light committer where it can, the JVM where it must."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from firnline.adapters import outcomes
from firnline.adapters.requests import ROUND_TRIP, Unfit
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.loop.commits import CommitRequest, Commits
from firnline.loop.values import Outcome


class Light(Commits, Protocol):
    """A committer that knows what it cannot do."""

    def can_commit(self, meta_format_version: int | None, request: CommitRequest) -> bool:
        """Whether to send this request here."""

    def format_version(self, identifier: Identifier) -> int | None:
        """The format of the table, None when there is none."""


class Heavy(Protocol):
    """A committer for every format. Drops, renames and namespaces never need it."""

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """Commit the request, as `Commits.commit` says."""


class RoutedCommits:
    """`loop.commits.Commits` over both. `heavy` is called, and a JVM started, only when a request needs it.

    Still one attempt: the light committer's refusal to harm metadata comes before anything is written, so that handing
    the request on is not a second try.
    """

    def __init__(self, light: Light, heavy: Callable[[], Heavy]) -> None:
        self._light = light
        self._heavy = heavy

    def commit(self, identifier: Identifier, request: CommitRequest) -> Outcome:
        """Commit the request with the lightest committer that can."""
        try:
            version = self._light.format_version(identifier)
        except (Unfit, FirnlineError) as error:
            return outcomes.refused(str(error))  # looked only: nothing was sent
        if not self._light.can_commit(version, request):
            return self._heavy().commit(identifier, request)
        outcome = self._light.commit(identifier, request)
        if outcome.facts.get("refused") == ROUND_TRIP:
            return self._heavy().commit(identifier, request)
        return outcome

    def drop(self, identifier: Identifier, uuid: str, *, purge: bool) -> Outcome:
        """Dropping needs no engine, whatever the format."""
        return self._light.drop(identifier, uuid, purge=purge)

    def rename(self, identifier: Identifier, uuid: str, to: Identifier) -> Outcome:
        """Renaming touches no metadata, whatever the format."""
        return self._light.rename(identifier, uuid, to)

    def create_namespace(self, namespace: tuple[str, ...], properties: Mapping[str, str]) -> Outcome:
        """Make a namespace."""
        return self._light.create_namespace(namespace, properties)

    def update_namespace(
        self, namespace: tuple[str, ...], updates: Mapping[str, str], removals: tuple[str, ...]
    ) -> Outcome:
        """Set and remove namespace properties."""
        return self._light.update_namespace(namespace, updates, removals)
