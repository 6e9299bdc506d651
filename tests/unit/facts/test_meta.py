"""Table metadata parsed by us: every format, every way of leaving something out, and every way of being damaged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core.errors import Failed
from firnline.core.layout import PartitionField
from firnline.core.types import Field, Opaque, Primitive
from firnline.facts import meta as metadata
from firnline.facts.meta import Ref, TableMeta

WHERE = "file:///w/t/metadata/00001-a.metadata.json"
ID = {"id": 1, "name": "id", "required": True, "type": "long"}
AT = {"id": 2, "name": "at", "required": False, "type": "timestamptz"}
SCHEMA = {"type": "struct", "schema-id": 0, "fields": [ID, AT]}
DAY = {"name": "at_day", "transform": "day", "source-id": 2, "field-id": 1000}
BY_ID = {
    "order-id": 1,
    "fields": [{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}],
}

V1: dict[str, Any] = {
    "format-version": 1,
    "location": "file:///w/t/",
    "last-updated-ms": 5000,
    "last-column-id": 2,
    "schema": {"type": "struct", "fields": [ID, AT]},
    "partition-spec": [{"name": "at_day", "transform": "day", "source-id": 2}],
}
V2: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "file:///w/t",
    "last-sequence-number": 7,
    "last-updated-ms": 5000,
    "last-column-id": 2,
    "schemas": [SCHEMA, {**SCHEMA, "schema-id": 1, "identifier-field-ids": [1]}],
    "current-schema-id": 1,
    "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [DAY]}],
    "default-spec-id": 1,
    "last-partition-id": 1000,
    "sort-orders": [{"order-id": 0, "fields": []}, BY_ID],
    "default-sort-order-id": 1,
    "properties": {"owner": "ann"},
    "current-snapshot-id": 11,
    "snapshots": [
        {
            "snapshot-id": 10,
            "timestamp-ms": 1000,
            "sequence-number": 1,
            "manifest-list": "m1",
            "summary": {"operation": "append"},
        },
        {
            "snapshot-id": 11,
            "parent-snapshot-id": 10,
            "timestamp-ms": 2000,
            "sequence-number": 2,
            "schema-id": 1,
            "manifest-list": "m2",
        },
    ],
    "refs": {
        "main": {"type": "branch", "snapshot-id": 11, "min-snapshots-to-keep": 3, "max-snapshot-age-ms": 5},
        "y25": {"type": "tag", "snapshot-id": 10, "max-ref-age-ms": 9},
    },
    "snapshot-log": [{"timestamp-ms": 1000, "snapshot-id": 10}, {"timestamp-ms": 2000, "snapshot-id": 11}],
    "metadata-log": [{"timestamp-ms": 900, "metadata-file": "file:///w/t/metadata/00000-a.metadata.json"}],
    "statistics": [{"snapshot-id": 11}],
}
V3: dict[str, Any] = {
    **V2,
    "format-version": 3,
    "next-row-id": 42,
    "encryption-keys": [{"key-id": "k"}],
    "schemas": [
        {
            "type": "struct",
            "schema-id": 1,
            "fields": [
                ID,
                {"id": 2, "name": "doc", "required": False, "type": "variant"},
                {"id": 3, "name": "n", "required": True, "type": "int", "initial-default": 1, "write-default": 2},
                {"id": 4, "name": "place", "required": False, "type": "geometry(OGC:CRS84)"},
                {"id": 5, "name": "later", "required": False, "type": "interval(year)"},
            ],
        }
    ],
    "partition-specs": [{"spec-id": 1, "fields": [{**DAY, "source-ids": [1, 2]}]}],
}


def parsed(raw: Mapping[str, Any], **more: Any) -> TableMeta:
    """The metadata with some of it replaced."""
    return metadata.parse(json.dumps({**raw, **more}).encode(), WHERE)


def without(raw: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The metadata with some of it left out."""
    return {key: value for key, value in raw.items() if key not in keys}


def test_format_2_is_read_whole() -> None:
    """Everything a format 2 table says of itself is there as a value."""
    meta = parsed(V2)
    assert (meta.format_version, meta.uuid, meta.location) == (2, V2["table-uuid"], WHERE)
    assert meta.schema.identifier_ids == (1,)
    assert [field.name for field in meta.schema.struct.fields] == ["id", "at"]
    assert meta.spec.fields == (PartitionField("at_day", "day", (2,), 1000),)
    assert meta.order.fields[0].direction == "asc"
    assert meta.refs["main"] == Ref("main", "branch", 11, None, 5, 3)  # type: ignore[arg-type] # a plain number is enough
    assert meta.refs["y25"] == Ref("y25", "tag", 10, 9)  # type: ignore[arg-type] # as above
    assert meta.snapshot is not None
    assert (meta.snapshot.parent, meta.snapshot.schema_id, meta.snapshot.operation) == (10, 1, "unknown")
    assert (meta.snapshots[0].parent, meta.snapshots[0].operation) == (None, "append")
    assert meta.snapshot_log == ((1000, 10), (2000, 11))
    assert meta.metadata_log[0][1].endswith("00000-a.metadata.json")
    assert (meta.last_sequence_number, meta.last_partition_id, meta.statistics) == (7, 1000, ({"snapshot-id": 11},))


def test_format_1_is_read_from_its_older_fields() -> None:
    """One schema, one spec without ids, no order, no refs, no uuid: format 1 as its first writers left it."""
    meta = parsed(V1)
    assert (meta.uuid, meta.current_schema_id, meta.default_spec_id, meta.last_partition_id) == (None, 0, 0, 1000)
    assert meta.spec.fields == (PartitionField("at_day", "day", (2,), 1000),)
    assert (meta.order.fields, meta.snapshot, meta.refs, meta.properties) == ((), None, {}, {})
    assert meta.table_location == "file:///w/t"


