"""The local stack of a project: started, shown, stopped; and what `services: local` means to its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from firnline.config import lakehouse as lakehouse_config
from firnline.config import secrets
from firnline.config.values import CatalogSettings, JarSettings, LakehouseSettings, Setting, StateSettings
from firnline.core.errors import BadInput, Missing

if TYPE_CHECKING:
    from firnline.adapters.services.stack import State
    from firnline.adapters.services.values import Home

Notify = Callable[[str], AbstractContextManager[None]]
ORIGIN = "firnline local"
_Asking: TypeAlias = CatalogSettings | StateSettings
_Known: TypeAlias = Mapping[str, tuple[str, ...]]
# What a catalog, or the state, of a type stands on. A sqlite catalog may have its tables on S3.
_CATALOGS: _Known = {
    "hive": ("hive", "s3"),
    "rest": ("rest", "s3"),
    "glue": ("glue", "s3"),
    "sqlite": ("s3",),
}
_STATES: _Known = {"dynamodb": ("dynamodb",)}
# A REST catalog has a warehouse of its own; the others are told by who uses them.
_TOLD_THEIR_WAREHOUSE = ("hive", "glue", "sqlite")


@dataclass(frozen=True, slots=True)
class ServiceShown:
    """A service at a glance. Secrets in `properties` are masked; `file` has them."""

    name: str
    state: str  # running | starting | stopped
    about: str
    endpoint: str | None
    pid: int | None
    started: str | None
    properties: Mapping[str, str]
    file: str
    log: str
    data: str
    limits: tuple[str, ...]


def up(
    project: Path, env: str | None, names: Sequence[str], environ: Mapping[str, str], notify: Notify
) -> tuple[ServiceShown, ...]:
    """Start these services and what they stand on; with none named, s3 and what the environment asks for."""
    from firnline.adapters.services import stack

    stack.ordered(names)  # a wrong name is said before anything else is looked at
    settings = lakehouse_config.load(project, env, environ)
    home = _home(Path(settings.root), environ, notify, settings.environment.jars)
    return tuple(_shown(state) for state in stack.up(home, names or needed(settings)))


def down(project: Path, names: Sequence[str], environ: Mapping[str, str], notify: Notify) -> tuple[str, ...]:
    """Stop these services, or all; the names of those that ran."""
    from firnline.adapters.services import stack

    return stack.down(_home(_root(project), environ, notify), names)


def status(project: Path, name: str | None, environ: Mapping[str, str], notify: Notify) -> tuple[ServiceShown, ...]:
    """Every service, or this one."""
    from firnline.adapters.services import stack

    home = _home(_root(project), environ, notify)
    return tuple(_shown(state) for state in stack.states(home) if name is None or state.service == stack.find(name))


def logs(
    project: Path, name: str, environ: Mapping[str, str], notify: Notify, *, follow: bool = False
) -> Iterator[str]:
    """What the service said since it was started; with `follow`, what it goes on to say until it ends."""
    from firnline.adapters.services import logs as files
    from firnline.adapters.services import stack

    home = _home(_root(project), environ, notify)
    service = stack.find(name)
    folder = home.folder / service.name
    if not (folder / files.NAME).is_file():
        raise Missing(
            f"The local service {name} has said nothing: it was never started here.",
            next_step=f"`firnline local up {name}` starts it.",
        )

    def runs() -> bool:
        return stack.state(home, service).process is not None

    return files.read(folder, follow=runs if follow else None)


def compose(*, cluster: bool) -> str:
    """The same stack as a docker-compose file."""
    from firnline.adapters.services import compose as composing

    return composing.text(cluster=cluster)


def needed(settings: LakehouseSettings) -> tuple[str, ...]:
    """The services this environment asks for, and s3 in any case."""
    names = ["s3"]
    for catalog in settings.environment.catalogs.values():
        names += _services(catalog, _CATALOGS, f"catalogs.{catalog.name}")
    names += _services(settings.environment.state, _STATES, "state")
    return tuple(dict.fromkeys(names))


def resolved(settings: LakehouseSettings) -> LakehouseSettings:
    """The settings with the addresses and keys of local services where `services: local` stands. Nothing is started.

    What the file says goes before what a service says. Missing when one of them does not run.
    """
    environment = settings.environment
    asking: list[_Asking] = [*environment.catalogs.values(), environment.state]
    if not any(each.services for each in asking):
        return settings
    found = _Found(settings)
    catalogs = {name: found.catalog(catalog) for name, catalog in environment.catalogs.items()}
    state = found.state(environment.state)
    found.require()
    changed = replace(environment, catalogs=catalogs, state=state)
    return replace(settings, environment=changed, settings=(*settings.settings, *found.settings))


class _Found:
    """Collects what services say, how it may be shown, and which of them do not run."""

    def __init__(self, settings: LakehouseSettings) -> None:
        from firnline.adapters.services import stack

        home = _home(Path(settings.root), {}, _unheard)
        self._running = {state.service.name: state.running for state in stack.states(home)}
        self._environment = settings.environment.name
        self._missing: dict[str, str] = {}
        self.settings: list[Setting] = []

    def catalog(self, catalog: CatalogSettings) -> CatalogSettings:
        """The catalog with what its services say under what the file says."""
        return replace(catalog, properties=self._merged(catalog, _CATALOGS, f"catalogs.{catalog.name}"))

    def state(self, state: StateSettings) -> StateSettings:
        """The same of the state."""
        return replace(state, properties=self._merged(state, _STATES, "state"))

    def require(self) -> None:
        """Missing when a service that is asked for does not run."""
        if not self._missing:
            return
        names = list(self._missing)
        what = f"The local service {names[0]}" if len(names) == 1 else f"The local services {', '.join(names)}"
        asks = ", ".join(dict.fromkeys(self._missing.values()))
        raise Missing(
            f"{what} {'does' if len(names) == 1 else 'do'} not run.",
            why=f"{asks} of the environment {self._environment!r} says `services: local`.",
            next_step=f"`firnline local up {' '.join(names)}` starts {'it' if len(names) == 1 else 'them'}.",
        )

    def _merged(self, given: _Asking, known: _Known, at: str) -> Mapping[str, str]:
        from firnline.adapters.services.values import WAREHOUSE

        wanted = _services(given, known, at)
        told = bool(wanted) and known is _CATALOGS and given.type in _TOLD_THEIR_WAREHOUSE
        said = {"warehouse": WAREHOUSE} if told else {}
        for name in wanted:
            running = self._running[name]
            if running is None:
                self._missing.setdefault(name, at)
            else:
                said |= running.properties
        for key, value in said.items():
            if key not in given.properties:
                secret = secrets.holds_secret(key, value)
                self.settings.append(Setting(f"{at}.{key}", secrets.mask(key, value), ORIGIN, secret))
        return {**said, **given.properties}


def _services(given: _Asking, known: _Known, at: str) -> tuple[str, ...]:
    """The services these settings ask for; none when they say nothing of services."""
    if given.services is None:
        return ()
    if given.type not in known:
        raise BadInput(
            f"{at}.services: there is no local service for the type {given.type}.",
            why=f"There are for: {', '.join(known)}.",
        )
    return known[given.type]


def _shown(state: State) -> ServiceShown:
    running = state.running
    properties = running.properties if running else {}
    return ServiceShown(
        name=state.service.name,
        state=state.word,
        about=state.service.about,
        endpoint=running.endpoint if running else None,
        pid=state.process.pid if state.process else None,
        started=running.started if running else None,
        properties={key: secrets.mask(key, value) for key, value in properties.items()},
        file=str(state.folder / "service.json"),
        log=str(state.folder / "log"),
        data=str(state.folder / "data"),
        limits=state.service.limits,
    )


def _home(root: Path, environ: Mapping[str, str], notify: Notify, jars: JarSettings | None = None) -> Home:
    from firnline.adapters.services.values import Home

    return Home(root, environ, notify, jars or JarSettings())


def _root(project: Path) -> Path:
    return lakehouse_config.find(project).parent


def _unheard(_: str) -> AbstractContextManager[None]:
    raise AssertionError("looking at services takes no time")
