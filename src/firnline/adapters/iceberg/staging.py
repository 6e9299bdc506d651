"""From a metadata file and a commit request to the next metadata file, in memory: the part of a commit that can be
refused.

PyIceberg's model applies the updates. Around it stands what it gets wrong: ids (see `adapters.requests`), what it would
lose (see `losses`), the fields format 1 keeps twice, and clocks that run backwards.
"""

from __future__ import annotations

import gzip
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.exceptions import ValidationError as IcebergValidationError
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV1, TableMetadataV2
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

from firnline.adapters import requests
from firnline.adapters.iceberg.losses import losses
from firnline.adapters.requests import Unfit
from firnline.core.types import Json, needs_v3, struct_from_json
from firnline.loop.commits import CommitRequest

FORMATS = (1, 2)
_ACTIONS = frozenset(
    {
        "assign-uuid", "upgrade-format-version", "add-schema", "set-current-schema", "add-spec", "set-default-spec",
        "add-sort-order", "set-default-sort-order", "set-location", "set-properties", "remove-properties",
        "set-snapshot-ref", "remove-snapshot-ref",
    }
)  # fmt: skip
_REQUIREMENTS = frozenset(
    {
        "assert-create", "assert-table-uuid", "assert-ref-snapshot-id", "assert-last-assigned-field-id",
        "assert-current-schema-id", "assert-last-assigned-partition-id", "assert-default-spec-id",
        "assert-default-sort-order-id",
    }
)  # fmt: skip


class Lossy(Unfit):
    """PyIceberg cannot carry this metadata through unharmed: the JVM can."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The next metadata. `dropped` are old metadata files the table's own settings no longer keep."""

    data: bytes
    folder: str  # where its metadata files lie
    changed: bool
    dropped: tuple[str, ...] = ()


