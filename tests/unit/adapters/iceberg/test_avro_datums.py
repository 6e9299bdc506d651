"""Single values by their schema: what they hold, and that nothing is read beyond them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firnline.adapters.iceberg.avro import schemas
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.adapters.iceberg.avro.datums import reader
from tests import avro_oracle

FIELDS = [{"name": "a", "type": ["null", "int"]}, {"name": "b", "type": "string"}]
INNER = {"type": "record", "name": "r", "fields": FIELDS}
VALUES: list[tuple[Any, Any, object]] = [
    ("null", None, None),
    ("boolean", True, True),
    ("long", -(2**63), -(2**63)),
    ("float", -1.5, -1.5),
    ("double", 0.1, 0.1),
    ("string", "ü", "ü"),
    ("bytes", b"\x00\xff", b"\x00\xff"),
    ({"type": "fixed", "name": "f", "size": 2}, b"ab", b"ab"),
    (INNER, {"a": None, "b": ""}, (None, "")),
    ({"type": "array", "items": INNER}, [{"a": 1, "b": "x"}, {"a": None, "b": "y"}], [(1, "x"), (None, "y")]),
    ({"type": "map", "values": "int"}, {"k": 1}, [("k", 1)]),
]


def of(schema: Any) -> schemas.Type:
    return schemas.parse(json.dumps(schema).encode())


@pytest.mark.parametrize(("schema", "value", "seen"), VALUES)
def test_values(schema: Any, value: Any, seen: object) -> None:
    """A value of every type; in several runs too; one that is cut, or has more behind it, is damage."""
    data = avro_oracle.encode(schema, value, avro_oracle.plain())
    assert reader(of(schema))(data) == seen
    for length in range(len(data)):
        with pytest.raises(Damaged):
            reader(of(schema))(data[:length])
    with pytest.raises(Damaged, match="longer than its type"):
        reader(of(schema))(data + b"\x00")


def test_lists_in_runs() -> None:
    """Runs of a list are put together; a run may be led by its size."""
    number = avro_oracle.plain().number
    data = number(2) + number(1) + number(2) + number(-1) + number(1) + number(3) + number(0)
    assert reader(of({"type": "array", "items": "int"}))(data) == [1, 2, 3]


WRONG: list[tuple[Any, bytes, str]] = [
    (["null", "int"], b"\x04", "none of the types"),
    (["null", "int"], b"\x01", "none of the types"),
    ("bytes", b"\x01", "ends within itself"),
    ({"type": "array", "items": "int"}, b"\x7e\x00", "longer than its block"),
    ({"type": "array", "items": "null"}, b"\x04\x00", "items of no size"),
]


@pytest.mark.parametrize(("schema", "data", "words"), WRONG)
def test_values_that_are_none(schema: Any, data: bytes, words: str) -> None:
    """A branch that is not there, a negative length, and lists without end are damage."""
    with pytest.raises(Damaged, match=words):
        reader(of(schema))(data)


def test_texts_that_are_none() -> None:
    """Bytes that are no UTF-8 do not stop the reading of a partition."""
    assert reader(of("string"))(b"\x04a\xff") == "a\ufffd"
