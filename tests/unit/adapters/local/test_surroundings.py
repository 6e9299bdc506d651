"""The process itself: its name, whether another one still lives, its background, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, timedelta

import pytest

from firnline.adapters.local import surroundings as around
from firnline.adapters.local.surroundings import background, hold_back_interrupts, is_gone, process_name, surroundings


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """A process of our own, alive until its standard input closes."""
    command = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def test_a_process_that_ends(child: subprocess.Popen[str]) -> None:
    """A living process is not gone; once it has ended it is, whatever run it names before its own name."""
    name = process_name(child.pid)
    assert not is_gone(name)
    assert not is_gone(f"20261119T120000-12345678 {name}")
    end(child)
    assert is_gone(name)
    assert is_gone(f"20261119T120000-12345678 {name}")


def test_a_process_nobody_waited_for(child: subprocess.Popen[str]) -> None:
    """A process that was killed is gone before its parent looks: it does nothing any more."""
    name = process_name(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(name)


def test_oneself() -> None:
    """This process lives; one of its number that began at another time does not."""
    name = surroundings().owner
    assert name == process_name(os.getpid())
    assert not is_gone(name)
    assert is_gone(name.rsplit("-", 1)[0] + "-1")


def _replaced(at: int, value: str) -> str:
    host, pid, mark = process_name(os.getpid()).rsplit(":", 2)
    boot, space, start = mark.split("-")
    parts = [host, pid, boot, space, start]
    parts[at] = value
    return f"{parts[0]}:{parts[1]}:{parts[2]}-{parts[3]}-1"


@pytest.mark.parametrize(
    "owner",
    [
        _replaced(0, "another-host"),
        _replaced(2, "00000000"),
        _replaced(3, "1"),
        _replaced(1, "not-a-number"),
        _replaced(1, str(2**70)),
        "",
        "somebody",
        f"{socket.gethostname()}:1",
        f"{socket.gethostname()}:{os.getpid()}:odd",
        "a:b:c-d-e-f",
    ],
)
def test_any_doubt_is_no(owner: str) -> None:
    """Of another machine, boot or container, and of a name nobody can read, nothing is known: they are waited for."""
    assert not is_gone(owner)


def test_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system tells nothing of processes they have shorter names, and nobody is ever gone."""
    monkeypatch.setattr(around, "_mark", lambda _: None)
    assert process_name(7) == f"{socket.gethostname()}:7"
    assert not is_gone(f"{socket.gethostname()}:7:?-?-?") or os.getpid() == 7
    assert not is_gone(process_name(7))


def test_surroundings() -> None:
    """Time has a zone, and chance is as long as was asked for."""
    real = surroundings()
    assert real.now().tzinfo is UTC
    assert len(real.entropy(8)) == 8
    assert real.entropy(8) != real.entropy(8)


def test_background() -> None:
    """The tick comes while the block lasts, on another thread, and not after it."""
    came = threading.Event()
    threads: list[threading.Thread] = []

    def tick() -> None:
        threads.append(threading.current_thread())
        came.set()

    with background(tick, timedelta(milliseconds=1)):
        assert came.wait(timeout=30)
    assert threads[0] is not threading.current_thread()
    assert not threads[0].is_alive()


def test_background_that_is_left_by_an_error() -> None:
    """An error in the block ends the background too."""
    before = threading.active_count()
    with pytest.raises(KeyError), background(lambda: None, timedelta(hours=1)):
        raise KeyError("x")
    assert threading.active_count() == before


@pytest.fixture
def interrupt() -> Iterator[Callable[[], None]]:
    """Sends this process the signal of a Ctrl-C; the handler is put back afterwards."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_a_first_interrupt_waits(interrupt: Callable[[], None]) -> None:
    """The first Ctrl-C is told at once and takes effect at the end of the block."""
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt), hold_back_interrupts(lambda: said.append("told")):  # noqa: PT012 -- leaving the block is what is tested
        interrupt()
        said.append("finished")
    assert said == ["told", "finished"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not(interrupt: Callable[[], None]) -> None:
    """Who presses it twice means it."""
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt), hold_back_interrupts(lambda: said.append("told")):  # noqa: PT012 -- leaving the block is what is tested
        interrupt()
        interrupt()
        said.append("finished")
    assert said == ["told"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_no_interrupt(interrupt: Callable[[], None]) -> None:
    """Without one nothing happens, and the next one works as always."""
    with hold_back_interrupts(lambda: None):
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_an_error_and_an_interrupt(interrupt: Callable[[], None]) -> None:
    """An error in the block goes out with its handler put back."""
    with pytest.raises(KeyError), hold_back_interrupts(lambda: None):
        raise KeyError("x")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    del interrupt


def test_ignored_interrupts(interrupt: Callable[[], None]) -> None:
    """Where Ctrl-C is ignored, as in the background of a shell, it stays ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with hold_back_interrupts(lambda: None):
        interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads() -> None:
    """In another thread no signal can be held back, and the block runs all the same."""
    before = signal.getsignal(signal.SIGINT)
    ran: list[bool] = []

    def go() -> None:
        with hold_back_interrupts(lambda: None):
            ran.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    assert ran == [True]
