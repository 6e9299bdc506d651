"""Starts, shows and stops the services of a project. One command at a time does; the others wait for it.

A service's folder has its data, `log`, `ports.json`, `pid`, and once it answers `service.json`, which is what other
commands read. The process is the truth: a `service.json` whose process is gone counts for nothing.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from firnline.adapters.local import locks, machine
from firnline.adapters.services import addresses, aws, logs, metastore, processes, rest_catalog, seaweed
from firnline.adapters.services.processes import Process
from firnline.adapters.services.values import Home, Running, Seat, Service
from firnline.config.aws import Keys
from firnline.core.errors import BadInput, Failed
from firnline.core.suggest import did_you_mean

SERVICES: Mapping[str, Service] = {
    each.name: each for each in (seaweed.SERVICE, metastore.SERVICE, rest_catalog.SERVICE, aws.GLUE, aws.DYNAMODB)
}
START_SECONDS_MAX = 120.0  # on two loaded cores the slowest, a JVM, took sixteen
_STARTS_MAX = 3  # somebody else may take a port between choosing and using it
_LOOK_EVERY_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class State:
    """A service as it is now. `running` is None when it does not run, or does not answer (yet)."""

    service: Service
    folder: Path
    process: Process | None
    running: Running | None

    @property
    def word(self) -> str:
        """running, starting, or stopped."""
        return "running" if self.running else "starting" if self.process else "stopped"


def up(home: Home, names: Iterable[str]) -> tuple[State, ...]:
    """Start these services and those they stand on. What runs already is left as it is, unless what it stands on has
    moved: such a one is started again, named or not.
    """
    wanted = ordered(names)
    with locks.held(home.folder / ".lock"):
        for service in ordered((*(each.name for each in wanted), *SERVICES)):
            found = state(home, service).running
            if found is None and service in wanted:
                with home.notify(f"Starting {service.name}"):
                    _start(home, service)
            elif found is not None and _is_misled(home, found):
                with home.notify(f"Restarting {service.name}: {' and '.join(service.needs)} moved"):
                    _start(home, service)
    return tuple(state(home, service) for service in wanted)


def down(home: Home, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Stop these services, or all, and say which ran. Their data stays. What stands on them stops too, and first."""
    chosen = _with_dependents({service.name for service in map(find, names)} or set(SERVICES))
    stopped: list[str] = []
    if not home.folder.is_dir():
        return ()
    with locks.held(home.folder / ".lock"):
        for service in reversed(tuple(SERVICES.values())):
            found = state(home, service)
            if service.name in chosen and found.process is not None:
                with home.notify(f"Stopping {service.name}"):
                    _stop(found)
                stopped.append(service.name)
    return tuple(stopped)


def states(home: Home) -> tuple[State, ...]:
    """Every service there is, running or not. Nothing is written and nobody is asked over the network."""
    return tuple(state(home, service) for service in SERVICES.values())


def state(home: Home, service: Service) -> State:
    """What is known of this service."""
    folder = home.folder / service.name
    process = processes.found(folder / "pid")
    return State(service, folder, process, _read(folder, process))


def find(name: str) -> Service:
    """The service of this name."""
    if name not in SERVICES:
        raise BadInput(f"There is no local service {name!r}.", next_step=did_you_mean(name, SERVICES))
    return SERVICES[name]


def ordered(names: Iterable[str]) -> tuple[Service, ...]:
    """These services and all they stand on, those first."""

    def with_needs(service: Service) -> Iterator[Service]:
        for need in service.needs:
            yield from with_needs(SERVICES[need])
        yield service

    return tuple(dict.fromkeys(each for name in names for each in with_needs(find(name))))


def _with_dependents(names: set[str]) -> set[str]:
    return {name for name in SERVICES if names & {each.name for each in ordered([name])}}


def _is_misled(home: Home, running: Running) -> bool:
    """Whether it was told something else of a service it stands on than is true now. Of one that does not run nothing
    better can be told.
    """
    others = {need: state(home, SERVICES[need]).running for need in SERVICES[running.name].needs}
    return any(other and other.digest != running.stands_on.get(need) for need, other in others.items())


def _start(home: Home, service: Service) -> None:
    folder = home.folder / service.name
    (folder / "data").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    for attempt in range(1, _STARTS_MAX + 1):
        # One that was begun and never answered: its command was killed in between, or it is stuck.
        _stop(state(home, service))
        seat = _seat(home, service)
        try:
            _launch(seat, service)
        except Failed:
            if attempt == _STARTS_MAX or not logs.says_port_taken(folder):
                raise
            addresses.forget(folder / "ports.json")
        else:
            return


def _seat(home: Home, service: Service) -> Seat:
    folder = home.folder / service.name
    others = {need: _standing(home, SERVICES[need], service) for need in service.needs}
    return Seat(home, folder, addresses.ports(folder / "ports.json", service.ports), _keys(home), others)


def _standing(home: Home, need: Service, service: Service) -> Running:
    found = state(home, need)
    if found.running is None:
        raise Failed(
            f"The local service {need.name} ended before {service.name}, which stands on it, was started.",
            why=logs.last_words(found.folder),
            next_step=f"`firnline local logs {need.name}` shows all it said.",
        )
    return found.running


def _launch(seat: Seat, service: Service) -> None:
    launch = service.launch(seat)
    logs.rotate(seat.folder)
    # A person's own AWS keys are no business of a server here, and some servers would make them an administrator's.
    own = {name: value for name, value in seat.home.env.items() if not name.startswith("AWS_")}
    env = {**own, **launch.env}
    process = processes.start(
        launch.command, folder=seat.folder, log=seat.folder / logs.NAME, pid_file=seat.folder / "pid", env=env
    )
    try:
        _wait(seat, service, process)
    except BaseException:
        processes.stop(process)
        raise
    _write(seat, service, process)


def _wait(seat: Seat, service: Service, process: Process) -> None:
    until = time.monotonic() + START_SECONDS_MAX
    while not service.answers(seat):
        gone = processes.is_gone(process)
        if gone or time.monotonic() > until:
            what = "ended at once" if gone else f"did not answer within {START_SECONDS_MAX:.0f} seconds"
            raise Failed(
                f"The local service {service.name} {what}.",
                why=logs.last_words(seat.folder),
                next_step=f"`firnline local logs {service.name}` shows all it said.",
            )
        time.sleep(_LOOK_EVERY_SECONDS)


def _stop(found: State) -> None:
    (found.folder / "service.json").unlink(missing_ok=True)
    if found.process is not None:
        processes.stop(found.process)
    (found.folder / "pid").unlink(missing_ok=True)


def _write(seat: Seat, service: Service, process: Process) -> None:
    endpoint, properties = service.stands_for(seat)
    running = Running(
        service.name,
        process.pid,
        datetime.now(UTC).isoformat(timespec="seconds"),
        seat.ports["main"],
        endpoint,
        properties,
        {need: running.digest for need, running in seat.others.items()},
    )
    machine.write_once(seat.folder / "service.json", json.dumps(asdict(running), indent=2).encode())


def _read(folder: Path, process: Process | None) -> Running | None:
    try:
        read = Running(**json.loads((folder / "service.json").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return read if process is not None and read.pid == process.pid else None


def _keys(home: Home) -> Keys:
    """One pair for the whole stack: a catalog has one pair for all of AWS it reaches."""
    path = home.folder / "keys.json"
    if not path.is_file():
        made = {"access": f"firnline{secrets.token_hex(6)}", "secret": secrets.token_urlsafe(30)}
        machine.write_once(path, json.dumps(made).encode())
    return Keys(**json.loads(path.read_bytes()))
