"""The effectful half of history: observe afresh, commit once, settle. Only through ports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firnline.facts import marks, observe
from firnline.facts.ports import Blobs, Pointers
from firnline.history import codec, request, vet
from firnline.history.values import REF, ROLLBACK, Move
from firnline.loop.commits import Commits
from firnline.loop.registry import StepKind
from firnline.loop.values import Outcome, Stamp, Step


@dataclass(frozen=True, slots=True)
class Effects:
    """The ports these steps act through."""

    pointers: Pointers
    blobs: Blobs
    commits: Callable[[], Commits]  # called when a step commits: looking and planning connect nothing


def kinds(effects: Effects) -> tuple[StepKind, ...]:
    """The step kinds of this capability over these ports."""
    return tuple(
        StepKind(
            name=name,
            encode=codec.encode,
            decode=codec.decode,
            observe=lambda step: observe.table(effects.pointers, effects.blobs, step.body.identifier),
            vet=vet.move,
            run=lambda step, stamp: _run(effects, step.body, stamp),
            settle=lambda step, stamp: _settle(effects, step, stamp),
        )
        for name in (ROLLBACK, REF)
    )


def _run(effects: Effects, body: Move, stamp: Stamp) -> Outcome:
    return effects.commits().commit(body.identifier, marks.stamped(request.build(body), stamp))


def _settle(effects: Effects, step: Step, stamp: Stamp) -> Outcome:
    body = step.body
    return marks.settle(effects.pointers, effects.blobs, body.identifier, uuid=body.uuid, base=step.base, stamp=stamp)
