"""`doctor` on an embedded catalog: its file, its lock, its entries and where its tables lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.adapters.local import machine
from firnline.adapters.local.pointers import SqlitePointers
from firnline.adapters.locations import local_path
from firnline.config import embedded
from firnline.core.errors import Blocked, FirnlineError
from firnline.facts.ports import Pointer
from firnline.lakehouse.checks import NOT_CHECKED, OK, PROBLEM, WARNING, Check

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse

CLOCK_TABLES_MAX = 20  # each is a metadata file to read; the newest by their files' times
LOCK_SECONDS = 1.0
MISSING_NAMED_MAX = 3


def checks(lakehouse: Lakehouse) -> Iterator[Check]:
    """Everything about the catalog of this lakehouse."""
    catalog = lakehouse.settings.catalog.name
    name = f"catalog {catalog}"
    place = embedded.places(lakehouse.settings.catalog, lakehouse.settings.root)
    if not place.database.is_file():
        yield _no_catalog(lakehouse, name, place.database)
    else:
        found = pointers(lakehouse)
        yield _entries(name, place.database, found)
        yield _lock(lakehouse, name, catalog, place.database)
        yield from _missing_metadata(found)
    yield _warehouse(lakehouse, catalog, place)


def pointers(lakehouse: Lakehouse) -> tuple[Pointer, ...]:
    """Every entry. Not waited for as work would: a catalog that is locked is a finding."""
    catalog = lakehouse.settings.catalog
    database = embedded.places(catalog, lakehouse.settings.root).database
    return tuple(SqlitePointers(str(database), catalog.name, busy_seconds=LOCK_SECONDS).list())


def newest(found: tuple[Pointer, ...]) -> list[Pointer]:
    """The tables whose metadata files are youngest, of those that are there."""
    aged: list[tuple[float, Pointer]] = []
    for pointer in found:
        if pointer.kind == "table" and pointer.metadata_location is not None:
            try:
                aged.append((os.stat(local_path(pointer.metadata_location)).st_mtime, pointer))
            except (OSError, FirnlineError):
                continue  # said by the check of the tables
    return [pointer for _, pointer in sorted(aged, reverse=True)[:CLOCK_TABLES_MAX]]


def _no_catalog(lakehouse: Lakehouse, name: str, database: Path) -> Check:
    if lakehouse.may_write:
        return Check(name, OK, f"{database} is not there yet: the first `firnline apply` makes it.")
    return Check(
        name, PROBLEM, f"{database} is not there, and with access: read it is not made.", "Set the catalog's `uri`."
    )


def _entries(name: str, database: Path, pointers: tuple[Pointer, ...]) -> Check:
    kinds = [pointer.kind for pointer in pointers]
    others = len(kinds) - kinds.count("table")
    more = f", {others} other entries" if others else ""
    return Check(name, OK, f"{database}: {kinds.count('table')} tables{more}")


def _lock(lakehouse: Lakehouse, name: str, catalog: str, database: Path) -> Check:
    from firnline.adapters.local.catalog import SqliteCatalog

    if not lakehouse.may_write:
        return Check(f"{name}: writing", NOT_CHECKED, "access: read")
    if not machine.may_write(database) or not machine.may_write(database.parent):
        fix = "Give this user write access to the file and its folder, or use an environment with access: read."
        return Check(f"{name}: writing", PROBLEM, f"{database} and its folder may not be written.", fix)
    try:
        SqliteCatalog(str(database), catalog, busy_seconds=LOCK_SECONDS).try_lock()
    except Blocked as error:
        return Check(f"{name}: writing", WARNING, error.what, error.next_step)
    return Check(f"{name}: writing", OK, "its write lock is free")


def _missing_metadata(pointers: tuple[Pointer, ...]) -> Iterator[Check]:
    gone = [pointer for pointer in pointers if pointer.metadata_location and not _is_file(pointer.metadata_location)]
    if gone:
        named = ", ".join(f"{pointer.identifier} ({pointer.metadata_location})" for pointer in gone[:MISSING_NAMED_MAX])
        text = f"{len(gone)} of {len(pointers)} point to metadata that is not there: {named}."
        yield Check("tables", PROBLEM, text, "Was the warehouse moved? Move it back, or restore these files.")


def _is_file(location: str) -> bool:
    try:
        return os.path.isfile(local_path(location))
    except FirnlineError:
        return True  # not on this machine: nothing is known of it


def _warehouse(lakehouse: Lakehouse, catalog: str, place: embedded.Embedded) -> Check:
    name, folder = f"warehouse {catalog}", embedded.warehouse_folder(place)
    if folder is None:
        return Check(name, NOT_CHECKED, f"{place.warehouse} is no folder of this machine; what follows is about it.")
    there = "" if folder.is_dir() else ", not there yet: the first table makes it"
    if not lakehouse.may_write:
        return Check(name, NOT_CHECKED, f"{folder}{there}; whether it can be written: access: read")
    error = machine.try_write(folder)
    if error is not None:
        text = f"{folder} cannot be written: {error.strerror or error}."
        return Check(name, PROBLEM, text, "Give this user write access, or set the catalog's `warehouse`.")
    return Check(name, OK, f"{folder}{there}")
