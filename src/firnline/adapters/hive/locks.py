"""The metastore's lock on a table, as Iceberg's HiveCatalog takes it: exclusive, for the moment of one commit.

A writer that is killed leaves its lock behind. The metastore means to drop a lock that nobody has asked about for
hive.txn.timeout, but its housekeeper runs in few of them (not in the one inside pyspark), and then the table would stay
locked for ever. So whoever waits here drops such locks after that time, if they are of writers that promise to ask.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from hive_metastore.ttypes import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    ShowLocksRequest,
    UnlockRequest,
)

from firnline.adapters.hive.client import HiveClient
from firnline.adapters.hive.troubles import message, said
from firnline.adapters.hive.wire import Broken, Connection, Fault, Unreachable

WAIT_SECONDS = 60.0  # a commit holds the lock for well under a second: a queue longer than this does not move
BEAT_SECONDS = 20.0
SILENT_SECONDS = 300.0  # hive.txn.timeout, unless somebody set it
# We ask about a lock for as long as we hold it: one of ours that is silent has nobody behind it. What other engines do
# when they are only suspended is theirs to know, and their locks a person's to break.
_OURS = "firnline-"
_PATIENCE = 5.0  # seconds before the queue is looked at: to list locks disturbs those who take them
_GONE = frozenset({"NoSuchLockException", "NoSuchTxnException", "TxnAbortedException"})
_TRIES = 3
_PAUSE = 0.05
_PAUSE_MAX = 2.0
_TROUBLE = (Unreachable, Broken, Fault)


class NotHeld(Exception):
    """The lock is not ours, so nothing was changed. `again`: it can be had later."""

    def __init__(self, detail: str, *, again: bool) -> None:
        super().__init__(detail)
        self.detail = detail
        self.again = again


class Turns:
    """Who commits to a table next, among the threads of this process: one at a time asks the metastore for the lock.

    A dozen who ask at once can exhaust the connections of the metastore to its own database (ten, unless somebody set
    it), and then all of them stand still for a minute. Iceberg's HiveCatalog takes such turns too.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[tuple[str, str], tuple[threading.Lock, list[None]]] = {}

    @contextmanager
    def of(self, table: tuple[str, str], wait: float) -> Iterator[None]:
        """Our turn at this table; NotHeld when it does not come in time."""
        with self._guard:
            turn, users = self._waiting.setdefault(table, (threading.Lock(), []))
            users.append(None)
        try:
            if not turn.acquire(timeout=wait):
                raise NotHeld(f"another commit of this process took more than {wait:g} s", again=True)
            try:
                yield
            finally:
                turn.release()
        finally:
            with self._guard:
                users.pop()
                if not users:
                    del self._waiting[table]


@contextmanager
def held(client: HiveClient, line: Connection, table: tuple[str, str], wait: float) -> Iterator[int]:
    """The lock on a table, its id, until the block ends, however it ends. NotHeld when it cannot be had in time.

    It is given back after an unknown outcome too, as Iceberg does: should that call still be under way, what keeps it
    from undoing the next commit is the condition it carries, where the metastore holds conditions.
    """
    agent = f"{_OURS}{uuid.uuid4()}"
    lock = None
    try:
        lock = _asked(client, line, table, agent)
        if lock.state == LockState.WAITING:
            _wait(client, line, table, lock, wait)
        if lock.state != LockState.ACQUIRED:
            raise NotHeld(
                f"the metastore did not give the lock ({LockState._VALUES_TO_NAMES.get(lock.state)})", again=True
            )
        with _beating(client, lock.lockid):
            yield lock.lockid
    finally:
        _release(client, table, None if lock is None else lock.lockid, agent)


def confirm(line: Connection, lock: int) -> None:
    """NotHeld unless the lock is still ours; the time after which the server would drop it starts anew."""
    try:
        line.call("heartbeat", HeartbeatRequest(lockid=lock))
    except Broken as error:
        raise NotHeld(f"the connection broke before anything was changed: {message(error)}", again=True) from error
    except Fault as error:
        raise NotHeld(
            f"the metastore dropped the lock before anything was changed: {message(error)}", again=True
        ) from error


def _asked(client: HiveClient, line: Connection, table: tuple[str, str], agent: str) -> Any:
    component = LockComponent(type=LockType.EXCLUSIVE, level=LockLevel.TABLE, dbname=table[0], tablename=table[1])
    request = LockRequest([component], user=client.user, hostname=socket.gethostname(), agentInfo=agent)
    start = time.monotonic()
    try:
        return line.call("lock", request)
    except Fault as error:
        # The call declares no error for this, so the server's own text stays in its log. Without tables it fails at
        # once, and does not list locks either.
        if time.monotonic() - start < _PATIENCE and not _lists_locks(client, table):
            raise NotHeld(
                f"the metastore failed inside its lock service: {message(error)}. Most often its transaction tables "
                "(HIVE_LOCKS, NEXT_LOCK_ID and others) are missing: make them with Hive's schematool, or, where every "
                "writer is told so, set engine.hive.lock-enabled=false on the table",
                again=False,
            ) from error
        raise NotHeld(f"the metastore did not give the lock: {message(error)}", again=True) from error
    except Broken as error:
        raise NotHeld(f"the connection broke while the lock was asked for: {message(error)}", again=True) from error


