"""What keeps files from leaving, slowly: the files of every snapshot by Spark, and sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from tests.zoo.engines import answers
from tests.zoo.oracle import Facts
from tests.zoo.pen import Pen

Stored: TypeAlias = dict[tuple[str, int | None], int]  # bytes by file, by place in its file for vectors


def held(pen: Pen) -> Facts:
    """What is live, what only history keeps, what nothing keeps, and what each ref alone keeps."""
    tables = answers("spark", pen, "")
    parents = {row["snapshot_id"]: row["parent_id"] for row in tables["snapshots"]}
    files = {snapshot: _files(pen, snapshot) for snapshot in parents}
    heads = {row["name"]: row["snapshot_id"] for row in tables["refs"]}
    reached = set(heads.values())
    for row in tables["refs"]:
        at = row["snapshot_id"]
        while row["type"].lower() == "branch" and at in parents:
            reached.add(at)
            at = parents[at]
    live = files.get(heads.get("main", 0), {})
    in_heads = _all(files[head] for head in heads.values())
    history = _without(_all(files[each] for each in reached), in_heads)
    loose = _without(_all(files.values()), _all(files[each] for each in reached))
    found = {**_sums("live", live), **_sums("history", history), **_sums("loose", loose)}
    for name, head in heads.items():
        others = _all(files[other] for ref, other in heads.items() if ref != name)
        alone = _without(files[head], others)
        found |= {f"refs.{name}.files": len(alone), f"refs.{name}.bytes": sum(alone.values())}
    return found


def _files(pen: Pen, snapshot: int) -> Stored:
    columns = "file_path, content_offset, coalesce(content_size_in_bytes, file_size_in_bytes)"
    rows = pen.sql(f"SELECT {columns} FROM {{t}}.files VERSION AS OF {snapshot}").collect()
    return {(path, offset): size for path, offset, size in rows}


def _all(several: Iterable[Stored]) -> Stored:
    return {key: size for each in several for key, size in each.items()}


def _without(some: Stored, others: Stored) -> Stored:
    return {key: size for key, size in some.items() if key not in others}


def _sums(name: str, stored: Stored) -> Facts:
    return {f"{name}_files": len(stored), f"{name}_bytes": sum(stored.values())}
