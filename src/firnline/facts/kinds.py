"""What a file is, by the names Iceberg's writers give, and whose a metadata file is. Pure."""

from __future__ import annotations

import gzip
import json
import re
import zlib

from firnline.facts import places
from firnline.facts.meta import TableMeta

_SIDE = re.compile(r"(?:^|(?<=/))\.([^/]+)\.crc$")
_METADATA = (".metadata.json", ".metadata.json.gz")
_WRITTEN = (".parquet", ".orc", ".avro", ".puffin", ".stats", *_METADATA)
_MARKERS = frozenset({"version-hint.text", "_SUCCESS"})


def accompanied(path: str) -> str:
    """The file that a path belongs to: the checksum Hadoop keeps beside a file belongs to that file."""
    return _SIDE.sub(r"\1", path)


def is_marker(path: str) -> bool:
    """Whether it is one of the files that engines leave with a table and nothing refers to."""
    return path.rpartition("/")[2] in _MARKERS


def is_metadata(path: str) -> bool:
    """Whether it is named as table metadata."""
    return path.endswith(_METADATA)


def is_written(path: str) -> bool:
    """Whether a file of this path beneath a location is named as Iceberg's data, delete and metadata files are.

    What begins with an underscore or a dot is hidden, and not Iceberg's: engines keep there what they are writing. A
    partition's folder may begin so, for its name is a column's.
    """
    hidden = any(part[:1] in {"_", "."} and "=" not in part for part in path.split("/"))
    return path.endswith(_WRITTEN) and not hidden


def is_own(meta: TableMeta, data: bytes) -> bool:
    """Whether this is a metadata file of the table. Early ones of format 1 have no uuid: their location tells."""
    try:
        found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        uuid, location = found.get("table-uuid"), found.get("location")
    except (ValueError, AttributeError, EOFError, OSError, zlib.error, RecursionError):
        return False
    if uuid is None or meta.uuid is None:
        return isinstance(location, str) and _folder(location) == _folder(meta.table_location)
    return isinstance(uuid, str) and uuid.lower() == meta.uuid.lower()


def _folder(location: str) -> str:
    return places.normal(location).rstrip("/")
