"""What the user wrote, parsed: frozen settings and declarations. No YAML, no environment and no catalog in here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from firnline.core.ids import Identifier
from firnline.core.types import Json, Path, Struct


@dataclass(frozen=True, slots=True)
class Source:
    """Where a declaration was read, so that later complaints can name file, line and key."""

    file: str
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, *keys: str) -> int | None:
        """The line of the most specific of these dotted keys that the file has."""
        return next((self.lines[key] for key in keys if key in self.lines), None)


@dataclass(frozen=True, slots=True)
class DeclaredPartition:
    """`transform` of `column`; a name when the user chose one."""

    transform: str
    column: Path
    name: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaredSort:
    """One key of the declared sort order."""

    transform: str
    column: Path
    direction: str
    null_order: str


@dataclass(frozen=True, slots=True)
class DeclaredRef:
    """A branch or tag. Without a snapshot it is made at the current one and then left where its writers take it."""

    name: str
    kind: str  # branch | tag
    snapshot: int | None = None
    ref_age_max: timedelta | None = None
    snapshot_age_max: timedelta | None = None
    snapshots_min: int | None = None
    absent: bool = False  # declared as null: to be removed


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A recorded override: this change, of this column (or of the table), for this reason."""

    change: str
    column: Path | None
    reason: str


@dataclass(frozen=True, slots=True)
class DeclaredDrop:
    """The table is to go; with `purge`, its files too."""

    purge: bool
    reason: str


@dataclass(frozen=True, slots=True)
class DeclaredConsumer:
    """Somebody who reads the table incrementally and how far behind they may be."""

    id: str
    lag_max: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """One table file. `was` maps the path of a renamed field to its old name. A None property is to be removed."""

    identifier: Identifier
    source: Source
    schema: Struct
    was: Mapping[Path, str] = field(default_factory=dict)
    identifier_fields: tuple[Path, ...] = ()
    partition: tuple[DeclaredPartition, ...] = ()
    order: tuple[DeclaredSort, ...] = ()
    properties: Mapping[str, str | None] = field(default_factory=dict)
    format_version: int | None = None
    location: str | None = None
    refs: tuple[DeclaredRef, ...] = ()
    policy: Mapping[str, Json] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    subjects: tuple[Path, ...] = ()
    consumers: tuple[DeclaredConsumer, ...] = ()
    owner: str | None = None
    description: str | None = None
    protect: bool = False
    accept: tuple[Acceptance, ...] = ()
    drop: DeclaredDrop | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from: `default`, `lakehouse.yaml:7`, `FIRNLINE_…`, `--env`. Secrets are masked."""

    key: str
    value: Json
    origin: str
    secret: bool = False


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """A catalog by type and properties. Which types are wired is for the composition root to say."""

    name: str
    type: str
    properties: Mapping[str, str] = field(default_factory=dict)
    services: str | None = None  # local: what `firnline local up` starts on this machine stands for it

    @property
    def shared(self) -> bool:
        """Whether other machines may work on it too, so that leases kept on this one protect nothing."""
        return self.type != "sqlite" and self.services != "local"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Which Spark, and the user's own settings for it."""

    type: str = "spark"
    master: str = "local[2]"
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JarSettings:
    """Where jars come from: a folder that has them, or an Ivy settings file that names a mirror."""

    folder: str | None = None
    ivy_settings: str | None = None
    iceberg: str | None = None  # an Iceberg release we pin; None: the newest


@dataclass(frozen=True, slots=True)
class StateSettings:
    """Where leases, ledger and holds live."""

    type: str = "sqlite"
    properties: Mapping[str, str] = field(default_factory=dict)
    services: str | None = None


@dataclass(frozen=True, slots=True)
class NamespaceSettings:
    """A namespace as declared in lakehouse.yaml."""

    namespace: tuple[str, ...]
    location: str | None = None
    owner: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment of the lakehouse, every override applied."""

    name: str
    catalogs: Mapping[str, CatalogSettings]
    access: str = "write"  # write | read
    state: StateSettings = StateSettings()
    engine: EngineSettings = EngineSettings()
    jars: JarSettings = JarSettings()


@dataclass(frozen=True, slots=True)
class LakehouseSettings:
    """lakehouse.yaml with one environment chosen."""

    name: str
    root: str  # the absolute folder of lakehouse.yaml
    environment: Environment
    environments: tuple[str, ...]
    namespaces: tuple[NamespaceSettings, ...] = ()
    policy: Mapping[str, Json] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()  # every setting with its origin, for `config show`

    @property
    def catalog(self) -> CatalogSettings:
        """The catalog commands work on: the first one declared."""
        return next(iter(self.environment.catalogs.values()))
