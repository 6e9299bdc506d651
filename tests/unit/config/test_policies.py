"""What a policy may say, and what is refused with its file, line and nearest word."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.config import amounts, overrides, policies, schema, tables
from firnline.config.amounts import Unit
from firnline.core.errors import BadFiles, BadInput

COLUMNS = "table: a.b\ncolumns: [{id: long}]\n"


def _read(policy: str) -> object:
    return tables.read(f"{COLUMNS}policy:\n  {policy}\n".encode(), "t.yaml")[0].policy


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("small-file.files: 3", "Did you mean 'small-files.files'?"),
        ("smal-files: off", "Did you mean 'small-files'?"),
        ("zzz: 1", "`firnline policy show TABLE` lists them all."),
        ("small-files: no", "'no' is not one of on, off."),
        ("small-files.files: many", "'many' is not a whole number such as 100."),
        ("small-files.files: 1.5", "'1.5' is not a whole number"),
        ("small-files.files: true", "'True' is not a whole number"),
        ("small-files.share: 20", "'20' is not a share from 0 to 1"),
        ("small-files.share: .nan", "is not a share"),
        ("target-file-size: 128MB", "Write 128MiB: sizes count in powers of 1024."),
        ("target-file-size: big", "Write 128MiB, 1.5GiB, or a number of bytes."),
        ("snapshots.age: 5", "'5' is not a duration such as 7d."),
        ("snapshots.age: 0d", "no time at all"),
        ("history.times: -1", "'-1' is not a number such as 1.5."),
        ("orphans: {bytes: 1}", "is expected, not a mapping"),
        ("costly-from: free", "'free' is not an amount of money"),
    ],
)
def test_what_no_policy_can_say_is_refused(policy: str, said: str) -> None:
    """A key that is none and a value that does not fit are complained of with their line."""
    with pytest.raises(BadFiles) as caught:
        _read(policy)
    (complaint,) = caught.value.complaints
    assert (complaint.file, complaint.line) == ("t.yaml", 4)
    assert said in str(complaint)


@pytest.mark.parametrize(
    ("written", "unit", "number"),
    [
        (100, Unit.COUNT, 100),
        (0, Unit.COUNT, 0),
        ("128MiB", Unit.BYTES, 128 * 2**20),
        ("1.5 GiB", Unit.BYTES, 3 * 2**29),
        ("12", Unit.BYTES, 12),
        (12, Unit.BYTES, 12),
        ("7 B", Unit.BYTES, 7),
        ("7d", Unit.DURATION, 604_800_000),
        (0.2, Unit.SHARE, 0.2),
        (1, Unit.SHARE, 1),
        (2.5, Unit.TIMES, 2.5),
        (3, Unit.MONEY, 3),
    ],
)
def test_an_amount_is_the_number_it_says(written: object, unit: Unit, number: float) -> None:
    """Sizes are bytes in powers of 1024, durations milliseconds; the rest is as written."""
    assert amounts.parse(written, unit) == number
    assert amounts.parse_text(str(written), unit) == number


@pytest.mark.parametrize("written", ["9999999PiB", 2**63, -1, float("inf"), None, [1], True, "1 2", "٣"])
def test_an_amount_nothing_could_hold_is_refused(written: object) -> None:
    """Numbers beyond all bounds, and what is no number, are refused for every unit that does not know the writing."""
    for unit in Unit:
        with pytest.raises(BadInput):
            amounts.parse(written, unit)


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (1234567, Unit.COUNT, "1,234,567"),
        (1.5, Unit.COUNT, "1.5"),
        (1536, Unit.BYTES, "1.5 KiB"),
        (604_800_000, Unit.DURATION, "7d"),
        (5_400_000, Unit.DURATION, "1.5h"),
        (250, Unit.DURATION, "250ms"),
        (0, Unit.DURATION, "0s"),
        (0.2, Unit.SHARE, "20 %"),
        (0.034, Unit.SHARE, "3.4 %"),
        (0.0001, Unit.SHARE, "under 0.1 %"),
        (0.999, Unit.SHARE, "over 99 %"),
        (0, Unit.SHARE, "0 %"),
        (1, Unit.SHARE, "100 %"),
        (4.25, Unit.TIMES, "4.2x"),
        (0.004, Unit.MONEY, "0.004"),
        (0.00001, Unit.MONEY, "under 0.001"),
        (12.5, Unit.MONEY, "12.50"),
        (0, Unit.MONEY, "0.00"),
    ],
)
def test_an_amount_is_shown_to_people(number: float, unit: Unit, shown: str) -> None:
    """Rounded, with its unit, and never rounded to nothing or to all."""
    assert amounts.show(number, unit) == shown


@settings(deadline=None)
@given(st.sampled_from(Unit), st.floats(0, 1e15))
def test_any_amount_can_be_shown(unit: Unit, number: float) -> None:
    """Whatever was measured, there is a text for it."""
    assert amounts.show(number, unit)


@pytest.mark.parametrize("key", policies.AMOUNTS.values(), ids=policies.AMOUNTS)
def test_every_default_is_a_value(key: policies.PolicyKey) -> None:
    """The default of every key is one that a file could hold, and its words say what it is."""
    assert amounts.parse(key.default, key.unit) == key.number
    assert key.doc[0].isupper()
    assert key.doc.endswith(".")


def test_every_key_can_be_a_variable() -> None:
    """No two keys are the same once a variable has folded them."""
    names = [*policies.AMOUNTS, *policies.RULES]
    assert len({overrides.fold(name) for name in names}) == len(names)


def test_an_editor_knows_every_key() -> None:
    """The schema of table files has every key, takes every default, and refuses what the reader refuses."""
    document = schema.table()
    every = {**{name: key.default for name, key in policies.AMOUNTS.items()}, **dict.fromkeys(policies.RULES, "off")}
    told = {"table": "a.b", "columns": [{"id": "long"}], "policy": every}
    jsonschema.validate(json.loads(json.dumps(told)), document)
    for wrong in ({"small-file": 1}, {"small-files": "no"}, {"small-files.share": 2}, {"target-file-size": "1MB"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**told, "policy": wrong}, document)
