"""A process that appends rows with PyIceberg as its users do, and says which of them it was told are in.

`python -m tests.concurrency_appender`: reads a job (a line of JSON: catalog, properties, table, ids) and says "ready"
once the table is loaded; told "go", it appends row by row and answers with what became of each (JSON: word to ids).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from functools import partial

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException
from pyiceberg.table import Table

TRIES_MAX = 10  # of the user's own, on top of those PyIceberg makes by the table's properties
SCHEMA = pa.schema([("id", pa.int64()), ("writer", pa.string())])


def append(table: Table, number: int) -> str:
    """What the user knows of the row after this."""
    rows = pa.table({"id": [number], "writer": ["pyiceberg"]}, schema=SCHEMA)
    for _ in range(TRIES_MAX):
        try:
            table.append(rows)
        except CommitFailedException:
            table.refresh()
        except CommitStateUnknownException:
            return "unknown"
        except ValidationException:  # the snapshot it stood on is no longer part of the table: a catalog lost it
            return "refused"
        else:
            return "acknowledged"
    return "refused"


def append_all(table: Table, ids: Iterable[int]) -> dict[str, list[int]]:
    """The ids by what became of their rows."""
    found: dict[str, list[int]] = {}
    for number in ids:
        found.setdefault(append(table, number), []).append(number)
    return found


def main() -> None:
    work: Callable[[], dict[str, list[int]]] = dict
    for line in sys.stdin:
        if line == "go\n":
            print(json.dumps(work()), flush=True)
            continue
        job = json.loads(line)
        loaded = load_catalog(job["catalog"], **job["properties"]).load_table(job["table"])
        work = partial(append_all, loaded, job["ids"])
        print("ready", flush=True)


if __name__ == "__main__":
    main()
