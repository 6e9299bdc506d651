"""What is said to be typed next can be typed."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from firnline.core.ids import Identifier, SnapshotId
from firnline.judge import examples, judging, remedies
from firnline.judge.rulebook import ALL
from firnline.judge.values import Consumer, Rule, Subject

ODD = Identifier(("shop", "odd.ns"), "or\"ders'")


def _named(identifier: Identifier) -> Subject:
    return examples.subject(on=examples.facts(identifier=identifier))


def test_a_call_is_one_statement() -> None:
    """A procedure is one argument to `firnline sql`, with the table's name as SQL text."""
    words = shlex.split(remedies.compact(examples.subject()))
    assert words[:2] == ["firnline", "sql"]
    call = 'CALL system.rewrite_data_files(table => "shop.orders", options => '
    assert words[2:] == [call + 'map("use-starting-sequence-number", "false"))']


def test_odd_names_stay_one_argument() -> None:
    """Quotes and backticks in a name end neither the statement nor the command."""
    (_, _, statement) = shlex.split(remedies.fold(_named(ODD)))
    assert r'table => "shop.`odd.ns`.or\"ders' in statement
    assert statement.endswith(")")


def test_rewriting_never_starts_from_an_old_sequence_number() -> None:
    """Every rewrite of data files that is proposed carries the option without which deleted rows may come back."""
    said = [judging.judge(rule.example(), (rule,))[0].next_step or "" for rule in ALL]
    rewriting = [step for step in said if "rewrite_data_files" in step]
    assert len(rewriting) > 5
    assert all('"use-starting-sequence-number", "false"' in step for step in rewriting)


@pytest.mark.parametrize(
    ("consumer", "waits"),
    [
        (Consumer("feed", None, SnapshotId(1)), True),
        (Consumer("feed"), True),
        (Consumer("feed", None, SnapshotId(30)), False),
    ],
)
def test_an_expiry_that_would_cut_off_a_consumer_says_so(consumer: Consumer, waits: bool) -> None:
    """The proposed procedure knows no consumers: one that needs what it would take, or may, is named."""
    subject = examples.subject(of=examples.meta(examples.snapshots(30)), consumers=(consumer,))
    assert remedies.expire(subject).endswith(", once feed can do without") is waits


def test_an_undeclared_table_is_declared_first() -> None:
    """A change of properties goes into the table's file, and where there is none, that comes first."""
    subject = examples.subject()
    wanted = {"a": "b", "c": None}
    assert remedies.properties(subject, wanted) == (
        "Write `properties: {a: b, c: null}` in tables/shop/orders.yaml; `firnline plan` shows the change."
    )
    assert remedies.properties(replace(subject, file=None), wanted) == (
        "`firnline tables adopt shop.orders` writes its file; write `properties: {a: b, c: null}` there."
    )


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_every_step_names_the_table_or_its_file(rule: Rule) -> None:
    """What is to be done next says where, or is about no single place."""
    (finding,) = judging.judge(rule.example(), (rule,))
    step = finding.next_step or ""
    somewhere = {"foreign-owner", "other-maintainer", "conflicts"}
    assert "shop.orders" in step or "tables/shop/orders.yaml" in step or rule.id in somewhere
