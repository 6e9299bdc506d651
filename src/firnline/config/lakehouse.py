"""lakehouse.yaml → settings: found, one environment chosen, overrides laid over, every setting with its origin."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from firnline.config import embedded, overrides, project, reading, secrets, yaml
from firnline.config.project import FILE
from firnline.config.reading import Complaints, Item, Read
from firnline.config.values import (
    CatalogSettings,
    EngineSettings,
    Environment,
    JarSettings,
    LakehouseSettings,
    NamespaceSettings,
    Setting,
    StateSettings,
)
from firnline.config.yaml import Node, Scalar
from firnline.core import ids
from firnline.core.errors import BadInput
from firnline.core.suggest import did_you_mean
from firnline.core.types import Json

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_CATALOG_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # it becomes part of Spark's settings and of SQL
_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_WORDS = ("type", "services")  # of closed sets, and no properties
_ALMOST = re.compile(r"\$\{[^}]*\}")


def find(start: Path) -> Path:
    """The lakehouse.yaml of this folder or of the nearest one above it."""
    folder = start.expanduser().absolute()
    if folder.name == FILE:
        folder = folder.parent
    if not folder.is_dir():
        raise BadInput(f"{start} is not a folder.", next_step="Name the folder of lakehouse.yaml, or one below it.")
    for candidate in (folder, *folder.parents):
        if (candidate / FILE).is_file():
            return candidate / FILE
    raise BadInput(
        f"There is no {FILE} in {folder}, nor in any folder above it.",
        next_step="`firnline init` makes one here; --project names the folder of another.",
    )


def load(start: Path, env: str | None, environ: Mapping[str, str]) -> LakehouseSettings:
    """The settings of the project around `start`. BadFiles with everything wrong in the file and the variables."""
    path = find(start)
    try:
        root = yaml.parse(path.read_bytes(), FILE)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    complaints = Complaints(FILE)
    first = reading.record(root, project.LAKEHOUSE, "", complaints)
    if first is not None:
        _check_names(first, complaints)
    complaints.raise_any()
    assert first is not None
    assert isinstance(root, yaml.Mapping)
    chosen = _choose(first, env, environ)
    laid = overrides.lay_over(root, chosen.value, environ, complaints)
    read = reading.record(laid, project.LAKEHOUSE, "", complaints)
    complaints.raise_any()
    assert read is not None
    settings = _Reader(environ, complaints).lakehouse(read, chosen, str(path.parent))
    complaints.raise_any()
    return settings


def _check_names(read: Read, complaints: Complaints) -> None:
    if read.get("version", project.VERSION) > project.VERSION:
        problem = (
            f"the grammar {read.get('version')} is newer than this version of Firnline, which reads {project.VERSION}."
        )
        complaints.add(read.node_of("version"), "version", problem, "Use the version the project is written for.")
    for name, item in read.get("environments", {}).items():
        if not _NAME.fullmatch(name):
            complaints.add(item.node, f"environments.{name}", "a name is letters, digits, _ and -.", "Rename it.")
        for catalog, inner in item.value.get("catalogs", {}).items():
            if not _CATALOG_NAME.fullmatch(catalog):
                at = f"environments.{name}.catalogs.{catalog}"
                complaints.add(inner.node, at, "a catalog's name is letters, digits and _.", "Rename it.")
    default, known = read.get("default"), read.get("environments", {})
    if default is not None and known and default not in known:
        hint = did_you_mean(default, known)
        complaints.add(read.node_of("default"), "default", f"there is no environment {default!r}.", hint)
    for name, item in read.get("namespaces", {}).items():
        try:
            ids.split_name(name)
        except BadInput as error:
            complaints.add(item.node, f"namespaces.{name}", error.what, error.next_step)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The chosen environment, and who chose it."""

    value: str
    origin: str


def _choose(read: Read, env: str | None, environ: Mapping[str, str]) -> _Choice:
    known: dict[str, Item] = read.get("environments")
    if env is not None:
        choice = _Choice(env, "--env")
    elif environ.get(overrides.CHOICE):
        choice = _Choice(environ[overrides.CHOICE], overrides.CHOICE)
    elif read.get("default") is not None:
        choice = _Choice(read.get("default"), f"{FILE}:{read.line_of('default')}")
    elif len(known) == 1:
        choice = _Choice(next(iter(known)), "the only one")
    else:
        raise BadInput(
            f"{FILE} has {len(known)} environments and no `default:`.",
            next_step=f"Choose one with --env: {', '.join(known)}.",
        )
    if choice.value not in known:
        raise BadInput(
            f"There is no environment {choice.value!r} ({choice.origin}).", next_step=did_you_mean(choice.value, known)
        )
    return choice


