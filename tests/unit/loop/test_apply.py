"""Apply: what each step comes to, what is recorded of it, and what that means for the steps after it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from firnline.core.errors import Blocked, Failed
from firnline.core.ids import RunId, StepId
from firnline.loop import intents, records
from firnline.loop.ports import Event, EventKind, Rank
from firnline.loop.registry import Bounds
from firnline.loop.surroundings import Moment
from firnline.loop.values import Outcome, OutcomeKind
from tests.unit.loop.stage import DONE, LOST, NOT_DONE, NOW, UNKNOWN, Stage, kinds, object_to, step

D, N, U, S = OutcomeKind.DONE, OutcomeKind.NOT_DONE, OutcomeKind.UNKNOWN, OutcomeKind.SKIPPED
STARTED, INTENT, OUTCOME, SETTLED, ENDED = EventKind


def test_all_is_well(stage: Stage) -> None:
    """Every step observes, vets, runs once, is recorded around its run, and gives its lease back."""
    result = stage.apply(step(1), step(2))
    assert kinds(result) == [D, D]
    assert stage.calls == [(what, number) for number in "12" for what in ("observe", "vet", "run")]
    assert stage.recorded() == [
        (STARTED, None), (INTENT, "1"), (OUTCOME, "1"), (INTENT, "2"), (OUTCOME, "2"), (ENDED, None),
    ]  # fmt: skip
    assert (stage.verdict(), stage.holder("t1"), stage.holder("t2")) == ("done", None, None)
    assert [(event.moment, event.position, event.total) for event in stage.events] == [
        (moment, number, 2) for number in (1, 2) for moment in (Moment.RUNNING, Moment.ENDED)
    ]


def test_an_empty_plan(stage: Stage) -> None:
    """A plan without steps is done, and stands in the ledger."""
    assert stage.apply().steps == ()
    assert (stage.recorded(), stage.verdict()) == ([(STARTED, None), (ENDED, None)], "done")


def test_order(stage: Stage) -> None:
    """A step comes after what it requires, and otherwise as planned."""
    stage.apply(step(1, requires=[3]), step(2), step(3))
    assert stage.ran() == ["3", "1", "2"]


@pytest.mark.parametrize("outcome", [NOT_DONE, UNKNOWN])
def test_requires(stage: Stage, outcome: Outcome) -> None:
    """What requires a step that was not done is skipped, and so is what requires that."""
    stage.script["run", "1"] = [outcome]
    stage.script["settle", "1"] = [UNKNOWN] * 2
    result = stage.apply(step(1), step(2, requires=[1]), step(3, requires=[2]))
    assert kinds(result) == [outcome.kind, S, S]
    if outcome is NOT_DONE:
        assert result.steps[1].outcome.detail == "It requires 1, which is not done."
        assert result.steps[2].outcome.detail == "It requires 2, which is skipped."


def test_objections(stage: Stage) -> None:
    """An objection skips the step before anything is recorded as intended, and says what to do; others go on."""
    stage.script["vet", "1"] = [object_to("It drifted.", "It grew.")]
    result = stage.apply(step(1), step(2))
    assert kinds(result) == [S, D]
    assert result.steps[0].outcome.detail == "It drifted. It grew."
    assert result.steps[0].outcome.facts["objections"][0] == {"reason": "It drifted.", "next_step": "Plan again."}
    assert (INTENT, "1") not in stage.recorded()
    assert (stage.verdict(), stage.holder("t1")) == ("partial", None)


@pytest.mark.parametrize("what", ["observe", "vet"])
@pytest.mark.parametrize(
    ("error", "detail"),
    [(Failed("No answer.", next_step="Ask again."), "No answer. Ask again."), (KeyError("x"), "KeyError: 'x'")],
)
def test_errors_before_the_commit(stage: Stage, what: str, error: Exception, detail: str) -> None:
    """What fails before anything is sent is not done, whatever it is, and the other tables go on."""
    stage.script[what, "1"] = [error]
    result = stage.apply(step(1), step(2))
    assert kinds(result) == [N, D]
    assert (result.steps[0].outcome.detail, stage.ran()) == (detail, ["2"])


def test_a_kind_nobody_knows(stage: Stage) -> None:
    """A plan of a kind this version does not have cannot even begin."""
    with pytest.raises(Exception, match="no step kind 'magic'"):
        stage.apply(step(1, kind="magic"))
    assert stage.recorded() == []


def test_a_lost_race(stage: Stage) -> None:
    """The same request is sent again after a pause that grows, for as long as nobody objects."""
    stage.script["run", "1"] = [LOST, LOST, LOST]
    assert kinds(stage.apply(step(1))) == [D]
    assert stage.ran() == ["1"] * 4
    assert stage.calls.count(("vet", "1")) == 4
    assert stage.slept == sorted(stage.slept)
    assert len(stage.slept) == 3
    assert stage.outcome("1")["tries"] == 4
    assert [event.text for event in stage.events if event.moment is Moment.RETRYING] == [LOST.detail] * 3


def test_the_winner_changed_what_it_rests_on(stage: Stage) -> None:
    """After a lost race the facts that won are vetted: an objection to them ends the step, untouched."""
    stage.script["run", "1"] = [LOST]
    stage.script["vet", "1"] = [(), object_to("The schema is another now.")]
    (result,) = stage.apply(step(1)).steps
    assert (result.outcome.kind, stage.ran()) == (N, ["1"])
    assert result.outcome.detail == "Another writer came first, and now: The schema is another now."


@pytest.mark.parametrize(
    ("bounds", "tries"),
    [
        (Bounds(tries_max=3), 3),
        (Bounds(retry_time_max=timedelta(0)), 1),
        (Bounds(retry_time_max=timedelta(seconds=1)), 6),
    ],
)
def test_given_up(stage: Stage, bounds: Bounds, tries: int) -> None:
    """A race that is lost again and again ends by number or by time, and says so."""
    stage.bounds = bounds
    stage.script["run", "1"] = [LOST] * 20
    (result,) = stage.apply(step(1)).steps
    assert result.outcome.detail == f"{LOST.detail} Given up after {len(stage.ran())} tries."
    assert len(stage.ran()) == tries
    assert stage.verdict() == "failed"


@pytest.mark.parametrize("answer", [UNKNOWN, ConnectionError("gone"), Failed("gone"), KeyError("x")], ids=str)
@pytest.mark.parametrize(
    ("settled", "kind", "runs"),
    [
        ([DONE], D, 1),
        ([NOT_DONE, DONE], D, 1),  # on its way, and landed within the margin
        ([NOT_DONE, NOT_DONE], N, 1),
        ([LOST, LOST], D, 2),  # provably not in, and worth sending again
        ([UNKNOWN], U, 1),
        ([NOT_DONE, UNKNOWN], U, 1),
        ([Failed("cannot look")], U, 1),
        ([ValueError("a bug")], U, 1),
    ],
)
def test_a_lost_reply(stage: Stage, answer: Any, settled: list[Any], kind: OutcomeKind, runs: int) -> None:
    """What came out of the commit call unknown is looked for, twice before it counts as not there."""
    stage.script["run", "1"] = [answer]
    stage.script["settle", "1"] = list(settled)
    (result,) = stage.apply(step(1)).steps
    assert (result.outcome.kind, len(stage.ran())) == (kind, runs)
    if len(settled) == 2:
        assert stage.surroundings.landing_margin.total_seconds() in stage.slept


def test_unknown_stops_everything(stage: Stage) -> None:
    """After an unknown outcome nothing more is tried, and the lease is left to lapse so that nobody comes too soon."""
    stage.script["run", "1"], stage.script["settle", "1"] = [UNKNOWN], [UNKNOWN]
    result = stage.apply(step(1), step(2))
    assert kinds(result) == [U, S]
    assert "not known whether work of shop.t1 was done" in result.steps[1].outcome.detail
    assert stage.verdict() == "unknown"
    assert stage.holder("t1") is not None
    assert [event.run for event in stage.ledger.open_intents("lake/t1")] == ["plan"]


@pytest.mark.parametrize(("answer", "runs"), [(DONE, 0), (LOST, 1), (NOT_DONE, 1)])
def test_the_next_apply_settles(stage: Stage, answer: Outcome, runs: int) -> None:
    """What an earlier apply left open is settled first; done counts as done, and not done is done now."""
    stage.script["run", "1"], stage.script["settle", "1"] = [UNKNOWN], [UNKNOWN]
    stage.apply(step(1))
    stage.time += timedelta(minutes=5)
    stage.calls.clear()
    stage.script["settle", "1"] = [answer]
    (result,) = stage.apply(step(1)).steps
    assert (result.outcome.kind, len(stage.ran())) == (D, runs)
    assert (SETTLED, "1") in stage.recorded("plan")
    assert stage.verdict("plan.2") == "done"
    if not runs:
        assert result.outcome.facts == {"already": "plan"}


def test_what_stays_unknown_is_in_the_way(stage: Stage) -> None:
    """A table with a commit nobody knows of is left alone, and the message names the run to look at."""
    stage.script["run", "1"], stage.script["settle", "1"] = [UNKNOWN], [UNKNOWN] * 3
    stage.apply(step(1))
    stage.time += timedelta(minutes=5)
    (result,) = stage.apply(step(9, "t1"), run="other").steps
    assert (result.outcome.kind, result.outcome.facts) == (S, {"unsettled": "plan"})
    assert "`firnline ledger plan`" in result.outcome.detail
    assert stage.ran() == ["1"]


def test_settle_without_a_step(stage: Stage) -> None:
    """Keys to settle are settled though no step is on them; trouble leaves them open and fails nothing."""
    for number, answer in ((1, DONE), (2, UNKNOWN)):
        stage.script["run", f"{number}"], stage.script["settle", f"{number}"] = [UNKNOWN], [UNKNOWN, answer]
        stage.apply(step(number), run=f"r{number}")
    stage.time += timedelta(minutes=5)
    assert kinds(stage.apply(settle=["lake/t1", "lake/t2", "lake/t1", "lake/none"])) == []
    assert (SETTLED, "1") in stage.recorded("r1")
    assert [len(stage.ledger.open_intents(f"lake/t{number}")) for number in (1, 2)] == [0, 1]
    assert [stage.holder("t1"), stage.holder("t2")] == [None, None]


def test_an_intent_nobody_can_read(stage: Stage) -> None:
    """An intent of a kind this version lacks is unknown: the table is left alone."""
    body = {"kind": "magic", "step": {"id": "1", "kind": "magic", "subject": "s", "lease": "lake/t1", "body": {}}}
    stage.ledger.record(Event(RunId("newer"), INTENT, NOW, StepId("1"), "lake/t1", "shop.t1", body))
    (result,) = stage.apply(step(1)).steps
    assert result.outcome.kind is S
    assert "Its intent cannot be read by this version" in result.outcome.detail


def test_applied_again(stage: Stage) -> None:
    """A plan applied again takes up where it stopped: every apply is a run, and no step is done twice."""
    stage.script["run", "2"] = [NOT_DONE]
    assert kinds(stage.apply(step(1), step(2))) == [D, N]
    result = stage.apply(step(1), step(2))
    assert (result.run, kinds(result), stage.ran()) == ("plan.2", [D, D], ["1", "2", "2"])
    assert result.steps[0].outcome.detail == "Done already, by run plan."
    assert stage.apply(step(1), step(2)).run == "plan.3"


def test_applied_for_ever(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that applies one plan in a loop is stopped with a message."""
    monkeypatch.setattr(intents, "APPLIES_MAX", 2)
    stage.apply(step(1))
    stage.apply(step(1))
    with pytest.raises(Blocked, match="was applied 2 times"):
        stage.apply(step(1))


