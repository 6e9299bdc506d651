"""Locations as Iceberg writes them, to paths of this machine. Used by every adapter that touches local files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from firnline.core.errors import BadInput

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")


def local_path(location: str) -> str:
    """The path of `file:///x`, `file:/x` or `/x`; BadInput for any other scheme, another host or a relative path.

    Nothing is decoded. Iceberg hands locations to Hadoop's `Path`, which takes everything after the scheme literally:
    a partition directory written as `day=a%2Fb` is called exactly that on disk, and `?` and `#` are parts of names.
    A reader that decodes percent signs, or splits off a query, finds nothing.
    """
    if "\x00" in location:
        raise BadInput(f"{location!r} has a zero byte and cannot be a file.")
    if location.startswith("file:"):
        path = _after_scheme(location)
    elif found := _SCHEME.match(location):
        raise BadInput(
            f"{location} lies in {found[1]}:, which is not read: files of S3 and of this machine are.",
            next_step="Choose the environment this table belongs to with --env.",
        )
    else:
        path = location
    if not path.startswith("/"):
        raise BadInput(f"{location!r} is not an absolute location.")
    return path


def _after_scheme(location: str) -> str:
    rest = location.removeprefix("file:")
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host:
        raise BadInput(f"{location} names the host {host!r}; only files of this machine can be read.")
    return slash + path


def lies_under(location: str, roots: Iterable[str]) -> bool:
    """Whether a location is inside one of these folders, however each of them spells `file:`. Dots are not followed:
    a location with `..` in it lies under nothing.
    """
    path = _bare(location)
    if ".." in path.split("/"):
        return False
    return any(path.startswith(_bare(root).rstrip("/") + "/") for root in roots)


def _bare(location: str) -> str:
    try:
        return re.sub("/+", "/", local_path(location))
    except BadInput:
        return location
