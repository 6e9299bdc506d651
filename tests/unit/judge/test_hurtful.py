"""The table of properties that hurt: which value does harm in which table, and which does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firnline.core.figures import exactly
from firnline.core.layout import PartitionSpec
from firnline.facts.values import DeleteKind
from firnline.judge import examples, hurtful
from firnline.judge.values import Subject
from tests.decisions.rule_case import DAY, HOUR, MIB, metadata

FLAT = examples.meta(specs=(PartitionSpec((), 0),))
LOCAL = examples.meta(table_location="file:///lake/shop/orders")
DELETED = examples.facts(deletes={DeleteKind.POSITION_FILES: examples.deletes(1)})


def _with(name: str, value: str, **changes: object) -> Subject:
    return examples.subject({name: value}, **changes)  # type: ignore[arg-type]  # whichever the case is about


CASES = [
    ("gc.enabled", "false", {}, True),
    ("gc.enabled", " FALSE ", {}, True),
    ("gc.enabled", "true", {}, False),
    (
        "write.metadata.delete-after-commit.enabled",
        "false",
        {"on": examples.facts(metadata=metadata(versions=101, json_bytes=MIB))},
        True,
    ),
    (
        "write.metadata.delete-after-commit.enabled",
        "true",
        {"on": examples.facts(metadata=metadata(versions=101, json_bytes=MIB))},
        False,
    ),
    ("write.metadata.delete-after-commit.enabled", "false", {}, False),
    ("write.metadata.previous-versions-max", "9", {}, True),
    ("write.metadata.previous-versions-max", "10", {}, False),
    ("write.metadata.previous-versions-max", "1001", {}, True),
    ("write.target-file-size-bytes", str(32 * MIB - 1), {}, True),
    ("write.target-file-size-bytes", str(32 * MIB), {}, False),
    ("write.target-file-size-bytes", str(5 * 1024 * MIB), {}, True),
    ("write.target-file-size-bytes", "nonsense", {}, False),
    ("write.parquet.row-group-size-bytes", str(MIB), {}, True),
    ("write.parquet.row-group-size-bytes", str(128 * MIB), {}, False),
    ("commit.retry.num-retries", "0", {}, True),
    ("commit.retry.num-retries", "4", {}, False),
    ("commit.manifest-merge.enabled", "false", {}, True),
    ("commit.manifest.target-size-bytes", "1000", {}, True),
    ("write.metadata.metrics.default", "none", {}, True),
    ("write.metadata.metrics.default", "counts", {}, True),
    ("write.metadata.metrics.default", "full", {}, False),
    ("write.delete.granularity", "partition", {}, False),
    ("write.delete.granularity", "partition", {"on": DELETED}, True),
    ("write.delete.granularity", "file", {"on": DELETED}, False),
    ("write.delete.granularity", "partition", {"on": replace(DELETED, format_version=3)}, False),
    ("write.distribution-mode", "none", {}, True),
    ("write.distribution-mode", "none", {"of": FLAT}, False),
    ("write.distribution-mode", "range", {}, False),
    ("write.spark.fanout.enabled", "true", {}, False),
    ("write.delete.mode", "merge-on-read", {}, False),
    ("write.delete.mode", "merge-on-read", {"readers": ("spark",)}, False),
    ("write.merge.mode", "merge-on-read", {"readers": ("spark", "databricks")}, True),
    ("write.update.mode", "merge-on-read", {"readers": ("databricks",), "on": examples.facts(format_version=3)}, False),
    ("write.update.mode", "merge-on-read", {"readers": ("athena",), "on": examples.facts(format_version=3)}, True),
    ("write.update.mode", "merge-on-read", {"readers": ("oracle",)}, True),
    ("write.update.mode", "copy-on-write", {"readers": ("databricks",)}, False),
    ("write.upsert.enabled", "true", {}, True),
    ("write.object-storage.enabled", "true", {}, False),
    ("write.object-storage.enabled", "true", {"of": LOCAL}, True),
    ("write.data.path", f"{examples.LOCATION}/data", {}, False),
    ("write.data.path", f"{examples.LOCATION}_2/data", {}, True),
    ("write.parquet.compression-codec", "uncompressed", {}, True),
    ("write.parquet.compression-codec", "gzip", {}, False),
    ("history.expire.max-snapshot-age-ms", str(HOUR - 1), {}, True),
    ("history.expire.max-snapshot-age-ms", str(HOUR), {}, False),
    ("history.expire.min-snapshots-to-keep", "1001", {}, True),
    ("history.expire.min-snapshots-to-keep", "1000", {}, False),
    ("history.expire.max-ref-age-ms", str(DAY - 1), {}, True),
    ("write.target-file-size", "1", {}, True),
    ("write.fanout.enabled", "true", {}, True),
    ("write.format.default", "orc", {}, False),
    ("owner", "ann", {}, False),
]


@pytest.mark.parametrize(("name", "value", "changes", "hurts"), CASES)
def test_a_property_hurts_or_does_not(name: str, value: str, changes: dict[str, object], hurts: bool) -> None:
    """A value is held against the very table it is set on."""
    found = list(hurtful.found(_with(name, value, **changes)))
    assert [hurt.property for hurt in found] == [name] * hurts
    assert all(hurt.sentence.endswith(".") for hurt in found)


def test_every_row_has_a_case() -> None:
    """No row of the table is without a value that hurts and one that does not, of that property or a sister's."""
    sisters = {"write.delete.mode", "write.merge.mode", "write.update.mode"}
    named = {name for name, _, _, hurts in CASES if hurts} | sisters | {"write.spark.fanout.enabled"}
    assert {row.property for row in hurtful.ROWS} <= named


def test_metrics_that_are_named_by_column_are_meant() -> None:
    """Switching metrics off for all columns but some is what wide tables do."""
    named = {"write.metadata.metrics.default": "none", "write.metadata.metrics.column.customer": "full"}
    assert list(hurtful.found(examples.subject(named))) == []


def test_fanout_hurts_where_rows_are_not_distributed() -> None:
    """Two settings that are harmless apart can hurt together."""
    both = {"write.spark.fanout.enabled": "true", "write.distribution-mode": "none"}
    assert [hurt.property for hurt in hurtful.found(examples.subject(both))] == list(both)[::-1]


def test_what_is_unset_can_hurt() -> None:
    """Large metadata files that nothing deletes are told of without any property."""
    facts = examples.facts(metadata=metadata(versions=100, json_bytes=8 * MIB), manifests=examples.facts().manifests)
    (hurt,) = hurtful.found(examples.subject(on=facts))
    assert (hurt.property, hurt.value, hurt.instead) == ("write.metadata.delete-after-commit.enabled", None, "true")
    assert exactly(0) == facts.touched
