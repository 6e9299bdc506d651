"""Server processes that outlive the command that starts them: started, known again without doubt, stopped.

A process is known by its number *and* the moment it began (boot, and ticks since): a number the kernel has given to
somebody else since is never taken for it, and never killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS_MAX = 20.0  # a JVM that closes a Derby database under load has taken five
_LOOK_EVERY_SECONDS = 0.02
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# The server writes its own number, and when it began, before it becomes what it is: there is no moment in which it runs
# and no file says so. The text is constant: paths and options are its arguments, and no shell reads them.
_START = """
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null); ticks=$(cut -d " " -f 22 "/proc/$$/stat" 2>/dev/null)
printf "%s %s-%s" "$$" "$boot" "$ticks" >"$1.new" && mv "$1.new" "$1" && shift && exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine. Without /proc its mark is `-`, and its number alone has to do."""

    pid: int
    mark: str


def start(command: Sequence[str], *, folder: Path, log: Path, pid_file: Path, env: Mapping[str, str]) -> Process:
    """A process in a session of its own, with no terminal, that says everything into the log."""
    pid_file.unlink(missing_ok=True)
    with log.open("ab") as said:
        child = subprocess.Popen(
            ["/bin/sh", "-c", _START, "firnline", str(pid_file), *command],
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    child.returncode = 0  # nobody waits for it: Python would complain that it runs on, which is the point
    return Process(child.pid, mark_of(child.pid))


def found(pid_file: Path) -> Process | None:
    """The process that wrote this file, when it lives; None when it ended, or its number is another's by now."""
    try:
        number, _, mark = pid_file.read_text(encoding="ascii").partition(" ")
        process = Process(int(number), mark)
    except (OSError, ValueError):
        return None
    return None if is_gone(process) else process


def is_gone(process: Process) -> bool:
    """Whether this process has ended, or its number stands for another one."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)  # a child of ours that has ended stays in the table till it is asked for
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return True  # another user's: ours ended, and its number was given away
    now = _stat(process.pid)
    return (now is not None and now[0] in {"Z", "X"}) or mark_of(process.pid) != process.mark


def stop(process: Process) -> None:
    """Ask it to end, wait, and end it. Nothing is done to a process that only has its number."""
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS_MAX), (signal.SIGKILL, STOP_SECONDS_MAX)):
        if is_gone(process):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if is_gone(process):
                return
            time.sleep(_LOOK_EVERY_SECONDS)


def mark_of(pid: int) -> str:
    """When the process of this number began: boot, and ticks since. `-` where the system does not tell."""
    stat = _stat(pid)
    return "-" if stat is None else f"{_BOOT.read_text(encoding='ascii').strip()}-{stat[19]}"


def _stat(pid: int) -> list[str] | None:
    """What `/proc` says of a process after its name: state first, start time twentieth."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rsplit(")", 1)[1].split()
