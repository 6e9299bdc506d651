"""Judgement, wired: what is wrong with each table, why nothing else is, and what to do first. Nothing is changed.

A fleet is looked at a few tables at a time; what is kept of each is its judgement, not its facts. One table that cannot
be read is a line of its own and stops no other.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from firnline.config import prices as price_lists
from firnline.config.values import Declaration
from firnline.core import instants
from firnline.core.errors import BadInput, FirnlineError
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.facts.ports import Pointer
from firnline.judge import judging, looks, subjects
from firnline.judge import policy as policies
from firnline.judge.judging import Judgement
from firnline.judge.looks import Look, Sight
from firnline.judge.policy import ResolvedPolicy
from firnline.judge.values import RunFigures, Subject
from firnline.lakehouse import catalogs
from firnline.loop.ports import Event, EventKind

if TYPE_CHECKING:
    from firnline.facts.table import Source
    from firnline.facts.values import ColumnFacts, StorageFacts, TableFacts
    from firnline.lakehouse.opening import Lakehouse
    from firnline.loop.ports import Ledger

PARALLEL = 4  # tables looked at together: on this machine a look is mostly the processor
PARALLEL_REMOTE = 16  # on object stores it is mostly waiting
EVENTS_MAX = 400  # of a table's ledger: enough to tell whether conflicts rise
CONFLICT_SPAN = timedelta(days=7)
LISTING_PAGES_MAX = 1000  # a million files: a look, not an inventory

OnTable = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every table's judgement, worst first. `skipped` are entries of the catalog that are no Iceberg tables."""

    at: datetime
    tables: tuple[Judgement, ...]
    sights: Mapping[str, Sight]
    skipped: tuple[tuple[str, str], ...] = ()
    unlisted: str | None = None  # what of the catalog may not even be listed, and why
    unheard: str | None = None  # why the ledger said nothing: what rests on past runs was not judged


@dataclass(frozen=True, slots=True)
class Explained:
    """One table: its facts, its judgement with every rule's finding, and the policy it was held against."""

    subject: Subject
    judgement: Judgement

    @property
    def facts(self) -> TableFacts:
        """What it is."""
        return self.subject.facts


