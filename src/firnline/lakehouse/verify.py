"""The proof, wired: one snapshot, the readers that are installed, one verdict."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from firnline.core.errors import BadInput, Failed, Missing
from firnline.core.ids import Identifier
from firnline.core.suggest import did_you_mean
from firnline.facts import at as points
from firnline.facts.meta import Schema, Snapshot, TableMeta
from firnline.proof import compare
from firnline.proof.compare import Reading, Subject
from firnline.proof.ports import Reader
from firnline.proof.values import NotInstalled, ReaderName, Verification

if TYPE_CHECKING:
    from firnline.lakehouse.opening import Lakehouse

# What each reader stands on, and the part of Firnline that brings it. The hash needs numpy and pyarrow everywhere.
_PARTS = {
    ReaderName.SPARK: (("pyspark", "pandas", "pyarrow", "numpy"), "spark"),
    ReaderName.PYICEBERG: (("pyarrow", "numpy"), "proof"),
    ReaderName.DUCKDB: (("duckdb", "pyarrow", "numpy"), "proof"),
}


def verify(lakehouse: Lakehouse, name: str, *, at: str | None = None, readers: Sequence[str] = ()) -> Verification:
    """Let each reader (all of them, unless some are named) read one snapshot, and compare what they saw.

    A reader that is not installed is a line of the answer and no error. Spark is started when it is one of them.
    """
    identifier, chosen = Identifier.parse(name), _chosen(readers)
    meta = lakehouse.tables.load(identifier)
    moment = None if at is None else points.resolve(meta, at, datetime.now(UTC))
    subject = _subject(identifier, meta, moment)
    snapshot = moment or meta.snapshot
    problems, counted = _presence(lakehouse, snapshot)
    found = {one: _reader(lakehouse, one) for one in chosen}
    there = {one: reader for one, reader in found.items() if not isinstance(reader, NotInstalled)}
    asked = compare.ask(subject, {one: reader.cannot for one, reader in there.items()})
    readings: dict[ReaderName, Reading] = {}
    for one, reader in found.items():
        if isinstance(reader, NotInstalled):
            readings[one] = Reading(reader, {}, 0.0)
            continue
        with lakehouse.notify(f"Reading {identifier} with {one}"):
            begun = time.monotonic()
            answer = reader.read(asked[one].request)
            readings[one] = Reading(answer, asked[one].left_out, time.monotonic() - begun)
    concluded = compare.conclude(subject, readings, files=problems, counted=counted)
    return replace(concluded, snapshot=snapshot.id if snapshot else None)


def _chosen(readers: Sequence[str]) -> tuple[ReaderName, ...]:
    known = [str(name) for name in ReaderName]
    for reader in readers:
        if reader not in known:
            raise BadInput(
                f"{reader!r} is no reader; there are {', '.join(known)}.", next_step=did_you_mean(reader, known)
            )
    return tuple(name for name in ReaderName if not readers or name in readers)


def _subject(identifier: Identifier, meta: TableMeta, at: Snapshot | None) -> Subject:
    schema = meta.schema if at is None else _schema_of(meta, at)
    return Subject(str(identifier), meta.location, at.id if at else None, schema.id, schema.struct)


def _schema_of(meta: TableMeta, snapshot: Snapshot) -> Schema:
    """The schema a snapshot was written with; the current one where an old writer left it out, as readers do."""
    if snapshot.schema_id is None:
        return meta.schema
    found = next((schema for schema in meta.schemas if schema.id == snapshot.schema_id), None)
    if found is None:
        raise Failed(
            f"{meta.location} says that snapshot {snapshot.id} has schema {snapshot.schema_id}, and does not have it.",
            why="The metadata file is damaged: nobody can tell what the columns of that snapshot are.",
        )
    return found


def _presence(lakehouse: Lakehouse, snapshot: Snapshot | None) -> tuple[tuple[str, ...], int | None]:
    from firnline.adapters.iceberg import presence

    if snapshot is None:
        return (), 0
    found = presence.look(snapshot, lakehouse.manifests, lakehouse.files)
    return found.problems, found.rows


def _reader(lakehouse: Lakehouse, name: ReaderName) -> Reader | NotInstalled:
    libraries, part = _PARTS[name]
    if lacking := [library for library in libraries if find_spec(library) is None]:
        return NotInstalled(f"{', '.join(lacking)} is not installed: pip install 'firnline[{part}]'")
    match name:
        case ReaderName.SPARK:
            return _spark(lakehouse)
        case ReaderName.PYICEBERG:
            from firnline.adapters.iceberg.reader import PyIcebergReader

            return PyIcebergReader(lakehouse.files)
        case ReaderName.DUCKDB:
            from firnline.adapters.duckdb.reader import DuckdbReader

            return DuckdbReader(lakehouse.storage.access)


def _spark(lakehouse: Lakehouse) -> Reader | NotInstalled:
    from firnline.adapters.spark.reader import SparkReader

    try:
        lakehouse.spark.root  # noqa: B018 - started here, and not while the reading is timed
    except Missing as error:
        return NotInstalled(str(error))
    return SparkReader(lakehouse.spark.isolated)
