"""Listing the local disk: links, what may not be read, what is no file, and that each folder is read once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firnline.adapters.local import files
from firnline.adapters.local.files import WALKS_MAX, LocalFiles
from firnline.core.errors import BadInput, Failed


def names(listing: LocalFiles, folder: Path, **more: Any) -> list[str]:
    page = listing.list(str(folder), **more)
    return [file.location.removeprefix(f"{folder}/") for file in page.files]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A folder with two files in two folders."""
    for name in ("data/a", "metadata/b"):
        (tmp_path / "t" / name).parent.mkdir(parents=True)
        (tmp_path / "t" / name).write_bytes(b"123")
    return tmp_path / "t"


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_spellings(table: Path, prefix: str) -> None:
    """A location may be spelled in every way, and `after` in another one."""
    page = LocalFiles().list(f"{prefix}{table}", after=f"file:{table}/data/a")
    assert [file.location for file in page.files] == [f"{prefix}{table}/metadata/b"]


def test_links(table: Path) -> None:
    """A link is a file where it leads to one under the location; no link leads out, or into a folder, or nowhere."""
    outside = table.parent / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"1")
    for link, target in {
        "in": table / "data" / "a", "out": outside / "x", "folder": table / "data", "far": outside, "none": table / "-",
        "loop": table / "loop",
    }.items():  # fmt: skip
        (table / link).symlink_to(target)
    found = LocalFiles().list(str(table)).files
    assert [(file.location, file.size) for file in found] == [
        (f"{table}/data/a", 3), (f"{table}/in", 3), (f"{table}/metadata/b", 3),
    ]  # fmt: skip


def test_a_location_that_is_a_link(table: Path) -> None:
    """The location itself may be a link to a folder."""
    (table.parent / "link").symlink_to(table)
    (table / "in").symlink_to(table / "data" / "a")
    assert names(LocalFiles(), table.parent / "link") == ["data/a", "in", "metadata/b"]


def test_no_files(table: Path) -> None:
    """Pipes and empty folders are no files."""
    os.mkfifo(table / "pipe")
    (table / "empty").mkdir()
    assert names(LocalFiles(), table) == ["data/a", "metadata/b"]


def test_a_name_that_is_no_text(table: Path) -> None:
    """A file whose name is not UTF-8 is listed, and the listing goes on behind it."""
    (table / os.fsdecode(b"data/\xff")).write_bytes(b"")
    listing = LocalFiles()
    page = listing.list(str(table), limit=2)
    assert os.fsencode(page.files[-1].location) == os.fsencode(table) + b"/data/\xff"
    assert names(listing, table, after=page.after) == names(LocalFiles(), table, after=page.after) == ["metadata/b"]


@pytest.mark.parametrize("which", ["", "/metadata"])
def test_a_folder_that_may_not_be_read(table: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be read is named; it is not passed over as if it were empty."""
    real = os.scandir

    def scandir(path: bytes) -> Iterator[os.DirEntry[bytes]]:
        if os.fsdecode(path).rstrip("/") == f"{table}{which}":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(files.os, "scandir", scandir)
    with pytest.raises(Failed, match=re.escape(f"{table}{which}/ could not be listed: Permission denied")):
        LocalFiles().list(str(table))


def test_a_file_nobody_may_ask_about(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of which the system tells nothing is named."""

    def lstat(path: bytes) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(files.os, "lstat", lstat)
    with pytest.raises(Failed, match=re.escape(f"{table}/data/a could not be listed: Permission denied")):
        LocalFiles().list(str(table))


def test_gone_meanwhile(table: Path) -> None:
    """A file and a folder that go away between two pages are passed over."""
    for name in ("data/b", "data/c", "gone/x"):
        (table / name).parent.mkdir(exist_ok=True)
        (table / name).write_bytes(b"")
    listing = LocalFiles()
    page = listing.list(str(table), limit=1)
    (table / "data" / "c").unlink()
    (table / "gone" / "x").unlink()
    (table / "gone").rmdir()
    assert names(listing, table, after=page.after) == ["data/b", "metadata/b"]


def test_each_folder_is_read_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that follow each other read every folder once, in however many pages."""
    for number in range(30):
        (table / "data" / f"{number}").write_bytes(b"")
    real, read = os.scandir, []
    monkeypatch.setattr(files.os, "scandir", lambda path: read.append(path) or real(path))
    listing, after, pages = LocalFiles(), None, 0
    while pages == 0 or after is not None:
        page = listing.list(str(table), after=after, limit=2)
        after, pages = page.after, pages + 1
    assert (pages, len(read)) == (16, 3)


def test_many_listings_at_once(table: Path) -> None:
    """Of listings that nobody goes on with only so many are kept; one that was dropped still goes on."""
    listing = LocalFiles()
    for number in range(3 * WALKS_MAX):
        (table / f"{number:03}" / "x").mkdir(parents=True)
        for name in "ab":
            (table / f"{number:03}" / name).write_bytes(b"")
        listing.list(str(table / f"{number:03}"), limit=1)
    assert len(listing._walks) == WALKS_MAX
    assert names(listing, table / "000", after=f"{table}/000/a") == ["b"]


def test_another_scheme(table: Path) -> None:
    """A location elsewhere is refused by its scheme."""
    with pytest.raises(BadInput, match="s3:"):
        LocalFiles().list("s3://b/t")
    with pytest.raises(BadInput, match="s3:"):
        LocalFiles().list(str(table), after="s3://b/t")
