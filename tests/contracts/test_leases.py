"""The port `Leases`, verb by verb, over every adapter."""

from __future__ import annotations

import multiprocessing
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from firnline.adapters.local.leases import SqliteLeases
from firnline.adapters.local.state import open_state
from firnline.loop.ports import REASONS_MAX, STEAL_MARGIN, WANTED_LASTS, Lease, LeaseItem, Leases, Rank

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)
KEY = "lake/8d1f"


def take(
    leases: Leases, owner: str = "me", *, rank: Rank = Rank.REST, now: datetime = NOW, gone: str | None = None
) -> Lease | None:
    return leases.acquire(KEY, owner, rank, now, MINUTE, gone=gone)


def taken(leases: Leases, owner: str = "me", *, rank: Rank = Rank.REST, now: datetime = NOW) -> Lease:
    lease = take(leases, owner, rank=rank, now=now)
    assert lease is not None
    return lease


def item(leases: Leases) -> LeaseItem:
    found = leases.look(KEY)
    assert found is not None
    return found


def test_a_free_key(leases: Leases) -> None:
    """A key nobody ever spoke of can be had, with everything in the lease that was asked for."""
    assert leases.look(KEY) is None
    assert taken(leases) == Lease(KEY, "me", 1, 0, NOW + MINUTE, Rank.REST)
    assert (item(leases).owner, item(leases).until, item(leases).fence) == ("me", NOW + MINUTE, 1)


@pytest.mark.parametrize("owner", ["you", "me"])
def test_one_holder(leases: Leases, owner: str) -> None:
    """While one holds it nobody gets it, the holder itself neither: two of its threads are two."""
    taken(leases)
    assert take(leases, owner) is None
    assert leases.acquire("another key", owner, Rank.REST, NOW, MINUTE) is not None


@pytest.mark.parametrize(
    ("after", "stolen"), [(timedelta(0), False), (STEAL_MARGIN, False), (STEAL_MARGIN + TICK, True)]
)
def test_steal_margin(leases: Leases, after: timedelta, stolen: bool) -> None:
    """A lease is stolen only when its end is further back than two clocks may differ."""
    mine = taken(leases)
    theirs = take(leases, "you", now=mine.until + after)
    assert (theirs is not None) is stolen
    assert leases.guard(mine, NOW, MINUTE) is not stolen


def test_a_holder_that_is_gone(leases: Leases) -> None:
    """The lease of an owner known to be dead is free at once; naming somebody else frees nothing."""
    taken(leases, "dead")
    assert take(leases, "you", gone="somebody else") is None
    lease = take(leases, "you", gone="dead")
    assert lease is not None
    assert lease.fence == 2


def test_fences_grow(leases: Leases) -> None:
    """Every acquisition has a higher fence than all before it, whichever way the last one ended."""
    fences = []
    for end in (leases.release, leases.complete, lambda lease: leases.fail(lease, NOW, 9), leases.release):
        lease = taken(leases)
        fences.append(lease.fence)
        end(lease)
    assert fences == [1, 2, 3, 4]


def test_renewed(leases: Leases) -> None:
    """Renewing makes a lease longer and never shorter."""
    lease = taken(leases)
    longer = leases.renew(lease, NOW + MINUTE / 2, MINUTE)
    assert longer is not None
    assert longer.until == NOW + MINUTE * 1.5
    same = leases.renew(longer, NOW, timedelta(seconds=1))
    assert same is not None
    assert same.until == longer.until


def test_renewed_late(leases: Leases) -> None:
    """A lease past its end that nobody took is still its holder's to renew."""
    lease = taken(leases)
    late = NOW + MINUTE * 5
    assert not leases.guard(lease, late, timedelta(0))
    renewed = leases.renew(lease, late, MINUTE)
    assert renewed is not None
    assert leases.guard(renewed, late, MINUTE)


@pytest.mark.parametrize(("budget", "enough"), [(MINUTE, True), (MINUTE + TICK, False)])
def test_guard(leases: Leases, budget: timedelta, enough: bool) -> None:
    """A guard says yes only with the whole budget left."""
    assert leases.guard(taken(leases), NOW, budget) is enough


def test_a_lost_lease(leases: Leases) -> None:
    """Whoever lost a lease can do nothing with it, and above all nothing to the new holder."""
    lost = taken(leases)
    late = lost.until + STEAL_MARGIN + TICK
    theirs = taken(leases, "me", now=late)  # of the same name: only the fence tells them apart
    before = item(leases)
    assert leases.renew(lost, late, MINUTE) is None
    assert not leases.guard(lost, late, timedelta(0))
    assert not leases.fail(lost, late + MINUTE, 1)
    assert not leases.complete(lost)
    leases.release(lost)
    assert item(leases) == before
    assert leases.guard(theirs, late, MINUTE)


