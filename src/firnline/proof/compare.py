"""Who is asked for which columns, and what follows from the answers. Pure: a verdict is a function of what was seen.

The majority is right: of three readers, one that differs from two is the odd one. Where there is no majority, two
readers that differ for example, nobody can say who is right, and all of them disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from firnline.core.ids import SnapshotId
from firnline.core.types import Field, Struct
from firnline.proof.values import (
    Answer,
    CannotRead,
    ColumnTally,
    Difference,
    FailedReading,
    NotInstalled,
    ReaderName,
    ReaderReport,
    ReadRequest,
    Sum,
    Tally,
    Verdict,
    Verification,
)

_Seen = dict[ReaderName, Hashable]
FILES_NAMED_MAX = 20


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified: one snapshot (None: the current one) of one metadata file, with its schema."""

    table: str
    metadata_location: str
    snapshot: SnapshotId | None
    schema_id: int
    schema: Struct


@dataclass(frozen=True, slots=True)
class Asked:
    """What one reader is asked, and the columns it is not asked for: name → why."""

    request: ReadRequest
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of asking one reader."""

    answer: Answer
    left_out: Mapping[str, str]
    seconds: float


def ask(subject: Subject, cannot: Mapping[ReaderName, Callable[[Field], str | None]]) -> Mapping[ReaderName, Asked]:
    """What each of these readers is asked: every column it can read, and which of them all can."""
    reasons = {
        name: {field.id: why for field in subject.schema.fields if (why := refuses(field))}
        for name, refuses in cannot.items()
    }
    shared = frozenset(
        field.id
        for field in subject.schema.fields
        if field.id is not None and not any(field.id in refused for refused in reasons.values())
    )
    return {name: _asked(subject, refused, shared) for name, refused in reasons.items()}


def _asked(subject: Subject, refused: Mapping[int | None, str], shared: frozenset[int]) -> Asked:
    fields = subject.schema.fields
    request = ReadRequest(
        metadata_location=subject.metadata_location,
        snapshot=subject.snapshot,
        schema=subject.schema,
        fields=Struct(tuple(field for field in fields if field.id not in refused)),
        shared=shared,
    )
    return Asked(request, {field.name: refused[field.id] for field in fields if field.id in refused})


def conclude(
    subject: Subject, readings: Mapping[ReaderName, Reading], *, files: Sequence[str] = (), counted: int | None = None
) -> Verification:
    """The verdict on the whole and on each reader."""
    columns = {field.id: field.name for field in subject.schema.fields if field.id is not None}
    tallies = {name: one.answer for name, one in readings.items() if isinstance(one.answer, Tally)}
    miscounted = {name: seen.rows for name, seen in tallies.items() if counted is not None and seen.rows != counted}
    odd = frozenset(name for seen in _compared(tallies) for name in _odd(seen))
    reports = tuple(_report(name, one, odd, compared=len(tallies) > 1) for name, one in readings.items())
    unproven = tuple(name for key, name in columns.items() if sum(key in seen.columns for seen in tallies.values()) < 2)
    problems = (*_named(files), *(_miscount(name, rows, counted) for name, rows in miscounted.items()))
    return Verification(
        table=subject.table,
        metadata_location=subject.metadata_location,
        snapshot=subject.snapshot,
        schema_id=subject.schema_id,
        columns=columns,
        verdict=_verdict(reports, problems, proven=len(tallies) > 1 and len(unproven) < max(len(columns), 1)),
        readers=reports,
        differences=tuple(_differences(tallies, columns)),
        unproven=unproven,
        files=problems,
        counted=counted,
    )


def _named(files: Sequence[str]) -> tuple[str, ...]:
    more = len(files) - FILES_NAMED_MAX
    return (*files[:FILES_NAMED_MAX], *((f"and {more:,} more",) if more > 0 else ()))


def _miscount(name: ReaderName, rows: int, counted: int | None) -> str:
    return f"{name} read {rows:,} rows where the manifests count {counted:,}"


def _verdict(reports: Sequence[ReaderReport], problems: Sequence[str], *, proven: bool) -> Verdict:
    verdicts = {report.verdict for report in reports}
    if problems or Verdict.FAILED in verdicts:
        return Verdict.FAILED
    if Verdict.DISAGREES in verdicts:
        return Verdict.DISAGREES
    return Verdict.AGREES if proven else Verdict.UNPROVEN


def _report(name: ReaderName, one: Reading, odd: frozenset[ReaderName], *, compared: bool) -> ReaderReport:
    report = ReaderReport(name, Verdict.UNPROVEN, left_out=one.left_out, seconds=one.seconds)
    match one.answer:
        case Tally():
            if compared:
                report = replace(report, verdict=Verdict.DISAGREES if name in odd else Verdict.AGREES)
            return replace(report, tally=one.answer)
        case CannotRead(reason):
            return replace(report, verdict=Verdict.CANNOT_READ, reason=reason, left_out={})
        case FailedReading(reason):
            return replace(report, verdict=Verdict.FAILED, reason=reason)
        case NotInstalled(reason):
            return replace(report, verdict=Verdict.MISSING, reason=reason, left_out={})


def _compared(tallies: Mapping[ReaderName, Tally]) -> Iterator[_Seen]:
    """Every single thing that readers can be compared in, with what each of them saw."""
    yield {name: seen.rows for name, seen in tallies.items()}
    yield {name: seen.shared for name, seen in tallies.items()}
    for columns in {frozenset(seen.columns) for seen in tallies.values()}:
        yield {name: seen.whole for name, seen in tallies.items() if frozenset(seen.columns) == columns}
    for key in {key: None for seen in tallies.values() for key in seen.columns}:
        yield {name: seen.columns[key] for name, seen in tallies.items() if key in seen.columns}


def _odd(seen: Mapping[ReaderName, Hashable]) -> frozenset[ReaderName]:
    """Whoever is outside the majority; everybody, where there is none."""
    counts = Counter(seen.values())
    if len(counts) < 2:
        return frozenset()
    value, votes = counts.most_common(1)[0]
    majority = 2 * votes > len(seen)
    return frozenset(name for name, one in seen.items() if not majority or one != value)


def _differences(tallies: Mapping[ReaderName, Tally], columns: Mapping[int, str]) -> Iterator[Difference]:
    rows: _Seen = {name: seen.rows for name, seen in tallies.items()}
    if len(set(rows.values())) > 1:
        yield Difference("rows", None, _shown(rows))
    for key, column in columns.items():
        found = {name: seen.columns[key] for name, seen in tallies.items() if key in seen.columns}
        yield from _in_column(column, found, rows)
    if _mispaired(tallies):
        yield Difference("pairing", None, _shown({name: seen.shared for name, seen in tallies.items()}))


def _mispaired(tallies: Mapping[ReaderName, Tally]) -> bool:
    """Whether readers saw the same values in every column, and put them into other rows."""
    common = frozenset.intersection(*(frozenset(seen.columns) for seen in tallies.values())) if tallies else frozenset()
    shared: _Seen = {name: seen.shared for name, seen in tallies.items()}
    whole: _Seen = {name: seen.whole for name, seen in tallies.items()}
    alike: _Seen = {name: _content(seen, common) for name, seen in tallies.items()}
    alike_whole: _Seen = {name: _content(seen, frozenset(seen.columns)) for name, seen in tallies.items()}
    return _differ_within(alike, shared) or _differ_within(alike_whole, whole)


def _content(seen: Tally, columns: frozenset[int]) -> Hashable:
    return seen.rows, tuple((key, seen.columns[key]) for key in sorted(columns))


def _in_column(column: str, found: Mapping[ReaderName, ColumnTally], rows: _Seen) -> Iterator[Difference]:
    nulls: _Seen = {name: one.nulls for name, one in found.items()}
    nans: _Seen = {name: one.nans for name, one in found.items()}
    sums: dict[ReaderName, Sum] = {name: one.sum for name, one in found.items()}
    if _differ_within(rows, nulls):
        yield Difference("nulls", column, _shown(nulls))
    if _differ_within(rows, nans):
        yield Difference("nans", column, _shown(nans))
    if _differ_within({name: (rows[name], nulls[name], nans[name]) for name in found}, sums):
        yield Difference("values", column, _shown(sums))


def _differ_within(alike: Mapping[ReaderName, Hashable], seen: Mapping[ReaderName, Hashable]) -> bool:
    """Whether two readers that are alike in the one saw something else in the other."""
    return len({(alike[name], one) for name, one in seen.items()}) > len({alike[name] for name in seen})


def _shown(seen: Mapping[ReaderName, Hashable]) -> Mapping[ReaderName, str]:
    return {name: str(one) for name, one in seen.items()}
