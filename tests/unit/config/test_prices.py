"""What a price file says, and what is refused."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from firnline.config import prices, schema
from firnline.config.prices import DEFAULT, Prices
from firnline.core.errors import BadFiles, BadInput


def test_a_project_without_a_file_pays_list_prices(tmp_path: Path) -> None:
    """Without prices.yaml the list prices of a dated region count, and say so."""
    assert prices.load(tmp_path) == DEFAULT
    assert (DEFAULT.as_of, DEFAULT.currency, DEFAULT.origin) == (prices.AS_OF, "USD", "list prices of us-east-1")


def test_a_file_says_what_differs(tmp_path: Path) -> None:
    """What the file names counts, with its date and the file as origin; the rest stays the list price."""
    (tmp_path / "prices.yaml").write_text("as-of: 2026-10\nstorage-gb-month: 0.018\ncore-hour: 1\n", encoding="utf-8")
    assert prices.load(tmp_path) == Prices(as_of="2026-10", origin="prices.yaml", storage_gb_month=0.018, core_hour=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("storage-gb-month: 1", "the key 'as-of' is missing"),
        ("as-of: x\nstorage: 1", "Did you mean 'storage-gb-month'?"),
        ("as-of: x\ncore-hour: -1", "is not an amount of money"),
        ("as-of: x\ncurrency: EUR\ncore-hour: 1", "get-thousand: the list price is in USD, and the file is not."),
        ("- 1", "a mapping is expected"),
    ],
)
def test_what_is_no_price_is_refused(text: str, said: str) -> None:
    """A key that is none, an amount that is none, and a mixture of currencies are complained of."""
    with pytest.raises(BadFiles) as caught:
        prices.read(text.encode(), "prices.yaml")
    assert said in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A folder of that name is bad input, not the list price."""
    (tmp_path / "prices.yaml").mkdir()
    with pytest.raises(BadInput, match="cannot be read"):
        prices.load(tmp_path)


def test_an_editor_knows_the_keys() -> None:
    """The schema takes a whole file and refuses a key that is none."""
    document = schema.prices()
    told = {
        "as-of": "2026-10",
        "currency": "EUR",
        **{key: 0.5 for key in prices.PRICES.keys if key not in {"as-of", "currency"}},
    }
    jsonschema.validate(told, document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, "core": 1}, document)
