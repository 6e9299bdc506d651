"""Files appear whole, or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from firnline.adapters.iceberg import fileio
from firnline.adapters.iceberg.fileio import LocalFileIO

FILES = LocalFileIO()


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_published(tmp_path: Path) -> None:
    """A file is there with all its bytes once it is closed, its folders made, and not before."""
    path = tmp_path / "a" / "b" / "x.json"
    output = FILES.new_output(f"file://{path}")
    assert not output.exists()
    with output.create() as stream:
        stream.write(b"whole")
        stream.flush()
        assert not path.exists()
    assert (path.read_bytes(), names(tmp_path)) == (b"whole", ["a/b/x.json"])
    assert (output.exists(), len(output), len(output.to_input_file())) == (True, 5, 5)
    with FILES.new_input(str(path)).open() as read:
        assert (read.seek(2), read.read()) == (2, b"ole")


def test_abandoned(tmp_path: Path) -> None:
    """A file whose writing ends in an error, or that is forgotten, was never there."""
    with pytest.raises(KeyError), FILES.new_output(str(tmp_path / "x")).create() as stream:  # noqa: PT012 -- leaving the block is what is tested
        stream.write(b"half")
        raise KeyError("x")
    forgotten = FILES.new_output(str(tmp_path / "y")).create()
    forgotten.write(b"half")
    del forgotten
    assert names(tmp_path) == []


def test_closed_twice(tmp_path: Path) -> None:
    """Closing again, or leaving after closing, does nothing."""
    stream = FILES.new_output(str(tmp_path / "x")).create()
    stream.write(b"1")
    stream.close()
    stream.close()
    stream.abandon()  # type: ignore[attr-defined]
    assert names(tmp_path) == ["x"]


def test_taken(tmp_path: Path) -> None:
    """A name that is taken is never overwritten, not even when it is taken while we write; unless asked for."""
    path = tmp_path / "x"
    with pytest.raises(FileExistsError), FILES.new_output(str(path)).create() as stream:  # noqa: PT012 -- leaving the block is what is tested
        stream.write(b"ours")
        path.write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        FILES.new_output(str(path)).create()
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["x"])
    with FILES.new_output(str(path)).create(overwrite=True) as stream:
        stream.write(b"ours")
    assert (path.read_bytes(), names(tmp_path)) == (b"ours", ["x"])


@pytest.mark.parametrize("taken", [False, True])
def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool) -> None:
    """Where a file system has no hard links a rename does, and still overwrites nothing."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(fileio.os, "link", no_links)
    stream = FILES.new_output(str(tmp_path / "x")).create()
    stream.write(b"ours")
    if taken:
        (tmp_path / "x").write_bytes(b"theirs")
        with pytest.raises(FileExistsError):
            stream.close()
    else:
        stream.close()
    assert (tmp_path / "x").read_bytes() == (b"theirs" if taken else b"ours")
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """A file that cannot be made durable or visible is not there, and the error goes out."""

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    stream = FILES.new_output(str(tmp_path / "x")).create()
    stream.write(b"ours")
    monkeypatch.setattr(fileio.os, call, fails)
    with pytest.raises(OSError, match="No space left"):
        stream.close()
    monkeypatch.undo()
    assert names(tmp_path) == []


@pytest.mark.parametrize("call", ["fsync", "link", "unlink"])
def test_killed(tmp_path: Path, call: str) -> None:
    """A process killed while it writes leaves a hidden temporary file at most, or the whole file under its name."""
    code = (
        "import os, signal, sys\n"
        "from firnline.adapters.iceberg import fileio\n"
        f"setattr(fileio.os, {call!r}, lambda *_: os.kill(os.getpid(), signal.SIGKILL))\n"
        "stream = fileio.LocalFileIO().new_output(sys.argv[1]).create()\n"
        "stream.write(b'whole')\n"
        "stream.close()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.json")], check=False)
    assert ended.returncode == -9
    assert all(name.startswith(".x.json.") and name.endswith(".tmp") for name in names(tmp_path) if name != "x.json")
    assert (tmp_path / "x.json").exists() is (call == "unlink")
    if call == "unlink":
        assert (tmp_path / "x.json").read_bytes() == b"whole"


def test_deleted(tmp_path: Path) -> None:
    """Exactly the file goes, with the checksum Hadoop keeps beside it; one that is gone is as good as deleted."""
    for name in ("x", ".x.crc", "x2", ".x2.crc"):
        (tmp_path / name).touch()
    FILES.delete(f"file://{tmp_path}/x")
    assert names(tmp_path) == [".x2.crc", "x2"]
    with pytest.raises(FileNotFoundError):
        FILES.delete(str(tmp_path / "x"))
    assert FILES.delete_quietly(str(tmp_path / "x"))
    assert FILES.delete_quietly(str(tmp_path / "x2"))
    assert not FILES.delete_quietly(str(tmp_path))
    assert not FILES.delete_quietly("s3://bucket/x")


def test_empty_folders(tmp_path: Path) -> None:
    """Folders that became empty go, up to the table's own; what holds anything, and what is outside, stays."""
    table = tmp_path / "table"
    for name in ("data/day=1", "data/day=2", "metadata"):
        (table / name).mkdir(parents=True)
    (table / "data/day=2/somebody").touch()
    outside = tmp_path / "outside"
    outside.mkdir()
    gone = [f"file://{table}/data/day=1/x", f"{table}/data/day=2/x", f"{table}/metadata/x", f"{outside}/x"]
    FILES.remove_empty_folders(f"file://{table}/", gone)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "outside", "table", "table/data", "table/data/day=2", "table/data/day=2/somebody",
    ]  # fmt: skip
    os.unlink(table / "data/day=2/somebody")
    FILES.remove_empty_folders(str(table), gone)
    assert not table.exists()
    assert outside.exists()


@pytest.mark.parametrize("use", [FILES.new_input, FILES.new_output], ids=["input", "output"])
def test_not_there(tmp_path: Path, use: Callable[[str], fileio.LocalInput | fileio.LocalOutput]) -> None:
    """A file that is not there says so, and has no length."""
    found = use(str(tmp_path / "x"))
    assert not found.exists()
    with pytest.raises(FileNotFoundError):
        len(found)
