"""From manifests to batches of entries: read ahead, grouped by writer schema, decoded together.

A group is decoded when all that waits has reached the size of a batch; the largest group goes first. In memory are, at
most, what waits, as much again in one piece while it is decoded, a third of that read ahead, and columns of some 200
bytes an entry.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from firnline.adapters.iceberg import fields, opening
from firnline.adapters.iceberg.assembly import Assembly, Source
from firnline.adapters.iceberg.avro import columns, scalar, schemas
from firnline.adapters.iceberg.avro.container import MAGIC, Damaged
from firnline.adapters.iceberg.avro.plans import Plan, plan
from firnline.adapters.iceberg.avro.schemas import Array, Atom, Fixed, Record, Type, Union, shown
from firnline.adapters.iceberg.opening import Opened
from firnline.adapters.iceberg.prefetch import ahead
from firnline.facts.entries import Entries
from firnline.facts.lines import ManifestLine, Metric, Wanted
from firnline.facts.ports import Blobs

# Larger batches step more blocks together; beyond this the gain is small and the processor's caches are too.
BATCH_BYTES = 24 * 1024 * 1024
PIECE_BYTES = 2 * 1024 * 1024
_AHEAD_MOST = 64
_AHEAD_BYTES = 8 * 1024 * 1024
_ALONE = 2  # so few manifests are read before a thread would have started


@dataclass(slots=True)
class Piece:
    """Some blocks of one manifest, decompressed."""

    source: Source
    blocks: list[bytes] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    size: int = 0


def read(
    blobs: Blobs, lines: Sequence[ManifestLine], wanted: Wanted, batch_bytes: int = BATCH_BYTES
) -> Generator[Entries]:
    """Every entry of these manifests."""
    found = _pieces(blobs, lines)
    if len(lines) > _ALONE:
        found = ahead(found, lambda piece: piece.size, most=_AHEAD_MOST, weight=_AHEAD_BYTES)
    assembly = Assembly(lines)
    waiting: dict[object, list[Piece]] = {}
    sizes: dict[object, int] = {}
    try:
        for piece in found:
            key = piece.source.group
            waiting.setdefault(key, []).append(piece)
            sizes[key] = sizes.get(key, 0) + piece.size
            if sum(sizes.values()) >= batch_bytes:
                fullest = max(sizes, key=sizes.__getitem__)
                del sizes[fullest]
                yield _decoded(waiting.pop(fullest), lines, wanted, assembly)
        for pieces in waiting.values():
            yield _decoded(pieces, lines, wanted, assembly)
    finally:
        found.close()


def _pieces(blobs: Blobs, lines: Sequence[ManifestLine]) -> Generator[Piece]:
    for index, line in enumerate(lines):
        data = opening.read(blobs, line.path)
        with opening.naming(line.path, encrypted=line.encrypted and not data.startswith(MAGIC)):
            opened = opening.opened(data)
            opening.check_whole(opened, line)
            yield from _inflated(opened, Source.of(index, line, opened.header))


def _inflated(opened: Opened, source: Source) -> Generator[Piece]:
    piece = Piece(source)
    for block in opened.blocks:
        inside = opened.inflated(block)
        piece.blocks.append(inside)
        piece.counts.append(block.count)
        piece.size += len(inside)
        if piece.size >= PIECE_BYTES:
            yield piece
            piece = Piece(source)
    if piece.blocks:
        yield piece


@lru_cache(maxsize=256)
def _planned(schema: bytes, metrics: frozenset[tuple[Metric, int]]) -> Plan:
    found = plan(schemas.parse(schema), fields.entry(metrics))
    for key, name in ((fields.STATUS, "status"), (fields.FILE_PATH, "path")):
        if not found.has(key):
            raise Damaged(f"its entries have no {name}")
    _check_partition(found.types.get(fields.PARTITION))
    ids = found.types.get(fields.EQUALITY_IDS)
    if ids is not None and ids not in (Array(Atom("int")), Array(Atom("long"))):
        raise Damaged("its equality ids are no list of numbers")
    return found


def _check_partition(of: Type | None) -> None:
    """What stands in a partition is decoded when somebody asks: then it is too late to name the file."""
    if of is None:
        return
    if not isinstance(of, Record):
        raise Damaged(f"its partition is of type {shown(of)}")
    for each in of.fields:
        branches = each.type.branches if isinstance(each.type, Union) else (each.type,)
        if not all(isinstance(branch, Atom | Fixed) for branch in branches):
            raise Damaged(f"its partition field {each.name!r} is of type {shown(each.type)}")


def _decoded(pieces: list[Piece], lines: Sequence[ManifestLine], wanted: Wanted, assembly: Assembly) -> Entries:
    first = pieces[0].source
    with opening.naming(lines[first.manifest].path):
        planned = _planned(first.schema, fields.metrics(wanted, deletes=first.deletes))
    counts = [count for piece in pieces for count in piece.counts]
    of = scalar.lanes([block for piece in pieces for block in piece.blocks], counts)
    for piece in pieces:
        piece.blocks.clear()  # they are all in the lanes now: half of what a batch takes
    try:
        found = columns.decode(planned, of)
    except Damaged as error:
        owner = [piece.source.manifest for piece in pieces for _ in piece.counts]
        raise opening.unreadable(lines[owner[error.lane or 0]].path, error.reason) from error
    sources = [(piece.source, sum(piece.counts)) for piece in pieces]
    return assembly.entries(planned, found, sources, wanted)
