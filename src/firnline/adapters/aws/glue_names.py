"""Names as the Glue Data Catalog takes them: one level of namespaces, lower case, at most 255 bytes.

A name goes to Glue as a parameter of a request and nowhere else: nothing in it is ever evaluated. `Expression` of
GetTables, which is a pattern, is never used.
"""

from __future__ import annotations

import re

from firnline.core.ids import Identifier

NAME_BYTES_MAX = 255
# Glue's own rule for a name: one line, and nothing that UTF-8 cannot hold.
_NAME = re.compile("[\t\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")


def database(namespace: tuple[str, ...]) -> str | None:
    """The database of this namespace, or None for one that Glue cannot hold."""
    return namespace[0] if len(namespace) == 1 and holds(namespace[0]) else None


def table(identifier: Identifier) -> tuple[str, str] | None:
    """Database and table, or None for a name that Glue cannot hold."""
    found = database(identifier.namespace)
    return (found, identifier.name) if found is not None and holds(identifier.name) else None


def holds(name: str) -> bool:
    """Whether Glue can have something of this name."""
    return _NAME.fullmatch(name) is not None and len(name.encode()) <= NAME_BYTES_MAX


def unfit_namespace(namespace: tuple[str, ...]) -> str | None:
    """Why no database can be made for this namespace; None when one can."""
    if len(namespace) != 1:
        return f"the namespace {'.'.join(namespace)!r} has {len(namespace)} levels, and Glue has one"
    return _unfit(namespace[0])


def unfit(identifier: Identifier) -> str | None:
    """Why no table of this name can be made; None when one can."""
    return unfit_namespace(identifier.namespace) or _unfit(identifier.name)


def _unfit(name: str) -> str | None:
    """Glue folds what it stores to lower case: what was made as `Orders` would be found as `orders` only."""
    if not holds(name):
        return f"{name[:40]!r} cannot be a name in Glue: one line of 1 to {NAME_BYTES_MAX} bytes can"
    if name != name.lower():
        return f"{name!r} cannot be a name in Glue, which keeps names in lower case: write {name.lower()!r}"
    return None
