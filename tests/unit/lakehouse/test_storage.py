"""Where files are: this machine, S3 with credentials of our own, or with what a catalog vends for each table."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from firnline.adapters.access import StoreAccess
from firnline.adapters.aws.sessions import Sessions
from firnline.config.values import CatalogSettings
from firnline.core.errors import Failed, FirnlineError
from firnline.lakehouse.storage import Storage
from tests import servers


def test_each_location_goes_where_it_lies(tmp_path: Path) -> None:
    """One catalog's files may be here and in S3; each is written, read, listed and deleted in its place."""
    storage = Storage(CatalogSettings("lake", "hive", {"uri": "thrift://h", **servers.s3().properties}))
    here, there = f"file://{tmp_path}/x", f"s3://lake/{uuid4().hex}/x"
    for location in (here, there):
        storage.files.put(location, location.encode())
        assert storage.files.read(location) == location.encode()
        assert storage.files.part(location, 0, 2) == location.encode()[:2]
        assert [file.location for file in storage.files.list(location.rpartition("/")[0]).files] == [location]
    assert storage.files.delete([here, there]) == {}
    assert (storage.files.look(here), storage.files.look(there)) == (None, None)


def test_what_a_catalog_vends() -> None:
    """Each location is opened with what was vended for it: the keys of one table open nothing of another."""
    server = servers.s3()
    right = StoreAccess(server.region, server.access, server.secret, None, server.endpoint, path_style=True)
    wrong = StoreAccess(server.region, server.access, "another", None, server.endpoint, path_style=True)
    folder = f"s3://lake/{uuid4().hex}"
    storage = Storage(
        CatalogSettings("lake", "rest", {"uri": "http://c"}), lambda location: right if "/mine/" in location else wrong
    )
    storage.files.put(f"{folder}/mine/x", b"1")
    assert storage.files.read(f"{folder}/mine/x") == b"1"
    with pytest.raises(FirnlineError):
        storage.files.read(f"{folder}/theirs/x")
    left = storage.files.delete([f"{folder}/mine/x", f"{folder}/theirs/x"])
    assert list(left) == [f"{folder}/theirs/x"]


def test_nothing_of_aws_before_it_is_needed(tmp_path: Path) -> None:
    """Files of this machine are read although AWS is set up wrongly."""
    storage = Storage(CatalogSettings("lake", "sqlite", {"profile": "no-such-profile"}))
    (tmp_path / "x").write_bytes(b"1")
    assert storage.files.read(f"file://{tmp_path}/x") == b"1"
    with pytest.raises((Failed, FirnlineError), match="no-such-profile"):
        storage.files.read("s3://lake/x")


def test_vended_keys_are_nobody_elses() -> None:
    """What a catalog vends is used as it is: no role of ours is assumed with it, and no profile of ours read."""
    server = servers.s3()
    right = StoreAccess(server.region, server.access, server.secret, None, server.endpoint, path_style=True)
    given = {"uri": "http://c", "role": "arn:aws:iam::123456789012:role/reader", "profile": "no-such-profile"}
    storage = Storage(CatalogSettings("lake", "rest", given), lambda _: right)
    location = f"s3://lake/{uuid4().hex}/x"
    storage.files.put(location, b"1")
    assert storage.files.read(location) == b"1"


def test_clients_of_vended_keys_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come and go; the clients of those that went are closed."""
    monkeypatch.setattr("firnline.lakehouse.storage.VENDED_OPEN_MAX", 2)
    closed: list[str] = []
    monkeypatch.setattr(Sessions, "close", lambda self: closed.append(self.settings.keys.access))
    storage = Storage(
        CatalogSettings("lake", "rest", {"uri": "http://c"}),
        lambda location: StoreAccess("eu-west-1", location[-1], "s", None, "http://127.0.0.1:9"),
    )
    for name in "abcb":
        storage._s3(f"s3://b/{name}")
    assert closed == ["a"]
