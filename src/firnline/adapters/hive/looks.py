"""What an entry proves about a change that the metastore answered with an error, or not at all.

A new metadata file is deleted once its commit is proven not done. So not done follows only from an entry that is as it
was, or that others moved on from where it was; whatever leaves a doubt is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firnline.adapters import outcomes
from firnline.adapters.hive import answers
from firnline.adapters.hive.entries import PREVIOUS
from firnline.adapters.hive.pointers import METADATA_LOCATION
from firnline.adapters.hive.wire import Broken, Fault
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.facts import meta
from firnline.facts.ports import Blobs
from firnline.loop.values import Outcome


@dataclass(frozen=True, slots=True)
class Change:
    """The one call of a commit. `before` and `after` are where the entry points, None: there is no entry."""

    identifier: Identifier
    method: str
    given: tuple[Any, ...]
    before: str | None
    after: str | None
    done: str  # the metadata file the commit is about
    absent: str  # what it means that something is not there
    uuid: str | None = None  # of the table, for a change that makes an entry
    to: Identifier | None = None  # the new name, whose entry shows whether the change was made

    @property
    def shown(self) -> Identifier:
        """Whose entry shows whether the change was made."""
        return self.to or self.identifier


def judged(error: Broken | Fault, change: Change, entry: Any | None, blobs: Blobs) -> Outcome:
    """The outcome, with the entry as it is by now.

    One that points where it did is proof only if the metastore answered: after a lost answer the call may still be
    under way.
    """
    doubt = outcomes.unknown(
        f"{answers.explanation(error)}; whether the change to {change.identifier} was made is not known"
    )
    parameters = {} if entry is None else entry.parameters or {}
    now = None if entry is None else parameters.get(METADATA_LOCATION, "")
    if now == change.after:
        # A removal that found nothing may have come after somebody else's rename: the files are then still in use.
        return doubt if now is None and answers.missing(error) else outcomes.done(change.done)
    if now is None and change.before is not None:
        return doubt  # made, and then dropped or renamed by another, or the latter only
    made = False if now == change.before else _made(change, parameters, str(now), blobs)
    if made:
        return outcomes.done(change.done)
    if made is None or isinstance(error, Broken):
        return doubt
    if now != change.before and change.before is not None:
        return outcomes.lost(f"{change.identifier} was changed by another writer")
    return answers.not_made(error, str(change.shown), change.absent)


def _made(change: Change, parameters: dict[str, str], now: str, blobs: Blobs) -> bool | None:
    """Whether the change was made before others moved the entry on to `now`; None when that does not show."""
    if not now:
        return False if change.before is None else None  # the name was taken by what is no Iceberg table
    try:
        found = meta.parse(blobs.read(now), now)
    except FirnlineError:
        return None
    passed = {location for _, location in found.metadata_log}
    if change.after in passed:
        return True
    if change.before is None:
        return False if found.uuid is not None and change.uuid not in {None, found.uuid} else None
    return False if change.before in passed or parameters.get(PREVIOUS) == change.before else None
