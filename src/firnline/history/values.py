"""The values of history: snapshots as lines, moves of refs, and what a move means to others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from firnline.core.ids import Identifier, SnapshotId
from firnline.facts.meta import Ref

ROLLBACK = "history.rollback"
REF = "history.ref"


class Standing(StrEnum):
    """Where a snapshot stands to main."""

    ON_MAIN = "on main"
    ROLLED_BACK = "rolled back"  # main was there, or went through it, and no longer does
    ON_ANOTHER_REF = "on another ref"
    ON_NO_REF = "on no ref"  # staged and never published, or left over from a ref that is gone


@dataclass(frozen=True, slots=True)
class Entry:
    """A snapshot at a glance. A count is None where its writer said nothing, or where only reading would tell."""

    id: SnapshotId
    at: datetime
    operation: str
    added: int | None  # rows
    deleted: int | None  # rows; None too when equality deletes came, for nobody counted what they match
    rows: int | None  # in the data files after it, deletes not yet applied
    deletes: int | None  # position and equality deletes that readers apply to those rows
    files: int | None
    writer: str
    run: str | None
    refs: tuple[str, ...]  # those that point at it
    standing: Standing


@dataclass(frozen=True, slots=True)
class Timeline:
    """Snapshots newest first, `total` in all."""

    table: str
    total: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class RefLine:
    """A branch or tag at a glance. `ahead` and `behind` count snapshots against main."""

    ref: Ref
    at: datetime
    rows: int | None
    ahead: int
    behind: int
    expires: datetime | None  # from then on an expiry drops the ref; None: never, or it is main


class Action(StrEnum):
    """What a move does to its ref. The first four are rollbacks of main, the rest is for branches and tags."""

    BACK = "back"
    FORWARD = "forward"
    ACROSS = "across"  # to a snapshot main was at before it was rolled back and written to again
    UNRELATED = "unrelated"
    CREATE = "create"
    DROP = "drop"
    FAST_FORWARD = "fast-forward"


ROLLBACKS = frozenset({Action.BACK, Action.FORWARD, Action.ACROSS, Action.UNRELATED})


class Concern(StrEnum):
    """Who or what a consequence is about."""

    READER = "reader"
    CONSUMER = "consumer"
    STREAM = "stream"
    SUBJECT = "subject"
    SCHEMA = "schema"
    REF = "ref"
    WAY_BACK = "way back"


@dataclass(frozen=True, slots=True)
class Consequence:
    """One thing a move means to somebody, as a sentence."""

    concern: Concern
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Snapshots newest first: `count` in all, the newest of them listed."""

    count: int = 0
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """Body of `history.rollback` and `history.ref`: one ref, from where it is to where it is to be. None: it is not.

    It carries no commit request: the request follows from these values, so that an edited plan file can move the one
    ref it names and do nothing else.
    """

    identifier: Identifier
    uuid: str
    action: Action
    before: Ref | None
    after: Ref | None
    origin: Entry | None = None  # the snapshot at `before`
    target: Entry | None = None  # the snapshot at `after`
    leaving: Span = Span()  # held by the ref and no longer; of a ref that is dropped, what no other ref holds either
    returning: Span = Span()  # held by the ref from now on
    consequences: tuple[Consequence, ...] = ()
    accepted: str | None = None  # the recorded reason for a move that is refused without one

    @property
    def ref(self) -> Ref:
        """The ref that moves, as it is to be; as it was, when it is dropped."""
        found = self.after or self.before
        assert found is not None
        return found
