"""Looks in a folder: which one is recalled, how many are kept, and what stands in the way."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.adapters.local.looks import LocalLooks

NOON = 1_795_000_000_000


def kept(folder: Path, *hours: int, most: int = 400) -> LocalLooks:
    """Looks of these hours."""
    looks = LocalLooks(str(folder), kept_max=most)
    for hour in hours:
        looks.keep(NOON + hour, {"millis": NOON + hour})
    return looks


def recalled(looks: LocalLooks, hour: int) -> list[int]:
    return [look["millis"] - NOON for look in looks.recall(NOON + hour)]


@settings(deadline=None, max_examples=40)
@given(st.sets(st.integers(0, 9)), st.integers(-1, 10))
def test_the_nearest_before_comes_first(tmp_path_factory: pytest.TempPathFactory, hours: set[int], asked: int) -> None:
    """Looks at least that old, the newest first; behind them younger ones, the oldest first."""
    found = recalled(kept(tmp_path_factory.mktemp("looks"), *hours), asked)
    old = [hour for hour in hours if hour <= asked]
    assert found == [*sorted(old, reverse=True), *sorted(hours - set(old))]


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    """The oldest are forgotten, in whatever order looks were kept; nothing else in the folder is touched."""
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "1.json.gz").write_text("too short to be a time")
    assert recalled(kept(tmp_path, 5, 1, 4, 2, 3, most=3), 9) == [5, 4, 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "1.json.gz", *(f"{NOON + hour}.json.gz" for hour in (3, 4, 5)), "notes.txt",
    ]  # fmt: skip


DAMAGED = [b"", b"{}", gzip.compress(b"{")[:-4], gzip.compress(b"\xff\xfe"), b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 9]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_ones_are_left_out(tmp_path: Path, data: bytes) -> None:
    """A file that is no look, cut or flipped, is passed over."""
    looks = kept(tmp_path, 1, 2, 3)
    (tmp_path / f"{NOON + 2}.json.gz").write_bytes(data)
    assert recalled(looks, 9) == [3, 1]


def test_what_cannot_be_kept_is_not(tmp_path: Path) -> None:
    """A folder that is a file, or a look's place taken by a folder, is no error; and nothing is left half-way."""
    (tmp_path / "looks").write_text("in the way")
    assert recalled(kept(tmp_path / "looks", 1), 9) == []
    assert (tmp_path / "looks").read_text() == "in the way"
    taken = tmp_path / "other" / f"{NOON + 1}.json.gz"
    (taken / "inside").mkdir(parents=True)
    assert recalled(kept(taken.parent, 1), 9) == []
    assert list(taken.parent.iterdir()) == [taken]


def test_a_look_is_kept_again(tmp_path: Path) -> None:
    """A look of the same moment takes the place of the one before."""
    looks = kept(tmp_path, 1)
    looks.keep(NOON + 1, {"millis": NOON + 7})
    assert recalled(looks, 9) == [7]
    (path,) = tmp_path.iterdir()
    assert json.loads(gzip.decompress(path.read_bytes())) == {"millis": NOON + 7}
