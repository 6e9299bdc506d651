"""Who commits what, and when a JVM is started for it."""

from __future__ import annotations

from typing import Any

import pytest

from firnline.adapters import outcomes
from firnline.adapters.iceberg import staging
from firnline.adapters.requests import ROUND_TRIP, Unfit
from firnline.adapters.routing import RoutedCommits
from firnline.core.errors import Failed
from firnline.loop.commits import CommitRequest
from firnline.loop.values import Outcome, OutcomeKind
from tests.committing import ID, NAME, ORDERS, changing, creating, properties, requiring, with_fields


class Recorder:
    """Both committers: says who was asked what."""

    def __init__(self, version: int | None, light: Outcome) -> None:
        self.version, self.light_says = version, light
        self.asked: list[str] = []

    def format_version(self, _: object) -> int | None:
        return self.version

    def can_commit(self, version: int | None, request: CommitRequest) -> bool:
        return staging.why_not(version, request) is None

    def commit(self, *_: object) -> Outcome:
        self.asked.append("light")
        return self.light_says

    def drop(self, *_: object, purge: bool) -> Outcome:
        self.asked.append(f"drop {purge}")
        return outcomes.done(None)

    def rename(self, *_: object) -> Outcome:
        self.asked.append("rename")
        return outcomes.done(None)

    def create_namespace(self, *_: object) -> Outcome:
        self.asked.append("create_namespace")
        return outcomes.done(None)

    def update_namespace(self, *_: object) -> Outcome:
        self.asked.append("update_namespace")
        return outcomes.done(None)

    def heavy(self) -> Any:
        recorder = self

        class Heavy:
            def commit(self, *_: object) -> Outcome:
                recorder.asked.append("heavy")
                return outcomes.done("file:///heavy")

        self.asked.append("start")
        return Heavy()

    @property
    def routed(self) -> RoutedCommits:
        return RoutedCommits(self, self.heavy)


LIGHT, HEAVY = ["light"], ["start", "heavy"]
VARIANT = with_fields(ID, {**NAME, "type": "variant"})
DEFAULT = with_fields(ID, {**NAME, "write-default": "x"})
NESTED_DEFAULT = with_fields(
    ID, {**NAME, "type": {"type": "struct", "fields": [{**NAME, "id": 9, "initial-default": "x"}]}}
)
NO_DEFAULT = with_fields(ID, {**NAME, "doc": "the default name", "write-default": None})


@pytest.mark.parametrize(
    ("version", "request_", "asked"),
    [
        (1, properties(a="1"), LIGHT),
        (2, properties(a="1"), LIGHT),
        (3, properties(a="1"), HEAVY),
        (None, creating("file:///x", version=2), LIGHT),
        (None, creating("file:///x", version=3), HEAVY),
        (2, changing({"action": "upgrade-format-version", "format-version": 3}), HEAVY),
        (1, changing({"action": "upgrade-format-version", "format-version": 2}), LIGHT),
        (2, changing(VARIANT), HEAVY),
        (2, changing(DEFAULT), HEAVY),
        (2, changing(NESTED_DEFAULT), HEAVY),
        (2, changing(NO_DEFAULT), LIGHT),
        (2, changing({"action": "remove-snapshot-ref", "ref-name": "main"}), HEAVY),
        (2, changing({"action": "remove-snapshot-ref", "ref-name": "other"}), LIGHT),
        (2, changing({"action": "remove-snapshots", "snapshot-ids": [1]}), HEAVY),
        (2, requiring({"type": "assert-something-new"}), HEAVY),
    ],
)
def test_who_commits(version: int | None, request_: CommitRequest, asked: list[str]) -> None:
    """Formats 1 and 2 need no JVM, unless the request is one that PyIceberg gets wrong."""
    recorder = Recorder(version, outcomes.done("file:///light"))
    recorder.routed.commit(ORDERS, request_)
    assert recorder.asked == asked


@pytest.mark.parametrize(
    ("outcome", "asked"),
    [
        (outcomes.refused("it would lose something", refused=ROUND_TRIP), ["light", *HEAVY]),
        (outcomes.refused("Requirement failed"), LIGHT),
        (outcomes.lost("raced"), LIGHT),
        (outcomes.unknown("no reply"), LIGHT),
    ],
)
def test_handing_on(outcome: Outcome, asked: list[str]) -> None:
    """Only a refusal to harm metadata is handed on to the JVM: anything else could be a second try."""
    recorder = Recorder(2, outcome)
    answer = recorder.routed.commit(ORDERS, properties(a="1"))
    assert recorder.asked == asked
    assert (answer is outcome) is (asked == LIGHT)


@pytest.mark.parametrize("error", [Failed("The catalog did not answer."), Unfit("shop.orders is a view")])
def test_a_table_that_cannot_be_looked_at_is_not_committed(error: Exception) -> None:
    """Nothing was sent when the look before a commit fails: not done, and never unknown."""

    class Blind(Recorder):
        def format_version(self, _: object) -> int | None:
            raise error

    recorder = Blind(2, outcomes.done(None))
    outcome = recorder.routed.commit(ORDERS, properties(a="1"))
    assert (outcome.kind, outcome.detail, recorder.asked) == (OutcomeKind.NOT_DONE, str(error), [])


def test_what_never_needs_a_jvm() -> None:
    """Drops, renames and namespaces go without one, whatever the format."""
    recorder = Recorder(3, outcomes.done(None))
    recorder.routed.drop(ORDERS, "uuid", purge=True)
    recorder.routed.rename(ORDERS, "uuid", ORDERS)
    recorder.routed.create_namespace(("a",), {})
    recorder.routed.update_namespace(("a",), {}, ())
    assert recorder.asked == ["drop True", "rename", "create_namespace", "update_namespace"]
