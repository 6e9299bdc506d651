"""What apply takes from the world besides its ports: the time, a way to wait, chance, and who it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from firnline.loop.values import Step

Background = Callable[[Callable[[], None], timedelta], AbstractContextManager[None]]


def no_background(tick: Callable[[], None], every: timedelta) -> AbstractContextManager[None]:
    """Nothing in the background: leases are renewed between the calls of a step only."""
    del tick, every
    return nullcontext()


def nobody_gone(owner: str) -> bool:
    """Nothing is known of other processes: their leases are waited for."""
    del owner
    return False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`owner` names this process in leases. `gone` says whether an owner's process certainly is no more.

    `landing_margin` is how long a commit may still be on its way: that of a process that is gone, or one whose reply
    was lost. Nobody takes its table over, and nothing is sent a second time, before that.
    `background` calls its first argument every so often until it is left: the renewer of long steps. `shield` surrounds
    the short time between an intent and its recorded outcome: it may hold back the interruptions a person sends.
    """

    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    entropy: Callable[[int], bytes]
    owner: str
    patience: timedelta = timedelta(seconds=120)  # longer than a killed holder's lease and the margin after it
    landing_margin: timedelta = timedelta(seconds=5)  # a commit call that came apart ends in milliseconds, or never
    gone: Callable[[str], bool] = nobody_gone
    background: Background = no_background
    shield: Callable[[], AbstractContextManager[None]] = nullcontext


class Moment(StrEnum):
    """What is happening, for whoever watches."""

    WAITING = "waiting"
    SETTLED = "settled"
    RUNNING = "running"
    RETRYING = "retrying"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Progress:
    """One thing to tell the person who waits. `position` counts from 1; 0: a step of an earlier run, to be settled."""

    moment: Moment
    step: Step
    position: int
    total: int
    text: str = ""