class Judging:
    """What is wrong, and why nothing else is."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse
        self._unheard: FirnlineError | None = None  # of the ledger: asked no more, for every table would wait for it

    @cached_property
    def _declarations(self) -> Mapping[Identifier, Declaration]:
        return {each.identifier: each for each in self._lakehouse.tables.declared().declarations}

    @cached_property
    def _prices(self) -> price_lists.Prices:
        return price_lists.load(self._lakehouse.root)

    def policy(self, name: str) -> ResolvedPolicy:
        """Every policy value of a table, and where it came from. The table may be declared only, or only exist."""
        identifier = Identifier.parse(name)
        pointer = self._lakehouse.pointers.find(identifier)
        declared = self._declarations.get(identifier)
        if pointer is None and declared is not None:
            return policies.resolve(self._lakehouse.settings, identifier, declared, {})
        source = self._lakehouse.facts.source(catalogs.entry(self._lakehouse, identifier))
        return policies.resolve(self._lakehouse.settings, identifier, declared, source.meta.properties)

    def explain(self, name: str, *, quick: bool = False) -> Explained:
        """One table against every rule. Unless `quick`, history, columns and what lies in storage are looked at too."""
        pointer = catalogs.entry(self._lakehouse, name)
        source = self._lakehouse.facts.source(pointer)
        subject = self._subject(pointer, source, self._past())
        if not quick:
            with self._lakehouse.notify(f"Looking at the history and files of {pointer.identifier}"):
                subject = self._deepened(subject, source)
        return Explained(subject, judging.judgement(subject, judging.judge(subject)))

    def status(
        self, patterns: Sequence[str] = (), *, parallel: int | None = None, on_table: OnTable | None = None
    ) -> Fleet:
        """Every table, or those of these names and globs, worst first."""
        at_once = parallel or (PARALLEL if self._lakehouse.settings.catalog.type == "sqlite" else PARALLEL_REMOTE)
        now = datetime.now(UTC)
        pointers, closed = catalogs.listed(self._lakehouse)
        chosen = _chosen(pointers, patterns)
        tables = [each for each in chosen if _is_table(each)]
        judged: list[tuple[Judgement, Sight]] = []
        for done, each in enumerate(self._judged(tables, at_once), 1):
            judged.append(each)
            if on_table is not None:
                on_table(done, len(tables))
        ranked = judging.rank_tables(judgement for judgement, _ in judged)
        sights = {str(judgement.table): sight for judgement, sight in judged}
        skipped = tuple((str(each.identifier), each.kind) for each in chosen if not _is_table(each))
        if not patterns:
            self._remember(Look(instants.to_millis(now), sights))
        unheard = None if self._unheard is None else str(self._unheard)
        return Fleet(now, ranked, sights, skipped, None if closed is None else str(closed), unheard)

    def since(self, fleet: Fleet, when: str) -> tuple[Look, tuple[looks.Change, ...]]:
        """What changed since an earlier look: the newest one at least that old, or the oldest there is."""
        millis = instants.to_millis(instants.parse_instant(when, fleet.at))
        kept = looks.earlier(self._memory, millis, but=instants.to_millis(fleet.at))
        if kept is None:
            raise BadInput(
                "No earlier look at the fleet is kept.",
                why="What changed is told by comparing two looks, and `firnline status` keeps one each time it runs.",
                next_step="Run `firnline status` now, and again with --since later.",
            )
        return kept, looks.changes(kept.sights, fleet.sights)

    def _judged(self, tables: Sequence[Pointer], parallel: int) -> Iterator[tuple[Judgement, Sight]]:
        _ = self._declarations, self._prices  # read once, before threads ask for them
        judge = partial(self._judge, past=self._past())
        if parallel <= 1 or len(tables) <= 1:
            yield from map(judge, tables)
            return
        with ThreadPoolExecutor(parallel) as pool:
            yield from pool.map(judge, tables)

    def _judge(self, pointer: Pointer, past: Ledger | None) -> tuple[Judgement, Sight]:
        try:
            subject = self._subject(pointer, self._lakehouse.facts.source(pointer), past)
            judgement = judging.judgement(subject, judging.judge(subject))
            return _short(judgement), looks.sight(judgement, subject.facts)
        except FirnlineError as error:
            why = error.what
        except Exception as error:  # noqa: BLE001 - a bug of ours, met on one odd table, must not hide all the others
            why = f"Unexpected: {type(error).__name__}: {error}. This is a defect of Firnline, met on this table."
        judgement = judging.unreadable(pointer.identifier, why)
        return judgement, looks.sight_of_unreadable(judgement)

    def _subject(self, pointer: Pointer, source: Source, past: Ledger | None) -> Subject:
        from firnline.facts.table import observe

        meta, declared = source.meta, self._declarations.get(pointer.identifier)
        policy = policies.resolve(self._lakehouse.settings, pointer.identifier, declared, meta.properties)
        facts = observe(pointer.identifier, source, sizes=policies.file_sizes(policy))
        now = instants.to_millis(datetime.now(UTC))
        runs = self._runs(meta.uuid, past)
        return subjects.of(facts, meta, now, policy, declared, runs=runs, prices=self._prices)

    def _deepened(self, subject: Subject, source: Source) -> Subject:
        from firnline.facts.reach import history

        return replace(
            subject,
            history=history(source.meta, source.manifests),
            storage=self._storage(subject, source),
            columns=_columns(subject, source),
        )

    def _storage(self, subject: Subject, source: Source) -> StorageFacts | None:
        from firnline.facts.references import references
        from firnline.facts.storage import look

        others = tuple(self._other_locations(subject.facts))
        return look(
            source.meta,
            references(source.meta, source.manifests),
            self._lakehouse.files,
            self._lakehouse.blobs,
            now_millis=subject.now_millis,
            young_ms=subject.policy.whole("young-file-age"),
            pages_max=LISTING_PAGES_MAX,
            others=others,
        )

    def _other_locations(self, facts: TableFacts) -> Iterator[str]:
        """Where the other tables of the catalog lie: a metadata file is two folders below its table's location."""
        for each in catalogs.listed(self._lakehouse)[0]:
            if each.metadata_location is not None and each.identifier != facts.identifier:
                yield each.metadata_location.rsplit("/", 2)[0]

    def _past(self) -> Ledger | None:
        """The ledger as it is now, for looking: once for all tables. None where there is none to read."""
        try:
            return self._lakehouse.state.looking()
        except FirnlineError as error:
            self._unheard = error
            return None

    def _runs(self, uuid: str | None, past: Ledger | None) -> RunFigures | None:
        if uuid is None or past is None or self._unheard is not None:
            return None
        try:
            events = past.table(f"{self._lakehouse.settings.catalog.name}/{uuid}", EVENTS_MAX)
        except FirnlineError as error:
            self._unheard = error
            return None
        return _run_figures(events, datetime.now(UTC))

    @cached_property
    def _memory(self) -> looks.Memory:
        from firnline.adapters.local.looks import LocalLooks

        return LocalLooks(str(self._lakehouse.root / ".lake" / "cache" / "looks"))

    def _remember(self, look: Look) -> None:
        self._memory.keep(look.millis, looks.to_json(look))


def _is_table(pointer: Pointer) -> bool:
    return pointer.kind == "table" and pointer.metadata_location is not None


def _short(judgement: Judgement) -> Judgement:
    """Without what nobody asked a fleet for: the rules that did not fire."""
    return replace(judgement, findings=tuple(each for each in judgement.findings if each.fired))


def _columns(subject: Subject, source: Source) -> tuple[ColumnFacts, ...]:
    from firnline.facts.columns import columns

    meta = subject.meta
    sorted_by = [one for field in meta.order.fields for one in field.source_ids]
    ids = subjects.column_ids(meta, subject.personal_ids)
    try:
        return columns(meta, source.manifests, ids, depth_of=sorted_by[0] if sorted_by else None)
    except FirnlineError:
        return ()  # the facts name the damage, and the rules about columns cannot tell


def _chosen(pointers: Sequence[Pointer], patterns: Sequence[str]) -> tuple[Pointer, ...]:
    if not patterns:
        return tuple(pointers)
    chosen: dict[Identifier, Pointer] = {}
    for pattern in patterns:
        found = [each for each in pointers if fnmatch.fnmatchcase(str(each.identifier), pattern)]
        if not found:
            known = [str(each.identifier) for each in pointers]
            raise BadInput(f"No table matches {pattern!r}.", next_step=did_you_mean(pattern, known) or None)
        chosen |= {each.identifier: each for each in found}
    return tuple(chosen.values())


def _run_figures(events: Sequence[Event], now: datetime) -> RunFigures:
    """Tries and lost races of our own commits, of late and as long before."""
    late, before = now - CONFLICT_SPAN, now - 2 * CONFLICT_SPAN
    tries = [(event.at, int(event.body.get("tries", 0))) for event in events if event.kind is EventKind.OUTCOME]
    recent = [count for at, count in tries if at >= late and count > 0]
    earlier = [count for at, count in tries if before <= at < late and count > 0]
    return RunFigures(
        tries=sum(recent),
        conflicts=sum(count - 1 for count in recent),
        tries_before=sum(earlier),
        conflicts_before=sum(count - 1 for count in earlier),
    )
