"""Places: which file a location names, however it is spelled.

`file:/x`, `file:///x` and `/x` are one file, and so are `s3://`, `s3a://` and `s3n://`. Within local paths doubled
slashes and dots mean nothing, as Hadoop and the system have it; in an object store they are part of the name. Two names
for one folder that only the disk knows of, by a link, are two places.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import numpy as np

from firnline.facts.entries import Bytes, Longs, Texts, Truths
from firnline.facts.hashing import MASKS, ROWS, Hashes, Words, hash128, hash_of, texts_of

_S3_KIN = (b"s3a:", b"s3n:")
_CROOKED = re.compile(r"//|/\.\.?/")
_SLASH, _DOT = ord("/"), ord(".")


def normal(location: str) -> str:
    """The one spelling of a location: equal for two that name the same file, and a location itself."""
    if location.startswith("file:///"):
        return _straight(location[7:])
    if location.startswith("file:/") and location[6:7] != "/":
        return _straight(location[5:])
    if location.startswith("/"):
        return _straight(location)
    return f"s3{location[3:]}" if location.startswith(("s3a://", "s3n://")) else location


def _straight(path: str) -> str:
    if not _CROOKED.search(path):
        return path
    folder, _, name = path.rpartition("/")
    return f"{posixpath.normpath('/' + folder.lstrip('/')).rstrip('/')}/{name}"


def lies_beneath(location: str, folder: str) -> bool:
    """Whether a location is inside a folder, at any depth."""
    place, prefix = normal(location), normal(folder).rstrip("/") + "/"
    return place.startswith(prefix) and place != prefix


def encoded(location: str) -> bytes:
    """A location as manifests hold it. Names that are no text pass through, as the file system gives them."""
    try:
        return location.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return location.encode("utf-8", "surrogatepass")


def of(locations: Sequence[str]) -> Hashes:
    """The places of these locations, as hashes."""
    return hash128(plain(texts_of([encoded(location) for location in locations])))


def plain(texts: Texts) -> Texts:
    """Locations without what spells them differently: byte strings that are equal when the places are.

    Costs next to nothing where it is enough to pass over the first bytes. A crooked local path (`//`, `/../`) is
    straightened by itself, in some microseconds.
    """
    head = _heads(texts)
    skip, local = np.zeros(len(head), np.int64), _begins(head, b"/")
    for scheme in (b"s3:", *_S3_KIN):
        skip[_begins(head, scheme + b"//")] = len(scheme)
    for scheme, begins in (
        (b"file://", _begins(head, b"file:///")),
        (b"file:", _begins(head, b"file:/") & ~_begins(head, b"file://")),
    ):
        skip[begins] = len(scheme)
        local |= begins
    shorter = Texts(texts.buffer, texts.start + skip, texts.length - skip)
    return _straightened(shorter, _crooked(shorter, np.flatnonzero(local)))


def beneath(plain_texts: Texts, folder: str) -> Truths:
    """Which of these plain locations lie inside a folder, at any depth."""
    place = normal(folder).rstrip("/") + "/"
    prefix = encoded(place[3:] if place.startswith("s3://") else place)  # as `plain` has it
    length = np.where(plain_texts.length > len(prefix), len(prefix), -1)
    high, low = hash128(Texts(plain_texts.buffer, plain_texts.start, length))
    wanted_high, wanted_low = hash_of(prefix)
    found: Truths = (high == np.uint64(wanted_high)) & (low == np.uint64(wanted_low))
    return found


def _heads(texts: Texts) -> Words:
    """The first eight bytes of each string; zeros behind shorter ones."""
    words = np.ndarray((len(texts.buffer) - 7,), "<u8", texts.buffer, 0, (1,))
    return words[texts.start] & MASKS[np.clip(texts.length, 0, 8)]


def _begins(head: Words, prefix: bytes) -> Truths:
    found: Truths = (head & MASKS[len(prefix)]) == np.uint64(int.from_bytes(prefix, "little"))
    return found


def _crooked(texts: Texts, rows: Longs) -> Longs:
    """Those of these rows that may hold `//`, `/./` or `/../`."""
    found = [rows[:0]]
    for first in range(0, len(rows), ROWS):
        part = rows[first : first + ROWS]
        start, end = texts.start[part], texts.start[part] + texts.length[part]
        base = int(start.min())
        at = base + _crooks(texts.buffer[base : int(end.max()) + 3])
        found.append(part[np.searchsorted(at, start) < np.searchsorted(at, end - 1)])
    return np.concatenate(found)


def _crooks(span: Bytes) -> Longs:
    follows = span[1:-2]
    at = np.flatnonzero((span[:-3] == _SLASH) & ((follows == _SLASH) | (follows == _DOT)))
    second, third, fourth = span[at + 1], span[at + 2], span[at + 3]
    crooked: Truths = (second == _SLASH) | (third == _SLASH) | ((third == _DOT) & (fourth == _SLASH))
    return np.compress(crooked, at)


def _straightened(texts: Texts, rows: Longs) -> Texts:
    if not len(rows):
        return texts
    crooked = ((texts.at(row) or b"").decode("utf-8", "surrogateescape") for row in rows.tolist())
    straight = texts_of([_straight(path).encode("utf-8", "surrogateescape") for path in crooked])
    start, length = texts.start.copy(), texts.length.copy()
    start[rows], length[rows] = straight.start + len(texts.buffer), straight.length
    return Texts(np.concatenate((texts.buffer, straight.buffer)), start, length)
