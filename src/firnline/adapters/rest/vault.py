"""Vended credentials, kept by where they hold: who opens a file knows its location, not its table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from firnline.adapters.access import StoreAccess
from firnline.adapters.rest.vending import Vended
from firnline.core.errors import Failed
from firnline.core.ids import Identifier

# A file that is opened now may be read for a while: credentials that end sooner are asked for again.
MARGIN = timedelta(minutes=5)
UNSAID = timedelta(minutes=15)  # how long a session lives whose end nobody says: the shortest that AWS gives


@dataclass(frozen=True, slots=True)
class _Kept:
    vended: tuple[Vended, ...]
    asked: datetime  # before the catalog answered: no credential ends before it is made

    def holds(self, moment: datetime) -> bool:
        """Whether there are credentials, and all of them hold at this moment."""
        ends = (one.until or (self.asked + UNSAID if one.access.token else None) for one in self.vended)
        return bool(self.vended) and all(end is None or moment <= end for end in ends)


class Vault:
    """What was vended, by table. `ask` vends afresh."""

    def __init__(
        self, ask: Callable[[Identifier], tuple[Vended, ...]], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._ask = ask
        self._now = now
        self._lock = threading.Lock()
        self._tables: dict[str, Identifier] = {}  # by the folder of each table that was loaded
        self._kept: dict[Identifier, _Kept] = {}

    def seen(self, identifier: Identifier, folder: str) -> None:
        """A table was loaded, and lies there."""
        with self._lock:
            self._tables[folder.rstrip("/") + "/"] = identifier

    def access(self, location: str) -> StoreAccess:
        """What opens this location: that of the table it lies in, with the narrowest prefix that holds it."""
        identifier = self._table(location)
        now = self._now()
        kept = self._kept.get(identifier)
        if kept is None or not kept.holds(now + MARGIN):
            kept = _Kept(self._ask(identifier), now)
            with self._lock:
                self._kept[identifier] = kept
        found = next((one for one in kept.vended if location.startswith(one.prefix)), None)
        if found is None:
            raise Failed(
                f"The catalog vends no credentials for {location}, a file of {identifier}.",
                next_step="Ask whoever runs the catalog, or leave header.X-Iceberg-Access-Delegation out.",
            )
        return found.access

    def _table(self, location: str) -> Identifier:
        with self._lock:
            around = [folder for folder in self._tables if location.startswith(folder)]
            if around:
                return self._tables[max(around, key=len)]
        raise Failed(
            f"{location} lies in no table the catalog showed, so it vends no credentials for it.",
            next_step="Leave header.X-Iceberg-Access-Delegation out and use credentials of your own.",
        )
