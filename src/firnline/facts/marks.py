"""Marks: what a metadata-only commit of ours leaves in the table's properties, and how it is found there again.

Every capability whose steps are commit requests stamps and settles them here, so that a lost reply means one thing.
"""

from __future__ import annotations

from firnline.core import keys
from firnline.core.errors import FirnlineError
from firnline.core.ids import Identifier
from firnline.facts import meta as metadata
from firnline.facts import observe
from firnline.facts.meta import TableMeta
from firnline.facts.ports import Blobs, Pointers
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind, Stamp

METADATA_LOG_READ_MAX = 200  # how far back settling looks: Iceberg keeps 100 by default


def of(stamp: Stamp) -> dict[str, str]:
    """The mark of a step."""
    return {keys.RUN: stamp.run, keys.STEP: stamp.step}


def stamped(request: CommitRequest, stamp: Stamp) -> CommitRequest:
    """The same request, leaving the step's mark in the table's properties."""
    updates = [dict(update) for update in request.updates]
    for update in updates:
        if update["action"] == "set-properties":
            update["updates"] = {**update["updates"], **of(stamp)}
            break
    else:
        updates.append({"action": "set-properties", "updates": of(stamp)})
    return CommitRequest(request.requirements, tuple(updates), request.expect)


def settle(
    pointers: Pointers, blobs: Blobs, identifier: Identifier, *, uuid: str, base: str | None, stamp: Stamp
) -> Outcome:
    """Done when some metadata version of this table since `base` carries the step's mark.

    No base: the step creates the table, under a uuid chosen for it, so that finding the uuid is finding the commit. A
    catalog that chooses uuids itself keeps the mark all the same. When the table's log of metadata files no longer
    reaches back to the base, nobody can know.
    """
    try:
        meta = observe.table(pointers, blobs, identifier)
        if meta is None:
            return Outcome(OutcomeKind.NOT_DONE, "the table is not in the catalog", retryable=base is None)
        if meta.uuid == uuid:
            return _found(meta.location) if base is None else _search(blobs, meta, base, stamp)
        made = _search(blobs, meta, None, stamp) if base is None else _NOT_FOUND
        return made if made.kind is OutcomeKind.DONE else Outcome(OutcomeKind.NOT_DONE, "another table has this name")
    except FirnlineError as error:
        return Outcome(OutcomeKind.UNKNOWN, f"could not look: {error.what}")


def _search(blobs: Blobs, meta: TableMeta, base: str | None, stamp: Stamp) -> Outcome:
    wanted = of(stamp).items()
    if wanted <= meta.properties.items():
        return _found(meta.location)
    if meta.location == base:
        return _NOT_FOUND
    for _, location in reversed(meta.metadata_log[-METADATA_LOG_READ_MAX:]):
        if location == base:
            return _NOT_FOUND
        if wanted <= metadata.parse(blobs.read(location), location).properties.items():
            return _found(location)
    return Outcome(OutcomeKind.UNKNOWN, f"the table's metadata log no longer reaches back to {base}")


def _found(location: str) -> Outcome:
    return Outcome(OutcomeKind.DONE, "found in the table", {"metadata-location": location})


_NOT_FOUND = Outcome(OutcomeKind.NOT_DONE, "no metadata version since the plan carries this step", retryable=True)
