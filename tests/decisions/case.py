"""The words in which the table of changes is written: a file, a table, and what has to come of the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from firnline.config.values import Declaration, NamespaceSettings
from firnline.facts.meta import TableMeta
from firnline.tables import plan as planning
from firnline.tables.difference import Difference, compare
from firnline.tables.plan import Known, Planned, Setting
from firnline.tables.values import NOTHING, Change, ChangeClass, ChangeKind, Evidence, Price, SpecFacts
from tests.decisions import drafts

META = (ChangeClass.METADATA_ONLY,)
DEBT = (ChangeClass.METADATA_ONLY, ChangeClass.LAYOUT_DEBT)
REWRITE = (ChangeClass.NEEDS_REWRITE,)
RENAME = (ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_READERS)
DROP = (ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_READERS, ChangeClass.BREAKS_TIME_TRAVEL)
REQUIRE = (ChangeClass.METADATA_ONLY, ChangeClass.BREAKS_TIME_TRAVEL)
ONE_WAY = (ChangeClass.METADATA_ONLY, ChangeClass.ONE_WAY)

FULL = Evidence({0: SpecFacts(12, 3000, 4096)})
ALL = Price(12, 3000, 4096)  # what FULL adds up to
EMPTY = Evidence()
UNCOUNTED = Evidence({0: SpecFacts(None, None)})
FORMATS = (1, 2, 3)


class Result(StrEnum):
    """What becomes of a change."""

    PLANNED = "planned"
    ACCEPTED = "planned, accepted"
    ACCEPTABLE = "refused until accepted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Expected:
    """One change that has to come out. `says` must stand in its reason or, of one that is planned, in its detail."""

    kind: ChangeKind
    subject: str
    result: Result = Result.PLANNED
    classes: tuple[ChangeClass, ...] = META
    price: Price = NOTHING
    says: str = ""
    readers: tuple[str, ...] = ()
    recipe: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """What the file says, what the table is, and every change that comes of it, in order."""

    words: str
    after: Declaration
    expect: tuple[Expected, ...] = ()
    before: TableMeta | None = None
    kind: str | None = "table"  # what the catalog has under this name
    evidence: Evidence = FULL
    note: str = ""  # words that must stand in a note of the report
    namespaces: Mapping[tuple[str, ...], Mapping[str, str]] = field(default_factory=lambda: {("shop",): {}})
    declared: tuple[NamespaceSettings, ...] = ()


def case(
    words: str,
    before: Declaration | TableMeta,
    after: Declaration,
    *expect: Expected,
    formats: tuple[int, ...] = (),
    evidence: Evidence = FULL,
    note: str = "",
) -> tuple[Case, ...]:
    """A case of a table that is there; with formats, one for each."""
    if isinstance(before, TableMeta):
        return (Case(words, after, expect, before, evidence=evidence, note=note),)
    found = []
    for version in formats or (before.format_version or 2,):
        made = drafts.table(replace(before, format_version=version))
        title = f"{words} (format {version})" if formats and formats != FORMATS else words
        found.append(Case(title, after, expect, made, evidence=evidence, note=note))
    return tuple(found)


def difference(of: Case) -> Difference:
    """What the comparison makes of a case of a table that is there."""
    assert of.before is not None
    return compare(of.after, of.before, of.evidence)


def planned(of: Case) -> Planned:
    """What planning makes of a case."""
    known = {of.after.identifier: Known(of.before, of.kind, of.evidence)}
    setting = Setting("lake", "file:///w", lambda: UUID(int=7 << 100), of.namespaces, of.declared)
    return planning.plan([of.after], known, setting)


def result(change: Change) -> Result:
    """What becomes of this change."""
    if change.refusal is None:
        # A drop of a table is declared with its reason from the start: nothing is refused before.
        return Result.ACCEPTED if change.accepted else Result.PLANNED
    if change.accepted:
        return Result.ACCEPTED
    return Result.ACCEPTABLE if change.refusal.acceptable else Result.REFUSED
