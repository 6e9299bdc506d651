"""The parts of taking statements apart that need no parser. The rest is under tests/spark."""

from __future__ import annotations

import pytest

from firnline.adapters.spark.statements import Mention, pinned, quoted


def mention(statement: str, name: str) -> Mention:
    """The first place where the statement says this name."""
    return Mention(tuple(name.split(".")), statement.index(name) + len(name))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("shop", "orders"), "`shop`.`orders`"),
        (("a.b", "c d"), "`a.b`.`c d`"),
        (("back`tick",), "`back``tick`"),
    ],
)
def test_names_are_quoted(parts: tuple[str, ...], text: str) -> None:
    """Dots, spaces and backticks in a part survive."""
    assert quoted(parts) == text


def test_pinning_puts_the_snapshot_behind_the_name() -> None:
    """Each mention gets its own snapshot, and the alias stays behind it."""
    statement = "SELECT * FROM shop.orders o JOIN shop.customers USING (id)"
    pins = {mention(statement, "shop.orders"): 1, mention(statement, "shop.customers"): 22}
    expected = "SELECT * FROM shop.orders VERSION AS OF 1 o JOIN shop.customers VERSION AS OF 22 USING (id)"
    assert pinned(statement, pins) == expected


def test_the_order_of_pins_does_not_matter() -> None:
    """An earlier insertion must not shift the place of a later one."""
    statement = "SELECT * FROM a.b, c.d"
    pins = {mention(statement, name): 7 for name in ("c.d", "a.b")}
    assert pinned(statement, pins) == pinned(statement, dict(reversed(pins.items())))


def test_without_pins_nothing_changes() -> None:
    """A query over no table is left as it is."""
    assert pinned("SELECT 1", {}) == "SELECT 1"
