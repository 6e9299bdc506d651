"""The entries of manifests, in batches of numpy columns.

A batch holds entries of manifests with one writer schema. Everything that inherits (snapshot ids, sequence numbers)
has been resolved. `ABSENT` stands for null in columns of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firnline.facts.lines import Metric

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

ABSENT = -(2**63)


@dataclass(frozen=True, slots=True)
class Texts:
    """Byte strings of a batch: where each begins in the shared buffer and how long it is; length -1 for null.

    The buffer ends in at least 64 zero bytes that belong to nobody, so that words can be read across an end.
    """

    buffer: Bytes
    start: Longs
    length: Longs

    def at(self, row: int) -> bytes | None:
        """The bytes of one row."""
        length = int(self.length[row])
        start = int(self.start[row])
        return None if length < 0 else self.buffer[start : start + length].tobytes()


@dataclass(frozen=True, slots=True)
class Entries:
    """A batch of entries. `manifest` counts into the lines that were asked for.

    `partition` is each entry's partition as its writer encoded it: equal bytes within a batch are equal partitions.
    `decode_partition` turns it into values, in the order of `partition_ids`, the ids of the partition fields. They are
    of the spec `spec_id`, which a manifest says itself where its line does not.
    """

    manifest: Longs
    status: Longs
    content: Longs
    format: Longs
    snapshot: Longs
    sequence: Longs
    file_sequence: Longs
    records: Longs
    size: Longs
    sort_order: Longs
    first_row_id: Longs
    content_offset: Longs
    content_size: Longs
    path: Texts
    referenced: Texts
    equality_ids: Texts  # as encoded; `decode_ids` turns one into numbers
    partition: Texts
    partition_ids: tuple[int, ...]
    decode_partition: Callable[[bytes], tuple[object, ...]]
    decode_ids: Callable[[bytes], tuple[int, ...]]
    counts: Mapping[tuple[Metric, int], Longs] = field(default_factory=dict)
    bounds: Mapping[tuple[Metric, int], Texts] = field(default_factory=dict)
    spec_id: int | None = None

    def __len__(self) -> int:
        return len(self.status)
