"""Locations to paths, literally."""

from __future__ import annotations

import pytest

from firnline.adapters.locations import lies_under, local_path
from firnline.core.errors import BadInput


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("file:///w/t", "/w/t"),
        ("file:/w/t", "/w/t"),
        ("/w/t", "/w/t"),
        ("file:///w/day=a%2Fb/x.parquet", "/w/day=a%2Fb/x.parquet"),
        ("file:///w/a?b#c d", "/w/a?b#c d"),
        ("file:///größe/🐘", "/größe/🐘"),
        ("/w/s3:/t", "/w/s3:/t"),
    ],
)
def test_local(location: str, path: str) -> None:
    """Nothing is decoded and nothing split off: Hadoop takes everything after the scheme literally."""
    assert local_path(location) == path


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("s3://bucket/t", "s3:"),
        ("hdfs://node/t", "hdfs:"),
        ("FILE:///w", "FILE:"),
        ("file://host/w", "names the host 'host'"),
        ("file:w/t", "is not an absolute location"),
        ("w/t", "is not an absolute location"),
        ("", "is not an absolute location"),
        ("file:///w\x00t", "zero byte"),
    ],
)
def test_not_local(location: str, words: str) -> None:
    """What is not a file of this machine is refused by name."""
    with pytest.raises(BadInput) as raised:
        local_path(location)
    assert words in raised.value.what


@pytest.mark.parametrize(
    ("location", "root", "inside"),
    [
        ("file:///w/t/x", "file:///w/t", True),
        ("file:/w/t/x", "/w/t/", True),
        ("/w//t/x", "file:///w/t", True),
        ("file:///w/t", "file:///w/t", False),
        ("file:///w/t2/x", "file:///w/t", False),
        ("file:///w/t/../u/x", "file:///w/t", False),
        ("file:///w/t/..x/y", "file:///w/t", True),
        ("s3://b/t/x", "s3://b/t", True),
        ("s3://b/t/x", "file:///b/t", False),
        ("file://host/w/t/x", "file:///w/t", False),
    ],
)
def test_under(location: str, root: str, inside: bool) -> None:
    """A file lies in a folder however both spell `file:`, and never by way of dots or of a shared beginning."""
    assert lies_under(location, [root]) is inside
    assert lies_under(location, ["file:///elsewhere", root]) is inside
    assert not lies_under(location, [])
