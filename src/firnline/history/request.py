"""A move of a ref as a commit request: it is the same table, the ref is still where it was, and now goes there."""

from __future__ import annotations

from firnline.facts import refs
from firnline.history.values import Move
from firnline.loop.commits import CommitRequest


def build(move: Move) -> CommitRequest:
    """The request that makes this move."""
    update = (
        {"action": "remove-snapshot-ref", "ref-name": move.ref.name} if move.after is None else refs.update(move.after)
    )
    return CommitRequest(
        ({"type": "assert-table-uuid", "uuid": move.uuid}, refs.requirement(move.ref.name, move.before)), (update,)
    )
