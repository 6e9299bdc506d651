"""What storage, requests and compute cost: list prices as of a date, and a project's own in `prices.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from firnline.config import reading, yaml
from firnline.config.amounts import Unit
from firnline.config.reading import Complaints
from firnline.config.shapes import Amount, Key, Record, Text
from firnline.core.errors import BadInput

FILE = "prices.yaml"
AS_OF = "2026-11"


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in one currency, and where they are from. A gigabyte is 2^30 bytes, as S3 bills it.

    The defaults are the list prices of us-east-1: S3 Standard, and EMR Serverless with 4 GB to a core. Discounts,
    tiers and taxes are for a project to write down.
    """

    currency: str = "USD"
    as_of: str = AS_OF
    origin: str = "list prices of us-east-1"
    storage_gb_month: float = 0.023
    put_thousand: float = 0.005
    get_thousand: float = 0.0004
    list_thousand: float = 0.005
    core_hour: float = 0.0758


DEFAULT = Prices()
PRICES = Record(
    "prices",
    {
        "as-of": Key(Text("a date", length_min=1), "When these prices were looked up.", required=True),
        "currency": Key(Text("a currency", length_min=1), f"What they are in; {DEFAULT.currency} unless said."),
        "storage-gb-month": Key(Amount(Unit.MONEY), "A gigabyte stored for a month."),
        "put-thousand": Key(Amount(Unit.MONEY), "A thousand requests that write."),
        "get-thousand": Key(Amount(Unit.MONEY), "A thousand requests that read."),
        "list-thousand": Key(Amount(Unit.MONEY), "A thousand pages of a listing."),
        "core-hour": Key(Amount(Unit.MONEY), "A core for an hour, its memory with it."),
    },
)


def load(root: Path) -> Prices:
    """The prices of the project at `root`: those of its file, where it has one, over the list prices."""
    path = root / FILE
    try:
        with path.open("rb") as opened:
            data = opened.read(yaml.BYTES_MAX + 1)
    except FileNotFoundError:
        return DEFAULT
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    return read(data, FILE)


def read(data: bytes, file: str) -> Prices:
    """A price file. What it leaves out is the list price, in its own currency only if that is the list's."""
    complaints = Complaints(file)
    found = reading.record(yaml.parse(data, file), PRICES, "", complaints)
    if found is not None and found.get("currency", DEFAULT.currency) != DEFAULT.currency:
        for key, known in PRICES.keys.items():
            if isinstance(known.shape, Amount) and key not in found.node.entries:
                problem = f"the list price is in {DEFAULT.currency}, and the file is not."
                complaints.add(found.node_of("currency"), key, problem, "Write this price too.")
    complaints.raise_any()
    assert found is not None
    return Prices(
        currency=found.get("currency", DEFAULT.currency),
        as_of=found.get("as-of"),
        origin=file,
        storage_gb_month=found.get("storage-gb-month", DEFAULT.storage_gb_month),
        put_thousand=found.get("put-thousand", DEFAULT.put_thousand),
        get_thousand=found.get("get-thousand", DEFAULT.get_thousand),
        list_thousand=found.get("list-thousand", DEFAULT.list_thousand),
        core_hour=found.get("core-hour", DEFAULT.core_hour),
    )
