"""What lies in a table's folder and is known to nobody, slowly: every path Spark's metadata tables name, and a walk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.zoo.pen import Pen, local


@dataclass(frozen=True, slots=True)
class Walked:
    """Files of the folder, and live data files that are not in it."""

    known: frozenset[Path]
    strange: frozenset[Path]
    missing: frozenset[Path]


def walked(pen: Pen) -> Walked:
    """The table's folder, split. A checksum belongs to the file beside it."""
    known = _known(pen)
    found = frozenset(Path(folder, name) for folder, _, names in os.walk(pen.folder) for name in names)
    ours = frozenset(path for path in found if _accompanied(path) in known)
    live = {local(row[0]) for row in pen.sql("SELECT file_path FROM {t}.files").collect()}
    return Walked(ours, found - ours, frozenset(live - found))


def _accompanied(path: Path) -> Path:
    return path.with_name(path.name[1:-4]) if path.name.startswith(".") and path.suffix == ".crc" else path


def _known(pen: Pen) -> set[Path]:
    """Files, manifests and manifest lists of every snapshot, logged metadata, statistics."""
    named = (("file_path", "all_files"), ("path", "all_manifests"), ("manifest_list", "snapshots"))
    found = {row[0] for column, table in named for row in pen.sql(f"SELECT {column} FROM {{t}}.{table}").collect()}
    metadata = pen.metadata
    found |= {each["metadata-file"] for each in metadata.get("metadata-log") or ()}
    found |= {
        each["statistics-path"] for kind in ("statistics", "partition-statistics") for each in metadata.get(kind) or ()
    }
    return {local(each) for each in (*found, pen.shelf.location(pen.identifier))}
