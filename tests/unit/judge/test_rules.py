"""The list of rules, what each brings with it, and that tables in good order are left in peace."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.config.policies import AMOUNTS, RULES, full_name
from firnline.core.figures import exactly
from firnline.facts.values import DeleteKind, ManifestFacts, Rhythm, SnapshotFacts
from firnline.judge import examples, judging, rules
from firnline.judge.rulebook import ALL
from firnline.judge.values import Finding, Health, Rule, Subject
from tests.decisions.rule_case import DAY, MIB, files

FOLDER = Path(rules.__file__).parent
# The age is what `snapshots.overdue` counts by; the other belongs to tables of format 1.
NOT_IN_EXAMPLES = {"snapshots.age", "format-upgrade.rewrites"}
PARTS = st.tuples(st.integers(0, 4000), st.integers(0, 4000), st.integers(1, 383))


def test_every_file_is_listed() -> None:
    """Each file under rules holds one rule that is in the list, by the name of the file."""
    stems = {path.stem.replace("_", "-") for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert stems == {rule.id for rule in ALL}


def test_ids_are_unique_and_in_kebab_case() -> None:
    """A rule's id is a name that a policy can hold, and no two are the same."""
    ids = [rule.id for rule in ALL]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", each) for each in ids)


def test_the_grammar_of_policies_knows_the_same_rules_in_the_same_order() -> None:
    """What a policy may name is what is judged."""
    assert tuple(RULES) == tuple(rule.id for rule in ALL)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_every_threshold_is_explained_and_held_against_something(rule: Rule) -> None:
    """Each threshold of a rule is named in its words, and measured in its example or against the healthy table."""
    seen = {measure.key for subject in (rule.example(), examples.subject()) for measure in rule.look(subject).measures}
    for key in rule.thresholds:
        name = full_name(rule.id, key)
        assert f"`{name}`" in rule.what
        assert name in seen | NOT_IN_EXAMPLES, name
        assert key.doc.endswith(".")


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_every_example_fires(rule: Rule) -> None:
    """A rule's own example fires, says what to do next, and names only policy keys there are."""
    (finding,) = judging.judge(rule.example(), (rule,))
    assert finding.fired
    assert finding.next_step
    assert finding.health is not Health.HEALTHY
    assert {measure.key for measure in finding.measures} - {None} <= set(AMOUNTS)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_rule_that_is_switched_off_never_fires(rule: Rule) -> None:
    """`off` in the policy keeps a rule from firing; its numbers are still there, and so is who switched it off."""
    subject = rule.example()
    switch = replace(subject.policy.values[rule.id], value=False, origin="tables/t.yaml:9")
    policy = replace(subject.policy, values={**subject.policy.values, rule.id: switch})
    (finding,) = judging.judge(replace(subject, policy=policy), (rule,))
    assert (finding.fired, finding.health, finding.off) == (False, Health.HEALTHY, "tables/t.yaml:9")
    assert finding.measures


def _fired(subject: Subject) -> list[str]:
    return [finding.rule for finding in judging.judge(subject) if finding.fired]


def _tiny() -> Subject:
    """Three files, each written by hand, with a delete on one of them."""
    return examples.subject(
        of=examples.meta(examples.snapshots(3, DAY)),
        on=examples.facts(
            data=examples.data(3, small=3, removable=2, rows=exactly(40)),
            deletes={DeleteKind.POSITION_FILE: examples.deletes(1, 2)},
            touched=exactly(1),
            partition_count=1,
            partitions=(),
            manifests=ManifestFacts(data=3, small=3, bytes=exactly(20_000), target_bytes=8 * MIB, fanout=exactly(3)),
        ),
    )


def _stream() -> Subject:
    """A commit every minute, merged and expired as it should be: manifests swing, history is five days long."""
    kept = examples.snapshots(7_190, 60_000)
    return examples.subject(
        of=examples.meta(kept),
        on=examples.facts(
            data=examples.data(20_000, small=90, removable=85),
            snapshots=SnapshotFacts(count=7_190, rhythm=Rhythm(50, examples.NOW, 60_000)),
            manifests=replace(
                examples.facts().manifests, data=130, small=110, fanout=exactly(101), bytes=exactly(90 * MIB)
            ),
        ),
    )


def _large() -> Subject:
    """A million files, with the usual crumbs."""
    return examples.subject(
        on=examples.facts(
            data=examples.data(1_000_000, small=9_000, removable=5_000),
            deletes={DeleteKind.VECTOR: examples.deletes(900, 40_000)},
            touched=exactly(900),
            partition_count=4_000,
            partition_rows_most=900_000_000,
            partition_rows_median=250_000_000,
        )
    )


@pytest.mark.parametrize("made", [examples.subject, _tiny, _stream, _large])
def test_a_table_in_good_order_is_left_in_peace(made: Callable[[], Subject]) -> None:
    """Nothing fires on a table that is small, busy or huge and otherwise well kept."""
    assert _fired(made()) == []


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_looking_twice_says_the_same(rule: Rule) -> None:
    """A finding is a function of the facts: no clock, no memory."""
    subject = rule.example()
    assert judging.judge(subject) == judging.judge(subject)


def test_a_finding_is_known_again() -> None:
    """The id of a finding is that of its rule and table, whatever the numbers are and however the table is called."""
    first, second = (judging.judge(subject)[9] for subject in (files(500, 100, 100), files(900, 500, 400)))
    renamed = replace(examples.facts(), identifier=examples.Identifier(("shop",), "orders_2"))
    assert first.id == second.id == judging.finding_id("small-files", renamed)
    assert first.id != judging.finding_id("small-files", replace(renamed, uuid=examples.TableUuid("other")))


@settings(deadline=None)
@given(PARTS, st.integers(1, 500), st.integers(1, 383))
def test_adding_small_files_never_makes_it_better(part: tuple[int, int, int], more: int, size: int) -> None:
    """Whatever a partition is like, more small files in it never switch `small-files` off."""
    good, small, mebibytes = part

    def subject(number: int, stored: int) -> Subject:
        removable = max(0, number - max(1, -(-stored // (512 * MIB))))
        return files(good + number, number, removable)

    before = "small-files" in _small(subject(small, small * mebibytes * MIB))
    after = "small-files" in _small(subject(small + more, (small * mebibytes + more * size) * MIB))
    assert after or not before


def _small(subject: Subject) -> list[str]:
    (rule,) = (rule for rule in ALL if rule.id == "small-files")
    return [finding.rule for finding in judging.judge(subject, (rule,)) if finding.fired]


def test_a_finding_is_plain_values() -> None:
    """Findings turn into dictionaries of plain values: what JSON can hold."""
    finding = judging.judge(ALL[9].example(), (ALL[9],))[0]
    assert isinstance(finding, Finding)
    told = dataclasses.asdict(finding)
    assert told["measures"][0]["value"] == {"low": 885, "high": 885}
