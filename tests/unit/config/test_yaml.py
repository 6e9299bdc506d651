"""YAML as we read it: scalars by version 1.2, lines kept, keys unique, everything bounded."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.config import reading, yaml
from firnline.core.errors import BadFiles

SCALARS = {
    "on": "on", "no": "no", "y": "y", "12:30": "12:30", "0123": 123, "0o17": 15, "0x1F": 31, "1_000": "1_000",
    "true": True, "False": False, "tRue": "tRue", "~": None, "null": None, "Null": None, "nULL": "nULL",
    "1.5": 1.5, ".5": 0.5, "1e3": 1000.0, "1.e2": 100.0, "e3": "e3", "-": "-", "+1": 1, "-7": -7,
    "2026-11-18": "2026-11-18", ".inf": math.inf, "-.inf": -math.inf, "=": "=",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS.items())
def test_plain_scalars_follow_version_1_2(text: str, value: object) -> None:
    """A plain scalar is null, a truth value or a number only where YAML 1.2's core schema says so."""
    assert yaml.resolve(text) == value
    assert type(yaml.resolve(text)) is type(value)


@given(st.text(max_size=20))
def test_resolving_never_fails(text: str) -> None:
    """Any text is some value."""
    yaml.resolve(text)


def test_a_quoted_scalar_is_text() -> None:
    """Quotes keep a value from being anything but text."""
    node = yaml.parse(b"a: 'no'\nb: \"1\"\n", "f")
    assert isinstance(node, yaml.Mapping)
    scalars = {key: entry.node for key, entry in node.entries.items()}
    assert {key: isinstance(node, yaml.Scalar) and node.value for key, node in scalars.items()} == {"a": "no", "b": "1"}


def test_lines_are_kept_through_nesting_and_aliases() -> None:
    """Each node knows the line it was written on; an alias, the line of what it names."""
    node = yaml.parse(b"a: &x\n  - 1\n  - b: 2\nc: *x\n", "f")
    assert isinstance(node, yaml.Mapping)
    listing = node.entries["a"].node
    assert isinstance(listing, yaml.Listing)
    assert [item.line for item in listing.items] == [2, 3]
    assert node.entries["c"].node is listing


FAULTS = {
    "a: 1\na: 2\n": (2, "already on line 1"),
    "? [a]\n: 1\n": (1, "used as a key"),
    "a: !!int 3\n": (1, "tag"),
    "a: &x [*x]\n": (1, "stands inside what it names"),
    "a: {b: c\n": (2, "not YAML"),
    "a: `b`\n": (1, "has to be quoted"),
    "a: b\x07\n": (1, "not allowed in YAML"),
    "[" * 5000 + "]" * 5000: (1, "nested more than"),
    "a: &a " + "[" * 60 + "]" * 60 + "\nb: [[[[[[*a]]]]]]\n": (2, "nested more than"),
    "\ufeffa: 1\n": (1, "byte order mark"),
}


@pytest.mark.parametrize(("text", "expected"), FAULTS.items(), ids=[text[:20] for text in FAULTS])
def test_what_is_no_yaml_names_its_line(text: str, expected: tuple[int, str]) -> None:
    """Each fault of the text is one complaint with its line."""
    with pytest.raises(BadFiles) as caught:
        yaml.parse(text.encode(), "f.yaml")
    (complaint,) = caught.value.complaints
    assert (complaint.file, complaint.line) == ("f.yaml", expected[0])
    assert expected[1] in f"{complaint.problem} {complaint.hint}"


def test_a_file_has_a_largest_size() -> None:
    """More bytes than the bound are not parsed at all."""
    with pytest.raises(BadFiles, match="bytes"):
        yaml.parse(b"a" * (yaml.BYTES_MAX + 1), "f")


@given(st.binary(max_size=200))
def test_no_bytes_get_past_as_anything_but_a_complaint(data: bytes) -> None:
    """Whatever the bytes are, they are read or complained of."""
    with contextlib.suppress(BadFiles):
        yaml.parse(data, "f")


def test_every_wrong_key_is_complained_of_at_once() -> None:
    """One read finds all mistakes of a file, in the order of lines, and no more than the bound of them."""
    from firnline.config import tables

    wrong = "\n".join(f"k{number}: 1" for number in range(80))
    with pytest.raises(BadFiles) as caught:
        tables.read(f"table: a.b\ncolumns: [{{x: int}}]\n{wrong}\n".encode(), "f")
    lines = [complaint.line for complaint in caught.value.complaints]
    assert len(lines) == reading.COMPLAINTS_MAX + 1
    assert lines[:-1] == sorted(line or 0 for line in lines[:-1])
    assert "30 more" in caught.value.complaints[-1].problem