class Failing:
    """A port with one verb that fails, from its n-th call on."""

    def __init__(self, target: Any, verb: str, error: BaseException, first: int = 1) -> None:
        self._target, self._verb, self._error, self._left = target, verb, error, first

    def __getattr__(self, name: str) -> Any:
        if name == self._verb:
            self._left -= 1
            if self._left <= 0:
                self._left = 10**9 if isinstance(self._error, KeyboardInterrupt) else 0
                raise self._error
        return getattr(self._target, name)


@pytest.mark.parametrize(("first", "runs"), [(2, 0), (3, 1), (4, 1)])
def test_a_ledger_that_fails(stage: Stage, first: int, runs: int) -> None:
    """Around a commit nothing after a failing ledger can be trusted: the error goes out, and the intent stays open."""
    stage.ledger = Failing(stage.ledger, "record", Failed("disk full"), first)
    with pytest.raises(Failed, match="disk full"):
        stage.apply(step(1), step(2))
    assert len(stage.ran()) == runs
    assert stage.verdict() is None


@pytest.mark.parametrize(("verb", "kind"), [("acquire", N), ("guard", N), ("release", D)])
def test_leases_that_fail(stage: Stage, verb: str, kind: OutcomeKind) -> None:
    """Without an answer about the lease nothing is sent; one that cannot be given back lapses."""
    stage.leases = Failing(stage.leases, verb, Failed("locked"))
    (result,) = stage.apply(step(1)).steps
    assert (result.outcome.kind, stage.ran()) == (kind, ["1"] if kind is D else [])


