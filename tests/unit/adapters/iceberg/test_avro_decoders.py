"""The two decoders against each other and against the slow oracle, on schemas and files of every shape."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from firnline.adapters.iceberg.avro import columns, container, lockstep, scalar, schemas
from firnline.adapters.iceberg.avro.buffer import GaveUp
from firnline.adapters.iceberg.avro.codecs import inflater
from firnline.adapters.iceberg.avro.columns import Columns
from firnline.adapters.iceberg.avro.container import Damaged
from firnline.adapters.iceberg.avro.plans import Key, Plan, plan
from firnline.adapters.iceberg.avro.scalar import ABSENT, Lanes
from tests import avro_oracle
from tests.avro_files import INSIDE, KEYS, MAPS, NUMBERS, SPANS, TEXTS, WANT, Written, field, files, files_of_metrics


def laid_out(data: bytes) -> tuple[Plan, Lanes]:
    header = container.read_header(data)
    inflate = inflater(header.codec)
    found = list(container.blocks(data, header))
    blocks = [inflate(data[block.start : block.start + block.size], 1 << 28) for block in found]
    return plan(schemas.parse(header.schema), WANT), scalar.lanes(blocks, [block.count for block in found])


def wanted_of(schema: Any, record: Any) -> dict[Key, Any]:
    """What the columns must hold, by the obvious way."""
    found: dict[Key, Any] = {}
    for each in schema["fields"]:
        field_id, value = each.get("field-id"), record[each["name"]]
        if field_id in NUMBERS or field_id in TEXTS:
            found[field_id] = value.encode() if isinstance(value, str) else value
        elif field_id in MAPS:
            last = {} if value is None else {pair["k"]: pair["v"] for pair in value}
            found |= {(field_id, key): last.get(key) for key in KEYS}
        elif field_id == INSIDE:
            found[8] = None if value is None else value["a"]
            found[18] = None if value is None or value["c"] is None else value["c"].encode()
    return found


def spans_of(schema: Any, record: Any) -> dict[int, tuple[Any, Any]]:
    """The types and values whose own bytes must be kept."""
    found = {}
    for each in schema["fields"]:
        if each.get("field-id") in SPANS:
            of = each["type"]
            inside = next(branch for branch in of if branch != "null") if isinstance(of, list) else of
            found[each["field-id"]] = inside, record[each["name"]]
    return found


def seen(found: Columns, data: bytes, row: int) -> Iterator[tuple[Key, Any]]:
    for key, column in found.numbers.items():
        yield key, None if column[row] == ABSENT else int(column[row])
    for key, start in found.starts.items():
        length = int(found.lengths[key][row])
        yield key, None if length < 0 else data[int(start[row]) : int(start[row]) + length]


@settings(max_examples=150, deadline=None)
@given(files() | files_of_metrics(), st.sampled_from([1, 2, 5]))
def test_both_decoders_and_the_oracle(written: Written, lanes_least: int) -> None:
    """Every column of every record is what the slow reader sees, together and one by one, whatever the file's shape."""
    schema, records = avro_oracle.read(written.data)
    assert records == written.records
    planned, lanes = laid_out(written.data)
    try:
        together = lockstep.decode(planned, lanes, 1)
        assert together.left.count == []
        found = Columns(
            np.frombuffer(lanes.data, np.uint8), lanes.rows, together.numbers, together.starts, together.lengths
        )
        event("together")
    except GaveUp:
        assert written.long_numbers  # lengths of more than five bytes, which no writer makes
        found = columns.decode(planned, lanes, lanes_least=1)
        event("gave up")
    mixed = columns.decode(planned, lanes, lanes_least=lanes_least)
    alone = columns.decode(planned, lanes, lanes_least=len(lanes.count) + 1)
    for row, record in enumerate(records):
        wanted, spans = wanted_of(schema, record), spans_of(schema, record)
        for each in (found, mixed, alone):
            had = dict(seen(each, lanes.data, row))
            assert {key: value for key, value in had.items() if key not in spans} == wanted
            for key, (of, value) in spans.items():
                raw = had[key]
                assert (raw is None) == (value is None)
                if raw is not None:
                    assert avro_oracle.decode(of, io.BytesIO(raw)) == value


@settings(max_examples=60, deadline=None)
@given(files() | files_of_metrics(), st.integers(0, 2**32))
def test_damage_is_seen_by_both_alike(written: Written, seed: int) -> None:
    """In spoilt blocks both decoders see the same, or both see damage; nothing else is raised and nothing hangs."""
    planned, lanes = laid_out(written.data)
    if not lanes.count or not lanes.end[-1]:
        return
    dice = random.Random(seed)
    for _ in range(10):
        spoilt = bytearray(lanes.data)
        spoilt[dice.randrange(lanes.end[-1])] = dice.choice([0, 1, 2, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        other = Lanes(bytes(spoilt), lanes.start, lanes.end, lanes.count)
        alone, together = (tried(planned, other, least) for least in (len(lanes.count) + 1, 1))
        if isinstance(alone, tuple) or isinstance(together, tuple):
            assert alone == together
            assert 0 <= alone[1] < len(lanes.count)
            continue
        for row in range(lanes.rows):
            assert dict(seen(alone, other.data, row)) == dict(seen(together, other.data, row))


def tried(planned: Plan, of: Lanes, lanes_least: int) -> Columns | tuple[str, int]:
    """The columns, or what is damaged and in which lane."""
    try:
        return columns.decode(planned, of, lanes_least=lanes_least)
    except Damaged as error:
        return error.reason, -1 if error.lane is None else error.lane


def test_lists_are_leapt_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbouring lists of the same counts are passed over at once, all but the first record's."""
    optional = ["null", {"type": "array", "items": "long"}]
    schema = {
        "type": "record",
        "name": "top",
        "fields": [field("a", optional), field("b", optional), field("n", "int", 1)],
    }
    records = [{"a": [number] * 10, "b": [7, 2**40 + number], "n": number} for number in range(60)]
    records[33]["b"] = [1, 2, 3]
    planned, lanes = laid_out(avro_oracle.write(schema, records, per_block=lambda: 10))
    leaps: list[bool] = []
    leap = lockstep._Walk._leap

    def counted(*given: Any) -> Any:
        after = leap(*given)
        leaps.append(after is not None)
        return after

    monkeypatch.setattr(lockstep._Walk, "_leap", counted)
    found = lockstep.decode(planned, lanes, 1)
    assert found.numbers[1].tolist() == list(range(60))
    # The fourth record of one lane differs: it is not leapt over, and leaves nothing to guess for the one after it.
    assert leaps == [True, True, False, True, True, True, True, True]
