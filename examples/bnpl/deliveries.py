"""What the checkout delivers, a day at a time: seeded, so that every run sees the same rows, and as untidy as life."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

SEED = 20_260_901
FIRST_DAY = datetime(2026, 11, 23, tzinfo=UTC)
CUSTOMERS = 4_000
MERCHANTS = (
    "Kettle & Co",
    "Ångström Audio",
    "Blue Door Books",
    "Tiny Bikes",
    "Näh-Atelier",
    "Moss Garden",
    "八百屋 Yao",
)
LATE = 0.04  # share of rows that are delivered up to three days after they happened
TWICE = 0.03  # share that is delivered again, later, with the final status
HOLES = 0.02  # share with something missing that a row needs, and of those without an amount

_CUSTOMER = pa.struct([("email", pa.string()), ("phone", pa.string()), ("risk_band", pa.string())])
_SCHEMA = pa.schema(
    [
        ("transaction_id", pa.string()),
        ("customer_id", pa.int64()),
        ("customer", _CUSTOMER),
        ("merchant", pa.string()),
        ("amt", pa.string()),
        ("currency", pa.string()),
        ("installments", pa.int32()),
        ("status", pa.string()),
        ("occurred_at", pa.timestamp("us", tz="UTC")),
        ("ingested_at", pa.timestamp("us", tz="UTC")),
    ]
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One transaction before the feed has spoiled it."""

    number: int
    day: int
    customer: int
    occurred: datetime
    ingested: datetime


def delivery(day: int, rows: int) -> pa.Table:
    """Everything delivered on one day: that day's transactions, late ones of days before, and second deliveries."""
    chance = np.random.default_rng([SEED, day])
    # A few customers buy most of what is bought: Zipf, folded into the customers there are.
    customers = (chance.zipf(1.3, rows) * 2_654_435_761) % CUSTOMERS
    late = chance.random(rows) < LATE
    happened = chance.uniform(0, 86_400, rows)
    made = []
    for number in range(rows):
        occurred = FIRST_DAY + timedelta(days=day, seconds=float(happened[number]))
        ingested = occurred + timedelta(seconds=float(chance.uniform(1, 120)))
        if late[number]:
            occurred -= timedelta(days=int(chance.integers(1, 4)))
        made.append(_Row(number, day, int(customers[number]), occurred, ingested))
    records = [_record(row, chance) for row in made]
    again = [_again(record, chance) for record in records if chance.random() < TWICE]
    return pa.Table.from_pylist([*records, *again], schema=_SCHEMA)


def _record(row: _Row, chance: np.random.Generator) -> dict[str, object]:
    amount = round(float(chance.lognormal(4.2, 0.9)), 2)
    holes = chance.random(4) < HOLES
    return {
        "transaction_id": None if holes[0] else f"t-{row.day:02d}-{row.number:06d}",
        "customer_id": None if holes[1] else row.customer,
        "customer": {
            "email": None if holes[2] else f"customer{row.customer}@example.org",
            "phone": f"+31 20 {row.customer:07d}",
            "risk_band": "ABCD"[min(3, row.customer % 7)],
        },
        "merchant": MERCHANTS[row.number % len(MERCHANTS)],
        "amt": "n/a" if holes[3] else f"{amount:,.2f}",
        "currency": "EUR" if row.customer % 5 else "SEK",
        "installments": int(chance.choice([3, 4, 6, 12])),
        "status": str(chance.choice(["approved", "approved", "approved", "pending", "refused"])),
        "occurred_at": row.occurred,
        "ingested_at": row.ingested,
    }


def _again(record: dict[str, object], chance: np.random.Generator) -> dict[str, object]:
    ingested = record["ingested_at"]
    assert isinstance(ingested, datetime)
    final = "approved" if record["status"] == "pending" else record["status"]
    return {**record, "status": final, "ingested_at": ingested + timedelta(minutes=float(chance.uniform(1, 30)))}
