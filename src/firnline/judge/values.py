"""What judging takes and gives: a subject to look at, a rule to hold against it, and its finding. Plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from firnline.config.amounts import Unit
from firnline.config.policies import RULES, PolicyKey
from firnline.config.prices import DEFAULT as LIST_PRICES
from firnline.config.prices import Prices
from firnline.core.ids import Identifier, SnapshotId, TableUuid
from firnline.facts.meta import TableMeta
from firnline.facts.values import ColumnFacts, HistoryFacts, StorageFacts, TableFacts
from firnline.judge.policy import ResolvedPolicy
from firnline.judge.ranges import Range


class Health(StrEnum):
    """How a table is, best first: each word outweighs those above it."""

    HEALTHY = "healthy"  # no rule fires
    WATCH = "watch"  # nothing to mend now, and something to know before it grows
    UNTIDY = "untidy"  # mending would help; leaving it costs less than `costly-from` a day
    COSTLY = "costly"  # leaving it costs that much or more
    RISKY = "risky"  # the next expiry, clean-up or reader of manifests can do harm that nothing undoes
    BROKEN = "broken"  # wrong or unreadable now, for a declared reader or at some snapshot
    UNREADABLE = "unreadable"  # we could not read all of it, so nothing else said of it is the whole truth

    @property
    def rank(self) -> int:
        """Its place among all, from best to worst."""
        return list(Health).index(self)


class Work(StrEnum):
    """What kind of work mends what a rule finds."""

    COMPACTION = "compaction"
    FOLD = "fold"
    MANIFESTS = "rewriting manifests"
    EXPIRY = "expiry"
    ORPHANS = "removing orphans"
    STATISTICS = "computing statistics"
    DECLARATION = "changing the declaration"
    PERSON = "a decision"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number a rule looked at, and the number it is held against. `key` is the policy key of the threshold.

    Without a threshold it is shown and not held against anything.
    """

    name: str
    value: Range
    unit: Unit
    threshold: float | None = None
    above: bool = True
    key: str | None = None

    @property
    def past(self) -> bool | None:
        """Whether the number has reached its threshold (or is below it, where less is worse); None: nobody can tell.

        A threshold of nothing means anything at all: what is not there never reaches it.
        """
        if self.threshold is None:
            return None
        low, high = self.value.low, self.value.high
        if not self.above:
            return True if high is not None and high < self.threshold else None if low < self.threshold else False
        if low >= self.threshold and low > 0:
            return True
        return False if high is not None and (high < self.threshold or not high) else None


@dataclass(frozen=True, slots=True)
class Cost:
    """What something costs. `bytes` are those kept, read or rewritten; `money` is all of it in the prices' currency.

    Waiting is counted per day, acting once.
    """

    bytes: int = 0
    core_seconds: float = 0.0
    requests: int = 0
    money: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.bytes + other.bytes,
            self.core_seconds + other.core_seconds,
            self.requests + other.requests,
            self.money + other.money,
        )


NO_COST = Cost()


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a rule would fire if things went on as they do, and what that rests on."""

    in_millis: int
    why: str


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast work goes. `runs` is how many of our own runs it was learnt from; 0: a default.

    8.5 MB of compressed Parquet per core and second is what Spark's own rewriting does; opening a file is counted like
    reading 4 MiB, as Iceberg's planner does.
    """

    rewrite_bytes_per_core_second: float = 8.5e6
    read_bytes_per_core_second: float = 1e8
    open_core_seconds: float = 0.04
    runs: int = 0


DEFAULT_RATES = Rates()


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run of ours took."""

    bytes: int
    core_seconds: float


@dataclass(frozen=True, slots=True)
class Consumer:
    """Somebody who reads the table incrementally. `needs` is the oldest snapshot they must find; None: nobody knows."""

    id: str
    lag_max_ms: int | None = None
    needs: SnapshotId | None = None


@dataclass(frozen=True, slots=True)
class LastExpiry:
    """What our last expiry took, and what was stored before and after. `bytes_due` only its snapshots had needed."""

    millis: int
    snapshots: int
    bytes_due: int
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the ledger tells of our own runs on a table: tries and lost races of late, and for as long before that."""

    tries: int = 0
    conflicts: int = 0
    tries_before: int = 0
    conflicts_before: int = 0
    expiry: LastExpiry | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything a rule may look at. What nobody looked at is None, or empty."""

    facts: TableFacts
    meta: TableMeta
    now_millis: int
    policy: ResolvedPolicy
    file: str | None = None  # of the declaration; None: the table is not declared
    readers: tuple[str, ...] = ()
    personal_ids: tuple[int, ...] = ()  # field ids of the columns that identify a person
    consumers: tuple[Consumer, ...] = ()
    history: HistoryFacts | None = None
    storage: StorageFacts | None = None
    columns: tuple[ColumnFacts, ...] = ()
    runs: RunFigures | None = None
    prices: Prices = LIST_PRICES
    rates: Rates = DEFAULT_RATES


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rule says of a subject. `fired` None: it cannot be told, and the sentence says why.

    `health` is what the table is if it fired. The measures are always there.
    """

    fired: bool | None
    health: Health
    sentence: str
    measures: tuple[Measure, ...]
    partitions: tuple[str, ...] = ()
    waiting: Cost = NO_COST
    acting: Cost = NO_COST
    when: Forecast | None = None
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong with a table. `look` is pure; `example` is a small table for which it fires."""

    id: str
    title: str
    what: str
    why: str
    remedy: str
    work: Work
    look: Callable[[Subject], Reading]
    example: Callable[[], Subject]

    @property
    def thresholds(self) -> tuple[PolicyKey, ...]:
        """What can be set, by keys without the rule's name."""
        return RULES[self.id]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's reading of one table. `off` is where the policy switches the rule off: it then never fires."""

    id: str
    rule: str
    table: Identifier
    uuid: TableUuid | None
    work: Work
    fired: bool | None
    health: Health
    sentence: str
    measures: tuple[Measure, ...]
    partitions: tuple[str, ...] = ()
    waiting: Cost = NO_COST
    acting: Cost = NO_COST
    when: Forecast | None = None
    next_step: str | None = None
    off: str | None = None