def test_release(leases: Leases) -> None:
    """Giving back leaves the work asked for, no attempt counted, and the key free at once."""
    leases.mark(KEY, "snapshots piled up")
    leases.release(taken(leases))
    found = item(leases)
    assert (found.owner, found.until, found.rank) == (None, None, None)
    assert (found.requested, found.done, found.attempt, found.not_before) == (1, 0, 0, None)
    assert take(leases, "you") is not None


def test_generations(leases: Leases) -> None:
    """A holder works for what was asked for when it came; what comes meanwhile is one more run and not ten."""
    assert [leases.mark(KEY, "a"), leases.mark(KEY, "b")] == [1, 2]
    lease = taken(leases)
    assert lease.generation == 2
    leases.mark(KEY, "c")
    leases.mark(KEY, "d")
    assert leases.complete(lease), "more was asked for"
    assert item(leases).reasons == ("a", "b", "c", "d")
    again = taken(leases)
    assert again.generation == 4
    assert not leases.complete(again)
    found = item(leases)
    assert (found.requested, found.done, found.running, found.reasons) == (4, 4, 4, ())


def test_lost_before_complete(leases: Leases) -> None:
    """On a lost lease `complete` does nothing, and says whether work is still asked for."""
    leases.mark(KEY, "a")
    lost = taken(leases)
    theirs = taken(leases, "you", now=lost.until + STEAL_MARGIN + TICK)
    assert leases.complete(lost)
    assert item(leases).done == 0
    assert not leases.complete(theirs)
    assert not leases.complete(lost)


def test_reasons(leases: Leases) -> None:
    """Reasons are kept once each, the newest last and no more than enough to explain a run."""
    for number in range(REASONS_MAX + 3):
        leases.mark(KEY, f"reason {number}")
    leases.mark(KEY, "reason 10")
    expected = [f"reason {number}" for number in range(3, REASONS_MAX + 3) if number != 10]
    assert item(leases).reasons == (*expected, "reason 10")


def test_fail(leases: Leases) -> None:
    """After a failure a key waits for its time, counts the attempt, and forgets it when the work is done."""
    assert not leases.fail(taken(leases), NOW + MINUTE, attempts_max=3)
    assert (item(leases).attempt, item(leases).not_before) == (1, NOW + MINUTE)
    assert take(leases, now=NOW + MINUTE - TICK) is None
    lease = taken(leases, now=NOW + MINUTE)
    assert lease.attempt == 1
    assert item(leases).not_before is None
    leases.complete(lease)
    assert item(leases).attempt == 0


def test_failing_too_often(leases: Leases) -> None:
    """The last attempt parks the key, until a person lifts that."""
    assert not leases.fail(taken(leases), NOW, attempts_max=2)
    assert leases.fail(taken(leases), NOW, attempts_max=2)
    assert item(leases).parked
    assert take(leases, now=NOW + MINUTE) is None
    leases.unpark(KEY)
    assert taken(leases).attempt == 0


def test_parked(leases: Leases) -> None:
    """A parked key is had by nobody, a mark does not lift that, and who holds it may finish."""
    lease = taken(leases)
    leases.park(KEY, "its owner asked for it")
    assert leases.guard(lease, NOW, MINUTE)
    assert leases.renew(lease, NOW, MINUTE) is not None
    leases.complete(lease)
    assert item(leases).reasons == ("its owner asked for it",)
    leases.mark(KEY, "more work")
    assert take(leases, rank=Rank.ERASURE, gone="me") is None
    leases.unpark(KEY)
    assert taken(leases).generation == 1


def test_parking_what_nobody_knows(leases: Leases) -> None:
    """A key can be parked before anybody held it; lifting what is not parked does nothing."""
    leases.unpark(KEY)
    assert leases.look(KEY) is None
    leases.park(KEY, "not yet")
    assert take(leases) is None


@pytest.mark.parametrize("rank", list(Rank)[1:])
def test_wanted(leases: Leases, rank: Rank) -> None:
    """A higher rank does not get a held lease, but the holder hears of it at its next renewal."""
    lease = taken(leases)
    assert lease.wanted is None
    assert take(leases, "you", rank=rank) is None
    renewed = leases.renew(lease, NOW, MINUTE)
    assert renewed is not None
    assert (renewed.wanted, item(leases).wanted) == (rank, rank)


