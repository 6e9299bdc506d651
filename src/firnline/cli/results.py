"""What an apply did, as people read it; and the talk while it works."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import typer

from firnline.cli import render
from firnline.cli.app import Output
from firnline.loop import records
from firnline.loop.surroundings import Moment, Progress
from firnline.loop.values import OutcomeKind, Result

_MARKS = {
    OutcomeKind.DONE: "done",
    OutcomeKind.NOT_DONE: "NOT DONE",
    OutcomeKind.UNKNOWN: "UNKNOWN",
    OutcomeKind.SKIPPED: "skipped",
}


@contextlib.contextmanager
def watching() -> Iterator[Callable[[Progress], None]]:
    """A watcher that says what waits, retries and is settled; what merely runs is said after two seconds."""
    with contextlib.ExitStack() as stack:

        def watch(progress: Progress) -> None:
            stack.close()
            text = f"[{progress.position}/{progress.total}] {progress.step.subject}"
            if progress.moment is Moment.RUNNING:
                stack.enter_context(render.progress(text))
            elif progress.moment in {Moment.WAITING, Moment.RETRYING, Moment.SETTLED}:
                render.say(f"{text}: {progress.moment} {progress.text}".rstrip())

        yield watch


def show(result: Result, *, output: Output) -> None:
    """Outcomes, the run id and the exit code by the table."""
    verdict = records.verdict(result.steps)
    render.set_run(result.run)
    if output is Output.JSON:
        render.json({"run": result.run, "verdict": verdict, "steps": result.steps})
    else:
        for step in result.steps:
            detail = f": {step.outcome.detail}" if step.outcome.detail else ""
            render.out(f"{_MARKS[step.outcome.kind]:<8}  {step.subject}  ({step.kind}){detail}")
        render.out(f"Run {result.run}: {verdict}. `firnline ledger {result.run}` shows it step by step.")
    code = records.exit_code(verdict)
    if code:
        raise typer.Exit(code)
