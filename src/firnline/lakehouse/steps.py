"""The registry: every step kind, over the adapters of this lakehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firnline.core.errors import Failed
from firnline.core.ids import Identifier
from firnline.history import run as history_steps
from firnline.loop.registry import Registry
from firnline.tables import run as table_steps

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse


def registry(lakehouse: Lakehouse) -> Registry:
    """All kinds. Nothing is connected until a step runs."""
    history = history_steps.Effects(lakehouse.pointers, lakehouse.blobs, lambda: lakehouse.commits)
    return Registry((*table_steps.kinds(effects(lakehouse)), *history_steps.kinds(history)))


def effects(lakehouse: Lakehouse) -> table_steps.Effects:
    """The ports table steps act through."""
    return table_steps.Effects(
        pointers=lakehouse.pointers,
        blobs=lakehouse.blobs,
        commits=lambda: lakehouse.commits,
        declared_drop=lambda identifier: _declared_drop(lakehouse, identifier),
    )


def _declared_drop(lakehouse: Lakehouse, identifier: Identifier) -> bool | None:
    """What the project's files say of dropping this table, read at the moment of the drop."""
    try:
        declarations = lakehouse.tables.declared().declarations
    except Failed:
        return None
    found = next((one for one in declarations if one.identifier == identifier), None)
    return found.drop.purge if found is not None and found.drop is not None and not found.protect else None
