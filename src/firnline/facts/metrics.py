"""What the metrics of live data files add up to, for the price of a change. One pass over the manifests each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firnline.facts.entries import Entries, Longs
from firnline.facts.lines import Content, ManifestLine, Metric, Status, Wanted
from firnline.facts.ports import NOTHING_MORE, Manifests


@dataclass(frozen=True, slots=True)
class ColumnNulls:
    """Nulls of one column over all live data files; None when some file has no count for it."""

    nulls: int | None
    files_without_count: int


def null_counts(
    manifests: Manifests, lines: Iterable[ManifestLine], field_ids: Iterable[int]
) -> Mapping[int, ColumnNulls]:
    """Null counts from the metrics of live data files.

    Deletes are not applied: rows a delete file hides are still counted, so the true number is at most this one, and 0
    is always the truth. A file without a count for a column (metrics switched off, or written before the column was
    added) makes its number unknown. A field inside a list or map has no count of rows at all.
    """
    ids = tuple(dict.fromkeys(field_ids))
    if not ids:
        return {}
    known = dict.fromkeys(ids, 0)
    without = dict.fromkeys(ids, 0)
    wanted = Wanted(frozenset((Metric.NULLS, field_id) for field_id in ids))
    for batch, live in _of_data(manifests, lines, wanted):
        for field_id in ids:
            counts = batch.counts[Metric.NULLS, field_id][live]
            known[field_id] += int(counts[counts >= 0].sum())
            without[field_id] += int((counts < 0).sum())
    return {key: ColumnNulls(None if without[key] else known[key], without[key]) for key in ids}


def data_bytes(manifests: Manifests, lines: Iterable[ManifestLine]) -> Mapping[int, int]:
    """Bytes of live data files per partition spec; delete files are not counted."""
    chosen = _with_data(lines)
    sizes = {line.spec_id or 0: 0 for line in chosen if line.spec_id is not None}
    for batch, live in _of_data(manifests, chosen):
        sizes[batch.spec_id or 0] = sizes.get(batch.spec_id or 0, 0) + int(np.maximum(batch.size[live], 0).sum())
    return sizes


def _of_data(
    manifests: Manifests, lines: Iterable[ManifestLine], wanted: Wanted = NOTHING_MORE
) -> Iterator[tuple[Entries, Longs]]:
    """Batches, each with the rows that are live data files."""
    for batch in manifests.entries(_with_data(lines), wanted):
        yield batch, np.flatnonzero((batch.status != Status.DELETED) & (batch.content == Content.DATA))


def _with_data(lines: Iterable[ManifestLine]) -> Sequence[ManifestLine]:
    # A manifest that says it has no live file has only tombstones: not worth opening.
    return [line for line in lines if line.content == "data" and line.files != 0]
