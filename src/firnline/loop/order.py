"""The order steps run in: as planned, and each after what it requires. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from firnline.core.errors import BadInput
from firnline.core.ids import StepId
from firnline.loop.values import Step


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, each after those it requires and otherwise as given.

    BadInput for two steps of one id, a requirement that names no step, and requirements that go in a circle.
    """
    by_id: dict[StepId, Step] = {}
    for step in steps:
        if step.id in by_id:
            raise BadInput(f"The plan has two steps of the id {step.id!r}.")
        by_id[step.id] = step
    for step in steps:
        for needed in step.requires:
            if needed not in by_id:
                raise BadInput(f"Step {step.id!r} requires {needed!r}, and the plan has no such step.")
    ordered: dict[StepId, Step] = {}
    for step in steps:
        _place(step, by_id, ordered)
    return tuple(ordered.values())


def _place(wanted: Step, by_id: dict[StepId, Step], ordered: dict[StepId, Step]) -> None:
    # A stack and not recursion: a plan from a file may chain thousands of steps.
    path: dict[StepId, None] = {}
    stack = [wanted]
    while stack:
        step = stack[-1]
        if step.id in ordered:
            stack.pop()
            continue
        missing = [by_id[needed] for needed in step.requires if needed not in ordered]
        if not missing:
            ordered[step.id] = step
            path.pop(step.id, None)
            stack.pop()
            continue
        path[step.id] = None
        if missing[0].id in path:
            circle = [*list(path)[list(path).index(missing[0].id) :], missing[0].id]
            raise BadInput(f"The steps require each other in a circle: {' → '.join(circle[:20])}.")
        stack.append(missing[0])
