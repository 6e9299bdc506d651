"""Facts, wired: what each table is, from metadata alone. Looking starts no JVM and writes nothing but a local cache."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from firnline.facts import at as points
from firnline.facts import meta as metadata
from firnline.facts.ports import Pointer
from firnline.lakehouse import catalogs

if TYPE_CHECKING:
    from firnline.facts.ports import Cache
    from firnline.facts.scan import ScanCost
    from firnline.facts.slices import FileSlice
    from firnline.facts.table import Source
    from firnline.facts.values import HistoryFacts, PartitionKey, TableFacts, Thresholds
    from firnline.lakehouse.opening import Lakehouse

CACHE = Path(".lake", "cache", "facts.db")


class Facts:
    """What tables are."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse

    @cached_property
    def cache(self) -> Cache:
        """What manifests fold to, kept between looks. Disposable."""
        from firnline.adapters.local.cache import LocalCache

        return LocalCache(str(self._lakehouse.root / CACHE))

    def table(self, name: str, *, sizes: Thresholds | None = None) -> TableFacts:
        """Everything metadata tells of one table at its current snapshot."""
        from firnline.facts.table import observe

        pointer = catalogs.entry(self._lakehouse, name)
        return observe(pointer.identifier, self.source(pointer), sizes=sizes)

    def slice(
        self,
        name: str,
        *,
        partitions: Collection[PartitionKey] | None = None,
        paths: Collection[str] | None = None,
    ) -> FileSlice:
        """The live files of chosen partitions or paths, each with the deletes that apply to it."""
        from firnline.facts.slices import Choice, take

        source = self.source(catalogs.entry(self._lakehouse, name))
        return take(source.meta, source.manifests, Choice.of(partitions, paths))

    def history(self, name: str) -> HistoryFacts:
        """What old snapshots, and each ref, keep from leaving."""
        from firnline.facts.reach import history

        source = self.source(catalogs.entry(self._lakehouse, name))
        return history(source.meta, source.manifests)

    def scan_cost(
        self, name: str, where: str | None = None, *, columns: Sequence[str] = (), at: str | None = None
    ) -> ScanCost:
        """What a query would open: files, bytes and requests, from metadata alone."""
        from firnline.facts import predicates, scan

        source = self.source(catalogs.entry(self._lakehouse, name))
        moment = None if at is None else points.resolve(source.meta, at, datetime.now(UTC))
        schema = scan.schema_at(source.meta, moment or source.meta.snapshot)
        wanted = None if where is None else predicates.parse(where, schema)
        chosen = [predicates.column(each, schema) for each in columns] or None
        return scan.scan_cost(source.meta, source.manifests, wanted, snapshot=moment, columns=chosen)

    def source(self, pointer: Pointer) -> Source:
        """The table's metadata and what reads the rest of it."""
        from firnline.facts.table import Source

        assert pointer.metadata_location is not None
        data = self._lakehouse.blobs.read(pointer.metadata_location)
        meta = metadata.parse(data, pointer.metadata_location)
        zipped = data[:2] == metadata.GZIP_MAGIC
        return Source(meta, len(data), zipped, self._lakehouse.manifests, self.cache)
