"""The machine under us."""

from __future__ import annotations

import errno
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.local import locks, machine
from firnline.adapters.local.blobs import LocalBlobs
from firnline.core.errors import BadInput, Failed, FirnlineError, Missing


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"FIRNLINE_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c"),
        ({"FIRNLINE_CACHE": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/firnline"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/firnline"),
        ({"HOME": "/h"}, "/h/.cache/firnline"),
    ],
)
def test_cache_folder(env: dict[str, str], folder: str) -> None:
    """Our own variable goes first, then the XDG folder when it is absolute, then the home folder's."""
    assert machine.cache_folder(env) == Path(folder)


def test_where_a_path_would_be(tmp_path: Path) -> None:
    """Of a path that is not there, the folder it would be made in is asked; looking makes nothing."""
    missing = tmp_path / "a" / "b"
    assert machine.nearest_existing(missing) == tmp_path
    assert machine.free_bytes(missing) > 0
    assert machine.may_write(missing)
    assert machine.try_write(missing) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails comes back as its error and not as an exception."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(machine.tempfile, "NamedTemporaryFile", full)
    error = machine.try_write(tmp_path)
    assert error is not None
    assert error.errno == errno.ENOSPC


def test_write_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is complete or not there, is not written again when it is right, and mended when it is not."""
    path = tmp_path / "a" / "file"
    assert machine.write_once(path, b"right") == path
    before = path.stat().st_ino
    machine.write_once(path, b"right")
    assert path.stat().st_ino == before
    path.write_bytes(b"wrong")

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="I/O error"):  # noqa: PT012 -- leaving the block is what is tested
        patched.setattr(machine.os, "replace", fails)
        machine.write_once(path, b"right")
    assert os.listdir(path.parent) == ["file"]
    assert machine.write_once(path, b"right").read_bytes() == b"right"


def _append(folder: str, together: Any) -> None:
    together.wait()
    for _ in range(20):
        with locks.held(Path(folder) / "lock"):
            counter = Path(folder) / "counter"
            counter.write_text(str(int(counter.read_text()) + 1))


def test_locks(tmp_path: Path) -> None:
    """Of processes that want one lock only one is inside at a time; the lock's folder is made."""
    with locks.held(tmp_path / "made" / "lock"):
        assert (tmp_path / "made" / "lock").exists()
    (tmp_path / "counter").write_text("0")
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(3)
    workers = [context.Process(target=_append, args=(str(tmp_path), together)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (tmp_path / "counter").read_text() == "60"


def test_blobs(tmp_path: Path) -> None:
    """A file is read whole, by location or path."""
    (tmp_path / "a b").write_bytes(b"x" * 10)
    assert LocalBlobs().read(f"file://{tmp_path}/a b") == LocalBlobs(10).read(str(tmp_path / "a b")) == b"x" * 10


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("none", Missing, "There is no file"),
        ("file/below", Missing, "There is no file"),
        ("", Failed, "could not be read: Is a directory"),
        ("file", Failed, "more than the 9 B a metadata file may have"),
    ],
)
def test_blobs_that_cannot_be_read(tmp_path: Path, name: str, error: type[FirnlineError], words: str) -> None:
    """What cannot be read is named, with why."""
    (tmp_path / "file").write_bytes(b"x" * 10)
    with pytest.raises(error, match=words):
        LocalBlobs(9).read(f"file://{tmp_path}/{name}")
    with pytest.raises(BadInput, match="s3:"):
        LocalBlobs().read("s3://bucket/key")


def test_blobs_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file this user may not read is said so, and not taken for a missing one."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(Failed, match="may not be read by this user"):
        LocalBlobs().read(f"file://{tmp_path}/x")
