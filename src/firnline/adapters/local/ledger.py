"""The ledger in `state.db`: append-only, held to it by triggers."""

from __future__ import annotations

import json
import sqlite3

from firnline.adapters.local.state import State, from_micros, to_micros
from firnline.core.ids import RunId, StepId
from firnline.loop import records
from firnline.loop.ports import Event, EventKind, RunSummary

# Of one table among thousands: by kind, which SQLite would rather use, every question would read the whole ledger.
_OPEN = """
SELECT * FROM events AS intent INDEXED BY events_by_lease
WHERE lease = ? AND kind = 'intent' AND NOT EXISTS (
    SELECT 1 FROM events AS closing
    WHERE closing.run = intent.run AND closing.step = intent.step AND closing.kind IN ('outcome', 'settled')
        AND json_extract(closing.body, '$.outcome') IN ('done', 'not done')
)
ORDER BY seq
"""
_RUNS = """
SELECT run FROM events
WHERE kind = 'started' AND seq < coalesce(
    (SELECT seq FROM events WHERE run = :before AND kind = 'started'), CASE WHEN :before IS NULL THEN 9e18 ELSE 0 END)
ORDER BY seq DESC LIMIT :most
"""
# The body of an intent holds its whole step, and says nothing about how the run went.
_WITHOUT_INTENTS = """
SELECT run, step, kind, at, lease, subject, CASE kind WHEN 'intent' THEN '{}' ELSE body END AS body
FROM events WHERE run = ? ORDER BY seq
"""


class SqliteLedger:
    """The port `Ledger` on SQLite."""

    def __init__(self, state: State) -> None:
        self._state = state

    def record(self, event: Event) -> None:
        """Append it, once."""
        body = records.canonical(event.body)
        key = (event.run, event.step or "", event.kind.value)
        values = (*key, to_micros(event.at), event.table, event.subject, body)
        with self._state.transaction():
            known = self._state.rows("SELECT body FROM events WHERE run = ? AND step = ? AND kind = ?", key)
            if not known:
                self._state.rows(
                    "INSERT INTO events (run, step, kind, at, lease, subject, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
        if known and known[0]["body"] != body:
            raise records.already_recorded(event)

    def run(self, run: RunId, step: StepId | None = None) -> tuple[Event, ...]:
        """Every event of a run, or of one step of it."""
        of_step = "" if step is None else " AND step IN ('', :step)"
        sql = f"SELECT * FROM events WHERE run = :run{of_step} ORDER BY seq"
        return tuple(map(_event, self._state.rows(sql, {"run": run, "step": step})))

    def runs(self, limit: int, before: RunId | None = None) -> tuple[RunSummary, ...]:
        """The newest runs."""
        found = self._state.rows(_RUNS, {"before": before, "most": limit})
        return tuple(
            records.summarise([_event(event) for event in self._state.rows(_WITHOUT_INTENTS, row)]) for row in found
        )

    def table(self, table: str, limit: int) -> tuple[Event, ...]:
        """The newest events of a table."""
        sql = "SELECT * FROM events WHERE lease = ? ORDER BY seq DESC LIMIT ?"
        return tuple(map(_event, self._state.rows(sql, (table, limit))))

    def open_intents(self, table: str) -> tuple[Event, ...]:
        """Intents nobody knows the end of."""
        return tuple(map(_event, self._state.rows(_OPEN, (table,))))


def _event(row: sqlite3.Row) -> Event:
    return Event(
        run=RunId(row["run"]),
        kind=EventKind(row["kind"]),
        at=from_micros(row["at"]),
        step=StepId(row["step"]) if row["step"] else None,
        table=row["lease"],
        subject=row["subject"],
        body=json.loads(row["body"]),
    )
