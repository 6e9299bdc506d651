"""The decision table of `properties`: settings of Iceberg's that hurt, when, why, and what to set instead. Pure.

A row answers with a sentence or nothing. Values are read as Iceberg reads them: case does not matter in truth values,
and a text that is no number counts as not set, which is what engines do or fail on by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from firnline.config import properties as names
from firnline.config.engines import ENGINES
from firnline.core.sizes import show_bytes
from firnline.facts.values import DeleteKind
from firnline.judge.values import Subject

MIB = 2**20
DAY_MS = 86_400_000
TARGET_LEAST, TARGET_MOST = 32 * MIB, 4096 * MIB
GROUP_LEAST = 8 * MIB
VERSIONS_LEAST = 10  # a lost reply to a commit is settled by looking through the earlier metadata files
LOG_LEAST = 64 * MIB


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: when it hurts in words, and `look`, which gives the sentence if it does. `instead` None: remove it."""

    property: str
    when: str
    instead: str | None
    look: Callable[[Subject, str | None], str | None]


@dataclass(frozen=True, slots=True)
class Hurt:
    """A setting that hurts this table, and what to set instead."""

    property: str
    value: str | None
    instead: str | None
    sentence: str


def found(subject: Subject) -> Iterator[Hurt]:
    """Every setting of the table that hurts, in the order of the rows; then names that mean nothing."""
    own = subject.meta.properties
    for row in ROWS:
        value = own.get(row.property)
        sentence = row.look(subject, value)
        if sentence is not None:
            yield Hurt(row.property, value, row.instead, sentence)
    for name in sorted(own):
        real = names.real_name(name)
        if real is not None:
            meant = f"; {real} may be meant" if real else ""
            yield Hurt(name, own[name], None, f"Iceberg has no such property and ignores it{meant}.")


def _is(value: str | None, *words: str) -> bool:
    return value is not None and value.strip().casefold() in words