def decode(data: bytes) -> Json:
    """Metadata JSON, gzip recognised by its first bytes whatever the file is called."""
    try:
        raw = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (ValueError, OSError, EOFError) as error:
        raise Unfit(f"its metadata file is damaged: {error}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("format-version"), int):
        raise Unfit("its metadata file is damaged: it names no format version")
    return raw


def why_not(format_version: int | None, request: CommitRequest) -> str | None:
    """Why PyIceberg cannot commit this request on a table of this format (None: a new one); None when it can."""
    versions = (format_version, requests.target_version(request))
    if any(version is not None and version not in FORMATS for version in versions):
        return "PyIceberg commits formats 1 and 2 only"
    for update in request.updates:
        if update.get("action") not in _ACTIONS:
            return f"PyIceberg does not carry out {update.get('action')!r} safely"
        if update["action"] == "add-schema" and (word := _of_format_3(update["schema"])):
            return f"a schema with {word} needs format 3"
        if update["action"] == "remove-snapshot-ref" and update.get("ref-name") == "main":
            return "PyIceberg keeps the snapshot log when main is removed"
    for requirement in request.requirements:
        if requirement.get("type") not in _REQUIREMENTS:
            return f"PyIceberg does not know the requirement {requirement.get('type')!r}"
    return None


def _of_format_3(schema: Json) -> str | None:
    if "default" in json.dumps(schema) and _has_defaults(schema):
        return "column defaults"
    return needs_v3(struct_from_json(schema))


def _has_defaults(item: Any) -> bool:
    if isinstance(item, dict):
        named = item.get("initial-default") is not None or item.get("write-default") is not None
        return named or any(_has_defaults(value) for value in item.values())
    return isinstance(item, list) and any(_has_defaults(value) for value in item)


def stage(request: CommitRequest, base: Json | None, base_location: str | None) -> Staged:
    """The metadata after the request. Unfit when a requirement fails, or it cannot be carried out; Lossy when PyIceberg
    would harm what is there. `base` is what the swap will be based on, so the checks hold for exactly what is
    committed.
    """
    before = None if base is None else _load(base)
    _validate(request, before)
    if wrong := requests.unmet(request.expect, {} if base is None else base.get("properties") or {}):
        raise Unfit(f"Requirement failed: {wrong}")
    if reason := why_not(None if base is None else base["format-version"], request):
        raise Lossy(reason)
    if before is not None and base is not None and (lost := losses(base, _dump(before))):
        raise Lossy(f"PyIceberg would lose {', '.join(lost[:5])} of the table's metadata")
    updates = requests.definite(request.updates, base)
    after = _apply(updates, before, request, base_location)
    if before is not None and after == before:
        return Staged(b"", "", changed=False)
    data = _finish(after, base)
    return _staged(data, base)


@cache
def _updates() -> TypeAdapter[Any]:
    return TypeAdapter(tuple[TableUpdate, ...])


@cache
def _requirements() -> TypeAdapter[Any]:
    return TypeAdapter(tuple[TableRequirement, ...])


def _parsed(adapter: Callable[[], TypeAdapter[Any]], values: tuple[Json, ...], what: str) -> Any:
    try:
        return adapter().validate_python(values)
    except (ValidationError, IcebergValidationError, ValueError) as error:
        raise Unfit(f"the {what} cannot be read: {_line(error)}") from error


def _load(base: Json) -> TableMetadata:
    if base["format-version"] not in FORMATS:
        raise Lossy("PyIceberg commits formats 1 and 2 only")
    if not base.get("table-uuid"):
        raise Lossy("the table has no uuid, and PyIceberg would make one up at every look")
    try:
        # Its validators change what they are given: a copy.
        return TableMetadataUtil.parse_obj(json.loads(json.dumps(base)))
    except Exception as error:  # pydantic, its own, KeyError and TypeError alike: it cannot read this table
        raise Lossy(f"PyIceberg cannot read the table's metadata: {_line(error)}") from error


def _validate(request: CommitRequest, before: TableMetadata | None) -> None:
    for requirement in _parsed(_requirements, request.requirements, "requirements"):
        kind = requirement.type
        absent = kind == "assert-ref-snapshot-id" and requirement.snapshot_id is None
        if absent and before is not None and requirement.ref not in before.refs:
            continue  # PyIceberg fails here on a table without snapshots, where the reference surely is absent
        try:
            requirement.validate(before)
        except CommitFailedException as error:
            raise Unfit(str(error) if "Requirement" in str(error) else f"Requirement failed: {error}") from error


def _apply(
    updates: tuple[Json, ...], before: TableMetadata | None, request: CommitRequest, base_location: str | None
) -> TableMetadata:
    start = before if before is not None else _empty(requests.target_version(request) or 2)
    actions = {update["action"] for update in updates}
    if before is None:
        needed = {"assign-uuid", "add-schema", "add-spec", "add-sort-order", "set-location"}
        if missing := sorted(needed - actions):
            raise Unfit(f"the request for a new table lacks {', '.join(missing)}")
    try:
        # A new table's location is set by an update like any other; no log entry, for there is no previous file.
        after = update_table_metadata(start, _parsed(_updates, updates, "updates"), metadata_location=base_location)
        _check_sources(updates, after)
    except Unfit:
        raise
    except Exception as error:  # ValueError, KeyError, its own errors: nothing was written yet
        raise Unfit(f"the request cannot be carried out: {_line(error)}") from error
    return _consistent(after)


def _check_sources(updates: tuple[Json, ...], after: TableMetadata) -> None:
    """New specs and orders are of columns there are: PyIceberg does not look, and the JVM cannot read such a table."""
    known = after.schema().field_ids
    for update in updates:
        for part in (update.get("spec") or update.get("sort-order") or {}).get("fields", ()):
            sources = part.get("source-ids") or [part["source-id"]]
            missing = [source for source in sources if source not in known and part["transform"] != "void"]
            if missing:
                raise Unfit(f"the request cannot be carried out: the schema has no column with the id {missing[0]}")


def _empty(version: int) -> TableMetadata:
    # Without validation: a table without a schema is not valid, and the updates bring it.
    common: dict[str, Any] = {
        "location": "", "table_uuid": uuid.UUID(int=0), "last_updated_ms": 0, "last_column_id": 0,
        "current_schema_id": -1, "default_spec_id": -1, "default_sort_order_id": -1, "schemas": [],
        "partition_specs": [], "sort_orders": [], "last_partition_id": None,
    }  # fmt: skip
    if version == 1:
        return TableMetadataV1.model_construct(**common)
    return TableMetadataV2.model_construct(**common)


def _consistent(after: TableMetadata) -> TableMetadata:
    """Format 1 keeps its current schema and spec twice, for its oldest readers, which PyIceberg leaves behind."""
    if not isinstance(after, TableMetadataV1):
        return after
    fields = after.spec().fields
    if [part.field_id for part in fields] != list(range(1000, 1000 + len(fields))):
        raise Unfit("format 1 needs the fields of a partition spec numbered from 1000 without a gap")
    own = [json.loads(part.model_dump_json()) for part in fields]
    return after.model_copy(update={"schema_": after.schema(), "partition_spec": own})


def _dump(metadata: TableMetadata) -> Json:
    return json.loads(metadata.model_dump_json())


def _finish(after: TableMetadata, base: Json | None) -> Json:
    data = _dump(after)
    floor = 0 if base is None else int(base["last-updated-ms"])
    # A clock behind the last writer's would make metadata that the JVM refuses to read.
    data["last-updated-ms"] = max(int(data["last-updated-ms"]), floor, int(time.time() * 1000))
    known = 0 if base is None else len(base.get("snapshot-log") or ())
    for entry in (data.get("snapshot-log") or [])[known:]:
        entry["timestamp-ms"] = data["last-updated-ms"]
    try:
        # Read back what will be written: a table nobody can load must never become visible.
        TableMetadataUtil.parse_raw(json.dumps(data))
    except Exception as error:
        raise Unfit(f"the result would not be valid metadata: {_line(error)}") from error
    return data


def _staged(data: Json, base: Json | None) -> Staged:
    properties = data.get("properties") or {}
    folder = properties.get("write.metadata.path") or data["location"].rstrip("/") + "/metadata"
    dropped: tuple[str, ...] = ()
    if properties.get("write.metadata.delete-after-commit.enabled", "").lower() == "true" and base is not None:
        kept = {entry["metadata-file"] for entry in data.get("metadata-log") or ()}
        dropped = tuple(e["metadata-file"] for e in base.get("metadata-log") or () if e["metadata-file"] not in kept)
    return Staged(json.dumps(data, ensure_ascii=False).encode(), folder.rstrip("/"), True, dropped)


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