def test_format_1_prefers_its_newer_fields() -> None:
    """Where format 1 has lists of schemas and specs, they count, not the copies beside them."""
    meta = parsed(
        {**V1, **{key: V2[key] for key in ("schemas", "current-schema-id", "partition-specs", "default-spec-id")}}
    )
    assert (meta.schema.id, meta.spec.spec_id) == (1, 1)
    assert parsed(V1, schema={**SCHEMA, "schema-id": 4}).schema.id == 4


def test_format_1_may_list_manifests_in_place() -> None:
    """A snapshot without a manifest list has its manifests."""
    meta = parsed(
        V1, snapshots=[{"snapshot-id": 1, "timestamp-ms": 1, "manifests": ["m1", "m2"]}], **{"current-snapshot-id": 1}
    )
    assert meta.snapshot is not None
    assert (meta.snapshot.manifest_list, meta.snapshot.manifests, meta.snapshot.sequence) == (None, ("m1", "m2"), 0)
    assert meta.refs["main"] == Ref("main", "branch", 1)  # type: ignore[arg-type] # written before refs existed


def test_format_3_is_read_with_types_of_a_later_day() -> None:
    """Variant, defaults, geometry, row ids and keys are read, and a type nobody knows yet stays text."""
    meta = parsed(V3)
    of = {field.name: field for field in meta.schema.struct.fields}
    assert (of["doc"].type, of["later"].type) == (Primitive("variant"), Opaque("interval(year)"))
    assert of["place"].type == Opaque("geometry(OGC:CRS84)")
    assert of["n"] == Field("n", Primitive("int"), True, None, 3, 1, 2)
    assert (meta.next_row_id, meta.encryption_keys) == (42, ({"key-id": "k"},))
    assert meta.spec.fields[0].source_ids == (1, 2)


@pytest.mark.parametrize("current", [None, -1])
def test_no_current_snapshot_is_none(current: int | None) -> None:
    """Null and -1 both mean that there is no current snapshot, and so no main."""
    meta = parsed(without(V2, "refs"), **{"current-snapshot-id": current})
    assert (meta.current_snapshot_id, meta.snapshot, meta.refs) == (None, None, {})


def test_an_expired_snapshot_is_not_found() -> None:
    """A current snapshot that is not among the snapshots is no snapshot rather than an error."""
    assert parsed(V2, snapshots=[]).snapshot is None


@pytest.mark.parametrize("data", [V1, V2, V3])
def test_gzip_is_recognised_by_its_first_bytes(data: dict[str, Any]) -> None:
    """Compressed metadata is read whatever the file is called."""
    text = json.dumps(data).encode()
    assert metadata.parse(gzip.compress(text), WHERE) == metadata.parse(text, WHERE)


@pytest.mark.parametrize(
    ("key", "what"),
    [("current-schema-id", "schema"), ("default-spec-id", "partition spec"), ("default-sort-order-id", "sort order")],
)
def test_a_current_that_is_not_there_is_damage(key: str, what: str) -> None:
    """Metadata that names a schema, spec or order it does not have says so when asked for it."""
    meta = parsed(V2, **{key: 99})
    with pytest.raises(Failed, match=f"names {what} 99 as current and does not have it"):
        _ = (meta.schema, meta.spec, meta.order)


def test_a_later_format_is_refused() -> None:
    """A format this version does not know is named with the highest it does."""
    with pytest.raises(Failed, match="has format version 4; this version of Firnline reads up to 3"):
        parsed(V2, **{"format-version": 4})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe",
        b"\x1f\x8b",
        b"\x1f\x8bnonsense",
        gzip.compress(json.dumps(V2).encode())[:-12],
        b"PAR1",
        json.dumps({**V2, "format-version": "2"}).encode(),
        json.dumps({**V2, "location": None}).encode(),
        json.dumps({**V2, "schemas": [[]]}).encode(),
        json.dumps({**V2, "snapshots": [{}]}).encode(),
        json.dumps({**V2, "refs": {"main": {"type": "branch"}}}).encode(),
        json.dumps({**V2, "partition-specs": [{"spec-id": 0, "fields": [{"name": "x"}]}]}).encode(),
        json.dumps(without(V2, "last-column-id")).encode(),
        json.dumps(without(V1, "schema")).encode(),
    ],
)
def test_a_damaged_file_is_named(data: bytes) -> None:
    """Whatever is wrong with a metadata file, the complaint names the file and what to do."""
    with pytest.raises(Failed, match="is not readable as Iceberg table metadata") as caught:
        metadata.parse(data, WHERE)
    assert WHERE in caught.value.what
    assert "previous metadata file" in (caught.value.next_step or "")


@given(st.data())
def test_damage_is_never_a_traceback(data: st.DataObject) -> None:
    """With any part of it replaced by any JSON, metadata is read or refused as damaged, and nothing else."""
    raw: Any = json.loads(json.dumps(V3))
    junk: st.SearchStrategy[Any] = (
        st.none()
        | st.booleans()
        | st.integers(-2, 2)
        | st.text(max_size=3)
        | st.just([])
        | st.just({})
        | st.just([None])
    )
    node = raw
    for _ in range(data.draw(st.integers(0, 4))):
        keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
        inner = [key for key in keys if isinstance(node[key], dict | list) and node[key]]
        if not inner:
            break
        node = node[data.draw(st.sampled_from(inner))]
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    node[data.draw(st.sampled_from(keys))] = data.draw(junk)
    try:
        metadata.parse(json.dumps(raw).encode(), WHERE)
    except Failed as error:
        assert WHERE in error.what  # noqa: PT017 # whether it fails depends on what was drawn
