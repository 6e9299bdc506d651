"""The schema of `state.db`, as the migrations that led to it. Append only: a released migration is never edited."""

from __future__ import annotations

APPLICATION_ID = 0x4652_4E4C  # "FRNL", so that no other database is taken for ours

_FIRST = (
    """
    CREATE TABLE leases (
        key TEXT PRIMARY KEY NOT NULL,
        requested INTEGER NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0,
        running INTEGER NOT NULL DEFAULT 0,
        fence INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        until INTEGER,
        rank INTEGER,
        wanted INTEGER,
        wanted_until INTEGER,
        attempt INTEGER NOT NULL DEFAULT 0,
        not_before INTEGER,
        parked INTEGER NOT NULL DEFAULT 0,
        reasons TEXT NOT NULL DEFAULT '[]'
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        step TEXT NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        lease TEXT,
        subject TEXT,
        body TEXT NOT NULL
    ) STRICT
    """,
    "CREATE UNIQUE INDEX events_once ON events (run, step, kind)",
    "CREATE INDEX events_by_lease ON events (lease, seq)",
    "CREATE INDEX events_by_kind ON events (kind, seq)",
    """
    CREATE TRIGGER events_no_update BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: an event cannot be changed'); END
    """,
    """
    CREATE TRIGGER events_no_delete BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: an event cannot be removed'); END
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)
