"""The files a table's metadata reaches: what a purge deletes, listed before anything is dropped.

Nothing is found by listing folders, and nothing outside the table's own folders is taken: files added from elsewhere,
or shared with the table this one was cloned from, belong to somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator

from firnline.adapters.iceberg.manifests import live_files
from firnline.adapters.locations import lies_under
from firnline.adapters.requests import Unfit
from firnline.config.properties import FOLDERS
from firnline.core.types import Json
from firnline.facts.ports import Manifests

_SHOWN = 3


def reachable(base: Json, location: str, manifests: Manifests) -> tuple[str, ...]:
    """Data, delete, statistics and manifest files of every kept snapshot, then metadata files, the current one last.

    Unfit when the table forbids it (`gc.enabled=false`) or a file lies outside its folders: half a purge is none.
    """
    properties = base.get("properties") or {}
    if properties.get("gc.enabled", "true").lower() == "false":
        raise Unfit(
            "gc.enabled is false: its files may belong to other tables too, so it can only be dropped without purge"
        )
    found = dict.fromkeys(_of_snapshots(base, manifests))
    for key in ("statistics", "partition-statistics"):
        found |= dict.fromkeys(item["statistics-path"] for item in base.get(key) or ())
    found |= dict.fromkeys(entry["metadata-file"] for entry in base.get("metadata-log") or ())
    found.pop(location, None)
    paths = (*found, location)
    roots = [base["location"], *(properties[key] for key in FOLDERS if properties.get(key))]
    outside = [path for path in paths if not lies_under(path, roots)]
    if outside:
        shown = ", ".join(outside[:_SHOWN])
        raise Unfit(
            f"{len(outside)} of its files lie outside the table's folders ({shown}) and may be another table's:"
            " it can only be dropped without purge"
        )
    return paths


def _of_snapshots(base: Json, manifests: Manifests) -> Iterator[str]:
    seen: set[str] = set()
    lists: list[str] = []
    for snapshot in base.get("snapshots") or ():
        listed = snapshot.get("manifest-list")
        if listed is None:
            raise Unfit("a snapshot of it has no manifest list (an old form of format 1)")
        lists.append(listed)
        lines = [line for line in manifests.list(listed) if line.path not in seen]
        seen.update(line.path for line in lines)
        yield from (path for path, _ in live_files(manifests, lines))
    yield from seen
    yield from lists
