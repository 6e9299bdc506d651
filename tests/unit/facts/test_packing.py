"""Columns as bytes, and damaged bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from firnline.facts import packing
from firnline.facts.packing import Packed

columns = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    arrays.arrays(np.int64, st.tuples(st.integers(0, 5), st.integers(1, 3))),
    max_size=3,
)
WHOLE = packing.pack(Packed({"a": [1, "é", None]}, {"x": np.arange(6).reshape(3, 2), "y": np.zeros((0, 2), np.int64)}))


@given(columns, st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(), max_size=3))
def test_what_is_packed_comes_back(given_columns: dict[str, np.ndarray], values: dict[str, object]) -> None:
    """Values and columns are the same after packing and unpacking."""
    back = packing.unpack(packing.pack(Packed(values, given_columns)))
    assert back is not None
    assert back.values == values
    assert set(back.columns) == set(given_columns)
    for name, column in given_columns.items():
        assert np.array_equal(back.columns[name], column)


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_cut_bytes_are_nothing(cut: int) -> None:
    """Bytes that end early are None, wherever they end."""
    assert packing.unpack(WHOLE[:cut]) is None


@pytest.mark.parametrize("at", range(len(WHOLE)))
def test_flipped_bytes_are_nothing(at: int) -> None:
    """One flipped byte is found out; in the head it may change nothing that is read, and never what comes out."""
    damaged = bytearray(WHOLE)
    damaged[at] ^= 0x55
    found, whole = packing.unpack(bytes(damaged)), packing.unpack(WHOLE)
    assert whole is not None
    assert found is None or (found.values == whole.values and np.array_equal(found.columns["x"], whole.columns["x"]))