@dataclass(slots=True)
class _Reader:
    """Takes values out of what was read, fills in what comes from the environment, and notes the origin of each."""

    environ: Mapping[str, str]
    complaints: Complaints
    settings: list[Setting] = field(default_factory=list)

    def lakehouse(self, read: Read, chosen: _Choice, root: str) -> LakehouseSettings:
        self._note("name", read.get("name"), read.items["name"])
        self.settings.append(Setting("environment", chosen.value, chosen.origin))
        environment = self._environment(read.get("environments")[chosen.value].value, chosen.value)
        namespaces = tuple(self._namespaces(read.get("namespaces", {})))
        policy = self._policy("policy", read.get("policy"))
        return LakehouseSettings(
            name=read.get("name"),
            root=root,
            environment=environment,
            environments=tuple(read.get("environments")),
            namespaces=namespaces,
            policy=policy,
            settings=tuple(self.settings),
        )

    def _environment(self, read: Read, name: str) -> Environment:
        access = self._plain(read, "access", "access", "write")
        catalogs = {catalog: self._catalog(catalog, item.value) for catalog, item in read.get("catalogs", {}).items()}
        return Environment(
            name=name,
            catalogs=catalogs,
            access=access,
            state=self._state(read.get("state")),
            engine=self._engine(read.get("engine")),
            jars=self._jars(read.get("jars")),
        )

    def _catalog(self, name: str, read: Read) -> CatalogSettings:
        kind = self._plain(read, "type", f"catalogs.{name}.type", "")
        services = self._services(read, f"catalogs.{name}.services")
        properties = self._strings(read.items, f"catalogs.{name}", but=_WORDS)
        if kind == "sqlite":
            for key, default in (("uri", embedded.DATABASE), ("warehouse", embedded.WAREHOUSE)):
                if key not in read.items:
                    self._note(f"catalogs.{name}.{key}", default, None)
        return CatalogSettings(name, kind, properties, services)

    def _state(self, read: Read | None) -> StateSettings:
        kind = self._plain(read, "type", "state.type", StateSettings().type)
        services = self._services(read, "state.services")
        return StateSettings(kind, self._strings(read.items if read else {}, "state", but=_WORDS), services)

    def _services(self, read: Read | None, at: str) -> str | None:
        item = read.items.get("services") if read else None
        if item is None:
            return None
        self._note(at, item.value, item)
        return str(item.value)

    def _engine(self, read: Read | None) -> EngineSettings:
        default = EngineSettings()
        kind = self._plain(read, "type", "engine.type", default.type)
        master = self._filled(read, "master", "engine.master", default.master)
        conf = read.get("conf", {}) if read else {}
        return EngineSettings(kind, master or default.master, self._strings(conf, "engine.conf"))

    def _jars(self, read: Read | None) -> JarSettings:
        names = ("folder", "ivy_settings", "iceberg")
        return JarSettings(*(self._filled(read, name, f"jars.{name}", None) for name in names))

    def _namespaces(self, items: Mapping[str, Item]) -> Iterator[NamespaceSettings]:
        for name, item in items.items():
            read: Read = item.value
            at = f"namespaces.{name}"
            yield NamespaceSettings(
                namespace=ids.split_name(name),
                location=self._filled(read, "location", f"{at}.location", None, quiet=True),
                owner=self._filled(read, "owner", f"{at}.owner", None, quiet=True),
                properties=self._strings(read.get("properties", {}), f"{at}.properties"),
                policy=self._policy(f"{at}.policy", read.get("policy")),
            )

    def _policy(self, at: str, read: Read | None) -> Mapping[str, Json]:
        items = read.items if read is not None else {}
        for key, item in items.items():
            self._note(f"{at}.{key}", item.value, item)
        return {key: item.value for key, item in items.items()}

    def _plain(self, read: Read | None, key: str, at: str, default: str) -> str:
        """A word of a closed set: nothing is filled in."""
        item = read.items.get(key) if read else None
        self._note(at, default if item is None else item.value, item)
        return default if item is None else str(item.value)

    def _filled(self, read: Read | None, key: str, at: str, default: str | None, *, quiet: bool = False) -> str | None:
        item = read.items.get(key) if read else None
        if item is None or item.value is None:
            if not quiet:
                self._note(at, default, None)
            return default
        return self._fill(at, item)

    def _strings(self, items: Mapping[str, Item], at: str, but: Collection[str] = ()) -> dict[str, str]:
        return {key: self._fill(f"{at}.{key}", item, key) for key, item in items.items() if key not in but}

    def _fill(self, at: str, item: Item, key: str | None = None) -> str:
        """The text with its `${env:NAME}` replaced. A secret written out in the file is refused, and not repeated."""
        text, node = str(item.value), item.node
        name = key if key is not None else at.rsplit(".", 1)[-1]
        outside = isinstance(node, Scalar) and node.origin is not None
        if not outside and secrets.holds_secret(name, _REFERENCE.sub("", text)):
            hint = "Write ${env:NAME} and set that variable where the command runs."
            self.complaints.add(node, at, "a secret stands in the file.", hint)
            return ""
        missing = [name for name in _REFERENCE.findall(text) if name not in self.environ]
        if missing:
            self.complaints.add(node, at, f"the environment variable {missing[0]} is not set.", f"Set {missing[0]}.")
            return ""
        if odd := _ALMOST.search(_REFERENCE.sub("", text)):
            self.complaints.add(node, at, f"{odd[0]!r} is not understood.", "Write ${env:NAME}.")
        self._note(at, text, item, secret=secrets.holds_secret(name, text))
        return _REFERENCE.sub(lambda found: self.environ[found[1]], text)

    def _note(self, at: str, value: Json, item: Item | None, *, secret: bool = False) -> None:
        """Remember a setting as it may be shown: a reference as it was written, a secret masked."""
        origin = "default" if item is None else _outside(item.node) or f"{FILE}:{item.node.line}"
        shown = value
        if isinstance(value, str) and not _REFERENCE.fullmatch(value):  # which variable is meant is no secret
            shown = secrets.mask(at.rsplit(".", 1)[-1], value)
        self.settings.append(Setting(at, shown, origin, secret))


def _outside(node: Node) -> str | None:
    """The variable a value came from: that of its first leaf."""
    while not isinstance(node, Scalar):
        inside = [entry.node for entry in node.entries.values()] if isinstance(node, yaml.Mapping) else node.items
        if not inside:
            return None
        node = inside[0]
    return node.origin
