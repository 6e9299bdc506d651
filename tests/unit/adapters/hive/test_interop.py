"""Tables of PyIceberg's HiveCatalog and ours are each other's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.core.ids import Identifier
from firnline.facts.ports import Pointer
from tests import servers
from tests.committing import assert_done, properties
from tests.unit.adapters.hive.lake import Lake, opened

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """An empty database."""
    with opened(servers.metastore().uri, tmp_path) as found:
        yield found


@pytest.fixture
def theirs(lake: Lake) -> Any:
    """PyIceberg on the same metastore."""
    from pyiceberg.catalog.hive import HiveCatalog

    # Its own word for a timestamp with a zone is one that HMS 2.3 cannot read again.
    settings = {"uri": servers.metastore().uri, "warehouse": lake.warehouse, "hive.hive2-compatible": "true"}
    return HiveCatalog("lake", **settings)


def rows(theirs: Any, identifier: Identifier) -> list[Any]:
    """What PyIceberg reads."""
    return sorted(theirs.load_table((*identifier.namespace, identifier.name)).scan().to_arrow()["id"].to_pylist())


def test_theirs(lake: Lake, theirs: Any) -> None:
    """A table made and filled by PyIceberg is listed and committed to, and PyIceberg goes on with it."""
    import pyarrow as pa

    identifier = lake.table()
    table = theirs.create_table((lake.database, "orders"), pa.schema([("id", pa.int64()), ("name", pa.string())]))
    table.append(pa.table({"id": [1, 2], "name": ["a", "b"]}))
    assert list(lake.pointers.list(lake.namespace)) == [Pointer(identifier, table.metadata_location)]

    assert_done(lake.commits.commit(identifier, properties(note="ours")))
    again = theirs.load_table((lake.database, "orders"))
    assert (again.properties["note"], again.metadata_location) == ("ours", lake.location(identifier))
    assert lake.entry().parameters["numRows"] == "2"

    again.append(pa.table({"id": [3], "name": ["c"]}))
    assert_done(lake.commits.commit(identifier, properties(note="again")))
    assert rows(theirs, identifier) == [1, 2, 3]
    assert lake.locked_by() == []


def test_ours(lake: Lake, theirs: Any) -> None:
    """A table made by us is written and read by PyIceberg, and dropped with all it wrote."""
    import pyarrow as pa

    identifier, _ = lake.made()
    table = theirs.load_table((lake.database, "orders"))
    schema = pa.schema(
        [pa.field("id", pa.int64(), nullable=False), ("name", pa.string()), ("at", pa.timestamp("us", "UTC"))]
    )
    table.append(pa.table({"id": [7], "name": ["x"], "at": [None]}, schema=schema))
    assert rows(theirs, identifier) == [7]
    uuid = str(theirs.load_table((lake.database, "orders")).metadata.table_uuid)
    assert_done(lake.commits.drop(identifier, uuid, purge=True))
    assert theirs.list_tables(lake.database) == []
    assert not theirs.table_exists((lake.database, "orders"))
