"""What each kind of REST catalog can do, in one place. What it cannot is refused here, before anything is sent.

Measured in September 2026 by probes of both services of AWS, and held against their documentation:

                          plain           Glue                        S3 Tables
    namespaces            nested          one level                   one level
    names                 any             lower case                  a-z 0-9 _
    new tables            by a commit     createTable, unstaged       createTable, unstaged
    location of a table   as asked        must be said, s3:// only    the service's choice
    drop                  both ways       without purge               with purge
    rename                yes             no                          yes
    namespace properties  any             any                         none but `owner`, never updated
    metadata file         any size        20 MB                       50 MB
    formats               1 to 3          1 to 3                      2 and 3
    changes of a schema   any             any                         one kind per commit
    views                 if advertised   none                        none
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from firnline.adapters.rest import evolution
from firnline.core.ids import Identifier, join_name
from firnline.core.sizes import show_bytes
from firnline.core.types import Json

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a kind of catalog can do. The defaults are the specification's."""

    name: str  # for people
    nested: bool = True
    names: re.Pattern[str] | None = None
    names_are: str = ""
    creates_by_commit: bool = True
    location: Literal["free", "required", "assigned"] = "free"  # of a new table
    purges: Literal["either", "never", "always"] = "either"
    renames: bool = True
    namespace_keys: frozenset[str] | None = None  # the properties a namespace can have; None: any
    namespace_updates: bool = True
    metadata_bytes_max: int | None = None
    formats: tuple[int, ...] = (1, 2, 3)
    mixes_schema_changes: bool = True
    views: bool = True  # where the server advertises them
    page_size: int = 1000


PLAIN = Dialect("the REST catalog")
GLUE = Dialect(
    "Glue's REST endpoint",
    nested=False,
    names=re.compile(r"[^A-Z]+"),
    names_are="in lower case",
    creates_by_commit=False,
    location="required",
    purges="never",
    renames=False,
    metadata_bytes_max=20 * MB,
    views=False,
    page_size=100,
)
S3TABLES = Dialect(
    "S3 Tables",
    nested=False,
    names=re.compile(r"[a-z0-9][a-z0-9_]{0,254}"),
    names_are="of the letters a to z, digits and underscores, beginning with a letter or a digit",
    creates_by_commit=False,
    location="assigned",
    purges="always",
    namespace_keys=frozenset({"owner"}),
    namespace_updates=False,
    metadata_bytes_max=50 * MB,
    formats=(2, 3),
    mixes_schema_changes=False,
    views=False,
    page_size=100,
)
DIALECTS: Mapping[str, Dialect] = {"plain": PLAIN, "glue": GLUE, "s3tables": S3TABLES}


def bad_namespace(dialect: Dialect, namespace: tuple[str, ...]) -> str | None:
    """Why there can be no such namespace."""
    if not namespace or not all(namespace):
        return f"{join_name(namespace)!r} is no name of a namespace"
    if len(namespace) > 1 and not dialect.nested:
        return f"{dialect.name} has namespaces of one level only, and {join_name(namespace)} has {len(namespace)}"
    return next((found for part in namespace if (found := _bad_name(dialect, part))), None)


def bad_table(dialect: Dialect, identifier: Identifier) -> str | None:
    """Why there can be no such table."""
    return bad_namespace(dialect, identifier.namespace) or _bad_name(dialect, identifier.name)


def _bad_name(dialect: Dialect, name: str) -> str | None:
    if not name:
        return "a name is empty"
    if dialect.names is None or dialect.names.fullmatch(name):
        return None
    return f"names in {dialect.name} are {dialect.names_are}, and {name!r} is not"


def bad_namespace_properties(dialect: Dialect, properties: Mapping[str, str]) -> str | None:
    """Why a namespace cannot be made with these."""
    allowed = dialect.namespace_keys
    surplus = [] if allowed is None else sorted(set(properties) - allowed)
    return f"{dialect.name} keeps no {', '.join(surplus)} of a namespace" if surplus else None


def bad_namespace_update(dialect: Dialect) -> str | None:
    """Why the properties of a namespace cannot be changed."""
    return None if dialect.namespace_updates else f"{dialect.name} does not change the properties of a namespace"


def bad_drop(dialect: Dialect, *, purge: bool) -> str | None:
    """Why a table cannot be dropped this way."""
    if purge and dialect.purges == "never":
        return f"{dialect.name} drops tables without deleting their files, and was asked to delete them"
    if not purge and dialect.purges == "always":
        return f"{dialect.name} deletes the files of a table it drops, and was asked to keep them"
    return None


def bad_rename(dialect: Dialect) -> str | None:
    """Why a table cannot be renamed."""
    return None if dialect.renames else f"{dialect.name} does not rename tables"


def bad_creation(dialect: Dialect, format_version: int, location: str | None) -> str | None:
    """Why a table cannot be made in this format at this place."""
    if dialect.location == "assigned" and location:
        return f"{dialect.name} chooses itself where a table lies, and was asked for {location}"
    if dialect.location == "required" and not location:
        return f"{dialect.name} wants to be told where a table lies"
    return _bad_format(dialect, format_version) or _bad_place(dialect, location)


def bad_change(dialect: Dialect, updates: tuple[Json, ...], base: Json, base_bytes: int) -> str | None:
    """Why these updates cannot be made on a table of this metadata, whose JSON has so many bytes."""
    for update in updates:
        if wrong := _bad_update(dialect, update):
            return wrong
    if not dialect.mixes_schema_changes and len(kinds := evolution.kinds(base, updates)) > 1:
        return f"{dialect.name} takes one kind of schema change per commit, and this is {' and '.join(kinds)}"
    return _too_large(dialect, updates, base_bytes)


def _bad_format(dialect: Dialect, version: int) -> str | None:
    if version in dialect.formats:
        return None
    known = ", ".join(map(str, dialect.formats))
    return f"{dialect.name} has tables of the formats {known}, and was asked for format {version}"


def _bad_update(dialect: Dialect, update: Json) -> str | None:
    if update.get("action") == "upgrade-format-version":
        return _bad_format(dialect, update.get("format-version", 0))
    if update.get("action") != "set-location":
        return None
    if dialect.location == "assigned":
        return f"{dialect.name} does not move a table to another location"
    return _bad_place(dialect, update.get("location"))


def _bad_place(dialect: Dialect, location: str | None) -> str | None:
    if dialect.location != "required" or (location or "").startswith("s3://"):
        return None
    return f"{dialect.name} takes locations that begin with s3://, and was given {location}"


def _too_large(dialect: Dialect, updates: tuple[Json, ...], base_bytes: int) -> str | None:
    limit = dialect.metadata_bytes_max
    shrinking = any(str(update.get("action", "")).startswith("remove-") for update in updates)
    if limit is None or shrinking or base_bytes <= limit:
        return None
    return (
        f"{dialect.name} takes metadata of at most {show_bytes(limit)}, and the table's has {show_bytes(base_bytes)}"
        " before this change: expire snapshots first"
    )
