"""Avro containers: headers, blocks and what is wrong with them."""

from __future__ import annotations

import json

import pytest

from firnline.adapters.iceberg.avro import container, schemas
from firnline.adapters.iceberg.avro.container import Damaged, long_at
from firnline.adapters.iceberg.avro.schemas import Array, Atom, Field, Fixed, Record, Union
from tests import avro_oracle

SYNC = bytes(range(16))
EMPTY = avro_oracle.write("long", [])


@pytest.mark.parametrize("value", [0, -1, 1, 63, 64, -65, 2**20, -(2**31), 2**55, 2**63 - 1, -(2**63)])
def test_numbers(value: int) -> None:
    """A number is read as it was written, and its end is found."""
    data = avro_oracle.plain().number(value)
    assert long_at(b"\x00" + data + b"\x7f", 1) == (value, 1 + len(data))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 10, b"\xff" * 30])
def test_numbers_without_end(data: bytes) -> None:
    """A number that goes on past ten bytes, or past the end, is damage."""
    with pytest.raises(Damaged, match="a number has no end"):
        long_at(data, 0)


def test_header_and_blocks() -> None:
    """The header has the writer's schema and metadata, and each block its count; empty ones are left out."""
    sizes = iter([2, 0, 1])
    data = avro_oracle.write(
        {"type": "long"}, [1, 2, 3], codec="null", per_block=sizes.__next__, metadata={"content": "data"}
    )
    header = container.read_header(data)
    assert (json.loads(header.schema), header.codec, header.metadata["content"]) == ({"type": "long"}, "null", b"data")
    found = list(container.blocks(data, header))
    assert [(block.count, data[block.start : block.start + block.size]) for block in found] == [
        (2, b"\x02\x04"), (1, b"\x06"),
    ]  # fmt: skip


def test_header_in_runs_with_sizes() -> None:
    """The header's map may come in several runs, with their sizes."""
    number = avro_oracle.plain().number
    pairs = [(b"avro.schema", b'"long"'), (b"other", b"x")]
    runs = [number(len(key)) + key + number(len(value)) + value for key, value in pairs]
    data = b"Obj\x01" + b"".join(number(-1) + number(len(run)) + run for run in runs) + b"\x00" + SYNC
    header = container.read_header(data)
    assert (header.schema, header.codec, header.metadata["other"], header.end) == (b'"long"', "null", b"x", len(data))


def _headed(*more: bytes) -> bytes:
    return b"".join((b"Obj\x01", *more))


HEADERS: list[tuple[bytes, str]] = [
    (b"", "it is empty"),
    (b"PAR1" * 100, "does not begin as an Avro file"),
    (b"Obj", "does not begin as an Avro file"),
    (_headed(), "a number has no end"),
    (_headed(b"\x02"), "a number has no end"),
    (_headed(b"\x02\x7f"), "cut off within its header"),
    (_headed(b"\x02\x01"), "cut off within its header"),
    (_headed(b"\x00"), "cut off within its header"),
    (_headed(b"\x00", SYNC), "its header has no schema"),
    (_headed(b"\xfe\xff\xff\xff\x0f"), "its header is damaged"),
    (_headed(b"\xd2\x0f" + b"\x00\x00" * 1001 + b"\x00", SYNC), "its header is damaged"),
    (_headed(b"\x02\x02a\x80\x80\x80\x10", bytes(container.HEADER_BYTES_MAX)), "damaged or longer than 16,777,216"),
]


@pytest.mark.parametrize(("data", "words"), HEADERS)
def test_headers_of_something_else(data: bytes, words: str) -> None:
    """A file that is no container, or was cut within its header, is damage; a header is bounded."""
    with pytest.raises(Damaged, match=words):
        container.read_header(data)


BLOCKS: list[tuple[bytes, str]] = [
    (b"\x02", "at the head of a block"),
    (b"\x80", "at the head of a block"),
    (b"\x01\x00" + SYNC, "negative length"),
    (b"\x02\x01" + SYNC, "negative length"),
    (b"\x02\x02a" + SYNC[:15], "cut off within a block"),
    (b"\x02\x08a" + SYNC, "cut off within a block"),
    (b"\x02\x02a" + SYNC[::-1], "a block does not end where it says"),
]


@pytest.mark.parametrize(("tail", "words"), BLOCKS)
def test_blocks_that_are_damaged(tail: bytes, words: str) -> None:
    """A block without its end, of negative length, or with another sync marker is damage."""
    data = EMPTY + tail
    with pytest.raises(Damaged, match=words):
        list(container.blocks(data, container.read_header(data)))


def test_schemas() -> None:
    """Schemas of every kind of type, with field ids, and names of types that were defined before."""
    inner = {"type": "fixed", "name": "four", "namespace": "a.b", "size": 4}
    text = json.dumps(
        {
            "type": "record", "name": "x.top", "fields": [
                {"name": "plain", "type": "int", "field-id": 7},
                {"name": "logical", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                {"name": "list", "type": {"type": "array", "items": ["null", "string"]}},
                {"name": "map", "type": {"type": "map", "values": "bytes"}},
                {"name": "fixed", "type": inner},
                {"name": "again", "type": "a.b.four"},
                {"name": "enum", "type": {"type": "enum", "name": "e", "symbols": ["a"]}},
                {"name": "enum2", "type": "e"},
                {"name": "enum3", "type": "x.e"},
            ],
        }
    )  # fmt: skip
    pair = Record((Field(None, "key", Atom("string")), Field(None, "value", Atom("bytes"))))
    assert schemas.parse(text.encode()) == Record(
        (
            Field(7, "plain", Atom("int")), Field(None, "logical", Atom("long")),
            Field(None, "list", Array(Union((Atom("null"), Atom("string"))))), Field(None, "map", Array(pair)),
            Field(None, "fixed", Fixed(4)), Field(None, "again", Fixed(4)), Field(None, "enum", Atom("int")),
            Field(None, "enum2", Atom("int")), Field(None, "enum3", Atom("int")),
        )
    )  # fmt: skip


def _bushy(levels: int) -> str:
    """A schema of a few hundred bytes that doubles with each level."""
    fields = [{"name": "f", "type": {"type": "record", "name": "r0", "fields": [{"name": "a", "type": "int"}]}}]
    for level in range(1, levels):
        twice = [{"name": name, "type": f"r{level - 1}"} for name in "ab"]
        fields.append({"name": "f", "type": {"type": "record", "name": f"r{level}", "fields": twice}})
    return json.dumps({"type": "record", "name": "top", "fields": fields})


SCHEMAS: list[tuple[str, str]] = [
    ("", "not readable"),
    ("[" * 100_000, "not readable"),
    ('{"type": ' * 40 + '"int"' + "}" * 40, "nested more than 32 deep"),
    ('"strange"', "a type 'strange' that it does not define before"),
    ("7", "neither a name nor an object"),
    ('{"type": "record", "name": "r", "fields": 3}', "a record without fields"),
    ('{"type": "record", "name": "r", "fields": [3]}', "a field is no object"),
    ('{"type": "record", "name": "r", "fields": [{"name": "again", "type": "r"}]}', "a type 'r' that it does not"),
    ('{"type": "fixed", "name": "f", "size": -1}', "a fixed type without a size"),
    (_bushy(30), "more than 20,000 types"),
]


@pytest.mark.parametrize(("text", "words"), SCHEMAS)
def test_schemas_that_are_none(text: str, words: str) -> None:
    """A schema that is none, contains itself, nests without end or grows without bound is damage, at once."""
    with pytest.raises(Damaged, match=words):
        schemas.parse(text.encode())
