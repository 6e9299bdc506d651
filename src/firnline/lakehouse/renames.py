"""Renaming a table, wired: a plan like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firnline.core.errors import Refused
from firnline.core.ids import Identifier
from firnline.lakehouse import catalogs, ledger, plans
from firnline.lakehouse.plans import Preview
from firnline.loop.values import Note
from firnline.tables import renaming

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse


def preview(lakehouse: Lakehouse, identifier: Identifier, to: Identifier) -> Preview:
    """The plan that makes `identifier` `to`. Refused, before anything is tried, where the catalog cannot."""
    if reason := lakehouse.connection.keeps_names:
        raise Refused(
            f"{identifier} cannot be renamed in the catalog {lakehouse.settings.catalog.name!r}.",
            why=f"{reason}.",
            next_step="Keep the name, or declare a table of the new one and fill it from this one.",
        )
    meta = lakehouse.tables.load(identifier)
    if identifier == to:
        return Preview(plans.new(lakehouse, ()))
    catalog = lakehouse.settings.catalog.name
    step = renaming.plan(
        identifier,
        meta,
        to,
        {one.identifier: one for one in lakehouse.tables.declared().declarations},
        catalog=catalog,
        taken=_holder(lakehouse, to),
        homeless=to.namespace != identifier.namespace and to.namespace not in lakehouse.pointers.namespaces(),
    )
    # A drop or a creation that was cut off is kept under the name it was about: it is judged before the names change.
    cut_off = ledger.unsettled(lakehouse, (step.lease, f"{catalog}/{identifier}", f"{catalog}/{to}"))
    notes = [Note(one.subject, str(one)) for one in cut_off]
    settle = tuple(dict.fromkeys(one.table for one in cut_off))
    return Preview(plans.new(lakehouse, (step,), notes), settle=settle)


def _holder(lakehouse: Lakehouse, identifier: Identifier) -> str | None:
    """What has this name, in words."""
    pointer = lakehouse.pointers.find(identifier)
    if pointer is None:
        return None
    return "a table" if pointer.kind == "table" else catalogs.kind_of(pointer)
