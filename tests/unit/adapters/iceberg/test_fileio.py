"""What PyIceberg reads through us is the file, from whatever part it begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.adapters.iceberg.fileio import ReadingFileIO
from firnline.adapters.local.files import LocalFiles
from firnline.facts.ports import StoredFile

FILES = ReadingFileIO(LocalFiles())


class Memory(LocalFiles):
    """One file, whatever it is called, and what was asked of it."""

    def __init__(self, data: bytes, lost: int = 0) -> None:
        super().__init__()
        self.data, self.lost, self.asked = data, lost, 0

    def look(self, location: str) -> StoredFile:
        return StoredFile(location, len(self.data), 0)

    def part(self, location: str, start: int, length: int) -> bytes:  # noqa: ARG002 -- the port's
        self.asked += 1
        return self.data[start : max(start, start + length - self.lost)]


@given(st.binary(max_size=300), st.lists(st.tuples(st.integers(0, 400), st.integers(-1, 400)), max_size=6))
def test_reads(data: bytes, reads: list[tuple[int, int]]) -> None:
    """Seeking and reading give the bytes that are there, and nothing behind the end."""
    with ReadingFileIO(Memory(data)).new_input("x").open() as stream:
        for start, length in reads:
            stream.seek(start)
            assert stream.read(length) == data[start : None if length < 0 else start + length]


def test_reads_ahead() -> None:
    """What lies next was fetched with what was read: many small reads are one request."""
    files = Memory(bytes(1000))
    with ReadingFileIO(files).new_input("x").open() as stream:
        while stream.read(10):
            pass
    assert files.asked == 1


def test_cut_short() -> None:
    """A file that ends before its size is damage, not its end."""
    stream = ReadingFileIO(Memory(b"12345", lost=1)).new_input("x").open()
    with stream, pytest.raises(OSError, match="1 bytes early"):
        stream.read()


def test_there_or_not(tmp_path: Path) -> None:
    """A file that is not there says so, and has no length."""
    (tmp_path / "x").write_bytes(b"123")
    assert (FILES.new_input(f"file://{tmp_path}/x").exists(), len(FILES.new_input(str(tmp_path / "x")))) == (True, 3)
    gone = FILES.new_input(str(tmp_path / "y"))
    assert not gone.exists()
    with pytest.raises(FileNotFoundError):
        len(gone)


def test_writes_nothing(tmp_path: Path) -> None:
    """A reader neither writes nor deletes."""
    with pytest.raises(PermissionError):
        FILES.new_output(str(tmp_path / "x"))
    with pytest.raises(PermissionError):
        FILES.delete(str(tmp_path / "x"))