def test_a_lease_lost_before_the_commit(stage: Stage) -> None:
    """A lease somebody stole while we vetted sends nothing and stops the run; theirs is not touched."""

    def stolen() -> tuple[()]:
        stage.time += timedelta(hours=1)
        assert stage.leases.acquire("lake/t1", "thief", Rank.REST, stage.time, timedelta(minutes=1)) is not None
        return ()

    stage.script["vet", "1"] = [stolen]
    result = stage.apply(step(1), step(2))
    assert kinds(result) == [N, S]
    assert result.steps[0].outcome.detail == "The lease was lost before the commit; nothing was sent."
    assert result.steps[1].outcome.detail == "Stopped: the lease on shop.t1 was lost while this run held it."
    assert (stage.ran(), stage.holder("t1")) == ([], "thief")


def test_a_long_vet_renews(stage: Stage) -> None:
    """A lease that ran low while facts were read is renewed before the commit, not given up."""

    def slow() -> tuple[()]:
        stage.time += timedelta(seconds=59)
        return ()

    stage.script["vet", "1"] = [slow]
    assert kinds(stage.apply(step(1))) == [D]


def test_ceded(stage: Stage) -> None:
    """When a higher rank waits the step at hand is finished, its table is given up, and other tables go on."""

    def wanted() -> tuple[()]:
        assert stage.leases.acquire("lake/a", "eraser", Rank.ERASURE, stage.time, timedelta(minutes=1)) is None
        stage.time += timedelta(seconds=30)  # low enough to be renewed before the commit
        return ()

    stage.script["vet", "1"] = [wanted]
    result = stage.apply(step(1, "a"), step(2, "a"), step(3, "b"))
    assert kinds(result) == [D, S, D]
    assert result.steps[1].outcome.detail == "shop.a was given up to erasure, which goes first; apply again later."


