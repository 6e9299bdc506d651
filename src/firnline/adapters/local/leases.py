"""Leases in `state.db`. Every verb is one statement, or one transaction that takes the write lock first."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timedelta
from typing import Any

from firnline.adapters.local.state import State, from_micros, to_micros
from firnline.loop.ports import REASONS_MAX, STEAL_MARGIN, WANTED_LASTS, Lease, LeaseItem, Rank

_TAKE = """
INSERT INTO leases (key, owner, until, rank, fence) VALUES (:key, :owner, :until, :rank, 1)
ON CONFLICT (key) DO UPDATE SET
    owner = :owner, until = :until, rank = :rank, fence = fence + 1, running = requested,
    wanted = NULL, wanted_until = NULL, not_before = NULL
WHERE parked = 0
    AND (not_before IS NULL OR not_before <= :now)
    AND (owner IS NULL OR until < :stale OR owner = :gone)
    AND (wanted IS NULL OR wanted <= :rank OR wanted_until < :now)
RETURNING *
"""
_WANT = """
UPDATE leases SET
    wanted = max(:rank, CASE WHEN wanted_until >= :now THEN wanted ELSE 0 END), wanted_until = :wanted_until
WHERE key = :key AND owner IS NOT NULL AND rank < :rank
"""
_OURS = "key = :key AND owner = :owner AND fence = :fence"
_FREE = "owner = NULL, until = NULL, rank = NULL"


class SqliteLeases:
    """The port `Leases` on SQLite."""

    def __init__(self, state: State) -> None:
        self._state = state

    def mark(self, key: str, reason: str) -> int:
        """One generation more."""
        with self._state.transaction():
            reasons = self._with_reason(key, reason)
            (row,) = self._state.rows(
                "INSERT INTO leases (key, requested, reasons) VALUES (:key, 1, :reasons) "
                "ON CONFLICT (key) DO UPDATE SET requested = requested + 1, reasons = :reasons RETURNING requested",
                {"key": key, "reasons": reasons},
            )
        return int(row["requested"])

    def acquire(
        self, key: str, owner: str, rank: Rank, now: datetime, length: timedelta, gone: str | None = None
    ) -> Lease | None:
        """Take it, or tell a lower-ranked holder that it is wanted."""
        values = {
            "key": key,
            "owner": owner,
            "rank": int(rank),
            "now": to_micros(now),
            "until": to_micros(now + length),
            "stale": to_micros(now - STEAL_MARGIN),
            "wanted_until": to_micros(now + WANTED_LASTS),
            "gone": gone,
        }
        with self._state.transaction():
            rows = self._state.rows(_TAKE, values)
            if not rows:
                self._state.rows(_WANT, values)
        return _lease(rows[0], now) if rows else None

    def renew(self, lease: Lease, now: datetime, length: timedelta) -> Lease | None:
        """Longer, and with what is wanted by now."""
        rows = self._state.rows(
            f"UPDATE leases SET until = max(until, :until) WHERE {_OURS} RETURNING *",
            {**_who(lease), "until": to_micros(now + length)},
        )
        return _lease(rows[0], now) if rows else None

    def guard(self, lease: Lease, now: datetime, budget: timedelta) -> bool:
        """Whether it is ours for at least `budget` more."""
        rows = self._state.rows(
            f"SELECT 1 FROM leases WHERE {_OURS} AND until >= :until",
            {**_who(lease), "until": to_micros(now + budget)},
        )
        return bool(rows)

    def complete(self, lease: Lease) -> bool:
        """The generation is done; whether a newer one is asked for."""
        with self._state.transaction():
            self._state.rows(
                f"UPDATE leases SET done = running, attempt = 0, {_FREE}, "
                f"reasons = CASE WHEN requested > running OR parked THEN reasons ELSE '[]' END WHERE {_OURS}",
                _who(lease),
            )
            rows = self._state.rows("SELECT requested > done AS dirty FROM leases WHERE key = ?", (lease.key,))
        return bool(rows and rows[0]["dirty"])

    def release(self, lease: Lease) -> None:
        """Give it back, nothing held against it."""
        self._state.rows(f"UPDATE leases SET {_FREE} WHERE {_OURS}", _who(lease))

    def fail(self, lease: Lease, not_before: datetime, attempts_max: int) -> bool:
        """Give it back after a failure."""
        rows = self._state.rows(
            f"UPDATE leases SET attempt = attempt + 1, not_before = :not_before, {_FREE}, "
            f"parked = max(parked, attempt + 1 >= :most) WHERE {_OURS} RETURNING parked",
            {**_who(lease), "not_before": to_micros(not_before), "most": attempts_max},
        )
        return bool(rows and rows[0]["parked"])

    def park(self, key: str, reason: str) -> None:
        """Nobody acquires it until `unpark`. Who holds it keeps it."""
        with self._state.transaction():
            reasons = self._with_reason(key, reason)
            self._state.rows(
                "INSERT INTO leases (key, parked, reasons) VALUES (:key, 1, :reasons) "
                "ON CONFLICT (key) DO UPDATE SET parked = 1, reasons = :reasons",
                {"key": key, "reasons": reasons},
            )

    def unpark(self, key: str) -> None:
        """Lift `park`."""
        self._state.rows("UPDATE leases SET parked = 0, attempt = 0, not_before = NULL WHERE key = ?", (key,))

    def look(self, key: str) -> LeaseItem | None:
        """The item as stored."""
        rows = self._state.rows("SELECT * FROM leases WHERE key = ?", (key,))
        return _item(rows[0]) if rows else None

    def _with_reason(self, key: str, reason: str) -> str:
        rows = self._state.rows("SELECT reasons FROM leases WHERE key = ?", (key,))
        known = [known for known in (json.loads(rows[0]["reasons"]) if rows else []) if known != reason]
        return json.dumps([*known, reason][-REASONS_MAX:])


def _who(lease: Lease) -> dict[str, Any]:
    return {"key": lease.key, "owner": lease.owner, "fence": lease.fence}


def _rank(value: int | None) -> Rank | None:
    return None if value is None else Rank(value)


def _lease(row: sqlite3.Row, now: datetime) -> Lease:
    wanted = row["wanted"] if row["wanted"] is not None and row["wanted_until"] >= to_micros(now) else None
    return Lease(
        key=row["key"],
        owner=row["owner"],
        fence=row["fence"],
        generation=row["running"],
        until=from_micros(row["until"]),
        rank=Rank(row["rank"]),
        attempt=row["attempt"],
        wanted=_rank(wanted),
    )


def _item(row: sqlite3.Row) -> LeaseItem:
    return LeaseItem(
        key=row["key"],
        requested=row["requested"],
        done=row["done"],
        running=row["running"],
        fence=row["fence"],
        owner=row["owner"],
        until=None if row["until"] is None else from_micros(row["until"]),
        rank=_rank(row["rank"]),
        wanted=_rank(row["wanted"]),
        attempt=row["attempt"],
        not_before=None if row["not_before"] is None else from_micros(row["not_before"]),
        parked=bool(row["parked"]),
        reasons=tuple(json.loads(row["reasons"])),
    )
