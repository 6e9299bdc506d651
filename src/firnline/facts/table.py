"""A table observed: metadata, manifest list and manifests in, `TableFacts` out. No JVM.

Cost grows with the number of manifest entries on the first look, and with the number of manifests and partitions on
the next: what a manifest folds to is kept. Memory grows with partitions, and with files only where there are deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from firnline.core.figures import NONE, UNKNOWN, Figure, exactly, total
from firnline.core.ids import Identifier, SnapshotId
from firnline.core.layout import PartitionSpec
from firnline.facts import folding, snapshots
from firnline.facts.deletes import NOTHING_KNOWN, DeleteLook, look_at_deletes
from firnline.facts.entries import Longs
from firnline.facts.fanout import fanout
from firnline.facts.folding import Fold, Group
from firnline.facts.gathering import Gathered, Harvest, gather
from firnline.facts.heads import kept_head
from firnline.facts.lines import ManifestLine
from firnline.facts.meta import Snapshot, TableMeta
from firnline.facts.ports import Cache, Manifests
from firnline.facts.single_values import partition_name, source_types
from firnline.facts.totals import Totals, totals
from firnline.facts.values import (
    DataFacts,
    ManifestFacts,
    PartitionFacts,
    Rhythm,
    SpecFacts,
    TableFacts,
    Thresholds,
)

TARGET_PROPERTY = "write.target-file-size-bytes"
TARGET_DEFAULT = 512 << 20
SMALL_SHARE, LARGE_SHARE = 0.75, 1.8  # of the target: what Iceberg's own rewrite takes for too small and too large
MANIFEST_TARGET_PROPERTY = "commit.manifest.target-size-bytes"
MANIFEST_TARGET_DEFAULT = 8 << 20
MANIFEST_SMALL_SHARE = 0.25
PARTITIONS_NAMED_MAX = 1000  # beyond that nobody reads them, and a plan asks for slices


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table is read from, and how its metadata file lay there."""

    meta: TableMeta
    json_bytes: int
    gzip: bool
    manifests: Manifests
    cache: Cache


def thresholds(meta: TableMeta) -> Thresholds:
    """From the size files are meant to have, by the table's own property."""
    size = _size(meta, TARGET_PROPERTY, TARGET_DEFAULT)
    return Thresholds(size, int(size * SMALL_SHARE), int(size * LARGE_SHARE))


def _size(meta: TableMeta, name: str, default: int) -> int:
    text = meta.properties.get(name, "").strip()
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else default


def observe(
    identifier: Identifier,
    source: Source,
    *,
    sizes: Thresholds | None = None,
    named_max: int = PARTITIONS_NAMED_MAX,
) -> TableFacts:
    """Everything metadata tells of the table at its current snapshot. Without `sizes`, its own property says them."""
    meta = source.meta
    sizes = sizes or thresholds(meta)
    lines, unlisted = kept_head(source.manifests, source.cache, meta)
    data = [line for line in lines if line.content == "data"]
    folds = _folds(source, data, sizes)
    specs = {spec.spec_id or 0: spec for spec in meta.specs}
    whole = totals(data, folds.values, specs, sizes)
    deletes = NOTHING_KNOWN if unlisted else look_at_deletes(source.manifests, source.cache, meta, lines)
    damage = tuple(dict.fromkeys((*unlisted, *folds.damage, *deletes.damage)))
    complete = not (unlisted or folds.damage)
    named = _worst_first(whole, deletes)[:named_max]
    return TableFacts(
        identifier=identifier,
        uuid=meta.uuid,
        location=meta.table_location,
        metadata_location=meta.location,
        format_version=meta.format_version,
        snapshot=meta.current_snapshot_id,
        sequence=meta.last_sequence_number,
        thresholds=sizes,
        data=_data(whole, complete=complete),
        sizes=whole.sizes,
        formats=whole.formats,
        sort_orders=whole.orders,
        specs=_specs(meta, whole, complete=complete),
        deletes=deletes.by_kind,
        dangling=deletes.dangling,
        touched=deletes.touched,
        touched_bytes=deletes.touched_bytes,
        partition_count=len(whole.keys),
        partition_rows_median=int(np.median(whole.column(Group.ROWS))) if whole.keys else 0,
        partition_rows_most=int(whole.column(Group.ROWS).max()) if whole.keys else 0,
        partitions=_partitions(meta, whole, deletes, named),
        partitions_left_out=len(whole.keys) - len(named),
        manifests=_manifests(meta, None if unlisted else lines, whole, deletes, complete=not damage),
        snapshots=snapshots.facts(meta),
        refs=snapshots.refs(meta),
        metadata=snapshots.metadata(meta, source.json_bytes, gzip=source.gzip),
        encrypted=any(line.encrypted for line in lines),
        damage=damage,
    )


def _folds(source: Source, data: Sequence[ManifestLine], sizes: Thresholds) -> Gathered[Fold]:
    harvest = Harvest(
        name=f"fold {sizes.small_below} {sizes.large_above}",
        make=partial(folding.fold, thresholds=sizes),
        join=folding.merged,
        to_bytes=folding.to_bytes,
        from_bytes=folding.from_bytes,
    )
    return gather(source.manifests, source.cache, data, harvest)


def _figure(number: int, *, complete: bool) -> Figure:
    return exactly(number) if complete else Figure(number, None)


