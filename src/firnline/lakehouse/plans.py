"""Plans of every capability, wired alike: made, saved, loaded, applied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import firnline
from firnline.core import ids
from firnline.core.errors import Complaint, Refused
from firnline.history import plan as history_plans
from firnline.history.values import Move
from firnline.loop import apply as applying
from firnline.loop import plan_file
from firnline.loop.surroundings import Progress
from firnline.loop.values import Note, Plan, Result, Step
from firnline.tables import plan as table_plans
from firnline.tables.plan import Refused as RefusedChange

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse

Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan, what is refused in it, and what the files were warned of."""

    plan: Plan
    refused: tuple[RefusedChange, ...] = ()
    warnings: tuple[Complaint, ...] = ()
    settle: tuple[str, ...] = ()  # lease keys on which a run was cut off: apply settles them, steps there or not

    @property
    def empty(self) -> bool:
        """Whether catalog and declarations agree."""
        return not self.plan.steps and not self.refused


def new(lakehouse: Lakehouse, steps: Iterable[Step], report: Iterable[Note] = ()) -> Plan:
    """A plan for this lakehouse, environment and catalog, with a run id of its own."""
    settings = lakehouse.settings
    now = datetime.now(UTC)
    return Plan(
        run=ids.new_run_id(now, os.urandom),
        tool=firnline.__version__,
        lakehouse=settings.name,
        environment=settings.environment.name,
        catalog=settings.catalog.name,
        created=now,
        steps=tuple(steps),
        report=tuple(report),
    )


def save(lakehouse: Lakehouse, preview: Preview, path: Path) -> None:
    """Write the plan to a file that `firnline apply` takes. A refused plan is not saved."""
    require_unrefused(preview)
    plan_file.save(path, preview.plan, lakehouse.registry)


def load(lakehouse: Lakehouse, path: Path) -> Preview:
    """A saved plan, checked to be for this lakehouse, environment and catalog."""
    plan = plan_file.load(path, lakehouse.registry)
    settings = lakehouse.settings
    plan_file.check_target(
        plan, lakehouse=settings.name, environment=settings.environment.name, catalog=settings.catalog.name
    )
    return Preview(plan)


def apply(lakehouse: Lakehouse, preview: Preview, *, command: str, on_event: Watch | None = None) -> Result:
    """Apply a plan: leased, vetted afresh, recorded. Refused as a whole when anything in it is refused."""
    require_unrefused(preview)
    lakehouse.require_write("Applying a plan")
    return applying.apply(
        preview.plan,
        lakehouse.registry,
        lakehouse.leases,
        lakehouse.ledger,
        lakehouse.surroundings,
        command=command,
        overrides=_overrides(preview.plan),
        settle=preview.settle,
        on_event=on_event,
    )


def _overrides(plan: Plan) -> tuple[str, ...]:
    """Every recorded acceptance of the plan, as sentences for the ledger."""
    of_tables = [step for step in plan.steps if not isinstance(step.body, Move)]
    moves = [step for step in plan.steps if isinstance(step.body, Move)]
    said = [sentence for step in moves for sentence in history_plans.overrides(step.body, step.subject)]
    return (*table_plans.overrides(of_tables), *said)


def require_unrefused(preview: Preview) -> None:
    """Refuse a plan with anything refused in it, naming the first."""
    if not preview.refused:
        return
    count = len(preview.refused)
    first = preview.refused[0]
    raise Refused(
        f"{count} change{'s are' if count > 1 else ' is'} refused, so nothing is applied. "
        f"The first: {first.table}: {first.change.kind} {first.change.subject}.",
        why=first.change.refusal.reason if first.change.refusal else None,
        next_step="`firnline plan` shows each with what to do; naming tables plans those alone.",
    )
