"""Which names a Glue Data Catalog can hold, and which can be made in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.aws import glue_names
from firnline.core.ids import Identifier


@pytest.mark.parametrize(
    ("name", "held", "made"),
    [
        ("orders", True, True),
        ("my-table.2", True, True),
        ("with space", True, True),
        ("größe日本🐘", True, True),
        ("'; DROP TABLE x --", True, False),
        ('.*" || true', True, True),
        ("a\tb", True, True),
        ("a/b\\c`d", True, True),
        ("Orders", True, False),
        ("GRÖSSE", True, False),
        ("a" * 255, True, True),
        ("a" * 256, False, False),
        ("ö" * 128, False, False),
        ("", False, False),
        ("a\nb", False, False),
        ("a\x00", False, False),
        ("\ud800", False, False),
        ("\uffff", False, False),
    ],
)
def test_names(name: str, held: bool, made: bool) -> None:
    """One line of 1 to 255 bytes can be there; it can be made if Glue would not fold it to something else."""
    assert glue_names.holds(name) is held
    assert glue_names.table(Identifier(("shop",), name)) == (("shop", name) if held else None)
    assert glue_names.database((name,)) == (name if held else None)
    assert (glue_names.unfit(Identifier(("shop",), name)) is None) is made
    assert (glue_names.unfit(Identifier((name,), "orders")) is None) is made


@pytest.mark.parametrize("namespace", [(), ("a", "b"), ("a", "b", "c")])
def test_levels(namespace: tuple[str, ...]) -> None:
    """A namespace of any other depth than one is not there, and cannot be made."""
    assert glue_names.database(namespace) is None
    assert f"has {len(namespace)} levels, and Glue has one" in (glue_names.unfit_namespace(namespace) or "")


@given(st.text(max_size=300))
def test_what_can_be_made_can_be_there(name: str) -> None:
    """Whatever can be made is found again under exactly that name; nothing else is a UTF-8 text of more than its
    bytes.
    """
    if glue_names.unfit_namespace((name,)) is None:
        assert glue_names.holds(name)
        assert name == name.lower()
    if glue_names.holds(name):
        assert 0 < len(name.encode()) <= glue_names.NAME_BYTES_MAX
