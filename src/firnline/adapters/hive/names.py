"""Which names a metastore can have, and mean exactly what was asked for."""

from __future__ import annotations

from firnline.core.ids import Identifier


def database(namespace: tuple[str, ...]) -> str | None:
    """The name of the database; None for a namespace that cannot be one. There is one level only."""
    return namespace[0] if len(namespace) == 1 and _exact(namespace[0]) else None


def table(identifier: Identifier) -> tuple[str, str] | None:
    """Database and table; None for what cannot be there."""
    name = database(identifier.namespace)
    return (name, identifier.name) if name is not None and _exact(identifier.name) else None


def unfit_namespace(namespace: tuple[str, ...]) -> str | None:
    """Why there can be no such database; None when there can."""
    if len(namespace) != 1:
        return f"the namespace {'.'.join(namespace)!r} has {len(namespace)} levels, and a Hive Metastore has one"
    return _unfit(namespace[0])


def unfit(identifier: Identifier) -> str | None:
    """Why there can be no such table; None when there can."""
    return unfit_namespace(identifier.namespace) or _unfit(identifier.name)


def _unfit(name: str) -> str | None:
    if _exact(name):
        return None
    return f"a Hive Metastore cannot have the name {name!r}: it would make {name.strip().lower()!r} of it"


def _exact(name: str) -> bool:
    """Whether the metastore keeps this name as it is.

    It cuts names at their edges and puts them into lower case, silently and everywhere. A name that would not survive
    this is a name that is not there, rather than another one for something else: two spellings of one table would be
    two tables to every lease, plan and ledger. `@…#` in front of a database would name another catalog.
    """
    return bool(name) and name == name.strip().lower() and "#" not in name and name.isprintable()
