"""`Lakehouse.sql` on DuckDB: which table a name means, and which snapshot of it. Spark's half is under tests/spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from firnline.config.values import CatalogSettings, Environment, LakehouseSettings
from firnline.core.errors import BadInput, Refused
from firnline.lakehouse.opening import Lakehouse
from tests.committing import Shelf

IDS = pa.schema([("id", pa.int64())])


@pytest.fixture(scope="module")
def lakehouse(tmp_path_factory: pytest.TempPathFactory) -> Lakehouse:
    """`shop.orders` with two snapshots, the first tagged; `shop.eu.orders`; and a second catalog `archive`."""
    folder = tmp_path_factory.mktemp("project")
    catalog = Shelf(folder).sql_catalog()
    for namespace in ("shop", "shop.eu"):
        catalog.create_namespace(namespace)
    table = catalog.create_table("shop.orders", IDS)
    for each in (1, 2):
        table.append(pa.table({"id": [each]}))
    table.manage_snapshots().create_tag(table.metadata.snapshots[0].snapshot_id, "early").commit()
    catalog.create_table("shop.eu.orders", IDS).append(pa.table({"id": [7]}))
    other = Shelf(folder / "other")
    second = type(catalog)("archive", uri=f"sqlite:///{other.database}", warehouse=other.warehouse)
    second.create_namespace("shop")
    second.create_table("shop.orders", IDS).append(pa.table({"id": [100]}))
    for each in (catalog, second):
        each.engine.dispose()
    place = {"uri": str(other.database), "warehouse": other.warehouse}
    catalogs = {"lake": CatalogSettings("lake", "sqlite"), "archive": CatalogSettings("archive", "sqlite", place)}
    return Lakehouse(LakehouseSettings("shop", str(folder), Environment("local", catalogs), ("local",)))


def rows(lakehouse: Lakehouse, statement: str, at: str | None = None) -> list[tuple[object, ...]]:
    """What DuckDB says."""
    return list(lakehouse.sql(statement, engine="duckdb", at=at).rows)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT max(id) FROM shop.orders", 2),
        ("SELECT max(id) FROM lake.shop.orders", 2),
        ("SELECT max(id) FROM archive.shop.orders", 100),
        ("SELECT max(id) FROM shop.eu.orders", 7),
        ('SELECT max(id) FROM "shop.eu".orders', 7),
        ('SELECT max(id) FROM lake."shop.eu".orders', 7),
        ("SELECT a.id + b.id FROM archive.shop.orders a, shop.eu.orders b", 107),
    ],
)
def test_names_lead_to_tables(lakehouse: Lakehouse, statement: str, expected: int) -> None:
    """With the catalog or without, a namespace of two parts in one pair of quotes or in two, another catalog's too."""
    assert rows(lakehouse, statement) == [(expected,)]


def test_at_reads_what_was(lakehouse: Lakehouse) -> None:
    """A tag reads the table as it was, and the answer says which snapshot that is."""
    answer = lakehouse.sql("SELECT count(*) FROM shop.orders", engine="duckdb", at="early")
    assert list(answer.rows) == [(1,)]
    first = lakehouse.tables.load("shop.orders").snapshots[0].id
    assert answer.snapshots == {"shop.orders": first}


def test_at_must_be_known_to_every_table(lakehouse: Lakehouse) -> None:
    """A tag that one of the tables lacks is refused, with that table's name."""
    with pytest.raises(BadInput, match=r"shop\.eu\.orders: 'early' is neither"):
        rows(lakehouse, "SELECT * FROM shop.orders, shop.eu.orders", at="early")


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("FROM shop.order", "Did you mean 'shop.orders'?"),
        ("FROM shop.ORDERS", "Did you mean 'shop.orders'?"),
        ("FROM orders", "Did you mean 'shop.orders'?"),
        ("FROM nothing_like_it", "Write it as NAMESPACE.TABLE."),
    ],
)
def test_the_nearest_name_is_told(lakehouse: Lakehouse, statement: str, hint: str) -> None:
    """A table that is not there is answered with one that is."""
    with pytest.raises(BadInput) as wrong:
        rows(lakehouse, statement)
    assert wrong.value.next_step == hint


def test_only_reading_goes_to_duckdb(lakehouse: Lakehouse) -> None:
    """What writes is refused before a table is looked for."""
    with pytest.raises(Refused, match="INSERT"):
        rows(lakehouse, "INSERT INTO shop.nope VALUES (1)")


def test_files_lie_where_the_properties_say(tmp_path: Path) -> None:
    """A table whose data and metadata lie outside its folder, by its own properties, is read all the same."""
    shelf = Shelf(tmp_path)
    catalog = shelf.sql_catalog()
    catalog.create_namespace("shop")
    places = {"write.data.path": f"file://{tmp_path}/data", "write.metadata.path": f"file://{tmp_path}/meta"}
    catalog.create_table("shop.orders", IDS, properties=places).append(pa.table({"id": [5]}))
    catalog.engine.dispose()
    environment = Environment("local", {"lake": CatalogSettings("lake", "sqlite")})
    lakehouse = Lakehouse(LakehouseSettings("shop", str(tmp_path), environment, ("local",)))
    assert rows(lakehouse, "FROM shop.orders") == [(5,)]
    assert list((tmp_path / "data").iterdir())


def test_the_catalog_is_left_alone(lakehouse: Lakehouse) -> None:
    """Reading makes no file beside the catalog's."""
    folder = Path(lakehouse.settings.root, ".lake")
    before = sorted(folder.iterdir())
    rows(lakehouse, "FROM shop.orders")
    assert sorted(folder.iterdir()) == before


def test_a_limit_below_zero_is_refused(lakehouse: Lakehouse) -> None:
    """A library caller's mistake is named."""
    with pytest.raises(BadInput, match="-1"):
        lakehouse.sql("SELECT 1", engine="duckdb", limit=-1)
