"""A writer that commits every few seconds, as a service with a small buffer does: PyIceberg, without Spark."""

from __future__ import annotations

import warnings

import deliveries
from pyiceberg.catalog.sql import SqlCatalog

from firnline.config import embedded
from firnline.lakehouse.opening import Lakehouse

ROWS = 25
DAY = 4  # after the days that were loaded


def run(lakehouse: Lakehouse, table: str, commits: int) -> None:
    """So many small commits."""
    place = embedded.places(lakehouse.settings.catalog, lakehouse.settings.root)
    name = lakehouse.settings.catalog.name
    catalog = SqlCatalog(name, uri=f"sqlite:///{place.database}", warehouse=place.warehouse)
    target = catalog.load_table(table)
    rows = deliveries.delivery(DAY, ROWS * commits).cast(target.schema().as_arrow())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no concern to who watches a demo
        for number in range(commits):
            target.append(rows.slice(number * ROWS, ROWS))
