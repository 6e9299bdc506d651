"""The reference is what the code says."""

from __future__ import annotations

import pytest

from tools import docs


@pytest.mark.parametrize(("name", "text"), docs.pages().items())
def test_a_generated_page_is_up_to_date(name: str, text: str) -> None:
    """Each page under docs/reference is what `make docs` would write now."""
    assert (docs.REFERENCE / name).read_text(encoding="utf-8") == text, "run `make docs`"


def test_nothing_else_stands_in_the_reference() -> None:
    """No page of the reference outlives the code it was made from."""
    assert {path.name for path in docs.REFERENCE.iterdir()} == set(docs.pages())
