"""Rules held against a subject, what they come to for the table, and what to do first in a fleet. Pure.

The cost of judging one table is that of its facts' partitions and snapshots; ranking sorts, cutting walks once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from firnline.config import amounts
from firnline.config.amounts import Unit
from firnline.core.ids import Identifier, TableUuid
from firnline.facts.values import TableFacts
from firnline.judge.rulebook import ALL
from firnline.judge.values import NO_COST, Cost, Finding, Health, Rule, Subject, Work


@dataclass(frozen=True, slots=True)
class Judgement:
    """A table as a whole: what its findings cost in a day, and what mending them costs once.

    Both are estimates from above: two rules may count the same byte, and mending one thing may mend another.
    """

    table: Identifier
    uuid: TableUuid | None
    health: Health
    reason: str
    findings: tuple[Finding, ...]
    waiting: Cost
    acting: Cost


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent: money, core-seconds, or both. None: no limit."""

    money: float | None = None
    core_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a budget does not reach, and why."""

    judgement: Judgement
    why: str


@dataclass(frozen=True, slots=True)
class Cut:
    """What a budget reaches, in the order it is to be done, and what it does not."""

    taken: tuple[Judgement, ...]
    left_out: tuple[LeftOut, ...]
    spent: Cost


def judge(subject: Subject, rules: Sequence[Rule] = ALL) -> tuple[Finding, ...]:
    """One finding for each rule, in the order of the rules: whether it fired or not, with its numbers."""
    return tuple(_finding(subject, rule) for rule in rules)


def _finding(subject: Subject, rule: Rule) -> Finding:
    reading = rule.look(subject)
    off = subject.policy.off(rule.id)
    fired = False if off is not None else reading.fired
    return Finding(
        id=finding_id(rule.id, subject.facts),
        rule=rule.id,
        table=subject.facts.identifier,
        uuid=subject.facts.uuid,
        work=rule.work,
        fired=fired,
        health=reading.health if fired else Health.HEALTHY,
        sentence=reading.sentence if off is None else f"Switched off by {off}. {reading.sentence}",
        measures=reading.measures,
        partitions=reading.partitions,
        waiting=reading.waiting if fired else NO_COST,
        acting=reading.acting if fired else NO_COST,
        when=reading.when if off is None and fired is False else None,
        next_step=reading.next_step if fired else None,
        off=off,
    )


def finding_id(rule: str, facts: TableFacts) -> str:
    """`small-files@UUID`: the same for the same rule and table, whatever its name. Old tables may lack a uuid."""
    return f"{rule}@{facts.uuid or facts.identifier}"


def health(findings: Iterable[Finding]) -> Health:
    """The worst of what fired."""
    fired = [finding.health for finding in findings if finding.fired]
    return max(fired, key=lambda each: each.rank, default=Health.HEALTHY)


def reason(findings: Iterable[Finding]) -> str:
    """One line: what the worst finding says, or that there is none and how much of that nobody looked at."""
    found = tuple(findings)
    ranked = rank(found)
    if ranked:
        more = len(ranked) - 1
        return f"{ranked[0].sentence}{f' ({more} more)' if more else ''}"
    untold = sum(finding.fired is None for finding in found)
    return (
        f"Nothing is wrong as far as {len(found) - untold} of {len(found)} rules could tell."
        if untold
        else "Nothing is wrong."
    )


def judgement(subject: Subject, findings: tuple[Finding, ...]) -> Judgement:
    """The table as a whole."""
    fired = [finding for finding in findings if finding.fired]
    return Judgement(
        table=subject.facts.identifier,
        uuid=subject.facts.uuid,
        health=health(findings),
        reason=reason(findings),
        findings=findings,
        waiting=sum((finding.waiting for finding in fired), NO_COST),
        acting=sum((_dearest(fired, work) for work in Work), NO_COST),
    )


def unreadable(table: Identifier, why: str) -> Judgement:
    """A table of which there are no facts, because its metadata could not be read."""
    return Judgement(table, None, Health.UNREADABLE, why, (), NO_COST, NO_COST)


def _dearest(fired: Iterable[Finding], work: Work) -> Cost:
    """One piece of work mends all that asks for it: it costs what the largest asks, not the sum."""
    return max((each.acting for each in fired if each.work is work), key=lambda cost: cost.money, default=NO_COST)


def worth(waiting: Cost, acting: Cost) -> float:
    """How much of its price mending earns back in a day; endless when it is free and waiting is not."""
    if acting.money > 0:
        return waiting.money / acting.money
    return math.inf if waiting.money > 0 else 0.0


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What fired, worst first: by health, then by what mending earns back, then by name. A total order."""
    fired = [finding for finding in findings if finding.fired]
    return tuple(sorted(fired, key=lambda each: (*_place(each), str(each.table), each.rule, each.id)))


def rank_tables(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Every table, worst first, in the same order."""
    return tuple(sorted(judgements, key=lambda each: (*_place(each), str(each.table), each.uuid or "")))


def _place(of: Finding | Judgement) -> tuple[float, ...]:
    return (-of.health.rank, -worth(of.waiting, of.acting), -of.waiting.money)


def cut(ranked: Iterable[Judgement], budget: Budget) -> Cut:
    """As much as the budget reaches, from the top: what does not fit is left out, and smaller work below may still fit.

    Tables on which no work would be done are in neither half.
    """
    taken: list[Judgement] = []
    left_out: list[LeftOut] = []
    spent = NO_COST
    for each in ranked:
        if each.acting == NO_COST:
            continue
        why = _too_much(spent, each.acting, budget)
        if why is None:
            taken.append(each)
            spent += each.acting
        else:
            left_out.append(LeftOut(each, why))
    return Cut(tuple(taken), tuple(left_out), spent)


def _too_much(spent: Cost, own: Cost, budget: Budget) -> str | None:
    total = spent + own
    if budget.money is not None and total.money > budget.money:
        left = budget.money - spent.money
        return f"It costs {amounts.show(own.money, Unit.MONEY)}, and {left:,.2f} of {budget.money:,.2f} is left."
    if budget.core_seconds is not None and total.core_seconds > budget.core_seconds:
        left = budget.core_seconds - spent.core_seconds
        return f"It takes {own.core_seconds:,.0f} core-seconds, and {left:,.0f} of {budget.core_seconds:,.0f} are left."
    return None
