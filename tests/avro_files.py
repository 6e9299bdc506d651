"""Avro files of every shape, for the tests of the decoders: random schemas, values, codecs, blocks and encodings."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from firnline.adapters.iceberg.avro.plans import Inside, Keyed, Kind
from tests import avro_oracle
from tests.avro_oracle import Style

# What is wanted of every file, as far as its schema has it.
NUMBERS, TEXTS, SPANS, MAPS, INSIDE = (1, 2, 3), (11, 12), (21, 22, 23), (31, 32), 40
KEYS = frozenset({4, 70, -3, 2147483546})
_FLAT = {
    **dict.fromkeys(NUMBERS, Kind.NUMBER), **dict.fromkeys(TEXTS, Kind.TEXT), **dict.fromkeys(SPANS, Kind.SPAN),
    **dict.fromkeys(MAPS, Keyed(KEYS)),
}  # fmt: skip
WANT = Inside({**_FLAT, INSIDE: Inside({8: Kind.NUMBER, 18: Kind.TEXT}, {})}, {})
FIXED = {"type": "fixed", "name": "five", "size": 5}
ATOMS = ("int", "long", "string", "bytes", "boolean", "float", "double", "null")

longs = st.one_of(
    st.integers(-70, 70),
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from([2**55 - 1, 2**55, -(2**56), 2**62, 2**63 - 1, -(2**63) + 1, 8191, 8192, -8193]),
    st.integers(-(2**63) + 1, 2**63 - 1),
)
sizes = st.one_of(st.integers(0, 5), st.sampled_from([0, 1, 10, 10, 63, 64, 65, 200]))
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "int": st.one_of(st.integers(-70, 70), st.integers(-(2**31), 2**31 - 1)),
    "long": longs,
    "string": st.one_of(st.text(max_size=8), sizes.map(lambda size: "é" * size)),
    "bytes": st.one_of(st.binary(max_size=8), sizes.map(bytes)),
    "boolean": st.booleans(),
    "float": st.sampled_from([0.0, -1.5]),
    "double": st.floats(allow_nan=False),
    "null": st.none(),
}


def field(name: str, of: Any, field_id: int | None = None) -> dict[str, Any]:
    return {"name": name, "type": of} | ({} if field_id is None else {"field-id": field_id})


def pairs(of: str, name: str) -> dict[str, Any]:
    """A metrics map."""
    return {"type": "array", "items": {"type": "record", "name": name, "fields": [field("k", "int"), field("v", of)]}}


def maybe(of: Any) -> st.SearchStrategy[Any]:
    """Required, or optional with null first or last."""
    return st.sampled_from([of, ["null", of], [of, "null"]])


@st.composite
def anything(draw: st.DrawFn, depth: int = 2) -> Any:
    """A type nobody asked for: what has to be passed over."""
    kinds = ["atom", "atom", "pairs", "longs", "fixed", *(["list", "map", "record", "union"] if depth else [])]
    match draw(st.sampled_from(kinds)):
        case "atom":
            return draw(st.sampled_from(ATOMS))
        case "pairs":
            return pairs(draw(st.sampled_from(["long", "bytes", "string", "double"])), "p")
        case "longs":
            return {"type": "array", "items": draw(st.sampled_from(["int", "long"]))}
        case "fixed":
            return FIXED
        case "list":
            return {"type": "array", "items": draw(anything(depth - 1))}
        case "map":
            return {"type": "map", "values": draw(anything(depth - 1))}
        case "record":
            inside = draw(st.lists(anything(depth - 1), max_size=3))
            return {"type": "record", "name": "r", "fields": [field(f"f{at}", of) for at, of in enumerate(inside)]}
        case _:
            return draw(st.sampled_from([["null", "long"], ["null", "string"], ["bytes", "null"], ["boolean"]]))


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """A schema with some of the wanted fields, at any place, among others."""
    fields = [field(f"n{at}", draw(maybe(draw(st.sampled_from(["int", "long"])))), at) for at in NUMBERS]
    fields += [field(f"t{at}", draw(maybe(draw(st.sampled_from(["string", "bytes"])))), at) for at in TEXTS]
    for at in SPANS:
        of = draw(anything())
        fields.append(field(f"s{at}", "long" if of == "null" else of if isinstance(of, list) else draw(maybe(of)), at))
    for at in MAPS:
        fields.append(field(f"m{at}", draw(maybe(pairs(draw(st.sampled_from(["long", "bytes"])), f"kv{at}"))), at))
    inside = [field("a", draw(maybe("long")), 8), field("b", draw(anything())), field("c", draw(maybe("string")), 18)]
    fields.append(field("i", draw(maybe({"type": "record", "name": "inner", "fields": inside})), INSIDE))
    fields += [field(f"x{at}", of) for at, of in enumerate(draw(st.lists(anything(), max_size=3)))]
    kept = draw(
        st.lists(st.sampled_from(fields), min_size=1, max_size=len(fields), unique_by=lambda of: str(of["name"]))
    )
    return {"type": "record", "name": "top", "fields": [field("y", "int"), *kept]}  # a record takes a byte at least


def values(of: Any, dice: random.Random, draw: st.DrawFn) -> Any:
    """A value of a type. Atoms are drawn; how long lists are, is thrown: drawing all of it would take minutes."""
    if isinstance(of, list):
        return values(dice.choice(of), dice, draw)
    kind = of["type"] if isinstance(of, dict) else of
    match kind:
        case "record":
            return {each["name"]: values(each["type"], dice, draw) for each in of["fields"]}
        case "array":
            keyed = isinstance(of["items"], dict) and len(of["items"].get("fields", ())) == 2
            found = [values(of["items"], dice, draw) for _ in range(dice.choice([0, 1, 2, 3, 12]))]
            if keyed and "k" in found[0] if found else False:
                for each in found:
                    each["k"] = dice.choice([1, 2, *KEYS])
            return found
        case "map":
            return {f"key{at}": values(of["values"], dice, draw) for at in range(dice.choice([0, 1, 3]))}
        case "fixed":
            return dice.randbytes(of["size"])
        case _:
            return POOL[kind][dice.randrange(len(POOL[kind]))] if dice.random() < 0.9 else draw(VALUES[kind])


POOL = {
    "int": [0, 1, -1, 2, 63, 64, -64, -65, 2**31 - 1, -(2**31)],
    "long": [0, 1, -1, 63, 64, 8191, 8192, 2**20, 2**34, 2**48, 2**55 - 1, 2**55, -(2**56), 2**62, 2**63 - 1],
    "string": ["", "a", "é" * 31, "x" * 63, "x" * 64, "y" * 300],
    "bytes": [b"", b"\x00", bytes(8), b"\xff" * 16, bytes(64), bytes(8192)],
    "boolean": [True, False],
    "float": [0.5],
    "double": [1.0],
    "null": [None],
}


@dataclass
class Written:
    """A file with what is in it."""

    schema: Any
    records: list[Any]
    data: bytes
    long_numbers: bool


@st.composite
def files(draw: st.DrawFn) -> Written:
    schema = draw(tables())
    dice = random.Random(draw(st.integers(0, 2**32)))
    records = [values(schema, dice, draw) for _ in range(draw(st.sampled_from([0, 1, 2, 9, 60, 150])))]
    long_numbers = draw(st.booleans())
    style = Style(dice, runs=draw(st.booleans()), long_numbers=long_numbers)
    most = draw(st.sampled_from([1, 1, 3, 20, 100]))
    codec = draw(st.sampled_from(avro_oracle.CODECS))
    data = avro_oracle.write(schema, records, codec=codec, style=style, per_block=lambda: dice.randint(0, most))
    return Written(schema, records, data, long_numbers)


@st.composite
def files_of_metrics(draw: st.DrawFn) -> Written:
    """Neighbouring lists of numbers whose counts are mostly the same in every record, as metrics are."""
    kinds = draw(st.lists(st.sampled_from(["long", "pairs"]), min_size=2, max_size=6))
    lists = [
        pairs("long", f"p{at}") if kind == "pairs" else {"type": "array", "items": "int"}
        for at, kind in enumerate(kinds)
    ]
    optional = [[of, "null"] if draw(st.booleans()) else ["null", of] for of in lists]
    fields = [
        field("n1", "int", 1),
        *(field(f"l{at}", of) for at, of in enumerate(optional)),
        field("t11", "string", 11),
    ]
    schema = {"type": "record", "name": "top", "fields": fields}
    counts = [draw(st.sampled_from([0, 1, 2, 10, 10, 30, 63, 64])) for _ in lists]
    dice = random.Random(draw(st.integers(0, 2**32)))
    odd, most = draw(st.sampled_from([0, 0, 0.001, 0.1])), draw(st.sampled_from([100, 2**20, 2**62]))

    def items(at: int) -> Any:
        if dice.random() < odd:
            return None
        count = dice.choice([0, 1, 11]) if dice.random() < odd else counts[at]
        numbers = [dice.randrange(min(most, 2**31)) >> dice.randrange(31) for _ in range(2 * count)]
        return (
            numbers[:count] if kinds[at] == "long" else [{"k": numbers[i], "v": numbers[-1 - i]} for i in range(count)]
        )

    def one(number: int) -> dict[str, Any]:
        return {"n1": number, **{f"l{at}": items(at) for at in range(len(lists))}, "t11": "x" * (number % 90)}

    records = [one(number) for number in range(draw(st.sampled_from([30, 200])))]
    long_numbers = draw(st.booleans())
    style = Style(dice, runs=draw(st.sampled_from([False, False, True])), long_numbers=long_numbers)
    per_block = draw(st.sampled_from([1, 5, 20]))
    data = avro_oracle.write(schema, records, codec="null", style=style, per_block=lambda: per_block)
    return Written(schema, records, data, long_numbers)
