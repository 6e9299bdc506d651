"""Equality deletes whose bounds tell which files they cannot hit, and over columns that changed since."""

from __future__ import annotations

from tests.zoo.javatable import Row
from tests.zoo.pen import Pen
from tests.zoo.register import inhabitant

LONG = "a common beginning of more than sixteen characters, "  # bounds hold the first sixteen
KINDS = "id int, ratio double, price decimal(9,2), name string, flag boolean, code binary, place struct<floor: int>"


def _file(number: int) -> tuple[Row, ...]:
    """Two rows whose values lie near those of this number, in every column."""
    return tuple(
        {
            "id": number + step,
            "ratio": number / 10 + step,
            "price": f"{number + step}.50",
            "name": f"{number + step:03d}",
            "flag": number >= 100,
            "code": f"{(number + step) % 256:02X}",
            "place": {"floor": number + step},
        }
        for step in (0, 2)
    )


@inhabitant("seven equality deletes by columns of seven types; the bounds take most of four files out of their reach")
def pruned_equality_deletes(pen: Pen) -> None:
    """Files near 10 and near 100, one with nothing but nulls beside its id, one with long names alike."""
    pen.create(KINDS)
    table = pen.java
    long_names: tuple[Row, ...] = ({"id": 500, "name": LONG + "b"}, {"id": 501, "name": LONG + "d"})
    table.append(table.data(*_file(10)), table.data(*_file(100)), table.data({"id": 300}), table.data(*long_names))
    keys: list[Row] = [
        {"id": 11},
        {"ratio": 10.0},
        {"price": "12.50"},
        {"name": LONG + "c"},
        {"flag": True},
        {"code": "0B"},
        {"place": {"floor": 101}},
    ]
    table.row_delta(deletes=[table.equality(key) for key in keys])


@inhabitant("equality deletes of nulls, of nulls and values together, and by two columns")
def equality_deletes_of_nulls(pen: Pen) -> None:
    """Null equals null here: a file without nulls is out of reach of the first, one with only nulls of the third."""
    pen.create()
    table = pen.java
    table.append(
        table.data({"id": 1, "region": "eu"}, {"id": 2, "region": "us"}),
        table.data({"id": 3}, {"id": 4, "region": "eu"}),
        table.data({"id": 5}, {"id": 6}),
    )
    table.row_delta(
        deletes=[
            table.equality({"region": None}),
            table.equality({"region": None}, {"region": "asia"}),
            table.equality({"region": "eu"}),
            table.equality({"id": 4, "region": "eu"}),
        ]
    )


@inhabitant("equality deletes by columns that were widened after the data was written")
def equality_deletes_over_wider_columns(pen: Pen) -> None:
    """The bounds of the data have the shorter form of the old types."""
    pen.create("id int, ratio float, price decimal(4,2)")
    table = pen.java
    table.append(
        table.data({"id": 1, "ratio": 0.5, "price": "1.25"}), table.data({"id": -9, "ratio": -8.5, "price": "-7.25"})
    )
    pen.sql(
        "ALTER TABLE {t} ALTER COLUMN id TYPE bigint",
        "ALTER TABLE {t} ALTER COLUMN ratio TYPE double",
        "ALTER TABLE {t} ALTER COLUMN price TYPE decimal(12,2)",
    )
    table = pen.java
    keys: list[Row] = [{"id": 1}, {"ratio": -8.5}, {"price": "-7.25"}, {"id": 5_000_000_000}]
    table.row_delta(deletes=[table.equality(key) for key in keys])


@inhabitant("an equality delete by a column that is gone by now, one by a column that is renamed, one by a new column")
def equality_deletes_over_changed_columns(pen: Pen) -> None:
    """Field ids go on: names do not matter, and a dropped column is found in an older schema."""
    pen.create()
    table = pen.java
    table.append(table.data({"id": 1, "region": "eu", "note": "a"}), table.data({"id": 9, "region": "us", "note": "z"}))
    table.row_delta(deletes=[table.equality({"note": "a"}), table.equality({"region": "us"})])
    pen.sql(
        "ALTER TABLE {t} DROP COLUMN note",
        "ALTER TABLE {t} RENAME COLUMN region TO area",
        "ALTER TABLE {t} ADD COLUMN later int",
    )
    table = pen.java
    table.row_delta(deletes=[table.equality({"later": 5}), table.equality({"later": None, "area": "eu"})])
