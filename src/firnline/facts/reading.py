"""The manifests of a snapshot: its manifest list, or what format 1 says in place of one."""

from __future__ import annotations

from firnline.core.errors import FirnlineError
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot, TableMeta
from firnline.facts.ports import Manifests
from firnline.facts.values import Damage


def head_of(manifests: Manifests, meta: TableMeta) -> tuple[tuple[ManifestLine, ...], tuple[Damage, ...]]:
    """The lines of the current snapshot. Metadata that names one it does not have is damaged, and no empty table."""
    if meta.current_snapshot_id is not None and meta.snapshot is None:
        reason = f"{meta.location} names snapshot {meta.current_snapshot_id} as current and does not have it."
        return (), (Damage(meta.location, reason),)
    return lines_of(manifests, meta.snapshot)


def lines_of(manifests: Manifests, snapshot: Snapshot | None) -> tuple[tuple[ManifestLine, ...], tuple[Damage, ...]]:
    """The lines, or what is wrong with the list. No snapshot has none."""
    if snapshot is None:
        return (), ()
    if snapshot.manifest_list is None:
        return tuple(ManifestLine(path) for path in snapshot.manifests), ()
    try:
        return manifests.list(snapshot.manifest_list), ()
    except FirnlineError as error:
        return (), (Damage(snapshot.manifest_list, error.what),)
