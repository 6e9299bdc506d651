"""A lease while it is held: taken with bounded patience, renewed, asked for before each commit, given back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from firnline.core import instants
from firnline.core.errors import FirnlineError
from firnline.loop.ports import Lease, LeaseItem, Leases, Rank
from firnline.loop.registry import Bounds, StepKind
from firnline.loop.surroundings import Surroundings
from firnline.loop.values import Step

MISSES_MAX = 2  # renewals that fail in a row before the lease counts as lost: the third would come after its end
_POLL_FIRST = 0.1
_POLL_MAX = 2.0


class Holding:
    """One held lease. Renewals may come from another thread, so what is known of it is behind a lock."""

    def __init__(self, lease: Lease, leases: Leases, surroundings: Surroundings, bounds: Bounds) -> None:
        self._lease = lease
        self._leases = leases
        self._surroundings = surroundings
        self._bounds = bounds
        self._misses = 0
        self._lock = threading.Lock()
        self.lost = False

    @property
    def wanted(self) -> Rank | None:
        """A higher rank that waits, as of the last renewal."""
        return self._lease.wanted

    def renew(self) -> None:
        """One renewal. A refused one means the lease was lost; so do `MISSES_MAX` in a row that could not be asked."""
        with self._lock:
            if self.lost:
                return
            try:
                renewed = self._leases.renew(self._lease, self._surroundings.now(), self._bounds.lease_length)
            except FirnlineError:
                self._misses += 1
                self.lost = self._misses >= MISSES_MAX
                return
            self._misses = 0
            if renewed is None:
                self.lost = True
            else:
                self._lease = renewed

    def held(self) -> bool:
        """Whether a commit may be sent now: the lease is ours and long enough. Not knowing is no."""
        if self._lease.until - self._surroundings.now() < self._bounds.lease_length * 2 / 3:
            self.renew()
        if self.lost:
            return False
        try:
            return self._leases.guard(self._lease, self._surroundings.now(), self._bounds.commit_budget)
        except FirnlineError:
            return False

    def release(self) -> None:
        """Give it back. Not `complete`: a plan somebody applied answers no mark, and must not swallow one."""
        try:
            self._leases.release(self._lease)
        except FirnlineError:
            return  # what was done is done and recorded; a lease nobody gave back lapses


def take(
    step: Step,
    kind: StepKind,
    leases: Leases,
    surroundings: Surroundings,
    owner: str,
    on_wait: Callable[[str], None],
) -> Holding | str:
    """The step's lease, or the sentence that says why not and until when.

    Waits for a holder no longer than the surroundings' patience; a parked key, or one whose time is further away than
    that, is not waited for at all. A holder whose process is gone is waited for only as long as a commit of its may
    still land.
    """
    waited, pause, gone = 0.0, _POLL_FIRST, None
    patience, margin = surroundings.patience.total_seconds(), surroundings.landing_margin.total_seconds()
    while True:
        now = surroundings.now()
        lease = leases.acquire(step.lease, owner, kind.rank, now, kind.bounds.lease_length, gone=gone)
        if lease is not None:
            return Holding(lease, leases, surroundings, kind.bounds)
        item = leases.look(step.lease)
        hopeless = _hopeless(step, item, now + timedelta(seconds=patience - waited))
        if hopeless or waited >= patience:
            return hopeless or _still_held(step, item, waited)
        owner_now = item.owner if item is not None else None
        if owner_now is not None and owner_now != gone and waited + margin <= patience and surroundings.gone(owner_now):
            gone, wait = owner_now, margin
        else:
            wait = pause = min(pause * (1.5 + surroundings.entropy(1)[0] / 255), _POLL_MAX)
        if waited == 0.0:
            on_wait(_still_held(step, item, waited))
        wait = min(wait, patience - waited) if patience > waited else 0.0
        surroundings.sleep(wait)
        waited += max(wait, 0.001)  # a patience of nothing still ends


def _hopeless(step: Step, item: LeaseItem | None, deadline: datetime) -> str | None:
    if item is None:
        return None
    if item.parked:
        return f"{step.subject} is parked: {'; '.join(item.reasons[-3:]) or 'no reason was given'}. Lift that first."
    if item.not_before is not None and item.not_before > deadline:
        return f"{step.subject} failed before and is not to be tried until {instants.show(item.not_before)}."
    return None


def _still_held(step: Step, item: LeaseItem | None, waited: float) -> str:
    after = f", still after {waited:.0f} s of waiting" if waited >= 1 else ""
    if item is None or item.owner is None:
        return f"{step.subject} is wanted by work of a higher rank{after}; apply again later."
    until = f" until {instants.show(item.until)}" if item.until else ""
    return (
        f"{step.subject} is held by {item.owner}{until}{after}; a holder that was killed loses it soon after that time."
    )
