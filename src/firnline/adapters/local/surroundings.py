"""The real surroundings of a process: its clock, its name, whether another process still lives, and Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType

from firnline.loop.surroundings import Surroundings


def surroundings(on_interrupt: Callable[[], None] | None = None) -> Surroundings:
    """This process. `on_interrupt` is told when a Ctrl-C is held back until the commit at hand is recorded."""
    return Surroundings(
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
        entropy=secrets.token_bytes,
        owner=process_name(os.getpid()),
        gone=is_gone,
        background=background,
        shield=lambda: hold_back_interrupts(on_interrupt or (lambda: None)),
    )


def process_name(pid: int) -> str:
    """`host:pid`, and where the system tells, what sets this process apart from a later one of the same number."""
    mark = _mark(pid)
    return f"{socket.gethostname()}:{pid}" + (f":{mark}" if mark else "")


def _mark(pid: int) -> str | None:
    # Boot, process-id namespace and start time: another container or a reused number never looks like this process.
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
        space = Path("/proc/self/ns/pid").stat().st_ino
        return f"{boot}-{space}-{_stat(pid)[19]}"
    except (OSError, IndexError):
        return None


def _stat(pid: int) -> list[str]:
    """What `/proc` says of a process after its name: state first, start time twentieth."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()


def is_gone(owner: str) -> bool:
    """Whether the process that calls itself this certainly is no more. Any doubt is no."""
    name = owner.rsplit(" ", 1)[-1]
    try:
        host, pid, mark = name.rsplit(":", 2)
        boot, space, _ = mark.split("-")
        own_boot, own_space, _ = (_mark(os.getpid()) or "?-?-?").split("-")
        # Only of our own machine and namespace can we tell. After a reboot the boot differs, and nothing is known of
        # disks shared with other machines of the same name: their leases lapse by time.
        if (host, boot, space) != (socket.gethostname(), own_boot, own_space):
            return False
        found = _mark(int(pid))
        return _is_no_more(int(pid)) if found is None or found == mark else True
    except (ValueError, OverflowError):
        return False


def _is_no_more(pid: int) -> bool:
    """Whether the number is free, or its process has ended and only waits for its parent to look."""
    try:
        os.kill(pid, 0)  # a process of another user may be hidden from /proc: the kernel still knows it
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        return _stat(pid)[0] in {"Z", "X"}
    except (OSError, IndexError):
        return False


@contextlib.contextmanager
def background(tick: Callable[[], None], every: timedelta) -> Iterator[None]:
    """Call `tick` every so often on a thread of its own, until left."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(every.total_seconds()):
            tick()

    thread = threading.Thread(target=beat, name="firnline-renewer", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=1.0)


@contextlib.contextmanager
def hold_back_interrupts(told: Callable[[], None]) -> Iterator[None]:
    """Keep a first Ctrl-C until the end of the block; a second one goes through at once.

    Only in the main thread can signals be caught; elsewhere this does nothing. Nor where they are ignored, as in the
    background of a shell.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield
        return
    came: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt
        told()

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
    if len(came) == 1:
        raise KeyboardInterrupt