def _data(whole: Totals, *, complete: bool) -> DataFacts:
    sized, counted = complete and not whole.unsized, complete and not whole.uncounted

    def or_unsized(known: int) -> Figure:  # any file without a size may be one more
        return Figure(known, known + whole.unsized if complete else None)

    return DataFacts(
        files=_figure(whole.whole(Group.FILES), complete=complete),
        bytes=_figure(whole.whole(Group.BYTES), complete=sized),
        rows=_figure(whole.whole(Group.ROWS), complete=counted),
        small_files=or_unsized(whole.whole(Group.SMALL_FILES)),
        small_bytes=_figure(whole.whole(Group.SMALL_BYTES), complete=sized),
        removable=or_unsized(int(whole.removable.sum())),
        large_files=or_unsized(whole.whole(Group.LARGE_FILES)),
        large_bytes=_figure(whole.whole(Group.LARGE_BYTES), complete=sized),
    )


def _specs(meta: TableMeta, whole: Totals, *, complete: bool) -> tuple[SpecFacts, ...]:
    of = np.array([key[0] for key in whole.keys], np.int64)
    found = []
    for spec_id in np.unique(of).tolist():
        own = of == spec_id
        files, size, rows = (
            _figure(int(whole.column(each)[own].sum()), complete=complete and not untold)
            for each, untold in ((Group.FILES, 0), (Group.BYTES, whole.unsized), (Group.ROWS, whole.uncounted))
        )
        found.append(SpecFacts(spec_id, spec_id == meta.default_spec_id, int(own.sum()), files, size, rows))
    return tuple(found)


def _worst_first(whole: Totals, deletes: DeleteLook) -> Longs:
    touched = np.array([deletes.in_partition(key).files for key in whole.keys], np.int64)
    order: Longs = np.lexsort(
        (-whole.column(Group.FILES), -whole.column(Group.LARGE_FILES), -touched, -whole.removable)
    )
    return order


def _partitions(meta: TableMeta, whole: Totals, deletes: DeleteLook, chosen: Longs) -> tuple[PartitionFacts, ...]:
    specs = {spec.spec_id or 0: spec for spec in meta.specs}
    types = source_types((*meta.schemas, meta.schema))
    snapshots_by_id = {snapshot.id: snapshot for snapshot in meta.snapshots}
    starts = np.searchsorted(whole.commits[:, 0], chosen)
    ends = np.searchsorted(whole.commits[:, 0], chosen, side="right")
    found = []
    for at, start, end in zip(chosen.tolist(), starts.tolist(), ends.tolist(), strict=True):
        key = whole.keys[at]
        sums = whole.sums[at].tolist()
        own = deletes.in_partition(key)
        ids = whole.commits[start:end, 2].tolist()
        found.append(
            PartitionFacts(
                key=key,
                name=partition_name(specs.get(key[0], PartitionSpec()), types, key[1]),
                files=sums[Group.FILES - 1],
                bytes=sums[Group.BYTES - 1],
                rows=sums[Group.ROWS - 1],
                small_files=sums[Group.SMALL_FILES - 1],
                small_bytes=sums[Group.SMALL_BYTES - 1],
                removable=int(whole.removable[at]),
                large_files=sums[Group.LARGE_FILES - 1],
                large_bytes=sums[Group.LARGE_BYTES - 1],
                delete_files=own.files,
                delete_bytes=own.bytes,
                delete_rows=own.rows,
                touched=own.touched,
                rhythm=_rhythm(ids, snapshots_by_id),
            )
        )
    return tuple(found)


def _rhythm(ids: Sequence[int], by_id: Mapping[SnapshotId, Snapshot]) -> Rhythm:
    known = [by_id[SnapshotId(one)] for one in dict.fromkeys(ids) if one in by_id]
    times = [snapshot.millis for snapshot in known if snapshot.operation != snapshots.REWRITES]
    return snapshots.rhythm(times)


def _manifests(
    meta: TableMeta, lines: Sequence[ManifestLine] | None, whole: Totals, deletes: DeleteLook, *, complete: bool
) -> ManifestFacts:
    """Without lines nothing is known of them."""
    target = _size(meta, MANIFEST_TARGET_PROPERTY, MANIFEST_TARGET_DEFAULT)
    if lines is None:
        return ManifestFacts(bytes=UNKNOWN, entries=UNKNOWN, tombstones=UNKNOWN, target_bytes=target)
    specs = {spec.spec_id or 0: spec for spec in meta.specs}
    data = [line for line in lines if line.content == "data"]
    counted = [exactly(line.entries) if line.entries is not None else UNKNOWN for line in lines]
    gone = [exactly(line.deleted_files) if line.deleted_files is not None else UNKNOWN for line in lines]
    read = _figure(whole.entries + deletes.entries, complete=complete)
    tombstones = _figure(whole.tombstones + deletes.tombstones, complete=complete)
    listed, dead = total(counted), total(gone)
    return ManifestFacts(
        data=len(data),
        deletes=len(lines) - len(data),
        bytes=total(UNKNOWN if line.length is None else exactly(line.length) for line in lines),
        entries=listed if listed.exact else read,
        tombstones=dead if dead.exact else tombstones,
        small=sum(line.length is not None and line.length < target * MANIFEST_SMALL_SHARE for line in lines),
        target_bytes=target,
        fanout=fanout(data, whole.keys, specs, source_types((*meta.schemas, meta.schema))) if data else NONE,
    )
