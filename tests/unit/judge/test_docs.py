"""The pages about rules are what the rules say."""

from __future__ import annotations

import pytest

from firnline.config.policies import AMOUNTS, full_name
from firnline.judge.rulebook import ALL
from firnline.judge.values import Health, Rule
from tools import rules_docs

PAGES = rules_docs.pages()


@pytest.mark.parametrize(("name", "text"), PAGES.items())
def test_a_generated_page_is_up_to_date(name: str, text: str) -> None:
    """Each page under docs/rules is what `make docs` would write now."""
    assert (rules_docs.FOLDER / name).read_text(encoding="utf-8") == text, "run `make docs`"


def test_nothing_else_stands_among_the_rules() -> None:
    """No page outlives its rule."""
    assert {path.name for path in rules_docs.FOLDER.iterdir()} == set(PAGES)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_page_tells_all_of_a_rule(rule: Rule) -> None:
    """A page names every threshold with its default, shows the example, and how to switch the rule off."""
    text = PAGES[f"{rule.id}.md"]
    for key in rule.thresholds:
        assert f"| `{full_name(rule.id, key)}` | {key.default} | {key.unit} | {key.doc} |" in text
    assert f"{rule.id}: off" in text
    assert " ✓" in text


def test_the_index_leads_to_every_rule_and_names_every_health() -> None:
    """The index has a line per rule, the words of health in order, and the keys of the whole table."""
    text = PAGES["index.md"]
    assert [line.split("](")[0][3:] for line in text.splitlines() if line.startswith("| [")] == [
        rule.id for rule in ALL
    ]
    assert [text.index(f"- **{health}**") for health in Health] == sorted(
        text.index(f"- **{health}**") for health in Health
    )
    assert all(f"`{name}`" in text for name in AMOUNTS if "." not in name)