INTERRUPTED = [
    # who, what, on which call: what became of the step, and whether it ran
    (None, ("observe", "1"), S, False),
    (None, ("vet", "1"), S, False),
    (None, ("run", "1"), U, True),
    ("leases", "acquire", S, False),
    ("leases", "guard", U, False),  # behind the shield: whoever interrupts there does not hear a promise
    ("leases", "release", D, True),
    ("ledger", "open_intents", S, False),
]


@pytest.mark.parametrize(("port", "where", "kind", "ran"), INTERRUPTED, ids=str)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupted(
    stage: Stage, port: str | None, where: Any, kind: OutcomeKind, ran: bool, error: type[BaseException]
) -> None:
    """Wherever it comes, the step at hand is recorded as what is known of it, the run ends, and the signal goes on."""
    if port is None:
        stage.script[where] = [error()]
    else:
        setattr(stage, port, Failing(getattr(stage, port), where, error()))
    with pytest.raises(error):
        stage.apply(step(1), step(2))
    assert stage.outcome("1")["outcome"] == kind.value
    assert ("1" in stage.ran()) is ran
    assert "2" not in stage.ran()
    if port != "ledger":
        assert stage.verdict() == "interrupted"


@pytest.mark.parametrize(
    ("settled", "kind"), [(DONE, D), (NOT_DONE, U), (UNKNOWN, U), (Failed("cannot look"), U)], ids=lambda v: str(v)[:40]
)
def test_interrupted_within_the_commit(stage: Stage, settled: Any, kind: OutcomeKind) -> None:
    """A commit that was interrupted is done when it is found, and otherwise unknown: it may still be on its way."""
    stage.script["run", "1"], stage.script["settle", "1"] = [KeyboardInterrupt()], [settled]
    with pytest.raises(KeyboardInterrupt):
        stage.apply(step(1))
    outcome = stage.outcome("1")
    assert outcome["outcome"] == kind.value
    assert outcome["detail"].startswith("Interrupted while it was being committed")