def _lists_locks(client: HiveClient, table: tuple[str, str]) -> bool:
    try:
        _locks(client, table)
    except Fault:
        return False
    except (Unreachable, Broken):
        pass  # says nothing of the tables
    return True


def _wait(client: HiveClient, line: Connection, table: tuple[str, str], lock: Any, wait: float) -> None:
    """Until the lock is ours; NotHeld after `wait` seconds."""
    start, pause, looked = time.monotonic(), _PAUSE, False
    while lock.state == LockState.WAITING:
        waited = time.monotonic() - start
        if not looked and waited >= min(wait, _PATIENCE):
            _drop_silent(client, table, lock.lockid)
            looked = True
        elif waited >= wait:
            raise NotHeld(f"another writer held the lock for {wait:g} s: {_holders(client, table)}", again=True)
        else:
            time.sleep(min(pause, max(wait - waited, 0.0)))
            pause = min(pause * 1.5, _PAUSE_MAX)
        try:
            lock.state = line.call("check_lock", CheckLockRequest(lock.lockid)).state
        except Broken as error:
            raise NotHeld(
                f"the connection broke while the lock was waited for: {message(error)}", again=True
            ) from error
        except Fault as error:
            if error.name in _GONE:
                raise NotHeld(f"the metastore gave the lock up: {message(error)}", again=True) from error
            # Anything else is its database in trouble with itself: the place in the queue is still ours.


def _drop_silent(client: HiveClient, table: tuple[str, str], ours: int) -> None:
    """Drop the locks of Firnlines that have stopped asking. Time is the server's: that of our own lock, just made."""
    with contextlib.suppress(*_TROUBLE):
        locks = _locks(client, table)
        now = next((lock.lastheartbeat for lock in locks if lock.lockid == ours), 0)
        for lock in locks:
            if now - lock.lastheartbeat > SILENT_SECONDS * 1000 and (lock.agentInfo or "").startswith(_OURS):
                client.read("unlock", UnlockRequest(lock.lockid))


def _holders(client: HiveClient, table: tuple[str, str]) -> str:
    """Who holds the lock, in words."""
    try:
        locks = _locks(client, table)
    except _TROUBLE:
        return "by whom, the metastore did not say"
    holders = [
        f"lock {lock.lockid} of {said(lock.user)} on {said(lock.hostname)} ({said(lock.agentInfo or 'unnamed')}), "
        f"last heard of {datetime.fromtimestamp(lock.lastheartbeat / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
        for lock in locks
        if lock.state == LockState.ACQUIRED
    ]
    if not holders:
        return "nobody holds it by now"
    return (
        f"{'; '.join(holders[:3])}. If that writer is gone, its lock is dropped {SILENT_SECONDS:g} s after it was last "
        "heard of, by the metastore's housekeeper or, if it is Firnline's, by the next one that waits"
    )


def _locks(client: HiveClient, table: tuple[str, str]) -> list[Any]:
    return list(client.read("show_locks", ShowLocksRequest(dbname=table[0], tablename=table[1])).locks or ())


@contextmanager
def _beating(client: HiveClient, lock: int) -> Iterator[None]:
    """Tells the server now and then that the lock is in use, in case the commit call takes long."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            with contextlib.suppress(*_TROUBLE):  # `confirm` and the commit's own answer judge; this only asks
                client.read("heartbeat", HeartbeatRequest(lockid=lock))

    thread = threading.Thread(target=beat, name="hive-lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _release(client: HiveClient, table: tuple[str, str], lock: int | None, agent: str) -> None:
    """Give the lock back; one whose number never reached us is found by its agent.

    A metastore in trouble with its database is asked again: to unlock twice does no harm, and a lock that stays blocks
    every writer of the table for minutes. When all fails, it is dropped as a killed writer's would be.
    """
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * attempt)
        try:
            found = (
                [lock]
                if lock is not None
                else [each.lockid for each in _locks(client, table) if each.agentInfo == agent]
            )
            for each in found:
                client.read("unlock", UnlockRequest(each))
            return
        except Fault as error:
            if error.name in _GONE:
                return
        except (Unreachable, Broken) as error:
            if isinstance(error, Broken) and error.slow:
                return
