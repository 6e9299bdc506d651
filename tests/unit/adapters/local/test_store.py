"""Files appear whole, or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firnline.adapters.local import store
from firnline.adapters.local.store import LocalStore
from firnline.core.errors import BadInput, Failed, Refused
from firnline.loop.store import NameTaken

STORE = LocalStore()


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_published(tmp_path: Path) -> None:
    """A file is there with all its bytes, its folders made, and nothing beside it."""
    path = tmp_path / "a" / "b" / "x.json"
    STORE.put(f"file://{path}", b"whole")
    assert (path.read_bytes(), names(tmp_path)) == (b"whole", ["a/b/x.json"])


def test_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is taken is never overwritten, not even when it is taken while we write."""
    path = tmp_path / "x"
    link = os.link

    def late(*values: str) -> None:
        path.write_bytes(b"theirs")
        link(*values)

    monkeypatch.setattr(store.os, "link", late)
    with pytest.raises(NameTaken, match="other bytes"):
        STORE.put(str(path), b"ours")
    monkeypatch.undo()
    with pytest.raises(NameTaken):
        STORE.put(str(path), b"theirs and more")
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["x"])


def test_written_again(tmp_path: Path) -> None:
    """The same bytes under the same name are written already."""
    STORE.put(str(tmp_path / "x"), b"ours")
    STORE.put(str(tmp_path / "x"), b"ours")
    assert (tmp_path / "x").read_bytes() == b"ours"


@pytest.mark.parametrize("taken", [False, True])
def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool) -> None:
    """Where a file system has no hard links a rename does, and still overwrites nothing."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(store.os, "link", no_links)
    if taken:
        (tmp_path / "x").write_bytes(b"theirs")
        with pytest.raises(NameTaken):
            STORE.put(str(tmp_path / "x"), b"ours")
    else:
        STORE.put(str(tmp_path / "x"), b"ours")
    assert (tmp_path / "x").read_bytes() == (b"theirs" if taken else b"ours")
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """A file that cannot be made durable or visible is not there, and the error goes out."""

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.os, call, fails)
    with pytest.raises(Failed, match="No space left"):
        STORE.put(str(tmp_path / "x"), b"ours")
    monkeypatch.undo()
    assert names(tmp_path) == []


@pytest.mark.parametrize("call", ["fsync", "link", "unlink"])
def test_killed(tmp_path: Path, call: str) -> None:
    """A process killed while it writes leaves a hidden temporary file at most, or the whole file under its name."""
    code = (
        "import os, signal, sys\n"
        "from firnline.adapters.local import store\n"
        f"setattr(store.os, {call!r}, lambda *_: os.kill(os.getpid(), signal.SIGKILL))\n"
        "store.LocalStore().put(sys.argv[1], b'whole')\n"
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
    assert STORE.delete([f"file://{tmp_path}/x"]) == {}
    assert names(tmp_path) == [".x2.crc", "x2"]
    assert STORE.delete([str(tmp_path / "x"), str(tmp_path / "x2")]) == {}
    assert STORE.delete([str(tmp_path), "s3://bucket/x"]).keys() == {str(tmp_path), "s3://bucket/x"}


def test_empty_folders(tmp_path: Path) -> None:
    """Folders that became empty go, up to the table's own; what holds anything, and what is outside, stays."""
    table = tmp_path / "table"
    for name in ("data/day=1", "data/day=2", "metadata"):
        (table / name).mkdir(parents=True)
    (table / "data/day=2/somebody").touch()
    outside = tmp_path / "outside"
    outside.mkdir()
    gone = [f"file://{table}/data/day=1/x", f"{table}/data/day=2/x", f"{table}/metadata/x", f"{outside}/x"]
    STORE.tidy(f"file://{table}/", gone)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "outside", "table", "table/data", "table/data/day=2", "table/data/day=2/somebody",
    ]  # fmt: skip
    os.unlink(table / "data/day=2/somebody")
    STORE.tidy(str(table), gone)
    assert not table.exists()
    assert outside.exists()


def test_no_versions(tmp_path: Path) -> None:
    """A file is its only version, what is deleted cannot be brought back, and nothing is tagged."""
    file = tmp_path / "x"
    assert STORE.versions(str(file)) == ()
    file.write_bytes(b"12")
    (version,) = STORE.versions(str(file))
    assert (version.size, version.latest, version.deleted) == (2, True, False)
    assert (STORE.restore(str(file)), STORE.tags(str(file))) == (False, {})
    with pytest.raises(Refused, match="takes no tags"):
        STORE.tag(str(file), {"doomed": "yes"})


def test_elsewhere() -> None:
    """A location of another kind is refused, and nothing is made of it."""
    with pytest.raises(BadInput, match="s3"):
        STORE.put("s3://bucket/x", b"")
