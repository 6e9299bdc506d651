"""Writes docs/rules from the rules: a page for each with its example executed, and an index."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from firnline.config import amounts, policies, prices
from firnline.config.amounts import Unit
from firnline.judge import hurtful, judging, ranges
from firnline.judge.rulebook import ALL
from firnline.judge.values import Cost, Finding, Measure, Rule

FOLDER = Path(__file__).parents[1] / "docs" / "rules"
WIDTH = 130
_MADE = "<!-- Made by `make docs` from the code: edit it there. -->"
_INSTEAD = {
    Unit.COUNT: "500",
    Unit.BYTES: "2GiB",
    Unit.DURATION: "14d",
    Unit.SHARE: "0.5",
    Unit.TIMES: "8",
    Unit.MONEY: "5",
}


def pages() -> dict[str, str]:
    """Every file of docs/rules, by its name."""
    return {"index.md": _page(_index()), **{f"{rule.id}.md": _page(_rule(rule)) for rule in ALL}}


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _page(lines: Iterator[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _index() -> Iterator[str]:
    yield from ("# Rules", "", _MADE, "")
    yield from _wrapped(
        "Each rule looks at one thing that can be wrong with a table. It fires, or does not, or says why it cannot "
        "tell; its numbers are there in any case, beside the thresholds they are held against. A rule looks at the "
        "table as it is and remembers nothing. What would come and go by itself needs a number *and* a share to fire, "
        "or stands well clear of the swing, and mending takes the number to nothing rather than to just below the "
        "threshold."
    )
    yield from ("", "| rule | what it is about | mended by |", "|---|---|---|")
    for rule in ALL:
        yield f"| [{rule.id}]({rule.id}.md) | {rule.title} | {rule.work.value} |"
    yield from ("", "## Health", "", "A table is as well as the worst rule that fires says:", "")
    yield from (f"- **{name}**: {words}" for name, words in _HEALTH)
    yield from ("", "## Keys for the whole table", "")
    yield from _keys([(key.name, key) for key in policies.TABLE_KEYS])
    yield from ("", "## Costs", "")
    default = prices.DEFAULT
    yield from _wrapped(
        "Findings are ranked by what waiting costs in a day against what acting costs once. Both are estimates, from "
        f"prices ({default.origin} as of {default.as_of}, unless the project has a `prices.yaml`), from "
        "`reads-per-day` and `read-share`, and from rates that are learnt from our own runs once there are three."
    )


_HEALTH = (
    ("healthy", "no rule fires."),
    ("watch", "nothing to mend now, and something to know before it grows."),
    ("untidy", "mending would help; leaving it costs less than `costly-from` a day."),
    ("costly", "leaving it costs that much or more."),
    ("risky", "the next expiry, the next clean-up or a look into metadata can do harm that nothing undoes."),
    ("broken", "wrong or unreadable now, for a declared reader or at some snapshot."),
    ("unreadable", "we could not read all of it, so nothing else that is said of it is the whole truth."),
)


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.title}", "", _MADE, "", f"`{rule.id}`", "", *_wrapped(rule.what))
    yield from ("", "## Why it hurts", "", *_wrapped(rule.why))
    if rule.id == "properties":
        yield from ("", "## The list", "", *_settings())
    yield from ("", "## Thresholds", "")
    if rule.thresholds:
        yield from _keys([(policies.full_name(rule.id, key), key) for key in rule.thresholds])
    else:
        yield "None: one is too many."
    yield from _example(rule)
    yield from ("", "## What to do", "", *_wrapped(rule.remedy))
    yield from ("", "## Change it, or switch it off", "", *_policy(rule))


def _keys(keys: list[tuple[str, policies.PolicyKey]]) -> Iterator[str]:
    yield from ("| key | default | unit | meaning |", "|---|---|---|---|")
    for name, key in keys:
        yield f"| `{name}` | {key.default} | {key.unit.value} | {key.doc} |"


def _settings() -> Iterator[str]:
    yield from ("| property | hurts when it is | instead |", "|---|---|---|")
    for row in hurtful.ROWS:
        yield f"| `{row.property}` | {row.when} | {'leave it out' if row.instead is None else f'`{row.instead}`'} |"


def _example(rule: Rule) -> Iterator[str]:
    (finding,) = judging.judge(rule.example(), (rule,))
    yield from ("", "## An example", "", f"> {finding.sentence}", "")
    yield from ("| number | is | fires | |", "|---|---|---|---|")
    yield from (_measure(measure) for measure in finding.measures)
    yield from ("", f"The table is then **{finding.health.value}**.{_costs(finding)}")
    if finding.next_step is not None:
        yield from ("", "The next step that is shown:", "", f"    {finding.next_step}")


def _measure(measure: Measure) -> str:
    value = ranges.show(measure.value, measure.unit)
    if measure.threshold is None:
        return f"| {measure.name} | {value} | | |"
    fires = f"{'from' if measure.above else 'below'} {amounts.show(measure.threshold, measure.unit)}"
    key = f"`{measure.key}`" if measure.key is not None else ""
    return f"| {measure.name} | {value} | {fires}{' ✓' if measure.past else ''} | {key} |"


def _costs(finding: Finding) -> str:
    parts = [
        f" {when} {_cost(cost)}."
        for when, cost in (("Waiting costs, per day:", finding.waiting), ("Mending it costs, once:", finding.acting))
        if cost != Cost()
    ]
    return "".join(parts)


def _cost(cost: Cost) -> str:
    parts = (
        amounts.show(cost.bytes, Unit.BYTES) if cost.bytes else "",
        f"{amounts.show(round(cost.core_seconds), Unit.COUNT)} core-seconds" if cost.core_seconds >= 1 else "",
        f"{amounts.show(cost.requests, Unit.COUNT)} requests" if cost.requests else "",
        f"{prices.DEFAULT.currency} {amounts.show(cost.money, Unit.MONEY)}",
    )
    return ", ".join(part for part in parts if part)


def _policy(rule: Rule) -> Iterator[str]:
    yield "Under `policy:` in lakehouse.yaml, in one of its namespaces, or in a table's file; the last of them counts."
    yield from ("", "```yaml", "policy:")
    for key in rule.thresholds:
        yield f"  {policies.full_name(rule.id, key)}: {_INSTEAD[key.unit]}"
    yield from (f"  {rule.id}: off  # not at all", "```")


def main() -> None:
    """Write every page, and remove those of rules that are no more."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/rules/{name}")


if __name__ == "__main__":
    main()
