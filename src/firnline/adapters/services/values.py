"""What a service is, where it lives, and what is known of one that runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from firnline.adapters.services.addresses import HOST
from firnline.config.aws import Keys
from firnline.config.values import JarSettings

Notify = Callable[[str], AbstractContextManager[None]]
BUCKET = "lake"
WAREHOUSE = f"s3://{BUCKET}/warehouse"
REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Home:
    """The machine as services need it: the project, where its services live, and the environment of the command."""

    root: Path
    env: Mapping[str, str]
    notify: Notify
    jars: JarSettings = field(default_factory=JarSettings)

    @property
    def folder(self) -> Path:
        """Everything of every service."""
        return self.root / ".lake" / "services"


@dataclass(frozen=True, slots=True)
class Running:
    """A service that answers, as `service.json` has it. `properties` are what a catalog needs to use it; `stands_on` is
    by need what it was told of it, as a digest.
    """

    name: str
    pid: int
    started: str
    port: int
    endpoint: str
    properties: Mapping[str, str] = field(repr=False)
    stands_on: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """What others would be told of it: it changes with its address and its keys."""
        return hashlib.sha256(repr(sorted(self.properties.items())).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Seat:
    """What a service is started with: its folder, its ports by name, the stack's keys, the services it stands on."""

    home: Home
    folder: Path
    ports: Mapping[str, int]
    keys: Keys
    others: Mapping[str, Running]

    @property
    def data(self) -> Path:
        """What must survive `down`."""
        return self.folder / "data"

    @property
    def url(self) -> str:
        """The address of its main port."""
        return f"http://{HOST}:{self.ports['main']}"


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line, which other users may read, and what is added to the environment, which they may not."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Service:
    """One kind of server. `answers` makes a real request; `stands_for` says endpoint and properties."""

    name: str
    about: str
    launch: Callable[[Seat], Launch]
    answers: Callable[[Seat], bool]
    stands_for: Callable[[Seat], tuple[str, Mapping[str, str]]]
    limits: tuple[str, ...] = ()  # how it differs from what it stands for
    needs: tuple[str, ...] = ()
    ports: tuple[str, ...] = ("main",)