@pytest.mark.parametrize("rank", [Rank.REST, Rank.COMPACTION])
def test_not_wanted(leases: Leases, rank: Rank) -> None:
    """The same or a lower rank waits without a word."""
    lease = taken(leases, rank=Rank.COMPACTION)
    take(leases, "you", rank=rank)
    renewed = leases.renew(lease, NOW, MINUTE)
    assert renewed is not None
    assert renewed.wanted is None


def test_wanted_by_several(leases: Leases) -> None:
    """The highest rank that waits is the one that counts."""
    lease = taken(leases)
    for rank in (Rank.FOLD, Rank.ERASURE, Rank.COMPACTION):
        assert take(leases, "you", rank=rank) is None
    renewed = leases.renew(lease, NOW, MINUTE)
    assert renewed is not None
    assert renewed.wanted is Rank.ERASURE


def test_the_higher_rank_goes_first(leases: Leases) -> None:
    """A lease given up to a higher rank is kept for it, and for whoever is above it; afterwards it is forgotten."""
    lease = taken(leases)
    take(leases, "publisher", rank=Rank.PUBLISH)
    leases.release(lease)
    assert take(leases, "compactor", rank=Rank.COMPACTION) is None
    higher = taken(leases, "eraser", rank=Rank.ERASURE)
    assert higher.wanted is None
    leases.release(higher)
    assert take(leases, "compactor", rank=Rank.COMPACTION) is not None


@pytest.mark.parametrize(("after", "free"), [(WANTED_LASTS, False), (WANTED_LASTS + TICK, True)])
def test_a_wish_lapses(leases: Leases, after: timedelta, free: bool) -> None:
    """Whoever wanted it and died is in nobody's way for longer than that."""
    lease = taken(leases)
    take(leases, "publisher", rank=Rank.PUBLISH)
    leases.release(lease)
    assert (take(leases, "you", now=NOW + after) is not None) is free


def test_a_lapsed_wish_is_not_told(leases: Leases) -> None:
    """A holder is not asked to stop for somebody who wanted it long ago."""
    lease = taken(leases)
    take(leases, "publisher", rank=Rank.PUBLISH)
    renewed = leases.renew(lease, NOW + WANTED_LASTS + TICK, MINUTE)
    assert renewed is not None
    assert renewed.wanted is None
    take(leases, "compactor", rank=Rank.COMPACTION, now=NOW + WANTED_LASTS + TICK)
    assert item(leases).wanted is Rank.COMPACTION


@pytest.mark.parametrize("key", ["lake/a b'\";--", "läke/日本/🐘", "x" * 5_000])
def test_any_key(leases: Leases, key: str) -> None:
    """Keys are texts: nothing in them means anything."""
    leases.mark(key, "'; DROP TABLE leases")
    lease = leases.acquire(key, "me", Rank.REST, NOW, MINUTE)
    assert lease is not None
    assert lease.key == key
    assert leases.look(key + "x") is None


def _race(path: str, together: object, won: object) -> None:
    state = open_state(Path(path))
    leases = SqliteLeases(state)
    together.wait()  # type: ignore[attr-defined]
    for number in range(50):
        if leases.acquire(f"key {number}", f"{id(state)}", Rank.REST, NOW, MINUTE) is not None:
            won.put(number)  # type: ignore[attr-defined]
    state.close()


def test_processes_race(tmp_path: Path) -> None:
    """Of processes that ask for one key at one moment exactly one gets it, a fresh file included."""
    context = multiprocessing.get_context("spawn")
    together, won = context.Barrier(3), context.Queue()
    racers = [context.Process(target=_race, args=(str(tmp_path / "state.db"), together, won)) for _ in range(3)]
    for racer in racers:
        racer.start()
    keys = [won.get(timeout=60) for _ in range(50)]
    for racer in racers:
        racer.join()
        assert racer.exitcode == 0
    assert sorted(keys) == list(range(50))
    assert won.empty()


def test_threads_race(leases: Leases) -> None:
    """Threads on one connection race as processes do, and every taker knows its own fence."""
    together = threading.Barrier(4)
    fences: list[int] = []

    def go(owner: str) -> None:
        together.wait()
        taken = 0
        while taken < 15:
            lease = take(leases, owner)
            if lease is not None:
                assert leases.guard(lease, NOW, MINUTE)
                fences.append(lease.fence)
                leases.release(lease)
                taken += 1

    threads = [threading.Thread(target=go, args=(f"thread {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fences) == list(range(1, 4 * 15 + 1))
