"""How many GET requests a reader makes for data files, and what that estimate takes for granted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from firnline.core.figures import Figure
from firnline.core.sizes import show_bytes
from firnline.core.types import Type, children
from firnline.facts.entries import Longs
from firnline.facts.lines import Format
from firnline.facts.meta import Schema, TableMeta
from firnline.facts.predicates import Column, Predicate
from firnline.facts.predicates import columns as columns_of

ROW_GROUP_PROPERTY = "write.parquet.row-group-size-bytes"
_SIZE = re.compile(r"[1-9]\d{0,17}", re.ASCII)
ROW_GROUP_BYTES = 128 << 20  # Iceberg's default


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader that fetches the footer of a file, then in each row group every run of neighbouring columns it needs."""

    row_group: int
    runs: int
    filtered: bool

    @staticmethod
    def of(meta: TableMeta, schema: Schema, where: Predicate | None, columns: Collection[Column] | None) -> Reader:
        """One that needs these columns, None for all, and those of the filter."""
        text = meta.properties.get(ROW_GROUP_PROPERTY, "")
        row_group = int(text) if _SIZE.fullmatch(text) else ROW_GROUP_BYTES
        filtering = columns_of(where).keys() if where is not None else frozenset[int]()
        needed = None if columns is None else {column.id for column in columns} | filtering
        return Reader(row_group, _runs(schema, needed), where is not None)

    def requests(self, sizes: Longs, formats: Longs) -> Figure:
        """For data files of these sizes."""
        streams = int((formats == Format.AVRO).sum())
        seekable = sizes[formats != Format.AVRO]
        groups = int(np.maximum(1, -(-seekable // self.row_group)).sum())
        least = 1 if self.filtered else 2
        return Figure(streams + least * len(seekable), streams + len(seekable) + groups * self.runs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What has to hold for the upper end of the figure."""
        skipping = "; a reader may skip row groups by their own statistics" if self.filtered else ""
        runs = f"{self.runs} run{'s' if self.runs > 1 else ''} of neighbouring columns"
        return (
            f"A data file's footer is 1 request, and in each row group each of {runs}{skipping}. Avro files are 1.",
            f"Row groups take {show_bytes(self.row_group)} of a file or more, and columns lie in it as in the schema.",
        )


def _runs(schema: Schema, needed: set[int] | None) -> int:
    """How many stretches of neighbouring leaves the needed columns are."""
    leaves = list(_leaves(schema.struct, needed or set(), chosen=needed is None))
    starts = [chosen and not before for before, chosen in zip([False, *leaves], leaves, strict=False)]
    return max(1, sum(starts))  # a query that needs no column still reads one


def _leaves(of: Type, needed: set[int], *, chosen: bool) -> Iterator[bool]:
    inside = children(of)
    if not inside:
        yield chosen
    for field in inside:
        yield from _leaves(field.type, needed, chosen=chosen or field.id in needed)
