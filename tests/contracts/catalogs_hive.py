"""The Hive Metastore for the contract suite of catalogs: a database of its own in the metastore of the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firnline.adapters.hive.wire import Connection
from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.ids import Identifier
from firnline.loop.commits import Commits
from firnline.loop.values import Outcome
from tests import servers
from tests.committing import creating
from tests.contracts.catalogs_at_hand import Namespace, Place
from tests.glue_building import at_once
from tests.unit.adapters.hive.lake import Lake, address

LOOKS = ("get_", "set_ugi")


@contextmanager
def hive(folder: Path) -> Iterator[Place]:
    """The metastore inside pyspark, with a warehouse on this machine."""
    lake = Lake(address(servers.metastore().uri), folder)
    sent: Counter[str] = Counter()
    call = Connection.call

    def counted(self: Connection, method: str, *given: Any) -> Any:
        sent[method] += not method.startswith(LOOKS)
        return call(self, method, *given)

    def fill(namespace: Namespace, count: int) -> None:
        assert namespace == lake.namespace

        def some(first: int) -> None:
            for number in range(first, count, 4):
                lake.put(f"t{number:03d}", table_type="ICEBERG", metadata_location="file:///t.json")

        at_once(4, some)

    def put_foreign(identifier: Identifier) -> str:
        lake.put(identifier.name, tableType="MANAGED_TABLE")
        return "other"

    def upper(commits: Commits, namespace: Namespace) -> Outcome:
        return commits.commit(Identifier(namespace, "Orders"), creating(f"{lake.warehouse}/upper"))

    Connection.call = counted  # type: ignore[method-assign]
    try:
        yield Place(
            lake.pointers, lake.commits, LocalBlobs(), lake.warehouse, fill, put_foreign,
            sent=sent.total,
            names=("1", "a_b", "select", "_", "x" * 128),
            never=("Upper", " a", "a ", "a.b", "with space", "größe", "a'b", "a%b", "a-b", "\ud800", "a\x00b", ""),
            cannot={
                "namespaces of two levels": lambda commits, given: commits.create_namespace((*given, "deep"), {}),
                "upper case in a namespace": lambda commits, _: commits.create_namespace(("Shop",), {}),
                "upper case in a table": upper,
            },
            namespace=lake.namespace,
        )  # fmt: skip
    finally:
        Connection.call = call  # type: ignore[method-assign]
        lake.client.close()