@pytest.mark.parametrize("moment", list(Moment))
def test_interrupted_while_telling(stage: Stage, moment: Moment) -> None:
    """An interruption that comes while something is told costs no more than the step at hand."""

    def watch(progress: Any) -> None:
        if progress.moment is moment:
            raise KeyboardInterrupt

    stage.script["run", "1"] = [LOST]
    stage.watch = watch
    if moment in {Moment.WAITING, Moment.SETTLED}:
        return _interrupted_before(stage, moment)
    with pytest.raises(KeyboardInterrupt):
        stage.apply(step(1), step(2))
    assert stage.verdict() == "interrupted"
    assert "2" not in stage.ran()
    return None


def _interrupted_before(stage: Stage, moment: Moment) -> None:
    if moment is Moment.WAITING:
        assert stage.leases.acquire("lake/t1", "other", Rank.REST, stage.time, timedelta(minutes=1)) is not None
    else:
        event = records.intent(RunId("r"), step(1), NOW, encoded={"id": "1", "kind": "work", "subject": "shop.t1",
                               "lease": "lake/t1", "body": {"n": 1}}, digest="x")  # fmt: skip
        stage.ledger.record(event)
    with pytest.raises(KeyboardInterrupt):
        stage.apply(step(1))
    assert (stage.verdict(), stage.ran()) == ("interrupted", [])
    assert stage.holder("t1") in {None, "other"}


def test_a_kill_passes(stage: Stage) -> None:
    """Any other BaseException goes through untouched: no handler of ours runs in a dying process."""

    class Killed(BaseException):
        pass

    stage.script["run", "1"] = [Killed()]
    with pytest.raises(Killed):
        stage.apply(step(1))
    assert stage.recorded() == [(STARTED, None), (INTENT, "1")]


def test_renewed_in_the_background(stage: Stage) -> None:
    """While a step works its lease is renewed three times per length, from the background."""
    ticks = []

    class Background:
        def __init__(self, tick: Any, every: timedelta) -> None:
            ticks.append(every)
            self.tick = tick

        def __enter__(self) -> None:
            stage.time += timedelta(seconds=20)
            self.tick()

        def __exit__(self, *_: object) -> None:
            return None

    stage.background = Background
    until: list[Any] = []

    def look(_: object) -> Outcome:
        until.append(stage.leases.look("lake/t1").until)
        return DONE

    stage.script["run", "1"] = [look]
    assert kinds(stage.apply(step(1))) == [D]
    assert ticks == [timedelta(seconds=20)]
    assert until == [NOW + timedelta(seconds=80)]


def test_what_a_run_says_of_itself(stage: Stage) -> None:
    """A run's beginning names the plan, its digest and who applies it; two applies never look alike."""
    stage.apply(step(1))
    stage.apply(step(1))
    first, second = (stage.ledger.run(RunId(run))[0].body for run in ("plan", "plan.2"))
    assert (first["plan"], first["steps"], first["command"]) == ("plan", 1, "firnline apply")
    assert first["digest"] == second["digest"] != ""
    assert first["by"] != second["by"]
