"""Iceberg's table properties by name, as of release 1.12: a misspelt one is accepted by every engine and does nothing.

A test holds this list against the constants of Iceberg's own `TableProperties`.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

# Where Iceberg itself reads: an unknown name under one of these is a mistake. Anything else may be somebody's own.
_OWN = ("write.", "read.", "commit.", "history.", "gc.", "schema.", "encryption.", "compatibility.")
# By these a table's files lie outside its own folder.
FOLDERS = ("write.data.path", "write.folder-storage.path", "write.object-storage.path", "write.metadata.path")
# The end of these names is a column's.
FAMILIES = (
    "write.metadata.metrics.column.",
    "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.bloom-filter-fpp.column.",
    "write.parquet.bloom-filter-ndv.column.",
    "write.parquet.stats-enabled.column.",
)
_COMPRESSED = tuple(f"{base}.{format_}" for base in ("write", "write.delete") for format_ in ("avro", "orc", "parquet"))
_ROW_LEVEL = ("write.delete", "write.update", "write.merge")
KNOWN = frozenset(
    {
        *(f"{base}.compression-codec" for base in _COMPRESSED),
        *(f"{base}.compression-level" for base in _COMPRESSED if not base.endswith("orc")),
        *(f"{base}.compression-strategy" for base in _COMPRESSED if base.endswith("orc")),
        *(f"{base}.{end}" for base in _ROW_LEVEL for end in ("mode", "isolation-level", "distribution-mode")),
        *(
            f"{base}.{end}"
            for base in ("write.parquet", "write.delete.parquet")
            for end in (
                "row-group-size-bytes", "page-size-bytes", "page-row-limit", "dict-size-bytes",
                "row-group-check-min-record-count", "row-group-check-max-record-count",
            )
        ),
        *(
            f"{base}.{end}"
            for base in ("write.orc", "write.delete.orc")
            for end in ("stripe-size-bytes", "block-size-bytes", "vectorized.batch-size")
        ),
        *(f"commit.retry.{end}" for end in ("num-retries", "min-wait-ms", "max-wait-ms", "total-timeout-ms")),
        *(f"commit.status-check.{end}" for end in ("num-retries", "min-wait-ms", "max-wait-ms", "total-timeout-ms")),
        *(f"write.object-storage.{end}" for end in ("enabled", "path", "partitioned-paths")),
        *(f"history.expire.{end}" for end in ("max-snapshot-age-ms", "min-snapshots-to-keep", "max-ref-age-ms")),
        *(f"read.parquet.vectorization.{end}" for end in ("enabled", "batch-size")),
        *(f"read.orc.vectorization.{end}" for end in ("enabled", "batch-size")),
        "commit.manifest.target-size-bytes", "commit.manifest.min-count-to-merge", "commit.manifest-merge.enabled",
        "compatibility.snapshot-id-inheritance.enabled", "encryption.data-key-length", "encryption.key-id",
        "engine.hive.enabled", "engine.hive.lock-enabled", "gc.enabled", "read.split.adaptive-size.enabled",
        "read.split.metadata-target-size", "read.split.open-file-cost", "read.split.planning-lookback",
        "read.split.target-size", "schema.name-mapping.default", "write.data.path", "write.delete.format.default",
        "write.delete.granularity", "write.delete.target-file-size-bytes", "write.distribution-mode",
        "write.folder-storage.path", "write.format.default", "write.location-provider.impl",
        "write.manifest-lists.enabled", "write.manifest.compression-codec", "write.manifest.compression-level",
        "write.metadata.compression-codec",
        "write.metadata.delete-after-commit.enabled", "write.metadata.metrics.default",
        "write.metadata.metrics.max-inferred-column-defaults", "write.metadata.path",
        "write.metadata.previous-versions-max", "write.orc.bloom.filter.columns", "write.orc.bloom.filter.fpp",
        "write.parquet.bloom-filter-max-bytes", "write.spark.accept-any-schema",
        "write.spark.advisory-partition-size-bytes", "write.spark.fanout.enabled", "write.summary.partition-limit",
        "write.target-file-size-bytes", "write.upsert.enabled", "write.wap.enabled",
    }
)  # fmt: skip
# Names people write because another system, an older document or plain sense calls it so.
_MISTAKEN = {
    "write.fanout.enabled": "write.spark.fanout.enabled",
    "write.distribution.mode": "write.distribution-mode",
    "write.target-file-size": "write.target-file-size-bytes",
    "write.compression-codec": "write.parquet.compression-codec",
    "write.parquet.compression": "write.parquet.compression-codec",
    "write.parquet.row-group-size": "write.parquet.row-group-size-bytes",
    "write.metadata.previous-versions": "write.metadata.previous-versions-max",
    "write.metadata.delete-after-commit": "write.metadata.delete-after-commit.enabled",
    "write.sort-order": "`sort:` of the table file",
    "sort-order": "`sort:` of the table file",
    "partitioning": "`partition:` of the table file",
    "history.expire.max-snapshot-age": "history.expire.max-snapshot-age-ms",
    "history.expire.min-snapshots": "history.expire.min-snapshots-to-keep",
    "target-file-size-bytes": "write.target-file-size-bytes",
    "format.default": "write.format.default",
}
# Iceberg takes these out of the properties when a table is made and never reads them there again.
RESERVED = {
    "format-version": "`format-version:`",
    "location": "`location:`",
    "comment": "`description:`",
    "owner": "`owner:`",
    "uuid": "",
    "current-schema": "",
    "current-snapshot-id": "",
    "current-snapshot-summary": "",
    "current-snapshot-timestamp-ms": "",
    "default-partition-spec": "",
    "default-sort-order": "",
    "snapshot-count": "",
}
# Kept by catalogs as properties like any other: a file may write them so, though it has keys of its own for them.
KEPT = frozenset({"comment", "owner"})


@lru_cache(maxsize=4096)  # a fleet's tables carry the same properties, and comparing with every name takes long
def real_name(key: str) -> str | None:
    """What was probably meant by this name, or None when there is nothing to say about it. Empty: nobody knows."""
    if key in KNOWN or any(key.startswith(family) and key != family for family in FAMILIES):
        return None
    if key in _MISTAKEN:
        return _MISTAKEN[key]
    ours = key.startswith(_OWN)
    near = get_close_matches(key, (*KNOWN, *FAMILIES), n=1, cutoff=0.75 if ours else 0.9)
    if near:
        return near[0] + ("COLUMN" if near[0] in FAMILIES else "")
    return "" if ours else None