def _number(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _when(*words: str, why: str) -> Callable[[Subject, str | None], str | None]:
    return lambda _, value: why if _is(value, *words) else None


def _below(least: int, why: str) -> Callable[[Subject, str | None], str | None]:
    def look(_: Subject, value: str | None) -> str | None:
        number = _number(value)
        return why if number is not None and number < least else None

    return look


def _target(_: Subject, value: str | None) -> str | None:
    size = _number(value)
    if size is not None and size < TARGET_LEAST:
        return f"writers aim at {show_bytes(size)}: every file they write is a small one."
    if size is not None and size > TARGET_MOST:
        return f"writers aim at {show_bytes(size)}: changing a row rewrites that much."
    return None


def _log_kept(subject: Subject, value: str | None) -> str | None:
    metadata = subject.facts.metadata
    size = 0 if metadata is None else metadata.versions * metadata.json_bytes
    if _is(value, "true") or size < LOG_LEAST:
        return None
    return f"old metadata files are never deleted; those that are still listed may take up {show_bytes(size)}."


def _versions(_: Subject, value: str | None) -> str | None:
    kept = _number(value)
    if kept is not None and kept < VERSIONS_LEAST:
        return f"only {kept} earlier metadata files are kept: a commit whose reply is lost may not be found again."
    return "the metadata file lists thousands of earlier ones." if kept is not None and kept > 1000 else None


def _metrics(subject: Subject, value: str | None) -> str | None:
    named = any(name.startswith("write.metadata.metrics.column.") for name in subject.meta.properties)
    return "files get no bounds: no filter skips any of them." if _is(value, "none", "counts") and not named else None


def _objects(subject: Subject, value: str | None) -> str | None:
    plain = subject.meta.table_location.startswith(("file:", "/", "hdfs:"))
    return (
        "hashed folders only help object stores, and here make one folder for each file."
        if plain and _is(value, "true")
        else None
    )


def _elsewhere(subject: Subject, value: str | None) -> str | None:
    inside = subject.meta.table_location.rstrip("/") + "/"
    if value is None or (value.rstrip("/") + "/").startswith(inside):
        return None
    return "data files lie outside the table's location, where nobody looks for orphans and others may write."


def _granularity(subject: Subject, value: str | None) -> str | None:
    kinds = {DeleteKind.POSITION_FILE, DeleteKind.POSITION_FILES} & set(subject.facts.deletes)
    if subject.facts.format_version != 2 or not kinds:
        return None
    return "a delete file touches every file of its partition." if _is(value, "partition") else None


def _distribution(subject: Subject, value: str | None) -> str | None:
    partitioned = bool(subject.meta.spec.fields)
    return "each writing task leaves a file in each partition it meets." if partitioned and _is(value, "none") else None


def _fanout(subject: Subject, value: str | None) -> str | None:
    many = bool(subject.meta.spec.fields) and _is(subject.meta.properties.get("write.distribution-mode"), "none")
    return "each task keeps a file open for each partition it meets." if many and _is(value, "true") else None


def _on_read(subject: Subject, value: str | None) -> str | None:
    if not _is(value, "merge-on-read"):
        return None
    vectors = subject.facts.format_version >= 3
    unable = [
        reader
        for reader in subject.readers
        if (engine := ENGINES.get(reader.casefold())) is None
        or not (engine.deletion_vectors if vectors else engine.position_deletes)
    ]
    return f"the next change leaves deletes that {unable[0]} cannot read." if unable else None


def _history_age(_: Subject, value: str | None) -> str | None:
    age = _number(value)
    if age is not None and age < DAY_MS // 24:
        return "an expiry takes snapshots within the hour, under the feet of queries and streams that use them."
    return None


def _history_least(_: Subject, value: str | None) -> str | None:
    least = _number(value)
    return f"an expiry always keeps {least:,} snapshots, however old." if least is not None and least > 1000 else None


_LEAVES_DELETES = "merge-on-read, and a declared reader cannot read deletes"
_ON_READ = tuple(
    Setting(f"write.{change}.mode", _LEAVES_DELETES, "copy-on-write", _on_read)
    for change in ("delete", "update", "merge")
)
ROWS = (
    Setting(
        "gc.enabled", "false", None, _when("false", why="expiry and orphan removal refuse to run: nothing ever leaves.")
    ),
    Setting(
        "write.metadata.delete-after-commit.enabled",
        f"not true, and the metadata files that are listed may take up {show_bytes(LOG_LEAST)}",
        "true",
        _log_kept,
    ),
    Setting("write.metadata.previous-versions-max", f"under {VERSIONS_LEAST}, or over 1,000", "100", _versions),
    Setting(
        "write.target-file-size-bytes",
        f"under {show_bytes(TARGET_LEAST)}, or over {show_bytes(TARGET_MOST)}",
        None,
        _target,
    ),
    Setting(
        "write.parquet.row-group-size-bytes",
        f"under {show_bytes(GROUP_LEAST)}",
        None,
        _below(GROUP_LEAST, "row groups are tiny: readers ask for each by itself."),
    ),
    Setting("commit.retry.num-retries", "0", None, _below(1, "the first lost race fails the writer.")),
    Setting(
        "commit.manifest-merge.enabled",
        "false",
        None,
        _when("false", why="every append leaves manifests that nothing merges."),
    ),
    Setting(
        "commit.manifest.target-size-bytes",
        f"under {show_bytes(MIB)}",
        None,
        _below(MIB, "manifests are cut small: planning opens many of them."),
    ),
    Setting("write.metadata.metrics.default", "none or counts, and no column has its own metrics", None, _metrics),
    Setting("write.delete.granularity", "partition, in a format 2 table with position deletes", "file", _granularity),
    Setting("write.distribution-mode", "none, in a partitioned table", "hash", _distribution),
    Setting(
        "write.spark.fanout.enabled",
        "true, in a partitioned table whose rows are not distributed",
        None,
        _fanout,
    ),
    *_ON_READ,
    Setting(
        "write.upsert.enabled",
        "true",
        None,
        _when("true", why="Flink writes an equality delete for every row it upserts."),
    ),
    Setting("write.object-storage.enabled", "true, and the table is not in an object store", None, _objects),
    Setting("write.data.path", "outside the table's location", None, _elsewhere),
    Setting(
        "write.parquet.compression-codec",
        "uncompressed",
        "zstd",
        _when("uncompressed", why="data is stored, and read, several times as large as it need be."),
    ),
    Setting("history.expire.max-snapshot-age-ms", "under an hour", None, _history_age),
    Setting("history.expire.min-snapshots-to-keep", "over 1,000", None, _history_least),
    Setting(
        "history.expire.max-ref-age-ms",
        "under a day",
        None,
        _below(DAY_MS, "an expiry drops branches and tags before they are a day old."),
    ),
)
