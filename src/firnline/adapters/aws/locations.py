"""Locations as Iceberg writes them, to buckets and keys.

A key is what stands behind the bucket, byte for byte. Nothing is decoded, `..` and `//` are parts of names, and so are
`?` and `#`: a URL parser would name another file.
"""

from __future__ import annotations

import re

from firnline.core.errors import BadInput

_LOCATION = re.compile(r"s3[an]?://([^/]+)(?:/(.*))?", re.DOTALL)


def bucket_and_key(location: str) -> tuple[str, str]:
    """Of `s3://BUCKET/KEY`, `s3a://…` or `s3n://…`; the key is empty for a bucket itself. BadInput for others."""
    found = _LOCATION.fullmatch(location)
    if found is None:
        raise BadInput(f"{location!r} is not a location of S3.", next_step="Write s3://BUCKET/KEY.")
    if not _is_text(location):
        raise BadInput(f"{location!r} holds a character that cannot be written as UTF-8.")
    return found[1], found[2] or ""


def file_at(location: str) -> tuple[str, str]:
    """Bucket and key of a single file. BadInput where the key is empty."""
    bucket, key = bucket_and_key(location)
    if not key:
        raise BadInput(f"{location!r} is a bucket, and no file in it.")
    return bucket, key


def is_marker(key: str, size: int) -> bool:
    """Whether this is what consoles and Hadoop leave behind as a folder. To Iceberg it is no file."""
    return size == 0 and key.endswith("/")


def _is_text(location: str) -> bool:
    try:
        location.encode()
    except UnicodeEncodeError:
        return False
    return True
