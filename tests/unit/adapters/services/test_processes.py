"""Servers that outlive a command: known again without doubt, and stopped without harm to anybody else."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from firnline.adapters.services import processes
from firnline.adapters.services.processes import Process

SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(300)"
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(300)"
)


def begin(folder: Path, program: str) -> Process:
    """A process that has said it is up."""
    command = [sys.executable, "-c", program]
    started = processes.start(
        command, folder=folder, log=folder / "log", pid_file=folder / "pid", env={"MARKED": "here", **os.environ}
    )
    while not (folder / "log").read_bytes():
        assert not processes.is_gone(started)
        time.sleep(0.01)
    return started


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Process]:
    """One that does nothing until it is stopped."""
    process = begin(tmp_path, SLEEPER)
    yield process
    processes.stop(process)


def test_it_is_found_by_its_file(sleeper: Process, tmp_path: Path) -> None:
    """The file a process wrote leads back to it, number and mark, for as long as it lives."""
    assert processes.found(tmp_path / "pid") == sleeper
    processes.stop(sleeper)
    assert processes.is_gone(sleeper)
    assert processes.found(tmp_path / "pid") is None


def test_a_number_given_to_another_is_not_it(sleeper: Process, tmp_path: Path) -> None:
    """A process with the number in the file and another mark counts as gone, and is not stopped."""
    other = Process(sleeper.pid, f"{sleeper.mark}1")
    (tmp_path / "old").write_text(f"{other.pid} {other.mark}")
    assert processes.found(tmp_path / "old") is None
    processes.stop(other)
    assert not processes.is_gone(sleeper)


@pytest.mark.parametrize("text", ["", "x", "12 ", "999999999 a-1", "-1 a-1"])
def test_a_file_that_says_nothing_finds_nothing(tmp_path: Path, text: str) -> None:
    """A broken, foreign or old file finds no process."""
    (tmp_path / "pid").write_text(text)
    assert processes.found(tmp_path / "pid") is None


def test_who_does_not_listen_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ignores TERM is killed after the patience for it is over."""
    monkeypatch.setattr(processes, "STOP_SECONDS_MAX", 0.2)
    process = begin(tmp_path, STUBBORN)
    processes.stop(process)
    assert processes.is_gone(process)


def test_it_is_no_part_of_our_session(sleeper: Process) -> None:
    """A Ctrl-C on the terminal does not reach it: it has a session of its own."""
    assert os.getsid(sleeper.pid) == sleeper.pid
    assert os.getsid(sleeper.pid) != os.getsid(0)


def test_a_killed_one_is_gone_though_nobody_waited(sleeper: Process) -> None:
    """One that was killed from outside counts as gone at once, a child of ours or not."""
    os.kill(sleeper.pid, signal.SIGKILL)
    while not processes.is_gone(sleeper):
        time.sleep(0.01)
    assert not Path(f"/proc/{sleeper.pid}").exists()
