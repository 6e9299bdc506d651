"""Names in a metastore."""

from __future__ import annotations

import pytest

from firnline.adapters.hive import names
from firnline.core.ids import Identifier


@pytest.mark.parametrize("name", ["orders", "o_1", "with space", "größe"])
def test_names_it_keeps(name: str) -> None:
    """A name that the metastore leaves as it is may be asked for."""
    assert names.table(Identifier(("shop",), name)) == ("shop", name)
    assert names.unfit(Identifier((name,), "t")) is None


@pytest.mark.parametrize(
    "name", ["Orders", "ORDERS", " orders", "orders ", "", "a\nb", "a\x00b", "\ud800", "@hive#shop"]
)
def test_names_it_changes(name: str) -> None:
    """A name the metastore would silently read as another one names nothing, as table and as database."""
    assert names.table(Identifier(("shop",), name)) is None
    assert names.table(Identifier((name,), "t")) is None
    assert "cannot have the name" in (names.unfit(Identifier(("shop",), name)) or "")
    assert names.database((name,)) is None


@pytest.mark.parametrize("namespace", [(), ("a", "b")])
def test_levels(namespace: tuple[str, ...]) -> None:
    """A metastore has one level of namespaces."""
    assert names.database(namespace) is None
    assert f"{len(namespace)} levels" in (names.unfit_namespace(namespace) or "")
