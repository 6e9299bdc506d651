"""Vended credentials are found by location, and asked for again before they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from firnline.adapters.access import StoreAccess
from firnline.adapters.rest.vault import MARGIN, UNSAID, Vault
from firnline.adapters.rest.vending import Vended
from firnline.core.errors import Failed
from firnline.core.ids import Identifier

ORDERS, BELOW = Identifier(("shop",), "orders"), Identifier(("shop",), "below")


class Catalog:
    """Vends keys that say whose they are and how often they were asked for."""

    def __init__(self, lasts: timedelta | None = None) -> None:
        self.asked: list[Identifier] = []
        self.lasts = lasts

    def __call__(self, identifier: Identifier) -> tuple[Vended, ...]:
        self.asked.append(identifier)
        until = None if self.lasts is None else datetime.now(UTC) + self.lasts
        name = f"{identifier.name} {len(self.asked)}"
        wide = Vended("s3://b/", StoreAccess("r", f"{name} wide", "s"), until)
        return (Vended("s3://b/orders/data/", StoreAccess("r", f"{name} data", "s"), until), wide)


def opened(catalog: Catalog) -> Vault:
    """A vault that saw two tables, one in the folder of the other."""
    vault = Vault(catalog)
    vault.seen(ORDERS, "s3://b/orders")
    vault.seen(BELOW, "s3://b/orders/below/")
    return vault


@pytest.mark.parametrize(
    ("location", "key"),
    [
        ("s3://b/orders/metadata/1.json", "orders 1 wide"),
        ("s3://b/orders/data/1.parquet", "orders 1 data"),
        ("s3://b/orders/below/data/1.parquet", "below 1 wide"),
    ],
)
def test_whose_file_it_is(location: str, key: str) -> None:
    """The deepest table whose folder holds the file, and of its credentials the first whose prefix does."""
    assert opened(Catalog()).access(location).access == key


@pytest.mark.parametrize(
    ("lasts", "asked"), [(None, 1), (MARGIN + timedelta(hours=1), 1), (MARGIN / 2, 3), (timedelta(0), 3)]
)
def test_asked_again(lasts: timedelta | None, asked: int) -> None:
    """Credentials are kept while they last, and asked for again while they still hold."""
    catalog = Catalog(lasts)
    vault = opened(catalog)
    for _ in range(3):
        vault.access("s3://b/orders/metadata/1.json")
    assert len(catalog.asked) == asked


@pytest.mark.parametrize(
    ("token", "passed", "asked"),
    [
        ("t", UNSAID - MARGIN, 1),
        ("t", UNSAID - MARGIN + timedelta(seconds=1), 2),
        (None, timedelta(days=300), 1),
    ],
)
def test_an_end_nobody_says(token: str | None, passed: timedelta, asked: int) -> None:
    """A session ends though the catalog says not when, and is taken for the shortest there is; keys of a user stay."""
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    seen: list[Identifier] = []

    def vend(identifier: Identifier) -> tuple[Vended, ...]:
        seen.append(identifier)
        return (Vended("s3://b/", StoreAccess("r", "a", "s", token), None),)

    vault = Vault(vend, lambda: clock[0])
    vault.seen(ORDERS, "s3://b/orders")
    vault.access("s3://b/orders/1")
    clock[0] += passed
    vault.access("s3://b/orders/1")
    assert len(seen) == asked


@pytest.mark.parametrize("location", ["s3://b/orders-2/x", "s3://other/orders/x"])
def test_of_no_table(location: str) -> None:
    """A file of no table the catalog showed is told so; nobody's credentials are tried on it."""
    catalog = Catalog()
    with pytest.raises(Failed, match="lies in no table"):
        opened(catalog).access(location)
    assert catalog.asked == []


def test_nothing_for_this_place() -> None:
    """A catalog that vends nothing for a place is told with the way out."""
    vault = Vault(lambda _: (Vended("s3://b/orders/data/", StoreAccess("r", "a", "s"), None),))
    vault.seen(ORDERS, "s3://b/orders")
    with pytest.raises(Failed, match=r"no credentials for s3://b/orders/metadata/1\.json, a file of shop\.orders"):
        vault.access("s3://b/orders/metadata/1.json")
