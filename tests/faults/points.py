"""Where a process can die or be lied to: calls counted, and one of them struck, before or after it does its work."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import Any

from firnline.adapters.local.catalog import SqliteCatalog


class Killed(BaseException):
    """The end of the process. Not an Exception: no handler of the product may take it for an error."""


class Fault:
    """Counts the calls whose names it watches, and strikes call number `at`.

    After a kill every further call fails: a dead process runs no `finally`, so what stands in one must do nothing.
    """

    def __init__(
        self,
        at: int | None = None,
        when: str = "before",
        strike: Callable[[str], BaseException] = Killed,
        watch: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.at = at
        self.when = when
        self.calls: list[str] = []
        self.dead = False
        self.struck: str | None = None
        # What another process does right before a call, once: the first of that name, or the call of that number.
        self.meanwhile: dict[str | int, Callable[[], object]] = {}
        self._strike = strike
        self._watch = watch

    def around(self, name: str, call: Callable[[], Any]) -> Any:
        if self.dead:
            raise Killed(name)
        for moment in (name, len(self.calls)):
            if moment in self.meanwhile:
                self.meanwhile.pop(moment)()
        mine = False
        if self._watch(name):
            mine = len(self.calls) == self.at
            self.calls.append(name)
        if mine and self.when == "before":
            self.hit(name)
        after = mine and self.when == "after"
        try:
            answer = call()
        except Exception:
            if after:
                self.hit(name)
            raise
        if after:
            answer = None  # a cursor held by the traceback would keep the dead process's lock
            self.hit(name)
        return answer

    def hit(self, name: str) -> None:
        self.struck = f"{self.when} {name} (call {self.at})"
        error = self._strike(name)
        self.dead = isinstance(error, Killed)
        raise error


class Probe:
    """A port whose every call goes through a fault."""

    def __init__(self, target: Any, room: str, fault: Fault) -> None:
        self._target, self._room, self._fault = target, room, fault

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        return lambda *values, **named: self._fault.around(f"{self._room}.{name}", lambda: method(*values, **named))


class StalePointers:
    """Pointers that once, at call `at`, answer with what was true before the last change of that entry."""

    def __init__(self, target: Any, at: int) -> None:
        self._target, self._at, self.finds = target, at, 0
        self._seen: dict[Any, list[Any]] = {}
        self.lied = False

    def find(self, identifier: Any) -> Any:
        now = self._target.find(identifier)
        seen = self._seen.setdefault(identifier, [])
        if not seen or seen[-1] != now:
            seen.append(now)
        self.finds += 1
        if self.finds - 1 == self._at and len(seen) > 1:
            self.lied = True
            return seen[-2]
        return now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


class ProbedConnection:
    """A SQLite connection whose every statement goes through a fault."""

    def __init__(self, real: sqlite3.Connection, room: str, fault: Fault) -> None:
        self.real, self._room, self._fault = real, room, fault

    @property
    def in_transaction(self) -> bool:
        return self.real.in_transaction

    def execute(self, sql: str, values: Any = ()) -> Any:
        return self._fault.around(f"{self._room}.{sql.split(maxsplit=1)[0]}", lambda: self.real.execute(sql, values))

    def executemany(self, sql: str, values: Any) -> Any:
        return self._fault.around(
            f"{self._room}.{sql.split(maxsplit=1)[0]}", lambda: self.real.executemany(sql, values)
        )

    def close(self) -> None:
        if not self._fault.dead:  # of a dead process the kernel closes it: `Machine.bury`
            self.real.close()


class ProbedCatalog(SqliteCatalog):
    """The catalog with every statement of its transactions a point."""

    def __init__(self, path: str, catalog: str, fault: Fault, opened: list[sqlite3.Connection]) -> None:
        super().__init__(path, catalog)
        self._fault, self._opened = fault, opened

    def _open(self) -> Any:
        connection = super()._open()
        self._opened.append(connection)
        return ProbedConnection(connection, "catalogdb", self._fault)


class ProbedOs:
    """The module `os` as the file writer sees it, its calls that change something being points."""

    _POINTS = ("link", "unlink", "fsync", "mkdir", "rename", "replace", "rmdir")

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self._POINTS:
            return real
        return lambda *values, **named: self._fault.around(f"os.{name}", lambda: real(*values, **named))
