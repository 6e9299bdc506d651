"""The manifests of a table's current snapshot, kept between looks: a second look at a table that did not change reads
its metadata file and nothing else.

That a list which was read once is there still, nobody is told by it, as with manifests: `explain` looks at storage.
"""

from __future__ import annotations

import json
from dataclasses import astuple, replace

from firnline.core.types import Json
from firnline.facts.lines import ManifestLine, Summary
from firnline.facts.meta import Snapshot, TableMeta
from firnline.facts.ports import Cache, Manifests
from firnline.facts.reading import head_of
from firnline.facts.values import Damage

FORM = 1  # of what is kept


def kept_head(
    manifests: Manifests, cache: Cache, meta: TableMeta
) -> tuple[tuple[ManifestLine, ...], tuple[Damage, ...]]:
    """`reading.head_of`, from the cache where it was read before. Lists never change, and damage is never kept."""
    key = _key(meta.snapshot)
    if key is None:
        return head_of(manifests, meta)
    kept = _unpacked(cache.get([key]).get(key))
    if kept is not None:
        return kept, ()
    lines, damage = head_of(manifests, meta)
    if not damage:
        cache.put({key: _packed(lines)})
    return lines, damage


def _key(snapshot: Snapshot | None) -> str | None:
    if snapshot is None or snapshot.manifest_list is None:
        return None
    return f"{FORM}|head|{snapshot.manifest_list}|{snapshot.sequence}|{snapshot.id}"


def _packed(lines: tuple[ManifestLine, ...]) -> bytes:
    return json.dumps([astuple(line) for line in lines], default=bytes.hex, separators=(",", ":")).encode()


def _unpacked(data: bytes | None) -> tuple[ManifestLine, ...] | None:
    try:
        return None if data is None else tuple(_line(*values) for values in json.loads(data))
    except (TypeError, ValueError):  # whole bytes of another shape
        return None


def _line(*values: Json) -> ManifestLine:
    line = ManifestLine(*values)
    summaries: Json = line.partitions  # as JSON has them
    return line if summaries is None else replace(line, partitions=tuple(_summary(*each) for each in summaries))


def _summary(null: Json, nan: Json, *bounds: str | None) -> Summary:
    lower, upper = (None if text is None else bytes.fromhex(text) for text in bounds)
    return Summary(null, nan, lower, upper)
