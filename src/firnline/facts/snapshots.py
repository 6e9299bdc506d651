"""What the metadata file alone tells: snapshots, who makes them and how often, refs, and the file's own size. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from firnline.core import keys
from firnline.core.figures import Figure, exactly
from firnline.facts import lineage, summaries
from firnline.facts.meta import Ref, Snapshot, TableMeta
from firnline.facts.values import MetadataFacts, RefFacts, Rhythm, SnapshotFacts, Writer

COMMITS_MAX = 50  # a rhythm is that of the newest commits: how a table was written last year says little
WRITERS_MAX = 20  # every Spark application is one; those that wrote last are named
REWRITES = "replace"


def facts(meta: TableMeta) -> SnapshotFacts:
    """The snapshots that are kept."""
    kept = meta.snapshots
    if not kept:
        return SnapshotFacts()
    line = lineage.of(meta)
    changes = [line.by_id[one] for one in line.main() if line.by_id[one].operation != REWRITES]
    ids = {snapshot.id for snapshot in kept}
    return SnapshotFacts(
        count=len(kept),
        by_operation=dict(Counter(snapshot.operation for snapshot in kept)),
        oldest_millis=min(snapshot.millis for snapshot in kept),
        newest_millis=max(snapshot.millis for snapshot in kept),
        changed_millis=changes[0].millis if changes else None,
        unreachable=len(ids - line.led_to()),
        broken_parents=sum(snapshot.parent is not None and snapshot.parent not in ids for snapshot in kept),
        writers=_writers(kept),
        rhythm=rhythm([snapshot.millis for snapshot in changes]),
    )


def rhythm(millis: Sequence[int]) -> Rhythm:
    """How often something happened, from its newest times."""
    newest = sorted(millis)[-COMMITS_MAX:]
    gaps = [later - earlier for earlier, later in pairwise(newest)]
    return Rhythm(len(newest), newest[-1] if newest else None, int(median(gaps)) if gaps else None)


def _writers(snapshots: Iterable[Snapshot]) -> tuple[Writer, ...]:
    by: dict[tuple[str, str | None, bool], list[Snapshot]] = {}
    for snapshot in snapshots:
        engine, application = summaries.by(snapshot)
        by.setdefault((engine, application, keys.RUN in snapshot.summary), []).append(snapshot)
    found = [
        Writer(
            engine=engine,
            application=application,
            ours=ours,
            commits=len(own),
            last_millis=max(snapshot.millis for snapshot in own),
            operations=dict(Counter(snapshot.operation for snapshot in own)),
        )
        for (engine, application, ours), own in by.items()
    ]
    return tuple(sorted(found, key=lambda writer: writer.last_millis, reverse=True)[:WRITERS_MAX])


def refs(meta: TableMeta) -> tuple[RefFacts, ...]:
    """Branches and tags, main first, then by name."""
    by_id = {snapshot.id: snapshot for snapshot in meta.snapshots}
    ordered = sorted(meta.refs.values(), key=lambda ref: (ref.name != "main", ref.name))
    return tuple(_ref(ref, by_id.get(ref.snapshot)) for ref in ordered)


def _ref(ref: Ref, snapshot: Snapshot | None) -> RefFacts:
    # Iceberg counts a ref's age from its snapshot, not from when it was made; main never ages.
    ages = ref.name != "main" and ref.ref_age_max_ms is not None and snapshot is not None
    expires = snapshot.millis + ref.ref_age_max_ms if ages and snapshot and ref.ref_age_max_ms is not None else None
    millis = None if snapshot is None else snapshot.millis
    return RefFacts(ref.name, ref.kind, ref.snapshot, millis, expires, missing=snapshot is None)


def metadata(meta: TableMeta, json_bytes: int, *, gzip: bool) -> MetadataFacts:
    """The metadata file. Statistics files are told by it and by nothing else."""
    with_statistics = {item.get("snapshot-id") for item in meta.statistics if isinstance(item, dict)}
    newest = max(
        (snapshot for snapshot in meta.snapshots if snapshot.id in with_statistics),
        key=lambda snapshot: (snapshot.sequence, snapshot.millis),
        default=None,
    )
    files = [item for item in (*meta.statistics, *meta.partition_statistics) if isinstance(item, dict)]
    sizes = [item.get("file-size-in-bytes") for item in files]
    known = sum(size for size in sizes if isinstance(size, int))
    whole = all(isinstance(size, int) for size in sizes)
    return MetadataFacts(
        json_bytes=json_bytes,
        gzip=gzip,
        versions=len(meta.metadata_log) + 1,
        schemas=len(meta.schemas),
        specs=len(meta.specs),
        orders=len(meta.orders),
        statistics=len(meta.statistics),
        statistics_snapshot=None if newest is None else newest.id,
        partition_statistics=len(meta.partition_statistics),
        statistics_bytes=exactly(known) if whole else Figure(known, None),
    )
